"""Theorem (records written anew). Let both parts of a split be written anew, record by record, by a function that
depends on releases and on nothing else. Then what is read of the new parts may be billed as if it had been read of the
old ones.

Proof: given the releases, the function is fixed, and it takes neighbours, which differ in one record of one part, to
neighbours or to equal data. So a step on the new part is a step on the old one, with the promise that it had.

Here the split, the odometer and the map that ship are run for every outcome of their coins, on every data set of two
bits.
"""

from collections.abc import Callable
from functools import partial

import pytest

from expost import Budget, FiniteMechanism, Odometer, Past, Private, Split
from expost.noise import Noise
from expost.private import Neighbours
from tests.theorems.enumeration import RandomisedResponse, enumerated

BITS = [(train, held) for train in (0, 1) for held in (0, 1)]
ONE_PART = [(x, y) for x in BITS for y in BITS if (x[0] == y[0]) != (x[1] == y[1])]
ALPHAS = [1.5, 2.0, 5.0, 20.0]
BUDGET = Budget.of(1, alpha=20)
Writer = Callable[[tuple[int, int], int], Callable[[int], int]]
"""The function that writes records anew, given the data and what was released."""


def run(data: tuple[int, int], write: Writer, alpha: float, noise: Noise) -> tuple[tuple[int, ...], float]:
    train, held = (Private(bit, Neighbours.REPLACE_ONE) for bit in data)
    parts, odometer = Split.from_parts(train, held, because="two bits"), Odometer(rehearsal=True)
    mechanism = RandomisedResponse()
    first = odometer.spend(mechanism, parts.train, BUDGET, Past(), noise).value
    anew = parts.map(write(data, first))
    assert anew.held is not None
    told = [odometer.spend(mechanism, each, BUDGET, Past(), noise).value for each in (anew.train, anew.held)]
    return (first, *told), odometer.spent.at(alpha)


def table(write: Writer, alpha: float) -> FiniteMechanism[tuple[int, int], tuple[int, ...]]:
    """The law of the run, billed as it bills itself."""
    return FiniteMechanism({data: enumerated(partial(run, data, write, alpha)) for data in BITS}, ONE_PART)


def by_release(data: tuple[int, int], released: int) -> Callable[[int], int]:
    """Each record turned round, or merged with its opposite, by what was released."""
    return (lambda bit: 1 - bit) if released else (lambda bit: 0 * bit)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_records_that_are_written_anew_by_a_release_cost_what_the_old_ones_did(alpha: float) -> None:
    assert table(by_release, alpha).moment(alpha) <= 1 + 1e-9


def test_a_function_that_knows_other_records_is_not_covered() -> None:
    """The twin: both new parts then tell the bit of the training part, and the larger of two bills is not enough."""

    def peeking(data: tuple[int, int], released: int) -> Callable[[int], int]:
        return lambda bit: data[0]

    assert table(peeking, 5.0).moment(5.0) > 1.01
