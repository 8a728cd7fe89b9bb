"""Fine-tuning: from labelled features and an accuracy to a linear head that reaches it on held-out records."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias, final

from expost.accounting.claim import Budget
from expost.accounting.curve import largest_rho
from expost.accounting.descent import Descent, noise_multiplier
from expost.accounting.pledge import PlannedStops
from expost.checks.confidence import Confidence, confidence_level, worth_asking
from expost.checks.gaussian import BalancedCheck, GaussianCheck
from expost.checks.public import PublicCheck
from expost.checks.question import CentredSum
from expost.errors import InvalidValue
from expost.looks import planned_looks
from expost.noise import Noise
from expost.numerics import positive, probability
from expost.odometer import Odometer
from expost.private import Neighbours, Split
from expost.protocols import Check, Look
from expost.search import Line, Outcome, planned_stops, search
from expost.training.head.arrays import Arrays, InNumpy
from expost.training.head.gradient import IntegerSums, Summation
from expost.training.head.labelled import Labelled
from expost.training.head.mechanism import Head, Trained
from expost.training.head.optimizer import Adam, Optimizer
from expost.training.head.score import Classifier, Target, classified
from expost.training.schedule import Epsilon, Releases, Schedule, release_order

Question: TypeAlias = CentredSum[Labelled, Classifier]
Judge: TypeAlias = Check[Labelled, Classifier] | PublicCheck[Classifier]
CheckMaker: TypeAlias = Callable[[Question, Budget, int, Confidence | None], Judge]
"""Makes the check of a question, given what training the first release costs, how many looks there may be, and how
sure a pass must be."""


def balanced(question: Question, first: Budget, looks: int, confidence: Confidence | None) -> Judge:
    """Each look at held-out records spends what training has spent: it adds nothing to the bill."""
    return BalancedCheck(question, confidence)


def calibrated(question: Question, first: Budget, looks: int, confidence: Confidence | None) -> Judge:
    """All looks at held-out records together spend as much as training the first release.

    Uses: five-step calibration.
    """
    return GaussianCheck(question, first, looks, confidence)


CONFIDENCE = Fraction(95, 100)


@final
@dataclass(frozen=True, slots=True, eq=False)
class OnPublic:
    """A check on public records, which costs nothing; features are of length 1 already."""

    records: Labelled

    def __call__(self, question: Question, first: Budget, looks: int, confidence: Confidence | None) -> Judge:
        """The check."""
        return PublicCheck(lambda head: question.ask(head, self.records) >= 0)


@final
@dataclass(frozen=True, kw_only=True)
class HeadRecipe:
    """Everything about the job that is public and fixed before data is touched.

    ``start`` is what the first release may be stated as, or the noise multiplier itself. ``confidence`` is how sure a
    pass must be, None for the paper's check, which promises nothing. ``records`` is about how many records there are,
    if that is public: releases whose look would be too noisy are then not asked about.
    """

    width: int
    classes: int
    target: Target
    schedule: Schedule
    start: Epsilon | Fraction
    confidence: Fraction | None = CONFIDENCE
    records: int | None = None
    rate: Fraction = Fraction(1, 10)
    delta: float = 1e-5
    validation: Fraction = Fraction(1, 2)
    check: CheckMaker = balanced
    clip: float = 1.0
    batch: float = 64.0
    optimizer: Optimizer = field(default_factory=Adam)
    summation: Summation = field(default_factory=IntegerSums)
    arrays: Arrays = field(default_factory=InNumpy)
    drop: float = 0.1

    def __post_init__(self) -> None:
        probability(self.delta, "delta")
        positive(self.clip, "clip")
        positive(self.batch, "batch")
        positive(self.drop, "drop")
        if not 0 < self.validation < 1:
            raise InvalidValue(f"validation is {float(self.validation):g}; hold out a share strictly between 0 and 1.")
        if self.classes < 2:
            raise InvalidValue("there is only one class; a classifier needs at least two.")
        if self.records is not None and self.records < 1:
            raise InvalidValue(f"records is {self.records}; say about how many there are, or leave it out.")
        if self.confidence is not None:
            confidence_level(self.confidence)

    @cached_property
    def descent(self) -> Descent:
        """The steps, with the least noise that keeps the first release within its price."""
        if isinstance(self.start, Epsilon):
            return Descent(self.rate, noise_multiplier(self.start.value, self._stated))
        return Descent(self.rate, self.start)

    def _stated(self, noise: Fraction) -> float:
        return plan_training(replace(self, start=noise)).pledge.table[0].epsilon

    @cached_property
    def order(self) -> Fraction:
        """The order that suits the first release best: steps are bought and checks calibrated there."""
        return release_order(self.descent.promise(self.schedule.first), self.delta)

    def head(self, told: Callable[[int, int], None] | None = None) -> Head:
        """The mechanism."""
        return Head(
            width=self.width,
            classes=self.classes,
            descent=self.descent,
            clip=self.clip,
            batch=self.batch,
            optimizer=self.optimizer,
            summation=self.summation,
            arrays=self.arrays,
            drop=self.drop,
            drop_after=self.schedule.first,
            told=told,
        )

    @property
    def releases(self) -> Releases:
        """The rungs of the search."""
        return Releases(self.schedule, self.descent, self.order, asked=self.asked)

    def question(self) -> Question:
        """What is asked of the held-out records."""
        return CentredSum(classified, self.target.threshold, Neighbours.ADD_REMOVE)

    def judge(self) -> Judge:
        """The check of that question."""
        sure = self.assurance
        return self._made(max(1, self.schedule.releases - 1) if sure is None else sure.looks, sure)

    @property
    def assurance(self) -> Confidence | None:
        """The confidence, over all looks that are planned."""
        return None if self.asked is None or self.confidence is None else Confidence(self.confidence, len(self.asked))

    @cached_property
    def asked(self) -> tuple[int, ...] | None:
        """The releases that a check is asked about, from 0; None for all but the last, as the paper's check has it."""
        if self.confidence is None:
            return None
        everywhere = Confidence(self.confidence, self.schedule.releases)
        if not isinstance(self._made(everywhere.looks, everywhere), BalancedCheck):
            return tuple(range(everywhere.looks))
        trained = [largest_rho(self.descent.promise(steps).curve) for steps in self.schedule.steps]
        held = None if self.records is None else self.records * float(self.validation)
        return worth_asking(trained, self.question(), self.confidence, held)

    def looks(self) -> tuple[Look | None, ...]:
        """How noisy the check will be at each release, and what passes there."""
        return planned_looks(self.head(), self.releases, self.judge())

    def _made(self, looks: int, confidence: Confidence | None) -> Judge:
        first = Budget.of(self.descent.promise(self.schedule.first).at(self.order), alpha=self.order)
        return self.check(self.question(), first, looks, confidence)

    @property
    def held(self) -> Fraction:
        """The share of records held out: none for a check on public records."""
        return Fraction(0) if isinstance(self.judge(), PublicCheck) else self.validation


