"""Columns whose domain is a row of bins between public edges: reals, whole numbers and dates."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import Enum
from itertools import pairwise
from typing import TypeAlias, final

import numpy as np

from expost.errors import SchemaMismatch
from expost.noise import Floats, Integers, Noise
from expost.tabular.schema.column import (
    Cells,
    Codes,
    Missing,
    Setting,
    Values,
    check_domain,
    coded,
    number_in,
    ordinal,
    value_codes,
    with_missing,
    with_missing_label,
)

Edges: TypeAlias = tuple[float, ...]
DateEdge: TypeAlias = date | float

WHOLE_LIMIT = 2**53
"""Whole numbers up to here are floats too, so that a uniform draw between edges is one of them."""

REAL_LIMIT = 1e300
"""Edges up to here can be added and subtracted without overflow."""


class Closed(Enum):
    """Which end of each bin belongs to it."""

    LEFT = "left"
    RIGHT = "right"


@final
@dataclass(frozen=True, slots=True)
class Numeric:
    """Bins of real numbers; a number outside all of them goes to the nearest, no number counts as missing.

    An infinite first or last edge makes that end open. It is decoded as if it were as wide as its neighbour.
    """

    name: str
    edges: Edges
    closed: Closed
    missing: Missing

    def __post_init__(self) -> None:
        check_edges(self.name, self.edges, REAL_LIMIT)

    @property
    def size(self) -> int:
        """The bins and the missing category."""
        return bin_count(self.edges, self.missing)

    @property
    def labels(self) -> tuple[str, ...]:
        """The bins as intervals."""
        return intervals(self.edges, self.closed, self.missing)

    @property
    def settings(self) -> Mapping[str, Setting]:
        """The edges and the closed end."""
        return {"kind": "numeric", "edges": self.edges, "closed": self.closed.value}

    def encode(self, cells: Cells) -> Codes:
        """The bin of each number."""
        return _binned(cells, number_in, self.edges, self.closed, self.missing)

    def decode(self, codes: Codes, noise: Noise) -> Values:
        """A uniform real from each bin."""
        (low, high), share = spans(codes, self.edges), noise.uniform(len(codes))
        drawn = low * (1 - share) + high * share
        if self.closed is Closed.LEFT:
            inside = np.clip(drawn, low, np.nextafter(high, -np.inf))
        else:
            inside = np.clip(drawn, np.nextafter(low, np.inf), high)
        return with_missing(inside, codes, len(self.edges) - 1, self.missing)


@final
@dataclass(frozen=True, slots=True)
class IntegerBins:
    """Bins between whole edges, decoded as whole numbers; otherwise as Numeric."""

    name: str
    edges: Edges
    closed: Closed
    missing: Missing

    def __post_init__(self) -> None:
        check_edges(self.name, self.edges, WHOLE_LIMIT)
        if any(math.isfinite(edge) and edge != int(edge) for edge in self.edges):
            raise SchemaMismatch(f"an edge of integer column {self.name} is not whole; round it or use kind numeric.")

    @property
    def size(self) -> int:
        """The bins and the missing category."""
        return bin_count(self.edges, self.missing)

    @property
    def labels(self) -> tuple[str, ...]:
        """The bins as intervals."""
        return intervals(self.edges, self.closed, self.missing)

    @property
    def settings(self) -> Mapping[str, Setting]:
        """The edges and the closed end."""
        edges = tuple(int(edge) if math.isfinite(edge) else edge for edge in self.edges)
        return {"kind": "integer", "edges": edges, "closed": self.closed.value}

    def encode(self, cells: Cells) -> Codes:
        """The bin of each number."""
        return _binned(cells, number_in, self.edges, self.closed, self.missing)

    def decode(self, codes: Codes, noise: Noise) -> Values:
        """A uniform whole number from each bin."""
        whole = whole_draws(codes, self.edges, self.closed, noise)
        return with_missing(whole, codes, len(self.edges) - 1, self.missing)


@final
@dataclass(frozen=True, slots=True)
class Dates:
    """Bins of days between dates; a day outside all of them goes to the nearest, no date counts as missing.

    A time of day is ignored. An infinite first or last edge makes that end open.
    """

    name: str
    edges: tuple[DateEdge, ...]
    closed: Closed
    missing: Missing

    def __post_init__(self) -> None:
        check_edges(self.name, self._days, WHOLE_LIMIT)

    @property
    def _days(self) -> Edges:
        return tuple(edge.toordinal() if isinstance(edge, date) else edge for edge in self.edges)

    @property
    def size(self) -> int:
        """The bins and the missing category."""
        return bin_count(self.edges, self.missing)

    @property
    def labels(self) -> tuple[str, ...]:
        """The bins as intervals of dates."""
        return intervals(self.edges, self.closed, self.missing)

    @property
    def settings(self) -> Mapping[str, Setting]:
        """The edges and the closed end."""
        return {"kind": "date", "edges": self.edges, "closed": self.closed.value}

    def encode(self, cells: Cells) -> Codes:
        """The bin of each day."""
        return _binned(cells, ordinal, self._days, self.closed, self.missing)

    def decode(self, codes: Codes, noise: Noise) -> Values:
        """A uniform day from each bin."""
        days = whole_draws(codes, self._days, self.closed, noise)
        known = np.clip(days, date.min.toordinal(), date.max.toordinal())
        dates = np.array([date.fromordinal(day) for day in known.tolist()], dtype=np.object_)
        return with_missing(dates, codes, len(self.edges) - 1, self.missing)


def check_edges(name: str, edges: Edges, limit: float) -> None:
    """Refuse edges that do not bound bins."""
    check_domain(name, len(edges) - 1)
    if not all(left < right for left, right in pairwise(edges)):
        raise SchemaMismatch(f"the edges of column {name} do not increase; list each once, smallest first.")
    finite = [edge for edge in edges if math.isfinite(edge)]
    if not finite or max(map(abs, finite)) > limit:
        raise SchemaMismatch(
            f"the edges of column {name} need at least one finite value, and none beyond ±{limit:g} except infinity."
        )


def place(edges: Edges, closed: Closed, value: float | None) -> int | None:
    """The bin of a value, the nearest one if it is outside; None where there is no value."""
    if value is None:
        return None
    found = bisect_right(edges, value) if closed is Closed.LEFT else bisect_left(edges, value)
    return min(max(found - 1, 0), len(edges) - 2)


def spans(codes: Codes, edges: Edges) -> tuple[Floats, Floats]:
    """Finite ends to draw between for each code: an open bin is as wide as its neighbour, or 1 without one."""
    inner = [edge for edge in edges if math.isfinite(edge)]
    alone = max(1.0, 4 * math.ulp(inner[0]))
    first, last = (inner[1] - inner[0], inner[-1] - inner[-2]) if len(inner) > 1 else (alone, alone)
    below = [] if math.isfinite(edges[0]) else [inner[0] - first]
    above = [] if math.isfinite(edges[-1]) else [inner[-1] + last]
    ends = np.array([*below, *inner, *above], dtype=np.float64)
    bins = value_codes(codes, len(edges) - 1)
    return ends[bins], ends[bins + 1]


def whole_draws(codes: Codes, edges: Edges, closed: Closed, noise: Noise) -> Integers:
    """A uniform whole number from the bin of each code."""
    low, high = spans(codes, edges)
    count = high - low
    steps = np.minimum(np.floor(noise.uniform(len(codes)) * count), count - 1)
    return (low + (closed is Closed.RIGHT)).astype(np.int64) + steps.astype(np.int64)


def bin_count(edges: Sequence[DateEdge], missing: Missing) -> int:
    """How many codes there are: the bins and, where there is one, the missing category."""
    return len(edges) - 1 + (missing is Missing.CATEGORY)


def intervals(edges: Sequence[DateEdge], closed: Closed, missing: Missing) -> tuple[str, ...]:
    """The bins as text, such as [10, 20) or (90, ∞), and the missing category where there is one."""
    left, right = ("[", ")") if closed is Closed.LEFT else ("(", "]")
    ends = pairwise(map(_plain, edges))
    bins = (f"{'(' if low == '-∞' else left}{low}, {high}{')' if high == '∞' else right}" for low, high in ends)
    return with_missing_label(tuple(bins), missing)


def _plain(edge: DateEdge) -> str:
    if isinstance(edge, date):
        return edge.isoformat()
    if not math.isfinite(edge):
        return "∞" if edge > 0 else "-∞"
    return str(int(edge)) if edge == int(edge) else repr(edge)


def _binned(cells: Cells, read: Callable[[str], float | None], edges: Edges, closed: Closed, missing: Missing) -> Codes:
    return coded(cells, lambda cell: place(edges, closed, read(cell)), len(edges) - 1, missing)
