"""What tasks do in a pass over a snapshot: the records of each piece as they are seen, and what is made of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from io import BytesIO
from typing import Any, final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from expost.errors import InvalidValue
from expost.keyed import Keyed
from expost.noise import Integers
from expost.tabular.persons import Grouped, Rows
from expost.tabular.schema.schema import Schema
from expost.tabular.spark.failures import caught, fed
from expost.tabular.spark.packing import packed_piece, unpacked_piece
from expost.tabular.spark.writing import Batches
from expost.tabular.table import Table

MADE = pa.schema([("places", pa.binary()), ("value", pa.binary()), ("failure", pa.string())])
"""What a pass makes: of which pieces, by the places of their first records, and what."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Side:
    """One side of a division: the records whose coin came out so. Shows nothing of the key."""

    coins: Keyed
    share: Fraction
    held: bool

    def of(self, first: int, count: int) -> NDArray[np.bool_]:
        """Which of some records are on this side, the first of which has this place."""
        sides: NDArray[np.bool_] = self.coins.coins(self.share, first, count) == self.held
        return sides


@final
@dataclass(frozen=True, slots=True, repr=False)
class PieceView:
    """How the records of a snapshot are seen: on which side of each division, with which rows drawn, written how.

    Coins and draws go by the places of all records of a piece, whichever of them are seen.
    """

    schema: Schema
    sides: tuple[Side, ...] = ()
    draws: Keyed | None = None
    written: tuple[Callable[[Table], Table], ...] = ()

    def rows(self, place: int, count: int, body: bytes) -> Rows:
        """The records of a piece that are seen."""
        rows = unpacked_piece(body, count, self.schema)
        if self.draws is not None and isinstance(rows, Grouped):
            rows = Grouped(rows.table, replace(rows.people, chosen=self.draws.below(rows.sizes, place)))
        if self.sides:
            rows = rows[np.logical_and.reduce([side.of(place, count) for side in self.sides])]
        for f in self.written:
            rows = rows.recoded(f)
        return rows

    def nobody(self) -> Rows:
        """No records, as they would be seen."""
        none = [np.zeros(0, np.uint8) for _ in self.schema.columns]
        return self.rows(0, 0, packed_piece(none, np.zeros(0, np.int64), self.schema))


@final
@dataclass(frozen=True, slots=True, repr=False)
class AddUp:
    """The sum of what a function makes of the pieces of a task."""

    view: PieceView
    f: Callable[[Any], Integers]

    def __call__(self, batches: Batches) -> Batches:
        """One row, where there are pieces."""
        return caught(self._made(fed(batches)), MADE)

    def _made(self, batches: Batches) -> Batches:
        places, total = list[int](), None
        for place, rows in _seen(batches, self.view):
            total = sum_of_alike(total, np.asarray(self.f(rows)))
            places.append(place)
        if total is not None:
            yield _row(np.array(places, "<i8").tobytes(), total)


@final
@dataclass(frozen=True, slots=True)
class AddTogether:
    """The sum of what several tasks added up."""

    def __call__(self, batches: Batches) -> Batches:
        """One row, where there are some, and those of tasks that failed."""
        return caught(self._made(fed(batches)), MADE)

    def _made(self, batches: Batches) -> Batches:
        places, total = list[bytes](), None
        for batch in batches:
            for row in batch.to_pylist():
                if row["failure"] is not None:
                    yield pa.RecordBatch.from_pylist([row], schema=MADE)
                    continue
                places.append(row["places"])
                total = sum_of_alike(total, array_in(row["value"]))
        if total is not None:
            yield _row(b"".join(places), total)


@final
@dataclass(frozen=True, slots=True, repr=False)
class LineUp:
    """What a function makes of each piece."""

    view: PieceView
    f: Callable[[Any], NDArray[Any]]

    def __call__(self, batches: Batches) -> Batches:
        """A row for each piece."""
        return caught(self._made(fed(batches)), MADE)

    def _made(self, batches: Batches) -> Batches:
        for place, rows in _seen(batches, self.view):
            yield _row(np.array([place], "<i8").tobytes(), np.asarray(self.f(rows)))


def sum_of_alike(one: NDArray[Any] | None, other: NDArray[Any]) -> NDArray[Any]:
    """The sum of two arrays of one shape, or the other alone."""
    if one is None:
        return other
    if one.shape != other.shape:
        raise InvalidValue("what is added up over pieces has different shapes; return one shape for every piece.")
    return np.asarray(one + other)


def array_in(value: bytes) -> NDArray[Any]:
    """The array that a task sent."""
    array: NDArray[Any] = np.load(BytesIO(value), allow_pickle=False)
    return array


def _seen(batches: Batches, view: PieceView) -> Iterator[tuple[int, Rows]]:
    """The place of each piece, and its records."""
    for batch in batches:
        places, counts = batch.column("place").to_pylist(), batch.column("count").to_pylist()
        for place, count, body in zip(places, counts, batch.column("body"), strict=True):
            yield place, view.rows(place, count, body.as_py())


def _row(places: bytes, value: NDArray[Any]) -> pa.RecordBatch:
    file = BytesIO()
    np.save(file, value, allow_pickle=False)
    columns = {"places": [places], "value": [file.getvalue()], "failure": [None]}
    return pa.RecordBatch.from_pydict(columns, schema=MADE)
