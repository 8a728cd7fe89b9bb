"""The course of a training run: when it releases, and what it asks about each release."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Required, TypeAlias, TypedDict, final

import torch
from torch import nn

from expost.accounting.claim import Budget, Promise, Spent
from expost.accounting.curve import AdpEpsilon
from expost.checks.confidence import Confidence
from expost.checks.question import CentredSum, PublicCheck
from expost.errors import InvalidValue
from expost.judge import AnyCheck, Judge, planned_looks_of
from expost.ledger import Entry, Fact, MemoryLedger
from expost.noise import Noise
from expost.numerics import Real
from expost.recorded import ReadableLedger
from expost.release import Release
from expost.search import Line, Outcome
from expost.training.head.score import Target
from expost.training.schedule import CARRIED, Releases, Schedule, epoch, release_order
from expost.training.torch.clipping import Clipper, Loss
from expost.training.torch.progress import Paid
from expost.training.torch.records import Examples, Given
from expost.training.torch.scores import Score
from expost.training.torch.units import Unit
from expost.training.torch.weights import ModuleDescent

ModuleCheck: TypeAlias = AnyCheck[Examples, nn.Module]


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Course:
    """What is public about a run and fixed before data is opened: schedule, order, δ, confidence and cap."""

    descent: ModuleDescent
    releases: Releases
    delta: float
    confidence: Confidence | None
    cap: AdpEpsilon | None

    @classmethod
    def of(
        cls,
        descent: ModuleDescent,
        *,
        every: str,
        releases: int,
        delta: float,
        max_epsilon: float | None,
        confidence: Real | None = None,
    ) -> "Course":
        """Releases as a person types them, ``every`` few epochs or steps; with a confidence each is asked about."""
        rate = descent.descent.rate
        number, epochs = _stretch(every)
        if epochs:
            schedule = Schedule.of_epochs(number, number, releases, rate=rate)
        else:
            schedule = Schedule(number, number, releases)
        order = release_order(descent.descent.promise(schedule.first), delta)
        sure = None if confidence is None else Confidence.of(confidence, looks=releases)
        asked = None if sure is None else tuple(range(releases))
        rungs = Releases(schedule, descent.descent, order, epoch(rate) if epochs else None, asked)
        cap = None if max_epsilon is None else AdpEpsilon(max_epsilon)
        return cls(descent=descent, releases=rungs, delta=delta, confidence=sure, cap=cap)

    def require_suited(self, given: Examples, held: Examples | None, goal: "Goal | None") -> None:
        """Try what has not been tried: a record whose shape nothing else says is read when all else is settled."""
        if len(given) and not given.uniform:
            self.descent.require_separable(given)
        if goal is not None and held:
            self.descent.require_scored(goal.score, goal.target.threshold, held)

    def check(self, goal: "Goal", judge: Judge) -> ModuleCheck:
        """Whether the mean score of a module on the held-out records reaches the target, as the judge asks it."""
        schedule, alpha, scored = self.releases.schedule, self.releases.alpha, self.descent.scored
        score, threshold = goal.score, goal.target.threshold
        question: CentredSum[Examples, nn.Module] = CentredSum(
            lambda module, held: scored(module, held, score, threshold),
            threshold,
            self.descent.neighbours,
            score.resolution,
        )
        first = Budget.of(self.descent.descent.promise(schedule.first).at(alpha), alpha=alpha)
        return judge.check(question, first, planned_looks_of(schedule.releases, self.confidence), self.confidence)


@final
@dataclass(frozen=True, slots=True)
class Goal:
    """What a run is to reach, and by which score of the held-out records."""

    target: Target
    score: Score


@final
@dataclass(frozen=True, slots=True, eq=False)
class Announced:
    """What was said of a run before data was read, for its report; ``goal`` is None where the caller decides."""

    course: Course
    judge: ModuleCheck
    goal: Goal | None
    because: str

    @property
    def plan(self) -> dict[str, Fact]:
        """What the run is planned as: releases, δ, check, score and threshold. The pledge rests on it."""
        schedule, judge = self.course.releases.schedule, self.judge
        plan: dict[str, Fact] = {
            "every": f"{schedule.first} steps",
            "releases": schedule.releases,
            "delta": repr(self.course.delta),
        }
        if self.goal is not None:
            plan |= {"score": self.goal.score.name, "threshold": str(self.goal.target.threshold)}
        if isinstance(judge, PublicCheck):
            return {**plan, "check": "public check"}
        return {**plan, "check": judge.name, **judge.facts()}

    def whole_record(self, ledger: ReadableLedger, earlier: Sequence[Paid], *, seeded: bool) -> ReadableLedger:
        """The record of a run with what ``earlier`` processes paid step by step.

        On the ledger of this process that is one line for each part, which nobody could work out again.
        """
        if not earlier:
            return ledger
        descent, judge, whole = self.course.descent, self.judge, MemoryLedger()
        steps = descent.facts(self.course.releases.rungs[0].budget)
        if ledger.pledged is not None:
            whole.pledge(ledger.pledged)
        for paid in earlier:
            neighbours = descent.neighbours.value
            if paid.steps:
                facts = {**steps, "steps": paid.steps}
                entry = Entry(descent.name, paid.part, neighbours, seeded, descent.floating, facts)
                promise = descent.descent.promise(paid.steps)  # as it was billed, and equal to what is billed now
            else:
                assert not isinstance(judge, PublicCheck)  # one that reads nothing is on no bill
                entry, promise = Entry(judge.name, paid.part, neighbours, seeded, False, judge.facts()), paid.promise
            _put(whole, entry, promise.as_spent(), paid.times)
        for entry, spent, count in ledger.lines:
            if entry.what != CARRIED:
                _put(whole, entry, spent, count)
        for hold in ledger.held:
            whole.hold(hold.entry, hold.promise)
        return whole


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


class RunSettings(TypedDict, total=False):
    """What a run is told besides its target, with the defaults of ``Trainer.begin``."""

    on: Given | None
    on_unit: Unit | None
    score: Score
    releases: Required[int]
    every: Required[str]
    delta: float
    check: Judge
    confidence: Real | None
    because: str
    max_epsilon: float | None


class ProcessSettings(TypedDict, total=False):
    """What each process of a run is told anew, with the defaults of ``Trainer``; a checkpoint holds the rest."""

    unit: Unit | None
    loss: Loss
    gradients: type[Clipper]
    device: str | torch.device | None
    max_physical_batch_size: int
    ledger: ReadableLedger | None
    on_announced: Callable[[Announced], None] | None
    noise: Noise | None


def _put(ledger: MemoryLedger, entry: Entry, spent: Spent, count: int) -> None:
    for _ in range(count):
        ledger.capture(ledger.hold(entry, Promise(spent.curve)), spent)


def _stretch(every: str) -> tuple[int, bool]:
    """A number, and whether it is one of epochs."""
    match every.split():
        case [number, ("epoch" | "epochs" | "step" | "steps") as unit] if number.isdecimal() and int(number):
            return int(number), unit.startswith("epoch")
    raise InvalidValue(f"every is {every!r}; write for example '5 epochs' or '200 steps'.")
