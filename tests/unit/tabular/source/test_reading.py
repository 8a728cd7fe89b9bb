"""Sources: every kind of table is coded alike, comes back as what it was, and never shows a cell when it fails."""

import gzip
import math
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import pytest

from expost.errors import ExpostError, InvalidValue, NotInstalled, SchemaMismatch, Unreadable
from expost.noise import SeededNoise
from expost.persons.canonical import canonical_text
from expost.private import Private, split
from expost.tabular.drafts.draft import draft
from expost.tabular.schema.binned import Dates, IntegerBins, Numeric
from expost.tabular.schema.bins import Closed
from expost.tabular.schema.column import Column, Missing
from expost.tabular.schema.listed import Boolean, Categorical, Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.source import files
from expost.tabular.source.frames import Format, frame, write_table
from expost.tabular.source.reading import read_table
from expost.tabular.table import Kind, Table
from tests.unit.examples import ADD, one_sentence
from tests.unit.tabular.source.telling import shown

pd, pl, pa = import_module("pandas"), import_module("polars"), import_module("pyarrow")

CANARY = "CANARY-424242"
SCHEMA = Schema(
    (
        Categorical("town", ("Bern", "Genève", 'the "old", town'), "elsewhere", None, missing=Missing.CATEGORY),
        IntegerBins("age", (0, 18, 65, 120), Closed.LEFT, Missing.CATEGORY),
        Numeric("income", (0.0, 1e3, math.inf), Closed.RIGHT, Missing.FALLBACK),
        Boolean("member", Missing.CATEGORY),
        Dates("joined", (date(2020, 1, 1), date(2021, 1, 1), date(2022, 1, 1)), Closed.LEFT, Missing.FALLBACK),
    ),
    True,
    ADD,
)
RECORDS: dict[str, list[Any]] = {
    "ignored": ["x", "y", "z", "u"],
    "town": ["Bern", None, 'the "old", town', "Paris"],
    "age": [17, 65, None, 300],
    "income": [10.5, 1000.0, 2000.25, -3.0],
    "member": [True, None, False, True],
    "joined": [date(2020, 5, 1), date(2021, 1, 1), date(1999, 1, 1), date(2030, 1, 1)],
}
CODES = {
    "town": [0, 4, 2, 3],
    "age": [0, 2, 3, 2],
    "income": [0, 0, 1, 0],
    "member": [1, 2, 0, 1],
    "joined": [0, 1, 0, 1],
}


def parquet(folder: Path) -> Path:
    pl.DataFrame(RECORDS).write_parquet(folder / "people.parquet")
    return folder / "people.parquet"


def csv(folder: Path) -> Path:
    pl.DataFrame(RECORDS).write_csv(folder / "people.csv")
    return folder / "people.csv"


def zipped(folder: Path) -> str:
    path = folder / "people.csv.gz"
    path.write_bytes(gzip.compress(csv(folder).read_bytes()))
    return str(path)


SOURCES: dict[str, tuple[Callable[[Path], Any], Kind]] = {
    "csv": (csv, Kind.DUCKDB),
    "csv.gz": (zipped, Kind.DUCKDB),
    "parquet": (parquet, Kind.DUCKDB),
    "query": (lambda folder: f"duckdb:SELECT * FROM '{parquet(folder)}'", Kind.DUCKDB),
    "relation": (lambda folder: duckdb.connect().read_parquet(str(parquet(folder))), Kind.DUCKDB),
    "pandas": (lambda folder: pd.DataFrame(RECORDS), Kind.PANDAS),
    "pandas nullable": (lambda folder: pd.DataFrame(RECORDS).convert_dtypes(), Kind.PANDAS),
    "polars": (lambda folder: pl.DataFrame(RECORDS), Kind.POLARS),
    "polars lazy": (lambda folder: pl.LazyFrame(RECORDS), Kind.POLARS),
    "pyarrow": (lambda folder: pa.table(RECORDS), Kind.PYARROW),
}
each_source = pytest.mark.parametrize(("source", "kind"), SOURCES.values(), ids=SOURCES)
NATIVE = {
    Kind.DUCKDB: duckdb.DuckDBPyRelation,
    Kind.PANDAS: pd.DataFrame,
    Kind.POLARS: pl.DataFrame,
    Kind.PYARROW: pa.Table,
}


def lists(table: Table) -> dict[str, list[int]]:
    return {name: table.codes(name).tolist() for name in table.schema.names}


