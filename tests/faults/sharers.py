"""Processes that share a release and make one under a key until they are killed, and write down what has left them."""

import os
import signal
import sys
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from expost.ledgers import SharedRelease, release_once, shared
from expost.ledgers.book import Book, open_ledger
from expost.ledgers.sqlite import SqliteHome
from expost.mechanisms.gaussian import Gaussian, Measurement
from expost.noise import SeededNoise, SystemNoise
from expost.private import Neighbours, Private
from expost.text import Json
from tests.faults.spenders import BUDGET, TERMS, WARDS, Counted, forked, kill_at, notes

CODES = np.repeat(np.arange(4), 5)
LEVELS = ((Fraction(1, 64), True), (Fraction(1, 16), False), (Fraction(1, 32), True))
"""What is asked for, and whether by the analyst: measured, refined for the owner, and drawn between the two."""
PRECISIONS = [Fraction(n, 5000) for n in (4, 9, 1, 10, 2, 7, 3, 8, 6, 5)]
"""Of ten analysts."""
NOISE = SystemNoise()


def once(book: Book, dataset: str) -> list[float]:
    """The release under a key."""
    data = Private(CODES, Neighbours.ADD_REMOVE)
    made = release_once(
        book, dataset, Gaussian(WARDS), data, BUDGET, key="monday", encode=_encode, decode=_decode, noise=NOISE
    )
    return [*map(float, made.values)]


def _encode(made: Measurement) -> Json:
    return [*map(float, made.values)]


def _decode(stored: Json) -> Measurement:
    return Measurement(np.asarray(stored, dtype=np.float64), Gaussian(WARDS).variance(BUDGET))


def view(book: Book, dataset: str, level: Fraction, token: str | None) -> list[float]:
    """A view of the shared release."""
    release = SharedRelease(book, dataset, "wards", WARDS, CODES)
    return [*map(float, release.at(level, noise=NOISE, token=token).estimate.values)]


def spelled(name: object, values: Iterable[float]) -> str:
    """A note of what left."""
    return f"{name} {','.join(map(repr, map(float, values)))}"


def sharing(book: Book, dataset: str, token: str, note: Callable[[str], None]) -> None:
    """All of it, each noted once it has left."""
    note(spelled("once", once(book, dataset)))
    for level, is_analyst in LEVELS:
        note(spelled(level, view(book, dataset, level, token if is_analyst else None)))


def every_moment(here: Path, name: str, *, weak: bool) -> None:
    """A data set of its own for each moment at which its process is killed: statements have two, round trips three.

    Neighbouring ones differ little, so that only every third, or on a server every second, is taken.
    """
    for moment in range(0, 2000, 2 if name.startswith("postgresql") else 3):
        place = here / str(moment)
        place.mkdir()
        with open_ledger(name) as book:
            book.add(place.name, TERMS)
            token = book.add_analyst(place.name, "Ana", 500)
        (place / "token").write_text(token, encoding="utf-8")

        def work(place: Path = place, moment: int = moment, token: str = token) -> None:
            with open_ledger(name) as book:
                known = vars(book.home)
                if isinstance(book.home, SqliteHome):
                    known["_cursor"] = Counted(known["_cursor"], moment)
                else:
                    kill_at(known["_wire"], moment)
                note = notes(place / "notes")
                if weak:
                    weaken(note)
                sharing(book, place.name, token, note)

        status = os.waitstatus_to_exitcode(os.waitpid(forked(work), 0)[1])
        if status == 0:
            return
        if status != -signal.SIGKILL:
            sys.exit(status)


def weaken(note: Callable[[str], None]) -> None:
    """From now on a measured view leaves before it is captured."""
    sample = shared._Refining.sample

    def sampled(self: Any, *words: Any) -> Any:
        found = sample(self, *words)
        note(spelled(found.level, found.estimate.values))
        return found

    setattr(shared._Refining, "sample", sampled)  # noqa: B010  mypy takes it for a method


def together(here: Path, name: str, seed: int) -> None:
    """A process for each analyst, in an order that the seed says, each of which asks once and notes what it saw."""
    tokens = (here / "tokens").read_text(encoding="utf-8").split()
    order = [*map(int, np.argsort(SeededNoise(seed).uniform((len(tokens),))))]

    def work(number: int) -> Callable[[], None]:
        def ask() -> None:
            with open_ledger(name) as book:
                release = SharedRelease(book, "visits", "wards", WARDS, CODES)
                found = release.at(PRECISIONS[number], noise=NOISE, token=tokens[number])
            notes(here / f"{number}.notes")(f"{found.level} {found.estimate.std}")

        return ask

    children = [forked(work(number)) for number in order]
    statuses = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    if any(statuses):
        sys.exit("an analyst was refused")


if __name__ == "__main__":
    task, folder, ledger, *others = sys.argv[1:]
    if task == "together":
        together(Path(folder), ledger, int(others[0]))
    else:
        every_moment(Path(folder), ledger, weak=task == "weak")
