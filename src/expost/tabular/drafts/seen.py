"""What a draft keeps of a column while it reads it: a bounded number of cells, and of numbers how they are spread."""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import final

from expost.tabular.schema.cells import Cell

MOST_KEPT = 2**15
"""Different cells that are kept of one column."""

HEAVY, MANY, APART, MOST_HEAVY = 0.05, 30, 3, 5
"""A value is heavy with more than this share of the cells, at least that many, and this many times what the values
beside it have; no more than five have bins of their own."""


@final
@dataclass
class Seen:
    """The cells of one column, each with how often it was seen.

    Of more different ones than are kept the rarer half is forgotten, so that whatever is common is still counted.
    """

    name: str
    counts: Counter[Cell] = field(default_factory=Counter)
    cells: int = 0
    complete: bool = True
    repeats: bool = False

    def add(self, found: Sequence[Cell | None]) -> None:
        """Note some cells."""
        fresh = Counter(cell for cell in found if cell is not None)
        self.cells += fresh.total()
        self.counts.update(fresh)
        self.repeats = self.repeats or len(self.counts) < self.counts.total()
        if len(self.counts) > MOST_KEPT:
            self.counts = Counter(dict(self.counts.most_common(MOST_KEPT // 2)))
            self.complete = False


@final
@dataclass
class Spread:
    """How numbers are spread: their ends, those that many cells hold, and all others to three digits."""

    candidates: Sequence[float]
    cells: int = 0
    whole: bool = True
    heavy: Counter[float] = field(default_factory=Counter)
    above: dict[float, float] = field(default_factory=dict)
    others: Counter[float] = field(default_factory=Counter)
    low: float = math.inf
    high: float = -math.inf

    @classmethod
    def for_counts(cls, counts: Mapping[float, int]) -> "Spread":
        """One that knows which values may be heavy, by a count that may have forgotten a few cells."""
        ordered, least = sorted(counts), max(MANY, HEAVY * sum(counts.values()) / 2)
        beside = {
            value: median(
                counts[near] for near in (*ordered[max(0, place - 2) : place], *ordered[place + 1 : place + 3])
            )
            for place, value in enumerate(ordered)
            if counts[value] >= least and math.isfinite(value) and len(ordered) > 1
        }
        apart = [value for value, usual in beside.items() if counts[value] > APART * usual]
        return cls(sorted(apart, key=lambda value: -counts[value])[:MOST_HEAVY])

    def add(self, found: Mapping[float, int]) -> None:
        """Note some numbers, each with how often it was seen."""
        known = {value: times for value, times in found.items() if math.isfinite(value)}
        for value, times in known.items():
            self.cells += times
            self.whole = self.whole and value == int(value)
            if value in self.candidates:
                self.heavy[value] += times
            else:
                self._note(value, times)
        ordered = sorted(known)
        for value in self.candidates:
            place = bisect_right(ordered, value)
            if place < len(ordered):
                self.above[value] = min(ordered[place], self.above.get(value, math.inf))

    def settled(self) -> "Spread":
        """The same, without candidates that turned out not to be heavy, or between which there is little else."""
        light = [value for value, times in self.heavy.items() if times <= HEAVY * self.cells or not self._varied]
        for value in light:
            self._note(value, self.heavy.pop(value))
        return self

    @property
    def _varied(self) -> bool:
        return self.others.total() >= MANY and len(self.others) > MOST_HEAVY

    def _note(self, value: float, times: int) -> None:
        self.low, self.high = min(self.low, value), max(self.high, value)
        self.others[float(f"{value:.2e}")] += times
