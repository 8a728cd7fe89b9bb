"""Rows out of files, queries and relations, by DuckDB on a short leash: no extensions, and no reach beyond the files.

DuckDB's own messages quote the line they stumbled over, so nothing raised here may pass ``source`` unchanged.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from glob import glob
from itertools import pairwise
from pathlib import Path
from typing import final

import duckdb
from duckdb import DuckDBPyRelation

from expost.errors import InvalidValue, SchemaMismatch, Unreadable
from expost.tabular.schema.schema import Schema
from expost.tabular.source.coding import Opened, Several
from expost.tabular.source.delimited import Delimited
from expost.tabular.source.engine.ahead import row_batches
from expost.tabular.source.engine.kinds import TIME_TYPES, ZONED_TYPES, of_32_bits, plain_time, sql_name
from expost.tabular.source.engine.phrases import sql_text
from expost.tabular.source.engine.running import Batches, coded_batches
from expost.tabular.source.home import WILDCARDS, confined, connection, literal
from expost.tabular.source.lined import Lined

CHUNK, CELLS = 2**16, 2**18
"""Rows handed over at a time at most, and values of Python in them, about, however wide they are."""

CSV_SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
PARQUET_SUFFIXES = (".parquet", ".pq")
SHEET_SUFFIXES = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".numbers")
DATABASE_SUFFIXES = (".duckdb", ".ddb", ".db")
QUERY = "duckdb:"
STATEMENT = re.compile(r"\s*(?:\(|(?:SELECT|FROM|WITH|VALUES|TABLE|PIVOT|UNPIVOT|DESCRIBE|SHOW)\b)", re.IGNORECASE)
"""How a query begins; a file of such a name is given as ./FILE."""
TABLE = re.compile(r"(.+\.(?:duckdb|ddb|db))/([^/'\"]+)", re.IGNORECASE)
AS_TEXT = re.compile("WITH TIME ZONE|TIMESTAMPTZ|INTERVAL|^UUID$")
"""Types as DuckDB names them whose values Python may lack; in lists and structures their names are part of others."""
LONGEST_INTERVAL = 999_999_998
"""Days, and less than one besides, that an interval of Python has room for."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Rows:
    """A relation of DuckDB."""

    relation: DuckDBPyRelation
    height: int | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.relation.columns)

    def chunks(self, names: Sequence[str]) -> Iterator[list[Sequence[object]]]:
        """The values of these columns, a chunk of rows at a time, all from one run."""
        kinds = dict(zip(self.names, map(str, self.relation.types), strict=True))
        at_once = min(CHUNK, 1 + CELLS // len(names))
        for chunk in row_batches(self.relation.select(*(_plain(name, kinds[name]) for name in names)), at_once):
            columns = zip(*chunk, strict=True)
            yield [
                of_32_bits(each) if kinds[name] == "FLOAT" else each for name, each in zip(names, columns, strict=True)
            ]

    def coded(self, schema: Schema, absent: frozenset[str | None]) -> Batches | None:
        """The codes of all rows, by DuckDB; None where a column's values are such that only Python takes them."""
        return coded_batches(self.relation, schema, absent)


def from_query(sql: str, *, memory: int | None = None) -> Rows:
    """The rows that one SELECT selects from the Parquet files that it names; it can do nothing else.

    A text such as ``FILE.duckdb/TABLE`` is a table of a database instead, which is opened to be read only.
    """
    named = named_table(sql)
    if named is not None:
        return Rows(_table(*named, memory))
    if not STATEMENT.match(sql) and sql.lower().endswith(DATABASE_SUFFIXES):
        raise InvalidValue(f"{sql} is a database; name one of its tables, as in {QUERY}{sql}/TABLE.")
    statements = duckdb.connect(":memory:").extract_statements(sql)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise InvalidValue(
            "the DuckDB query is not one SELECT; write a single SELECT after duckdb:, or FILE.duckdb/TABLE, instead."
        )
    return Rows(confined(named_files(sql), memory=memory).sql(sql))


def named_table(sql: str) -> tuple[Path, str] | None:
    """The file and the table where a text names a table of a database, and is not a query."""
    found = None if STATEMENT.match(sql) else TABLE.fullmatch(sql)
    return None if found is None else (Path(found[1]), found[2])


def _table(path: Path, table: str, memory: int | None) -> DuckDBPyRelation:
    if not path.is_file():
        raise Unreadable(f"there is no file {path}; check its name.")
    home = connection(memory=memory)
    home.execute(f"ATTACH {sql_text(str(path))} AS given (READ_ONLY)")
    home.execute("SET enable_external_access = false")
    home.execute("SET lock_configuration = true")
    named = home.execute("SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'given'").fetchall()
    meant = [pair for pair in named if table in (".".join(pair), *(pair[1:] if pair[0] == "main" else ()))]
    if len(meant) != 1:
        raise InvalidValue(
            f"{path.name} does not have exactly one table {table}; write FILE.duckdb/TABLE or "
            "FILE.duckdb/SCHEMA.TABLE. Views are not read: they may depend on other files."
        )
    (schema, name) = meant[0]
    return home.sql(f"FROM given.{sql_name(schema)}.{sql_name(name)}")


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


def paths_of(source: str | Path) -> tuple[Path, ...]:
    """The file that is named or, where a text with *, ? or [ is not one, all that it is a pattern of, by name."""
    if isinstance(source, Path) or not WILDCARDS.search(source) or _is_file(Path(source)):
        return (Path(source),)
    found = glob(source, recursive=True)  # noqa: PTH207  a pattern may begin at the root
    return tuple(sorted(path for path in map(Path, found) if path.is_file()))


def from_path(source: str | Path, *, memory: int | None = None) -> Opened:
    """The rows of a CSV or Parquet file, or of all files of a pattern, which must have the same columns."""
    paths = paths_of(source)
    if not paths:
        raise Unreadable(f"there is no file {source}; check the pattern.")
    if len(paths) == 1:
        return _file(paths[0], memory)
    tables = tuple(_file(path, memory) for path in paths)
    for path, table in zip(paths, tables, strict=True):
        if sorted(table.names) != sorted(tables[0].names):
            raise SchemaMismatch(
                f"{path.name} does not have the same columns as {paths[0].name}; name files of one table only."
            )
    return Several(tables)


def _file(path: Path, memory: int | None) -> Rows | Lined:
    """The rows of one file; its name tells how it is written."""
    if not path.is_file():
        raise Unreadable(f"there is no file {path}; check its name.")
    if path.name.lower().endswith(PARQUET_SUFFIXES):
        home = connection(memory=memory)
        ((height,),) = home.execute("SELECT sum(num_rows) FROM parquet_file_metadata(?)", [literal(path)]).fetchall()
        return Rows(home.read_parquet(literal(path)), height)
    if path.name.lower().endswith(CSV_SUFFIXES):
        return Lined(Delimited.of(path), memory)
    if path.name.lower().endswith(SHEET_SUFFIXES):
        raise Unreadable(
            f"{path.name} is a spreadsheet, whose cells depend on formulas and formats; open it and save the sheet as "
            'CSV ("CSV UTF-8" in Excel), then give that file.'
        )
    if path.name.lower().endswith(DATABASE_SUFFIXES):
        raise Unreadable(f"{path.name} is a database; name one of its tables, as in {QUERY}{path}/TABLE.")
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
