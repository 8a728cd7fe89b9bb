"""Ledgers to look at: a small real one with everything on it, and steps of a known cost."""

from fractions import Fraction
from pathlib import Path

import numpy as np

from expost.accounting.claim import Promise
from expost.accounting.curve import Linear
from expost.ledger import Entry, Hold
from expost.ledgers.book import Book, home_of
from expost.ledgers.overview import overviews
from expost.ledgers.run import LedgerRun
from expost.ledgers.shared import SharedRelease
from expost.ledgers.terms import epsilon_terms, zcdp_terms
from expost.noise import SystemNoise
from expost.private import Neighbours
from expost.statistic import histogram
from expost.text import Json

RELATION = Neighbours.ADD_REMOVE.value


def cost(rho: Fraction | int | str) -> Promise:
    """Of Gaussian noise."""
    return Promise(Linear(Fraction(0), Fraction(rho), Fraction(rho)))


def step(part: str = "data", neighbours: str = RELATION) -> Entry:
    """What is about to be done."""
    return Entry("Gaussian", part, neighbours, seeded=False, floating=False, facts={"scale": "3"})


def held(run: LedgerRun, rho: Fraction | int | str, part: str = "data") -> Hold:
    """A step that has begun."""
    return run.hold(step(part), cost(rho))


def spend(run: LedgerRun, rho: Fraction | int | str, part: str = "data", *, most: Fraction | int | str = 0) -> None:
    """A step that costs this, after a hold of as much or more."""
    run.capture(held(run, max(Fraction(most), Fraction(rho)), part), cost(rho).as_spent())


def begun(
    book: Book,
    dataset: str,
    what: str = "a run",
    *,
    token: str | None = None,
    split: str | None = None,
    because: str = "",
    key: str | None = None,
    request: str | None = None,
) -> LedgerRun:
    """A run that an odometer has been given."""
    run = LedgerRun(book, dataset, what, token=token, split=split, because=because, key=key, request=request)
    run.pledge(None)
    return run


def booked_by(book: Book, run: LedgerRun, dataset: str) -> dict[str, Json]:
    """What the receipt of a run says of the ledger, if nothing happened since it ended."""
    (found,) = overviews(book.home, dataset)
    return {"dataset": dataset, "run": run.id, "entry": found.entries, "head": found.head}


def whole_ledger(path: Path | str) -> dict[str, Json]:
    """Make a ledger with everything on it; what the receipt of a run in its midst says of it."""
    with Book(home_of(str(path), create=True)) as book:
        book.add("admissions", epsilon_terms(3, 1e-6))
        book.add("visits", zcdp_terms(1))
        token = book.add_analyst("admissions", "Ana", 1)
        with begun(book, "admissions", "a table", token=token) as run:
            spend(run, "1/1000", most="2/1000")
            spend(run, "1/500")
        booked = booked_by(book, run, "admissions")
        with begun(book, "admissions", "a model", split="halves", because="by the last digit") as run:
            spend(run, "1/200", "data/train")
            spend(run, "1/100", "data/held")
        with begun(book, "admissions", "a count", key="once", request="the count") as run:
            run.keep('{"count": 3}')
            spend(run, "1/1000")
        statistic = histogram(lambda codes: codes, 4, Neighbours.ADD_REMOVE, name="wards")
        shared = SharedRelease(book, "admissions", "wards", statistic, np.repeat(np.arange(4), 9))
        shared.at(Fraction(1, 500), noise=SystemNoise())
        shared.at(Fraction(1, 1000), noise=SystemNoise(), token=token)
        crashed = begun(book, "admissions", "a crash", token=token)
        spend(crashed, "1/1000", most="1/500")
        held(crashed, "1/500")
        spend(begun(book, "visits"), "1/4")
    return booked
