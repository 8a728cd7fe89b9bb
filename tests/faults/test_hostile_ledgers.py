"""A ledger that somebody prepared: a file that acts by itself, that has two names, or that means to keep us busy."""

import base64
import os
import sqlite3
import subprocess
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from expost.errors import LedgerConflict, Unreadable
from expost.ledgers.book import init_ledger, open_ledger
from expost.ledgers.overview import overviews
from expost.ledgers.proof import verify_ledger
from expost.ledgers.settling import unsettled
from expost.ledgers.terms import zcdp_terms
from expost.ledgers.views import view_in
from tests.unit.ledgers.steps import rho, run, step, totals

DEAF = "CREATE TRIGGER deaf BEFORE UPDATE ON datasets BEGIN SELECT RAISE(IGNORE); END"
"""Whatever is counted is forgotten, and whoever counts it is not told."""
ACTS = {
    "a trigger": (DEAF,),
    "a table that is a view": ("ALTER TABLE seen RENAME TO hidden", "CREATE VIEW seen AS SELECT * FROM hidden"),
    "a view": ("CREATE VIEW more AS SELECT * FROM runs",),
    "a table with other rules": (
        "DROP TABLE seen",
        "CREATE TABLE seen (release TEXT, analyst TEXT, level TEXT DEFAULT '0')",
    ),
    "a missing table": ("DROP TABLE seen",),
    "an index of its own": ("CREATE INDEX more ON entries (lower(body))",),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    init_ledger(tmp_path / "ledger.db", "visits", zcdp_terms(1)).home.close()
    return tmp_path / "ledger.db"


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


@pytest.mark.parametrize("statements", ACTS.values(), ids=ACTS)
def test_a_file_that_acts_by_itself_is_not_opened(path: Path, statements: tuple[str, ...]) -> None:
    change(path, *statements)

    with pytest.raises(LedgerConflict, match="that expost did not make"):
        open_ledger(path)


def test_a_file_that_is_changed_while_it_is_open_is_noticed_by_who_looks(path: Path) -> None:
    with open_ledger(path) as book:
        step(run(book), "1/8")
        change(path, DEAF)

        (flaw, *_) = verify_ledger(book.home).flaws

    assert "that expost did not make" in flaw


def test_tables_of_others_and_what_sqlite_notes_for_itself_are_left_alone(path: Path) -> None:
    change(path, "CREATE TABLE of_a_backup (id INTEGER)", "ANALYZE")

    with open_ledger(path) as book:
        step(run(book), "1/8")


def test_a_ledger_with_two_names_would_have_two_logs_and_is_refused(path: Path) -> None:
    """What a process that died wrote under one name is not there under the other."""
    child = os.fork()
    if not child:
        step(run(open_ledger(path)), "3/4")
        os._exit(0)
    os.waitpid(child, 0)
    other = path.with_name("other.db")
    os.link(path, other)

    for name in (path, other):
        with pytest.raises(LedgerConflict, match="has several names"):
            open_ledger(name)
    other.unlink()
    with open_ledger(path) as book:
        assert totals(book)["spent"] == rho("3/4")


def test_a_second_name_that_is_given_while_a_ledger_is_open_is_noticed(path: Path) -> None:
    with open_ledger(path) as book:
        begun = run(book)
        os.link(path, path.with_name("other.db"))

        with pytest.raises(LedgerConflict, match="second name"):
            step(begun, "1/8")


@pytest.fixture
def mounted(path: Path, tmp_path: Path) -> Iterator[Path]:
    """The file of the ledger in a folder of its own, as in a container that was given the file alone."""
    place = tmp_path / "in a container" / "ledger.db"
    place.parent.mkdir()
    place.touch()
    if subprocess.run(["mount", "--bind", str(path), str(place)], capture_output=True, check=False).returncode:
        pytest.skip("a file cannot be mounted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_ledger_that_is_mounted_without_its_folder_would_have_a_log_elsewhere_and_is_refused(
    path: Path, mounted: Path
) -> None:
    """What a process that died wrote there would not be counted where the ledger is."""
    with pytest.raises(LedgerConflict, match="mounted without its folder"):
        open_ledger(mounted)
    (mounted.parent / "link.db").symlink_to(mounted)
    with pytest.raises(LedgerConflict, match="mounted without its folder"):
        open_ledger(mounted.parent / "link.db")
    with open_ledger(path) as book:
        step(run(book), "1/8")


def test_a_ledger_whose_folder_is_mounted_is_opened(path: Path, tmp_path: Path) -> None:
    place = tmp_path / "in a container"
    place.mkdir()
    (tmp_path / "ledgers").mkdir()
    path.rename(tmp_path / "ledgers" / "ledger.db")
    if subprocess.run(
        ["mount", "--bind", str(tmp_path / "ledgers"), str(place)], capture_output=True, check=False
    ).returncode:
        pytest.skip("a folder cannot be mounted here")

    with open_ledger(place / "ledger.db") as book:
        step(run(book), "1/8")

    subprocess.run(["umount", "-l", str(place)], check=True)
    with open_ledger(tmp_path / "ledgers" / "ledger.db") as book:
        assert totals(book)["spent"] == rho("1/8")


def test_what_a_killed_init_left_is_cleared_away(path: Path) -> None:
    os.link(path, path.with_name(f".{path.name}.{'0' * 32}"))

    with open_ledger(path) as book:
        step(run(book), "1/8")

    assert [each.name for each in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("end", ["-wal", "-shm", "-journal"])
def test_a_new_ledger_takes_nothing_over_from_one_whose_file_is_gone(tmp_path: Path, end: str) -> None:
    path = tmp_path / "ledger.db"
    child = os.fork()
    if not child:
        step(run(init_ledger(path, "visits", zcdp_terms(100))), "3/4")
        os._exit(0)
    os.waitpid(child, 0)
    path.unlink()
    for other in {"-wal", "-shm"} - {end}:
        Path(f"{path}{other}").unlink()
    Path(f"{path}{end}").touch()

    with pytest.raises(LedgerConflict, match="left of a ledger whose file is gone"):
        init_ledger(path, "visits", zcdp_terms(1))

    assert not path.exists()


def test_a_link_to_a_ledger_is_the_ledger(path: Path) -> None:
    link = path.with_name("link.db")
    link.symlink_to(path.name)

    with open_ledger(link) as book, open_ledger(path) as other:
        step(run(book), "3/4")
        step(run(other), "1/8")

        assert totals(book) == totals(other)
        assert totals(book)["spent"] == rho("7/8")


@pytest.mark.parametrize("identity", ["x'61'", "NULL"])
def test_a_run_without_a_readable_identity_is_found_and_keeps_nobody_busy(path: Path, identity: str) -> None:
    with open_ledger(path) as book:
        step(run(book), "1/8")
    row = "INSERT INTO runs (id, dataset, what, opened, begun, state) VALUES "
    change(path, f"{row} ({identity}, 1, 'a run', '', 2, 'open')")

    with open_ledger(path) as book:
        assert not verify_ledger(book.home).holds
        with pytest.raises(Unreadable, match="changed by another program"):
            unsettled(book)


@pytest.mark.parametrize("cap", ["10000000", "0", "1/1000000000000000"])
def test_a_cap_that_nobody_could_have_given_is_not_taken_for_what_was_typed(path: Path, cap: str) -> None:
    change(path, f'UPDATE datasets SET terms = replace(terms, \'"cap":"1"\', \'"cap":"{cap}"\')')

    with open_ledger(path) as book:
        for look in (lambda: overviews(book.home), lambda: run(book)):
            with pytest.raises(Unreadable, match="changed by another program"):
                look()


FORGED = {
    "not a number": '{"values": [NaN], "shape": [1], "precision": "1"}',
    "a number too large": f'{{"values": [1{"0" * 400}], "shape": [1], "precision": "1"}}',
    "an endless side": '{"values": [1], "shape": [1e999], "precision": "1"}',
    "a side too many": '{"values": [1, 2], "shape": [3], "precision": "1"}',
    "no precision": '{"values": [1], "shape": [1], "precision": "0"}',
    "a precision of nothing": '{"values": [1], "shape": [1], "precision": "1/0"}',
    "a precision that takes for ever": '{"values": [1], "shape": [1], "precision": "1e99999999"}',
    "a deep list": "[" * 100_000,
    "something else": '{"values": [1], "shape": [1], "precision": "1", "more": 1}',
}


@pytest.mark.parametrize("told", FORGED.values(), ids=FORGED)
def test_a_forged_view_is_refused_at_once(told: str) -> None:
    with pytest.raises(Unreadable, match="cannot be read"):
        view_in("1/2", base64.b85encode(zlib.compress(told.encode())).decode())


@pytest.mark.parametrize("level", ["1e99999999", "1/0", "", "nan"])
def test_a_forged_level_is_refused_at_once(level: str) -> None:
    whole = '{"values": [1], "shape": [1], "precision": "1"}'
    with pytest.raises(Unreadable, match="cannot be read"):
        view_in(level, base64.b85encode(zlib.compress(whole.encode())).decode())
