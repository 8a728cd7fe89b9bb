"""A table on its way to be read: an error that shows variables shows nothing of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeGuard, final

from duckdb import DuckDBPyRelation

from expost.errors import NotInstalled
from expost.noise import Noise
from expost.tabular.persons import Grouped
from expost.tabular.pieced import AnyPieces, PiecedRows
from expost.tabular.schema.schema import Schema
from expost.tabular.source.frames import kind_of
from expost.tabular.source.pace import Progress
from expost.tabular.source.reading import files_of, parted_by, read_pieces
from expost.tabular.source.room import Room
from expost.tabular.table import Kind, Table

METHODS = ("added", "joined", "divided", "recoded", "drawn")
"""By which rows in pieces are told from frames."""


@final
class HiddenTable:
    """A table of any kind, of which nothing shows."""

    __slots__ = ("_table",)

    def __init__(self, table: object) -> None:
        self._table = table

    def __repr__(self) -> str:
        return "a table"

    @property
    def kind(self) -> Kind:
        """The kind of frame that it is; nothing is read for that."""
        if _is_coded(self._table):
            return self._table.native
        return Kind.DUCKDB if isinstance(self._table, str | Path | DuckDBPyRelation) else kind_of(self._table)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files it will be read from."""
        return files_of(self._table)

    @property
    def parted_by(self) -> str | None:
        """The sign between the fields of the file it is read from; None if that is not a delimited one."""
        return parted_by(self._table)

    def coded(self, schema: Schema, room: Room, noise: Noise, tell: Progress) -> AnyPieces:
        """The table under the schema, unless it is coded already; one in Spark stays there."""
        if _is_coded(self._table):
            return self._table
        if self.kind is Kind.SPARK:
            return self._in_spark(schema, noise, tell)
        return read_pieces(self._table, schema, room, noise, tell)  # no variable holds it: a traceback may show those

    @contextmanager
    def read(self, schema: Schema, room: Room, noise: Noise, tell: Progress) -> Iterator[AnyPieces]:
        """The same for a while: what was kept of a table that was read here is then deleted."""
        rows = self.coded(schema, room, noise, tell)
        try:
            yield rows
        finally:
            if isinstance(rows, PiecedRows) and rows is not self._table:
                rows.close()

    def _in_spark(self, schema: Schema, noise: Noise, tell: Progress) -> AnyPieces:
        try:
            from expost.tabular.spark.reading import read_spark  # noqa: PLC0415  optional
        except ImportError:
            raise NotInstalled(
                "tables in Spark need PySpark, pandas and pyarrow; pip install 'expost[spark]'."
            ) from None
        tell("coding the table in Spark")
        return read_spark(self._table, schema, noise, tell)


def _is_coded(table: object) -> TypeGuard[AnyPieces]:
    """Whether a table is coded, by its class alone: to ask a lazy frame what it has may run its query."""
    return isinstance(table, Table | Grouped) or all(hasattr(type(table), method) for method in METHODS)
