"""Rows in pieces that this process keeps: coded once, then counted piece by piece, in memory or from its own files.

Coding a table is what takes long, and its source may change between two passes. So it is read once, and what is kept
are the codes: a byte for each value of a column of up to 256.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import accumulate
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from expost.errors import Unreadable
from expost.keyed import Keyed
from expost.noise import Integers, Noise
from expost.persons.people import People
from expost.pieces import added_up, joined_up
from expost.tabular.persons import Grouped, Rows
from expost.tabular.pieced import AnyPieces
from expost.tabular.schema.column import Codes
from expost.tabular.schema.schema import Schema
from expost.tabular.source.pace import Pace, Progress, silent
from expost.tabular.source.shelf import Shelf, Shelved
from expost.tabular.table import Kind, Table


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StoredRows:
    """The codes of rows, or of persons with all their rows, in pieces of as many rows as there is room for, about.

    What is read of a piece is the same in every pass. A record's place, by which its coin is drawn, is its number in
    the order of the pieces. Once it was divided, it is both of its sides, one after the other, and holds nothing of its
    own. Shows nothing of its records when printed.
    """

    schema: Schema
    native: Kind
    _stored: Schema
    _shelf: Shelf
    _pieces: list["_Piece"]
    _at_once: int
    _written: tuple[Callable[[Table], Table], ...] = ()
    _draws: Keyed | None = None
    _tell: Progress = silent

    def __repr__(self) -> str:
        """The names of the columns: nothing about the records, not even how many."""
        return f"StoredRows({', '.join(self.schema.names)})"

    def added(self, f: Callable[[Any], Integers]) -> Integers:
        """The sum over all pieces, of which there is at least one."""
        return np.asarray(sum(f(each) for each in self._read()))

    def joined(self, f: Callable[[Any], NDArray[Any]]) -> NDArray[Any]:
        """What ``f`` makes of each piece, one after another."""
        return np.concatenate([f(each) for each in self._read()])

    def divided(self, share: Fraction, noise: Noise) -> "tuple[StoredRows, StoredRows]":
        """The records whose coin is false, and those where it is true; each record's coin is by a key and its place.

        The pieces are let go of one by one, so that few records are ever held twice. Records stay in their order,
        however large the pieces are.
        """
        coins = Keyed(noise.key(), "sides")
        sides = [Gathering(self._stored, self._shelf, self._at_once) for _ in range(2)]
        pieces, start, told = [*reversed(self._pieces)], 0, Pace("dividing the table", self._tell)
        self._pieces.clear()  # whatever goes wrong from here on, no part of the records is ever taken for all
        while pieces:
            piece = pieces.pop()
            rows, held = piece.rows(self._stored, self.native), coins.coins(share, start, len(piece))
            start += len(piece)
            for gathering, mask in zip(sides, (~held, held), strict=True):
                gathering.add(rows[mask])
            told.passed(_height(rows), start / (start + sum(map(len, pieces))))
        made = [replace(self, _pieces=gathering.pieces()) for gathering in sides]
        self._pieces.extend(piece for side in made for piece in side._pieces)
        return made[0], made[1]

    def recoded(self, f: Callable[[Table], Table]) -> "StoredRows":
        """The same records, written anew one by one whenever they are read."""
        nobody = {each.name: np.zeros(0, np.uint8) for each in self.schema.columns}
        after = f(Table(self.schema, nobody, self.native)).schema
        return replace(self, schema=after, _written=(*self._written, f))

    def drawn(self, noise: Noise) -> "StoredRows":
        """The same, with a row drawn for each person who has several, by a key and the place of the person."""
        return replace(self, _draws=Keyed(noise.key(), "rows of persons"))

    def same_records(self, other: AnyPieces) -> bool:
        """Whether both hold the same records, at least one, in any order."""
        if self.schema != other.schema or not np.array_equal(self.added(_number), added_up(other, _number)):
            return False
        mine, theirs = (
            Table(
                self.schema, {name: joined_up(each, partial(_codes, name)) for name in self.schema.names}, self.native
            )
            for each in (self, other)
        )
        return mine.same_records(theirs)

    def close(self) -> None:
        """Delete what is kept of the rows; they cannot be read any more."""
        self._pieces.clear()
        self._shelf.close()

    def _read(self) -> Iterator[Rows]:
        if not self._pieces:
            raise Unreadable("the rows were let go of, and cannot be read any more; read the table again.")
        starts, told = [*accumulate(map(len, self._pieces), initial=0)], Pace("passing over the table", self._tell)
        for piece, start in zip(self._pieces, starts, strict=False):
            rows = piece.rows(self._stored, self.native)
            for f in self._written:
                rows = rows.recoded(f)
            if isinstance(rows, Grouped) and self._draws is not None:
                chosen = self._draws.below(rows.sizes, start)
                rows = Grouped(rows.table, replace(rows.people, chosen=chosen))
            yield rows
            told.passed(_height(rows), (start + len(piece)) / (starts[-1] or 1))


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Piece:
    """The codes of some records, column by column, and how many rows each person has if the records are persons."""

    count: int
    shelved: Shelved
    grouped: bool

    def __len__(self) -> int:
        return self.count

    def rows(self, schema: Schema, native: Kind) -> Rows:
        """The records."""
        arrays = self.shelved.arrays()
        table = Table(schema, dict(zip(schema.names, arrays, strict=False)), native)
        if not self.grouped:
            return table
        ends = np.concatenate([[0], np.cumsum(arrays[-1])]).astype(np.int64)
        rows = np.arange(len(table), dtype=np.int64)
        return Grouped(table, People(rows, ends, np.zeros(self.count, np.int64)))


@final
class Gathering:
    """Puts records on a shelf, in pieces of about as many rows as are said."""

    def __init__(self, schema: Schema, shelf: Shelf, at_once: int) -> None:
        self._schema, self._shelf, self._at_once = schema, shelf, at_once
        self._waiting: list[Rows] = []
        self._rows = 0
        self._made: list[_Piece] = []

    def add(self, rows: Rows) -> None:
        """Take more records."""
        self._waiting.append(rows)
        self._rows += _height(rows)
        if self._rows >= self._at_once:
            self._put()

    def pieces(self) -> list[_Piece]:
        """All pieces, at least one."""
        if self._waiting or not self._made:
            self._put()
        return self._made

    def _put(self) -> None:
        """One piece of what waits."""
        tables = [each.table if isinstance(each, Grouped) else each for each in self._waiting]
        columns: list[NDArray[Any]] = [np.concatenate([t.codes(name) for t in tables]) for name in self._schema.names]
        persons = [each.sizes for each in self._waiting if isinstance(each, Grouped)]
        if persons:
            columns.append(np.concatenate(persons).astype(np.uint32))
        count = int(sum(map(len, persons))) if persons else len(columns[0])
        self._made.append(_Piece(count, self._shelf.put(columns), bool(persons)))
        self._waiting, self._rows = [], 0


def _height(rows: Any) -> int:
    return len(rows.table) if isinstance(rows, Grouped) else len(rows)


def _number(rows: Any) -> Integers:
    """How many rows there are."""
    return np.array([_height(rows)], dtype=np.int64)


def _codes(name: str, rows: Any) -> Codes:
    return (rows.table if isinstance(rows, Grouped) else rows).codes(name)
