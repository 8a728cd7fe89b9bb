"""The curves of pure mechanisms lie above the truth by the slack for float error, however near to 1 the order is."""

import math
from fractions import Fraction

import mpmath as mp
import pytest

from expost.accounting.convert import ROUNDING
from expost.accounting.pure import exponential_rho, randomized_response_rdp
from expost.accounting.textbook import laplace_rdp
from expost.numerics import Real


def exact_response(epsilon: float, alpha: Real) -> mp.mpf:
    """ln((e^{αε}+e^{(1−α)ε})/(1+e^ε))/(α−1), with digits for an order that is 1 to hundreds of places."""
    with mp.workdps(900):
        a, e = mp.mpf(Fraction(alpha).numerator) / Fraction(alpha).denominator, mp.mpf(epsilon)
        return mp.log((mp.exp(a * e) + mp.exp((1 - a) * e)) / (1 + mp.exp(e))) / (a - 1)


def exact_laplace(epsilon: float, alpha: float) -> mp.mpf:
    with mp.workdps(60):
        a, e = mp.mpf(alpha), mp.mpf(epsilon)
        return (mp.log(a * mp.exp((a - 1) * e) + (a - 1) * mp.exp(-a * e)) - mp.log(2 * a - 1)) / (a - 1)


@pytest.mark.parametrize(
    ("epsilon", "alpha"),
    [
        (10.0, 60),
        (10.0, 50),
        (5.0, 101),
        (1.0, 502),
        (600.0, Fraction(3, 2)),
        (600.0, 1 + Fraction(1, 10**100)),
        (600.0, 1 + Fraction(1, 10**300)),
        (501.0, 1 + Fraction(1, 10**250)),
        (499.0, 1 + Fraction(1, 10**300)),
    ],
)
def test_randomised_response_at_large_epsilons_and_orders_is_met_from_above(epsilon: float, alpha: Real) -> None:
    """Two tiny logarithms differ by less still; over an order next to 1 their difference must not be lost."""
    exact = exact_response(epsilon, alpha)

    assert exact <= randomized_response_rdp(epsilon, alpha) <= exact * (1 + mp.mpf(1e-12))


@pytest.mark.parametrize(("epsilon", "alpha"), [(1.0, 2.125), (0.75, 2.4375), (0.01, 101.5), (30.0, 1.035), (3.0, 1.5)])
def test_the_laplace_curve_has_the_slack_of_the_terms_that_it_is_summed_from(epsilon: float, alpha: float) -> None:
    """Where (α−1)ε is just above 1 they nearly cancel, so that a slack of the sum alone would be too small."""
    slack = ROUNDING * (epsilon + 1 / (alpha - 1))

    assert 0.75 * slack < laplace_rdp(epsilon, alpha) - exact_laplace(epsilon, alpha) < 1.25 * slack


@pytest.mark.parametrize("product", [0.99, 1.0, 1.01, 1.5, 2.0, 2.01])
@pytest.mark.parametrize("alpha", [1 + 2.0**-20, 1.25, 2.0, 65.0])
def test_the_laplace_curve_is_met_from_above_on_both_sides_of_its_two_forms(alpha: float, product: float) -> None:
    epsilon = product / (alpha - 1)

    assert 0 <= laplace_rdp(epsilon, alpha) - exact_laplace(epsilon, alpha) <= 1e-12 * epsilon


@pytest.mark.parametrize("size", [0.2, 0.25, 0.26, 0.49, 0.5, 0.51, 0.99, 1.0, 1.01])
@pytest.mark.parametrize("alpha", [1 + 2.0**-20, 1.5, 2.0, 30.0])
def test_the_laplace_curve_is_met_from_above_for_small_epsilons(alpha: float, size: float) -> None:
    """αε is the argument of the series, which is summed up to ½."""
    epsilon = size / alpha
    exact = exact_laplace(epsilon, alpha)

    assert exact <= laplace_rdp(epsilon, alpha) <= exact * (1 + mp.mpf(1e-12))


@pytest.mark.parametrize("alpha", [1.5, 2.0, 8.0])
def test_the_exponential_curve_is_nearly_attained_by_two_candidates(alpha: float) -> None:
    """Their scores move by 1 each, apart or together; before, both were as likely."""
    epsilon, before = 0.01, 0.5
    after = 1 / (1 + math.exp(-epsilon))

    moment = before**alpha * after ** (1 - alpha) + before**alpha * (1 - after) ** (1 - alpha)

    attained = math.log(moment) / (alpha - 1)
    assert 0.999 * alpha * exponential_rho(epsilon) < attained <= alpha * exponential_rho(epsilon)