@final
@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """The stops of a training run, and the pledge that states each as (ε, δ)."""

    pledge: PlannedStops

    @property
    def epsilons(self) -> tuple[float, ...]:
        """The ε that each release would be stated as."""
        return tuple(stop.epsilon for stop in self.pledge.table)

    @property
    def reason(self) -> str:
        """How δ is divided."""
        stops = len(self.pledge.table)
        return f"planned stops: δ is split evenly over the {stops} of them" if stops > 1 else "one stop is planned"


def plan_training(recipe: HeadRecipe) -> TrainingPlan:
    """What each release will have cost, training and checks; touches no data."""
    stops = planned_stops(recipe.head(), recipe.releases, recipe.judge())
    return TrainingPlan(PlannedStops(stops, recipe.delta))


def fine_tune(
    parts: Split[Labelled],
    recipe: HeadRecipe,
    *,
    odometer: Odometer,
    noise: Noise,
    on_step: Callable[[Line], None] | None = None,
    told: Callable[[int, int], None] | None = None,
) -> Outcome[Classifier]:
    """Train, look, and stop at the first head that is accurate enough. Features are of length 1 already."""

    def build(trained: tuple[Trained, ...]) -> Classifier:
        return Classifier(trained[-1].weights)

    return search(
        parts,
        recipe.head(told),
        recipe.releases,
        build,
        recipe.judge(),
        noise=noise,
        odometer=odometer,
        on_step=on_step,
    )
