"""Files: all that a pattern names are one table, and a table of a database is read where it lies."""

from pathlib import Path

import duckdb
import polars as pl
import pytest

from expost.errors import ExpostError, InvalidValue, SchemaMismatch, Unreadable
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Categorical, Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.source.home import connection
from expost.tabular.source.reading import files_of, opened, read_table
from tests.unit.examples import ADD, one_sentence

SCHEMA = Schema(
    (
        Integer("n", tuple(range(10)), Missing.CATEGORY),
        Categorical("t", ("x", "y"), "other", missing=Missing.CATEGORY),
    ),
    True, ADD,
)  # fmt: skip
PARTS = {"b": pl.DataFrame({"n": [1, 2], "t": ["x", None]}), "a": pl.DataFrame({"t": ["y", "z"], "n": [3, None]})}
CODES = {"n": [3, 10, 1, 2], "t": [1, 2, 0, 3]}


def codes(source: object) -> dict[str, list[int]]:
    table = read_table(source, SCHEMA)
    return {name: table.codes(name).tolist() for name in SCHEMA.names}


def test_all_files_of_a_pattern_are_one_table_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name, part in PARTS.items():
        part.write_csv(tmp_path / f"{name}.csv")
        part.write_parquet(tmp_path / f"{name}.parquet")

    for pattern in (f"{tmp_path}/*.csv", f"{tmp_path}/*.parquet", f"{tmp_path}/[ab].csv", f"{tmp_path}/**/?.parquet"):
        assert codes(pattern) == CODES
        assert [path.stem for path in files_of(pattern)] == ["a", "b"]


def test_files_of_a_pattern_may_hold_their_columns_in_different_types(tmp_path: Path) -> None:
    PARTS["a"].with_columns(pl.col("n").cast(pl.Float64)).write_parquet(tmp_path / "a.parquet")
    PARTS["b"].with_columns(pl.col("n").cast(pl.String)).write_parquet(tmp_path / "b.parquet")

    assert codes(f"{tmp_path}/*.parquet") == CODES


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path: Path) -> None:
    (tmp_path / "2").mkdir()
    PARTS["a"].write_csv(tmp_path / "[2].csv")
    PARTS["b"].write_csv(tmp_path / "2.csv")

    assert codes(str(tmp_path / "[2].csv")) == codes(tmp_path / "[2].csv") == {"n": [3, 10], "t": [1, 2]}


