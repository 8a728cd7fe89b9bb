"""Rows in Spark: what is made of them is what is made of the same rows in memory, whichever tasks make it."""

import math
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from expost.errors import Unreadable
from expost.keyed import Keyed
from expost.noise import SeededNoise
from expost.pieces import Pieces
from expost.private import Private, split
from expost.tabular.marginals import Marginals
from expost.tabular.pieced import PiecedRows
from expost.tabular.schema.binned import Dates, IntegerBins, Numeric
from expost.tabular.schema.bins import Closed
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Boolean, Categorical, Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.source.reading import read_records
from expost.tabular.table import Kind
from tests.unit.examples import ADD
from tests.unit.tabular.spark.crowds import (
    BY_PERSON,
    BY_ROW,
    cells_of,
    codes_of,
    crowd,
    in_order,
    in_spark,
    persons_in,
    sizes_of,
)

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyspark", reason="PySpark is not installed; install expost[spark].")

from expost.tabular.spark import snapshot  # noqa: E402
from expost.tabular.spark.reading import read_spark  # noqa: E402  which imports it
from expost.tabular.spark.rows import SparkRows  # noqa: E402
from expost.tabular.spark.writing import PLACES  # noqa: E402

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


HOSTILE: dict[str, Any] = {
    "real": pa.array([math.nan, None, math.inf, -math.inf, -0.0, 5e-324, 1e300, 2.0], pa.float64()),
    "small": pa.array([0.1, None, 16777217.0, -0.5, 1e-45, 3.4e38, math.nan, 10], pa.float32()),
    "exact": pa.array(
        [Decimal("0.10"), None, Decimal("9" * 20), *map(Decimal, (1, 2, 2, -3, 0))], pa.decimal128(38, 2)
    ),
    "whole": pa.array([2**63 - 1, -(2**63), 2**53 + 1, None, 0, 0, 0, 7], pa.int64()),
    "text": pa.array(["", " Genève ", "Gene\u0300ve", "\x00", "😀\u202e", None, "NULL", "other"]),
    "day": pa.array([date(1, 1, 1), date(9999, 12, 31), None, *[date(2020, 2, 29)] * 5], pa.date32()),
    "moment": pa.array([datetime(2019, 12, 31, 23, 59, 59, 999, UTC), None, *[datetime(2020, 6, 1, tzinfo=UTC)] * 6]),
    "local": pa.array([datetime(1582, 10, 10), None, *[datetime(2021, 3, 28, 2, 30)] * 6], pa.timestamp("us")),
    "truth": pa.array([True, False, None, True, True, False, None, None]),
    "raw": pa.array([b"\xff\xfe", b"", None, b"7", b"a", b"b", b"c", b"d"]),
    "list": pa.array([[1], [], None, [None], [1, 2], [3], [4], [5]], pa.list_(pa.int64())),
    "dotted.name `x`": pa.array(["1", "01", "+1", "1.0", "1e0", "١", "0x1", "one"]),
    "Text": pa.array(["another", "column", "by", "its", "capital", "letter", None, "alone"]),
}
HOSTILE_SCHEMA = Schema(
    (
        Numeric("real", (0.0, 1.0, 1e3), Closed.LEFT, Missing.CATEGORY),
        Numeric("small", (0.1, 1.0, 16777217.0), Closed.RIGHT, Missing.CATEGORY),
        Numeric("exact", (0.0, 0.1, 1e3), Closed.RIGHT, Missing.CATEGORY),
        IntegerBins("whole", (0, 7, 2**53), Closed.LEFT, Missing.CATEGORY),
        Categorical("text", ("Genève", "Gene\u0300ve", "\x00"), "other", None, missing=Missing.CATEGORY),
        Dates("day", (date(1, 1, 2), date(2020, 2, 29), date(9999, 12, 31)), Closed.LEFT, Missing.CATEGORY),
        Dates("moment", (date(2019, 12, 31), date(2020, 1, 1), date(2021, 1, 1)), Closed.LEFT, Missing.CATEGORY),
        Dates("local", (date(1582, 10, 15), date(2021, 3, 28), date(2022, 1, 1)), Closed.LEFT, Missing.CATEGORY),
        Boolean("truth", Missing.CATEGORY),
        Integer("raw", (0, 7), Missing.CATEGORY),
        Boolean("list", Missing.CATEGORY),
        Integer("dotted.name `x`", (0, 1), Missing.CATEGORY),
        Categorical("Text", ("capital", "alone"), "other", None, missing=Missing.CATEGORY),
    ),
    True,
    ADD,
    missing_marks=("NULL",),
)


