"""Fine-tuning on centred features: a centre first, then releases of one method, full-batch steps by default."""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, final

from expost.accounting.claim import Budget, Promise
from expost.errors import InvalidValue
from expost.jobs.finetuning.methods import CentredMethod, Computing, GradientSteps
from expost.jobs.finetuning.wanted import Shape, Training, Wanted
from expost.ladder import Ladder, Priced
from expost.mechanisms.gaussian import Gaussian
from expost.noise import Noise
from expost.numerics import positive
from expost.odometer import Odometer
from expost.private import Neighbours, Private
from expost.release import Past
from expost.training.head.centre import Centre, first_moment
from expost.training.head.labelled import Labelled
from expost.training.head.mechanism import Told
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
    """A centre first, then releases of a method, by each of which ``growth`` times as much is spent.

    ``start`` is what the first release may be stated as, the centre included, or its ρ itself.
    """

    start: Epsilon | Fraction
    method: CentredMethod = field(default_factory=GradientSteps)
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
        while high - low > 1 + high // 10**6:
            middle = (low + high) // 2
            within = self._first_stated(Fraction(middle, FINE)) <= self.start.value
            low, high = (middle, high) if within else (low, middle)
        if not low:
            raise InvalidValue(f"no amount of noise reaches ε = {self.start.value:g}; ask for more, or a larger delta.")
        return Fraction(low, FINE)

    def _first_stated(self, rho: Fraction) -> float:
        rung = _level(rho * (1 - SHARE))
        alone = Ladder((rung.epsilon,), ALPHA, asked=self.looks_at_first)
        first = centre_mechanism(1, self.neighbours).promise(_level(rho * SHARE))
        return self.stated_first(alone, self.priced, rung, first)

    @property
    def levels(self) -> tuple[Fraction, ...]:
        """The ρ of each release, the centre included."""
        return tuple(self.rho * self.growth**place for place in range(self.count))

    @property
    def taken(self) -> tuple[int, ...]:
        """As many for each release."""
        return tuple(self.method.per_release * place for place in range(1, self.count + 1))

    @property
    def first(self) -> Budget:
        """What the first release costs beside the centre."""
        return _level(self.rho * (1 - SHARE))

    @property
    def centre(self) -> Budget:
        """What the centre costs."""
        return _level(self.rho * SHARE)

    @property
    def priced(self) -> Priced:
        """The method's, on no records."""
        return self._training(Shape(1, 2)).mechanism

    @property
    def prior(self) -> Promise:
        """The centre."""
        return centre_mechanism(1, self.neighbours).promise(self.centre)

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
    ) -> Training[Any]:
        """The centre is released, and the method measures from it."""
        self._training(shape)  # refuses what is too large before anything is spent
        released = centre_mechanism(shape.width, self.neighbours)
        measured = odometer.spend(released, train, self.centre, Past(), noise).value
        return self._training(shape, Centre.of(measured), told)

    def _training(self, shape: Shape, centre: Centre | None = None, told: Told | None = None) -> Training[Any]:
        return self.method.training(shape, centre, Computing(self.neighbours, self.summation, self.arrays, told))


def centre_mechanism(width: int, neighbours: Neighbours) -> Gaussian[Labelled]:
    """What releases the centre of features of this width; its price does not depend on it."""
    return Gaussian(first_moment(width, neighbours))


def _level(rho: Fraction) -> Budget:
    return Budget(rho * ALPHA, ALPHA)
