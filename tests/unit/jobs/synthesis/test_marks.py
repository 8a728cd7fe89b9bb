"""Marks of checks: found by schema and name, blind to what the table holds, and never in anybody's way."""

import stat
import tempfile
from pathlib import Path

import pytest

from expost.jobs.synthesis import marks
from expost.jobs.synthesis.marks import marks_of, note_checked, was_checked
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Boolean
from expost.tabular.schema.schema import Schema
from tests.unit.commands import run
from tests.unit.examples import ADD

SCHEMA = Schema((Boolean("a", Missing.DROP),), True, ADD)
OTHER = Schema((Boolean("a", Missing.CATEGORY),), True, ADD)


@pytest.fixture
def form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "a.csv").write_text("a\ntrue\n", encoding="utf-8")
    (tmp_path / "form.toml").write_text(SCHEMA.dumps(), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "form.toml"


def test_a_mark_is_for_one_schema_and_one_table_by_any_path(form: Path) -> None:
    note_checked("a.csv", SCHEMA, form)

    assert was_checked("a.csv", SCHEMA, form)
    assert was_checked(str(form.with_name("a.csv")), SCHEMA, Path("form.toml"))
    assert not was_checked("b.csv", SCHEMA, form)
    assert not was_checked("a.csv", OTHER, form)
    assert not was_checked("duckdb:SELECT 1", SCHEMA, form)


def test_marks_add_up_and_one_is_left_once(form: Path) -> None:
    for source in ("a.csv", "duckdb:SELECT 1", "a.csv"):
        note_checked(source, SCHEMA, form)

    assert len(marks_of(form).read_text(encoding="utf-8").splitlines()) == 3
    assert was_checked("duckdb:SELECT 1", SCHEMA, form)


def test_a_mark_holds_the_same_for_every_content_of_the_table(form: Path) -> None:
    note_checked("a.csv", SCHEMA, form)
    before = marks_of(form).read_bytes()
    form.with_name("a.csv").write_text("a\nfalse\nfalse\n", encoding="utf-8")
    marks_of(form).unlink()

    note_checked("a.csv", SCHEMA, form)

    assert marks_of(form).read_bytes() == before


def test_only_the_owner_can_read_a_mark(form: Path) -> None:
    note_checked("a.csv", SCHEMA, form)

    assert stat.S_IMODE(marks_of(form).stat().st_mode) == 0o600


def test_the_oldest_marks_go_first(form: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marks, "MOST_MARKS", 2)

    for source in ("a.csv", "b.csv", "c.csv"):
        note_checked(source, SCHEMA, form)

    assert [was_checked(source, SCHEMA, form) for source in ("a.csv", "b.csv", "c.csv")] == [False, True, True]


@pytest.mark.parametrize("content", [b"mine\n", b"\xff", b"", b"x" * (2**20 + 1)])
def test_a_file_of_somebody_else_is_left_alone_and_the_check_says_so(content: bytes, form: Path) -> None:
    marks_of(form).write_bytes(content)

    result = run("check", "a.csv", "--schema", "form.toml")

    assert result.exit_code == 0
    assert result.stderr == (
        "expost: form.toml.checked could not be written (there is a file of that name that expost did not write); a "
        "run will say that the table was not checked.\n"
    )
    assert marks_of(form).read_bytes() == content
    assert not was_checked("a.csv", SCHEMA, form)


def test_a_check_tells_where_no_mark_can_be_written(form: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*words: object, **settings: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "mkstemp", full)

    result = run("check", "a.csv", "--schema", "form.toml")

    assert "could not be written (No space left on device); a run will say" in result.stderr
    assert {path.name for path in form.parent.iterdir()} == {"a.csv", "form.toml"}


def test_a_mark_of_a_refused_check_is_not_left(form: Path) -> None:
    form.with_name("a.csv").write_text("a\n1,2\n", encoding="utf-8")

    assert run("check", "a.csv", "--schema", "form.toml").exit_code == 2
    assert not marks_of(form).exists()
