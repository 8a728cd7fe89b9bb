"""Theorem (odometer, in code). Whatever order the releases suggest for parts and budgets, the odometer's total is an
ex-post RDP bound: sums within a part, the maximum over disjoint parts, and a sum again for what read both. The records
may be divided by coins whose odds follow from a release about all of them.

The odometer that ships is run for every outcome of its coins.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray

from expost import Budget, FiniteMechanism, Odometer, Past, Private, Split
from expost.accounting.claim import Promise
from expost.noise import Noise
from expost.private import Neighbours, split
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


@dataclass(frozen=True)
class Told:
    """A randomised response to whether some records have a property, of add/remove neighbours."""

    holds: Callable[[NDArray[np.int64]], bool]
    name: str = "told"
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    floating: bool = False

    def promise(self, budget: Budget) -> Promise:
        return RandomisedResponse().promise(budget)

    def sample(self, data: NDArray[np.int64], budget: Budget, past: Past[int], noise: Noise) -> int:
        return RandomisedResponse().sample(int(self.holds(data)), budget, past, noise)

    def facts(self, budget: Budget) -> dict[str, str]:
        return {"epsilon": str(budget.epsilon)}


NUMBERS = range(4)
NEXT = [(n, m) for n in NUMBERS for m in NUMBERS if abs(n - m) == 1]
"""Tables of equal records, by their number."""


def divided(by_release: bool, added: bool, number: int, alpha: float, noise: Noise) -> tuple[tuple[int, ...], float]:
    """A bit of the number of records is told. It, or what was told, decides the share held out; both parts answer."""
    records, odometer = Private(np.zeros(number, dtype=np.int64)), Odometer(rehearsal=True)
    budget = Budget.of(1, alpha=20)
    odd = odometer.spend(Told(lambda data: len(data) % 2 == 1), records, budget, Past(), noise).value
    decisive = odd if by_release else number % 2
    parts = split(records, Fraction(9 if decisive else 1, 10), noise)
    assert parts.held is not None
    told = [
        odometer.spend(Told(lambda data: len(data) > 0), part, budget, Past(), noise).value
        for part in (parts.train, parts.held)
    ]
    dearer = max(odometer.spent_on(part).at(alpha) for part in (parts.train, parts.held))
    return (odd, *told), odometer.spent.at(alpha) if added else dearer


def division(alpha: float, *, by_release: bool = True, added: bool = True) -> FiniteMechanism[int, tuple[int, ...]]:
    """The law of such a run, on tables of up to three records."""
    program = partial(divided, by_release, added)
    return FiniteMechanism({number: enumerated(partial(program, number, alpha)) for number in NUMBERS}, NEXT)


@pytest.mark.parametrize("alpha", [1.5, 2.0, 5.0, 20.0])
def test_a_release_may_decide_how_many_are_held_out(alpha: float) -> None:
    """As where all records are counted first; what was told of the whole is added to the dearer part."""
    assert division(alpha).moment(alpha) <= 1 + 1e-9


def test_what_was_not_released_may_not() -> None:
    """One record more then moves all others from one part into the other."""
    assert division(5.0, by_release=False).moment(5.0) > 1.01


def test_nor_may_the_release_go_unbilled() -> None:
    assert division(5.0, added=False).moment(5.0) > 1.01
