"""Composition of ex-post Gaussian DP: it fails in general, and holds for the padded notion.

Two mechanisms whose μ is an output, the second chosen from the output of the first: √(μ₁² + μ₂²) is not enough, and
nothing is that leaves the μ of one alone where the other's is 0. Padded, that is with
E_X[δ_r(ε − L) 1{μ ≤ m}] ≤ δ_m(ε) for all m and ε and r² = m² − μ², it is enough.
"""

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from scipy.optimize import brentq

from expost.verify import FiniteMechanism, compose
from tests.theorems.gaussian_steps import Bit, binned, bound, needed, random_claims, random_program, response, run

TRIALS = 6
SLACK = 1e-9
"""The padded notion is checked by differences and the plain one by ratios, in which the same rounding weighs more."""

NONE = 2
SILENT: Bit = FiniteMechanism({bit: {(NONE, 0.0): 1.0} for bit in (0, 1)})
RARE: Bit = FiniteMechanism({bit: {(NONE, 0.0): 0.5, (bit, 1.0): 0.39, (1 - bit, 1.0): 0.11} for bit in (0, 1)})
"""Half of the time it tells nothing and says so; otherwise it tells more than a μ of 1 would, given that it tells."""


def then(y: int, mu: float) -> Bit:
    """What is left of a μ of 1: a randomised response, or nothing."""
    told: Bit = FiniteMechanism({bit: {(bit, 1.0): 0.69, (1 - bit, 1.0): 0.31} for bit in (0, 1)})
    return told if mu == 0 else SILENT


def test_two_that_keep_the_notion_need_not_keep_it_together() -> None:
    """One is answered where the other is silent, so that each claims 1, and an event of chance .735 has .265."""
    both = compose(RARE, then, combine=math.hypot)

    says_one = [outcome for outcome in both.outcomes if outcome[0][0][0] == 1 or outcome[0][1][0] == 1]
    p, q = (math.fsum(both.table[bit].get(outcome, 0.0) for outcome in says_one) for bit in (1, 0))

    assert RARE.is_gaussian()
    assert all(then(*outcome).is_gaussian() for outcome in RARE.outcomes)
    assert {mu for _, mu in both.outcomes} == {1.0}
    assert [p, q] == pytest.approx([0.735, 0.265])
    assert needed(p, q) > 1.25
    assert not both.is_gaussian()


@pytest.mark.parametrize("mu", [0.25, 1.0, 3.0])
@pytest.mark.parametrize("often", [0.5, 0.1, 0.01])
def test_it_fails_for_every_mu_and_however_rarely_the_first_tells_something(mu: float, often: float) -> None:
    hit = brentq(lambda q: bound(q, mu) + q - often, 1e-30, often, xtol=1e-30) * (1 + 1e-9)
    rare: Bit = FiniteMechanism(
        {bit: {(NONE, 0.0): 1 - often, (bit, mu): often - hit, (1 - bit, mu): hit} for bit in (0, 1)}
    )
    after = {0.0: response(mu), mu: SILENT}

    assert rare.is_gaussian()
    assert not compose(rare, lambda y, claimed: after[claimed], combine=math.hypot).is_gaussian()


def test_no_other_way_to_add_helps_that_leaves_one_mu_alone_beside_a_zero() -> None:
    for combine in (math.hypot, max, lambda one, other: one + other, lambda one, other: one + other + 9 * one * other):
        assert not compose(RARE, then, combine=combine).is_gaussian()


def test_the_padded_notion_sees_what_the_first_of_them_left_open() -> None:
    assert not RARE.is_padded_gaussian()
    assert all(then(*outcome).is_padded_gaussian() for outcome in RARE.outcomes)


def test_a_step_of_constant_mu_composes_with_either_notion() -> None:
    assert compose(RARE, lambda y, mu: response(0.8), combine=math.hypot).is_gaussian()
    assert compose(RARE, lambda y, mu: binned(0.8, [0.0, 0.7]), combine=math.hypot).is_gaussian()


def padded(mechanism: Bit) -> bool:
    return mechanism.is_padded_gaussian()


def test_the_padded_notion_implies_the_plain_one() -> None:
    rng = np.random.default_rng(3)

    assert all(random_claims(rng, padded).is_gaussian(tolerance=SLACK) for _ in range(TRIALS))


@cache
def padded_pair(seed: int) -> tuple[Bit, Callable[[int, float], Bit]]:
    """A mechanism and what follows each of its outputs, none of which could claim less in the padded notion."""
    rng = np.random.default_rng(seed)
    first = random_claims(rng, padded)
    seconds = {outcome: random_claims(rng, padded) for outcome in first.outcomes}
    return first, lambda y, mu: seconds[y, mu]


@pytest.mark.parametrize("seed", range(TRIALS))
def test_padded_mechanisms_of_random_mu_compose_by_the_root_of_the_squares(seed: int) -> None:
    both = compose(*padded_pair(seed), combine=math.hypot)

    assert both.is_gaussian(tolerance=SLACK)
    assert both.is_padded_gaussian(tolerance=SLACK)


def test_half_of_it_is_not_enough_for_them_nor_the_larger_of_the_two_for_two_equal_steps() -> None:
    halves = [
        compose(*padded_pair(seed), combine=lambda one, other: math.hypot(one, other) / 2) for seed in range(TRIALS)
    ]

    assert not any(half.is_gaussian() for half in halves)
    assert not compose(response(0.5), lambda y, mu: response(0.5), combine=max).is_gaussian()


def test_two_runs_compose() -> None:
    """What the odometer reports of one run adds to that of the next, though each depends on what was seen."""
    after = {seed: run(random_program(seed, length=2)) for seed in (5, 6)}
    first = run(random_program(4, length=2))

    both = compose(first, lambda history, mu: after[5 if history[0].answer else 6], combine=math.hypot)

    assert both.is_gaussian()
