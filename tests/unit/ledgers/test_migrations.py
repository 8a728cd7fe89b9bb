"""Ledgers of earlier versions: what they lack is made when they are opened, once, in each home."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from expost.errors import LedgerConflict
from expost.ledgers import tables
from expost.ledgers.book import Book, home_of, open_ledger
from expost.ledgers.file import foreign_parts
from expost.ledgers.proof import verify_ledger
from tests.unit.ledgers.steps import rho, run, step, totals

MORE = ("CREATE TABLE more (id INTEGER)", "ALTER TABLE splits ADD COLUMN seen TEXT")


def become_later(monkeypatch: pytest.MonkeyPatch, *statements: str) -> None:
    """The same program with one migration more."""
    later = (*tables.MIGRATIONS, statements)
    known = [sys.modules[f"expost.ledgers.{name}"] for name in ("tables", "file", "sqlite")]
    others = [sys.modules.get(f"expost.ledgers.{name}") for name in ("server", "postgres")]
    for module in (*known, *(each for each in others if each is not None)):
        monkeypatch.setattr(module, "MIGRATIONS", later)


def test_a_ledger_of_an_earlier_expost_goes_through_what_it_lacks_once(
    book: Book, ledger_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    step(run(book), "1/4")
    become_later(monkeypatch, *MORE)

    with ThreadPoolExecutor() as pool:
        books = list(pool.map(lambda _: open_ledger(ledger_name), range(4)))

    for each in books:
        with each.home.reading() as reading:
            assert reading.rows("SELECT * FROM more") == []
            assert reading.rows("SELECT seen FROM splits") == []
        assert totals(each)["spent"] == rho("1/4")
        assert verify_ledger(each.home).flaws == ()
        each.home.close()


def test_a_new_ledger_is_what_an_earlier_one_becomes(ledger_name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    become_later(monkeypatch, *MORE)
    with Book(home_of(ledger_name, create=True)) as book, book.home.reading() as reading:
        assert reading.rows("SELECT * FROM more") == []


@pytest.mark.parametrize("ledger_name", ["sqlite"], indirect=True)
@pytest.mark.usefixtures("book")
def test_a_migration_that_fails_leaves_a_file_as_it_was(ledger_name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = len(tables.MIGRATIONS)
    with monkeypatch.context() as later:
        become_later(later, MORE[0], "CREATE TABLE datasets (id INTEGER)")
        with pytest.raises(LedgerConflict, match="cannot be used"):
            open_ledger(ledger_name)

    with open_ledger(ledger_name) as again, again.home.reading() as reading:
        assert reading.rows("PRAGMA user_version") == [(before,)]
        assert foreign_parts(reading.rows, before) == []


@pytest.mark.parametrize("ledger_name", ["sqlite"], indirect=True)
def test_every_commit_to_a_file_waits_for_the_disk(book: Book) -> None:
    """What is set for a connection is lost with it: each one that is opened has it."""
    with book.home.reading() as reading:
        asked = {name: reading.rows(f"PRAGMA {name}")[0][0] for name in ("synchronous", "journal_mode", "foreign_keys")}

    assert asked == {"synchronous": 2, "journal_mode": "wal", "foreign_keys": 1}
