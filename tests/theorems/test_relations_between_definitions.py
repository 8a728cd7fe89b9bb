"""Claim: how the notions of ex-post privacy imply one another.

The Rényi notion at α implies it at every smaller order with the same ε, and E_X[L] ≤ E_X[ε] in the limit α → 1; at
all orders with the same ε it is the pure notion. Pure implies Rényi with the same ε at every order, but not with
αε²/2 when ε depends on the output. Probabilistic implies approximate with the same δ; the converse fails; at δ = 0
both are the pure notion.
"""

import math

import numpy as np
import pytest

from expost.verify import FiniteMechanism

SEARCHES = 300


def mechanism_of(p: list[float], q: list[float], epsilons: list[float]) -> FiniteMechanism[str, int]:
    return FiniteMechanism(
        {
            "X": {(y, epsilon): a for y, (a, epsilon) in enumerate(zip(p, epsilons, strict=True))},
            "X'": {(y, epsilon): b for y, (b, epsilon) in enumerate(zip(q, epsilons, strict=True))},
        }
    )


def random_mechanism(rng: np.random.Generator) -> FiniteMechanism[str, int]:
    p, q = rng.dirichlet(np.ones(5), 2)
    return mechanism_of(p.tolist(), q.tolist(), rng.uniform(0, 1, 5).tolist())


def renyi_mechanism(rng: np.random.Generator, alpha: float) -> FiniteMechanism[str, tuple[int, float]]:
    """Claims shifted so that the moment is 1 unless ε would have to fall."""
    mechanism = random_mechanism(rng)
    shift = max(0.0, math.log(mechanism.moment(alpha)) / (alpha - 1))
    return mechanism.raised(lambda y, epsilon: epsilon + shift)


def test_the_renyi_notion_at_one_order_implies_it_at_every_smaller_order() -> None:
    rng = np.random.default_rng(1)
    for alpha in rng.uniform(1.5, 30, SEARCHES):
        mechanism = renyi_mechanism(rng, alpha)
        assert mechanism.is_renyi(alpha)
        assert all(mechanism.is_renyi(1 + (alpha - 1) * share) for share in (0.01, 0.3, 0.7, 0.99))


def test_the_renyi_notion_at_one_order_does_not_imply_it_at_a_larger_order() -> None:
    mechanism = renyi_mechanism(np.random.default_rng(2), 2)

    assert mechanism.moment(2) == pytest.approx(1, abs=1e-12)
    assert mechanism.moment(4) > 1.01


def test_the_mean_loss_is_at_most_the_mean_epsilon() -> None:
    rng = np.random.default_rng(3)
    for alpha in rng.uniform(1.5, 30, SEARCHES):
        mechanism = renyi_mechanism(rng, alpha)
        assert max(loss.mean_excess() for loss in mechanism.losses()) <= 1e-12


def test_the_mean_form_alone_does_not_imply_the_renyi_notion() -> None:
    mechanism = mechanism_of([0.1, 0.9], [0.01, 0.99], [0.2, 0.2])

    assert max(loss.mean_excess() for loss in mechanism.losses()) < 0
    assert mechanism.moment(3) > 1.5


def test_the_moment_near_order_one_has_the_mean_excess_as_its_slope() -> None:
    forward = random_mechanism(np.random.default_rng(4)).loss("X", "X'")

    slope = (forward.moment(1 + 1e-7) - 1) / 1e-7

    assert slope == pytest.approx(forward.mean_excess(), rel=1e-5)


def test_the_pure_notion_implies_the_renyi_notion_with_the_same_epsilon_at_every_order() -> None:
    rng = np.random.default_rng(5)
    for _ in range(SEARCHES):
        p, q = rng.dirichlet(np.ones(5), 2)
        mechanism = mechanism_of(p.tolist(), q.tolist(), np.abs(np.log(p / q)).tolist())
        assert mechanism.is_pure()
        assert all(mechanism.is_renyi(alpha) for alpha in (1.01, 2, 20, 1000))
        assert mechanism.approximate_delta() <= 1e-12


def test_one_output_over_its_epsilon_is_found_out_at_some_order() -> None:
    mechanism = mechanism_of([0.01, 0.99], [0.008, 0.992], [math.log(1.25) - 0.01, 0.3])

    assert not mechanism.is_pure()
    assert mechanism.is_renyi(2)
    assert mechanism.moment(1000) > 1


def small_or_large(eta: float, bound: float) -> tuple[list[float], list[float], list[float]]:
    """The loss is η, or −B with small probability q, and each output claims exactly what it costs."""
    q = (1 - math.exp(-eta)) / (math.exp(bound) - math.exp(-eta))
    return [1 - q, q], [(1 - q) * math.exp(-eta), q * math.exp(bound)], [eta, bound]


def test_claiming_the_quadratic_cost_of_the_realised_epsilon_is_false() -> None:
    p, q, epsilons = small_or_large(0.1, 3.0)
    alpha = 2.0

    quadratic = mechanism_of(p, q, [alpha * epsilon**2 / 2 for epsilon in epsilons])

    assert p[1] == pytest.approx(0.004961, abs=5e-7)
    assert mechanism_of(p, q, epsilons).is_pure()
    assert quadratic.moment(alpha) == pytest.approx(1.08875, abs=5e-6)


def test_claiming_the_quadratic_cost_of_an_epsilon_fixed_before_is_true() -> None:
    p, q, epsilons = small_or_large(0.1, 3.0)

    for alpha in (1.1, 2, 20):
        assert mechanism_of(p, q, [alpha * max(epsilons) ** 2 / 2] * 2).is_renyi(alpha)


def test_the_probabilistic_notion_implies_the_approximate_one_with_the_same_delta() -> None:
    rng = np.random.default_rng(6)
    for _ in range(SEARCHES):
        for loss in random_mechanism(rng).losses():
            assert loss.approximate_delta() <= loss.probabilistic_delta() + 1e-15


def test_the_approximate_notion_does_not_imply_the_probabilistic_one() -> None:
    mechanism = mechanism_of([0.5, 0.5], [0.49, 0.51], [0.0, 0.0])

    assert mechanism.approximate_delta() == pytest.approx(0.01)
    assert mechanism.probabilistic_delta() >= 0.5


def test_at_delta_zero_the_approximate_and_probabilistic_notions_are_the_pure_one() -> None:
    rng = np.random.default_rng(7)
    for _ in range(SEARCHES):
        p, q = rng.dirichlet(np.ones(3), 2)
        slack = rng.choice([-0.01, 0.0, 0.5])
        mechanism = mechanism_of(p.tolist(), q.tolist(), np.maximum(np.abs(np.log(p / q)) + slack, 0).tolist())
        pure = mechanism.is_pure()
        assert pure == (slack >= 0)
        assert pure == (mechanism.probabilistic_delta() == 0)
        assert pure == (mechanism.approximate_delta() < 1e-12)


def test_a_constant_epsilon_gives_back_the_ordinary_definitions() -> None:
    """Randomised response at ε: ε-DP, and at a smaller claim c the hockey stick (e^ε − e^c)/(1 + e^ε)."""
    epsilon, claim = 1.2, 0.7
    truth = 1 / (1 + math.exp(-epsilon))

    exact = mechanism_of([truth, 1 - truth], [1 - truth, truth], [epsilon, epsilon])
    short = mechanism_of([truth, 1 - truth], [1 - truth, truth], [claim, claim])

    assert exact.is_pure()
    assert short.approximate_delta() == pytest.approx(
        (math.exp(epsilon) - math.exp(claim)) / (1 + math.exp(epsilon)), rel=1e-13
    )
    assert short.probabilistic_delta() == truth
