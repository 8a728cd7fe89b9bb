"""What the page on large tables shows of DuckDB and PostgreSQL runs as it stands, but for the options left out."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
from click.testing import CliRunner

from expost.cli import main
from expost.tabular.schema.schema import Schema
from expost.tabular.source.reading import read_table
from tests.unit.tabular.homes import attaching

if TYPE_CHECKING:
    from tests.server import Server

PAGE = (Path(__file__).parents[4] / "docs/large-tables.md").read_text(encoding="utf-8")
(SECTION,) = re.findall(r"^## From DuckDB\n(.*?)^## ", PAGE, re.DOTALL | re.MULTILINE)
(FIRST,) = re.findall(r"^```sh\n(.*?)^```", PAGE.partition("\n## ")[0], re.DOTALL | re.MULTILINE)
SHELL, EXPORT = re.findall(r"^```sh\n(.*?)^```", SECTION, re.DOTALL | re.MULTILINE)
(CODE,) = re.findall(r"^```python\n(.*?)^```", SECTION, re.DOTALL | re.MULTILINE)
DECLARED = """
reviewed = true
neighbours = "add-remove"
[[column]]
name = "country"
kind = "categorical"
values = ["CH", "FR"]
missing = true
[[column]]
name = "region"
kind = "categorical"
values = ["a", "b"]
missing = true
[[column]]
name = "returned"
kind = "boolean"
missing = false
"""
ROWS = """SELECT CASE WHEN i % 2 = 0 THEN 'CH' ELSE 'FR' END AS country,
CASE WHEN i % 4 < 2 THEN 'a' ELSE 'b' END AS region, i % 2 = 0 AS returned FROM range(4000) AS t(i)"""
FOR_POSTGRESQL = ROWS.replace("range(4000)", "generate_series(0, 3999)")
LEFT_OUT = {
    "synth": ["--target", "returned", "--accuracy", "0.6", "--estimator", "model", "--rows", "100"],
    "ask": ["--within", "100"],
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the page names."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    for name in ("schema.toml", "events.toml"):
        (tmp_path / name).write_text(DECLARED, encoding="utf-8")
    with duckdb.connect("warehouse.duckdb") as home:
        home.execute(f"CREATE TABLE events AS {ROWS}")
        for name in ("data/one", "data/two", "2024", "2025", "events"):
            home.execute(f"COPY events TO '{name}.parquet'")
    return tmp_path


def words_of(line: str) -> list[str]:
    """The words of a command, with quotes as a shell reads them."""
    return [quoted or bare for quoted, bare in re.findall(r'"([^"]*)"|(\S+)', line)]


@pytest.mark.parametrize("line", FIRST.splitlines())
def test_the_first_commands_run(here: Path, line: str) -> None:
    program, *words = words_of(line)
    assert program == "expost"

    quick = ["--estimator", "model", "--rows", "100"] if words[0] == "synth" else []
    done = CliRunner().invoke(main, [*words, *quick])

    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("line", SHELL.splitlines())
def test_the_commands_run(here: Path, line: str) -> None:
    program, job, *words, rest = words_of(line)
    assert (program, rest) == ("expost", "...")

    done = CliRunner().invoke(main, [job, *words, *LEFT_OUT[job], "--schema", "schema.toml", "--out", "out"])

    assert done.exit_code == 0, done.output


def test_the_code_runs(here: Path) -> None:
    (here / "private").mkdir(mode=0o700)
    names: dict[str, Any] = {"schema": Schema.load(DECLARED), "private": here / "private"}

    exec(CODE, names)

    told = {str(row[0]): row[1] for row in names["answer"].table.fetchall()}
    assert {country: abs(estimate - 2000) < 100 for country, estimate in told.items() if country in "CH FR"} == {
        "CH": True, "FR": True,
    }  # fmt: skip


@pytest.mark.skipif(shutil.which("psql") is None, reason="psql is not installed; install Debian's postgresql-client.")
def test_what_postgresql_writes_is_read(here: Path, postgres: "Server") -> None:
    for sql in ("DROP DATABASE IF EXISTS warehouse", "CREATE DATABASE warehouse"):
        postgres.execute(sql)
    postgres.execute(f"CREATE TABLE events AS {FOR_POSTGRESQL}", "warehouse")
    role, folder = re.findall(r"//(\w+)@/warehouse\?host=(.+)", postgres.url("warehouse"))[0]

    subprocess.run(EXPORT, shell=True, check=True, env={**os.environ, "PGUSER": role, "PGHOST": folder})

    read, table = (read_table(source, Schema.load(DECLARED)) for source in ("events.csv", "data/one.parquet"))
    assert read.same_records(table)


def test_an_attached_postgresql_is_read(here: Path, request: pytest.FixtureRequest) -> None:
    (named,) = re.findall(r"`home\.table\(\"(.*?)\"\)`", SECTION)
    home = attaching(request)
    home.execute(f"CREATE TABLE {named} AS {ROWS}")

    read = read_table(home.table(named), Schema.load(DECLARED))

    assert read.same_records(read_table("data/one.parquet", Schema.load(DECLARED)))