@pytest.fixture(scope="module", params=["rows", "persons"])
def both(request: pytest.FixtureRequest, spark: "SparkSession") -> Iterator[tuple[SparkRows, Any]]:
    """The same crowd in Spark and in memory."""
    schema = BY_ROW if request.param == "rows" else BY_PERSON
    found = read_spark(in_spark(spark, crowd()), schema, SeededNoise(1))
    yield found, read_records(crowd(), schema)
    found.close()


WITHOUT = {
    "all": (),
    "names that differ by more than capitals": ("Text",),
    "columns that DuckDB codes": ("Text", "list", "raw"),
}


@pytest.mark.parametrize("left_out", WITHOUT.values(), ids=WITHOUT)
def test_hostile_values_are_coded_as_in_memory(spark: "SparkSession", left_out: tuple[str, ...]) -> None:
    table = pa.table({name: values for name, values in HOSTILE.items() if name not in left_out})
    columns = tuple(each for each in HOSTILE_SCHEMA.columns if each.name not in left_out)
    schema = replace(HOSTILE_SCHEMA, columns=columns)

    found = read_spark(spark.createDataFrame(table), schema, SeededNoise(1))

    assert found.joined(codes_of).tolist() == codes_of(read_records(table, schema)).tolist()
    found.close()


def test_sums_over_the_pieces_are_those_in_memory(both: tuple[SparkRows, Any]) -> None:
    found, memory = both

    assert isinstance(found, Pieces)
    assert isinstance(found, PiecedRows)
    assert found.native is Kind.SPARK
    assert found.added(cells_of).tolist() == cells_of(memory).tolist()
    assert in_order(found.joined(codes_of)) == in_order(codes_of(memory))
    assert found.same_records(memory)
    assert repr(found) == "SparkRows(age, town)"


def test_sums_of_many_tasks_are_added_up_by_a_few(both: tuple[SparkRows, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    found, memory = both
    monkeypatch.setattr(snapshot, "FEW", 1)

    assert found.added(cells_of).tolist() == cells_of(memory).tolist()
    with pytest.raises(Unreadable, match="came to nothing"):
        found.added(_failing)


def _failing(rows: Any) -> Any:
    raise Unreadable("it came to nothing.")


def test_every_person_has_all_rows_and_who_is_missing_is_alone(spark: "SparkSession") -> None:
    found = read_spark(in_spark(spark, crowd(), 5), BY_PERSON, SeededNoise(2))
    memory = read_records(crowd(), BY_PERSON)

    assert in_order(found.joined(persons_in)) == in_order(persons_in(memory))
    assert max(found.joined(sizes_of)) > 50
    found.close()


def test_releases_are_bit_for_bit_those_in_memory(both: tuple[SparkRows, Any]) -> None:
    found, memory = both
    marginals = Marginals(found.schema.domain, (("age", "town"), ("town",)), found.schema.neighbours)

    for statistic in (marginals.statistic, marginals.weighed((("age",),))):
        assert statistic.evaluate(found).tolist() == statistic.evaluate(memory).tolist()


def test_each_record_is_on_one_side_by_the_coin_of_its_place(both: tuple[SparkRows, Any]) -> None:
    found, memory = both

    parts = split(Private(found, found.schema.neighbours), Fraction(1, 3), SeededNoise(3))
    sides = found.divided(Fraction(1, 3), SeededNoise(3))

    assert parts.held is not None and parts.train.seeded
    counted = [side.added(cells_of) for side in sides]
    assert (counted[0] + counted[1]).tolist() == cells_of(memory).tolist()
    assert min(map(np.sum, counted)) > 100
    assert [side.added(cells_of).tolist() for side in sides] == [each.tolist() for each in counted]
    sized = found.joined(_placed)
    keyed = Keyed(SeededNoise(3).key(), "sides")
    coins = np.concatenate([keyed.coins(Fraction(1, 3), task << PLACES, count) for task, count in enumerate(sized)])
    assert in_order(sides[1].joined(codes_of)) == in_order(_codes_where(found, coins))
    assert not sides[0].same_records(sides[1])


def _placed(rows: Any) -> Any:
    return np.array([len(rows)])


def _codes_where(found: SparkRows, coins: Any) -> Any:
    if found.schema.unit is None:
        return found.joined(codes_of)[coins]
    return found.joined(codes_of)[np.repeat(coins, found.joined(sizes_of))]
