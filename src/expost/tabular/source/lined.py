"""Delimited text that was found to be well-formed, coded by DuckDB: told how it is written, it has nothing to guess.

That both find the same records is checked by their number. What DuckDB would read otherwise, a file of one column with
empty lines or one whose lines end in two ways, is left to Python.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

from duckdb import DuckDBPyRelation

from expost.tabular.schema.schema import Schema
from expost.tabular.source.delimited import Delimited
from expost.tabular.source.engine.phrases import sql_text
from expost.tabular.source.engine.running import Batches, coded_batches
from expost.tabular.source.home import connection, literal

USUAL_LINE = 2**21
"""Bytes that DuckDB takes for the longest line by itself."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Lined:
    """A file that was found to be well-formed, and the bytes that DuckDB may take to read it."""

    file: Delimited
    memory: int | None

    @property
    def names(self) -> tuple[str, ...]:
        return self.file.names

    @property
    def height(self) -> int:
        return self.file.lines.total - 1

    def chunks(self, names: Sequence[str]) -> Iterator[list[Sequence[object]]]:
        """The cells of these columns, a block of lines at a time."""
        return self.file.chunks(names)

    def coded(self, schema: Schema, absent: frozenset[str | None]) -> Batches | None:
        """The codes of all records; None where only Python reads the file."""
        if len(self.names) < 2 or self.file.lines.ending is None:
            return None
        called = {name: f"f{place}" for place, name in enumerate(self.names)}
        found = coded_batches(_relation(self.file, self.memory), schema, absent, called)
        return None if found is None else _complete(found, self.file.lines.total - 1)


def _complete(found: Batches, records: int) -> Batches:
    """The same, refused at the end unless there were this many."""
    for codes, identifiers in found:
        records -= len(codes[0])
        yield codes, identifiers
    if records:
        raise ValueError("the file has changed while it was read.")


def _relation(file: Delimited, memory: int | None) -> DuckDBPyRelation:
    """The records as columns of texts that are called by their places."""
    columns = ", ".join(f"'f{place}': 'VARCHAR'" for place in range(len(file.names)))
    settings = {
        "columns": f"{{{columns}}}", "delim": sql_text(chr(file.delimiter)), "quote": "'\"'", "escape": "'\"'",
        "header": "true", "skip": "0",
        "auto_detect": "false", "strict_mode": "true", "null_padding": "false", "ignore_errors": "false",
        "comment": "''", "encoding": "'utf-8'", "max_line_size": f"{max(USUAL_LINE, file.lines.longest + 2)}",
        "compression": "'gzip'" if file.compressed else "'none'",
    }  # fmt: skip
    if file.lines.ending == "\n":
        settings["new_line"] = "'\\n'"  # told of CR LF, DuckDB finds no lines; untold, it takes either
    told = ", ".join(f"{name} = {value}" for name, value in settings.items())
    return connection(memory=memory).sql(f"FROM read_csv({sql_text(literal(file.path))}, {told})")
