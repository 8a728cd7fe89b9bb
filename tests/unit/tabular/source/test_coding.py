"""Coding: whatever reads a cell, its code is the one that its column gives it in Python."""

import math
from collections.abc import Sequence

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from expost.tabular.schema.schema import Schema
from expost.tabular.source import files
from expost.tabular.source.coding import Opened
from expost.tabular.source.files import Rows
from expost.tabular.source.frames import Frame
from expost.tabular.source.texts import absent, cells_of
from tests.unit.examples import ADD
from tests.unit.tabular.source.hostile import COLUMNS, MARKS, TEXTS

SCHEMA = Schema(COLUMNS, True, ADD, missing_marks=MARKS)
NAMES = SCHEMA.names
ABSENT = absent(SCHEMA)


def one_by_one(values: Sequence[object]) -> dict[str, list[int]]:
    """The codes that each column gives to these values, each taken alone."""
    cells = cells_of(values, ABSENT)
    return {column.name: [column.taken(cell)[1] for cell in cells] for column in COLUMNS}


def coded(table: Opened) -> dict[str, list[int]]:
    """The codes of all rows, with those that are dropped."""
    found = table.coded(SCHEMA, ABSENT)
    assert found is not None
    parts = [codes for codes, _ in found]
    return {name: np.concatenate(each).tolist() for name, each in zip(NAMES, zip(*parts, strict=True), strict=True)}


