"""A hold and its capture on a lasting ledger, beside one plain INSERT that is committed as durably.

Both homes are measured: a SQLite file, and a PostgreSQL server that is started here, on the disk of temporary files.
Charges and plain INSERTs take turns, so that a busy disk slows both alike; measure on an idle machine, since a busy
disk hides what the processor does. A charge is one hold and one capture, each with a commit of its own: every step
promises more than the one before it, so that nothing held earlier covers it. Where steps are alike, a capture holds the
next step as well, so that a charge has one commit; that is measured apart, as equal steps. Growth is the time of a
charge on a ledger with a million entries of earlier runs over that on one with few, again in turns; by the owner, who
alone writes and so need not look at the ledger, and by an analyst, who looks each time.
"""

import multiprocessing
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from functools import cache
from itertools import chain, cycle, product
from multiprocessing.sharedctypes import Synchronized
from multiprocessing.synchronize import Barrier, Event
from pathlib import Path
from statistics import median, quantiles
from typing import TypeAlias
from uuid import uuid4

import psycopg
from tests.server import server

from benchmarks.harness import Progress
from expost.accounting.claim import Promise
from expost.accounting.curve import Linear
from expost.ledger import Entry
from expost.ledgers.book import Book, home_of
from expost.ledgers.overview import overviews
from expost.ledgers.run import LedgerRun
from expost.ledgers.terms import epsilon_terms

Action: TypeAlias = Callable[[], object]

CHARGES = 2000
PROCESSES = 8
SECONDS = 5.0
PAST = 10**6
OF_ONE_RUN, AT_ONCE, FIRST = 10, 10_000, 100
"""Entries of each of the earlier runs and of each transaction that writes them, and the number of the first one."""
SHOWN = 7
RHO = Fraction(1, 10**12)
RISING = 20_000
"""Steps that each promise more than the one before."""
STEP = Entry("gaussian", "data", "differ in one record", seeded=False, floating=False, facts={"sigma": "3"})
PLAIN = "INSERT INTO plain (body) VALUES ('a line of some length, as one would write it to a plain table')"

EARLIER = "INSERT INTO runs (id, dataset, what, opened, begun, state) VALUES (?, 1, 'an earlier run', ?, 2, 'closed')"
ENTRIES = "INSERT INTO entries (dataset, number, at, kind, run, body, hash) VALUES " + ", ".join(
    ["(1, ?, ?, 'capture', ?, ?, ?)"] * OF_ONE_RUN
)


def run(progress: Progress) -> dict[str, float]:
    """Latencies in milliseconds, charges per second, ratios to the floor, and growth with past entries.

    The server is started after the file was measured: what it writes as it begins would keep the disk busy.
    """
    with tempfile.TemporaryDirectory(prefix="expost-ledgers-") as folder:
        new, old = (str(Path(folder) / f"{name}.db") for name in ("new", "old"))
        figures = _measured("sqlite", new, old, progress)
    with server() as running:
        figures |= _measured("postgres", running.database(), running.database(), progress)
    growths = product(("growth", "analyst_growth"), ("sqlite", "postgres"))
    figures["ledger.growth_1e6"] = max(figures[f"ledger.{whose}_1e6.{home}"] for whose, home in growths)
    return figures


def _measured(home: str, new: str, old: str, progress: Progress) -> dict[str, float]:
    """All figures of one home."""
    figures: dict[str, float] = {}
    _begin(new)
    progress(f"charges and plain INSERTs in turns, {home}")
    with charging(new) as charge, plain(new) as floor:
        charges, floors = timed([charge, floor])
    figures |= _latencies(f"ledger.{{}}.{home}", charges, floors)
    progress(f"equal steps and plain INSERTs in turns, {home}")
    with charging(new, steps=1) as charge, plain(new) as floor:
        charges, floors = timed([charge, floor])
    figures[f"ledger.equal_steps_ratio.{home}"] = median(charges) / median(floors)
    for processes in (1, PROCESSES):
        progress(f"charges by {processes} at once, {home}")
        figures[f"ledger.rate.{home}.p{processes}"] = _rate(new, processes, plainly=False)
        progress(f"plain INSERTs by {processes} at once, {home}")
        figures[f"ledger.floor_rate.{home}.p{processes}"] = _rate(new, processes, plainly=True)
    progress(f"a ledger with {PAST} entries, {home}")
    return figures | _growth(new, old, home)


def _latencies(name: str, charges: list[float], floors: list[float]) -> dict[str, float]:
    found = {name.format("floor_ratio"): median(charges) / median(floors)}
    for what, times in (("charge", charges), ("floor", floors)):
        for percent in (50, 99):
            found[name.format(f"{what}_ms_p{percent}")] = 1000 * quantiles(times, n=100)[percent - 1]
    return found


