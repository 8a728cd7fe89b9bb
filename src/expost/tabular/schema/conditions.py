"""Conditions: for which codes of a column one holds, for which it does not, and for which nobody knows.

A code stands for all values that become it, so a condition must hold for all of them or for none.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from itertools import pairwise
from operator import ge, gt, le, lt
from typing import NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from expost.errors import SchemaMismatch
from expost.tabular.schema.binned import Dates, IntegerBins, Numeric
from expost.tabular.schema.bins import REAL_LIMIT, Closed
from expost.tabular.schema.cells import How, Plain, number_in
from expost.tabular.schema.column import Column, Missing
from expost.tabular.schema.listed import Categorical, Integer
from expost.tabular.schema.sentences import Condition, Relation

Flags: TypeAlias = NDArray[np.bool_]
Point: TypeAlias = tuple[float, int]
"""A value, and a side: −1 for just below it, 1 for just above it, 0 for the value itself."""

LISTED = 6
"""Values of a column that a message shows."""

HOLDS: Mapping[Relation, Callable[[Point, Point], bool]] = {
    Relation.BELOW: lt,
    Relation.UP_TO: le,
    Relation.ABOVE: gt,
    Relation.FROM: ge,
}


@final
class Truth(NamedTuple):
    """The codes for which a condition holds, and those for which it does not; of a missing value neither is known."""

    holds: Flags
    fails: Flags


@final
class Span(NamedTuple):
    """The first and the last value that a code stands for."""

    first: Point
    last: Point


def truth_of(condition: Condition, column: Column) -> Truth:
    """Whether the condition holds, for each code of its column."""
    missing = np.zeros(column.size, dtype=np.bool_)
    missing[column.size - 1] = column.missing is Missing.CATEGORY
    if condition.relation in (Relation.ABSENT, Relation.PRESENT):
        if column.missing is not Missing.CATEGORY:
            raise SchemaMismatch(
                f"{column.name} has no category for missing values; say missing = true in its column, or leave it out."
            )
        return Truth(missing, ~missing) if condition.relation is Relation.ABSENT else Truth(~missing, missing)
    inside = np.zeros(column.size, dtype=np.bool_)
    if condition.relation in HOLDS:
        inside[: column.size - missing.sum()] = _compared(condition, column)
    else:
        inside[[code_of(column, value) for value in condition.values]] = True
        inside ^= condition.relation is Relation.UNEQUAL
    return Truth(inside & ~missing, ~inside & ~missing)


def code_of(column: Column, value: str) -> int:
    """The code of one value, refused unless the schema has it and the code stands for no other."""
    spans = _spans(column)
    if spans is None or isinstance(column, Integer):
        how, code = column.taken(Plain(value))
        shortened = isinstance(column, Categorical) and column.labels[code] != value.strip()
        if how is not How.VALUE or shortened:
            raise SchemaMismatch(f"{value} is not a value of {column.name}, which has {_listed(column)}; correct it.")
        return code
    point = _limit(column, value), 0
    found = [code for code, span in enumerate(spans) if span.first <= point <= span.last]
    if not found:
        raise SchemaMismatch(f"{value} is outside all bins of {column.name}; name a value inside one.")
    (code,) = found
    if spans[code].first != spans[code].last:
        raise SchemaMismatch(
            f"{value} is one of several values in the bin {column.labels[code]} of {column.name}; name whole bins, by "
            "<, <=, > or >= at their edges."
        )
    return code


def _compared(condition: Condition, column: Column) -> list[bool]:
    """Whether a comparison holds, for each code of a value."""
    spans, holds = _spans(column), HOLDS[condition.relation]
    if spans is None:
        raise SchemaMismatch(f"the values of {column.name} have no order; compare it by =, != or in.")
    (value,) = condition.values
    limit = _limit(column, value), 0
    found = []
    for code, span in enumerate(spans):
        first, last = holds(span.first, limit), holds(span.last, limit)
        if first != last:
            raise SchemaMismatch(
                f"{column.name} {condition.relation.value} {value} parts the bin {column.labels[code]}; say "
                f"{_nearest(condition.relation, column, span)}."
            )
        found.append(first)
    return found


def _nearest(relation: Relation, column: Column, span: Span) -> str:
    """The nearest limits that part no bin, as conditions."""
    low, high = span.first[0], span.last[0]
    below = relation in (Relation.BELOW, Relation.FROM)
    if isinstance(column, Numeric):
        left = column.closed is Closed.LEFT
        upward = relation in (Relation.ABOVE, Relation.FROM)
        relation = (
            (Relation.FROM if left else Relation.ABOVE) if upward else (Relation.BELOW if left else Relation.UP_TO)
        )
    else:
        low, high = (low, high + 1) if below else (low - 1, high)
    ends = (1, date.max.toordinal()) if isinstance(column, Dates) else (-REAL_LIMIT, REAL_LIMIT)
    limits = [_plain(column, limit) for limit in (low, high) if ends[0] <= limit <= ends[1]]
    return " or ".join(f"{column.name} {relation.value} {limit}" for limit in limits)


def _spans(column: Column) -> Sequence[Span] | None:
    """What each code of a value stands for; None where the values have no order."""
    if isinstance(column, Integer):
        return [Span((value, 0), (value, 0)) for value in column.values]
    if not isinstance(column, Numeric | IntegerBins | Dates):
        return None
    edges = [edge.toordinal() if isinstance(edge, date) else edge for edge in column.edges]
    bins, left = list(pairwise(edges)), column.closed is Closed.LEFT
    if isinstance(column, Numeric):
        return [Span((low, 0), (high, -1)) if left else Span((low, 1), (high, 0)) for low, high in bins]
    return [Span((low, 0), (high - 1, 0)) if left else Span((low + 1, 0), (high, 0)) for low, high in bins]


def _limit(column: Column, value: str) -> float:
    """The number or day that a value names, in its usual spelling whatever the column declares."""
    if isinstance(column, Dates):
        try:
            return date.fromisoformat(value).toordinal()
        except ValueError:
            raise SchemaMismatch(
                f"{value} is not a date such as 2024-01-31, as {column.name} has; correct it."
            ) from None
    number = number_in(value)
    if number is None or not math.isfinite(number):
        raise SchemaMismatch(f"{value} is not a number, as {column.name} has; correct it.")
    return number


def _plain(column: Column, limit: float) -> str:
    if isinstance(column, Dates):
        return date.fromordinal(int(limit)).isoformat()
    return str(int(limit)) if limit == int(limit) else repr(limit)


def _listed(column: Column) -> str:
    known = column.labels[: column.size - (column.missing is Missing.CATEGORY)]
    return ", ".join(known if len(known) <= LISTED else (*known[:LISTED], "…"))
