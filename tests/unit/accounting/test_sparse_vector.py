"""The cost of the sparse vector technique depends on ratios alone, and its calibration fits budgets of any size."""

import math
from fractions import Fraction

import pytest

from expost.accounting.sparse_vector import calibrate_sparse_vector, sparse_vector_cost

BUDGETS = [
    (1.5, 1e-290),
    (20.0, 1e-100),
    (1.01, 1e-6),
    (20.0, 0.01),
    (2.0, 0.1),
    (500.0, 3.0),
    (64.0, 1e4),
    (9.0, 1e150),
]


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("scale", [Fraction(1, 8), 2, 5, Fraction(7, 3)])
def test_the_cost_does_not_change_with_the_unit_of_the_queries(scale: Fraction, monotone: bool) -> None:
    cost = sparse_vector_cost(3, 5, 1, monotone)

    assert sparse_vector_cost(3 * scale, 5 * scale, scale, monotone) == cost


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize(("alpha", "epsilon"), BUDGETS)
def test_the_exact_cost_of_calibrated_noise_fits_its_budget_and_hardly_less(
    alpha: float, epsilon: float, monotone: bool
) -> None:
    found = calibrate_sparse_vector(alpha, epsilon, monotone)
    shifts = 1 if monotone else 2

    cost = shifts / Fraction(found.b) + Fraction(alpha) / (2 * Fraction(found.sigma_1) ** 2)

    assert (1 - Fraction(1, 10**12)) * Fraction(epsilon) < cost < Fraction(epsilon)
    assert cost <= Fraction(found.xi) + Fraction(alpha) * Fraction(found.rho)


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize(("alpha", "epsilon"), BUDGETS)
def test_no_other_ratio_of_the_two_noises_is_better(alpha: float, epsilon: float, monotone: bool) -> None:
    """In units of 1/ε, so that also the noise of the smallest budgets can be squared."""
    found = calibrate_sparse_vector(alpha, epsilon, monotone)
    shift = math.sqrt(2) * (1 if monotone else 2)

    def size(ratio: float) -> float:
        pull = shift / ratio
        return math.hypot(1, ratio) * (pull + math.hypot(pull, math.sqrt(2 * alpha * epsilon)))

    best = found.sigma_2 / found.sigma_1
    assert size(best) <= min(size(0.99 * best), size(1.01 * best))
