"""Curves: a Rényi bound as a function of its order, closed under sum (composition) and maximum (disjoint parts)."""

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import NewType, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from expost.accounting.kinds import Kinds, Known, both, divided, either, repeated
from expost.errors import InvalidValue
from expost.numerics import Real, add_up, exact, non_negative, order, up

RdpEpsilon = NewType("RdpEpsilon", float)
"""A bound at one Rényi order, rounded up."""

AdpEpsilon = NewType("AdpEpsilon", float)
"""The ε of an (ε, δ) statement, rounded up; infinity means "no claim"."""

Floats: TypeAlias = NDArray[np.float64]

ORDERS: tuple[float, ...] = (
    *(1 + tenth / 10 for tenth in range(1, 100)),
    *(float(whole) for whole in range(11, 65)),
    *(80.0, 96.0, 128.0, 192.0, 256.0, 512.0, 1024.0),
)
"""The orders at which a curve without a closed form is tabulated."""


@final
@dataclass(frozen=True, slots=True)
class Linear:
    """The curve ξ + ρ·α, held exactly: (ξ, ρ)-zCDP.

    ``gaussian`` is stronger knowledge: the ρ of a Gaussian release of which this is a post-processing, so that
    the exact Gaussian profile holds and not only the curve. None where nothing of the kind is known.
    """

    xi: Fraction
    rho: Fraction
    gaussian: Fraction | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "xi", non_negative(self.xi, "xi"))
        object.__setattr__(self, "rho", non_negative(self.rho, "rho"))
        if self.gaussian is None:
            return
        object.__setattr__(self, "gaussian", exact(self.gaussian, "gaussian"))
        if self.xi or self.gaussian < self.rho:
            raise InvalidValue("a Gaussian release has xi = 0 and a profile at least as wide as its curve.")

    @property
    def lines(self) -> "tuple[Linear, ...]":
        return (self,)

    @property
    def kinds(self) -> Known | None:
        """Plain Gaussian noise, if it is that."""
        return None if self.gaussian is None else Kinds((), self.gaussian)

    def at(self, alpha: Real) -> RdpEpsilon:
        return RdpEpsilon(up(self.xi + self.rho * order(alpha)))


ZERO = Linear(Fraction(0), Fraction(0), Fraction(0))
"""The curve of a step that touches nothing."""


@final
@dataclass(frozen=True, slots=True)
class Highest:
    """The pointwise maximum of lines none of which lies above the others everywhere."""

    lines: tuple[Linear, ...]

    @property
    def orders(self) -> tuple[float, ...]:
        """The usual ones, among which a statement looks for the best."""
        return ORDERS

    @property
    def gaussian(self) -> None:
        """Lines cross only where some ξ is positive, and then no Gaussian is known to lie above."""

    @property
    def kinds(self) -> None:
        """Nor are the kinds of the steps known."""

    def at(self, alpha: Real) -> RdpEpsilon:
        return RdpEpsilon(max(line.at(alpha) for line in self.lines))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Tabulated:
    """A curve known at finitely many orders, each value rounded up.

    Between two orders the upper one speaks (a Rényi divergence never falls as the order grows); above the last
    one there is no claim, so the value is infinite. ``kinds`` are the steps that it is made of, None if not known.

    Implements: monotone in the order.
    """

    orders: tuple[float, ...]
    values: Floats
    kinds: Known | None = None

    def __post_init__(self) -> None:
        self.values.setflags(write=False)

    @classmethod
    def of(cls, orders: Sequence[float], values: Sequence[float], kinds: Known | None = None) -> "Tabulated":
        """A table from orders in increasing order and as many values, none negative or NaN."""
        if len(orders) != len(values) or not orders:
            raise InvalidValue(f"there are {len(orders)} orders and {len(values)} values; give one value per order.")
        if any(order(low) >= order(high) for low, high in pairwise(orders)):
            raise InvalidValue("the orders are not increasing; sort them.")
        array = np.array(values, dtype=np.float64)
        if not np.all(array >= 0):
            raise InvalidValue("a value is negative or NaN; a Rényi bound is at least 0.")
        return cls(tuple(float(order(alpha)) for alpha in orders), array, kinds)

    @property
    def gaussian(self) -> None:
        """A table makes no claim beyond its orders."""

    def at(self, alpha: Real) -> RdpEpsilon:
        """The bound at the next tabulated order."""
        index = bisect_left(self.orders, up(order(alpha)))
        return RdpEpsilon(float(self.values[index]) if index < len(self.orders) else math.inf)


Curve: TypeAlias = Linear | Highest | Tabulated
"""ε as a function of the order."""


def total(left: Curve, right: Curve) -> Curve:
    """The sum of two curves, rounded up: what two steps cost together."""
    if ZERO in (left, right):
        return right if left == ZERO else left
    if isinstance(left, Tabulated) or isinstance(right, Tabulated):
        orders, ours, theirs = _tabulate(left, right)
        return Tabulated(orders, np.nextafter(ours + theirs, math.inf), both(left.kinds, right.kinds))
    sums = [_sum(one, other) for one in left.lines for other in right.lines]
    return sums[0] if len(sums) == 1 else _envelope(sums)


