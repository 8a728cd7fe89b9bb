"""Every home of a table counts the same rows alike: as a reference does that looks at one value after another."""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from decimal import Decimal
from itertools import combinations
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from expost.noise import Integers, SeededNoise
from expost.persons.canonical import canonical_text
from expost.private import Neighbours
from expost.statistic import Statistic
from expost.tabular.hidden import HiddenTable
from expost.tabular.marginals import Marginals
from expost.tabular.persons import rows_per_person
from expost.tabular.pieced import AnyPieces, PiecedRows
from expost.tabular.schema.cells import Plain
from expost.tabular.schema.schema import Schema
from expost.tabular.source import files, frames, reading, stored, storing
from expost.tabular.source.reading import read_pieces, read_records
from expost.tabular.source.room import Room

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


def cell(value: object) -> Any:
    """A value as a column takes it."""
    text = canonical_text(value)
    if text is None or text == "":
        return None
    return text if isinstance(value, str) else Plain(text)


def reference(table: pa.Table, cliques: tuple[tuple[str, ...], ...]) -> list[int]:
    """The counts of each clique, by looking at one row after another."""
    found = []
    rows = [
        {column.name: column.taken(cell(row[column.name]))[1] for column in SCHEMA.columns} for row in table.to_pylist()
    ]
    kept = [row for row in rows if all(row[column.name] < column.size for column in SCHEMA.columns)]
    for clique in cliques:
        counts = Counter(tuple(row[name] for name in clique) for row in kept)
        found += [counts[place] for place in np.ndindex(*(SCHEMA.domain[name] for name in clique))]
    return found


def parquet(table: pa.Table, folder: Path) -> Path:
    """A file whose second group of rows is empty, and whose rows come in several."""
    with pq.ParquetWriter(folder / "rows.parquet", table.schema) as writer:
        for part in (table[:70], table[:0], table[70:]):
            writer.write_table(part)
    return folder / "rows.parquet"


def in_pieces(room: Room, source: object, schema: Schema) -> AnyPieces:
    return read_pieces(source, schema, room, SeededNoise(1), lambda text: None)


ROOMY, CRAMPED = Room(10**9), Room(0)
HOMES: dict[str, Home] = {
    "one piece": lambda table, schema, folder: read_records(parquet(table, folder), schema),
    "pieces in memory": lambda table, schema, folder: in_pieces(ROOMY, parquet(table, folder), schema),
    "pieces on disk": lambda table, schema, folder: in_pieces(CRAMPED, parquet(table, folder), schema),
    "a relation of DuckDB": lambda table, schema, folder: in_pieces(
        ROOMY, duckdb.connect().read_parquet(str(parquet(table, folder))), schema
    ),
    "a frame of polars": lambda table, schema, folder: in_pieces(CRAMPED, pl.from_arrow(table), schema),
    "a table of Arrow": lambda table, schema, folder: in_pieces(ROOMY, table, schema),
    "a frame of pandas": lambda table, schema, folder: in_pieces(
        ROOMY, table.to_pandas(types_mapper=pd.ArrowDtype), schema
    ),
}


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of some fifty rows."""
    for module in (stored, reading, storing):
        monkeypatch.setattr(module, "PIECE", PIECE)
    for module in (files, frames):
        monkeypatch.setattr(module, "CHUNK", 30)


SPARK = "a DataFrame of Spark"


@pytest.fixture(params=[*HOMES, pytest.param(SPARK, marks=pytest.mark.xdist_group("spark"))])
def home(request: pytest.FixtureRequest) -> Iterator[Home]:
    """A home of tables; one in Spark has three partitions, of which one is empty."""
    if request.param != SPARK:
        yield HOMES[request.param]
        return
    session, noise, made = request.getfixturevalue("spark"), SeededNoise(1), list[AnyPieces]()

    def in_spark(table: pa.Table, schema: Schema, folder: Path) -> AnyPieces:
        parts = [session.createDataFrame(part).coalesce(1) for part in (table[:70], table[70:])]
        empty = parts[0].where("age is null and age is not null")
        made.append(HiddenTable(parts[0].union(empty).union(parts[1])).coded(schema, ROOMY, noise, lambda text: None))
        return made[-1]

    yield in_spark
    for each in made:
        assert isinstance(each, PiecedRows)
        each.close()


CLIQUES = (*((name,) for name in SCHEMA.names), *combinations(SCHEMA.names, 2), SCHEMA.names[:3])


def test_hostile_values_are_counted_as_one_after_another(home: Home, tmp_path: Path) -> None:
    statistic = Marginals(SCHEMA.domain, CLIQUES, Neighbours.ADD_REMOVE).statistic

    found = statistic.evaluate(home(hostile(), SCHEMA, tmp_path))

    assert found.tolist() == reference(hostile(), CLIQUES)


def test_rows_of_persons_are_together_wherever_they_lay(home: Home, tmp_path: Path) -> None:
    table = hostile()
    owners = [
        who or f"nobody {place}"
        for place, (who, age) in enumerate(zip(table["who"].to_pylist(), table["age"].to_pylist(), strict=True))
        if age is not None
    ]
    sizes = Counter(Counter(owners).values())
    numbers: Statistic[Any] = rows_per_person(Neighbours.ADD_REMOVE_PERSON)
    weighed = Marginals(SCHEMA.domain, CLIQUES, Neighbours.ADD_REMOVE_PERSON).weighed(CLIQUES)
    rows = home(table, OF_PERSONS, tmp_path)

    found = numbers.evaluate(rows)

    assert found.sum() == sum(sizes.values())
    assert found[0] == sizes[1]
    assert np.array_equal(weighed.evaluate(rows), weighed.evaluate(read_records(table, OF_PERSONS)))


def test_a_row_more_moves_one_cell_of_each_marginal(home: Home, tmp_path: Path) -> None:
    statistic = Marginals(SCHEMA.domain, CLIQUES, Neighbours.ADD_REMOVE).statistic
    (tmp_path / "more").mkdir()

    counts = [
        statistic.evaluate(home(hostile(rows), SCHEMA, folder))
        for rows, folder in ((ROWS, tmp_path), (ROWS - 1, tmp_path / "more"))
    ]

    moved: Integers = counts[0] - counts[1]
    assert np.abs(moved).sum() == len(CLIQUES)
    assert moved.min() == 0
