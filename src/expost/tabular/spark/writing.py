"""What tasks do to write a snapshot: code rows by the in-memory coder, and put those of a person together.

A record's place is the number of the task that wrote it and its number there. Of the attempts at a task Spark commits
one, so that what lies in the files has one place, whatever was tried besides.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import TaskContext

from expost.errors import Unreadable
from expost.noise import Integers
from expost.persons.digests import Digests
from expost.tabular.schema.column import Codes
from expost.tabular.schema.schema import Schema
from expost.tabular.source.coding import Chunk, coded_chunks, units_of
from expost.tabular.source.files import Rows
from expost.tabular.source.frames import Frame
from expost.tabular.source.home import small_connection
from expost.tabular.source.room import row_width
from expost.tabular.source.texts import absent
from expost.tabular.spark.failures import caught, fed
from expost.tabular.spark.packing import MOST, packed_by_row, packed_piece, rows_at_once, unpacked_by_row

Batches: TypeAlias = Iterator[pa.RecordBatch]

PLACES = 33
"""Bits of a place that number the rows of one task; those above are the number of the task."""

CODED_AT_ONCE = 2**26
"""Bytes of rows that are coded together, about."""

PIECES = pa.schema([("place", pa.int64()), ("count", pa.int64()), ("body", pa.binary()), ("failure", pa.string())])
"""Of a snapshot's files: the place of the first record, how many there are, and their codes."""
SCATTERED = pa.schema(
    [
        ("one", pa.int64()),
        ("other", pa.int64()),
        ("place", pa.int64()),
        ("codes", pa.binary()),
        ("failure", pa.string()),
    ]
)
"""Of rows whose persons are elsewhere: the digest of whose each is, its place and its codes; nothing, once per task."""


@final
@dataclass(frozen=True, slots=True)
class CodeRows:
    """Codes the rows of a task into pieces."""

    schema: Schema

    def __call__(self, batches: Batches) -> Batches:
        """The pieces, at least one, maybe empty, where there are rows."""
        return caught(self._pieces(fed(batches)), PIECES)

    def _pieces(self, batches: Batches) -> Batches:
        place, at_once = first_place(), rows_at_once(self.schema)
        waiting, rows = list[Sequence[Codes]](), 0
        last = place + 2**PLACES
        for chunk in _chunks(batches, self.schema):
            waiting.append(chunk.codes)
            rows += len(chunk.codes[0])
            if rows >= at_once:
                yield self._piece(place, rows, waiting)
                place, waiting, rows = place + rows, [], 0
            _require_room(place + rows, last)
        if waiting:
            yield self._piece(place, rows, waiting)

    def _piece(self, place: int, rows: int, waiting: list[Sequence[Codes]]) -> pa.RecordBatch:
        codes = [np.concatenate(each) for each in zip(*waiting, strict=True)]
        return _piece_of(place, rows, packed_piece(codes, None, self.schema))


@final
@dataclass(frozen=True, slots=True, repr=False)
class ScatterRows:
    """Codes the rows of a task, each beside the digest of whose it is."""

    schema: Schema
    key: bytes

    def __call__(self, batches: Batches) -> Batches:
        """A row for each row, and one of nothing that says that there were some."""
        return caught(self._rows(fed(batches)), SCATTERED)

    def _rows(self, batches: Batches) -> Batches:
        digests, width = Digests(self.key, absent(self.schema)), row_width(self.schema)
        place = first_place()
        last = place + 2**PLACES
        for number, chunk in enumerate(_chunks(batches, self.schema)):
            if number == 0:
                yield pa.RecordBatch.from_pydict({each.name: [None] for each in SCATTERED}, schema=SCATTERED)
            assert chunk.identifiers is not None  # of a schema with a unit
            found = digests.of(chunk.identifiers, place)[chunk.kept].view(np.int64)
            places = place + np.flatnonzero(chunk.kept)
            rows = packed_by_row(chunk.codes, self.schema)
            codes = pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), len(rows), [None, pa.py_buffer(rows)])
            columns = [found[:, 0], found[:, 1], places, codes.cast(pa.binary()), pa.nulls(len(rows), pa.string())]
            yield pa.RecordBatch.from_arrays([pa.array(each) for each in columns], schema=SCATTERED)
            place += len(chunk.kept)
            _require_room(place, last)


