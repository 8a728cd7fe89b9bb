"""Coding: whatever reads a cell, its code is the one that its column gives it in Python."""

import csv
import gzip
import io
import math
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Categorical, Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.source.coding import Opened, coded_chunks
from expost.tabular.source.files import Rows
from expost.tabular.source.frames import Frame
from expost.tabular.source.home import connection
from expost.tabular.source.reading import opened
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
    columns = zip(*parts, strict=True) if parts else [[np.zeros(0)] for _ in NAMES]
    return {name: np.concatenate(each).tolist() for name, each in zip(NAMES, columns, strict=True)}


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

    assert differing(Rows(wide(texts_in(connection(), texts))), texts) == []


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
    home = connection()
    cells = ", ".join(f"(({cell.strip()})::{kind})" for cell in f"{TYPES[kind]}, NULL".split(", "))
    relation = wide(home.sql(f"FROM (VALUES {cells}) cells(cell)"))
    ((values, *_),) = [*Rows(relation).chunks([NAMES[0]])]

    assert differing(Rows(relation), values) == []


IN_LINES = [text for text in TEXTS if not {*"\r\n\0"} & {*text}]
LONG = "y" * (3 * 2**20)


def lines(texts: Sequence[str], *, ending: str = "\n", quoting: Any = csv.QUOTE_MINIMAL, delimiter: str = ",") -> bytes:
    """A table of text with each of these in every column."""
    written = io.StringIO()
    writer = csv.writer(written, quoting=quoting, lineterminator=ending, delimiter=delimiter)
    writer.writerows([NAMES, *([text] * len(NAMES) for text in texts)])
    return written.getvalue().encode()


FILES: dict[str, tuple[str, bytes]] = {
    "as usual": ("a.csv", lines(IN_LINES)),
    "quoted": ("a.csv", lines(IN_LINES, quoting=csv.QUOTE_ALL)),
    "CR LF": ("a.csv", lines(IN_LINES, ending="\r\n")),
    "CR LF, the last line cut": ("a.csv", lines(IN_LINES, ending="\r\n").removesuffix(b"\r\n")),
    "the last line cut": ("a.csv", lines(IN_LINES, delimiter="|").removesuffix(b"\n")),
    "tabs": ("a.tsv", lines(IN_LINES, delimiter="\t")),
    "compressed": ("a.csv.gz", gzip.compress(lines(IN_LINES, delimiter=";"))),
    "compressed in parts": ("a.csv.gz", gzip.compress(lines(IN_LINES)[:999]) + gzip.compress(lines(IN_LINES)[999:])),
    "a mark before all": ("a [1].csv", b"\xef\xbb\xbf" + lines(IN_LINES)),
    "a long line": ("a.csv", lines([*IN_LINES[:5], LONG, *IN_LINES[5:9]])),
    "a record": ("a.csv", lines(IN_LINES[:1])),
    "no records": ("a.csv", lines([])),
}


