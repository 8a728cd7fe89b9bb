"""Coded rows in pieces: tables too large for one array, on a disk or in a cluster."""

from collections.abc import Callable
from typing import Protocol, Self, TypeAlias, runtime_checkable

from expost.noise import Noise
from expost.pieces import Pieces
from expost.tabular.persons import Rows
from expost.tabular.schema.schema import Schema
from expost.tabular.table import Kind, Table


@runtime_checkable
class PiecedRows(Pieces, Protocol):
    """Coded rows in pieces, each a Table, or Grouped where the rows belong to persons, all of whose rows are in one.

    What must hold: the pieces are pinned, so that no later pass finds other records than the first, whatever happens
    to where they were read from. Implemented by tabular.source.stored.StoredRows and tabular.spark.rows.SparkRows.
    """

    @property
    def schema(self) -> Schema:
        """The schema of the rows."""
        ...

    @property
    def native(self) -> Kind:
        """The kind of frame they came as."""
        ...

    def recoded(self, f: Callable[[Table], Table]) -> Self:
        """The same records, written anew one by one."""
        ...

    def drawn(self, noise: Noise) -> Self:
        """The same, with a row drawn for each person who has several."""
        ...

    def same_records(self, other: "AnyPieces") -> bool:
        """Whether both hold the same records, at least one, in any order."""
        ...

    def close(self) -> None:
        """Delete whatever is kept of the rows; they cannot be read any more."""
        ...


AnyPieces: TypeAlias = Rows | PiecedRows
"""Coded data, in one piece or in several."""
