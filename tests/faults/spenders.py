"""Processes that release through a ledger until they are killed, and write down what has left them."""

import os
import signal
import sqlite3
import sys
import time
import zlib
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn, final

import numpy as np

from expost.accounting.claim import Budget, Promise, Spent
from expost.ledger import Entry, Hold
from expost.ledgers.amounts import amount_out
from expost.ledgers.book import Book, open_ledger
from expost.ledgers.run import LedgerRun
from expost.ledgers.sqlite import SqliteHome
from expost.ledgers.terms import zcdp_terms
from expost.mechanisms.gaussian import Gaussian
from expost.noise import Integers, SystemNoise
from expost.odometer import Odometer
from expost.private import Neighbours, Private, Split
from expost.release import Past
from expost.statistic import Statistic, histogram

TERMS = zcdp_terms(1000)
BUDGET = Budget(Fraction(1, 50), Fraction(2))
AFTER = (0, 1, 0, 2, 3, 0, 1, 5, 0, 1, 2)
"""Notes after which a process is killed, so that all get about as far on a slow disk as on a fast one."""
DELAY = 0.05
"""The most seconds until then."""
WARDS: Statistic[Integers] = histogram(lambda codes: codes, 4, Neighbours.ADD_REMOVE, name="wards")


def spending(book: Book, token: str, kind: int, note: Callable[[str], None], dataset: str = "visits") -> None:
    """One run of a few releases, each of which is noted once it has left; of one of three kinds."""
    whose, halves = token if kind == 1 else None, "halves" if kind == 2 else None
    codes = np.repeat(np.arange(4), 5)
    data = Private(codes, Neighbours.ADD_REMOVE)
    because = "by the last digit of a number"
    with LedgerRun(book, dataset, "spending", token=whose, split=halves, because=because) as run:
        odometer, parts = Odometer(ledger=run), [data, data]
        if halves:
            even, odd = (Private(codes[place::2].copy(), Neighbours.ADD_REMOVE) for place in (0, 1))
            divided = Split.from_parts(even, odd, because=because)
            parts = [part for part in (divided.train, divided.held) if part is not None]
        for part in parts:
            mechanism = Gaussian(WARDS)
            released = odometer.spend(_Noted(mechanism, note), part, BUDGET, Past(), SystemNoise())
            assert released.value is not None
            note(f"left {run.id} {amount_out(TERMS.amount(odometer.spent))}")
    note(f"closed {run.id}")


@final
class _Noted:
    """A mechanism that says when it has the data."""

    def __init__(self, made_by: Gaussian[Integers], note: Callable[[str], None]) -> None:
        self._made_by, self._note = made_by, note
        self.name, self.neighbours, self.floating = made_by.name, made_by.neighbours, made_by.floating
        self.promise, self.facts = made_by.promise, made_by.facts

    def sample(self, *words: Any) -> Any:
        self._note("opened - -")
        return self._made_by.sample(*words)


