"""Rows in a Spark cluster, by piece: what a job passes over where a table does not fit into one machine."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from hashlib import blake2b
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from expost.keyed import Keyed
from expost.noise import Integers, Noise, SystemNoise
from expost.pieces import added_up
from expost.tabular.persons import Grouped
from expost.tabular.pieced import AnyPieces
from expost.tabular.schema.schema import Schema
from expost.tabular.spark.packing import packed_by_row
from expost.tabular.spark.passing import AddUp, LineUp, PieceView, Side, sum_of_alike
from expost.tabular.spark.snapshot import Snapshot
from expost.tabular.table import Kind, Table


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SparkRows:
    """The codes of rows, or of persons with all their rows, in files that a cluster wrote and its tasks pass over.

    A record's coin follows from a secret key and its place in these files, so that it comes out alike in every pass and
    in every attempt at a task. The sides of a division are views of the same files: what closes one closes all. Of a
    record nothing comes to this machine but what the given functions make of its piece. Shows nothing when printed.
    """

    schema: Schema
    _snapshot: Snapshot
    _view: PieceView

    @classmethod
    def of(cls, snapshot: Snapshot, schema: Schema) -> "SparkRows":
        """All rows of a snapshot that was written under the schema."""
        return cls(schema, snapshot, PieceView(schema))

    def __repr__(self) -> str:
        """The names of the columns: nothing about the records, not even how many."""
        return f"SparkRows({', '.join(self.schema.names)})"

    @property
    def native(self) -> Kind:
        """A DataFrame of Spark."""
        return Kind.SPARK

    def added(self, f: Callable[[Any], Integers]) -> Integers:
        """The sum over all pieces, that of each task added up where it ran."""
        total: NDArray[Any] | None = None
        for _, value in self._snapshot.passed(AddUp(self._view, f)):
            total = sum_of_alike(total, value)
        return np.asarray(f(self._view.nobody())) if total is None else total

    def joined(self, f: Callable[[Any], NDArray[Any]]) -> NDArray[Any]:
        """What ``f`` makes of each piece, one after another in the order of their places."""
        made = self._snapshot.passed(LineUp(self._view, f))
        parts = [value for _, value in sorted(made, key=lambda each: int(each[0][0]))]
        return np.concatenate(parts) if parts else np.asarray(f(self._view.nobody()))

    def divided(self, share: Fraction, noise: Noise) -> "tuple[SparkRows, SparkRows]":
        """The records whose coin is false, and those where it is true, by a new key."""
        coins, before = Keyed(noise.key(), "sides"), self._view.sides
        views = [replace(self._view, sides=(*before, Side(coins, share, held))) for held in (False, True)]
        return replace(self, _view=views[0]), replace(self, _view=views[1])

    def recoded(self, f: Callable[[Table], Table]) -> "SparkRows":
        """The same records, written anew one by one whenever they are read."""
        view = replace(self._view, written=(*self._view.written, f))
        return replace(self, schema=view.nobody().schema, _view=view)

    def drawn(self, noise: Noise) -> "SparkRows":
        """The same, with a row drawn for each person who has several, by a new key and the place of the person."""
        return replace(self, _view=replace(self._view, draws=Keyed(noise.key(), "rows of persons")))

    def same_records(self, other: AnyPieces) -> bool:
        """Whether both hold the same records, at least one, in any order: by a keyed digest of all of them."""
        if self.schema != other.schema:
            return False
        digest = partial(_digest, SystemNoise().key())
        mine = self.added(digest)
        return bool(mine[0]) and np.array_equal(mine, added_up(other, digest))

    def close(self) -> None:
        """Delete what is kept of the rows; they cannot be read any more."""
        self._snapshot.close()


def _digest(key: bytes, rows: Any) -> Integers:
    """How many rows there are, and the sum of a digest of each; sums wrap around, which loses nothing of them."""
    table: Table = rows.table if isinstance(rows, Grouped) else rows
    codes = packed_by_row([table.codes(name) for name in table.schema.names], table.schema)
    found, times = np.unique(np.ascontiguousarray(codes).view(f"V{codes.shape[1]}").ravel(), return_counts=True)
    digests = b"".join(blake2b(each.tobytes(), digest_size=16, key=key).digest() for each in found)
    numbers = np.frombuffer(digests, "<i8").reshape(-1, 2).astype(np.int64)
    return np.array([len(table), *(numbers * times[:, None]).sum(axis=0)], dtype=np.int64)
