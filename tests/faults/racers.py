"""Processes that charge one ledger at the same time: to its cap, or until they are killed."""

import importlib
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from unittest.mock import patch

from expost.errors import BudgetExceeded, LedgerConflict
from expost.ledgers.book import Book, open_ledger
from expost.ledgers.run import LedgerRun
from tests.faults.spenders import forked
from tests.unit.ledgers.steps import run, step

RACERS = 8
CHARGE = Fraction(7, 400)
SMALL = Fraction(1, 1000)
OF_ONE_RUN = 3


def race(name: str, here: Path) -> None:
    """Let several processes charge a ledger until its cap has no room, and wait for all of them.

    Each charges once and waits for the others: on a busy machine the first would be done before the last has begun.
    """
    ready, go = os.pipe(), os.pipe()

    def line_up() -> None:
        for end in (ready[0], ready[1], go[1]):
            os.close(end)
        os.read(go[0], 1)

    racers = [forked(lambda: _to_the_cap(name, here, line_up)) for _ in range(RACERS)]
    os.close(ready[1])
    os.read(ready[0], 1)  # nothing comes: it ends once every racer has closed its own
    os.close(go[1])
    statuses = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in racers]
    if any(statuses):
        sys.exit("a racer failed")


def careless(name: str, here: Path) -> None:
    """The same on a server, without a lock on the data set."""
    wire, postgres = (importlib.import_module(f"expost.ledgers.{name}") for name in ("wire", "postgres"))
    spelled = wire._spelled
    unlocked = patch.object(wire, "_spelled", lambda sql: spelled(sql.replace("{lock}", "")))
    with unlocked, patch.object(postgres, "QUEUE", "SELECT CAST(? AS TEXT)"):
        race(name, here)


def _to_the_cap(name: str, here: Path, line_up: Callable[[], None]) -> None:
    """Charge once, line up, then charge until nothing fits; write down what left, and how long it took."""
    with open_ledger(name) as book:
        _charge(book, here)
        line_up()
        with suppress(BudgetExceeded):
            while True:
                _charge(book, here)


def _charge(book: Book, here: Path) -> None:
    start = time.monotonic()
    with run(book) as begun:
        step(begun, CHARGE)
    _note(here, f"{begun.id} {time.monotonic() - start}")


def storm(name: str, here: Path) -> None:
    """Keep several processes charging: each line that comes in kills the oldest, and the end of them all."""
    racers = [forked(lambda: _for_ever(name, here)) for _ in range(RACERS)]
    for _ in sys.stdin:
        racers.append(forked(lambda: _for_ever(name, here)))
        _kill(racers.pop(0))
    for child in racers:
        _kill(child)


def _for_ever(name: str, here: Path) -> None:
    """Charge and write down what left, on a server that comes and goes."""
    while True:
        with suppress(LedgerConflict), open_ledger(name) as book:
            while True:
                _one_run(book, here)
        time.sleep(0.05)


def _one_run(book: Book, here: Path) -> None:
    with LedgerRun(book, "visits", "a storm") as begun:
        begun.pledge(None)
        for _ in range(OF_ONE_RUN):
            step(begun, SMALL)
            _note(here, f"{begun.id} 0")


def _note(here: Path, line: str) -> None:
    """A line that is written whole, or not at all, whenever its writer is killed."""
    file = os.open(here / f"{os.getpid()}.notes", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, f"{line}\n".encode())
    os.close(file)


def _kill(child: int) -> None:
    os.kill(child, signal.SIGKILL)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != -signal.SIGKILL:
        sys.exit("a process ended before it was killed")


if __name__ == "__main__":
    {"race": race, "careless": careless, "storm": storm}[sys.argv[1]](sys.argv[2], Path(sys.argv[3]))