def repeat(curve: Curve, steps: int) -> Curve:
    """The curve of this number of equal steps, composed in one multiplication."""
    if steps < 0:
        raise InvalidValue(f"steps is {steps}; it must be at least 0.")
    if steps == 0:
        return ZERO
    if isinstance(curve, Tabulated):
        return Tabulated(curve.orders, np.nextafter(curve.values * steps, math.inf), repeated(curve.kinds, steps))
    return _envelope(_scaled(line, steps) for line in curve.lines)


def highest(left: Curve, right: Curve) -> Curve:
    """The pointwise maximum of two curves: what steps on two disjoint parts cost together."""
    if ZERO in (left, right):
        return right if left == ZERO else left
    if isinstance(left, Tabulated) or isinstance(right, Tabulated):
        orders, ours, theirs = _tabulate(left, right)
        return Tabulated(orders, np.maximum(ours, theirs), either(left.kinds, right.kinds))
    return _envelope((*left.lines, *right.lines))


def opposite(train: Curve, held: Curve) -> Curve:
    """The same maximum for the two sides of one division, whose kinds of steps are then known side by side."""
    together = highest(train, held)
    if isinstance(together, Tabulated):
        return Tabulated(together.orders, together.values, divided(train.kinds, held.kinds))
    return together


def cover(curve: Curve) -> Linear | None:
    """The smallest single line that lies above the curve by its parts, or None for a table."""
    if isinstance(curve, Tabulated):
        return None
    return Linear(max(line.xi for line in curve.lines), max(line.rho for line in curve.lines), curve.gaussian)


def exceeds(curve: Curve, alpha: Fraction, cap: Fraction) -> bool:
    """Whether the curve lies above the cap at one order; exact for lines."""
    if isinstance(curve, Tabulated):
        return curve.at(alpha) > cap
    return any(line.xi + line.rho * alpha > cap for line in curve.lines)


def largest_rho(curve: Curve) -> Fraction:
    """The largest ρ with ρ·α below the curve at every order: what a disjoint part may spend for nothing."""
    if isinstance(curve, Tabulated):
        pairs = zip(curve.orders, curve.values.tolist(), strict=True)
        slopes = (Fraction(value) / Fraction(alpha) for alpha, value in pairs if math.isfinite(value))
        return min(slopes, default=Fraction(0))
    return max(line.rho for line in curve.lines)


def _sum(one: Linear, other: Linear) -> Linear:
    gaussian = None if one.gaussian is None or other.gaussian is None else add_up(one.gaussian, other.gaussian)
    return Linear(add_up(one.xi, other.xi), add_up(one.rho, other.rho), gaussian)


def _scaled(line: Linear, steps: int) -> Linear:
    return Linear(line.xi * steps, line.rho * steps, None if line.gaussian is None else line.gaussian * steps)


def _envelope(lines: Iterable[Linear]) -> Linear | Highest:
    """The maximum of the lines, those that can never be seen left out."""
    ranked = sorted(lines, key=lambda line: (line.xi + line.rho, line.rho), reverse=True)
    kept: list[Linear] = []
    for line in ranked:  # starts lower at α = 1 than all kept ones: visible only if it is steeper
        if not kept or line.rho > kept[-1].rho:
            while len(kept) > 1 and _crossing(kept[-2], line) <= _crossing(kept[-2], kept[-1]):
                kept.pop()
            kept.append(line)
    if len(kept) > 1:
        return Highest(tuple(kept))
    known = [line.gaussian for line in ranked if line.gaussian is not None]
    return Linear(kept[0].xi, kept[0].rho, max(known) if len(known) == len(ranked) else None)


def _crossing(flat: Linear, steep: Linear) -> Fraction:
    """The order from which the steeper line is the higher one."""
    return (flat.xi - steep.xi) / (steep.rho - flat.rho)


def _tabulate(left: Curve, right: Curve) -> tuple[tuple[float, ...], Floats, Floats]:
    """Both curves at the orders of the tables among them."""
    tables = [curve.orders for curve in (left, right) if isinstance(curve, Tabulated)]
    orders = tables[0]
    if any(each != orders for each in tables):
        last = min(each[-1] for each in tables)
        orders = tuple(sorted({alpha for each in tables for alpha in each if alpha <= last}))
    return orders, bounds_at(left, orders), bounds_at(right, orders)


def bounds_at(curve: Curve, orders: tuple[float, ...] | Floats) -> Floats:
    """The curve at many orders in floating point, each step rounded up; infinite above the last one of a table."""
    if isinstance(curve, Tabulated):
        same = isinstance(orders, tuple) and orders == curve.orders
        return curve.values if same else np.append(curve.values, math.inf)[np.searchsorted(curve.orders, orders)]
    heights = [up(line.xi) + np.nextafter(up(line.rho) * np.asarray(orders), math.inf) for line in curve.lines]
    return np.asarray(np.nextafter(np.max(heights, axis=0), math.inf), np.float64)
