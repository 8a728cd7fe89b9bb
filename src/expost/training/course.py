"""The course of a training run: when it releases, what that will have cost, and the odometer it runs under."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias, final

from torch import nn

from expost.accounting.claim import NOTHING, Budget
from expost.accounting.curve import AdpEpsilon
from expost.accounting.pledge import PlannedStops
from expost.checks.confidence import Confidence
from expost.checks.gaussian import BalancedCheck, GaussianCheck
from expost.checks.public import PublicCheck
from expost.checks.question import CentredSum
from expost.errors import BudgetExceeded, InvalidBound
from expost.ladder import Rung
from expost.noise import Noise
from expost.numerics import Real
from expost.odometer import Odometer, PledgedFilter
from expost.private import Neighbours, Split
from expost.record import Fact, Memory
from expost.release import Past, Release
from expost.search import Ended, Line, Outcome, planned_stops, search
from expost.step import Check, Verdict
from expost.training.checkpoint import Carried, Checkpoint
from expost.training.records import Records
from expost.training.schedule import Releases, Schedule, best_order, epoch
from expost.training.score import Target
from expost.training.weights import ModuleDescent, Weights

Judge: TypeAlias = Check[Records, nn.Module] | PublicCheck[nn.Module]
CheckKind: TypeAlias = type[BalancedCheck[Records, nn.Module]] | type[GaussianCheck[Records, nn.Module]]


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Course:
    """What is public about a run and fixed before data is opened: the schedule, the order, δ and the confidence."""

    descent: ModuleDescent
    releases: Releases
    delta: float
    confidence: Confidence | None

    @classmethod
    def of(
        cls, descent: ModuleDescent, *, every: str, releases: int, delta: float, confidence: Real | None = None
    ) -> "Course":
        """Releases as a person types them, ``every`` few epochs or steps; with a confidence each is asked about."""
        rate = descent.descent.rate
        number, epochs = _stretch(every)
        if epochs:
            schedule = Schedule.of_epochs(number, number, releases, rate=rate)
        else:
            schedule = Schedule(number, number, releases)
        order = best_order(descent.descent.promise(schedule.first), delta)
        at_once, sure = epoch(rate) if epochs else None, None
        if confidence is not None:
            sure = Confidence.of(confidence, looks=releases)
        asked = None if sure is None else tuple(range(releases))
        rungs = Releases(schedule, descent.descent, order, at_once, asked)
        return cls(descent=descent, releases=rungs, delta=delta, confidence=sure)

    def question(self, target: Target) -> CentredSum[Records, nn.Module]:
        """Whether the share of held-out records that a module gets right reaches the target."""
        return CentredSum(self.descent.correct, target.threshold, Neighbours.ADD_REMOVE)

    def private(self, target: Target, kind: CheckKind) -> Judge:
        """A check on private records; a Gaussian one spends on all questions what training the first release costs.

        Uses: five-step calibration.
        """
        question, confidence = self.question(target), self.confidence
        if kind is BalancedCheck:
            return BalancedCheck(question, confidence)
        schedule, alpha = self.releases.schedule, self.releases.alpha
        first = Budget.of(self.descent.descent.promise(schedule.first).at(alpha), alpha=alpha)
        looks = max(1, schedule.releases - 1) if confidence is None else confidence.looks
        return GaussianCheck(question, first, looks, confidence)

    def public(self, target: Target, records: Records) -> Judge:
        """A check on public records."""
        question = self.question(target)
        return PublicCheck(lambda module: question.ask(module, records) >= 0)

    def facts(self, judge: Judge) -> dict[str, Fact]:
        """The plan, as far as the pledge rests on it."""
        schedule = self.releases.schedule
        fixed: dict[str, Fact] = {
            "every": f"{schedule.first} steps",
            "releases": schedule.releases,
            "delta": repr(self.delta),
        }
        if isinstance(judge, PublicCheck):
            return {**fixed, "check": "public check"}
        return {**fixed, "check": judge.name, **judge.facts()}


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Announced:
    """What was said of a run before data was read, for its report; ``target`` is None where the caller decides."""

    course: Course
    judge: Judge
    target: Target | None
    because: str
    cap: AdpEpsilon | None


@final
@dataclass(frozen=True, slots=True, repr=False)
class Stage:
    """One release of a training run, and what everything up to it is stated as; ``history`` has a line a release."""

    release: Release[nn.Module]
    history: tuple[Line, ...] = ()

    @property
    def module(self) -> nn.Module:
        """The trained module, ready to predict."""
        return self.release.value

    @property
    def epsilon(self) -> AdpEpsilon:
        """The ε of (ε, δ) if training stops here; infinite if the run fits no planned stop any more."""
        return self.release.epsilon

    def __repr__(self) -> str:
        return f"Stage({self.release.brief})"


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """A training run that is pledged; ``rungs`` are those still to be climbed, and as a selector it hands them out.

    ``carried`` is what earlier processes released and paid for, if they did.
    """

    descent: ModuleDescent
    parts: Split[Records]
    judge: Judge
    odometer: Odometer
    pledge: PlannedStops
    noise: Noise
    rungs: tuple[Rung, ...]
    carried: Release[Weights] | None

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

    def trained(self) -> Release[nn.Module] | None:
        """The module of a run of which earlier processes took every step, with their bill; None if steps remain."""
        if self.rungs or self.carried is None:
            return None
        return Past(self.carried).joint().map(self.descent.built).at_least(self.odometer.spent)

    def outcome(self, on_step: Callable[[Line], None] | None) -> Outcome[nn.Module]:
        """What the search on the remaining rungs comes to."""
        if (trained := self.trained()) is not None:
            return Outcome(trained, Ended.EXHAUSTED, ())
        return search(
            self.parts,
            self.descent,
            self,
            self.descent.built,
            self.judge,
            noise=self.noise,
            odometer=self.odometer,
            on_step=on_step,
        )

    def stages(self, finished: Callable[[], None]) -> Iterator[Stage]:
        """Release by release, until the cap refuses or ``finished``; the last one again if nothing remains."""
        if (trained := self.trained()) is not None:
            yield Stage(trained)
        past: Past[Weights] = Past()
        history: list[Line] = []
        for rung in self.rungs:
            try:
                for _ in range(rung.times):
                    past = self.step(rung, past)
            except BudgetExceeded:
                return
            history.append(Line(rung.budget, self.odometer.spent, None, self.odometer.epsilon))
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
) -> Run:
    """Plan every stop, pledge, and bring along what earlier processes of the run have spent.

    ``ready`` is called, and may refuse, before anything is on record.
    """
    pledge = PlannedStops(planned_stops(course.descent, course.releases, judge), course.delta)
    first = pledge.table[0].epsilon
    if max_epsilon is not None and max_epsilon < first:
        raise BudgetExceeded(
            f"the first release is stated as ε = {first:.4g}, above the cap {max_epsilon:g}; raise it."
        )
    rungs = _remaining(course)
    ready()
    if isinstance(recorder, Checkpoint):
        recorder.begin(course.facts(judge))
    cap = None if max_epsilon is None else PledgedFilter(pledge, AdpEpsilon(max_epsilon))
    odometer = Odometer(pledge=pledge, cap=cap, recorder=recorder, rehearsal=noise.seeded)
    release: Release[Weights] | None = None
    if isinstance(recorder, Checkpoint):
        for part in (parts.train, parts.held):
            if part is not None and (spent := recorder.carried(part.part.label)) != NOTHING:
                budget = course.releases.rungs[0].budget
                release = odometer.spend(Carried(spent, recorder.weights), part, budget, Past(), noise)
    return Run(
        descent=course.descent,
        parts=parts,
        judge=judge,
        odometer=odometer,
        pledge=pledge,
        noise=noise,
        rungs=rungs,
        carried=release,
    )


def _remaining(course: Course) -> tuple[Rung, ...]:
    """The rungs less the steps that the weights at the start have taken."""
    taken, left = course.descent.start.steps, []
    for rung in course.releases.rungs:
        size = course.descent.descent.steps(rung.budget)
        done = min(taken // size, rung.times)
        taken -= done * size
        if done < rung.times:
            left.append(replace(rung, times=rung.times - done))
    return tuple(left)


def _stretch(every: str) -> tuple[int, bool]:
    """A number, and whether it is one of epochs."""
    match every.split():
        case [number, ("epoch" | "epochs" | "step" | "steps") as unit] if number.isdecimal() and int(number):
            return int(number), unit.startswith("epoch")
    raise InvalidBound(f"every is {every!r}; say for instance '5 epochs' or '200 steps'.")
