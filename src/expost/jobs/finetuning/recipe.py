"""Fine-tuning: from labelled features and an accuracy to a linear head that reaches it on held-out records."""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias, final

from expost.accounting.claim import Budget
from expost.accounting.curve import largest_rho
from expost.accounting.descent import Descent, noise_multiplier
from expost.accounting.plan import stated_by
from expost.accounting.pledge import PlannedStops
from expost.checks.confidence import Confidence, confidence_level
from expost.checks.question import CentredSum
from expost.errors import InvalidValue
from expost.judge import BALANCED, AnyCheck, Judge, asked_rungs, planned_looks_of
from expost.looks import planned_looks
from expost.noise import Noise
from expost.numerics import positive, probability
from expost.odometer import Odometer
from expost.private import Neighbours, Split
from expost.protocols import Look
from expost.search import Line, Outcome, planned_stops, search
from expost.training.head.arrays import Arrays, InNumpy
from expost.training.head.gradient import IntegerSums, Summation
from expost.training.head.labelled import Labelled
from expost.training.head.mechanism import Head, Told, Trained
from expost.training.head.optimizer import Adam, Optimizer
from expost.training.head.score import Classifier, Target, classified
from expost.training.schedule import Epsilon, Releases, Schedule, release_order
from expost.training.steps import Steps

Question: TypeAlias = CentredSum[Labelled, Classifier]
CONFIDENCE = Fraction(95, 100)
START = Epsilon(1.5)


@final
@dataclass(frozen=True, slots=True)
class Shape:
    """How large a head is: no price depends on it, and the records say it."""

    width: int
    classes: int

    def __post_init__(self) -> None:
        if self.classes < 2:
            raise InvalidValue("there is only one class; a classifier needs at least two.")


@final
@dataclass(frozen=True, kw_only=True)
class HeadRecipe:
    """Everything about the job that is public and fixed before data is touched.

    ``start`` is what the first release may be stated as, or the noise multiplier itself. ``confidence`` is how sure a
    pass must be, None for the paper's check, which promises nothing. ``records`` is about how many records there are,
    if that is public: releases whose look would be too noisy are then not asked about.
    """

    target: Target
    schedule: Schedule
    start: Epsilon | Fraction
    confidence: Fraction | None = CONFIDENCE
    records: int | None = None
    rate: Fraction = Fraction(1, 10)
    delta: float = 1e-5
    validation: Fraction = Fraction(1, 2)
    check: Judge = BALANCED
    clip: float = 1.0
    batch: float = 64.0
    optimizer: Optimizer = field(default_factory=Adam)
    summation: Summation = field(default_factory=IntegerSums)
    arrays: Arrays = field(default_factory=InNumpy)
    drop: float = 0.1

    def __post_init__(self) -> None:
        probability(self.delta, "delta")
        positive(self.clip, "max_grad_norm")
        positive(self.batch, "batch")
        positive(self.drop, "drop")
        if not 0 < self.validation < 1:
            raise InvalidValue(f"validation is {float(self.validation):g}; hold out a share strictly between 0 and 1.")
        if self.records is not None and self.records < 1:
            raise InvalidValue(f"records is {self.records}; say about how many there are, or leave it out.")
        if self.confidence is not None:
            confidence_level(self.confidence)

    @cached_property
    def descent(self) -> Descent:
        """The steps, with the least noise that keeps the first release within its price."""
        if isinstance(self.start, Epsilon):
            return Descent(self.rate, noise_multiplier(self.start.value, self._first_stated))
        return Descent(self.rate, self.start)

    def _first_stated(self, noise: Fraction) -> float:
        """What the first release would be stated as: its steps and its look, at its share of δ."""
        descent, first = Descent(self.rate, noise), self.schedule.first
        order = release_order(descent.promise(first), self.delta)
        sure = None if self.confidence is None else Confidence(self.confidence, self.schedule.releases)
        asked = (0,) if sure is not None or self.schedule.releases > 1 else ()
        alone = Releases(Schedule(first, first, 1), descent, order, asked=asked)
        (stop,) = planned_stops(Steps(descent), alone, self._check_of(descent, order, sure))
        return PlannedStops((stop,), self.delta / self.schedule.releases).table[0].epsilon

    @cached_property
    def order(self) -> Fraction:
        """The order that suits the first release best: steps are bought and checks calibrated there."""
        return release_order(self.descent.promise(self.schedule.first), self.delta)

    def head(self, shape: Shape, told: Told | None = None) -> Head:
        """The mechanism."""
        return Head(
            width=shape.width,
            classes=shape.classes,
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

    def judge(self) -> AnyCheck[Labelled, Classifier]:
        """The check of that question."""
        return self._check_of(self.descent, self.order, self.assurance)

    def _check_of(
        self, descent: Descent, order: Fraction, confidence: Confidence | None
    ) -> AnyCheck[Labelled, Classifier]:
        first = Budget.of(descent.promise(self.schedule.first).at(order), alpha=order)
        looks = planned_looks_of(self.schedule.releases, confidence)
        return self.check.check(self.question(), first, looks, confidence)

    @property
    def assurance(self) -> Confidence | None:
        """The confidence, over all looks that are planned."""
        return None if self.asked is None or self.confidence is None else Confidence(self.confidence, len(self.asked))

    @cached_property
    def asked(self) -> tuple[int, ...] | None:
        """The releases that a check is asked about, from 0; None for all but the last, as the paper's check has it."""
        held = None if self.records is None else self.records * float(self.validation)
        return asked_rungs(
            self.check,
            self.question(),
            level=self.confidence,
            trained=self._trained,
            rungs=self.schedule.releases,
            held=held,
        )

    def _trained(self) -> list[Fraction]:
        """The ρ by each release."""
        return [largest_rho(self.descent.promise(steps).curve) for steps in self.schedule.steps]

    def looks(self) -> tuple[Look | None, ...]:
        """How noisy the check will be at each release, and what passes there."""
        return planned_looks(Steps(self.descent), self.releases, self.judge())

    @property
    def held(self) -> Fraction:
        """The share of records held out: none for a check on public records."""
        return Fraction(0) if self.check.public else self.validation


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
        """How δ is divided, and what states the stops."""
        stops, by = len(self.pledge.table), stated_by(self.pledge)
        if stops == 1:
            return f"one stop is planned, {by}"
        return f"planned stops, {by}: δ is split evenly over the {stops} of them"


def plan_training(recipe: HeadRecipe) -> TrainingPlan:
    """What each release will have cost, training and checks; touches no data."""
    stops = planned_stops(Steps(recipe.descent), recipe.releases, recipe.judge())
    return TrainingPlan(PlannedStops(stops, recipe.delta))


def fine_tune(
    parts: Split[Labelled],
    recipe: HeadRecipe,
    shape: Shape,
    *,
    odometer: Odometer,
    noise: Noise,
    on_step: Callable[[Line], None] | None = None,
    told: Told | None = None,
) -> Outcome[Classifier]:
    """Train, look, and stop at the first head that is accurate enough. Features are of length 1 already."""

    def build(trained: tuple[Trained, ...]) -> Classifier:
        return Classifier(trained[-1].weights)

    return search(
        parts,
        recipe.head(shape, told),
        recipe.releases,
        build,
        recipe.judge(),
        noise=noise,
        odometer=odometer,
        on_step=on_step,
    )
