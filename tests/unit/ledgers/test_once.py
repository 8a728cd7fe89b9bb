"""Releases under a key: made and billed once, and given back ever after."""

from pathlib import Path

import numpy as np
import pytest

from expost.accounting.claim import Budget
from expost.errors import LedgerConflict
from expost.ledgers.book import Book, home_of
from expost.ledgers.once import release_once
from expost.ledgers.posting import Position
from expost.ledgers.settling import settle
from expost.ledgers.terms import order_terms
from expost.mechanisms.gaussian import Gaussian, Measurement
from expost.noise import Integers, SystemNoise
from expost.numerics import Real
from expost.private import Neighbours, Private
from expost.statistic import Statistic, histogram
from expost.text import Json

WARDS: Statistic[Integers] = histogram(lambda codes: codes, 4, Neighbours.ADD_REMOVE, name="wards")


@pytest.fixture
def book(tmp_path: Path) -> Book:
    made = Book(home_of(str(tmp_path / "ledger.db"), create=True))
    made.add("visits", order_terms(1, alpha=8))
    return made


def encode(measurement: Measurement) -> Json:
    return measurement.values.tolist()  # type: ignore[no-any-return] # a list of floats


def decode(found: Json) -> Measurement:
    return Measurement(np.asarray(found, dtype=np.float64), Gaussian(WARDS).variance(Budget.of(0.1, alpha=8)))


def ask(book: Book, key: str, epsilon: Real = 0.1) -> list[float]:
    data, budget = Private(np.arange(4)), Budget.of(epsilon, alpha=8)
    made = release_once(
        book, "visits", Gaussian(WARDS), data, budget, key=key, encode=encode, decode=decode, noise=SystemNoise()
    )
    return list(made.values)


def spent(book: Book) -> float:
    with book.home.reading() as reading:
        account = Position.locked(reading, "visits")
    assert account.spent == account.committed
    return account.terms.stated(account.spent)


def test_the_same_key_returns_the_same_release_at_no_cost(book: Book) -> None:
    first = ask(book, "monday")
    bill = spent(book)

    assert ask(book, "monday") == first
    assert spent(book) == bill == pytest.approx(0.1)


def test_another_key_is_another_release(book: Book) -> None:
    ask(book, "monday")
    ask(book, "tuesday")

    assert spent(book) == pytest.approx(0.2)


def test_another_request_under_a_used_key_is_refused(book: Book) -> None:
    ask(book, "monday")

    with pytest.raises(LedgerConflict, match="another request"):
        ask(book, "monday", 0.05)
    assert spent(book) == pytest.approx(0.1)


def test_a_key_of_a_crashed_run_stays_used_and_the_sentence_says_so(book: Book) -> None:
    """To settle its run gives back what is held, and not the key."""
    crashed = book.begin("visits", "Gaussian", key="monday", request="one")

    with pytest.raises(LedgerConflict, match="has not ended; if its process is dead, settle it, and use a new key"):
        book.begin("visits", "Gaussian", key="monday", request="one")
    settle(book, crashed.id, statement="the machine lost its power")
    with pytest.raises(LedgerConflict, match="ended without a stored release, and the key stays used; use a new key"):
        book.begin("visits", "Gaussian", key="monday", request="one")


def test_a_key_whose_run_never_ended_is_refused(book: Book) -> None:
    book.begin("visits", "Gaussian", key="monday", request="something")

    with pytest.raises(LedgerConflict, match="another request"):
        ask(book, "monday")
