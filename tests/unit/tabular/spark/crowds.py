"""Tables for Spark that the tests share, and what is counted of them where they are."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from expost.noise import Integers
from expost.tabular.persons import Grouped
from expost.tabular.schema.binned import IntegerBins
from expost.tabular.schema.bins import Closed
from expost.tabular.schema.column import Codes, Missing
from expost.tabular.schema.listed import Categorical
from expost.tabular.schema.schema import Schema
from expost.tabular.table import Table
from tests.unit.examples import ADD

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COLUMNS = (
    IntegerBins("age", (0, 18, 65, 120), Closed.LEFT, Missing.DROP),
    Categorical("town", ("Bern", "Genève", "Zürich"), "elsewhere", None, missing=Missing.CATEGORY),
)
BY_ROW = Schema(COLUMNS, True, ADD)
BY_PERSON = Schema(COLUMNS, True, ADD.of_persons, unit="who")


def crowd(rows: int = 600) -> pa.Table:
    """Rows of which some are dropped, some are nobody's, and every seventh is of one person."""
    numbers = range(rows)
    who = [None if n % 31 == 5 else "7" if n % 7 == 0 else str(n % (rows // 3)) for n in numbers]
    towns = ["Bern", "Genève", "Zürich ", "Paris", None]
    return pa.table(
        {
            "age": [None if n % 13 == 0 else n * 37 % 130 for n in numbers],
            "town": [towns[n // 3 % 5] for n in numbers],
            "who": who,
        }
    )


def in_spark(session: "SparkSession", table: pa.Table, parts: int = 3) -> "DataFrame":
    """The table as a DataFrame in so many partitions."""
    return session.createDataFrame(table).repartition(parts)


def table_of(rows: Any) -> Table:
    """The rows themselves, whoever they are of."""
    found: Table = rows.table if isinstance(rows, Grouped) else rows
    return found


def codes_of(rows: Any) -> Codes:
    """The codes, a line for each row."""
    table = table_of(rows)
    return np.column_stack([table.codes(name) for name in table.schema.names])


def cells_of(rows: Any) -> Integers:
    """How many rows are in each cell."""
    table = table_of(rows)
    return np.bincount(table.cells(table.schema.names), minlength=15).astype(np.int64)


def sizes_of(rows: Grouped) -> Integers:
    """How many rows each person has."""
    return rows.sizes


def persons_in(rows: Any) -> Integers:
    """A line for each person: how many rows are in each cell."""
    each = np.repeat(np.arange(len(rows)), rows.sizes)
    found = np.zeros((len(rows), 15), np.int64)
    np.add.at(found, (each, rows.table.cells(rows.schema.names)), 1)
    return found


def in_order(lines: Any) -> list[list[int]]:
    """The lines, whatever order they came in."""
    return sorted(np.asarray(lines).tolist())
