"""Columns whose domain is a row of bins between public edges: reals, whole numbers and dates."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import final

import numpy as np

from expost.errors import SchemaMismatch
from expost.noise import Noise
from expost.tabular.schema.bins import (
    REAL_LIMIT,
    WHOLE_LIMIT,
    Closed,
    DateEdge,
    Edges,
    bin_count,
    binned,
    check_edges,
    intervals,
)
from expost.tabular.schema.cells import Cell, Taken, ordinal, text_of
from expost.tabular.schema.column import Cells, Codes, Missing, Setting, Values, as_texts, coded, with_missing
from expost.tabular.schema.inside import (
    Inside,
    Shape,
    check_shapes,
    inside_settings,
    real_draws,
    whole_draws,
    whole_ends,
)
from expost.tabular.schema.spelling import USUAL, DayFormat, Numerals


@final
@dataclass(frozen=True, slots=True)
class Numeric:
    """Bins of real numbers; a number outside all of them goes to the nearest, no number counts as missing.

    An infinite first or last edge makes that end open. It is decoded as if it were as wide as its neighbour. ``inside``
    says how values lie in the bins that are decoded.
    """

    name: str
    edges: Edges
    closed: Closed
    missing: Missing
    numerals: Numerals = USUAL
    inside: Shape = Inside.EVEN

    def __post_init__(self) -> None:
        check_edges(self.name, self.edges, REAL_LIMIT)
        check_shapes(self.name, self.inside, self.edges, self.edges, self.closed)

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
        """The edges, the closed end, the shapes inside and the spelling."""
        bins = {"kind": "numeric", "edges": self.edges, "closed": self.closed.value}
        return bins | inside_settings(self.inside) | self.numerals.settings

    def taken(self, cell: Cell | None) -> Taken:
        """The bin of a number."""
        return binned(cell, self.numerals.number, self.edges, self.closed, self.missing)

    def encode(self, cells: Cells) -> Codes:
        """The bin of each number."""
        return coded(cells, self)

    def decode(self, codes: Codes, noise: Noise) -> Values:
        """A real number from each bin."""
        drawn = real_draws(codes, self.edges, self.closed, self.inside, noise)
        return with_missing(drawn, codes, len(self.edges) - 1, self.missing)

    def spelled(self, values: Values) -> Values:
        """With the declared sign before decimals."""
        return self.numerals.respelled(values)


@final
@dataclass(frozen=True, slots=True)
class IntegerBins:
    """Bins between whole edges, decoded as whole numbers; otherwise as Numeric."""

    name: str
    edges: Edges
    closed: Closed
    missing: Missing
    numerals: Numerals = USUAL
    inside: Shape = Inside.EVEN

    def __post_init__(self) -> None:
        check_edges(self.name, self.edges, WHOLE_LIMIT)
        if any(math.isfinite(edge) and edge != int(edge) for edge in self.edges):
            raise SchemaMismatch(f"an edge of integer column {self.name} is not whole; round it or use kind numeric.")
        check_shapes(self.name, self.inside, self.edges, whole_ends(self.edges, self.closed), self.closed)

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
        """The edges, the closed end, the shapes inside and the spelling."""
        edges = tuple(int(edge) if math.isfinite(edge) else edge for edge in self.edges)
        bins = {"kind": "integer", "edges": edges, "closed": self.closed.value}
        return bins | inside_settings(self.inside) | self.numerals.settings

    def taken(self, cell: Cell | None) -> Taken:
        """The bin of a number."""
        return binned(cell, self.numerals.number, self.edges, self.closed, self.missing)

    def encode(self, cells: Cells) -> Codes:
        """The bin of each number."""
        return coded(cells, self)

    def decode(self, codes: Codes, noise: Noise) -> Values:
        """A whole number from each bin."""
        whole = whole_draws(codes, self.edges, self.closed, self.inside, noise)
        return with_missing(whole, codes, len(self.edges) - 1, self.missing)

    def spelled(self, values: Values) -> Values:
        """As text where a spelling is declared."""
        return self.numerals.respelled(values)


@final
@dataclass(frozen=True, slots=True)
class Dates:
    """Bins of days between dates; a day outside all of them goes to the nearest, no date counts as missing.

    A time of day is ignored. An infinite first or last edge makes that end open. Days have no logarithm.
    """

    name: str
    edges: tuple[DateEdge, ...]
    closed: Closed
    missing: Missing
    format: DayFormat | None = None
    inside: Shape = Inside.EVEN

    def __post_init__(self) -> None:
        check_edges(self.name, self._days, WHOLE_LIMIT)
        if Inside.LOG in (self.inside if isinstance(self.inside, tuple) else (self.inside,)):
            raise SchemaMismatch(f'dates, as in column {self.name}, have no logarithm; say "even" or "edge" inside.')
        check_shapes(self.name, self.inside, self.edges, self._days, self.closed)

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
        """The edges, the closed end, the shapes inside and the spelling."""
        written = {} if self.format is None else {"format": self.format.text}
        bins = {"kind": "date", "edges": self.edges, "closed": self.closed.value}
        return bins | inside_settings(self.inside) | written

    def taken(self, cell: Cell | None) -> Taken:
        """The bin of a day."""
        return binned(cell, self._day, self._days, self.closed, self.missing)

    def _day(self, cell: Cell) -> int | None:
        return ordinal(text_of(cell)) if self.format is None else self.format.day(cell)

    def encode(self, cells: Cells) -> Codes:
        """The bin of each day."""
        return coded(cells, self)

    def decode(self, codes: Codes, noise: Noise) -> Values:
        """A day from each bin."""
        days = whole_draws(codes, self._days, self.closed, self.inside, noise)
        known = np.clip(days, date.min.toordinal(), date.max.toordinal())
        dates = np.array([date.fromordinal(day) for day in known.tolist()], dtype=np.object_)
        return with_missing(dates, codes, len(self.edges) - 1, self.missing)

    def spelled(self, values: Values) -> Values:
        """In the declared format."""
        return values if self.format is None else as_texts(values, self.format.spelled)
