"""Coding: the rows of any table as the codes of a schema, a chunk at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain
from typing import Protocol, final

import numpy as np
from numpy.typing import NDArray

from expost.errors import SchemaMismatch
from expost.tabular.schema.column import Codes, Column, Missing
from expost.tabular.schema.schema import Schema
from expost.tabular.source.engine.running import Batches
from expost.tabular.source.texts import absent, cells_of

SPELLED_ALIKE = frozenset({str, int, float, bool, date})
"""Types of which equal values have one spelling. Not so across types, where 1 equals True, nor for zoned times."""


class Headed(Protocol):
    """A table whose columns are known. Implemented by whatever is Opened, and by spark.reading.Header."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        ...


class Opened(Headed, Protocol):
    """A table that can be read. Implemented by files.Rows, lined.Lined, frames.Frame and Several."""

    @property
    def height(self) -> int | None:
        """How many rows there are, where that is known without reading them; only for telling how much time is left."""
        ...

    def chunks(self, names: Sequence[str]) -> Iterator[list[Sequence[object]]]:
        """The values of these columns, a chunk of rows at a time."""
        ...

    def coded(self, schema: Schema, absent: frozenset[str | None]) -> Batches | None:
        """The same codes that follow from the values, where the table has a quicker way to them."""
        ...


@final
@dataclass(frozen=True, slots=True, repr=False)
class Several:
    """Tables of the same columns, one after another."""

    tables: tuple[Opened, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return self.tables[0].names

    @property
    def height(self) -> int | None:
        known = [table.height for table in self.tables]
        return None if None in known else sum(filter(None, known))

    def chunks(self, names: Sequence[str]) -> Iterator[list[Sequence[object]]]:
        """The values of these columns, a chunk of rows at a time."""
        return chain.from_iterable(table.chunks(names) for table in self.tables)

    def coded(self, schema: Schema, absent: frozenset[str | None]) -> Batches:
        """The codes of each table in turn, by itself if it can, or else from its values."""
        for table in self.tables:
            yield from _coded(table, schema, absent)


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Chunk:
    """Some rows one after another: their codes in each column of the schema, and whose they are if it has a unit.

    Rows that a column drops are gone from the codes; ``kept`` says of all rows, and thus of all identifiers, which are
    left. Shows nothing of them when printed.
    """

    codes: tuple[Codes, ...]
    kept: NDArray[np.bool_]
    identifiers: Sequence[object] | None

    @classmethod
    def of(cls, codes: Sequence[Codes], schema: Schema, identifiers: Sequence[object] | None) -> "Chunk":
        """The rows whose codes all lie within their columns."""
        kept = np.ones(len(codes[0]), np.bool_)
        for each, column in zip(codes, schema.columns, strict=True):
            if column.missing is Missing.DROP:
                kept &= each < column.size
        places = None if kept.all() else np.flatnonzero(kept)  # quicker than the mask for each column anew
        return cls(tuple(each if places is None else each.take(places) for each in codes), kept, identifiers)

    def __repr__(self) -> str:
        return "Chunk"


def coded_chunks(table: Opened, schema: Schema) -> Iterator[Chunk]:
    """The rows of a table under a schema whose columns it has, in their order."""
    for codes, identifiers in _coded(table, schema, absent(schema)):
        yield Chunk.of(codes, schema, identifiers)


def _coded(table: Opened, schema: Schema, marks: frozenset[str | None]) -> Batches:
    found = table.coded(schema, marks)
    return value_by_value(table, schema, marks) if found is None else found


def value_by_value(table: Opened, schema: Schema, absent: frozenset[str | None]) -> Batches:
    """The codes as each column takes each value in Python, which all other ways to them must agree with."""
    width = len(schema.columns)
    for values in table.chunks((*schema.names, *units_of(schema))):
        codes = [encoded(column, each, absent) for column, each in zip(schema.columns, values[:width], strict=True)]
        yield codes, values[width] if schema.unit is not None else None


def encoded(column: Column, values: Sequence[object], absent: frozenset[str | None]) -> Codes:
    """The codes of a column's values; each distinct value is looked at once where equal ones are spelled alike."""
    kinds = {*map(type, values)} - {type(None)}
    if len(kinds) > 1 or not kinds <= SPELLED_ALIKE:
        return column.encode(cells_of(values, absent))
    distinct = list(set(values))
    found = column.encode(cells_of(distinct, absent))
    code = dict(zip(distinct, found.tolist(), strict=True))
    codes: Codes = np.fromiter(map(code.__getitem__, values), found.dtype, len(values))
    return codes


def units_of(schema: Schema) -> tuple[str, ...]:
    """The column that says whose row it is, if the schema names one."""
    return () if schema.unit is None else (schema.unit,)


def require_columns(table: Headed, schema: Schema) -> None:
    """Refuse a table that does not have each column that the schema reads, and the unit, exactly once."""
    without = lacking(table, schema)
    if without:
        raise SchemaMismatch(f"the table does not have exactly one column {', '.join(without)}; correct the schema.")


def lacking(table: Headed, schema: Schema) -> tuple[str, ...]:
    """The columns that the schema reads and the table does not have exactly one of, the unit marked as such."""
    columns = tuple(name for name in schema.names if table.names.count(name) != 1)
    return (*columns, *(f"{name} (the unit)" for name in units_of(schema) if table.names.count(name) != 1))
