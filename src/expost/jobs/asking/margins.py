"""Margins: tables that are sums of one another, their least noisy estimates and how much noise is left in these.

What two margins have in common is their intersection, down to the total. The noise of a margin falls into independent
parts, one for each set of its axes: the part of a set is known from every measured margin that has these axes. The
estimates that weigh each part by precision agree with each other, and no linear unbiased ones have less noise.
"""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import final

from expost.jobs.asking.overlap import Axes, Axis


@final
@dataclass(frozen=True)
class Margins:
    """All intersections of some margins, the fewest axes first; ``sizes`` are those of all axes."""

    elements: tuple[Axes, ...]
    sizes: Mapping[Axis, int]

    @classmethod
    def of(cls, margins: Iterable[Axes], sizes: Mapping[Axis, int]) -> "Margins":
        """Those of these margins, each of them included, and of the rows that their parts are of."""
        asked = tuple(margins)
        rows = (frozenset(axis for axis in each if isinstance(axis, str)) for each in asked)
        given = dict.fromkeys((*asked, *rows))
        found = dict(given)
        fresh = list(given)
        while fresh:
            fresh = [
                each for each in dict.fromkeys(one & other for one in fresh for other in given) if each not in found
            ]
            found |= dict.fromkeys(fresh)
        return cls(tuple(sorted(found, key=lambda each: (len(each), sorted(map(str, each))))), sizes)

    def cells(self, margin: Axes) -> int:
        """How many cells a margin has."""
        return math.prod(self.sizes[axis] for axis in margin)

    @cached_property
    def parts(self) -> Mapping[Axes, int]:
        """How many dimensions each margin has beyond those of the smaller ones that it contains."""
        found: dict[Axes, int] = {}
        for each in self.elements:
            found[each] = self.cells(each) - sum(size for other, size in found.items() if other < each)
        return found

    def within(self, margin: Axes) -> tuple[Axes, ...]:
        """The largest margins that are properly contained in one."""
        below = [each for each in self.elements if each < margin]
        return tuple(each for each in below if not any(each < other for other in below))

    def weights(self, margin: Axes, part: Axis | None = None) -> dict[Axes, float]:
        """The variance of a cell as a sum over margins: each weight over the precision of the total from that margin.

        ``part`` is an axis of two cells whose sums with any factors are asked for: sums of both are known better than
        differences, so that a variance which covers all of them is that of differences.

        Implements: noise of consistent estimates.
        """
        times = (1.0 if part is None else 2.0) / self.cells(margin) ** 2
        inside = (each for each in self.elements if each <= margin and (part is None or part in each))
        return {each: times * self.parts[each] for each in inside}


def totals(elements: Collection[Axes], measured: Mapping[Axes, float]) -> dict[Axes, float]:
    """For each margin the precision of the total from all measured margins that contain it."""
    return {each: math.fsum(precision for margin, precision in measured.items() if each <= margin) for each in elements}
