"""Theorem (adaptive composition): mechanisms chosen from earlier outputs add up their realised bills.

If, for every fixed history, the next mechanism keeps an ex-post promise, then releasing all outputs with the sum of
their ε keeps it too: the Rényi notion at a common order, the pure notion, the zero-concentrated notion with the ξ's
added, and the approximate and probabilistic notions with the δ's added.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest

from expost.verify import FiniteMechanism, compose

SEARCHES = 100

Mechanism = FiniteMechanism[str, int]


def random_mechanism(rng: np.random.Generator, *, size: int = 3) -> Mechanism:
    p, q = rng.dirichlet(np.ones(size), 2)
    epsilons = rng.uniform(0, 1, size)
    return FiniteMechanism(
        {x: {(y, float(epsilons[y])): float(w[y]) for y in range(size)} for x, w in {"X": p, "X'": q}.items()}
    )


def repriced(mechanism: Mechanism, price: Callable[[float], float]) -> Mechanism:
    return FiniteMechanism(
        {x: {(y, price(epsilon)): p for (y, epsilon), p in row.items()} for x, row in mechanism.table.items()}
    )


def renyi_mechanism(rng: np.random.Generator, alpha: float) -> Mechanism:
    """Output-dependent claims with a moment of 1, unless one of them would fall below 0."""
    mechanism = random_mechanism(rng)
    smallest = min(epsilon for _, epsilon in mechanism.outcomes)
    shift = max(math.log(mechanism.moment(alpha)) / (alpha - 1), -smallest)
    return repriced(mechanism, lambda epsilon: epsilon + shift)


def response(epsilon: float, claim: float) -> Mechanism:
    truth = 1 / (1 + math.exp(-epsilon))
    return FiniteMechanism(
        {"X": {(0, claim): truth, (1, claim): 1 - truth}, "X'": {(0, claim): 1 - truth, (1, claim): truth}}
    )


def branching(
    first: Mechanism, seconds: dict[tuple[int, float], Mechanism]
) -> FiniteMechanism[str, tuple[tuple[int, float], tuple[int, float]]]:
    return compose(first, lambda y, epsilon: seconds[y, epsilon])


@pytest.mark.parametrize("alpha", [1.3, 2.0, 8.0])
def test_renyi_bills_add_up_over_three_adaptive_steps(alpha: float) -> None:
    rng = np.random.default_rng(1)
    for _ in range(SEARCHES):
        two = compose(renyi_mechanism(rng, alpha), lambda y, epsilon: renyi_mechanism(rng, alpha))
        three = compose(two, lambda y, epsilon: renyi_mechanism(rng, alpha))
        assert two.is_renyi(alpha)
        assert three.is_renyi(alpha)


def test_composing_at_a_common_order_means_the_smallest_one() -> None:
    rng = np.random.default_rng(2)
    broken = 0
    for _ in range(SEARCHES):
        both = compose(renyi_mechanism(rng, 8.0), lambda y, epsilon: renyi_mechanism(rng, 2.0))
        assert both.is_renyi(2.0)
        broken += both.moment(8.0) > 1.1
    assert broken > 0


def test_paying_only_the_larger_bill_is_false() -> None:
    alpha, epsilon = 3.0, 1.0
    cost = math.log((math.exp(alpha * epsilon) + math.exp((1 - alpha) * epsilon)) / (1 + math.exp(epsilon))) / 2
    once = response(epsilon, cost)

    assert compose(once, lambda y, e: once).moment(alpha) == pytest.approx(1, abs=1e-12)
    assert compose(once, lambda y, e: once, combine=max).moment(alpha) == pytest.approx(math.exp(2 * cost))


def test_paying_for_the_first_step_only_is_false() -> None:
    once = response(1.0, 1.0)

    free = compose(once, lambda y, epsilon: once, combine=lambda first, second: first)

    assert not free.is_pure()
    assert free.moment(20) > 1


def test_pure_bills_add_up() -> None:
    rng = np.random.default_rng(3)

    def pure(y: int = 0, epsilon: float = 0.0) -> Mechanism:
        p, q = rng.dirichlet(np.ones(3), 2)
        claims = np.abs(np.log(p / q))
        return FiniteMechanism(
            {x: {(y, float(claims[y])): float(w[y]) for y in range(3)} for x, w in {"X": p, "X'": q}.items()}
        )

    for _ in range(SEARCHES):
        assert compose(pure(), pure).is_pure()


def test_approximate_and_probabilistic_deltas_add_up() -> None:
    rng = np.random.default_rng(4)
    tightest = 0.0
    for _ in range(5 * SEARCHES):
        first = random_mechanism(rng)
        seconds = {outcome: random_mechanism(rng) for outcome in first.outcomes}
        both = branching(first, seconds)

        approximate = first.approximate_delta() + max(each.approximate_delta() for each in seconds.values())
        probabilistic = first.probabilistic_delta() + max(each.probabilistic_delta() for each in seconds.values())
        assert both.approximate_delta() <= approximate + 1e-12
        assert both.probabilistic_delta() <= probabilistic + 1e-12
        tightest = max(tightest, both.approximate_delta() / max(approximate, 1e-3))
    assert tightest > 0.7


def test_paying_only_the_larger_delta_is_false() -> None:
    leak = {
        "X": {("X", 0.5): 0.1, ("nothing", 0.5): 0.9},
        "X'": {("X'", 0.5): 0.1, ("nothing", 0.5): 0.9},
    }
    once = FiniteMechanism(leak)

    twice = compose(once, lambda y, epsilon: once)

    assert once.approximate_delta() == pytest.approx(0.1)
    assert twice.approximate_delta() == pytest.approx(0.19)
    assert twice.probabilistic_delta() == pytest.approx(0.19)


def test_zero_concentrated_bills_and_their_xis_add_up() -> None:
    rng = np.random.default_rng(5)
    xi = 0.1

    def concentrated(y: object = None, epsilon: float = 0.0) -> Mechanism:
        mechanism = random_mechanism(rng)
        while not mechanism.is_zcdp(xi):
            mechanism = repriced(mechanism, lambda rho: rho * 1.3)
        return mechanism

    for _ in range(30):
        assert compose(concentrated(), concentrated).is_zcdp(2 * xi)


def test_paying_xi_only_once_is_false() -> None:
    """Randomised response at ε pays ξ = ε and no ρ; twice it needs 2ε."""
    once = response(0.7, 0.0)

    twice = compose(once, lambda y, rho: once)

    assert once.is_zcdp(0.7)
    assert twice.is_zcdp(1.4)
    assert not twice.is_zcdp(0.7)


def test_the_second_mechanism_may_not_be_worse_for_one_history_only() -> None:
    """A promise kept for one first answer and broken for the other is broken."""
    honest, short = response(1.0, 1.0), response(1.0, 0.2)

    both = compose(honest, lambda y, epsilon: honest if y == 0 else short)

    assert not both.is_pure()
    assert both.moment(20) > 1
