"""Whenever a process is killed that shares a release, or makes one under a key, what left it is stored and is billed.

It is killed before or after statements on a file, and before, within or after round trips to a server.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from expost.errors import LedgerConflict
from expost.ledgers.amounts import as_fraction
from expost.ledgers.book import Book, home_of, open_ledger
from expost.ledgers.proof import verify_ledger
from expost.ledgers.settling import settle, unsettled
from tests.faults.processes import environment
from tests.faults.sharers import LEVELS, once, spelled, view
from tests.faults.spenders import BUDGET
from tests.server import Server
from tests.unit.ledgers.steps import totals

ONCE, FINEST = BUDGET.rho, max(level for level, _ in LEVELS)
TINY = Fraction(1, 10**9)


@pytest.fixture(scope="module")
def memory() -> Iterator[Path]:
    """A folder in memory, since a killed process loses nothing that the system was handed."""
    quick = Path("/dev/shm")
    with TemporaryDirectory(dir=quick if os.access(quick, os.W_OK) else None) as folder:
        yield Path(folder)


def killed(here: Path, name: str, how: str) -> tuple[str, list[Path]]:
    """The ledger on which processes were killed, and a folder for each, the last of which came to its end."""
    here.mkdir()
    home_of(name, create=True).close()
    command = [sys.executable, "-m", "tests.faults.sharers", how, str(here), name]
    subprocess.run(command, env=environment(Path()), check=True, timeout=300)
    return name, sorted((each for each in here.iterdir() if each.is_dir()), key=lambda place: int(place.name))


@pytest.fixture(scope="module", params=["a file", "a server"])
def moments(request: pytest.FixtureRequest, memory: Path) -> tuple[str, list[Path]]:
    """In each home."""
    if request.param == "a file":
        return killed(memory / "file", str(memory / "ledger.db"), "moments")
    running: Server = request.getfixturevalue("postgres")
    return killed(memory / "server", running.database(), "moments")


def noted(place: Path) -> list[str]:
    """What left."""
    path = place / "notes"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def stored(book: Book, dataset: str) -> tuple[bool, Fraction]:
    """Whether there is a release under the key, and the finest level of the shared one."""
    with book.home.reading() as reading:
        ((known,),) = reading.rows("SELECT id FROM datasets WHERE name = ?", dataset)
        kept = reading.rows("SELECT id FROM runs WHERE dataset = ? AND payload IS NOT NULL", known)
        levels = reading.rows(
            "SELECT level FROM views JOIN releases ON releases.id = views.release WHERE releases.dataset = ?", known
        )
    return bool(kept), max((Fraction(str(level)) for (level,) in levels), default=Fraction(0))


def spent(book: Book, dataset: str) -> Fraction:
    """All of it, of which nothing is held."""
    found = totals(book, name=dataset)
    assert found["spent"] == found["committed"]
    return as_fraction(found["spent"][0])


def require_kept(book: Book, place: Path) -> None:
    """What left is stored and given back at no cost, and the bill is that of what is stored and of nothing else."""
    token = (place / "token").read_text(encoding="utf-8")
    for orphan in unsettled(book, place.name):
        settle(book, orphan.id, statement="the process was killed")
    has_release, finest = stored(book, place.name)
    assert 0 <= spent(book, place.name) - ONCE * has_release - finest < TINY
    left = noted(place)
    for note, ask in zip(left, asked(book, place.name, token), strict=False):
        assert ask() == note
    assert 0 <= spent(book, place.name) - ONCE * has_release - finest < TINY


def asked(book: Book, dataset: str, token: str) -> list[Callable[[], str]]:
    """What the process asked for, once more, in its order."""

    def seen(level: Fraction, whose: str | None) -> Callable[[], str]:
        return lambda: spelled(level, view(book, dataset, level, whose))

    views = [seen(level, token if is_analyst else None) for level, is_analyst in LEVELS]
    return [lambda: spelled("once", once(book, dataset)), *views]


def test_whatever_left_a_killed_process_is_stored_and_billed_once(moments: tuple[str, list[Path]]) -> None:
    name, places = moments
    with open_ledger(name) as book:
        for place in places:
            require_kept(book, place)
        assert verify_ledger(book.home).flaws == ()

    assert {len(noted(place)) for place in places} == {0, 1, 2, 3, 4}


def test_whoever_goes_on_after_a_killed_process_pays_for_the_finest_once(moments: tuple[str, list[Path]]) -> None:
    """A key whose run crashed before its capture stays used; all else goes on from what is stored."""
    name, places = moments
    burnt = 0
    with open_ledger(name) as book:
        for place in places:
            token = (place / "token").read_text(encoding="utf-8")
            for orphan in unsettled(book, place.name):
                settle(book, orphan.id, statement="the process was killed")
            (ask, *others) = asked(book, place.name, token)
            try:
                ask()
            except LedgerConflict as refused:
                assert "the key stays used" in str(refused)
                burnt += 1
            for each in others:
                each()
            has_release, finest = stored(book, place.name)
            assert finest == FINEST
            assert 0 <= spent(book, place.name) - ONCE * has_release - FINEST < TINY
        assert verify_ledger(book.home).flaws == ()

    assert 0 < burnt < len(places)


def test_a_view_that_leaves_before_it_is_captured_would_be_found_out(memory: Path) -> None:
    """The negative twin."""
    name, places = killed(memory / "weak", str(memory / "weak.db"), "weak")
    short = 0
    with open_ledger(name) as book:
        for place in places:
            left = [note for note in noted(place) if not note.startswith("once")]
            levels = [Fraction(note.split()[0]) for note in left]
            short += max(levels, default=Fraction(0)) > stored(book, place.name)[1]

    assert short > 2
