"""Theorem (filter): a bill that never exceeds B for any dataset is an ordinary guarantee of B.

An α-ex-post Rényi mechanism with ε ≤ B always is (α, B)-RDP; a ξ-ex-post zero-concentrated one with ρ ≤ B is (ξ,
B)-zCDP; a δ-approximate one with ε ≤ B is (B, δ)-DP. The bound must hold for every output, not on average or with
high probability.
"""

import math
from collections.abc import Mapping

import numpy as np
import pytest

from expost.verify import FiniteMechanism

SEARCHES = 300

Row = Mapping[tuple[int, float], float]


def random_mechanism(rng: np.random.Generator) -> FiniteMechanism[str, int]:
    p, q = rng.dirichlet(np.ones(5), 2)
    epsilons = rng.uniform(0, 1, 5)
    return FiniteMechanism(
        {x: {(y, float(epsilons[y])): float(law[y]) for y in range(5)} for x, law in {"X": p, "X'": q}.items()}
    )


def shifted(mechanism: FiniteMechanism[str, int], offset: float) -> FiniteMechanism[str, int]:
    return FiniteMechanism(
        {x: {(y, epsilon + offset): p for (y, epsilon), p in row.items()} for x, row in mechanism.table.items()}
    )


def renyi_mechanism(rng: np.random.Generator, alpha: float) -> FiniteMechanism[str, int]:
    """Claims that depend on the output and make the moment 1, unless one of them would fall below 0."""
    mechanism = random_mechanism(rng)
    smallest = min(epsilon for _, epsilon in mechanism.outcomes)
    return shifted(mechanism, max(math.log(mechanism.moment(alpha)) / (alpha - 1), -smallest))


def bound(mechanism: FiniteMechanism[str, int]) -> float:
    return max(epsilon for _, epsilon in mechanism.outcomes)


def renyi_divergence(p: Row, q: Row, alpha: float) -> float:
    return math.log(math.fsum(p[o] ** alpha * q[o] ** (1 - alpha) for o in p)) / (alpha - 1)


def hockey_stick(p: Row, q: Row, epsilon: float) -> float:
    return math.fsum(max(0.0, p[o] - math.exp(epsilon) * q[o]) for o in p)


@pytest.mark.parametrize("alpha", [1.2, 2.0, 6.0, 30.0])
def test_a_bounded_renyi_bill_bounds_the_divergence_of_the_whole_output(alpha: float) -> None:
    rng = np.random.default_rng(1)
    for _ in range(SEARCHES):
        mechanism = renyi_mechanism(rng, alpha)
        assert mechanism.is_renyi(alpha)
        for a, b in mechanism.pairs:
            divergence = renyi_divergence(mechanism.table[a], mechanism.table[b], alpha)
            assert divergence <= bound(mechanism) + 1e-12


def test_the_bound_is_attained_by_a_constant_bill() -> None:
    epsilon, alpha = 1.0, 3.0
    truth = 1 / (1 + math.exp(-epsilon))
    cost = math.log((math.exp(alpha * epsilon) + math.exp((1 - alpha) * epsilon)) / (1 + math.exp(epsilon))) / 2
    table = {"X": {(0, cost): truth, (1, cost): 1 - truth}, "X'": {(0, cost): 1 - truth, (1, cost): truth}}

    assert FiniteMechanism(table).moment(alpha) == pytest.approx(1, abs=1e-12)
    assert renyi_divergence(table["X"], table["X'"], alpha) == pytest.approx(cost, abs=1e-12)


def test_a_bill_below_the_bound_on_average_or_most_of_the_time_is_no_filter() -> None:
    """The bill is 0.2 with probability 0.9 and 4 otherwise; the divergence is close to the rare bill."""
    p, alpha = 0.1, 20.0
    rare, common = p * math.exp(-3.9), 1 - p * math.exp(-3.9)
    table = {"X": {(0, 4.0): p, (1, 0.2): 1 - p}, "X'": {(0, 4.0): rare, (1, 0.2): common}}
    mechanism = FiniteMechanism(table)
    mean = math.fsum(epsilon * q for (_, epsilon), q in table["X"].items())

    divergence = renyi_divergence(table["X"], table["X'"], alpha)

    assert mechanism.is_renyi(alpha)
    assert mean < 0.6
    assert 3.7 < divergence <= 4.0


def test_a_bill_that_may_be_infinite_is_no_filter() -> None:
    mechanism = FiniteMechanism(
        {"X": {("X", math.inf): 0.5, ("no", 0.0): 0.5}, "X'": {("X'", math.inf): 0.5, ("no", 0.0): 0.5}}
    )
    capped = FiniteMechanism({x: {(y, 9.0): p for (y, _), p in row.items()} for x, row in mechanism.table.items()})

    assert mechanism.is_renyi(2)
    assert capped.moment(2) == math.inf


def test_a_bounded_approximate_bill_is_an_ordinary_epsilon_delta_guarantee() -> None:
    rng = np.random.default_rng(2)
    for _ in range(SEARCHES):
        mechanism = random_mechanism(rng)
        delta = mechanism.approximate_delta()
        for a, b in mechanism.pairs:
            assert hockey_stick(mechanism.table[a], mechanism.table[b], bound(mechanism)) <= delta + 1e-15


def test_the_smallest_bill_is_not_an_ordinary_epsilon_delta_guarantee() -> None:
    rng = np.random.default_rng(3)
    excess = []
    for _ in range(SEARCHES):
        mechanism = random_mechanism(rng)
        least = min(epsilon for _, epsilon in mechanism.outcomes)
        sticks = [hockey_stick(mechanism.table[a], mechanism.table[b], least) for a, b in mechanism.pairs]
        excess.append(max(sticks) - mechanism.approximate_delta())

    assert max(excess) > 0.1


def test_a_bounded_rho_is_an_ordinary_zero_concentrated_guarantee() -> None:
    rng = np.random.default_rng(4)
    xi, held = 0.1, 0
    for _ in range(SEARCHES):
        mechanism = random_mechanism(rng)
        if not mechanism.is_zcdp(xi):
            continue
        held += 1
        for alpha in (1.05, 1.5, 3.0, 10.0):
            for a, b in mechanism.pairs:
                divergence = renyi_divergence(mechanism.table[a], mechanism.table[b], alpha)
                assert divergence <= xi + alpha * bound(mechanism) + 1e-12
    assert held > 20
