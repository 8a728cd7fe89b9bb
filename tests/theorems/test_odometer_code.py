"""Theorem (odometer, in code). Whatever order the releases suggest for parts and budgets, the odometer's total is an
ex-post RDP bound: sums within a part, the maximum over disjoint parts, and a sum again for what read both.

The odometer that ships is run for every outcome of its coins.
"""

from fractions import Fraction
from functools import partial

import pytest

from expost import Budget, FiniteMechanism, Odometer, Past, Private, Split
from expost.noise import Noise
from expost.private import Neighbours
from tests.theorems.enumeration import CoinPath, RandomisedResponse, enumerated

BITS = [(first, second) for first in (0, 1) for second in (0, 1)]
ONE_PART = [(x, y) for x in BITS for y in BITS if (x[0] == y[0]) != (x[1] == y[1])]


def interleaved(data: tuple[int, int], noise: Noise, alpha: float) -> tuple[tuple[int, ...], dict[str, float]]:
    """Three steps; each release decides which part is read next and for how much."""
    parts = Split.from_parts(*(Private(bit, Neighbours.REPLACE_ONE) for bit in data), because="two bits")
    odometer, last = Odometer(rehearsal=True), 0.0
    told: list[int] = []
    for step in range(3):
        part = parts.train if sum(told) % 2 == 0 else parts.held
        assert part is not None
        budget = Budget.of(Fraction(1 + sum(told) + step, 3), alpha=20)
        release = odometer.spend(RandomisedResponse(), part, budget, Past(), noise)
        told.append(release.value)
        last = RandomisedResponse().promise(budget).at(alpha)
    assert parts.held is not None
    first, second = odometer.spent_on(parts.train).at(alpha), odometer.spent_on(parts.held).at(alpha)
    return tuple(told), {"total": odometer.spent.at(alpha), "smaller part": min(first, second), "last step": last}


def table(bill: str, alpha: float) -> FiniteMechanism[tuple[int, int], tuple[int, ...]]:
    def program(data: tuple[int, int], noise: Noise) -> tuple[tuple[int, ...], float]:
        told, bills = interleaved(data, noise, alpha)
        return told, bills[bill]

    return FiniteMechanism({data: enumerated(partial(program, data)) for data in BITS}, ONE_PART)


@pytest.mark.parametrize("alpha", [1.5, 2.0, 5.0, 20.0])
def test_the_total_over_adaptively_chosen_parts_is_ex_post_renyi(alpha: float) -> None:
    assert table("total", alpha).moment(alpha) <= 1 + 1e-9


@pytest.mark.parametrize("bill", ["smaller part", "last step"])
def test_a_smaller_total_is_not(bill: str) -> None:
    assert table(bill, 5.0).moment(5.0) > 1.01


def test_what_read_the_whole_is_added_to_the_larger_part() -> None:
    whole = Private(1, Neighbours.REPLACE_ONE)
    parts = Split.from_parts(whole, Private(0, Neighbours.REPLACE_ONE), because="two bits")
    odometer = Odometer(rehearsal=True)

    for data in (whole, parts.train):
        odometer.spend(RandomisedResponse(), data, Budget.of(1, alpha=20), Past(), CoinPath(()))

    assert odometer.spent.at(5) == pytest.approx(2 * odometer.spent_on(parts.train).at(5))