def notes(path: Path) -> Callable[[str], None]:
    """A file that has each line whole, or not at all, whenever its writer is killed."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    return lambda line: _written(file, f"{line}\n".encode())


def _written(file: int, line: bytes) -> None:
    assert os.write(file, line) == len(line)


@final
class Counted:
    """A cursor that kills its process before or after one of its statements."""

    def __init__(self, cursor: sqlite3.Cursor, moment: int) -> None:
        self._cursor, self._left = cursor, iter(range(moment))

    def execute(self, *words: Any) -> sqlite3.Cursor:
        self._pass()
        found = self._cursor.execute(*words)
        self._pass()
        return found

    def _pass(self) -> None:
        if next(self._left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)


def forked(work: Callable[[], None]) -> int:
    """A process that does this and ends."""
    child = os.fork()
    if child:
        return child
    try:
        work()
    except BaseException as failure:  # noqa: BLE001  a forked process must not go on as its parent
        os.write(2, f"{type(failure).__name__}: {failure}\n".encode())
        os._exit(1)
    os._exit(0)


def storm(here: Path, kills: int, together: int, token: str) -> None:
    """Begin this number of processes, several at a time, each of which is killed some time after some note."""

    def work(number: int) -> Callable[[], None]:
        def spend() -> NoReturn:
            note = notes(here / f"{number}.notes")
            with Book(SqliteHome(here / "ledger.db")) as book:
                while True:
                    spending(book, token, number % 3, note)

        return spend

    left, running = iter(range(kills)), dict[int, tuple[int, float | None]]()
    while True:
        while len(running) < together and (number := next(left, None)) is not None:
            running[forked(work(number))] = number, None
        if not running:
            return
        for child, (number, due) in [*running.items()]:
            if due is None and _lines(here / f"{number}.notes") >= AFTER[number % len(AFTER)]:
                running[child] = number, time.monotonic() + DELAY * zlib.crc32(b"%d" % number) / 2**32
            elif due is not None and time.monotonic() >= due:
                os.kill(child, signal.SIGKILL)
                if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != -signal.SIGKILL:
                    sys.exit(1)
                del running[child]
        time.sleep(0.001)


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def every_moment(here: Path, token: str, kind: int) -> None:
    """One run in a copy of the ledger for each statement before and after which its process can be killed."""
    made = (here / "ledger.db").read_bytes()
    for moment in range(1000):
        place = here / f"{kind}-{moment}"
        place.mkdir()
        (place / "ledger.db").write_bytes(made)

        def work(place: Path = place, moment: int = moment) -> None:
            home = SqliteHome(place / "ledger.db")
            vars(home)["_cursor"] = Counted(vars(home)["_cursor"], moment)
            spending(Book(home), token, kind, notes(place / "0.notes"))

        status = os.waitstatus_to_exitcode(os.waitpid(forked(work), 0)[1])
        if status == 0:
            return
        if status != -signal.SIGKILL:
            sys.exit(status)


def every_moment_served(here: Path, name: str, kind: int) -> None:
    """The same on a server, on which each run has a data set of its own: before, within and after each round trip."""
    for moment in range(1000):
        place = here / f"{kind}-{moment}"
        place.mkdir()
        with open_ledger(name) as book:
            book.add(str(place), TERMS)
            token = book.add_analyst(str(place), "Ana", 500)

        def work(place: Path = place, moment: int = moment, token: str = token) -> None:
            with open_ledger(name) as book:
                kill_at(vars(book.home)["_wire"], moment)
                spending(book, token, kind, notes(place / "0.notes"), str(place))

        status = os.waitstatus_to_exitcode(os.waitpid(forked(work), 0)[1])
        if status == 0:
            return
        if status != -signal.SIGKILL:
            sys.exit(status)


def kill_at(wire: Any, moment: int) -> None:
    """Let a wire kill its process before a round trip, once all is sent and not answered, or once it is answered."""
    left, answers, flush = iter(range(moment)), wire.answers, wire._flush

    def passed(found: Any = None) -> Any:
        if next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    vars(wire)["answers"] = lambda: passed((passed(), answers())[1])
    vars(wire)["_flush"] = lambda: passed(flush())


def weaken() -> None:
    """From now on values leave first, and what they cost is put on record when the next step begins."""
    late: list[Callable[[], None]] = []
    capture, hold, close = LedgerRun.capture, LedgerRun.hold, LedgerRun.close

    def catch_up() -> None:
        while late:
            late.pop()()

    def captured(run: LedgerRun, held: Hold, spent: Spent) -> None:
        late.append(lambda: capture(run, held, spent))

    def holding(run: LedgerRun, entry: Entry, promise: Promise) -> Hold:
        catch_up()
        return hold(run, entry, promise)

    def closed(run: LedgerRun) -> None:
        catch_up()
        close(run)

    for name, changed in (("capture", captured), ("hold", holding), ("close", closed)):
        setattr(LedgerRun, name, changed)


if __name__ == "__main__":
    for task, folder, count, word in map(str.split, sys.stdin):
        if task == "weakened":
            weaken()
        if task == "storm":
            storm(Path(folder), int(count), 4, word)
        elif task == "served":
            every_moment_served(Path(folder), word, int(count))
        else:
            every_moment(Path(folder), word, int(count))