def _growth(new: str, old: str, home: str) -> dict[str, float]:
    """The same charges and the same overview on a ledger with a long past, over those on one without."""
    _begin(old)
    _lengthen(old)
    with charging(new) as few, charging(old) as many:
        short, long = timed([few, many])
    with charging(new, token=_token(new)) as few, charging(old, token=_token(old)) as many:
        looking, back = timed([few, many])
    with Book(home_of(new)) as one, Book(home_of(old)) as other:
        shown = timed([lambda: overviews(one.home), lambda: overviews(other.home)], turns=SHOWN)
    return {
        f"ledger.growth_1e6.{home}": median(long) / median(short),
        f"ledger.analyst_growth_1e6.{home}": median(back) / median(looking),
        f"ledger.show_growth_1e6.{home}": median(shown[1]) / median(shown[0]),
    }


def timed(actions: list[Action], turns: int | None = None) -> list[list[float]]:
    """How long each action took, in turns; some unmeasured turns come first."""
    count = CHARGES if turns is None else turns
    found: list[list[float]] = [[] for _ in actions]
    for _ in range(count + count // 10):
        for action, times in zip(actions, found, strict=True):
            start = time.perf_counter()
            action()
            times.append(time.perf_counter() - start)
    return [times[count // 10 :] for times in found]


@cache
def rising(steps: int) -> list[Promise]:
    """Promises that are each larger than the one before."""
    return [Promise(Linear(Fraction(0), RHO * step, RHO * step)) for step in range(1, steps + 1)]


@contextmanager
def charging(name: str, steps: int = RISING, *, token: str | None = None) -> Iterator[Action]:
    """A hold and its capture by one run, of steps that each promise more than the one before, or of equal ones."""
    promises = cycle(rising(steps))
    with Book(home_of(name)) as book, LedgerRun(book, "visits", "a benchmark", token=token) as begun:
        begun.pledge(None)

        def charge() -> None:
            promise = next(promises)
            begun.capture(begun.hold(STEP, promise), promise.as_spent())

        yield charge


@contextmanager
def plain(name: str) -> Iterator[Action]:
    """An INSERT and its commit, as durable as those of a ledger, into a table beside it."""
    if name.startswith("postgresql:"):
        with psycopg.connect(name, autocommit=True) as connection:
            connection.execute("SET synchronous_commit = on")
            connection.execute("CREATE TABLE IF NOT EXISTS plain (id BIGSERIAL PRIMARY KEY, body TEXT)")
            yield lambda: connection.execute(PLAIN, prepare=True)
        return
    with ExitStack() as stack:
        file = sqlite3.connect(f"{name}.plain", isolation_level=None, timeout=30)
        stack.callback(file.close)
        for pragma in ("journal_mode = WAL", "synchronous = FULL"):
            file.execute(f"PRAGMA {pragma}")
        file.execute("CREATE TABLE IF NOT EXISTS plain (id INTEGER PRIMARY KEY, body TEXT)")
        yield lambda: file.execute(PLAIN)


def _begin(name: str) -> None:
    with Book(home_of(name, create=True)) as book:
        book.add("visits", epsilon_terms(3, 1e-6))
    with charging(name) as charge:
        charge()


def _token(name: str) -> str:
    """That of a new analyst, who may spend as much as the data set has."""
    with Book(home_of(name)) as book:
        return book.add_analyst("visits", "an analyst", 3)


def _lengthen(name: str) -> None:
    """Put entries of earlier runs on a ledger: copies of its one capture, all but their runs."""
    with Book(home_of(name)) as book:
        for first in range(FIRST, FIRST + PAST, AT_ONCE):
            with book.home.writing() as writing:
                ((at, body, hashed),) = writing.rows("SELECT at, body, hash FROM entries WHERE number = 4")
                for number in range(first, first + AT_ONCE, OF_ONE_RUN):
                    identity = uuid4().hex
                    writing.later(EARLIER, identity, at)
                    cells = [(each, at, identity, body, hashed) for each in range(number, number + OF_ONE_RUN)]
                    writing.later(ENTRIES, *chain.from_iterable(cells))
                writing.later("UPDATE datasets SET entries = ?", first + AT_ONCE - 1)


def _rate(name: str, processes: int, *, plainly: bool) -> float:
    """How many a second, by several processes together."""
    context = multiprocessing.get_context("spawn")
    ready, over = context.Barrier(processes + 1), context.Event()
    counts = [context.Value("q") for _ in range(processes)]
    workers = [context.Process(target=_work, args=(name, plainly, ready, over, count)) for count in counts]
    for worker in workers:
        worker.start()
    ready.wait()
    start = time.perf_counter()
    time.sleep(SECONDS)
    over.set()
    taken = time.perf_counter() - start
    for worker in workers:
        worker.join()
    charged: int = sum(count.value for count in counts)
    return charged / taken


def _work(name: str, plainly: bool, ready: Barrier, over: Event, count: "Synchronized[int]") -> None:
    """Charge, or insert, until it is over."""
    with (plain if plainly else charging)(name) as action:
        ready.wait()
        while not over.is_set():
            action()
            count.value += 1
