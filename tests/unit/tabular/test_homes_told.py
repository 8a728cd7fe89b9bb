"""Whoever waits for a table hears how fast it is read, divided and passed over, wherever its rows lie."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from expost.noise import Integers, SeededNoise
from expost.tabular.hidden import HiddenTable
from expost.tabular.pieced import PiecedRows
from expost.tabular.schema.schema import Schema
from expost.tabular.source import pace
from expost.tabular.source.pace import Pace
from tests.unit.tabular.homes import (
    OF_PERSONS,
    ROOMY,
    SCHEMA,
    database,
    delimited,
    hostile,
    in_small_pieces,
    parquet,
    pattern,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SOURCES: dict[str, Callable[[pa.Table, Path], object]] = {
    "Parquet": parquet,
    "CSV": delimited,
    "a pattern": pattern,
    "a table of DuckDB": database,
    "a relation": lambda table, folder: duckdb.connect().read_parquet(str(parquet(table, folder))),
    "a frame": lambda table, folder: pl.from_arrow(table),
}


@pytest.fixture(autouse=True)
def talkative(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small pieces, and nothing is too quick to be told."""
    in_small_pieces(monkeypatch)
    monkeypatch.setattr(pace, "SILENT", 0.0)


def heard(source: object, schema: Schema) -> list[str]:
    """What is told of reading, dividing and counting the rows."""
    told = list[str]()
    rows = HiddenTable(source).coded(schema, ROOMY, SeededNoise(1), told.append)
    assert isinstance(rows, PiecedRows)
    rows.divided(Fraction(1, 5), SeededNoise(2))[0].added(_count)
    rows.close()
    return told


def _count(rows: Any) -> Integers:
    return np.array([len(rows)], dtype=np.int64)


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_tells_its_pace(source: str, tmp_path: Path) -> None:
    told = heard(SOURCES[source](hostile(), tmp_path), SCHEMA)

    for doing in ("reading the table at", "dividing the table at", "passing over the table at"):
        found = [text for text in told if text.startswith(doing)]
        assert found
        assert all("rows per second" in text for text in found)
    assert told[-1].endswith("nearly done")


def test_rows_that_are_brought_together_by_person_tell_their_pace(tmp_path: Path) -> None:
    told = heard(parquet(hostile(), tmp_path), OF_PERSONS)

    assert any(text.startswith("bringing the rows of each person together at") for text in told)


def test_nothing_is_told_of_what_is_quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(pace, "SILENT", 60.0)

    assert heard(parquet(hostile(), tmp_path), SCHEMA) == []


def test_a_share_that_is_not_known_leaves_out_how_long_it_takes() -> None:
    told = list[str]()

    Pace("counting", told.append).passed(10, None)

    assert told[0].endswith("rows per second")


def _slow(rows: Any) -> Integers:
    """The second task takes longer, so that there is a time at which the first is done."""
    from pyspark import TaskContext  # noqa: PLC0415  optional

    task = TaskContext.get()
    sleep(0 if task is None else 0.2 + 0.8 * task.partitionId())
    return _count(rows)


def test_spark_tells_its_pace(spark: "SparkSession", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "SILENT", 0.05)
    told, table = list[str](), hostile()
    frame = spark.createDataFrame(table).repartition(4).mapInArrow(_slowly, _ddl(spark, table))

    rows: Any = HiddenTable(frame).coded(SCHEMA, ROOMY, SeededNoise(1), told.append)
    read, counted = [*told], rows.added(_slow)
    rows.close()

    assert counted[0] > 0
    assert any(text.startswith("coding the table in Spark, ") and "tasks done, " in text for text in read)
    passed = [text for text in told if text.startswith("passing over the table in Spark at ")]
    assert passed
    assert all("rows per second, " in text for text in passed)


@pytest.mark.parametrize(
    ("rows", "done", "words"),
    [
        (None, 0, "counting, 0 of 8 tasks done"),
        (800, 0, "counting, 0 of 8 tasks done"),
        (None, 2, "counting, 2 of 8 tasks done, about 30 s left"),
        (800, 2, "counting at 20 rows per second, about 30 s left"),
        (None, 8, "counting, 8 of 8 tasks done, nearly done"),
    ],
)
def test_tasks_that_are_done_say_how_a_job_gets_on(rows: int | None, done: int, words: str) -> None:
    watching = pytest.importorskip("expost.tabular.spark.watching", reason="PySpark is not installed.")

    assert watching.Watch("counting", rows, print).words(done, 8, 10.0) == words


def _slowly(batches: Any) -> Any:
    for batch in batches:
        sleep(0.4)
        yield batch


def _ddl(spark: "SparkSession", table: pa.Table) -> Any:
    return spark.createDataFrame(table).schema
