"""Columns of numbers whose bins are found under the bill: declared by a range and a number of bins, read on a grid.

The grid is public: it follows from the range and from whether numbers are whole, and a cell's code on it depends on
that cell alone. Which edges of the grid become those of the bins is decided by releases, later.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import final

import numpy as np

from expost.errors import SchemaMismatch
from expost.noise import Integers, Noise
from expost.tabular.schema.binned import IntegerBins, Numeric
from expost.tabular.schema.bins import REAL_LIMIT, WHOLE_LIMIT, Closed, Edges
from expost.tabular.schema.cells import Cell, Taken
from expost.tabular.schema.column import Cells, Codes, Column, Missing, Setting, Values, value_codes
from expost.tabular.schema.inside import Inside, Shape
from expost.tabular.schema.spelling import USUAL, Numerals

MOST_BINS = 64
STEPS = 128
"""Cells of equal width at most; those of equal ratio come besides, ten to a power of ten on each side of 0."""
POWERS = 6
"""Powers of ten below the largest number that cells of equal ratio reach down to."""
FAINT = 1e-9
"""Added to the weight of each cell, so that a bin without any is drawn from evenly."""
MANTISSAS = tuple(Fraction(text) for text in ("1", "1.2", "1.5", "2", "2.5", "3", "4", "5", "6", "8"))


@final
@dataclass(frozen=True, slots=True)
class PrivateBins:
    """Bins of numbers between ``low`` and ``high``, whose inner ``edges`` are None until they were released.

    Before that it stands for its column wherever only the number of bins matters, as in a plan, and takes cells by
    edges that are spread over the grid. A number outside the range goes to the nearest bin. ``weights`` say how often
    each cell of the grid is drawn from, within its bin.
    """

    name: str
    low: float
    high: float
    bins: int
    whole: bool
    closed: Closed
    missing: Missing
    numerals: Numerals = USUAL
    edges: Edges | None = None
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        limit = WHOLE_LIMIT if self.whole else REAL_LIMIT
        if not (-limit <= self.low < self.high <= limit and self.high - self.low >= 1 / REAL_LIMIT):
            raise SchemaMismatch(
                f"range of column {self.name} is not [low, high], with low below high and neither beyond ±{limit:g}; "
                "correct it."
            )
        if self.whole and (self.low != int(self.low) or self.high != int(self.high)):
            raise SchemaMismatch(f"range of integer column {self.name} is not whole; round it or use kind numeric.")
        most = min(MOST_BINS, len(self.grid) - 1)
        if most < 2:
            raise SchemaMismatch(f"range of column {self.name} is too narrow for two bins; widen it.")
        if not 2 <= self.bins <= most:
            raise SchemaMismatch(f"column {self.name} asks for {self.bins} bins; from 2 to {most} fit into its range.")
        if self.weights and not (len(self.weights) == len(self.grid) - 1 and min(self.weights) >= 0):
            raise SchemaMismatch(f"the weights of column {self.name} are not one for each cell of its grid.")
        if self.edges is not None and (len(self.edges) != self.bins + 1 or not {*self.edges} <= {*self.grid}):
            raise SchemaMismatch(f"the edges of column {self.name} are not {self.bins + 1} of its grid.")

    @property
    def grid(self) -> Edges:
        """The edges of the public cells, round numbers but for the ends."""
        return _grid(self.low, self.high, whole=self.whole)

    @property
    def fine(self) -> Column:
        """The column on its grid, under which a table is read; a cell that 0 closes is written as 0, and others even.

        Such a cell is a millionth of the range or less, and many records may have 0 itself.
        """
        nothing = [(low if self.closed is Closed.LEFT else high) == 0 for low, high in pairwise(self.grid)]
        return self._of(self.grid, tuple(Inside.EDGE if each else Inside.EVEN for each in nothing))

    @property
    def size(self) -> int:
        """The bins and the missing category."""
        return self.standing.size

    @property
    def labels(self) -> tuple[str, ...]:
        """The bins as intervals, or by their numbers before they are known."""
        if self.edges is not None:
            return self.standing.labels
        missing = self.standing.labels[self.bins :]
        return (*(f"bin {place} of {self.bins}" for place in range(1, self.bins + 1)), *missing)

    @property
    def settings(self) -> Mapping[str, Setting]:
        """What was declared or, once they are known, the edges as if they had been."""
        if self.edges is not None:
            return self.standing.settings
        kind, ends = ("integer", (int(self.low), int(self.high))) if self.whole else ("numeric", (self.low, self.high))
        told: dict[str, Setting] = {"kind": kind, "edges": "private", "range": ends, "bins": self.bins}
        return told | {"closed": self.closed.value} | self.numerals.settings

    def taken(self, cell: Cell | None) -> Taken:
        """The bin of a number."""
        return self.standing.taken(cell)

    def encode(self, cells: Cells) -> Codes:
        """The bin of each number."""
        return self.standing.encode(cells)

    def decode(self, codes: Codes, noise: Noise) -> Values:
        """A number from each bin, drawn evenly from one of its cells."""
        first, last = (np.searchsorted(self.coarser, np.arange(self.bins), side) for side in ("left", "right"))
        below = np.concatenate([[0.0], np.cumsum(np.array(self.weights or (1.0,) * (len(self.grid) - 1)) + FAINT)])
        bins = value_codes(codes, self.bins)
        low, high = below[first[bins]], below[last[bins]]
        found = np.searchsorted(below, low + (high - low) * noise.uniform(len(codes)), "right") - 1
        cells = np.where(codes < self.bins, np.clip(found, first[bins], last[bins] - 1), len(self.grid) - 1)
        return self.fine.decode(cells.astype(np.uint32), noise)

    def spelled(self, values: Values) -> Values:
        """With the declared spelling."""
        return self.standing.spelled(values)

    def between(self, edges: Edges, weights: tuple[float, ...]) -> "PrivateBins":
        """The same with these edges of its grid, and these weights of its cells."""
        return replace(self, edges=edges, weights=weights)

    @property
    def coarser(self) -> Integers:
        """The bin of each cell of the grid and, last, the code of a missing value."""
        inner = np.searchsorted(np.array(self._edges), np.array(self.grid[:-1]), side="right") - 1
        return np.append(inner, self.bins).astype(np.int64)

    @property
    def _edges(self) -> Edges:
        if self.edges is not None:
            return self.edges
        grid = self.grid
        return tuple(grid[round(place * (len(grid) - 1) / self.bins)] for place in range(self.bins + 1))

    @property
    def standing(self) -> Column:
        """The bins that take cells now, between edges that were released or, before that, are spread over the grid."""
        return self._of(self._edges)

    def _of(self, edges: Edges, inside: Shape = Inside.EVEN) -> Column:
        made = IntegerBins if self.whole else Numeric
        return made(self.name, edges, self.closed, self.missing, self.numerals, inside)


@cache
def _grid(low: float, high: float, *, whole: bool) -> Edges:
    """Multiples of a round step, and round numbers of equal ratio, between the ends."""
    first, last = Fraction(repr(low)), Fraction(repr(high))
    step = _round_step((last - first) / STEPS)
    even = (step * place for place in range(math.ceil(first / step), math.floor(last / step) + 1))
    top = Decimal(repr(max(abs(low), abs(high)))).adjusted()
    ratios = [each * Fraction(10) ** power for power in range(top - POWERS, top + 1) for each in MANTISSAS]
    inside = {*even, *ratios, *(-each for each in ratios)}
    found = {each for each in inside if first < each < last and (not whole or each.denominator == 1)}
    return (low, *sorted({float(each) for each in found} - {low, high}), high)


def _round_step(least: Fraction) -> Fraction:
    """The least of 1, 2 and 5 times a power of ten that is not below."""
    power = Fraction(10) ** (math.floor(math.log10(least)) - 1)
    return next(each * power * scale for scale in (1, 10, 100) for each in (1, 2, 5) if each * power * scale >= least)
