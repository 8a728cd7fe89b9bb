"""Processes that race: a cap is reached and never passed, and what left a process is on record whatever ended it."""

import subprocess
import sys
import time
from collections import Counter
from itertools import count
from pathlib import Path

import pytest

from expost.ledgers.amounts import summed, units
from expost.ledgers.book import Book, home_of
from expost.ledgers.home import WAIT_SECONDS
from expost.ledgers.proof import verify_ledger
from expost.ledgers.slots import run_cost
from expost.ledgers.terms import zcdp_terms
from tests.faults.processes import PATIENCE, environment
from tests.faults.racers import CHARGE, RACERS, SMALL
from tests.server import Server, memory, server
from tests.unit.ledgers.steps import runs_of, totals

COMMAND = (sys.executable, "-m", "tests.faults.racers")
STORMS, ROUNDS = 4, 19
"""How often the server is stopped, and how often half of the processes are killed before each time."""
BETWEEN = 6
"""Values that leave between two rounds."""


def notes(here: Path) -> list[tuple[str, float]]:
    """What left, by run, and how long it took."""
    lines = [line.split() for path in here.glob("*.notes") for line in path.read_text(encoding="utf-8").splitlines()]
    return [(run, float(seconds)) for run, seconds in lines]


def test_racing_processes_reach_the_cap_and_never_pass_it(ledger_name: str, tmp_path: Path) -> None:
    with Book(home_of(ledger_name, create=True)) as book:
        book.add("visits", zcdp_terms(1))

        subprocess.run(
            [*COMMAND, "race", ledger_name, str(tmp_path)], env=environment(tmp_path), timeout=PATIENCE, check=True
        )

        left = notes(tmp_path)
        released = CHARGE * len(left)
        assert 1 - CHARGE < released <= 1
        assert totals(book) == dict.fromkeys(("spent", "committed"), (len(left) * units(CHARGE),))
        assert len(list(tmp_path.glob("*.notes"))) == RACERS
        assert max(seconds for _, seconds in left) < WAIT_SECONDS
        assert verify_ledger(book.home).flaws == ()


def test_without_its_lock_racing_processes_get_in_one_anothers_way(postgres: Server, tmp_path: Path) -> None:
    """The twin: what then keeps the cap is that no two entries have one number, at the price of refusals."""
    name = postgres.emptied()
    with Book(home_of(name, create=True)) as book:
        book.add("visits", zcdp_terms(1))

        done = subprocess.run(
            [*COMMAND, "careless", name, str(tmp_path)], env=environment(tmp_path), timeout=PATIENCE, check=False,
            capture_output=True, text=True,
        )  # fmt: skip

        assert done.returncode == 1
        assert "changed by another program at the same moment" in done.stderr
        assert verify_ledger(book.home).flaws == ()


@pytest.mark.usefixtures("postgres")
def test_a_server_that_stops_and_processes_that_are_killed_leave_nothing_uncounted(tmp_path: Path) -> None:
    """With a server of its own, since it is stopped at once, as by a machine that loses its power."""
    with server(memory()) as stormy:
        name = stormy.database()
        with Book(home_of(name, create=True)) as book:
            book.add("visits", zcdp_terms(1000))
        command, due = [*COMMAND, "storm", name, str(tmp_path)], count(BETWEEN, BETWEEN)
        with subprocess.Popen(command, env=environment(tmp_path), stdin=subprocess.PIPE, text=True) as storm:
            assert storm.stdin is not None
            for _ in range(STORMS):
                for _ in range(ROUNDS):
                    wait_for(tmp_path, next(due))
                    storm.stdin.write("kill\n" * (RACERS // 2))
                    storm.stdin.flush()
                stormy.stop()
                stormy.start()
            wait_for(tmp_path, next(due))
            storm.stdin.close()
            assert storm.wait(PATIENCE) == 0
        assert STORMS * ROUNDS * (RACERS // 2) >= 300

        with Book(home_of(name)) as book:
            require_covered(book, Counter(run for run, _ in notes(tmp_path)))


def wait_for(here: Path, values: int) -> None:
    until = time.monotonic() + PATIENCE
    while len(notes(here)) < values:
        assert time.monotonic() < until, "too few values leave the processes"
        time.sleep(0.01)


def require_covered(book: Book, left: Counter[str]) -> None:
    """Every run has captured at least what left it, holds no less, and all runs together are what the data set says.

    A process that was killed has captured one step more than left it at most, and holds one more than that.
    """
    terms = zcdp_terms(1000)
    found = runs_of(book, terms)
    runs = {run: [run_cost(slots) for slots in both] for run, (_, *both) in found.items()}
    assert left.keys() <= runs.keys()
    for run, (spent, committed) in runs.items():
        assert units(SMALL * left[run]) <= spent[0] <= units(SMALL * (left[run] + 1)), run
        assert spent[0] <= committed[0] <= units(SMALL * (left[run] + 2)), run
    spent, committed = (summed((each[i] for each in runs.values()), terms.width) for i in (0, 1))
    assert totals(book) == {"spent": spent, "committed": committed}
    assert "open" in {state for state, *_ in found.values()}
    assert verify_ledger(book.home).flaws == ()
