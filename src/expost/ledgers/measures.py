"""Measures: what a curve is in one number, in units, rounded up; caps are limits on such numbers."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from expost.accounting.curve import Tabulated
from expost.ledgers.amounts import INFINITE, UNIT_BITS, units
from expost.ledgers.lines import Whole

HALVINGS = 100


@final
@dataclass(frozen=True, slots=True)
class Order:
    """The bound at one Rényi order."""

    alpha: Fraction

    def of_table(self, table: Tabulated) -> int:
        """What a table is in this measure, in units."""
        value = table.at(self.alpha)
        return units(Fraction(value)) if math.isfinite(value) else INFINITE

    def of_lines(self, lines: Sequence[Whole]) -> int:
        """What the highest of some lines is in this measure, in units."""
        above, below = self.alpha.as_integer_ratio()
        return at_orders(lines, (above,), below)[0]


@final
@dataclass(frozen=True, slots=True)
class Slope:
    """The ρ of zCDP: the line ρα through the origin that lies above a curve at every order."""

    def of_table(self, table: Tabulated) -> int:
        """A table knows nothing of all orders."""
        return INFINITE

    def of_lines(self, lines: Sequence[Whole]) -> int:
        """What the highest of some lines is in this measure, in units."""
        return max([-((-xi - rho << UNIT_BITS) // divisor) for xi, rho, _, divisor in lines])


@final
@dataclass(frozen=True, slots=True)
class Profile:
    """The ρ of a Gaussian release that everything is a post-processing of."""

    def of_table(self, table: Tabulated) -> int:
        """A table knows nothing of a Gaussian."""
        return INFINITE

    def of_lines(self, lines: Sequence[Whole]) -> int:
        """What a line is in this measure, in units; of several that cross, no Gaussian is known to lie above."""
        _, _, profile, divisor = lines[0]
        return INFINITE if len(lines) > 1 or profile is None else -((-profile << UNIT_BITS) // divisor)


Measure = Order | Slope | Profile


def at_orders(lines: Sequence[Whole], orders: Sequence[int], below: int) -> list[int]:
    """The highest of some lines at each of these orders over a number that they have in common, in units."""
    if len(lines) == 1:
        xi, rho, _, divisor = lines[0]
        start, slope, divisor = -xi * below << UNIT_BITS, -rho << UNIT_BITS, divisor * below
        return [-((start + slope * above) // divisor) for above in orders]
    return [max(at) for at in zip(*[at_orders([line], orders, below) for line in lines], strict=True)]


def largest(fits: Callable[[float], bool]) -> Fraction:
    """The largest number that fits, to the last bits, from below: a limit."""
    low, high = 0.0, 1.0
    while fits(high):
        low, high = high, 2 * high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return Fraction(low)
