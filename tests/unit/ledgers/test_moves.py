"""A commit that was made and that its process did not hear of: it is looked up, and counted once."""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import final

import numpy as np
import pytest

from expost.errors import BudgetExceeded, LedgerConflict
from expost.ledgers.book import Book
from expost.ledgers.home import Cell, Change, Home, Row, Writing
from expost.ledgers.posting import Position, now
from expost.ledgers.proof import verify_ledger
from expost.ledgers.settling import settle
from expost.ledgers.shared import SharedRelease
from expost.noise import Integers, SystemNoise
from expost.private import Neighbours
from expost.statistic import Statistic, histogram
from tests.unit.ledgers.steps import entry, gaussian, hold, rho, run, step, totals

WARDS: Statistic[Integers] = histogram(lambda codes: codes, 4, Neighbours.ADD_REMOVE, name="wards")


@final
class Interrupted:
    """A home whose process is interrupted right after the commit of this number."""

    def __init__(self, home: Home, number: int, how: type[BaseException] = KeyboardInterrupt) -> None:
        self._home, self._number, self._how, self._commits = home, number, how, 0
        self.name, self.reading, self.flaws, self.close = home.name, home.reading, home.flaws, home.close

    @contextmanager
    def writing(self) -> Iterator[Writing]:
        """A transaction that is made, whether or not anybody is told."""
        with self._home.writing() as writing:
            yield writing
        self._commit()

    def enter(self, change: Change, entry: Row) -> bool:
        """A change that is made, whether or not anybody is told."""
        is_there = self._home.enter(change, entry)
        self._commit()
        return is_there

    def _commit(self) -> None:
        self._commits += 1
        if self._commits == self._number:
            raise self._how


@final
class Watched:
    """A home that notes what it is asked in transactions that write."""

    def __init__(self, home: Home) -> None:
        self._home, self.asked = home, list[str]()
        self.name, self.reading, self.flaws, self.close = home.name, home.reading, home.flaws, home.close
        self.enter = home.enter

    @contextmanager
    def writing(self) -> Iterator[Writing]:
        """A transaction whose queries are noted."""
        with self._home.writing() as writing:
            watching = Watching(writing, self.asked)
            yield watching
        watching.written = writing.written


@final
class Watching:
    """A transaction whose queries are noted."""

    def __init__(self, writing: Writing, asked: list[str]) -> None:
        self._writing, self._asked, self.written = writing, asked, 0
        self.soon, self.later = writing.soon, writing.later

    def rows(self, sql: str, *cells: Cell) -> list[Row]:
        """What a query finds."""
        self._asked.append(sql)
        return self._writing.rows(sql, *cells)


@pytest.mark.parametrize("cost", ["1/4", "1/8"])
def test_a_capture_that_was_interrupted_is_not_captured_once_more(book: Book, cost: str) -> None:
    interrupted = Book(Interrupted(book.home, 3))
    with pytest.raises(KeyboardInterrupt), run(interrupted) as begun:
        held = hold(begun, "1/4")
        begun.capture(held, gaussian(cost).as_spent())

    assert totals(book) == {"spent": rho(cost), "committed": rho(cost)}
    assert verify_ledger(book.home).holds


@pytest.mark.parametrize("how", [KeyboardInterrupt, LedgerConflict, MemoryError])
def test_an_interrupted_capture_is_not_repeated_and_the_run_may_go_on(book: Book, how: type[BaseException]) -> None:
    begun = run(Book(Interrupted(book.home, 3, how)))
    held = hold(begun, "1/4")
    with pytest.raises(how):
        begun.capture(held, gaussian("1/4").as_spent())

    with pytest.raises(LedgerConflict, match="captured before"):
        begun.capture(held, gaussian("1/4").as_spent())
    step(begun, "1/8")
    begun.close()

    assert totals(book) == {"spent": rho("3/8"), "committed": rho("3/8")}
    assert verify_ledger(book.home).holds


def test_an_interrupted_hold_covers_the_next_step(book: Book) -> None:
    begun = run(Book(Interrupted(book.home, 2)))
    with pytest.raises(KeyboardInterrupt):
        hold(begun, "1/2")

    step(begun, "1/8")
    begun.close()

    assert totals(book) == {"spent": rho("1/8"), "committed": rho("1/8")}
    assert verify_ledger(book.home).holds


def test_an_interrupted_reservation_returns_with_the_run(book: Book) -> None:
    begun = run(Book(Interrupted(book.home, 2)))
    with pytest.raises(KeyboardInterrupt):
        begun.reserve([gaussian("1/2")])

    begun.close()

    assert totals(book) == {"spent": rho(0), "committed": rho(0)}
    assert verify_ledger(book.home).holds


