"""Rows out of DuckDB: CSV and Parquet files, queries and relations.

DuckDB's own messages quote the line they stumbled over, so nothing raised here may pass ``source`` unchanged.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import final

import duckdb
from duckdb import DuckDBPyConnection, DuckDBPyRelation

from expost.errors import SchemaMismatch
from expost.tabular.delimited import Delimited

CHUNK = 2**16
"""Rows handed over at a time."""

CSV_SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
PARQUET_SUFFIXES = (".parquet", ".pq")
QUERY = "duckdb:"


@final
@dataclass(frozen=True, slots=True, repr=False)
class Rows:
    """A relation whose columns go by the names given here, in its order."""

    relation: DuckDBPyRelation
    names: tuple[str, ...]

    def chunks(self, names: Sequence[str]) -> Iterator[list[Sequence[object]]]:
        """The values of these columns, a chunk of rows at a time, all from one run."""
        places = [self.names.index(name) for name in names]
        chosen = self.relation.select(*(duckdb.ColumnExpression(self.relation.columns[place]) for place in places))
        rows = chosen.iter_rows(CHUNK)
        while chunk := list(islice(rows, CHUNK)):
            yield [*zip(*chunk, strict=True)]


def connection() -> DuckDBPyConnection:
    """A database in memory where a name means a table or a file, never a Python variable that happens to have it."""
    return duckdb.connect(":memory:", config={"python_enable_replacements": False})


def from_relation(relation: DuckDBPyRelation) -> Rows:
    """The rows of a relation."""
    return Rows(relation, tuple(relation.columns))


def from_query(sql: str) -> Rows:
    """The rows that a query selects."""
    relation = connection().sql(sql)
    if relation is None:
        raise SchemaMismatch("the DuckDB statement selects nothing; write a SELECT after duckdb: instead.")
    return from_relation(relation)


def from_file(path: Path) -> Rows | Delimited:
    """The rows of a CSV or Parquet file, told apart by its name."""
    if not path.is_file():
        raise SchemaMismatch(f"there is no file {path}; check its name.")
    if path.name.lower().endswith(PARQUET_SUFFIXES):
        return from_relation(connection().read_parquet(str(path)))
    if path.name.lower().endswith(CSV_SUFFIXES):
        return Delimited.of(path)
    raise SchemaMismatch(f"{path.name} ends in none of {', '.join((*CSV_SUFFIXES, *PARQUET_SUFFIXES))}; rename it.")
