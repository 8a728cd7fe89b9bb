"""A training run under its odometer: the rungs still to be climbed, and what earlier processes of the run have paid."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import final
from weakref import WeakKeyDictionary

from torch import nn

from expost.accounting.claim import NOTHING
from expost.accounting.stops import PlannedStops
from expost.checks.gaussian import BalancedCheck, GaussianCheck
from expost.checks.question import PublicCheck
from expost.errors import BudgetExceeded, InvalidValue, LedgerConflict
from expost.filters import PledgedFilter
from expost.ladder import Rung
from expost.noise import Noise
from expost.odometer import Odometer
from expost.private import Split
from expost.protocols import Verdict
from expost.recorded import ReadableLedger, reserve_plan
from expost.release import Past, Release
from expost.search import Ended, Line, Outcome, Search, finish, planned_stops
from expost.training.torch.checkpoint import Checkpoint
from expost.training.torch.course import Announced, Course, ModuleCheck, Stage
from expost.training.torch.progress import Progress
from expost.training.torch.records import Examples
from expost.training.torch.resumption import Carried, Continued, Remaining, Standing, remaining
from expost.training.torch.weights import ModuleDescent, Weights, same_state


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class TrainingRun:
    """A training run that is pledged; as a selector it hands out the rungs that are still to be climbed.

    ``carried`` is what earlier processes released and paid for, if they did. Of these a release may be ``pending``: it
    has all its steps, or all that its bill leaves it, and nobody has judged it. ``show`` puts on record that a release
    is about to be shown, with the answer about it, and ``answered`` is that answer where earlier processes had it;
    ``end`` puts on record that the run is over. ``made`` are the modules that were released, with their weights.
    """

    announced: Announced
    parts: Split[Examples]
    judge: ModuleCheck
    odometer: Odometer
    pledge: PlannedStops
    noise: Noise
    remaining: Remaining
    carried: Release[Weights] | None
    answered: Verdict | None
    show: Callable[[Verdict | None], None]
    end: Callable[[], None]
    made: WeakKeyDictionary[nn.Module, Weights] = field(default_factory=WeakKeyDictionary)

    @property
    def descent(self) -> ModuleDescent:
        """The steps it is made of."""
        return self.announced.course.descent

    @property
    def rungs(self) -> tuple[Rung, ...]:
        """Those still to be climbed."""
        return self.remaining.rungs

    def __call__(self, past: Past[Weights], verdicts: tuple[Verdict | None, ...]) -> Rung | None:
        """The next release, from a module that nobody else has changed."""
        self.require_untouched(past)
        taken = len(verdicts) - (self.remaining.pending is not None)
        return self.rungs[taken] if taken < len(self.rungs) else None

    def require_untouched(self, past: Past[Weights]) -> None:
        """Refuse to go on, before anything is billed, if the module is not as our last step left it."""
        self.descent.require_untouched(self.descent.start if past.newest is None else past.newest.value)

    def require_released(self, module: nn.Module) -> None:
        """Refuse a module that is not one of this run, or not as it was released: a receipt is about no other."""
        weights = self.made.get(module)
        if weights is None:
            raise LedgerConflict(
                "this module belongs to another trainer, or was made from a release; save what this trainer trained."
            )
        if not same_state(module, self.descent.built((weights,))):
            raise LedgerConflict(
                "the module was changed since it was released, and its receipt would be about other weights; save it "
                "first, and change a copy."
            )

    def search(self, judge: ModuleCheck | None) -> Search[Examples, Weights, nn.Module]:
        """The search on the remaining rungs; what earlier processes released and nobody has judged comes first.

        Weights go on from the newest ones alone, which carry the bill of all.
        """
        return Search(
            self.parts,
            self.descent,
            self,
            self._built,
            judge,
            noise=self.noise,
            odometer=self.odometer,
            keep=lambda past, newest: Past(newest),
            candidate=self._trained(),
            pending=self.remaining.pending,
        )

    def climbed(self, line: Line) -> None:
        """Put a rung on record, before anybody is told of it."""
        self.show(line.verdict)

    def told(self, outcome: Outcome[nn.Module]) -> Outcome[nn.Module]:
        """The outcome of a run that is over; with the last rung that was climbed if earlier processes climbed it."""
        self.end()
        if outcome.history or (line := self._last()) is None:
            return outcome
        passed = line.verdict is not None and line.verdict.passed
        return Outcome(outcome.release, Ended.HALTED if passed else outcome.ended, (line,), outcome.ledger)

    def finish(self, on_step: Callable[[Line], None] | None) -> Outcome[nn.Module]:
        """Climb the rungs that remain; ``on_step`` is told of each when it is on record."""

        def climbed(line: Line) -> None:
            self.climbed(line)
            if on_step is not None:
                on_step(line)

        return self.told(finish(self.search(self.judge), climbed))

    def stages(self) -> Iterator[Stage]:
        """Release by release, until the cap refuses or all are made; the last one again if nothing remains."""
        if not self.rungs and self.remaining.pending is None and (trained := self._trained()) is not None:
            self.show(self.answered)
            yield Stage(trained, () if (line := self._last()) is None else (line,))
        running = self.search(None)
        while not running.over:
            try:
                line = running.step()
            except BudgetExceeded:  # before the first release of this process
                return
            if line is not None:
                self.climbed(line)
                yield Stage(running.outcome.release, running.outcome.history)
            elif running.over:  # refused
                return
        self.end()

    def _built(self, releases: tuple[Weights, ...]) -> nn.Module:
        module = self.descent.built(releases)
        self.made[module] = releases[-1]
        return module

    def _last(self) -> Line | None:
        """The last rung of all, as it stands on the bill of earlier processes; without a verdict if that was lost."""
        rung = self.remaining.reached
        if rung is None:
            return None
        return Line(rung.budget, self.odometer.spent, self.answered, self.odometer.epsilon, rung.times)

    def _trained(self) -> Release[nn.Module] | None:
        """The module of earlier processes, with their bill, if it is to be judged or no step remains; else None."""
        if self.carried is None or (self.rungs and self.remaining.pending is None):
            return None
        return Past(self.carried).joint().map(self._built).at_least(self.odometer.spent)


def begin(
    announced: Announced,
    parts: Split[Examples],
    *,
    ledger: ReadableLedger | Checkpoint,
    noise: Noise,
    ready: Callable[[], None],
) -> TrainingRun:
    """Plan every stop, pledge, and bring along what earlier processes of the run have spent.

    ``ready`` is called, and may refuse, before anything is on record.
    """
    course, judge, cap = announced.course, announced.judge, announced.course.cap
    pledge = PlannedStops(planned_stops(course.descent, course.releases, judge), course.delta)
    first = pledge.table[0].epsilon
    if cap is not None and cap < first:
        raise BudgetExceeded(f"the first release is stated as ε = {first:.4g}, above the cap {cap:g}; raise the cap.")
    saved = ledger if isinstance(ledger, Checkpoint) else None
    if saved is not None:
        _require_fresh(judge)
    standing = Standing() if saved is None else saved.progress.standing
    left = remaining(course.releases.rungs, course.descent.descent, standing)
    answered = None if saved is None else saved.progress.verdict
    if answered is not None and answered.passed:  # and the process was gone before it said so
        left = Remaining(None, (), left.reached)
    ready()
    if saved is not None:
        saved.require_about([part.part.label for part in (parts.train, parts.held) if part is not None])
        saved.begin(announced.plan, course.releases.schedule.steps, ahead=bool(left.rungs))
    booked, unit = ledger if saved is None else saved.ledger, course.descent.neighbours
    cap = reserve_plan(booked, pledge, pledge.promises, neighbours=unit, cap=cap, seeded=noise.seeded, ask=_less)
    announced = replace(announced, course=replace(course, cap=cap))
    within = None if cap is None else PledgedFilter(pledge, cap)
    odometer = Odometer(pledge=pledge, cap=within, ledger=ledger, rehearsal=noise.seeded)
    run = TrainingRun(
        announced=announced,
        parts=parts,
        judge=continued(judge, standing.looks),
        odometer=odometer,
        pledge=pledge,
        noise=noise,
        remaining=left,
        carried=None if saved is None else _carried(course, parts, saved.progress, odometer, noise),
        answered=answered,
        show=_nothing if saved is None else saved.show,
        end=_nothing if saved is None else saved.end,
    )
    course.descent.load(course.descent.start)
    return run


def _less(most: float, stops: int) -> str:
    """What to ask for where a ledger has no room for the first release."""
    return "ask for fewer steps before the first release, or for more noise"


def _require_fresh(judge: ModuleCheck) -> None:
    """Refuse a check whose secret is lost with its process: the next one would draw another, which nobody pays for."""
    if not isinstance(judge, PublicCheck | BalancedCheck | GaussianCheck):
        raise InvalidValue(
            f"the {judge.name} has a secret that no checkpoint keeps; use a balanced or a Gaussian check, or leave the "
            "checkpoint out."
        )


def continued(judge: ModuleCheck, looks: int) -> ModuleCheck:
    """The check after this number of questions; a public one does not count them."""
    return judge if isinstance(judge, PublicCheck) or not looks else Continued(judge, looks)


def _carried(
    course: Course, parts: Split[Examples], saved: Progress, odometer: Odometer, noise: Noise
) -> Release[Weights] | None:
    """What earlier processes spent, put on the odometer before all else, with the weights it has paid for."""
    release: Release[Weights] | None = None
    for part in (parts.train, parts.held):
        if part is not None and (spent := saved.carried(part.part.label)) != NOTHING:
            budget = course.releases.rungs[0].budget
            release = odometer.spend(Carried(spent, saved.weights, part.neighbours), part, budget, Past(), noise)
    return release


def _nothing(verdict: Verdict | None = None) -> None:
    """What a run without a checkpoint puts on disk."""