@pytest.mark.parametrize("commit", [3, 4])
def test_a_run_whose_end_was_interrupted_ends_once(book: Book, commit: int) -> None:
    begun = run(Book(Interrupted(book.home, commit)))
    hold(begun, "1/4")
    with pytest.raises(KeyboardInterrupt):
        begun.close()

    begun.close()

    assert totals(book) == {"spent": rho("1/4"), "committed": rho("1/4")}
    assert verify_ledger(book.home).holds


def test_a_run_that_was_settled_after_the_interrupt_is_over(book: Book) -> None:
    begun = run(Book(Interrupted(book.home, 2)))
    with pytest.raises(KeyboardInterrupt):
        hold(begun, "1/4")
    settle(book, begun.id)

    with pytest.raises(LedgerConflict, match="closed or settled"):
        hold(begun, "1/8")

    assert totals(book) == {"spent": rho("1/4"), "committed": rho("1/4")}
    assert verify_ledger(book.home).holds


def test_a_payload_that_was_stored_unheard_is_stored_once(book: Book) -> None:
    begun = run(Book(Interrupted(book.home, 3)), key="monday", request="counts")
    held = begun.hold(entry(), gaussian("1/4"))
    begun.keep('"the release"')
    with pytest.raises(KeyboardInterrupt):
        begun.capture(held, gaussian("1/4").as_spent())

    begun.close()

    assert begun.payload == '"the release"'
    assert run(book, key="monday", request="counts").payload == '"the release"'
    assert totals(book)["spent"] == rho("1/4")
    assert verify_ledger(book.home).holds


@pytest.mark.parametrize("commit", range(1, 8))
def test_whenever_a_refinement_is_interrupted_it_is_paid_once_and_seen_by_who_asks_again(
    book: Book, commit: int
) -> None:
    token, level, data = (
        book.add_analyst("visits", "ann", Fraction(1, 2)),
        Fraction(1, 1024),
        np.repeat(np.arange(4), 9),
    )
    with pytest.raises(KeyboardInterrupt):
        SharedRelease(Book(Interrupted(book.home, commit)), "visits", "by ward", WARDS, data).at(
            level, noise=SystemNoise(), token=token
        )

    again = SharedRelease(book, "visits", "by ward", WARDS, data)
    view = again.at(level, noise=SystemNoise(), token=token, wait=0)

    assert view.level == level
    assert totals(book) == {"spent": rho(level), "committed": rho(level)}
    assert totals(book, "analysts", "ann")["spent"] == rho(level)
    assert verify_ledger(book.home).holds


def test_an_entry_that_somebody_else_made_for_a_run_ends_it(book: Book) -> None:
    begun = run(book)
    step(begun, "1/8")
    with book.home.writing() as writing:
        Position.locked(writing, "visits").post(writing, "hold", "{}", run=begun.id, clock=now)

    with pytest.raises(LedgerConflict, match="more on record of this run than the run knows"):
        hold(begun, "1/8")


def test_what_a_run_knows_of_its_data_set_is_looked_up_anew_once_others_have_written(book: Book) -> None:
    begun, other = run(book), run(book)
    step(begun, "1/8")
    taken = hold(other, "3/4")

    with pytest.raises(BudgetExceeded):
        hold(begun, "1/2")

    other.capture(taken, gaussian("1/4").as_spent())
    step(begun, "1/2")
    step(begun, "1/16")
    assert totals(book) == {"spent": rho("15/16"), "committed": rho("15/16")}
    assert verify_ledger(book.home).holds


def test_a_cap_that_was_full_has_the_room_that_another_run_returned(book: Book) -> None:
    other, begun = run(book), run(book)
    hold(other, "3/4")
    step(begun, "1/8")
    settle(book, other.id, statement="the process was killed, and nobody saw anything")

    step(begun, "1/2")

    assert totals(book) == {"spent": rho("5/8"), "committed": rho("5/8")}
    assert verify_ledger(book.home).holds


def test_a_run_that_was_settled_between_two_of_its_entries_is_over(book: Book) -> None:
    begun = run(book)
    held = hold(begun, "1/8")
    settle(book, begun.id)

    with pytest.raises(LedgerConflict, match="closed or settled"):
        begun.capture(held, gaussian("1/8").as_spent())

    assert totals(book) == {"spent": rho("1/8"), "committed": rho("1/8")}
    assert verify_ledger(book.home).holds


def test_entries_in_a_row_are_made_without_looking_at_the_ledger(book: Book) -> None:
    watched = Watched(book.home)
    begun = run(Book(watched))
    step(begun, "1/8")
    watched.asked.clear()

    step(begun, "1/4")

    assert watched.asked == []
    assert totals(book)["spent"] == rho("3/8")
