"""Packing: the codes of some rows as bytes, and back; what the files of a snapshot hold.

A row of such a file is a piece of a table, not a row of it: a pass then costs Spark as little per record as copying the
bytes of its codes does.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from expost.noise import Integers
from expost.persons.people import People
from expost.tabular.persons import Grouped, Rows
from expost.tabular.schema.column import Codes, smallest
from expost.tabular.schema.schema import Schema
from expost.tabular.source.room import row_width
from expost.tabular.table import Kind, Table

BYTES = 2**20
"""In a piece, about."""
LEAST, MOST = 2**10, 2**17
"""Rows in a piece, about, however wide they are."""


def rows_at_once(schema: Schema) -> int:
    """How many rows make a piece."""
    return min(MOST, max(LEAST, BYTES // row_width(schema)))


def packed_piece(codes: Sequence[Codes], sizes: Integers | None, schema: Schema) -> bytes:
    """The codes column by column, and how many rows each person has if the records are persons."""
    columns = [each.astype(smallest(column.size)) for each, column in zip(codes, schema.columns, strict=True)]
    ends = [] if sizes is None else [sizes.astype("<i8")]
    return b"".join(each.tobytes() for each in (*columns, *ends))


def unpacked_piece(body: bytes, count: int, schema: Schema) -> Rows:
    """The records whose codes were packed; ``count`` is how many."""
    grouped = schema.unit is not None
    sizes = np.frombuffer(body, "<i8", count, len(body) - 8 * count).astype(np.int64) if grouped else None
    rows, start, columns = count if sizes is None else int(sizes.sum()), 0, dict[str, Codes]()
    for column in schema.columns:
        columns[column.name] = np.frombuffer(body, smallest(column.size), rows, start)
        start += columns[column.name].nbytes
    table = Table(schema, columns, Kind.SPARK)
    return table if sizes is None else Grouped(table, in_a_row(sizes))


def in_a_row(sizes: Integers) -> People:
    """Persons whose rows are together, by how many each has."""
    ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return People(np.arange(ends[-1], dtype=np.int64), ends, np.zeros(len(sizes), np.int64))


def packed_by_row(codes: Sequence[Codes], schema: Schema) -> NDArray[np.uint8]:
    """The codes row by row, a row of bytes for each: what a shuffle carries."""
    columns = [each.astype(smallest(column.size)) for each, column in zip(codes, schema.columns, strict=True)]
    return np.hstack([each.view(np.uint8).reshape(len(each), each.dtype.itemsize) for each in columns])


def unpacked_by_row(rows: NDArray[np.uint8], schema: Schema) -> list[Codes]:
    """The codes column by column again."""
    codes, start = list[Codes](), 0
    for column in schema.columns:
        kind = smallest(column.size)
        part = np.ascontiguousarray(rows[:, start : start + kind.itemsize])
        codes.append(part.view(kind).reshape(len(rows)))
        start += kind.itemsize
    return codes
