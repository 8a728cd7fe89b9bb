"""Fine-tuning: from labelled features and an accuracy to a linear head that reaches it on held-out records."""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import final

from expost.accounting.claim import Budget
from expost.accounting.curve import largest_rho
from expost.accounting.descent import Descent, noise_multiplier
from expost.accounting.plan import stated_by
from expost.accounting.stops import PlannedStops
from expost.jobs.finetuning.wanted import Shape, Training, Wanted
from expost.noise import Noise
from expost.numerics import positive
from expost.odometer import Odometer
from expost.private import Private, Split
from expost.search import Line, Outcome, planned_stops, search
from expost.training.head.labelled import Labelled
from expost.training.head.mechanism import Head, Told, Trained
from expost.training.head.optimizer import Adam, Optimizer
from expost.training.head.score import Classifier
from expost.training.schedule import Epsilon, Releases, Schedule, Steps, release_order


@final
@dataclass(frozen=True, kw_only=True)
class HeadRecipe(Wanted):
    """Many noisy gradient steps, each on a sample of the records.

    ``start`` is what the first release may be stated as, or the noise multiplier itself.
    """

    schedule: Schedule
    start: Epsilon | Fraction
    rate: Fraction = Fraction(1, 10)
    clip: float = 1.0
    batch: float = 64.0
    optimizer: Optimizer = field(default_factory=Adam)
    drop: float = 0.1

    def __post_init__(self) -> None:
        Wanted.__post_init__(self)
        positive(self.clip, "max_grad_norm")
        positive(self.batch, "batch")
        positive(self.drop, "drop")

    @cached_property
    def descent(self) -> Descent:
        """The steps, with the least noise that keeps the first release within its price."""
        if isinstance(self.start, Epsilon):
            return Descent(self.rate, noise_multiplier(self.start.value, self._first_stated))
        return Descent(self.rate, self.start)

    def _first_stated(self, noise: Fraction) -> float:
        descent, first = Descent(self.rate, noise), self.schedule.first
        order = release_order(descent.promise(first), self.delta)
        alone = Releases(Schedule(first, first, 1), descent, order, asked=self.looks_at_first)
        return self.stated_first(alone, Steps(descent), _first(descent, first, order))

    @cached_property
    def order(self) -> Fraction:
        """The order that suits the first release best: steps are bought and checks calibrated there."""
        return release_order(self.descent.promise(self.schedule.first), self.delta)

    @property
    def count(self) -> int:
        """As the schedule has it."""
        return self.schedule.releases

    @property
    def taken(self) -> tuple[int, ...]:
        """As the schedule has them."""
        return self.schedule.steps

    @property
    def first(self) -> Budget:
        """The steps before the first release."""
        return _first(self.descent, self.schedule.first, self.order)

    @property
    def priced(self) -> Steps:
        """The steps."""
        return Steps(self.descent)

    @property
    def releases(self) -> Releases:
        """The rungs of the search."""
        return Releases(self.schedule, self.descent, self.order, asked=self.asked)

    def trained(self) -> list[Fraction]:
        """The ρ by each release."""
        return [largest_rho(self.descent.promise(steps).curve) for steps in self.schedule.steps]

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
            neighbours=self.neighbours,
        )

    def begin(
        self, train: Private[Labelled], shape: Shape, odometer: Odometer, noise: Noise, told: Told | None
    ) -> Training[Trained]:
        """Nothing comes before the steps."""
        return Training(self.head(shape, told), lambda trained: Classifier(trained.weights))


def _first(descent: Descent, steps: int, order: Fraction) -> Budget:
    return Budget.of(descent.promise(steps).at(order), alpha=order)


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


def plan_training(recipe: Wanted) -> TrainingPlan:
    """What each release will have cost, training and checks; touches no data."""
    stops = planned_stops(recipe.priced, recipe.releases, recipe.judge(), prior=recipe.prior)
    return TrainingPlan(PlannedStops(stops, recipe.delta))


def fine_tune(
    parts: Split[Labelled],
    recipe: Wanted,
    shape: Shape,
    *,
    odometer: Odometer,
    noise: Noise,
    on_step: Callable[[Line], None] | None = None,
    told: Told | None = None,
) -> Outcome[Classifier]:
    """Train, look, and stop at the first head that is accurate enough. Features are of length 1 already."""
    training = recipe.begin(parts.train, shape, odometer, noise, told)

    return search(
        parts,
        training.mechanism,
        recipe.releases,
        lambda released: training.head(released[-1]),
        recipe.judge(),
        noise=noise,
        odometer=odometer,
        on_step=on_step,
    )
