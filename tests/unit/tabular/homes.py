"""Homes of tables that the tests share: the same hostile rows in pieces, in files, in frames and in relations."""

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from expost.noise import SeededNoise
from expost.persons.canonical import canonical_text
from expost.tabular.pieced import AnyPieces
from expost.tabular.schema.schema import Schema
from expost.tabular.source import files, frames
from expost.tabular.source import room as rooms
from expost.tabular.source.reading import read_pieces, read_records
from expost.tabular.source.room import Room

if TYPE_CHECKING:
    from tests.server import Server

Home: TypeAlias = Callable[[pa.Table, Schema, Path], AnyPieces]

DECLARED = """
reviewed = true
neighbours = "add-remove"
[[column]]
name = "ward"
kind = "categorical"
values = ["Zürich", "naïve 東京", "a,b", 'say "x"']
other = "other"
missing = true
[[column]]
name = "age"
kind = "integer"
edges = [0, 18, 65, inf]
closed = "left"
missing = "drop"
[[column]]
name = "cost"
kind = "numeric"
edges = [-10, 0, 0.1, 100]
closed = "right"
missing = true
[[column]]
name = "paid"
kind = "numeric"
edges = [0, 0.3, 10]
closed = "left"
missing = false
[[column]]
name = "day"
kind = "date"
edges = [1990-01-01, 2000-01-01, 2020-06-15]
closed = "left"
missing = true
[[column]]
name = "urgent"
kind = "boolean"
missing = true
"""
SCHEMA = Schema.load(DECLARED)
OF_PERSONS = Schema.load(DECLARED.replace("reviewed = true\n", 'reviewed = true\nunit = "who"\n'))
ROWS = 240
PIECE = 50


def hostile(rows: int = ROWS) -> pa.Table:
    """Nulls, NaN, infinities, texts of all kinds, decimals, times; skewed, with rows that are there many times."""
    words = ["Zürich", "naïve 東京", "a,b", 'say "x"', "elsewhere", None, " Zürich ", ""]
    costs = [0.0, -0.0, 0.1, float("nan"), float("inf"), -float("inf"), 5e-324, None, 99.99999999999999, 1e300]
    paid = [Decimal("0.30"), Decimal("0.29"), Decimal("-7.00"), Decimal("99999.99"), None]
    days = [datetime(1999, 12, 31, 23, 59, 59), datetime(2000, 1, 1), datetime(1, 1, 1), datetime(9999, 12, 31), None]
    places = [place * place % 97 if place % 4 else 0 for place in range(rows)]
    return pa.table(
        {
            "ward": pa.array([words[place % 8] for place in places], pa.string()),
            "age": pa.array([None if place % 11 == 3 else place % 90 - 5 for place in places], pa.int64()),
            "cost": pa.array([costs[place % 10] for place in places], pa.float64()),
            "paid": pa.array([paid[place % 5] for place in places], pa.decimal128(7, 2)),
            "day": pa.array([days[place % 5] for place in places], pa.timestamp("us")),
            "urgent": pa.array([[True, False, None][place % 3] for place in places], pa.bool_()),
            "who": pa.array([None if place % 29 == 5 else f"p{place % 31}" for place in places], pa.string()),
        }
    )


def parquet(table: pa.Table, folder: Path) -> Path:
    """A file whose second group of rows is empty, and whose rows come in several."""
    with pq.ParquetWriter(folder / "rows.parquet", table.schema) as writer:
        for part in (table[:70], table[:0], table[70:]):
            writer.write_table(part)
    return folder / "rows.parquet"


def pattern(table: pa.Table, folder: Path) -> str:
    """Three files, of which one has no rows."""
    for number, part in enumerate((table[:70], table[:0], table[70:])):
        pq.write_table(part, folder / f"part{number}.parquet")
    return str(folder / "part*.parquet")


def database(table: pa.Table, folder: Path) -> str:
    """A table of a file of DuckDB."""
    with duckdb.connect(str(folder / "rows.duckdb")) as home:
        home.from_arrow(table).create("rows")
    return f"duckdb:{folder / 'rows.duckdb'}/rows"


def as_texts(table: pa.Table) -> pa.Table:
    """The same values as they are spelled."""
    spelled = {name: [canonical_text(value) for value in table[name].to_pylist()] for name in table.column_names}
    return pa.table({name: pa.array(values, pa.string()) for name, values in spelled.items()})


def delimited(table: pa.Table, folder: Path) -> Path:
    """A file of texts."""
    pacsv.write_csv(as_texts(table), folder / "rows.csv")
    return folder / "rows.csv"


def in_pieces(room: Room, source: object, schema: Schema) -> AnyPieces:
    return read_pieces(source, schema, room, SeededNoise(1), lambda text: None)


ROOMY, CRAMPED = Room(10**9), Room(0)
HOMES: dict[str, Home] = {
    "one piece": lambda table, schema, folder: read_records(parquet(table, folder), schema),
    "pieces in memory": lambda table, schema, folder: in_pieces(ROOMY, parquet(table, folder), schema),
    "pieces on disk": lambda table, schema, folder: in_pieces(CRAMPED, parquet(table, folder), schema),
    "files of a pattern": lambda table, schema, folder: in_pieces(ROOMY, pattern(table, folder), schema),
    "a table of a file of DuckDB": lambda table, schema, folder: in_pieces(CRAMPED, database(table, folder), schema),
    "CSV": lambda table, schema, folder: in_pieces(ROOMY, delimited(table, folder), schema),
    "a relation of DuckDB": lambda table, schema, folder: in_pieces(
        ROOMY, duckdb.connect().read_parquet(str(parquet(table, folder))), schema
    ),
    "a frame of polars": lambda table, schema, folder: in_pieces(CRAMPED, pl.from_arrow(table), schema),
    "a table of Arrow": lambda table, schema, folder: in_pieces(ROOMY, table, schema),
    "a frame of pandas": lambda table, schema, folder: in_pieces(
        ROOMY, table.to_pandas(types_mapper=pd.ArrowDtype), schema
    ),
}
SPARK = "a DataFrame of Spark"
ATTACHED = "a table of PostgreSQL"


def attaching(request: pytest.FixtureRequest) -> duckdb.DuckDBPyConnection:
    """A connection to which a database of PostgreSQL is attached; the test is skipped where DuckDB cannot."""
    home = duckdb.connect()
    try:
        home.execute("LOAD postgres")
    except duckdb.Error:
        pytest.skip("DuckDB's postgres extension is not installed; say INSTALL postgres in DuckDB, which downloads it.")
    server: Server = request.getfixturevalue("postgres")
    home.execute(f"ATTACH '{server.database()}' AS warehouse (TYPE postgres)")
    return home


def home_of_postgres(request: pytest.FixtureRequest) -> Home:
    """Tables of PostgreSQL that DuckDB reads."""
    home = attaching(request)

    def in_postgres(table: pa.Table, schema: Schema, folder: Path) -> AnyPieces:
        home.register("given", table)
        home.execute("CREATE OR REPLACE TABLE warehouse.public.rows AS FROM given")
        return in_pieces(ROOMY, home.table("warehouse.public.rows"), schema)

    return in_postgres


def in_small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of some fifty rows."""
    monkeypatch.setattr(rooms, "PIECE", PIECE)
    for module in (files, frames):
        monkeypatch.setattr(module, "CHUNK", 30)