@pytest.mark.parametrize(("name", "content"), FILES.values(), ids=FILES)
def test_lines_of_text_are_taken_as_their_columns_do(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    table = opened(tmp_path / name)
    texts = [cell for (chunk, *_) in table.chunks([NAMES[0]]) for cell in chunk]

    assert differing(table, texts) == []


@pytest.mark.parametrize(
    "content",
    [b"a,b\n1,2\r\n3,4\n", b"a\n1\n\n2\n", b"a,b\n1,2\n3,4\r"],
    ids=["two endings", "one column", "a bare CR"],
)
def test_lines_that_duckdb_may_read_otherwise_are_left_to_python(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    schema = Schema((Integer("a", (1, 2, 3), Missing.CATEGORY),), True, ADD)
    table = opened(tmp_path / "a.csv")

    assert table.coded(schema, ABSENT) is None
    codes = [code for chunk in coded_chunks(table, schema) for code in chunk.codes[0].tolist()]
    assert codes in ([0, 2], [0, 3, 1])


def test_a_file_that_was_changed_after_the_check_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(lines(IN_LINES[:9]))
    table = opened(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_bytes(lines(IN_LINES[:8]))

    with pytest.raises(ValueError, match="changed"):
        coded(table)


def test_parquet_in_many_groups_keeps_its_order_and_its_values(tmp_path: Path) -> None:
    places = np.arange(300_000)
    cells = ["x", None, "other ", "1.5", "é"]
    frame = pl.DataFrame({"n": places, "t": [cells[place * place % 5] for place in places.tolist()]})
    frame.write_parquet(tmp_path / "a.parquet", row_group_size=1000)
    listed = Categorical("t", ("x", "é"), "other", missing=Missing.DROP)
    schema = Schema((Integer("n", tuple(range(0, 300_000, 5)), Missing.DROP), listed), True, ADD)

    chunks = [*coded_chunks(opened(tmp_path / "a.parquet"), schema)]

    kept = np.flatnonzero(places * places % 5 != 1)
    assert np.concatenate([chunk.codes[0] for chunk in chunks]).tolist() == ((kept + 2) // 5).clip(0, 59_999).tolist()
    assert np.concatenate([chunk.kept for chunk in chunks]).sum() == len(kept)
    assert max(len(chunk.kept) for chunk in chunks) <= 2**20


def framed(values: Sequence[Any], kind: Any) -> dict[str, Any]:
    """The same values of this type of polars under the name of each column, as frames of several libraries."""
    series = pl.Series("cell", values, dtype=kind, strict=False)
    polars = pl.DataFrame(dict.fromkeys(NAMES, series))
    frames: dict[str, Any] = {"polars": polars, "pyarrow": polars.to_arrow()}
    if not polars.is_empty():
        frames["pandas"] = polars.to_pandas()
        frames["pandas of Arrow"] = polars.to_pandas(use_pyarrow_extension_array=True)
        frames["pandas nullable"] = polars.to_pandas().convert_dtypes(dtype_backend="numpy_nullable")
    return frames


REALS = [
    0.0, -0.0, 1.5, 3.25, 0.1, 1e-7, 5e-324, 1e300, math.inf, -math.inf, math.nan, 2.0**53, 1e22, -9.0, 3.5, None
]  # fmt: skip
INTS = [0, 1, -1, 3, 9, -9, 127, None, -128]
MOMENTS = [datetime(1970, 1, 2), datetime(1969, 12, 31, 23, 59, 59, 999999), None, datetime(2020, 1, 1, 12)]
SERIES: dict[str, tuple[Sequence[Any], Any]] = {
    "texts": ([*TEXTS, *NUL, None], pl.String),
    "no texts": ([None, None], pl.String),
    "no rows": ([], pl.String),
    "floats": (REALS, pl.Float64),
    "short floats": (REALS, pl.Float32),
    "small numbers": (INTS, pl.Int8),
    "numbers": ([*INTS, 2**53, 2**53 + 1, -(2**63), 2**63 - 1, 20200101], pl.Int64),
    "numbers without a gap": ([2**53 + 1, -9, 1, 20200101], pl.Int64),
    "large numbers": ([0, 9, 2**63, 2**64 - 1, None], pl.UInt64),
    "no large numbers": ([0, 9, 2**53, 2**63 - 1, None], pl.UInt64),
    "truth": ([True, None, False], pl.Boolean),
    "days": ([date(1900, 1, 1), None, date(2020, 1, 1), date.min, date.max], pl.Date),
    "times": ([*MOMENTS, datetime(1970, 1, 1)], pl.Datetime("us")),
    "other times": ([None, datetime(2020, 1, 2, 1), datetime(1999, 1, 1)], pl.Datetime("ns")),
    "zoned times": (MOMENTS, pl.Datetime("ms", "Asia/Tokyo")),
    "decimals": ([Decimal("1.50"), Decimal(-9), None, Decimal("3.25")], pl.Decimal(10, 2)),
    "listed": (["x", "1", None], pl.Categorical),
}


@pytest.mark.filterwarnings("ignore:.*:UserWarning")
@pytest.mark.parametrize(("values", "kind"), SERIES.values(), ids=SERIES)
def test_frames_are_taken_as_their_columns_do(values: Sequence[Any], kind: Any) -> None:
    for library, native in framed(values, kind).items():
        frame = Frame.of(native)
        held = [cell for (chunk, *_) in frame.chunks([NAMES[0]]) for cell in chunk]

        assert (library, differing(frame, held)) == (library, [])


def test_days_beyond_the_calendar_in_a_frame_are_taken_as_their_columns_do() -> None:
    days = pl.Series("cell", [0, 10**8, -(10**8), 18262, None], dtype=pl.Int32).cast(pl.Date)
    native = pl.DataFrame(dict.fromkeys(NAMES, days))

    for each in (native, native.to_arrow(), native.with_columns(pl.all().cast(pl.Datetime("ms"))).to_arrow()):
        frame = Frame.of(each)
        held = [cell for (chunk, *_) in frame.chunks([NAMES[0]]) for cell in chunk]
        assert differing(frame, held) == []
