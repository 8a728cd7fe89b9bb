"""The course of a training run: when it releases, and what it asks about each release."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, final

from torch import nn

from expost.accounting.claim import Budget
from expost.accounting.curve import AdpEpsilon
from expost.checks.confidence import Confidence
from expost.checks.public import PublicCheck
from expost.checks.question import CentredSum
from expost.errors import InvalidValue
from expost.judge import AnyCheck, Judge, planned_looks_of
from expost.ledger import Fact
from expost.numerics import Real
from expost.private import Neighbours
from expost.release import Release
from expost.search import Line, Outcome
from expost.training.head.score import Target
from expost.training.schedule import Releases, Schedule, epoch, release_order
from expost.training.torch.records import Examples
from expost.training.torch.scores import Score
from expost.training.torch.weights import ModuleDescent

ModuleCheck: TypeAlias = AnyCheck[Examples, nn.Module]


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
        order = release_order(descent.descent.promise(schedule.first), delta)
        at_once, sure = epoch(rate) if epochs else None, None
        if confidence is not None:
            sure = Confidence.of(confidence, looks=releases)
        asked = None if sure is None else tuple(range(releases))
        rungs = Releases(schedule, descent.descent, order, at_once, asked)
        return cls(descent=descent, releases=rungs, delta=delta, confidence=sure)

    def question(self, target: Target, score: Score) -> CentredSum[Examples, nn.Module]:
        """Whether the mean score of a module on the held-out records reaches the target."""
        threshold, scored = target.threshold, self.descent.scored
        return CentredSum(
            lambda module, held: scored(module, held, score, threshold),
            threshold,
            Neighbours.ADD_REMOVE,
            score.resolution,
        )

    def private(self, target: Target, score: Score, judge: Judge) -> ModuleCheck:
        """A check on private records."""
        schedule, alpha = self.releases.schedule, self.releases.alpha
        first = Budget.of(self.descent.descent.promise(schedule.first).at(alpha), alpha=alpha)
        looks = planned_looks_of(schedule.releases, self.confidence)
        return judge.check(self.question(target, score), first, looks, self.confidence)

    def public(self, target: Target, score: Score, records: Examples) -> ModuleCheck:
        """A check on public records."""
        question = self.question(target, score)
        return PublicCheck(lambda module: question.ask(module, records) >= 0)

    def facts(self, judge: ModuleCheck, goal: Mapping[str, Fact]) -> dict[str, Fact]:
        """The plan, as far as the pledge rests on it, and what is to be reached."""
        schedule = self.releases.schedule
        fixed: dict[str, Fact] = {
            "every": f"{schedule.first} steps",
            "releases": schedule.releases,
            "delta": repr(self.delta),
            **goal,
        }
        if isinstance(judge, PublicCheck):
            return {**fixed, "check": "public check"}
        return {**fixed, "check": judge.name, **judge.facts()}


@final
@dataclass(frozen=True, slots=True)
class Goal:
    """What a run is to reach, and by which score of the held-out records."""

    target: Target
    score: Score

    @property
    def facts(self) -> dict[str, Fact]:
        """What the plan says of it."""
        return {"score": self.score.name, "threshold": str(self.target.threshold)}


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Announced:
    """What was said of a run before data was read, for its report; ``goal`` is None where the caller decides."""

    course: Course
    judge: ModuleCheck
    goal: Goal | None
    because: str
    cap: AdpEpsilon | None
    plan: Mapping[str, Fact]


@final
@dataclass(frozen=True, slots=True, repr=False)
class Stage:
    """One release of a training run, and what everything up to it is stated as; ``history`` has a line for each."""

    release: Release[nn.Module]
    history: tuple[Line, ...] = ()

    @property
    def module(self) -> nn.Module:
        """The trained module, ready to predict."""
        return self.release.value

    @property
    def epsilon(self) -> AdpEpsilon:
        """The ε of (ε, δ) if training stops here."""
        return self.release.epsilon

    def __repr__(self) -> str:
        return f"Stage({self.release.brief})"


Found: TypeAlias = Outcome[nn.Module] | Stage
"""What a training run came to: the end of a search, or the last of its releases."""


def _stretch(every: str) -> tuple[int, bool]:
    """A number, and whether it is one of epochs."""
    match every.split():
        case [number, ("epoch" | "epochs" | "step" | "steps") as unit] if number.isdecimal() and int(number):
            return int(number), unit.startswith("epoch")
    raise InvalidValue(f"every is {every!r}; write for example '5 epochs' or '200 steps'.")