def one(column: Column, *, marks: tuple[str, ...] = ()) -> Schema:
    return Schema((column,), True, ADD, missing_marks=marks)


def file(folder: Path, content: bytes, name: str = "bad.csv") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@each_source
def test_every_kind_of_table_has_the_same_codes(source: Callable[[Path], Any], kind: Kind, tmp_path: Path) -> None:
    table = read_table(source(tmp_path), SCHEMA)

    assert lists(table) == CODES


@each_source
def test_a_table_comes_back_as_what_it_was(source: Callable[[Path], Any], kind: Kind, tmp_path: Path) -> None:
    table = read_table(source(tmp_path), SCHEMA)

    back = frame(table.native, table.decode(SeededNoise(1)))

    assert table.native is kind
    assert isinstance(back, NATIVE[kind])


@pytest.mark.parametrize("kind", NATIVE)
def test_a_frame_that_was_handed_back_has_the_same_codes(kind: Kind) -> None:
    table = read_table(pl.DataFrame(RECORDS), SCHEMA)

    back = frame(kind, table.decode(SeededNoise(1)))

    assert lists(read_table(back, SCHEMA)) == CODES


@pytest.mark.parametrize("kind", NATIVE)
@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_a_frame_that_was_written_has_the_same_codes(kind: Kind, name: str, tmp_path: Path) -> None:
    table = read_table(pl.DataFrame(RECORDS), SCHEMA)

    write_table(tmp_path / name, frame(kind, table.decode(SeededNoise(1))))

    assert lists(read_table(tmp_path / name, SCHEMA)) == CODES


@pytest.mark.parametrize("chosen", Format)
def test_columns_are_written_in_the_format_that_was_given(chosen: Format, tmp_path: Path) -> None:
    table = read_table(pl.DataFrame(RECORDS), SCHEMA)

    write_table(tmp_path / "out", table.decode(SeededNoise(1)), chosen)

    (tmp_path / "out").rename(tmp_path / f"out.{chosen.value}")
    assert lists(read_table(tmp_path / f"out.{chosen.value}", SCHEMA)) == CODES


@pytest.mark.parametrize("path", ["out.xlsx", "nowhere/out.csv"])
def test_a_file_that_cannot_be_written_is_refused_in_one_sentence(path: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidValue) as refused:
        write_table(tmp_path / path, {"a": np.array([1])})

    assert one_sentence(refused.value)


def test_a_pandas_frame_without_pyarrow_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    native = frame(Kind.PANDAS, {"age": np.array([1, 2])})
    for absent in ("pyarrow", "fastparquet"):
        monkeypatch.setitem(sys.modules, absent, None)

    with pytest.raises(NotInstalled, match=r"needs pyarrow; install it, or write CSV\.$") as refused:
        write_table(tmp_path / "out.parquet", native)

    assert isinstance(refused.value, ImportError)
    assert one_sentence(refused.value)


def test_whole_numbers_stay_whole_next_to_missing_ones_in_pandas() -> None:
    native = frame(Kind.PANDAS, {"age": np.array([1, None], dtype=np.object_)})

    assert str(native["age"].dtype) == "Int64"


@pytest.mark.parametrize(
    ("value", "spelled"),
    [
        (1, "1"),
        (1.0, "1"),
        (-0.0, "0"),
        (1.5, "1.5"),
        (True, "true"),
        (Decimal("1.50"), "1.5"),
        (Decimal(100), "100"),
        (date(2020, 1, 2), "2020-01-02"),
        (datetime(2020, 1, 2, 3), "2020-01-02T03:00:00"),
        (datetime(2020, 1, 2, 3, tzinfo=ZoneInfo("Asia/Tokyo")), "2020-01-01T18:00:00"),
        (math.nan, None),
        (None, None),
        (pd.NA, None),
        (pd.NaT, None),
        (math.inf, "inf"),
        (" a ", "a"),
    ],
)
def test_a_value_has_one_spelling_whatever_it_came_from(value: object, spelled: str | None) -> None:
    assert canonical_text(value) == spelled


FLAGS = Schema((Boolean("b", Missing.CATEGORY),), True, ADD)


def test_truth_values_have_the_same_codes_as_flags_numbers_and_texts(tmp_path: Path) -> None:
    spellings: list[list[Any]] = [[True, False], [1, 0], [1.0, 0.0], ["1.0", "0.0"], ["true", "false"]]

    for values in spellings:
        native = pl.DataFrame({"b": values})
        native.write_csv(tmp_path / "flags.csv")
        native.write_parquet(tmp_path / "flags.parquet")
        for source in (native, native.to_pandas(), tmp_path / "flags.csv", tmp_path / "flags.parquet"):
            assert lists(read_table(source, FLAGS)) == {"b": [1, 0]}


