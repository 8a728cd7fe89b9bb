"""Rows out of files, queries and relations, by DuckDB on a short leash: no extensions, and no reach beyond the files.

DuckDB's own messages quote the line they stumbled over, so nothing raised here may pass ``source`` unchanged.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import final

import duckdb
from duckdb import DuckDBPyConnection, DuckDBPyRelation

from expost.errors import InvalidValue, Unreadable
from expost.tabular.schema.schema import Schema
from expost.tabular.source.delimited import Delimited
from expost.tabular.source.engine.kinds import TIME_TYPES, ZONED_TYPES, plain_time, sql_name
from expost.tabular.source.engine.running import Batches, coded_batches
from expost.tabular.source.spill import spill_folder

WILDCARDS = re.compile(r"[*?\[]")


def connection(*, memory: int | None = None) -> DuckDBPyConnection:
    """A database in memory where a name means a table or a file, never a Python variable that happens to have it.

    It takes up to ``memory`` bytes, or most of what the machine has. DuckDB writes rows that do not fit into memory to
    files that anybody may read, in the working directory unless told otherwise; here they go into a folder that only
    the owner of the process can enter.
    """
    return duckdb.connect(
        ":memory:",
        config={
            "python_enable_replacements": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "allow_community_extensions": False,
            "temp_directory": str(spill_folder(os.getpid())),
            **({} if memory is None else {"memory_limit": f"{memory}B"}),
        },
    )


def confined(paths: Iterable[Path]) -> DuckDBPyConnection:
    """The same, where SQL can read these files and reach nothing else, and cannot change that."""
    home = connection()
    names = ", ".join("'" + str(path.absolute()).replace("'", "''") + "'" for path in paths)
    home.execute(f"SET allowed_paths = [{names}]")
    home.execute("SET enable_external_access = false")
    home.execute("SET lock_configuration = true")
    return home


def literal(path: Path) -> str:
    """A path in which DuckDB finds no pattern: ``[2024]/a.parquet`` would otherwise read ``2/a.parquet``."""
    return WILDCARDS.sub(lambda found: f"[{found[0]}]", str(path))


CHUNK = 2**16
"""Rows handed over at a time."""

CSV_SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
PARQUET_SUFFIXES = (".parquet", ".pq")
SHEET_SUFFIXES = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".numbers")
QUERY = "duckdb:"
AS_TEXT = re.compile("WITH TIME ZONE|TIMESTAMPTZ|INTERVAL|^UUID$")
"""Types as DuckDB names them whose values Python may lack; in lists and structures their names are part of others."""
LONGEST_INTERVAL = 999_999_998
"""Days, and less than one besides, that an interval of Python has room for."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Rows:
    """A relation of DuckDB."""

    relation: DuckDBPyRelation

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.relation.columns)

    def chunks(self, names: Sequence[str]) -> Iterator[list[Sequence[object]]]:
        """The values of these columns, a chunk of rows at a time, all from one run."""
        kinds = dict(zip(self.names, map(str, self.relation.types), strict=True))
        rows = self.relation.select(*(_plain(name, kinds[name]) for name in names)).iter_rows(CHUNK)
        while chunk := list(islice(rows, CHUNK)):
            yield [*zip(*chunk, strict=True)]

    def coded(self, schema: Schema, absent: frozenset[str | None]) -> Batches | None:
        """The codes of all rows, by DuckDB; None where a column's values are such that only Python takes them."""
        return coded_batches(self.relation, schema, absent)


def from_query(sql: str) -> Rows:
    """The rows that one SELECT selects from the Parquet files that it names; it can do nothing else."""
    statements = duckdb.connect(":memory:").extract_statements(sql)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise InvalidValue("the DuckDB query is not one SELECT; write a single SELECT after duckdb: instead.")
    return Rows(confined(named_files(sql)).sql(sql))


def named_files(sql: str) -> tuple[Path, ...]:
    """The Parquet files that a query names; another file is refused, because DuckDB guesses how it is written."""
    named = [path for path in map(Path, _quoted(sql)) if _is_file(path)]
    guessed = [path.name for path in named if not path.name.lower().endswith(PARQUET_SUFFIXES)]
    if guessed:
        raise InvalidValue(
            f"the DuckDB query names {guessed[0]}, which is not a Parquet file: DuckDB would guess from its records "
            "how to read it; name Parquet files only."
        )
    return tuple(named)


def from_file(path: Path) -> Rows | Delimited:
    """The rows of a CSV or Parquet file, told apart by its name."""
    if not path.is_file():
        raise Unreadable(f"there is no file {path}; check its name.")
    if path.name.lower().endswith(PARQUET_SUFFIXES):
        return Rows(connection().read_parquet(literal(path)))
    if path.name.lower().endswith(CSV_SUFFIXES):
        return Delimited.of(path)
    if path.name.lower().endswith(SHEET_SUFFIXES):
        raise Unreadable(
            f"{path.name} is a spreadsheet, whose cells depend on formulas and formats; open it and save the sheet as "
            'CSV ("CSV UTF-8" in Excel), then give that file.'
        )
    raise Unreadable(f"{path.name} ends in none of {', '.join((*CSV_SUFFIXES, *PARQUET_SUFFIXES))}; rename it.")


def _plain(name: str, kind: str) -> duckdb.Expression:
    """A column whose values Python can hold. A UUID is its text, which is what is made of it anyway."""
    column = duckdb.ColumnExpression(name)
    if kind in ZONED_TYPES or kind in TIME_TYPES:
        return duckdb.SQLExpression(plain_time(sql_name(name), kind)).alias(name)
    if kind == "INTERVAL":
        return duckdb.SQLExpression(_plain_interval(sql_name(name))).alias(name)
    return column.cast("VARCHAR").alias(name) if AS_TEXT.search(kind) else column


def _plain_interval(column: str) -> str:
    """An interval that Python has, or the longest one of its kind where it has none."""
    longest, shortest = f"to_days({LONGEST_INTERVAL})", f"to_days(-{LONGEST_INTERVAL})"
    return f"CASE WHEN {column} > {longest} THEN {longest} WHEN {column} < {shortest} THEN {shortest} ELSE {column} END"


def _quoted(sql: str) -> Iterator[str]:
    """The texts and names in quotes of a query."""
    letters = sql.encode()
    places = [start for start, _ in duckdb.tokenize(sql)]
    for start, end in pairwise([*places, len(letters)]):
        word = letters[start:end].decode().strip()
        if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"":
            yield word[1:-1].replace(2 * word[0], word[0])


def _is_file(path: Path) -> bool:
    """Whether there is such a file; a text that cannot be a file name is not one."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