@final
@dataclass(frozen=True, slots=True)
class GatherPersons:
    """Makes pieces of rows that come person by person; no digest is kept."""

    schema: Schema

    def __call__(self, batches: Batches) -> Batches:
        """The pieces, each with all rows of its persons."""
        return caught(self._pieces(fed(batches)), PIECES)

    def _pieces(self, batches: Batches) -> Batches:
        place, at_once = first_place(), rows_at_once(self.schema)
        whose, codes = np.zeros((0, 2), np.int64), np.zeros((0, row_width(self.schema)), np.uint8)
        parts, rows, wanted = [(whose, codes)], 0, at_once
        for batch in batches:
            parts.append(self._read(batch))
            rows += batch.num_rows
            if rows >= wanted:
                whose, codes = _together(parts)
                end = _starts(whose)[-1]  # the last person may have more rows
                if end:
                    piece, place = self._piece(place, whose[:end], codes[:end])
                    yield piece
                parts, rows = [(whose[end:], codes[end:])], len(whose) - end
                wanted = max(at_once, 2 * rows)
        whose, codes = _together(parts)
        if len(whose):
            yield self._piece(place, whose, codes)[0]

    def _read(self, batch: pa.RecordBatch) -> tuple[Integers, NDArray[np.uint8]]:
        whose = np.column_stack([batch.column("one").to_numpy(), batch.column("other").to_numpy()])
        joined = b"".join(batch.column("codes").to_pylist())
        return whose, np.frombuffer(joined, np.uint8).reshape(len(whose), row_width(self.schema))

    def _piece(self, place: int, whose: Integers, codes: NDArray[np.uint8]) -> tuple[pa.RecordBatch, int]:
        """The piece, and the place after it."""
        sizes = np.diff([*_starts(whose), len(whose)])
        body = packed_piece(unpacked_by_row(codes, self.schema), sizes, self.schema)
        return _piece_of(place, len(sizes), body), place + len(sizes)


def first_place() -> int:
    """The place of a task's first record."""
    task = TaskContext.get()
    assert task is not None  # asked in a task
    return task.partitionId() << PLACES


def _chunks(batches: Batches, schema: Schema) -> Iterator[Chunk]:
    """The rows, in their order, as the same rows of Arrow are coded in memory; by DuckDB, if it can tell the columns.

    To DuckDB names are one that differ in capitals only.
    """
    names = [*schema.names, *units_of(schema)]
    home = small_connection() if len({name.casefold() for name in names}) == len(names) else None
    for table in _gathered(batches):
        named = table.rename_columns(names)
        yield from coded_chunks(Frame.of(named) if home is None else Rows(home.from_arrow(named)), schema)


def _gathered(batches: Batches) -> Iterator[pa.Table]:
    """Several batches at a time: Spark's are small."""
    waiting, rows, size = list[pa.RecordBatch](), 0, 0
    for batch in batches:
        waiting.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= MOST or size >= CODED_AT_ONCE:
            yield pa.Table.from_batches(waiting)
            waiting, rows, size = [], 0, 0
    if rows:
        yield pa.Table.from_batches(waiting)


def _piece_of(place: int, count: int, body: bytes) -> pa.RecordBatch:
    columns = {"place": [place], "count": [count], "body": [body], "failure": [None]}
    return pa.RecordBatch.from_pydict(columns, schema=PIECES)


def _together(parts: list[tuple[Integers, NDArray[np.uint8]]]) -> tuple[Integers, NDArray[np.uint8]]:
    whose, codes = zip(*parts, strict=True)
    return np.concatenate(whose), np.concatenate(codes)


def _starts(whose: Integers) -> list[int]:
    """Where the rows of each person begin."""
    new = (whose[1:] != whose[:-1]).any(axis=1)
    return [0, *(np.flatnonzero(new) + 1).tolist()]


def _require_room(place: int, last: int) -> None:
    if place >= last:
        raise Unreadable(f"a partition of the DataFrame has more than 2**{PLACES} rows; repartition it.")
