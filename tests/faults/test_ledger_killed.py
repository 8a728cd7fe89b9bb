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
from functools import cache
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
from tests.server import Server
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


@final
@dataclass(frozen=True)
class Place:
    """Where processes were killed: what they noted, and the ledger and the data set that they spent on."""

    here: Path
    ledger: str
    dataset: str = "visits"

    @property
    def moment(self) -> int:
        """At which of them."""
        return int(self.here.name.split("-")[1])


@final
@dataclass(frozen=True)
class Found:
    """What a ledger has: runs, and what is spent and with all holds committed, by data set."""

    kept: dict[str, dict[str, Kept]]
    totals: dict[str, tuple[Amount, Amount]]


def in_file(here: Path) -> Place:
    """A folder with a ledger of its own."""
    return Place(here, str(here / "ledger.db"))


def made(here: Path) -> str:
    """A ledger with a data set and an analyst, whose token is returned."""
    with Book(home_of(str(here / "ledger.db"), create=True)) as book:
        book.add("visits", TERMS)
        return book.add_analyst("visits", "Ana", 500)


def run(*tasks: tuple[str, Path, int, str]) -> None:
    """The processes that are killed, forked from one that has imported what they need."""
    lines = [" ".join(map(str, task)) + "\n" for task in tasks]
    command = [sys.executable, "-m", "tests.faults.spenders"]
    subprocess.run(command, input="".join(lines), text=True, env=environment(Path()), check=True, timeout=300)


def read(name: str) -> Found:
    """All of a ledger, followed from its first entry."""
    with open_ledger(name) as book:
        assert verify_ledger(book.home).flaws == ()
        with book.home.reading() as reading:
            captured = Counter(str(run) for (run,) in reading.rows("SELECT run FROM entries WHERE kind = 'capture'"))
            owners = reading.rows("SELECT runs.id, name FROM runs JOIN datasets ON datasets.id = runs.dataset")
        runs, accounts = runs_of(book, TERMS), {each.name: each.account for each in overviews(book.home, lines=0)}
    kept: dict[str, dict[str, Kept]] = {each: {} for each in accounts}
    for run, owner in owners:
        state, *slots = runs[str(run)]
        kept[str(owner)][str(run)] = Kept(state, captured[str(run)], *slots)
    return Found(kept, {each: (account.spent, account.committed) for each, account in accounts.items()})


read_once = cache(read)
"""On a server all moments are on one ledger, to which nothing is done any more."""


def found_at(place: Place) -> Found:
    return read_once(place.ledger) if place.ledger.startswith("postgresql") else read(place.ledger)


def kept(place: Place) -> dict[str, Kept]:
    return found_at(place).kept[place.dataset]


def noted(place: Place) -> Iterator[list[str]]:
    for path in place.here.glob("*.notes"):
        yield from (line.split() for line in path.read_text(encoding="utf-8").splitlines())


def totals(place: Place) -> tuple[Amount, Amount]:
    return found_at(place).totals[place.dataset]


def added(runs: list[Slots]) -> Amount:
    """What runs cost together: all that is their own, and the dearer of the two sides of the split."""
    sides = [summed((run[side] for run in runs if side in run), TERMS.width) for side in ("train", "held")]
    return plus(summed((run[OWN] for run in runs), TERMS.width), larger(*sides))


def require_covered(place: Place) -> int:
    """All that left is captured, the file is what its entries lead to, and every total is that of its runs."""
    runs, left = kept(place), Counter[str]()
    seen: dict[str, Amount] = {}
    for word, run, *told in noted(place):
        if word == "left":
            left[run] += 1
            seen[run] = amount_in(told[0], TERMS.width)
        if word == "closed":
            assert runs[run].state == "closed"
    for run, amount in seen.items():
        assert is_within(amount, run_cost(runs[run].spent))
        assert left[run] <= runs[run].captures <= left[run] + 1
    spent, committed = totals(place)
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
        tokens = {name: made(each) for name, each in folders.items()}
        run(
            ("storm", folders["disk"], ON_DISK, tokens["disk"]),
            ("storm", folders["memory"], IN_MEMORY, tokens["memory"]),
            *(("moments", folders[name], kind, tokens[name]) for kind, name in enumerate(KINDS)),
            ("weakened", folders["weakened"], 0, tokens["weakened"]),
        )
        yield folders


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, postgres: Server) -> dict[str, tuple[Path, str]]:
    """The same on a server, by kind: a folder of notes, and the ledger."""
    folders = {name: tmp_path_factory.mktemp(name.replace(" ", "-")) for name in KINDS}
    name = postgres.database()
    home_of(name, create=True).close()
    run(*(("served", folders[each], kind, name) for kind, each in enumerate(KINDS)))
    return {each: (folder, name) for each, folder in folders.items()}


