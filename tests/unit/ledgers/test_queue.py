"""The queue before a data set on a server: who waits for what, and that it keeps nobody waiting for ever."""

import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest

from expost.ledgers.book import Book
from expost.ledgers.posting import Position
from expost.ledgers.proof import verify_ledger
from expost.ledgers.terms import zcdp_terms
from tests.server import Server
from tests.unit.ledgers.steps import rho, run, step, totals

postgres_home = pytest.importorskip("expost.ledgers.postgres", reason="psycopg is not installed")

WAITING = 4
STEPS = 20
SMALL = Fraction(1, 1024)
SECONDS = 20
LOCKS = "SELECT locktype FROM pg_locks WHERE NOT granted AND pg_backend_pid() <> pid"


@pytest.fixture
def url(postgres: Server) -> Iterator[str]:
    """The address of a new ledger with two data sets."""
    address = postgres.emptied()
    with Book(postgres_home.PostgresHome.create(address)) as book:
        for name in ("visits", "stays"):
            book.add(name, zcdp_terms(1))
    yield address
    with Book(postgres_home.PostgresHome(address)) as book:
        assert verify_ledger(book.home).flaws == ()


def charge(url: str, dataset: str = "visits", steps: int = 1) -> None:
    with Book(postgres_home.PostgresHome(url, wait=SECONDS)) as book, run(book, dataset) as begun:
        for _ in range(steps):
            step(begun, SMALL)


def waited_for(watcher: Book) -> Counter[object]:
    """What they wait for, once all of them wait."""
    until = time.monotonic() + SECONDS
    while True:
        with watcher.home.reading() as reading:
            found: Counter[object] = Counter(kind for (kind,) in reading.rows(LOCKS))
        if found.total() == WAITING:
            return found
        assert time.monotonic() < until, f"{found.total()} of {WAITING} wait"


def test_of_all_who_wait_for_a_data_set_one_waits_for_its_row(url: str) -> None:
    """The others would all be woken by each change of the row, and wait again."""
    with (
        Book(postgres_home.PostgresHome(url)) as book,
        Book(postgres_home.PostgresHome(url)) as watcher,
        ThreadPoolExecutor() as pool,
    ):
        with book.home.writing() as writing:
            writing.rows("SELECT 1 FROM datasets{lock}")  # as an entry does that is made without the queue
            charges = [pool.submit(charge, url) for _ in range(WAITING)]

            found = waited_for(watcher)

        assert found == {"transactionid": 1, "advisory": WAITING - 1}
        for each in charges:
            each.result()
        assert totals(book)["spent"] == rho(SMALL * WAITING)


def test_a_data_set_is_not_waited_for_by_those_of_another(url: str) -> None:
    with Book(postgres_home.PostgresHome(url)) as book:
        with book.home.writing() as writing:
            Position.locked(writing, "visits")

            charge(url, "stays")

        assert totals(book, name="stays")["spent"] == rho(SMALL)


def test_data_sets_whose_names_have_one_hash_are_charged_at_once(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one_hash = "SELECT pg_advisory_xact_lock(1702391924, length(left(CAST(? AS TEXT), 1)))"
    monkeypatch.setattr(postgres_home, "QUEUE", one_hash)

    with ThreadPoolExecutor(WAITING) as pool:
        charges = [pool.submit(charge, url, name, STEPS) for name in ("visits", "stays") for _ in range(WAITING // 2)]
        for each in charges:
            each.result()

    with Book(postgres_home.PostgresHome(url)) as book:
        for name in ("visits", "stays"):
            assert totals(book, name=name)["spent"] == rho(SMALL * STEPS * WAITING / 2)


def test_who_holds_a_data_set_may_lock_it_again(url: str) -> None:
    with Book(postgres_home.PostgresHome(url)) as book, book.home.writing() as writing:
        first = Position.locked(writing, "visits")

        assert Position.locked(writing, "visits") == first