def wide(relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """Its one column under the name of each column of the schema."""
    return relation.project(", ".join(f'"{relation.columns[0]}" AS "{name}"' for name in NAMES))


def differing(table: Opened, values: Sequence[object]) -> list[tuple[str, object, int, int]]:
    """The cells whose code is not what it should be."""
    right, found = one_by_one(values), coded(table)
    return [
        (name, value, one, other)
        for name in NAMES
        for value, one, other in zip(values, right[name], found[name], strict=True)
        if one != other
    ]


def texts_in(home: duckdb.DuckDBPyConnection, texts: Sequence[str | None]) -> duckdb.DuckDBPyRelation:
    """A relation of one column of texts."""
    home.execute("CREATE TABLE cells (place INTEGER, cell VARCHAR)")
    home.executemany("INSERT INTO cells VALUES (?, ?)", [[place, text] for place, text in enumerate(texts)])
    return home.sql("SELECT cell FROM cells ORDER BY place")


NUL = ["a\0b", "\0", "x\0", "1\0", "\0x"]


def test_the_engine_takes_every_text_as_its_column_does() -> None:
    texts = [*TEXTS, *NUL, None]

    assert differing(Rows(wide(texts_in(files.connection(), texts))), texts) == []


NUMBERS = "0, 1, -1, 3, 4, -2, 7, -9, 9, 100, 127, -128"
WIDE = f"{NUMBERS}, 20200101, 1900, {2**53 - 1}, {2**53}, {2**53 + 1}, {-(2**53) - 1}, {2**63 - 1}, {-(2**63)}"
TYPES = {
    "TINYINT": NUMBERS,
    "UTINYINT": "0, 1, 9, 255",
    "BIGINT": WIDE,
    "UBIGINT": f"0, 1, 9, {2**53}, {2**53 + 1}, {2**63}, {2**64 - 1}",
    "HUGEINT": f"{WIDE}, {2**63}, {-(2**63) - 1}, {2**127 - 1}",
    "UHUGEINT": f"1, {2**128 - 1}",
    "DOUBLE": ", ".join(
        f"'{each!r}'"
        for each in (
            0.0,
            -0.0,
            1.0,
            1.5,
            -1.5,
            3.25,
            0.1,
            1e-7,
            5e-324,
            -5e-324,
            2.5e-310,
            1e300,
            -1e300,
            1.7e308,
            math.inf,
            -math.inf,
            math.nan,
            2.0**53,
            2.0**53 + 2,
            -(2.0**53),
            1e22,
            9.0,
            -9.0,
            -7.0,
            20200101.0,
            3.5,
            -0.5,
            6.5,
            math.nextafter(1.5, 2),
            math.nextafter(1.5, 1),
            math.nextafter(0.1, 0),
            math.nextafter(3.5, 4),
        )
    ),
    "FLOAT": "'0.1', '1.5', '-9', '3.25', 'inf', '-inf', 'nan', '1e-45', '16777217', '-0'",
    "DECIMAL(4,2)": "1.5, -9, 3.25, 0.1, 0, 99.99, -0.01",
    "DECIMAL(15,7)": "0.0000001, 1.5, -9, 3.25, 12345678.1234567",
    "DECIMAL(18,3)": "999999999999.999, 1000000000000.000, -999999999999999.999, 1.5, 9007199254740.993",
    "DECIMAL(38,0)": f"{2**53 + 1}, {10**37}, -9, 1, {10**15}, {10**15 - 1}",
    "DECIMAL(38,38)": "'0.10000000000000000555111512312578270212', '0.1', '0.00000000000000000000000000000000000001'",
    "BOOLEAN": "true, false",
    "DATE": "'2020-01-01', '1900-01-01', '0001-01-01', '9999-12-31', '20000-01-01', '0044-03-15 (BC)', 'infinity', "
    "'-infinity', '1970-01-01', '1969-12-31', '2020-02-29'",
    "TIMESTAMP": "'1970-01-01', '1970-01-02', '1900-01-01', '1969-12-31 23:59:59.999999', '2020-01-01 12:00:00.5', "
    "'infinity', '-infinity', '20000-01-01', '0044-03-15 (BC) 01:00:00', '9999-12-31 23:59:59.999999', '0001-01-01'",
    "TIMESTAMP_S": "'1970-01-01', '1970-01-02', '1969-12-31 23:59:59', 'infinity', '20000-01-01'",
    "TIMESTAMP_MS": "'1970-01-01', '1970-01-02', '1969-12-31 23:59:59.999', '-infinity', '20000-01-01'",
    "TIMESTAMP_NS": "'1970-01-01', '1970-01-02', '1969-12-31 23:59:59.999999999', '2020-01-01 12:00:00.123456789', "
    "'1969-12-31 23:59:59.999999001', '1900-01-01', 'infinity'",
    "TIMESTAMPTZ": "'1970-01-02 00:00:00+00', '2020-01-01 00:30:00+01', '2019-12-31 23:30:00-01', 'infinity', "
    "'-infinity', '20000-01-01', '0044-03-15 (BC) 01:00:00', '1970-01-01'",
    "TIMESTAMPTZ_NS": "'1970-01-02 00:00:00+00', '2020-01-01 00:30:00+01', '1969-12-31 23:59:59.999999999+00'",
    "ENUM('x', ' x', '1', 'true', '2020-01-01')": "'x', ' x', '1', 'true', '2020-01-01'",
    "UUID": "'12345678-1234-1234-1234-123456789012'",
    "JSON": "'{\"a\": 1}', '1', '\"x\"', 'true', 'null'",
}


@pytest.mark.parametrize("kind", TYPES)
def test_the_engine_takes_every_value_of_a_type_as_its_column_does(kind: str) -> None:
    home = files.connection()
    cells = ", ".join(f"(({cell.strip()})::{kind})" for cell in f"{TYPES[kind]}, NULL".split(", "))
    relation = wide(home.sql(f"FROM (VALUES {cells}) cells(cell)"))
    ((values, *_),) = [*Rows(relation).chunks([NAMES[0]])]

    assert differing(Rows(relation), values) == []


FAR = [-(2**63), -(2**63) + 1, -(2**63) + 300, -(2**62), 2**62, 2**63 - 2, 2**63 - 1, 0]


def bits(kind: pa.DataType) -> pa.Array:
    """Values of 64 bits at the ends of what they can be, and one that is missing."""
    plain = pa.array([*FAR, None], pa.int64())
    return pa.Array.from_buffers(kind, len(plain), plain.buffers())


TIMES = [*map(pa.timestamp, ("s", "ms", "us", "ns")), pa.timestamp("us", "UTC"), pa.timestamp("ns", "UTC")]


@pytest.mark.parametrize("kind", [*TIMES, pa.duration("us")], ids=str)
def test_no_time_keeps_the_engine_from_taking_the_others(kind: pa.DataType) -> None:
    home = files.connection()
    home.register("times", pa.table({"cell": bits(kind)}))
    rows = Rows(wide(home.table("times")))
    ((values, *_),) = [*rows.chunks([NAMES[0]])]

    found = rows.coded(SCHEMA, ABSENT)

    assert len(values) == len(FAR) + 1
    assert found is None or differing(rows, values) == []


def test_an_interval_of_many_years_is_taken_like_the_longest_one() -> None:
    relation = files.connection().sql(
        "SELECT * FROM (VALUES (to_months(999999999)), (to_months(-999999999)), (to_days(1))) cells(cell)"
    )

    ((values,),) = [*Rows(relation).chunks(["cell"])]

    assert [str(value) for value in values] == ["999999998 days, 0:00:00", "-999999998 days, 0:00:00", "1 day, 0:00:00"]


@pytest.mark.parametrize(
    "kind", [pa.duration("s"), pa.date64(), pa.time64("us"), pa.list_(pa.timestamp("us"))], ids=str
)
def test_no_value_of_a_frame_keeps_python_from_taking_the_others(kind: pa.DataType) -> None:
    """A length of time or a day beyond Python's calendar is like any text that no column knows."""
    listed = pa.types.is_list(kind)
    cells = bits(kind.value_type) if listed else bits(kind)
    column = pa.ListArray.from_arrays(pa.array([*range(len(cells) + 1)], pa.int32()), cells) if listed else cells

    ((values,),) = [*Frame.of(pa.table({"cell": column})).chunks(["cell"])]

    assert len(values) == len(FAR) + 1
    assert len(one_by_one(values)["texts"]) == len(values)
    assert values[FAR.index(0)] == pa.array([column[FAR.index(0)]]).to_pylist()[0]
