"""Step functions: the code of a number, or of a day, among public breaks, worked out so that no rounding moves one.

A column says in Python what it makes of a number. Here the least number is found from which it makes the next code, so
that an array of numbers takes one search: among real numbers, which are those of 64 bits, or among whole ones.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from expost.tabular.schema.column import Codes

Number: TypeAlias = int | float

WIDEST = 2**16
"""Whole numbers between the first break and the last for which a table is made instead of a search."""
LEAST, MOST = -(2**63), 2**63 - 1


class Break(NamedTuple):
    """Where a code begins: at this number or, if strict, beyond it."""

    at: int | float | Fraction
    strict: bool

    @property
    def whole(self) -> int:
        """The least whole number that is not before it."""
        return math.floor(self.at) + 1 if self.strict else math.ceil(self.at)

    @property
    def real(self) -> float:
        """The least real number of 64 bits that is not before it."""
        found, place = float(self.at), Fraction(self.at)
        while Fraction(found) < place or (self.strict and Fraction(found) == place):
            found = math.nextafter(found, math.inf)
        return found


@final
@dataclass(frozen=True, slots=True, eq=False)
class StepCodes:
    """The code of each number: that of the last break which is not above it; not a number is above them all."""

    breaks: NDArray[Any]
    codes: Codes
    table: Codes | None = None

    @classmethod
    def of_whole(cls, base: Sequence[Break], codes: Sequence[int], points: Mapping[int, int], kind: Any) -> "StepCodes":
        """Codes that begin at these breaks, besides those of single whole numbers."""
        ends = {point + 1 for point in points}
        found, chosen = _overlaid([each.whole for each in base], codes, points, ends)
        first, last = bisect_right(found, LEAST), bisect_right(found, MOST)
        breaks, kept = np.array(found[first:last], np.int64), np.array(chosen[first : last + 1], kind)
        # between breaks far apart, and beyond the last number of 64 bits, NumPy's own numbers would wrap around
        width = int(breaks[-1]) - int(breaks[0]) if len(breaks) else WIDEST
        if width >= WIDEST:
            return cls(breaks, kept)
        near = np.arange(width + 2) + (breaks[0] - 1)
        return cls(breaks, kept, kept[np.searchsorted(breaks, near, "right")])

    @classmethod
    def of_real(
        cls, base: Sequence[Break], codes: Sequence[int], points: Mapping[float, int], missing: int, kind: Any
    ) -> "StepCodes":
        """Codes that begin at these breaks, besides those of single numbers and of what is not a number."""
        ends = {math.nextafter(point, math.inf) for point in points} - {math.inf}
        found, chosen = _overlaid([each.real for each in base], codes, points, ends)
        return cls(np.array([*found, math.nan], np.float64), np.array([*chosen, missing], kind))

    def __call__(self, values: NDArray[Any]) -> Codes:
        if self.table is None:
            return self.codes[np.searchsorted(self.breaks, values, "right")]
        low = int(self.breaks[0]) - 1
        near = np.clip(values.astype(np.int64), low, int(self.breaks[-1]))
        near -= low
        return self.table[near]


def _overlaid(
    base: Sequence[Number], codes: Sequence[int], points: Mapping[Any, int], ends: Iterable[Number]
) -> tuple[list[Any], list[int]]:
    """All places where the code may change, and the code from each, the first one being that before all of them."""
    places = sorted({*base, *points, *ends})
    return places, [codes[0], *(points.get(each, codes[bisect_right(base, each)]) for each in places)]


def nearest_breaks(values: Sequence[int]) -> list[Break]:
    """Where the nearest of these whole numbers becomes the next one, as ``Integer.taken`` measures in floats.

    Half-way between two numbers of the same sign both differences are floats, exactly. Around zero they may not be.
    """
    return [
        Break(_turn(low, high), strict=False) if low < 0 < high else Break(Fraction(low + high, 2), strict=True)
        for low, high in pairwise(values)
    ]


def _turn(low: int, high: int) -> float:
    """The least float that is nearer to the higher number, after rounding."""
    before, after = float(low), float(high)
    while (middle := _between(before, after)) not in (before, after):
        if high - middle < middle - low:
            after = middle
        else:
            before = middle
    return after


def _between(before: float, after: float) -> float:
    """The float half-way between two by their order among all floats."""
    places = [int(np.float64(abs(each)).view(np.int64)) * (-1 if each < 0 else 1) for each in (before, after)]
    middle = sum(places) // 2
    found = float(np.int64(abs(middle)).view(np.float64))
    return -found if middle < 0 else found