@pytest.fixture(scope="module")
def storms(killed: dict[str, Path]) -> tuple[Place, Place]:
    """Where many processes were killed at random moments."""
    return in_file(killed["disk"]), in_file(killed["memory"])


def test_whatever_left_a_killed_process_is_captured(storms: tuple[Place, Place]) -> None:
    released = sum(map(require_covered, storms))

    assert ON_DISK + IN_MEMORY >= 300
    assert released >= 100, "too few processes got to a release for this to be a test"


def test_killed_processes_were_at_every_stage(storms: tuple[Place, Place]) -> None:
    """Some had held and not captured, some had captured what never left, some were between two runs."""
    runs = {run: found for place in storms for run, found in kept(place).items()}
    left = Counter(run for place in storms for word, run, *_ in noted(place) if word == "left")
    orphans = [(run, found) for run, found in runs.items() if found.state == "open"]

    assert len(orphans) >= 30
    assert any(found.spent != found.committed for _, found in orphans)
    assert any(found.captures > left[run] for run, found in orphans)
    assert sum(found.state == "closed" for found in runs.values()) >= 30


def test_holds_of_killed_processes_return_once_and_nothing_captured_does(storms: tuple[Place, Place]) -> None:
    place = storms[1]
    before = kept(place)
    with open_ledger(place.ledger) as book:
        for orphan in unsettled(book):
            settle(book, orphan.id, statement="the process was killed")

    after = kept(place)
    assert {run: found.spent for run, found in after.items()} == {run: found.spent for run, found in before.items()}
    assert totals(place)[0] == totals(place)[1]
    require_covered(place)


@pytest.fixture(params=[(home, kind) for home in ("a file", "a server") for kind in KINDS], ids=", ".join)
def moments(request: pytest.FixtureRequest) -> list[Place]:
    """Folders of processes that were killed, each a moment later than the one before; the last came to its end."""
    home, kind = request.param
    if home == "a file":
        folder: Path = request.getfixturevalue("killed")[kind]
        found = [in_file(each) for each in folder.iterdir() if each.is_dir()]
    else:
        folder, name = request.getfixturevalue("served")[kind]
        found = [Place(each, name, str(each)) for each in folder.iterdir()]
    return sorted(found, key=lambda place: place.moment)


def test_between_any_two_statements_what_left_is_captured_and_what_is_open_is_held(moments: list[Place]) -> None:
    reached = set()
    for place in moments:
        released = require_covered(place)
        opened = sum(word == "opened" for word, *_ in noted(place))
        spent, committed = totals(place)
        assert committed[0] > 0 or not opened
        assert spent[0] > 0 or not released
        reached.add((released, opened))

    assert reached == {(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)}


def test_there_is_a_moment_after_each_commit_and_before_what_it_allows(moments: list[Place]) -> None:
    """By state, whether more is held than captured, captures and notes: each stage that a run goes through.

    After the second of two steps that are alike one more is held; those on the two sides of a split are not.
    """
    found, ahead = set(), "sides" not in moments[0].here.parent.name
    for place in moments:
        for run in kept(place).values():
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


def test_a_process_that_was_let_be_came_to_its_end(moments: list[Place]) -> None:
    (found,) = kept(moments[-1]).values()

    assert (found.state, found.captures) == ("closed", 2)
    assert [word for word, *_ in noted(moments[-1])] == ["opened", "left", "opened", "left", "closed"]


def test_a_ledger_that_is_told_after_a_value_has_left_would_be_found_out(killed: dict[str, Path]) -> None:
    """The negative twin: the same processes, with each capture put off until the next step."""
    short = 0
    for place in killed["weakened"].iterdir():
        if place.is_dir():
            try:
                require_covered(in_file(place))
            except AssertionError:
                short += 1

    assert short > 2
