"""Fine-tuning by few full-batch steps on centred features: the default, and the cheapest way we know."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import final

from expost.accounting.claim import Budget, Promise
from expost.errors import InvalidValue
from expost.jobs.finetuning.wanted import NEIGHBOURS, Shape, Training, Wanted
from expost.ladder import Ladder
from expost.mechanisms.gaussian import Gaussian
from expost.noise import Noise
from expost.numerics import positive
from expost.odometer import Odometer
from expost.private import Private
from expost.release import Past
from expost.training.head.centre import Centre, first_moment
from expost.training.head.full_batch import STEPS, FullBatch
from expost.training.head.labelled import Labelled
from expost.training.head.mechanism import Told
from expost.training.head.score import Classifier
from expost.training.schedule import Epsilon

ALPHA = Fraction(2)
"""The order that budgets are written at; Gaussian releases cost ρ·α at every order, so it does not matter."""
SHARE = Fraction(1, 5)
"""The centre's share of the first release."""
FINE = 2**40
"""Steps to 1 of ρ."""


@final
@dataclass(frozen=True, kw_only=True)
class CentredRecipe(Wanted):
    """A centre first, then releases of a few full-batch steps, by each of which ``growth`` times as much is spent.

    ``start`` is what the first release may be stated as, the centre included, or its ρ itself.
    """

    start: Epsilon | Fraction
    count: int = 6
    growth: Fraction = Fraction(17, 10)

    def __post_init__(self) -> None:
        Wanted.__post_init__(self)
        if self.count < 1:
            raise InvalidValue(f"releases is {self.count}; plan at least one.")
        if not self.growth > 1:
            raise InvalidValue(f"growth is {float(self.growth):g}; each release must cost more than the one before.")

    @cached_property
    def rho(self) -> Fraction:
        """What the first release costs, the centre included: as much as keeps it within its price."""
        if isinstance(self.start, Fraction):
            return positive(self.start, "rho")
        low, high = 0, FINE
        while self._first_stated(Fraction(high, FINE)) <= self.start.value:
            low, high = high, 2 * high
        while high - low > 1 + high // 10**9:
            middle = (low + high) // 2
            within = self._first_stated(Fraction(middle, FINE)) <= self.start.value
            low, high = (middle, high) if within else (low, middle)
        if not low:
            raise InvalidValue(f"no amount of noise reaches ε = {self.start.value:g}; ask for more, or a larger delta.")
        return Fraction(low, FINE)

    def _first_stated(self, rho: Fraction) -> float:
        rung = _level(rho * (1 - SHARE))
        alone = Ladder((rung.epsilon,), ALPHA, asked=self.looks_at_first)
        return self.stated_first(alone, self.priced, rung, centre_mechanism(1).promise(_level(rho * SHARE)))

    @property
    def levels(self) -> tuple[Fraction, ...]:
        """The ρ of each release, the centre included."""
        return tuple(self.rho * self.growth**place for place in range(self.count))

    @property
    def taken(self) -> tuple[int, ...]:
        """As many for each release."""
        return tuple(STEPS * place for place in range(1, self.count + 1))

    @property
    def first(self) -> Budget:
        """The steps of the first release."""
        return _level(self.rho * (1 - SHARE))

    @property
    def centre(self) -> Budget:
        """What the centre costs."""
        return _level(self.rho * SHARE)

    @property
    def priced(self) -> FullBatch:
        """The steps, on no records."""
        return FullBatch(width=1, classes=2, centre=None, summation=self.summation)

    @property
    def prior(self) -> Promise:
        """The centre."""
        return centre_mechanism(1).promise(self.centre)

    @property
    def releases(self) -> Ladder:
        """The rungs of the search."""
        levels = tuple(_level(rho - self.rho * SHARE).epsilon for rho in self.levels)
        return Ladder(levels, ALPHA, asked=self.asked)

    def trained(self) -> list[Fraction]:
        """The ρ by each release."""
        return list(self.levels)

    def begin(
        self, train: Private[Labelled], shape: Shape, odometer: Odometer, noise: Noise, told: Told | None
    ) -> Training:
        """The centre is released, and the steps measure from it."""
        measured = odometer.spend(centre_mechanism(shape.width), train, self.centre, Past(), noise).value
        steps = FullBatch(
            width=shape.width,
            classes=shape.classes,
            centre=Centre.of(measured),
            summation=self.summation,
            arrays=self.arrays,
            told=told,
        )
        return Training(steps, lambda trained: Classifier(steps.weights(trained)))


def centre_mechanism(width: int) -> Gaussian[Labelled]:
    """What releases the centre of features of this width; its price does not depend on it."""
    return Gaussian(first_moment(width, NEIGHBOURS))


def _level(rho: Fraction) -> Budget:
    return Budget(rho * ALPHA, ALPHA)
