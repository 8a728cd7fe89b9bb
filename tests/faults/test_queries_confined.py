"""A query reads the Parquet files that it names and does nothing else; what DuckDB spills stays private and goes."""

import io
import os
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import polars as pl
import pytest

from expost.errors import InvalidValue, Unreadable
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.source import spill
from expost.tabular.source.reading import read_table
from tests.unit.examples import ADD, one_sentence

SCHEMA = Schema((Integer("a", (1, 2, 3), Missing.FALLBACK),), True, ADD)
SPILLS = """
import sys, time
from expost.tabular.source.home import connection
home = connection()
home.execute("SET memory_limit = '40MB'")
home.execute("SET threads = 1")
home.execute("CREATE TABLE t AS SELECT random() AS a, repeat('secret', 20) || range AS b FROM range(1000000)")
print("spilled", flush=True)
if "wait" in sys.argv:
    time.sleep(60)
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two tables, to work in."""
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "t.parquet")
    pl.DataFrame({"a": [2]}).write_parquet(tmp_path / "other.parquet")
    (tmp_path / "t.csv").write_text("a\n1\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


STATEMENTS = [
    "COPY (SELECT * FROM 't.parquet') TO 'stolen.csv'",
    "EXPORT DATABASE 'stolen'",
    "ATTACH 'stolen.db' AS stolen",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "PRAGMA version",
    "CREATE TABLE t AS SELECT 1 AS a",
    "EXPLAIN SELECT 1 AS a",
    "SELECT * FROM 't.parquet'; COPY (SELECT 1) TO 'stolen.csv'",
    "COPY (SELECT 1) TO 'stolen.csv'; SELECT * FROM 't.parquet'",
    "",
]


@pytest.mark.parametrize("sql", STATEMENTS)
def test_a_statement_that_is_not_one_select_is_refused_and_leaves_nothing(sql: str, here: Path) -> None:
    before = {*here.iterdir()}

    with pytest.raises(InvalidValue, match="not one SELECT") as refused:
        read_table(f"duckdb:{sql}", SCHEMA)

    assert one_sentence(refused.value)
    assert {*here.iterdir()} == before


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 AS a FROM glob('*')",
        "SELECT 1 AS a FROM read_text('t' || '.csv')",
        "SELECT a FROM read_parquet('oth' || 'er.parquet')",
        "SELECT a FROM '*.parquet'",
        "SELECT a FROM 'http://localhost/t.parquet'",
        "SELECT 1 AS a FROM duckdb_secrets()",
        "SELECT * FROM query('COPY (SELECT 1 AS a) TO ''stolen.csv''')",
    ],
)
def test_a_select_reaches_no_file_that_it_does_not_name(sql: str, here: Path) -> None:
    before = {*here.iterdir()}

    with pytest.raises(Unreadable):
        read_table(f"duckdb:{sql}", SCHEMA)

    assert {*here.iterdir()} == before


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM 't.parquet'",
        "FROM './t.parquet';",
        "SELECT a FROM read_parquet(['t.parquet']) -- it''s",
        'WITH one AS (SELECT a FROM "t.parquet") SELECT max(a) AS a FROM one',
        "SELECT a FROM 'q''uote é.parquet'",
    ],
)
def test_a_select_reads_the_files_that_it_names(sql: str, here: Path) -> None:
    (here / "q'uote é.parquet").write_bytes((here / "t.parquet").read_bytes())

    assert read_table(f"duckdb:{sql}", SCHEMA).codes("a").tolist() == [0]


def test_a_connection_that_is_not_confined_does_what_is_refused(here: Path) -> None:
    """The same statement, on a plain connection, writes the file."""
    duckdb.connect().execute(STATEMENTS[0])

    assert (here / "stolen.csv").exists()


def parquet(value: int) -> bytes:
    """A table of one value."""
    written = io.BytesIO()
    pl.DataFrame({"a": [value]}).write_parquet(written)
    return written.getvalue()


def csv(value: int) -> bytes:
    """The same, as text."""
    return f"a\n{value}\n".encode()


@pytest.mark.parametrize("name", ["[2]/t.parquet", "[2]/t.csv", "t*.parquet", "t?.csv", "{a,b}.parquet", "a'b.parquet"])
def test_a_name_is_a_name_and_never_a_pattern(name: str, here: Path) -> None:
    write = parquet if name.endswith("parquet") else csv
    for path, value in ((f"2/{Path(name).name}", 2), (f"t1{Path(name).suffix}", 2), (name, 1)):
        (here / path).parent.mkdir(exist_ok=True)
        (here / path).write_bytes(write(value))

    assert read_table(name, SCHEMA).codes("a").tolist() == [0]


def spills(folder: Path) -> list[Path]:
    """The folders of spilled rows."""
    return [*folder.glob(f"{spill.MARK}-*")]


def spilling(folder: Path, *words: str) -> subprocess.Popen[str]:
    """A process whose rows do not fit into memory, with this folder for temporary files."""
    return subprocess.Popen(
        [sys.executable, "-c", SPILLS, *words],
        env={**os.environ, "TMPDIR": str(folder)},
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_spilled_rows_lie_where_only_their_owner_can_enter_and_go_with_the_process(tmp_path: Path) -> None:
    with spilling(tmp_path, "wait") as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "spilled\n"
        (folder,) = tmp_path.iterdir()
        rows, mode = [*folder.iterdir()], stat.S_IMODE(folder.stat().st_mode)
        running.send_signal(signal.SIGINT)

    assert rows
    assert mode == 0o700
    assert [*tmp_path.iterdir()] == []


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path: Path) -> None:
    with spilling(tmp_path, "wait") as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "spilled\n"
        running.kill()
    assert len(spills(tmp_path)) == 1

    with spilling(tmp_path):
        pass

    assert spills(tmp_path) == []


def test_what_a_living_process_spilled_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made = spill.spill_folder.__wrapped__
    here, living = made(os.getpid()), made(os.getppid())

    assert here in spills(tmp_path)
    assert living in spills(tmp_path)
    assert made(os.getpid()) != here
    assert {here, living} <= {*spills(tmp_path)}