MOMENTS = [datetime(2020, 1, 1, 0, 30, tzinfo=ZoneInfo("Europe/Zurich")), None, datetime(2020, 6, 1, 12, tzinfo=UTC)]
YEARS = one(Dates("when", (date(2019, 1, 1), date(2020, 1, 1), date(2021, 1, 1)), Closed.LEFT, Missing.CATEGORY))


def test_times_with_a_zone_have_the_same_codes_from_every_kind_of_table(tmp_path: Path) -> None:
    native = pl.DataFrame({"when": MOMENTS}, schema={"when": pl.Datetime("us", "Europe/Zurich")})
    native.write_parquet(tmp_path / "times.parquet")
    native.select(pl.col("when").dt.to_string("iso:strict")).write_csv(tmp_path / "times.csv")
    files_of = [tmp_path / "times.parquet", tmp_path / "times.csv", f"duckdb:SELECT * FROM '{tmp_path}/times.parquet'"]

    for source in (native, native.to_pandas(), native.to_arrow(), *files_of):
        assert lists(read_table(source, YEARS)) == {"when": [0, 2, 1]}


def test_a_zone_inside_a_list_and_a_time_without_end_are_read_too() -> None:
    moment = "TIMESTAMPTZ '2020-01-01 00:30:00+01'"
    nested = f"SELECT [{moment}] AS when"
    endless = f"SELECT * FROM (VALUES ({moment}), ('infinity'), ('-infinity'), ('20000-01-01'), (NULL)) t(\"when\")"

    assert lists(read_table(f"duckdb:{nested}", YEARS)) == {"when": [2]}
    assert lists(read_table(f"duckdb:{endless}", YEARS)) == {"when": [0, 1, 0, 2, 2]}


def test_equal_values_of_different_types_do_not_share_a_code() -> None:
    schema = one(Categorical("a", ("true", "1"), "other", missing=Missing.FALLBACK))

    for values in ([True, 1], [1, True]):
        frame_of = pd.DataFrame({"a": pd.Series(values, dtype=object)})
        assert lists(read_table(frame_of, schema))["a"] == [["true", "1"].index(str(value).lower()) for value in values]


def test_a_mark_for_missing_values_is_missing_as_text_and_as_a_number() -> None:
    schema = one(Integer("a", (1, 2), Missing.CATEGORY), marks=("?", "-9"))

    assert lists(read_table(pl.DataFrame({"a": ["1", "?", "-9"]}), schema)) == {"a": [0, 2, 2]}
    assert lists(read_table(pl.DataFrame({"a": [1, -9]}), schema)) == {"a": [0, 2]}


def test_a_record_is_dropped_by_its_own_missing_value_alone() -> None:
    schema = Schema((Boolean("a", Missing.DROP), Boolean("b", Missing.CATEGORY)), True, ADD)

    table = read_table(pl.DataFrame({"a": [True, None, False], "b": [None, True, True]}), schema)

    assert lists(table) == {"a": [1, 0], "b": [2, 1]}


def test_a_table_may_lose_all_its_records_without_an_error() -> None:
    assert len(read_table(pl.DataFrame({"a": [None, None]}), one(Boolean("a", Missing.DROP)))) == 0


def test_a_column_of_missing_values_is_one_category() -> None:
    assert lists(read_table(pl.DataFrame({"a": [None] * 3}), one(Integer("a", (1, 2), Missing.CATEGORY)))) == {
        "a": [2] * 3
    }


def test_one_row_of_one_value_is_a_table() -> None:
    assert lists(read_table(pl.DataFrame({"a": ["x"]}), one(Categorical("a", ("x",), missing=Missing.FALLBACK)))) == {
        "a": [0]
    }


def test_two_hundred_categories_have_a_code_each() -> None:
    names = [f"v{place}" for place in range(200)]

    assert lists(
        read_table(pl.DataFrame({"a": names}), one(Categorical("a", tuple(names), missing=Missing.FALLBACK)))
    ) == {"a": list(range(200))}


