"""Runs that were left open: what they hold is returned on a written statement, or counts in full, and they are over."""

import json
import os
from fractions import Fraction
from pathlib import Path

import pytest

from expost.errors import InvalidValue, LedgerConflict
from expost.ledgers.amounts import as_fraction
from expost.ledgers.book import Book, home_of
from expost.ledgers.overview import overviews
from expost.ledgers.proof import verify_ledger
from expost.ledgers.settling import settle, unsettled
from expost.ledgers.terms import zcdp_terms
from tests.unit.ledgers.examples import begun, cost, held, spend


@pytest.fixture
def book(tmp_path: Path) -> Book:
    book = Book(home_of(str(tmp_path / "ledger.db"), create=True))
    book.add("visits", zcdp_terms(1))
    return book


def totals(book: Book) -> tuple[Fraction, Fraction]:
    (found,) = overviews(book.home)
    return as_fraction(found.account.spent[0]), as_fraction(found.account.committed[0])


def test_a_run_that_is_open_is_listed_with_where_it_is_and_what_it_holds(book: Book) -> None:
    token = book.add_analyst("visits", "Ana", 1)
    run = begun(book, "visits", "a table", token=token)
    spend(run, "1/8", most="1/2")
    begun(book, "visits", "done").close()

    (found,) = unsettled(book)

    assert (found.id, found.dataset, found.what, found.analyst) == (run.id, "visits", "a table", "Ana")
    assert (found.host, found.process, found.is_gone) == (os.uname().nodename, os.getpid(), False)
    assert as_fraction(found.spent[0]) == as_fraction(found.committed[0]) == Fraction(1, 8)
    assert found.since <= found.latest


def test_a_process_that_has_ended_is_known_to_be_gone(book: Book) -> None:
    child = os.fork()
    if not child:
        with Book(home_of(book.home.name)) as own:
            begun(own, "visits")
            os._exit(0)
    os.waitpid(child, 0)

    (found,) = unsettled(book)

    assert (found.process, found.is_gone) == (child, True)


def test_a_statement_returns_what_is_held_and_is_on_record(book: Book) -> None:
    run = begun(book, "visits")
    spend(run, "1/8")
    held(run, "1/2")

    entered = settle(book, run.id[:6], statement="the power failed")

    assert totals(book) == (Fraction(1, 8), Fraction(1, 8))
    assert json.loads(entered.body)["statement"] == "the power failed"
    assert unsettled(book) == []
    assert verify_ledger(book.home).holds


def test_without_a_statement_it_counts_as_spent(book: Book) -> None:
    run = begun(book, "visits")
    spend(run, "1/8")
    held(run, "1/2")

    settle(book, run.id)

    assert totals(book) == (Fraction(5, 8), Fraction(5, 8))
    assert verify_ledger(book.home).holds


def test_a_run_that_was_settled_captures_nothing_more(book: Book) -> None:
    """Its process may still be at work: the value must not leave."""
    run = begun(book, "visits")
    hold = held(run, "1/2")
    settle(book, run.id, statement="I thought that it was dead")

    with pytest.raises(LedgerConflict, match="closed or settled"):
        run.capture(hold, cost("1/2").as_spent())

    assert totals(book) == (Fraction(0), Fraction(0))


def test_nothing_is_returned_twice(book: Book) -> None:
    run = begun(book, "visits")
    held(run, "1/2")
    settle(book, run.id, statement="the power failed")

    with pytest.raises(LedgerConflict, match="no open run"):
        settle(book, run.id, statement="it failed again")
    with pytest.raises(LedgerConflict, match="closed or settled"):
        run.close()

    assert totals(book) == (Fraction(0), Fraction(0))


def test_an_analyst_gets_back_what_a_settled_run_held(book: Book) -> None:
    token = book.add_analyst("visits", "Ana", 0.5)
    held(begun(book, "visits", token=token), "1/2")
    settle(book, unsettled(book)[0].id, statement="the power failed")

    with begun(book, "visits", token=token) as run:
        spend(run, "1/2")

    assert totals(book) == (Fraction(1, 2), Fraction(1, 2))


@pytest.mark.parametrize("name", ["", "abc", "zzzz"])
def test_a_run_that_is_not_named_is_refused(book: Book, name: str) -> None:
    begun(book, "visits")

    with pytest.raises(LedgerConflict, match="no open run begins with"):
        settle(book, name)


def test_two_runs_that_begin_alike_are_told_apart(book: Book) -> None:
    names: list[str] = []
    while len({name[:1] for name in names}) == len(names):
        names.append(begun(book, "visits").id)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("expost.ledgers.settling.SHORTEST", 1)
        with pytest.raises(LedgerConflict, match="more than one open run"):
            settle(book, names[-1][:1])


@pytest.mark.parametrize("statement", ["", "  ", "x" * 2001, "tu\udce9 par manque de m\udce9moire"])
def test_a_statement_says_something(book: Book, statement: str) -> None:
    with pytest.raises(InvalidValue, match="statement"):
        settle(book, begun(book, "visits").id, statement=statement)


def test_several_steps_that_did_not_finish_are_captured_in_full_when_a_run_closes(book: Book) -> None:
    with begun(book, "visits") as run:
        held(run, "1/8")
        held(run, "1/4")

    assert totals(book) == (Fraction(3, 8), Fraction(3, 8))
    assert verify_ledger(book.home).holds
