"""A table on its way to be read: an error that shows variables shows nothing of it."""

from pathlib import Path
from typing import final

from duckdb import DuckDBPyRelation

from expost.tabular.persons import Grouped, Rows
from expost.tabular.schema.schema import Schema
from expost.tabular.source.frames import kind_of
from expost.tabular.source.reading import files_of, read_records
from expost.tabular.table import Kind, Table


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
        if isinstance(self._table, Table | Grouped):
            return self._table.native
        return Kind.DUCKDB if isinstance(self._table, str | Path | DuckDBPyRelation) else kind_of(self._table)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files it will be read from."""
        return files_of(self._table)

    def coded(self, schema: Schema) -> Rows:
        """The table under the schema, unless it is coded already."""
        return self._table if isinstance(self._table, Table | Grouped) else read_records(self._table, schema)
