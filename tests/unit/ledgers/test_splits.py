"""Runs on a named split: its sides are the same in every run, or they are not billed as the sides of one split."""

from fractions import Fraction

import numpy as np
import pytest

from expost.accounting.claim import Budget
from expost.errors import InvalidValue, LedgerConflict
from expost.ledgers.book import Book
from expost.ledgers.run import LedgerRun
from expost.mechanisms.gaussian import Gaussian
from expost.noise import Integers, SystemNoise
from expost.odometer import Odometer
from expost.private import Neighbours, Private, Split, split
from expost.release import Past
from expost.statistic import Statistic, histogram
from tests.unit.ledgers.steps import rho, totals

BECAUSE = "each person is on one side by the last digit of a number"
HALF, NOISE = Fraction(1, 2), SystemNoise()
PARITY: Statistic[Integers] = histogram(lambda found: found % 2, 2, Neighbours.ADD_REMOVE, name="parity")


def drawn(side: str) -> Private[Integers]:
    """One side of a division by coins that fall anew."""
    return one_of(split(Private(np.arange(20)), HALF, NOISE), side)


def kept(side: str) -> Private[Integers]:
    """One side of a division that is the same in every run."""
    return one_of(Split.from_parts(Private(np.arange(10)), Private(np.arange(9)), because=BECAUSE), side)


def one_of(divided: Split[Integers], side: str) -> Private[Integers]:
    assert divided.held is not None
    return {"train": divided.train, "held": divided.held}[side]


def look(begun: LedgerRun, data: Private[Integers]) -> None:
    """A step of ρ = .01."""
    Odometer(ledger=begun).spend(Gaussian(PARITY), data, Budget.of(Fraction(1, 50), alpha=2), Past(), NOISE)


def test_sides_drawn_by_coins_are_refused_under_the_name_of_a_split(book: Book) -> None:
    """A record may be on one side in the first run and on the other in the second: the dearer side is too little."""
    for side in ("train", "held"):
        begun = book.run("visits", split="halves", because=BECAUSE)
        with begun, pytest.raises(InvalidValue, match="coins, which fall anew"):
            look(begun, drawn(side))

    assert totals(book) == {"spent": rho(0), "committed": rho(0)}


def test_sides_drawn_by_coins_add_up_over_runs_without_a_name(book: Book) -> None:
    for side in ("train", "held"):
        with book.run("visits") as begun:
            look(begun, drawn(side))

    assert totals(book)["spent"] == (2 * rho("1/100")[0],)


def test_sides_that_are_kept_cost_the_dearer_under_their_name(book: Book) -> None:
    """The twin, in which no record changes sides."""
    for side in ("train", "held"):
        with book.run("visits", split="halves", because=BECAUSE) as begun:
            look(begun, kept(side))

    assert totals(book)["spent"] == rho("1/100")


def test_coins_within_a_side_that_is_kept_are_no_other_split(book: Book) -> None:
    for side in ("train", "held"):
        with book.run("visits", split="halves", because=BECAUSE) as begun:
            look(begun, split(kept(side), HALF, NOISE).train)

    assert totals(book)["spent"] == rho("1/100")


def test_what_coins_drew_is_not_kept_because_it_was_put_together(book: Book) -> None:
    together = Split.from_parts(drawn("train"), drawn("held"), because=BECAUSE)

    begun = book.run("visits", split="halves", because=BECAUSE)
    with begun, pytest.raises(InvalidValue, match="coins, which fall anew"):
        look(begun, together.train)


def test_another_reason_under_the_name_of_a_split_is_refused(book: Book) -> None:
    for because in (BECAUSE, "", BECAUSE):
        book.begin("visits", "a run", split="halves", because=because)

    with pytest.raises(LedgerConflict, match="is on record as"):
        book.begin("visits", "a run", split="halves", because="by year of birth")
