"""Noisy gradient descent: what its steps cost, and the noise that a price calls for."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import final

from expost.accounting.claim import Budget, Promise
from expost.accounting.curve import ORDERS, Linear, Tabulated
from expost.accounting.kinds import Kinds
from expost.accounting.subsampled import subsampled_gaussian
from expost.errors import InvalidValue
from expost.numerics import Real, exact, up

QUIETEST, LOUDEST = Fraction(1, 16), Fraction(2**20)
"""The noise multipliers searched: less protects nobody, more leaves no signal."""
LEAST = 1 / LOUDEST
"""The least noise multiplier that has a price: far below it costs leave the floats."""
NUDGE = Fraction(1, 10**12)
"""How far, relatively, a solution is first raised when its price is still above what was asked."""
MOST_ENTRIES = 10**7
LATTICE_SLACK = 1e-17
"""What exact integer noise on MOST_ENTRIES may add to a step, at any order tabulated: 12·10⁷·8e−26 at most."""


@final
@dataclass(frozen=True, slots=True)
class Descent:
    """Steps that each draw records by a coin of chance ``rate``, sum clipped contributions and add Gaussian noise.

    ``noise_multiplier`` is the noise's standard deviation over the clipping norm. Neighbours add or remove a record.
    The noise may be exact integer noise of as many entries as ``MOST_ENTRIES``.

    Uses: Poisson-subsampled Gaussian; sampled sums with integer noise.
    """

    rate: Fraction
    noise_multiplier: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", chance(self.rate))
        object.__setattr__(self, "noise_multiplier", exact(self.noise_multiplier, "noise_multiplier"))
        if self.noise_multiplier > LOUDEST:
            raise InvalidValue(
                f"noise_multiplier is {up(self.noise_multiplier):g}; it must be at most {up(LOUDEST):g}."
            )
        if self.noise_multiplier < LEAST:
            raise InvalidValue(
                f"noise_multiplier is {up(self.noise_multiplier):g}; below {up(LEAST):g} it protects nobody."
            )

    @property
    def step(self) -> Promise:
        """What one step costs."""
        return _step(self.rate, self.noise_multiplier)

    def promise(self, steps: int) -> Promise:
        """What this number of steps costs; the same object each time, so that a record can count equal stretches."""
        return _steps(self.rate, self.noise_multiplier, steps)

    def steps(self, budget: Budget) -> int:
        """How many steps the budget pays for at its order."""
        price = self.step.at(budget.alpha)
        affordable = int(budget.epsilon / Fraction(price)) if math.isfinite(price) else 0
        if affordable < 1:
            raise InvalidValue(
                f"ε = {up(budget.epsilon):.4g} at α = {up(budget.alpha):g} does not pay for a step, which costs "
                f"{price:.4g}; ask for more, for a lower order, or for more noise."
            )
        return affordable


def chance(rate: Real) -> Fraction:
    """A record's chance of joining a step, as a fraction; refused unless it is above 0 and at most 1."""
    fraction = exact(rate, "rate")
    if not 0 < fraction <= 1:
        raise InvalidValue(f"rate is {up(fraction):g}; the chance of joining a step is above 0 and at most 1.")
    return fraction


@lru_cache(maxsize=64)
def _step(rate: Fraction, noise_multiplier: Fraction) -> Promise:
    if rate == 1:  # everyone joins: plain Gaussian noise, whose profile is known, and exact integer noise's with it
        rho = 1 / (2 * noise_multiplier**2)
        return Promise(Linear(Fraction(0), rho, rho))
    sampled = up(rate)
    values = [subsampled_gaussian(alpha, sampled, noise_multiplier) + LATTICE_SLACK for alpha in ORDERS]
    return Promise(Tabulated.of(ORDERS, values, Kinds((((rate, noise_multiplier), 1),), Fraction(0))))


@lru_cache(maxsize=256)
def _steps(rate: Fraction, noise_multiplier: Fraction, steps: int) -> Promise:
    return _step(rate, noise_multiplier).times(steps)


def noise_multiplier(target: float, stated: Callable[[Fraction], float]) -> Fraction:
    """The least noise at which what ``stated`` says of it does not exceed the target.

    ``stated`` is an ε as a function of the noise multiplier, falling as the noise grows.
    """
    if not stated(LOUDEST) <= target:
        raise InvalidValue(f"no amount of noise reaches ε = {target:g}; ask for more, or for a larger delta.")
    high = Fraction(1)
    while not stated(high) <= target:
        high *= 2
    while stated(high / 2) <= target:
        high /= 2
        if high <= QUIETEST:
            return QUIETEST
    from scipy.optimize import brentq  # noqa: PLC0415  slow to load, and rarely needed

    root = brentq(lambda noise: stated(Fraction(noise)) - target, float(high / 2), float(high), rtol=1e-12)
    found, nudge = Fraction(root), NUDGE
    while not stated(found) <= target:
        found, nudge = found * (1 + nudge), 2 * nudge
    return found
