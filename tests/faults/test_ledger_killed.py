"""Whenever a process is killed that spends on a ledger, what left it is counted, and nothing is returned that was not.

A capture is on the disk before its value leaves, and a hold before data is opened: processes are killed at random
moments, and at each moment between two statements.
"""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import final

import pytest

from expost.ledgers.amounts import Amount, amount_in, is_within, larger, plus, summed
from expost.ledgers.book import Book, home_of, open_ledger
from expost.ledgers.overview import overviews
from expost.ledgers.proof import verify_ledger
from expost.ledgers.settling import settle, unsettled
from expost.ledgers.slots import OWN, Slots, run_cost
from tests.faults.processes import environment
from tests.faults.spenders import TERMS
from tests.unit.ledgers.steps import runs_of

ON_DISK, IN_MEMORY = 60, 250
KINDS = ("an owner", "an analyst", "the sides of a split")


@final
@dataclass(frozen=True)
class Kept:
    """A run as the ledger has it."""

    state: str
    captures: int
    spent: Slots
    committed: Slots


def made(here: Path) -> str:
    """A ledger with a data set and an analyst, whose token is returned."""
    with Book(home_of(str(here / "ledger.db"), create=True)) as book:
        book.add("visits", TERMS)
        return book.add_analyst("visits", "Ana", 500)


def run(*tasks: tuple[str, Path, int]) -> None:
    """The processes that are killed, forked from one that has imported what they need."""
    lines = [f"{task} {here} {number} {made(here)}\n" for task, here, number in tasks]
    command = [sys.executable, "-m", "tests.faults.spenders"]
    subprocess.run(command, input="".join(lines), text=True, env=environment(Path()), check=True, timeout=300)


def kept(path: Path) -> dict[str, Kept]:
    with open_ledger(path) as book, book.home.reading() as reading:
        captured = Counter(str(run) for (run,) in reading.rows("SELECT run FROM entries WHERE kind = 'capture'"))
    with open_ledger(path) as book:
        runs = runs_of(book, TERMS)
    return {run: Kept(state, captured[run], spent, committed) for run, (state, spent, committed) in runs.items()}


def noted(here: Path) -> Iterator[list[str]]:
    for path in here.glob("*.notes"):
        yield from (line.split() for line in path.read_text(encoding="utf-8").splitlines())


def totals(path: Path) -> tuple[Amount, Amount]:
    with open_ledger(path) as book:
        (found,) = overviews(book.home)
    return found.account.spent, found.account.committed


def added(runs: list[Slots]) -> Amount:
    """What runs cost together: all that is their own, and the dearer of the two sides of the split."""
    sides = [summed((run[side] for run in runs if side in run), TERMS.width) for side in ("train", "held")]
    return plus(summed((run[OWN] for run in runs), TERMS.width), larger(*sides))


def require_covered(here: Path) -> int:
    """All that left is captured, the file is what its entries lead to, and every total is that of its runs."""
    runs, left = kept(here / "ledger.db"), Counter[str]()
    seen: dict[str, Amount] = {}
    for word, run, *told in noted(here):
        if word == "left":
            left[run] += 1
            seen[run] = amount_in(told[0], TERMS.width)
        if word == "closed":
            assert runs[run].state == "closed"
    for run, amount in seen.items():
        assert is_within(amount, run_cost(runs[run].spent))
        assert left[run] <= runs[run].captures <= left[run] + 1
    with open_ledger(here / "ledger.db") as book:
        assert verify_ledger(book.home).flaws == ()
    spent, committed = totals(here / "ledger.db")
    assert spent == added([run.spent for run in runs.values()])
    assert committed == added([run.committed for run in runs.values()])
    assert is_within(spent, committed)
    return sum(left.values())


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    """Folders in which processes were killed.

    All but one are in memory, which is quick, and a process that is killed loses nothing that the system was handed.
    """
    quick = Path("/dev/shm")
    with TemporaryDirectory(dir=quick if os.access(quick, os.W_OK) else None) as folder:
        folders = {name: Path(folder) / name.replace(" ", "-") for name in ("memory", *KINDS, "weakened")}
        for each in folders.values():
            each.mkdir()
        folders["disk"] = tmp_path_factory.mktemp("disk")
        storms = ("storm", folders["disk"], ON_DISK), ("storm", folders["memory"], IN_MEMORY)
        run(
            *storms,
            *(("moments", folders[name], kind) for kind, name in enumerate(KINDS)),
            ("weakened", folders["weakened"], 0),
        )
        yield folders


