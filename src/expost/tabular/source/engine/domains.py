"""Domains: what a column of a schema makes of values, asked of the column itself, as arrays that code many at once."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import TypeVar, final

import numpy as np

from expost.tabular.schema.binned import Dates, IntegerBins, Numeric
from expost.tabular.schema.bins import Closed, DateEdge
from expost.tabular.schema.cells import Plain
from expost.tabular.schema.column import Codes, Column, Missing, smallest
from expost.tabular.schema.listed import Boolean, Categorical, Integer
from expost.tabular.schema.private_bins import PrivateBins
from expost.tabular.schema.spelling import FALSE_WORDS, TRUE_WORDS
from expost.tabular.source.engine.kinds import CellKind
from expost.tabular.source.engine.steps import LEAST, MOST, Break, StepCodes, nearest_breaks
from expost.tabular.source.texts import cells_of

T = TypeVar("T")

EPOCH = date(1970, 1, 1).toordinal()


@final
@dataclass(frozen=True, slots=True)
class Domain:
    """A column of a schema, and the texts that stand for a missing value in its table."""

    column: Column
    absent: frozenset[str | None]

    def codes(self, values: Sequence[object]) -> Codes:
        """What the column makes of these values, one by one: every other way to a code must agree with this one."""
        return self.column.encode(cells_of(values, self.absent))

    @property
    def kind(self) -> np.dtype[np.unsignedinteger]:
        """The type of its codes, and of the mark of a record to drop."""
        return smallest(self.column.size + (self.column.missing is Missing.DROP))

    @property
    def missing(self) -> int:
        """The code of a missing value."""
        return self.column.taken(None)[1]

    @property
    def unlisted(self) -> int:
        """The code of a text that the column does not know: the empty one, which is never listed, nor a head."""
        return self.column.taken(Plain(""))[1]

    @property
    def listed(self) -> tuple[str, ...]:
        """The texts that have codes of their own, truth values in small letters."""
        if isinstance(self.column, Categorical):
            return self.column.values + (() if self.column.other is None else (self.column.other,))
        if isinstance(self.column, Boolean):
            words = self.column.words
            return tuple(dict.fromkeys(map(str.lower, (*words.true, *words.false, *sorted(TRUE_WORDS | FALSE_WORDS)))))
        return ()

    @property
    def marks(self) -> tuple[str, ...]:
        """The texts that stand for a missing value."""
        return tuple(sorted(each for each in self.absent if each is not None))

    @property
    def known(self) -> tuple[str, ...]:
        """The texts that may have a code of their own, or stand for a missing value."""
        return tuple(dict.fromkeys((*self.listed, *self.marks)))

    @property
    def times(self) -> tuple[date, ...]:
        """The days of the times among the texts that are known."""
        return tuple(dict.fromkeys(moment.date() for moment in self._known_as(datetime.fromisoformat)))

    def steps(self, kind: CellKind) -> StepCodes | None:
        """The codes of values of this kind; None where they do not follow from sizes and lists.

        Of texts those count that spell numbers. Times are taken as their days, which leaves out those that are known.
        """
        found = _day_breaks(self.column) if kind in (CellKind.DAY, CellKind.TIME) else _number_breaks(self.column)
        if found is None:
            return None
        breaks, codes = found if found[1] else ([], [self.unlisted])
        if kind is CellKind.TEXT:  # a mark is known by how it is spelled, not by the number that it spells
            return StepCodes.of_real(breaks, codes, {}, self.missing, self.kind)
        if kind in (CellKind.REAL, CellKind.DECIMAL):
            numbers = [each for each in self._known_as(float) if not math.isnan(each)]
            spelled = numbers if kind is CellKind.REAL else [Decimal(repr(each)) for each in numbers]
            points = dict(zip(numbers, self.codes(spelled).tolist(), strict=True))
            return StepCodes.of_real(breaks, codes, points, self.missing, self.kind)
        values = self._whole_known() if kind is CellKind.WHOLE else self._days_known() if kind is CellKind.DAY else {}
        whole = dict(zip(values, self.codes([*values.values()]).tolist(), strict=True))
        return StepCodes.of_whole(breaks, codes, whole, self.kind)

    def _whole_known(self) -> Mapping[int, object]:
        return {each: each for each in self._known_as(int) if LEAST <= each <= MOST}

    def _days_known(self) -> Mapping[int, object]:
        return {day.toordinal() - EPOCH: day for day in self._known_as(date.fromisoformat)}

    def _known_as(self, read: Callable[[str], T]) -> list[T]:
        """What the texts that are known mean, as far as they can be read so."""
        found = []
        for text in self.known:
            with suppress(ValueError, OverflowError):
                found.append(read(text))
        return found


def _number_breaks(column: Column) -> tuple[list[Break], list[int]] | None:
    """Where the codes of numbers begin; no codes where only lists decide, None where the spelling does."""
    if isinstance(column, PrivateBins):
        return _number_breaks(column.standing)
    if isinstance(column, Numeric | IntegerBins):
        return _bins(column.edges, column.closed)
    if isinstance(column, Integer):
        return nearest_breaks(column.values), [*range(len(column.values))]
    return None if isinstance(column, Dates) or not _by_lists(column) else ([], [])


def _day_breaks(column: Column) -> tuple[list[Break], list[int]] | None:
    """The same for days, which no column of numbers takes for one."""
    if isinstance(column, Dates):
        return _bins([_days_since(edge) for edge in column.edges], column.closed)
    return ([], []) if _by_lists(column) else None


def _by_lists(column: Column) -> bool:
    """Whether a value that is not listed as a whole has the code of all others."""
    return not isinstance(column, Categorical) or column.prefix is None


def _bins(edges: Sequence[float], closed: Closed) -> tuple[list[Break], list[int]]:
    return [Break(edge, closed is Closed.RIGHT) for edge in edges[1:-1]], [*range(len(edges) - 1)]


def _days_since(edge: DateEdge) -> float:
    return edge.toordinal() - EPOCH if isinstance(edge, date) else edge
