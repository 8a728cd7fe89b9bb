"""A training run under its odometer: the rungs still to be climbed, and what earlier processes of the run have paid."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import final

from torch import nn

from expost.accounting.claim import NOTHING
from expost.accounting.curve import AdpEpsilon
from expost.accounting.pledge import PlannedStops
from expost.checks.public import PublicCheck
from expost.errors import BudgetExceeded, SpentCheck
from expost.ladder import Rung
from expost.noise import Noise
from expost.odometer import Odometer, PledgedFilter
from expost.private import Split
from expost.record import Fact, Memory
from expost.release import Past, Release
from expost.search import Ended, Line, Outcome, planned_stops, search
from expost.step import Inquiry, Verdict
from expost.training.checkpoint import Carried, Checkpoint
from expost.training.course import Course, Judge, Stage
from expost.training.records import Records
from expost.training.resumption import Continued, Remaining, Standing, remaining
from expost.training.weights import ModuleDescent, Weights


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """A training run that is pledged; as a selector it hands out the rungs that are still to be climbed.

    ``carried`` is what earlier processes released and paid for, if they did. Of these a release may be ``pending``: it
    has all its steps, or all that its bill leaves it, and nobody has judged it. ``show`` puts on record that somebody
    is about to.
    """

    descent: ModuleDescent
    parts: Split[Records]
    judge: Judge
    odometer: Odometer
    pledge: PlannedStops
    noise: Noise
    remaining: Remaining
    carried: Release[Weights] | None
    show: Callable[[], None]
    plan: Mapping[str, Fact]

    @property
    def rungs(self) -> tuple[Rung, ...]:
        """Those still to be climbed."""
        return self.remaining.rungs

    def __call__(self, past: Past[Weights], verdicts: tuple[Verdict | None, ...]) -> Rung | None:
        """The next release, from a module that nobody else has changed."""
        self.require_untouched(past)
        taken = len(past.steps)
        return self.rungs[taken] if taken < len(self.rungs) else None

    def step(self, rung: Rung, past: Past[Weights]) -> Past[Weights]:
        """What one budget of the rung trains: the newest weights alone, which carry the bill of all."""
        self.require_untouched(past)
        return Past(self.odometer.spend(self.descent, self.parts.train, rung.budget, past, self.noise))

    def require_untouched(self, past: Past[Weights]) -> None:
        """Refuse to go on, before anything is billed, if the module is not as our last step left it."""
        self.descent.require_untouched(past.steps[-1].value if past.steps else self.descent.start)

    def inquiry(self) -> Inquiry[Records, nn.Module] | None:
        """A run of the check, if it reads data."""
        return None if isinstance(self.judge, PublicCheck) else Inquiry(self.judge)

    def ask(
        self, inquiry: Inquiry[Records, nn.Module] | None, candidate: Release[nn.Module], rung: Rung
    ) -> Verdict | None:
        """What the check says of a release, if the rung is asked about."""
        if isinstance(self.judge, PublicCheck):
            return self.judge.verdict(candidate.value)
        if not rung.asked:
            return None
        held = self.parts.held
        assert inquiry is not None  # a check that reads data has a run, and a part to read
        assert held is not None
        trained = self.odometer.spent_on(self.parts.train)
        return self.odometer.ask(inquiry, held, candidate, trained=trained, noise=self.noise).value

    def trained(self) -> Release[nn.Module] | None:
        """The module of earlier processes, with their bill, if it is to be judged or no step remains; else None."""
        if self.carried is None or (self.rungs and self.remaining.pending is None):
            return None
        return Past(self.carried).joint().map(self.descent.built).at_least(self.odometer.spent)

    def reopened(self, inquiry: Inquiry[Records, nn.Module] | None) -> Outcome[nn.Module] | None:
        """How the run stands before any step of this process: None unless there is a release of earlier ones to judge.

        It has ended if that release passes, if the question is refused, or if no rung remains.
        """
        trained, pending = self.trained(), self.remaining.pending
        if trained is None:
            return None
        if pending is None:
            return Outcome(trained, Ended.EXHAUSTED, ())
        verdict, ended = None, Ended.EXHAUSTED
        try:
            verdict = self.ask(inquiry, trained, pending)
        except (BudgetExceeded, SpentCheck):
            ended = Ended.CAPPED
        if verdict is not None and verdict.passed:
            ended = Ended.HALTED
        line = Line(pending.budget, self.odometer.spent, verdict, self.odometer.epsilon, pending.times)
        return Outcome(trained.at_least(self.odometer.spent), ended, (line,))

    def outcome(self, on_step: Callable[[Line], None] | None) -> Outcome[nn.Module]:
        """What the search on the remaining rungs comes to."""
        before = self.reopened(self.inquiry())
        lines = () if before is None else before.history
        if on_step is not None:
            for line in lines:
                on_step(line)
        if before is not None and (before.ended is not Ended.EXHAUSTED or not self.rungs):
            return before
        found = search(
            self.parts,
            self.descent,
            self,
            self.descent.built,
            continued(self.judge, sum(line.verdict is not None for line in lines)),
            noise=self.noise,
            odometer=self.odometer,
            on_step=on_step,
        )
        return Outcome(found.release, found.ended, lines + found.history)

    def stages(self, finished: Callable[[], None]) -> Iterator[Stage]:
        """Release by release, until the cap refuses or ``finished``; the last one again if nothing remains."""
        if (trained := self.trained()) is not None:
            self.show()
            yield Stage(trained)
        past: Past[Weights] = Past()
        history: list[Line] = []
        for rung in self.rungs:
            try:
                for _ in range(rung.times):
                    past = self.step(rung, past)
            except BudgetExceeded:
                return
            self.show()
            history.append(Line(rung.budget, self.odometer.spent, None, self.odometer.epsilon, rung.times))
            yield Stage(past.joint().map(self.descent.built), tuple(history))
        finished()


def begin(
    course: Course,
    parts: Split[Records],
    judge: Judge,
    *,
    recorder: Memory | Checkpoint,
    max_epsilon: float | None,
    noise: Noise,
    ready: Callable[[], None],
    goal: Mapping[str, Fact],
) -> Run:
    """Plan every stop, pledge, and bring along what earlier processes of the run have spent.

    ``ready`` is called, and may refuse, before anything is on record. ``goal`` is what the plan is to reach.
    """
    pledge = PlannedStops(planned_stops(course.descent, course.releases, judge), course.delta)
    first = pledge.table[0].epsilon
    if max_epsilon is not None and max_epsilon < first:
        raise BudgetExceeded(
            f"the first release is stated as ε = {first:.4g}, above the cap {max_epsilon:g}; raise it."
        )
    saved = recorder if isinstance(recorder, Checkpoint) else None
    standing = Standing() if saved is None else saved.standing
    left = remaining(course.releases.rungs, course.descent.descent, standing)
    ready()
    plan = course.facts(judge, goal)
    if saved is not None:
        saved.begin(plan, course.releases.schedule.steps)
    cap = None if max_epsilon is None else PledgedFilter(pledge, AdpEpsilon(max_epsilon))
    odometer = Odometer(pledge=pledge, cap=cap, recorder=recorder, rehearsal=noise.seeded)
    return Run(
        descent=course.descent,
        parts=parts,
        judge=continued(judge, standing.looks),
        odometer=odometer,
        pledge=pledge,
        noise=noise,
        remaining=left,
        carried=None if saved is None else _carried(course, parts, saved, odometer, noise),
        show=_nothing if saved is None else saved.show,
        plan=plan,
    )


def continued(judge: Judge, looks: int) -> Judge:
    """The check after so many questions; a public one does not count them."""
    return judge if isinstance(judge, PublicCheck) or not looks else Continued(judge, looks)


def _carried(
    course: Course, parts: Split[Records], saved: Checkpoint, odometer: Odometer, noise: Noise
) -> Release[Weights] | None:
    """What earlier processes spent, put on the odometer before all else, with the weights it has paid for."""
    release: Release[Weights] | None = None
    for part in (parts.train, parts.held):
        if part is not None and (spent := saved.carried(part.part.label)) != NOTHING:
            budget = course.releases.rungs[0].budget
            release = odometer.spend(Carried(spent, saved.weights), part, budget, Past(), noise)
    return release


def _nothing() -> None:
    """What a run without a checkpoint puts on disk."""