@pytest.fixture(scope="module")
def storms(killed: dict[str, Path]) -> tuple[Path, Path]:
    """Where many processes were killed at random moments."""
    return killed["disk"], killed["memory"]


def test_whatever_left_a_killed_process_is_captured(storms: tuple[Path, Path]) -> None:
    released = sum(map(require_covered, storms))

    assert ON_DISK + IN_MEMORY >= 300
    assert released >= 100, "too few processes got to a release for this to be a test"


def test_killed_processes_were_at_every_stage(storms: tuple[Path, Path]) -> None:
    """Some had held and not captured, some had captured what never left, some were between two runs."""
    runs = {run: found for here in storms for run, found in kept(here / "ledger.db").items()}
    left = Counter(run for here in storms for word, run, *_ in noted(here) if word == "left")
    orphans = [(run, found) for run, found in runs.items() if found.state == "open"]

    assert len(orphans) >= 30
    assert any(found.spent != found.committed for _, found in orphans)
    assert any(found.captures > left[run] for run, found in orphans)
    assert sum(found.state == "closed" for found in runs.values()) >= 30


def test_holds_of_killed_processes_return_once_and_nothing_captured_does(storms: tuple[Path, Path]) -> None:
    here = storms[1]
    before = kept(here / "ledger.db")
    with open_ledger(here / "ledger.db") as book:
        for orphan in unsettled(book):
            settle(book, orphan.id, statement="the process was killed")

    after = kept(here / "ledger.db")
    assert {run: found.spent for run, found in after.items()} == {run: found.spent for run, found in before.items()}
    assert totals(here / "ledger.db")[0] == totals(here / "ledger.db")[1]
    require_covered(here)


@pytest.fixture(params=KINDS)
def moments(request: pytest.FixtureRequest, killed: dict[str, Path]) -> list[Path]:
    """Folders of processes that were killed, each a moment later than the one before; the last came to its end."""
    found = [each for each in killed[request.param].iterdir() if each.is_dir()]
    return sorted(found, key=lambda place: int(place.name.split("-")[1]))


def test_between_any_two_statements_what_left_is_captured_and_what_is_open_is_held(moments: list[Path]) -> None:
    reached = set()
    for place in moments:
        released = require_covered(place)
        opened = sum(word == "opened" for word, *_ in noted(place))
        spent, committed = totals(place / "ledger.db")
        assert committed[0] > 0 or not opened
        assert spent[0] > 0 or not released
        reached.add((released, opened))

    assert reached == {(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)}


def test_there_is_a_moment_after_each_commit_and_before_what_it_allows(moments: list[Path]) -> None:
    """By state, whether more is held than captured, captures and notes: each stage that a run goes through.

    After the second of two steps that are alike one more is held; those on the two sides of a split are not.
    """
    found, ahead = set(), "sides" not in moments[0].parent.name
    for place in moments:
        for run in kept(place / "ledger.db").values():
            notes = sum(1 for _ in noted(place))
            found.add((run.state, run.committed != run.spent, run.captures, notes))

    assert {
        ("open", False, 0, 0),  # begun
        ("open", True, 0, 0),  # held, and not opened
        ("open", True, 0, 1),  # opened
        ("open", False, 1, 1),  # captured, and not left
        ("open", False, 1, 2),  # left
        ("open", True, 1, 2),
        ("open", True, 1, 3),
        ("open", ahead, 2, 3),
        ("open", ahead, 2, 4),
        ("closed", False, 2, 4),  # closed, and not said
    } <= found


def test_a_process_that_was_let_be_came_to_its_end(moments: list[Path]) -> None:
    (found,) = kept(moments[-1] / "ledger.db").values()

    assert (found.state, found.captures) == ("closed", 2)
    assert [word for word, *_ in noted(moments[-1])] == ["opened", "left", "opened", "left", "closed"]


def test_a_ledger_that_is_told_after_a_value_has_left_would_be_found_out(killed: dict[str, Path]) -> None:
    """The negative twin: the same processes, with each capture put off until the next step."""
    short = 0
    for place in killed["weakened"].iterdir():
        if place.is_dir():
            try:
                require_covered(place)
            except AssertionError:
                short += 1

    assert short > 2
