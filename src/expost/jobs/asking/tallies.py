"""Tallies: what is counted for questions about the same groups, with how far one record or person moves it.

A tally has some cells for each group: one for a number of rows or persons, two for what a share or a mean is made of.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias, final

import numpy as np

from expost.errors import SchemaMismatch
from expost.jobs.asking.query import Count, Mean, Persons, Quantile, Query, Share, Sum
from expost.jobs.asking.rows import (
    PER_WEIGHT,
    failing,
    holding,
    schema_codes,
    squared_lengths,
    summed_cells,
    weights_of,
)
from expost.jobs.asking.values import STEPS, bounded_column, fine_column, full_steps, steps_of
from expost.noise import Integers
from expost.statistic import Statistic
from expost.tabular.persons import Grouped, Rows
from expost.tabular.schema.column import Missing
from expost.tabular.schema.schema import Schema
from expost.tabular.schema.sentences import Condition
from expost.tabular.table import Table

PER_ROW = 2**8
"""Steps of a count to one row, so that integer noise is as good as real noise however few rows it hides."""
MOST_ROWS = 2**9
"""The length, in rows, that a person may be weighed down to: all squares then fit 64 bits."""


@final
@dataclass(frozen=True, slots=True)
class OfRows:
    """How many rows are in a group."""


@final
@dataclass(frozen=True, slots=True)
class OfPersons:
    """How many persons have a row in a group."""


@final
@dataclass(frozen=True, slots=True)
class OfTruth:
    """In how many rows conditions all hold, and in how many they do not; rows where that is not known count nowhere."""

    conditions: tuple[Condition, ...]


@final
@dataclass(frozen=True, slots=True)
class OfValues:
    """The sum of v and that of 1 − v, where v is the place of a row's value between the ends of its column.

    Both together are at most as long as one row of a count, and give the sum, the mean and the number of the values.
    """

    column: str


TallyKind: TypeAlias = OfRows | OfPersons | OfTruth | OfValues


@final
@dataclass(frozen=True, slots=True)
class Tally:
    """Cells for every group that the schema knows, of rows that meet the conditions."""

    kind: TallyKind
    by: tuple[str, ...]
    where: tuple[Condition, ...]

    @classmethod
    def of(cls, query: Query) -> "Tally":
        """What answers a query; a quantile is looked up in counts by its column."""
        match query.measure:
            case Count():
                return cls(OfRows(), query.by, query.where)
            case Persons():
                return cls(OfPersons(), query.by, query.where)
            case Share(conditions):
                return cls(OfTruth(conditions), query.by, query.where)
            case Sum(column) | Mean(column):
                return cls(OfValues(column), query.by, query.where)
            case Quantile(column, _):
                return cls(OfRows(), (*query.by, column), query.where)

    @property
    def once(self) -> bool:
        """Whether every person adds the same, so that nothing of them is ever cut."""
        return isinstance(self.kind, OfPersons) and not self.by

    def cuts_nobody(self, schema: Schema, most: int) -> bool:
        """Whether nobody can be longer than this many rows, whatever the table holds: a person is in a group once."""
        return isinstance(self.kind, OfPersons) and self.groups(schema) <= most * most

    @property
    def width(self) -> int:
        """How many cells a group has."""
        return 2 if isinstance(self.kind, OfTruth | OfValues) else 1

    @property
    def unit(self) -> int:
        """Steps that one row is long, at most."""
        return STEPS if isinstance(self.kind, OfValues) else PER_ROW

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads."""
        conditions = self.where + (self.kind.conditions if isinstance(self.kind, OfTruth) else ())
        measured = (self.kind.column,) if isinstance(self.kind, OfValues) else ()
        return (*self.by, *(each.column for each in conditions), *measured)

    def groups(self, schema: Schema) -> int:
        """How many groups there are, empty ones included."""
        return math.prod(schema[name].size for name in self.by)

    def cells(self, schema: Schema) -> int:
        """How many numbers are counted."""
        return self.groups(schema) * self.width

    def statistic(self, schema: Schema, *, most: int = 1) -> Statistic[Any]:
        """The cells of a table, in steps; each person, if records are, is weighed down to the length of ``most`` rows.

        No cell of a row is negative, so that replacing one moves no more than the squares of both together.

        Implements: rows, persons and values by group.
        Uses: a person's weight.
        """
        finer = 1 if schema.unit is None else PER_WEIGHT
        reach = self.scale(schema, most=most) * finer
        moved = 2 if schema.neighbours.replaces else 1
        l1 = moved * (math.isqrt(reach * reach * self.cells(schema)) + 1)  # Cauchy-Schwarz
        compute = partial(self._records, schema) if schema.unit is None else partial(self._persons, schema, most)
        squared, shape = Fraction(moved * reach * reach), (self.cells(schema),)
        return Statistic(
            compute, shape, squared, Fraction(l1), schema.neighbours, self.name, Fraction(1, finer), additive=True
        )

    def scale(self, schema: Schema, *, most: int = 1) -> int:
        """How long all that one record or person adds can be, in steps; the weight of a person divides them further."""
        return self.unit if schema.unit is None else self.unit * most

    def per_row(self, schema: Schema) -> int:
        """Steps to one row at full weight, or to the whole width of a column's values."""
        return full_steps(bounded_column(schema[self.kind.column])) if isinstance(self.kind, OfValues) else self.unit

    @property
    def name(self) -> str:
        """What goes on record of it: the question, without its target."""
        match self.kind:
            case OfRows():
                return str(Query(Count(), self.by, self.where))
            case OfPersons():
                return str(Query(Persons(), self.by, self.where))
            case OfTruth(conditions):
                return str(Query(Share(conditions), self.by, self.where))
            case OfValues(column):
                return str(Query(Mean(column), self.by, self.where))

    def _records(self, schema: Schema, table: Rows) -> Integers:
        if not isinstance(table, Table):
            raise SchemaMismatch("a table of records was expected; read it under the schema of the question.")
        cells, steps = self._contributions(schema, table)
        return summed_cells(cells, steps, self.cells(schema))

    def _persons(self, schema: Schema, most: int, grouped: Rows) -> Integers:
        owners, cells, steps = self._by_person(schema, grouped)
        assert isinstance(grouped, Grouped)  # as was made sure of
        weights = weights_of(owners, steps, len(grouped), self.unit * most)
        return summed_cells(cells, steps * weights[owners], self.cells(schema))

    def lengths(self, schema: Schema, grouped: Rows) -> Integers:
        """The squared length of all that each person adds, in steps; 0 for a person without a row that counts."""
        owners, _, steps = self._by_person(schema, grouped)
        assert isinstance(grouped, Grouped)
        return squared_lengths(owners, steps, len(grouped))

    def _by_person(self, schema: Schema, grouped: Rows) -> tuple[Integers, Integers, Integers]:
        """Person, cell and steps, each pair of person and cell once."""
        if not isinstance(grouped, Grouped):
            raise SchemaMismatch("a table of persons was expected; read it under the schema of the question.")
        owners = np.repeat(np.arange(len(grouped), dtype=np.int64), grouped.sizes)
        places, size = np.arange(len(owners)), self.cells(schema)
        cells, steps = self._contributions(schema, grouped.table)
        rows = np.tile(places, self.width)
        kept = steps > 0
        keys = owners[rows[kept]] * size + cells[kept]
        found, inverse = np.unique(keys, return_inverse=True)
        together = np.bincount(inverse, steps[kept].astype(np.float64), len(found)).astype(np.int64)
        if isinstance(self.kind, OfPersons):
            together = np.minimum(together, PER_ROW)  # a person is there once, however many rows say so
        return found // size, found % size, together

    def _contributions(self, schema: Schema, table: Table) -> tuple[Integers, Integers]:
        """The cells of all rows and the steps in each; every row has as many as a group has cells."""
        groups = np.zeros(len(table), dtype=np.int64)
        for name in self.by:
            groups = groups * schema[name].size + schema_codes(schema, table, name)
        inside = holding(schema, table, self.where)
        if isinstance(self.kind, OfTruth):
            holds = holding(schema, table, self.kind.conditions)
            fails = failing(schema, table, self.kind.conditions)
            parts = [np.where(inside & each, PER_ROW, 0) for each in (holds, fails)]
        elif isinstance(self.kind, OfValues):
            column = bounded_column(schema[self.kind.column])
            steps = steps_of(column)[table.codes(self.kind.column)]
            known = inside & (steps >= 0)
            parts = [np.where(known, steps, 0), np.where(known, full_steps(column) - steps, 0)]
        else:
            parts = [np.where(inside, PER_ROW, 0)]
        cells = [groups * self.width + place for place in range(self.width)]
        return np.concatenate(cells), np.concatenate(parts).astype(np.int64)


def read_under(schema: Schema, tallies: Sequence[Tally]) -> Schema:
    """The schema that a table is read under: the columns of some tallies alone, finely where values are asked for."""
    fine = {each.kind.column for each in tallies if isinstance(each.kind, OfValues)}
    wanted = {name for each in tallies for name in each.columns}
    first = () if wanted else _any_column(schema)
    columns = tuple(
        fine_column(bounded_column(each)) if each.name in fine else each
        for each in schema.columns
        if each.name in wanted or each.name in first
    )
    return replace(schema, columns=columns, target=None, rules=())


def _any_column(schema: Schema) -> tuple[str, ...]:
    """A column to read where only the number of rows is asked, if possible one that drops none."""
    keeping = [each.name for each in schema.columns if each.missing is not Missing.DROP]
    return ((*keeping, schema.names[0])[0],)
