"""The sparse vector technique with Gaussian threshold noise and Laplace query noise (Zhu and Wang 2020).

One ⊤ after any number of ⊥ costs at most αΔ²/(2σ₁²) + 2Δ/b at every order α, and αΔ²/(2σ₁²) + Δ/b when all queries
move the same way between neighbours.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from expost.accounting.sparse_vector import Calibration, calibrate_sparse_vector, sparse_vector_cost
from expost.errors import InvalidValue


def outcomes(queries: Sequence[float], sigma_1: float, b: float) -> list[float]:
    """P(⊤ first at i) for each i, then P(no ⊤), by quadrature over the threshold noise."""
    z = np.linspace(-12 * sigma_1, 12 * sigma_1, 4001)
    weights = np.exp(-(z**2) / (2 * sigma_1**2))
    weights /= weights.sum()
    open_mass, masses = weights, []
    for query in queries:
        gap = (query - z) / b
        fires = np.where(gap >= 0, 1 - np.exp(-np.abs(gap)) / 2, np.exp(-np.abs(gap)) / 2)
        masses.append(float(open_mass @ fires))
        open_mass = open_mass * (1 - fires)
    return [*masses, float(open_mass.sum())]


def divergence(left: Sequence[float], right: Sequence[float], alpha: float) -> float:
    return math.log(math.fsum(p**alpha * q ** (1 - alpha) for p, q in zip(left, right, strict=True))) / (alpha - 1)


def curve(cost: tuple[float, float], alpha: float) -> float:
    return cost[0] + cost[1] * alpha


SCENES = [
    ([0.0] * 100 + [2.0], 30.0, 1.0),
    ([-3.0] * 100 + [-8.0], 0.3, 1.0),
    ([-2.0] * 30 + [-6.0], 0.7, 0.8),
    ([0.0, 1.0, -1.0], 1.0, 2.0),
    ([-4.0] * 5, 2.0, 1.5),
]


@pytest.mark.parametrize(("queries", "sigma_1", "b"), SCENES)
@pytest.mark.parametrize("alpha", [1.5, 2.0, 8.0, 30.0])
def test_no_pattern_of_shifts_costs_more(queries: list[float], sigma_1: float, b: float, alpha: float) -> None:
    general = curve(sparse_vector_cost(sigma_1, b, 1, monotone=False), alpha)
    monotone = curve(sparse_vector_cost(sigma_1, b, 1, monotone=True), alpha)
    base = outcomes(queries, sigma_1, b)
    up, down = (outcomes([q + s for q in queries], sigma_1, b) for s in (1, -1))
    last = [outcomes([q + s for q in queries[:-1]] + [queries[-1] - s], sigma_1, b) for s in (1, -1)]

    for other in (up, down):
        assert divergence(base, other, alpha) <= monotone
        assert divergence(other, base, alpha) <= monotone
    for other in last:
        assert divergence(base, other, alpha) <= general
        assert divergence(other, base, alpha) <= general


def test_the_monotone_price_is_false_for_queries_that_move_both_ways() -> None:
    """The ⊥'s pin the threshold from below; when they rise and the last query falls, its ⊤ sees twice the shift."""
    queries, sigma_1, b, alpha = [0.0] * 100 + [2.0], 30.0, 1.0, 30.0
    base = outcomes(queries, sigma_1, b)
    other = outcomes([q + 1 for q in queries[:-1]] + [queries[-1] - 1], sigma_1, b)

    worst = max(divergence(base, other, alpha), divergence(other, base, alpha))

    assert worst > curve(sparse_vector_cost(sigma_1, b, 1, monotone=True), alpha)
    assert worst <= curve(sparse_vector_cost(sigma_1, b, 1, monotone=False), alpha)


def test_the_published_calibration() -> None:
    found = calibrate_sparse_vector(20, 0.01, monotone=False)

    assert found.share == pytest.approx(0.132255585, abs=5e-10)
    assert (found.sigma_1, found.sigma_2) == pytest.approx((118.83701, 304.39717), abs=5.1e-6)
    assert found.b == pytest.approx(215.2413, abs=5e-5)
    assert math.hypot(found.sigma_1, found.sigma_2) == pytest.approx(326.7719, abs=5e-5)
    assert found.sigma_1 / 18089 == pytest.approx(0.006569573, abs=5e-10)
    assert found.sigma_2 / 18089 == pytest.approx(0.016827750, abs=5e-10)
    assert found.xi == pytest.approx(9.2919e-3, abs=5e-8)
    assert found.rho == pytest.approx(3.5405e-5, abs=5e-10)


def test_the_monotone_calibration() -> None:
    found = calibrate_sparse_vector(20, 0.01, monotone=True)

    assert found.share == pytest.approx(0.227914, abs=5e-7)
    assert (found.sigma_1, found.sigma_2) == pytest.approx((88.17731, 162.29462), abs=5.1e-6)
    assert math.hypot(found.sigma_1, found.sigma_2) == pytest.approx(184.7019, abs=5e-5)
    assert found.xi == pytest.approx(8.713866e-3, abs=5e-10)
    assert found.rho == pytest.approx(6.430671e-5, abs=5e-12)


@pytest.mark.parametrize(("monotone", "checks"), [(False, 107), (True, 35)])
def test_plain_gaussian_checks_win_until_there_are_many(monotone: bool, checks: int) -> None:
    found = calibrate_sparse_vector(20, 0.01, monotone)
    total = math.hypot(found.sigma_1, found.sigma_2)

    assert math.sqrt(1000 * (checks - 1)) < total < math.sqrt(1000 * checks)


def variance_at(found: Calibration, alpha: float, epsilon: float, share: float) -> float:
    ratio = math.sqrt((1 - share) / share)
    pull = found.xi * found.sigma_2 / ratio
    sigma_1 = (pull + math.sqrt(pull**2 + 2 * alpha * epsilon)) / (2 * epsilon)
    return sigma_1**2 / share


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize(("alpha", "epsilon"), [(1.01, 1e-6), (2.0, 0.1), (20.0, 0.01), (500.0, 3.0), (64.0, 1e4)])
def test_the_calibration_fits_its_budget_and_no_other_share_is_better(
    alpha: float, epsilon: float, monotone: bool
) -> None:
    found = calibrate_sparse_vector(alpha, epsilon, monotone)
    variance = found.sigma_1**2 + found.sigma_2**2

    assert curve((found.xi, found.rho), alpha) <= epsilon
    assert curve((found.xi, found.rho), alpha) == pytest.approx(epsilon, rel=1e-12)
    assert found.sigma_2 == pytest.approx(math.sqrt(2) * found.b, rel=1e-14)
    for factor in (0.9, 1.1):
        assert variance_at(found, alpha, epsilon, min(found.share * factor, 1 - 1e-9)) > variance


@pytest.mark.parametrize(
    "refused",
    [
        lambda: sparse_vector_cost(0, 1, 1, False),
        lambda: sparse_vector_cost(1, math.inf, 1, False),
        lambda: sparse_vector_cost(1, 1, 0, True),
        lambda: calibrate_sparse_vector(1, 0.1, False),
        lambda: calibrate_sparse_vector(2, 0, False),
        lambda: calibrate_sparse_vector(2, math.nan, True),
    ],
)
def test_what_is_not_a_bound_is_refused(refused: Callable[[], object]) -> None:
    with pytest.raises(InvalidValue):
        refused()