def test_sixty_columns_are_read_in_the_order_of_the_schema(tmp_path: Path) -> None:
    columns = {f"c{place}": [place, place + 1] for place in range(60)}
    schema = Schema(tuple(Integer(name, tuple(range(70)), Missing.FALLBACK) for name in reversed(columns)), True, ADD)

    table = read_table(csv_of(columns, tmp_path), schema)

    assert list(lists(table).items()) == list(reversed(columns.items()))


def csv_of(columns: dict[str, list[int]], folder: Path) -> Path:
    pl.DataFrame(columns).write_csv(folder / "wide.csv")
    return folder / "wide.csv"


def test_numbers_of_all_sizes_are_binned(tmp_path: Path) -> None:
    values = [-1e308, -1.0, -1e-308, 0.0, 5e-324, 1e308]
    schema = one(Numeric("x", (-math.inf, -1e-300, 0.0, 1e300, math.inf), Closed.RIGHT, Missing.FALLBACK))

    assert lists(read_table(pl.DataFrame({"x": values}), schema)) == {"x": [0, 0, 1, 1, 2, 3]}


def test_a_table_longer_than_a_chunk_is_read_whole(tmp_path: Path) -> None:
    values = [place % 5 for place in range(150_000)]

    for source in (csv_of({"a": values}, tmp_path), pl.DataFrame({"a": values})):
        assert lists(read_table(source, one(Integer("a", tuple(range(5)), Missing.FALLBACK)))) == {"a": values}


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_header_says_the_delimiter(delimiter: str, tmp_path: Path) -> None:
    path = file(tmp_path, f"\ufeffa{delimiter}b\r\nyes{delimiter}no\r\n".encode())

    table = read_table(path, Schema((Boolean("a", Missing.FALLBACK), Boolean("b", Missing.FALLBACK)), True, ADD))

    assert lists(table) == {"a": [1], "b": [0]}


def test_a_query_does_not_see_the_variables_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "a_frame", pl.DataFrame({"a": [True]}), raising=False)

    with pytest.raises(Unreadable):
        read_table("duckdb:SELECT * FROM a_frame", one(Boolean("a", Missing.FALLBACK)))


def test_a_table_is_indexed_by_a_mask_and_can_be_split() -> None:
    table = read_table(pl.DataFrame(RECORDS), SCHEMA)

    sides = split(Private(table), Fraction(1, 2), SeededNoise(1))

    assert sides.held is not None
    assert lists(table[np.array([True, False, False, True])])["town"] == [0, 3]


def test_a_table_shows_nothing_of_its_records_when_printed() -> None:
    assert repr(read_table(pl.DataFrame(RECORDS), SCHEMA)) == "Table(town, age, income, member, joined)"


@pytest.mark.parametrize(
    "columns",
    [
        {"a": np.array([2], dtype=np.uint8)},
        {"b": np.array([0], dtype=np.uint8)},
        {"a": np.array([0], dtype=np.uint8), "b": np.array([0], dtype=np.uint8)},
    ],
    ids=["a code outside", "another column", "one column more"],
)
def test_a_table_has_the_columns_and_codes_of_its_schema(columns: dict[str, Any]) -> None:
    with pytest.raises(SchemaMismatch):
        Table(one(Boolean("a", Missing.FALLBACK)), columns)


def test_a_draft_is_not_read_by() -> None:
    schema = Schema(SCHEMA.columns, False, ADD)

    with pytest.raises(SchemaMismatch, match="draft"):
        read_table(pl.DataFrame(RECORDS), schema)


def half(folder: Path) -> Path:
    whole = folder / "whole.parquet"
    pl.DataFrame({"a": [CANARY] * 5000, "b": ["x"] * 5000}).write_parquet(whole)
    return file(folder, whole.read_bytes()[:-20], "half.parquet")


def half_zipped(folder: Path) -> Path:
    lines = f"a,b\n{CANARY},x\n" + "".join(f"{place},{place * 7919}\n" for place in range(50_000))
    return file(folder, gzip.compress(lines.encode())[:-2000], "half.csv.gz")


def with_rows(content: str) -> Callable[[Path], Path]:
    return lambda folder: file(folder, f"a,b\n1,2\n{content}".encode())


