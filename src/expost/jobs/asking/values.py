"""Values: the bounded numbers that sums and means are of, each on a public grid between the ends of its column.

A bin of the schema is cut into finer ones, so that a value is known to a small part of its bin and its bin stays known.
"""

from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from expost.errors import SchemaMismatch
from expost.noise import Floats, Integers
from expost.tabular.schema.binned import IntegerBins, Numeric
from expost.tabular.schema.bins import Closed, Edges
from expost.tabular.schema.column import Column, Missing
from expost.tabular.schema.inside import Inside
from expost.tabular.schema.listed import Integer

STEPS = 2**12
"""Steps from the least value of a column to the greatest, at most."""
LOST = 32
"""The part of all steps that may be left unused: noise is as wide as if they were not."""
MOST_CODES = 2**15
"""Codes of a column that is read finely: two bytes, and as many for whole numbers as there are."""
Bounded: TypeAlias = Integer | IntegerBins | Numeric
"""Columns of numbers that begin and end somewhere."""


def bounded_column(column: Column) -> Bounded:
    """The column, refused unless it is one of numbers."""
    if not isinstance(column, Integer | IntegerBins | Numeric):
        raise SchemaMismatch(f"{column.name} does not hold numbers; ask for its counts, or for the share of a value.")
    return column


def fine_column(column: Bounded) -> Bounded:
    """The column as it is read where its values matter: every bin cut into parts, whole numbers one by one if they fit.

    What a cell becomes still depends on that cell alone, and the edges of the schema stay edges.
    """
    if isinstance(column, Integer):
        return column
    parts = max(1, MOST_CODES // (len(column.edges) - 1))
    whole = isinstance(column, IntegerBins)
    inner = [_cut(low, high, parts, whole=whole) for low, high in pairwise(column.edges)]
    edges = (*(edge for each in inner for edge in each), column.edges[-1])
    return replace(column, edges=edges, inside=Inside.EVEN)


def _cut(low: float, high: float, parts: int, *, whole: bool) -> Edges:
    """The edges of a bin's parts but for the last, in rising order."""
    if whole:
        parts = min(parts, int(high - low))
        return tuple(low + int(high - low) * place // parts for place in range(parts))
    return tuple(sorted({low + (high - low) * place / parts for place in range(parts)} - {high}))


def ends_of(column: Bounded) -> tuple[float, float]:
    """The least and the greatest value."""
    if isinstance(column, Integer):
        return float(column.values[0]), float(column.values[-1])
    first, last = column.edges[0], column.edges[-1]
    if isinstance(column, Numeric):
        return first, last
    return (first, last - 1) if column.closed is Closed.LEFT else (first + 1, last)


def full_steps(column: Bounded) -> int:
    """Steps from the least value of a column to the greatest: such that whole numbers are exact, if few are lost."""
    low, high = ends_of(column)
    width = 0 if isinstance(column, Numeric) else int(high - low)
    lost = STEPS % width if width else 0
    return STEPS - lost if lost <= STEPS // LOST else STEPS


@lru_cache(maxsize=64)
def steps_of(column: Bounded) -> Integers:
    """The step of each code of the column as it is read finely, from 0 to the last, and −1 for a missing value."""
    fine, last = fine_column(column), full_steps(column)
    low, high = ends_of(fine)
    width = (high - low) or 1.0
    first, second = spans_of(fine)
    middles = first + (second - first) / 2
    steps = np.clip(np.rint((middles - low) / width * last), 0, last).astype(np.int64)
    found = np.append(steps, -1) if fine.missing is Missing.CATEGORY else steps
    found.setflags(write=False)
    return found


@lru_cache(maxsize=64)
def rounding_of(column: Bounded) -> float:
    """How far a value can be from that of its step: 0 for whole numbers on a grid that is fine enough."""
    low, high = ends_of(column)
    least, greatest = spans_of(fine_column(column))
    values = low + (high - low) * (steps_of(column)[: len(least)] / full_steps(column))
    found = float(np.maximum(np.abs(values - least), np.abs(greatest - values)).max())
    return 0.0 if found <= (high - low) * 2.0**-40 else found


def spans_of(column: Bounded) -> tuple[Floats, Floats]:
    """The least and the greatest value of each bin."""
    if isinstance(column, Integer):
        values = np.array(column.values, dtype=np.float64)
        return values, values
    low, high = np.array(column.edges[:-1], dtype=np.float64), np.array(column.edges[1:], dtype=np.float64)
    if isinstance(column, Numeric):
        return low, high
    return (low, high - 1) if column.closed is Closed.LEFT else (low + 1, high)


def narrowest_bin(column: Bounded) -> float:
    """From the first to the last value of the narrowest bin."""
    if isinstance(column, Integer):
        return 0.0
    return min(high - low for low, high in pairwise(column.edges)) - isinstance(column, IntegerBins)


def coarse_codes(column: Column, fine: Column) -> Integers:
    """The code that the schema gives to each code of the finer column."""
    if column == fine or not isinstance(column, IntegerBins | Numeric) or not isinstance(fine, IntegerBins | Numeric):
        return np.arange(column.size, dtype=np.int64)
    return _places(column.edges, fine.edges, missing=column.missing is Missing.CATEGORY)


@lru_cache(maxsize=64)
def _places(edges: Edges, fine: Edges, *, missing: bool) -> Integers:
    found = np.searchsorted(np.array(edges), np.array(fine[:-1]), side="right") - 1
    return np.append(found, len(edges) - 1) if missing else found.astype(np.int64)