def test_files_of_a_pattern_are_refused_together_in_one_sentence(tmp_path: Path) -> None:
    PARTS["a"].write_csv(tmp_path / "a.csv")
    refusals: dict[str, tuple[str, type[ExpostError]]] = {
        "n,u\n1,x\n": ("does not have the same columns", SchemaMismatch), "n,t\n1\n": ("as a whole", Unreadable),
    }  # fmt: skip
    for content, (told, kind) in refusals.items():
        (tmp_path / "b.csv").write_text(content, encoding="utf-8")
        with pytest.raises(kind, match=told) as refused:
            read_table(f"{tmp_path}/*.csv", SCHEMA)
        assert one_sentence(refused.value)

    with pytest.raises(Unreadable, match="check the pattern") as refused:
        read_table(f"{tmp_path}/*.parquet", SCHEMA)
    assert one_sentence(refused.value)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database with tables of the same name in two schemas, and with a view."""
    path = tmp_path / "it's.duckdb"
    with duckdb.connect(str(path)) as home:
        home.execute("CREATE TABLE people AS FROM (VALUES (1, 'x'), (NULL, 'y')) people(n, t)")
        home.execute("CREATE SCHEMA old")
        home.execute('CREATE TABLE old."the people" AS FROM (VALUES (7, NULL)) people(n, t)')
        home.execute("CREATE VIEW seen AS FROM people")
    return path


def test_a_table_of_a_database_is_read_and_the_database_left_as_it_is(database: Path) -> None:
    before = database.read_bytes()

    assert codes(f"duckdb:{database}/people") == codes(f"duckdb:{database}/main.people") == {"n": [1, 10], "t": [0, 1]}
    assert codes(f"duckdb:{database}/old.the people") == {"n": [7], "t": [3]}
    assert files_of(f"duckdb:{database}/people") == (database,)
    assert database.read_bytes() == before


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ("seen", "Views are not read"),
        ("none", "exactly one table none"),
        ("the people", "exactly one table the people"),
    ],
)
def test_what_is_not_a_table_of_the_database_is_refused(database: Path, named: str, told: str) -> None:
    with pytest.raises(InvalidValue, match=told):
        read_table(f"duckdb:{database}/{named}", SCHEMA)


@pytest.mark.parametrize("named", ["{}", "duckdb:{}"])
def test_a_database_without_the_name_of_a_table_is_refused_with_how_to_name_one(database: Path, named: str) -> None:
    with pytest.raises((InvalidValue, Unreadable), match=f"as in duckdb:{database}/TABLE"):
        read_table(named.format(database), SCHEMA)


def test_a_database_that_is_missing_or_damaged_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "bad.duckdb").write_bytes(b"CANARY" * 5000)

    for name, told in (("none.duckdb", "there is no file"), ("bad.duckdb", "could not be read to its end")):
        with pytest.raises(Unreadable, match=told) as refused:
            read_table(f"duckdb:{tmp_path}/{name}/people", SCHEMA)
        assert one_sentence(refused.value)
        assert "CANARY" not in str(refused.value)


def test_the_memory_of_the_engine_is_bounded() -> None:
    ((limit,),) = connection(memory=2 * 2**30).sql("SELECT current_setting('memory_limit')").fetchall()

    assert limit == "2.0 GiB"


def test_a_relation_is_run_once() -> None:
    """What a second run would find may be something else."""
    home = duckdb.connect()
    home.execute("CREATE SEQUENCE runs")
    relation = home.sql("SELECT nextval('runs') AS n, 'x' AS t FROM range(5)")

    assert codes(relation) == {"n": [1, 2, 3, 4, 5], "t": [0] * 5}
    assert opened(relation).names == ("n", "t")


LISTED = Schema((Categorical("a", ("[0]", "[1]"), missing=Missing.CATEGORY),), True, ADD)


def test_values_that_only_python_takes_are_read_in_their_order_from_one_run() -> None:
    rows = duckdb.connect().sql("SELECT [range % 2] AS a FROM range(200_000)")

    assert read_table(rows, LISTED).codes("a").tolist() == 100_000 * [0, 1]


def test_a_relation_that_only_python_takes_is_run_once() -> None:
    home = duckdb.connect()
    home.execute("CREATE SEQUENCE runs MINVALUE 0 START 0")

    read = read_table(home.sql("SELECT [nextval('runs')] AS a FROM range(2)"), LISTED)

    assert read.codes("a").tolist() == [0, 1]


@pytest.mark.parametrize("cell", ["1", "[1]"])
def test_a_connection_whose_owner_has_rows_to_fetch_is_refused_and_keeps_them(cell: str) -> None:
    home = duckdb.connect()
    home.execute("SELECT range FROM range(100_000)")
    home.fetchone()

    with pytest.raises(Unreadable):
        read_table(home.sql(f"SELECT {cell} AS a"), LISTED)

    assert home.fetchone() == (1,)


def test_a_connection_is_free_once_its_rows_were_read() -> None:
    home = duckdb.connect()
    read_table(home.sql("SELECT [0] AS a FROM range(10)"), LISTED)

    assert home.sql("SELECT 1").fetchall() == [(1,)]


@pytest.mark.parametrize("cell", ["a", "[a]"])
def test_a_query_that_needs_more_memory_than_it_may_take_is_refused_as_such(cell: str) -> None:
    home = duckdb.connect(config={"memory_limit": "20MB", "temp_directory": ""})
    many = "(SELECT md5(range::VARCHAR) AS a FROM range(2_000_000) ORDER BY a)"

    with pytest.raises(Unreadable, match="needs more memory than it may take") as refused:
        read_table(home.sql(f"SELECT {cell} AS a FROM {many}"), LISTED)

    assert one_sentence(refused.value)
