"""The exact worst case over stopping rules of a Gaussian ladder.

For rungs ρ_1 < … < ρ_K with claims b_i, the largest δ any stopping rule attains is the value of an optimal stopping
problem in one dimension. It shows that ρ+2√(ρ ln(1/δ)) at the realised rung (the minimum over orders) is false for
long ladders, and that Lemma 7 and the CKS offset cannot be improved for dense ones.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest

from expost.accounting.convert import (
    cks_offset,
    half_normal_closed_form,
    half_normal_tuning,
    lemma_7_offset,
    log_mixture,
    mixture_hockey_stick,
    mixture_tail,
)
from expost.accounting.gaussian import gaussian_delta, gaussian_epsilon
from expost.accounting.textbook import zcdp_epsilon
from expost.accounting.worst_case import worst_case_delta, worst_case_tail
from expost.errors import InvalidValue

DELTA = 1e-5
LADDER = [0.0005 * 100 ** (i / 6) for i in range(7)]


def decades(count: int) -> list[float]:
    return [10.0**k for k in range(count)]


@pytest.mark.parametrize(
    ("count", "tail", "delta"),
    [(1, 0.00719, 0.0023), (8, 0.05373, 0.0445), (10, 0.06660, 0.0574), (20, 0.12838, 0.1193)],
)
def test_the_minimum_over_orders_breaks_on_long_ladders(count: int, tail: float, delta: float) -> None:
    """At δ = .05: the probabilistic claim from K = 8 on, the approximate one from K = 10 on."""
    ladder = decades(count)
    claims = [zcdp_epsilon(rho, 0.05) for rho in ladder]

    assert worst_case_tail(ladder, claims) == pytest.approx(tail, abs=5.1e-6)
    assert worst_case_delta(ladder, claims) == pytest.approx(delta, abs=5.1e-5)
    assert (worst_case_tail(ladder, claims) > 0.05) == (count >= 8)
    assert (worst_case_delta(ladder, claims) > 0.05) == (count >= 10)


PUBLISHED = [
    (lambda rho: zcdp_epsilon(rho, DELTA), 5.4e-6, 1.3e-7),
    (lambda rho: 20 * rho + lemma_7_offset(20, DELTA), 1.02e-6, 4.7e-8),
    (lambda rho: 20 * rho + cks_offset(20, DELTA), 7.8e-5, 3.4e-6),
    (lambda rho: gaussian_epsilon(rho, DELTA / 7), 5.2e-4, 8.79e-6),
    (lambda rho: gaussian_epsilon(rho, DELTA), 3.1e-3, 5.7e-5),
]


@pytest.mark.parametrize(("claim", "tail", "delta"), PUBLISHED)
def test_the_seven_rung_ladder(claim: Callable[[float], float], tail: float, delta: float) -> None:
    claims = [claim(rho) for rho in LADDER]

    assert worst_case_tail(LADDER, claims) == pytest.approx(tail, rel=0.02)
    assert worst_case_delta(LADDER, claims) == pytest.approx(delta, rel=0.02)


def test_each_safe_rule_is_safe_in_its_own_notion_only() -> None:
    fixed = [20 * rho + cks_offset(20, DELTA) for rho in LADDER]
    levels = [gaussian_epsilon(rho, DELTA / 7) for rho in LADDER]
    uncorrected = [gaussian_epsilon(rho, DELTA) for rho in LADDER]

    assert worst_case_delta(LADDER, fixed) <= DELTA < worst_case_tail(LADDER, fixed)
    assert worst_case_delta(LADDER, levels) <= DELTA < worst_case_tail(LADDER, levels)
    assert worst_case_delta(LADDER, uncorrected) > 5 * DELTA


def test_the_mixtures_hold_where_the_minimum_over_orders_fails() -> None:
    ladder, orders = decades(20), [1 + 3.0**-k for k in range(-2, 12)]
    weights = [1 / len(orders)] * len(orders)
    v = half_normal_tuning(1.0, 0.05)

    def moment(rho: float) -> Callable[[float], float]:
        return log_mixture(orders, [alpha * rho for alpha in orders], weights)

    assert worst_case_tail(ladder, [mixture_tail(moment(rho), 0.05, rho) for rho in ladder]) <= 0.05
    assert worst_case_delta(ladder, [mixture_hockey_stick(moment(rho), 0.05, rho) for rho in ladder]) <= 0.05
    assert worst_case_tail(ladder, [half_normal_closed_form(0, rho, v, 0.05) for rho in ladder]) <= 0.05


@pytest.mark.parametrize(("ratio", "value"), [(1.05, 0.04770), (1.01, 0.04948)])
def test_the_cks_offset_is_approached_by_dense_ladders(ratio: float, value: float) -> None:
    count = math.ceil(math.log(400) / math.log(ratio))
    ladder = [0.1 * ratio**k for k in range(count)]

    worst = worst_case_delta(ladder, [2 * rho + cks_offset(2, 0.05) for rho in ladder])

    assert worst == pytest.approx(value, abs=5.1e-6)
    assert worst <= 0.05


def test_lemma_7_is_approached_by_dense_ladders_and_nothing_smaller_holds() -> None:
    ladder = [0.1 * 1.02**k for k in range(300)]
    claims = [2 * rho + lemma_7_offset(2, 0.05) for rho in ladder]

    assert 0.04 < worst_case_tail(ladder, claims) <= 0.05
    assert worst_case_tail(ladder, [claim - 0.3 for claim in claims]) > 0.05


@pytest.mark.parametrize(("rho", "epsilon"), [(0.5, 1.0), (1e-4, 0.05), (8.0, 0.0), (1e6, 1.005e6)])
def test_one_rung_is_the_exact_profile(rho: float, epsilon: float) -> None:
    assert worst_case_delta([rho], [epsilon]) == pytest.approx(gaussian_delta(epsilon, rho), rel=2e-9)


def plain_programme(ladder: list[float], claims: list[float], count: int) -> float:
    """The same recursion on a bare grid: slow and coarse, but with nothing clever in it."""
    u = np.linspace(-8, 9, count)
    value = np.zeros(count)
    for i in reversed(range(len(ladder))):
        gain = np.maximum(0, -np.expm1(np.minimum(0, claims[i] - ladder[i] - math.sqrt(2 * ladder[i]) * u)))
        if i + 1 < len(ladder):
            c = math.sqrt(ladder[i] / ladder[i + 1])
            kernel = np.exp(-((u - c * u[:, None]) ** 2) / (2 * (1 - c * c)))
            gain = np.maximum(gain, kernel @ value * (u[1] - u[0]) / math.sqrt(2 * math.pi * (1 - c * c)))
        value = gain
    return float(np.exp(-u * u / 2) @ value * (u[1] - u[0]) / math.sqrt(2 * math.pi))


@pytest.mark.parametrize("offset", [0.3, 1.0])
def test_a_bare_grid_agrees(offset: float) -> None:
    ladder = [0.1, 0.3, 0.5, 2.0]
    claims = [offset + rho for rho in ladder]

    assert worst_case_delta(ladder, claims) == pytest.approx(plain_programme(ladder, claims, 1501), rel=1e-4)


def test_a_rung_without_a_claim_costs_nothing() -> None:
    with_gap = worst_case_delta([0.1, 0.3, 0.5], [1.0, math.inf, 1.5])

    assert with_gap == pytest.approx(worst_case_delta([0.1, 0.5], [1.0, 1.5]), rel=1e-12)
    assert worst_case_delta([0.1], [math.inf]) == 0
    assert 0 < worst_case_delta([1.0, 2.0], [1e6, 1e6]) < 1e-300
    assert worst_case_delta([1.0, 2.0, 3.0], [50.0, 100.0, 1.0]) == pytest.approx(gaussian_delta(1, 3), rel=1e-8)


@pytest.mark.parametrize(
    "refused",
    [
        lambda: worst_case_delta([], []),
        lambda: worst_case_delta([1.0], [1.0, 2.0]),
        lambda: worst_case_delta([1.0, 0.5], [1.0, 2.0]),
        lambda: worst_case_delta([1.0, 1.0001], [1.0, 2.0]),
        lambda: worst_case_delta([0.0], [1.0]),
        lambda: worst_case_tail([math.inf], [1.0]),
        lambda: worst_case_tail([1.0], [-1.0]),
        lambda: worst_case_tail([1.0], [math.nan]),
    ],
)
def test_what_is_not_a_bound_is_refused(refused: Callable[[], object]) -> None:
    with pytest.raises(InvalidValue):
        refused()