BAD: dict[str, Callable[[Path], object]] = {
    "a line cut short": with_rows(CANARY),
    "a line too long": with_rows(f"{CANARY},2,3\n"),
    "an open quote": with_rows(f'1,"{CANARY}\n'),
    "a quote inside": with_rows(f'1,"x"{CANARY}\n'),
    "not UTF-8": lambda folder: file(folder, f"a,b\n1,{CANARY}".encode() + b"\xff\xfe\n"),
    "UTF-16": lambda folder: file(folder, f"a,b\n1,{CANARY}\n".encode("utf-16")),
    "a header that is not UTF-8": lambda folder: file(folder, b"a,b\xff\n1," + CANARY.encode()),
    "no header": lambda folder: file(folder, f"{CANARY},2\n".encode()),
    "half a parquet file": half,
    "half a compressed file": half_zipped,
    "no parquet file": lambda folder: file(folder, CANARY.encode(), "bad.parquet"),
    "no compressed file": lambda folder: file(folder, CANARY.encode(), "bad.csv.gz"),
    "an empty file": lambda folder: file(folder, b""),
    "a header only": lambda folder: file(folder, b"a,b\n"),
    "no such file": lambda folder: folder / "none.csv",
    "a folder": lambda folder: folder,
    "another format": lambda folder: file(folder, CANARY.encode(), "bad.xlsx"),
    "a column twice": lambda folder: file(folder, f"a,b,a\n1,2,{CANARY}\n".encode()),
    "a query that fails on a value": lambda folder: f"duckdb:SELECT CAST('{CANARY}' AS INT) AS a, 1 AS b",
    "a query that is none": lambda folder: "duckdb:SELEKT",
    "a statement that selects nothing": lambda folder: "duckdb:CREATE TABLE t (a INT)",
    "a relation that fails": lambda folder: duckdb.sql(f"SELECT CAST(x AS INT) a, 1 b FROM (VALUES ('{CANARY}')) t(x)"),
    "a frame without the columns": lambda folder: pl.DataFrame({"c": [CANARY]}),
    "a frame without rows": lambda folder: pl.DataFrame({"a": [], "b": []}),
    "no table at all": lambda folder: [CANARY],
}
TWO = Schema((Boolean("a", Missing.CATEGORY), Categorical("b", ("x",), missing=Missing.FALLBACK)), True, ADD)
REFUSED: dict[str, type[ExpostError]] = {
    "no header": SchemaMismatch,
    "an empty file": SchemaMismatch,
    "a column twice": SchemaMismatch,
    "a frame without the columns": SchemaMismatch,
    "a statement that selects nothing": InvalidValue,
    "no table at all": InvalidValue,
}
each_failure = pytest.mark.parametrize(
    ("bad", "kind"), [(bad, REFUSED.get(name, Unreadable)) for name, bad in BAD.items()], ids=BAD
)


@each_failure
def test_what_cannot_be_read_is_refused_in_one_sentence(
    bad: Callable[[Path], object], kind: type[ExpostError], tmp_path: Path
) -> None:
    with pytest.raises(kind) as refused:
        read_table(bad(tmp_path), TWO)

    assert one_sentence(refused.value)


@each_failure
def test_what_cannot_be_read_shows_no_cell_anywhere_in_the_error(
    bad: Callable[[Path], object], kind: type[ExpostError], tmp_path: Path
) -> None:
    with pytest.raises(kind) as refused:
        read_table(bad(tmp_path), TWO)

    assert "CANARY" not in shown(refused.value)
    assert refused.value.__context__ is None


@pytest.mark.parametrize("name", ["an open quote", "not UTF-8", "half a parquet file", "a relation that fails"])
def test_what_cannot_be_drafted_shows_no_cell_anywhere_in_the_error(name: str, tmp_path: Path) -> None:
    with pytest.raises(Unreadable) as refused:
        draft(BAD[name](tmp_path))

    assert "CANARY" not in shown(refused.value)


def test_the_canary_would_be_seen_in_what_duckdb_itself_says(tmp_path: Path) -> None:
    path = BAD["an open quote"](tmp_path)

    with pytest.raises(duckdb.Error) as refused:
        duckdb.read_csv(
            str(path), auto_detect=False, columns={"a": "VARCHAR", "b": "VARCHAR"}, quotechar='"'
        ).fetchall()

    assert "CANARY" in str(refused.value)


@pytest.mark.parametrize("name", ["a.xlsx", "A.XLS", "a.ods"])
def test_a_spreadsheet_is_refused_with_the_way_to_export_it(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"PK\x03\x04")

    for read in (partial(read_table, schema=one(Boolean("a", Missing.DROP))), draft):
        with pytest.raises(Unreadable, match="save the sheet as CSV") as refused:
            read(tmp_path / name)

        assert one_sentence(refused.value)
