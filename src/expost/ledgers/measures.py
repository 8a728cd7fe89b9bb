"""Measures: what a curve is in one number, in units, rounded up; caps are limits on such numbers."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

from expost.accounting.curve import Curve, Linear, Tabulated
from expost.ledgers.amounts import INFINITE, UNIT_BITS, units

InUnits: TypeAlias = tuple[int, int, int]
"""A line: its start and its slope in units, over one divisor."""


@final
@dataclass(frozen=True, slots=True)
class Order:
    """The bound at one Rényi order."""

    alpha: Fraction

    def of(self, curve: Curve) -> int:
        """What a curve is in this measure, in units."""
        if isinstance(curve, Tabulated):
            value = curve.at(self.alpha)
            return units(Fraction(value)) if math.isfinite(value) else INFINITE
        (found,) = at_orders([in_units(line) for line in curve.lines], [self.alpha.as_integer_ratio()])
        return found


@final
@dataclass(frozen=True, slots=True)
class Slope:
    """The ρ of zCDP: the line ρα through the origin that lies above a curve at every order."""

    def of(self, curve: Curve) -> int:
        """What a curve is in this measure, in units; a table knows nothing of all orders."""
        if isinstance(curve, Tabulated):
            return INFINITE
        return max(units(line.xi + line.rho) for line in curve.lines)


@final
@dataclass(frozen=True, slots=True)
class Profile:
    """The ρ of a Gaussian release that everything is a post-processing of."""

    def of(self, curve: Curve) -> int:
        """What a curve is in this measure, in units."""
        return INFINITE if curve.gaussian is None else units(curve.gaussian)


Measure = Order | Slope | Profile


def at_orders(lines: Sequence[InUnits], orders: Iterable[tuple[int, int]]) -> list[int]:
    """The highest of some lines at each order; in whole numbers, since fractions would take most time of a charge."""
    if len(lines) == 1:
        ((start, slope, divisor),) = lines
        return [-(-(start * below + slope * above) // (divisor * below)) for above, below in orders]
    return [
        max([-(-(start * below + slope * above) // (divisor * below)) for start, slope, divisor in lines])
        for above, below in orders
    ]


def in_units(line: Linear) -> InUnits:
    """A line as its start and its slope in units, over one divisor."""
    (start, below_start), (slope, below_slope) = line.xi.as_integer_ratio(), line.rho.as_integer_ratio()
    return start * below_slope << UNIT_BITS, slope * below_start << UNIT_BITS, below_start * below_slope
