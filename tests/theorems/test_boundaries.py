"""Boundaries for Brownian noise (Whitehouse et al. 2022) and their relation to RDP.

Each boundary, with parameters fixed beforehand, bounds the loss at the realised variance t with probability 1−δ
under every stopping rule. The linear one with b = (α−1)Δ/2 equals αΔ²/(2t) + ln(1/δ)/(α−1) for all t: the two
families are the same. Tuning at the realised t is false.
"""

import math
from collections.abc import Callable

import pytest

from expost.accounting.boundaries import (
    inverted_mixture_boundary,
    linear_boundary,
    linear_of_order,
    mixture_boundary,
    order_of_linear,
    tune_inverted_mixture,
    tune_linear,
    tune_mixture,
)
from expost.accounting.convert import best_linear_order, half_normal_closed_form, half_normal_tuning, lemma_7_offset
from expost.accounting.gaussian import gaussian_epsilon
from expost.accounting.textbook import zcdp_epsilon
from expost.accounting.worst_case import worst_case_tail
from expost.errors import InvalidValue

DELTA = 1e-5

PER_POINT = [
    (0.5, 11.597052, 3.399263, 12.456382, 10.724824, 9.997256),
    (1, 5.298526, 5.798526, 5.728191, 4.728387, 4.377178),
    (2, 2.524263, 10.597052, 2.739096, 2.165716, 1.993091),
    (5, 0.979705, 24.992630, 1.065638, 0.794315, 0.725522),
    (10, 0.484853, 48.985259, 0.527819, 0.375261, 0.340669),
    (20, 0.241176, 96.970518, 0.262660, 0.177507, 0.160042),
    (100, 0.048035, 480.852591, 0.052332, 0.030821, 0.027219),
]


@pytest.mark.parametrize("row", PER_POINT)
def test_the_bounds_tuned_at_each_point(row: tuple[float, ...]) -> None:
    sigma, linear, alpha, mixture, cks, exact = row
    t = sigma**2
    a, b = tune_linear(t, DELTA)

    assert linear_boundary(t, a, b, 1) == pytest.approx(linear, abs=5.1e-7)
    assert order_of_linear(b, 1) == pytest.approx(alpha, abs=5.1e-7)
    assert mixture_boundary(t, tune_mixture(t, DELTA), DELTA, 1) == pytest.approx(mixture, abs=5.1e-7)
    assert inverted_mixture_boundary(t, tune_inverted_mixture(t, DELTA), DELTA, 1) == pytest.approx(mixture, abs=5.1e-7)
    assert best_linear_order(0, 1 / (2 * t), DELTA)[0] == pytest.approx(cks, abs=5.1e-7)
    assert gaussian_epsilon(1 / (2 * t), DELTA) == pytest.approx(exact, abs=5.1e-7)


TUNED_ONCE = [
    (
        1,
        [5.298526, 3.124079, 2.515233, 2.428256, 2.406511],
        [5.728191, 2.768641, 1.107418, 0.561004, 0.285377],
        [5.728191, 2.810939, 1.380703, 1.061338, 0.967957],
    ),
    (
        10,
        [24.732556, 6.363084, 1.219631, 0.484853, 0.301158],
        [11.063383, 3.526757, 1.094376, 0.527819, 0.265614],
        [6.060036, 2.843545, 1.077456, 0.527819, 0.269844],
    ),
]


@pytest.mark.parametrize(("sigma", "linear", "mixture", "inverted"), TUNED_ONCE)
def test_the_bounds_tuned_once(sigma: float, linear: list[float], mixture: list[float], inverted: list[float]) -> None:
    t0 = sigma**2
    times = [s**2 for s in (1, 2, 5, 10, 20)]
    a, b = tune_linear(t0, DELTA)

    lines = [linear_boundary(t, a, b, 1) for t in times]
    mixtures = [mixture_boundary(t, tune_mixture(t0, DELTA), DELTA, 1) for t in times]
    inverteds = [inverted_mixture_boundary(t, tune_inverted_mixture(t0, DELTA), DELTA, 1) for t in times]

    assert lines == pytest.approx(linear, abs=5.1e-7)
    assert mixtures == pytest.approx(mixture, abs=5.1e-7)
    assert inverteds == pytest.approx(inverted, abs=5.1e-7)


def test_the_mixture_tuning_constant() -> None:
    assert tune_mixture(1, DELTA) == pytest.approx(0.03797375, abs=5e-9)


@pytest.mark.parametrize("l2", [0.3, 1, 5.5])
@pytest.mark.parametrize("alpha", [1.01, 2, 20, 300])
def test_the_linear_boundary_is_rdp_with_lemma_7_at_every_variance(alpha: float, l2: float) -> None:
    a, b = linear_of_order(alpha, DELTA, l2)

    assert 2 * a * b == pytest.approx(math.log(1 / DELTA), rel=1e-13)
    assert order_of_linear(b, l2) == pytest.approx(alpha, rel=1e-13)
    for t in (0.01, 1, 37, 1e5):
        rdp = alpha * l2**2 / (2 * t) + lemma_7_offset(alpha, DELTA)
        assert linear_boundary(t, a, b, l2) == pytest.approx(rdp, rel=1e-12)


def test_the_inverted_mixture_is_the_half_normal_mixture_over_orders() -> None:
    t0, l2 = 7.0, 1.7
    v = half_normal_tuning(l2**2 / (2 * t0), DELTA)

    assert tune_inverted_mixture(t0, DELTA) == pytest.approx(v * l2**2, rel=1e-13)
    for t in (0.1, 7, 300):
        closed = half_normal_closed_form(0, l2**2 / (2 * t), v, DELTA)
        assert inverted_mixture_boundary(t, tune_inverted_mixture(t0, DELTA), DELTA, l2) == pytest.approx(closed)


LADDER = [10.0 ** (k / 2) for k in range(-8, 9)]


def test_fixed_boundaries_hold_under_the_worst_stopping_rule() -> None:
    times = [1 / (2 * rho) for rho in LADDER]
    a, b = tune_linear(1, 0.1)
    r, inverted = tune_mixture(1, 0.1), tune_inverted_mixture(1, 0.1)

    assert worst_case_tail(LADDER, [linear_boundary(t, a, b, 1) for t in times]) <= 0.1
    assert worst_case_tail(LADDER, [mixture_boundary(t, r, 0.1, 1) for t in times]) <= 0.1
    assert worst_case_tail(LADDER, [inverted_mixture_boundary(t, inverted, 0.1, 1) for t in times]) <= 0.1


def test_tuning_at_the_realised_variance_fails_under_the_worst_stopping_rule() -> None:
    times = [1 / (2 * rho) for rho in LADDER]
    claims = [linear_boundary(t, *tune_linear(t, 0.1), 1) for t in times]

    assert claims == pytest.approx([zcdp_epsilon(rho, 0.1) for rho in LADDER])
    assert worst_case_tail(LADDER, claims) > 0.15


@pytest.mark.parametrize(
    "refused",
    [
        lambda: linear_boundary(0, 1, 1, 1),
        lambda: linear_boundary(1, 0, 1, 1),
        lambda: linear_boundary(1, 1, math.nan, 1),
        lambda: mixture_boundary(1, 0, 0.1, 1),
        lambda: mixture_boundary(1, 1, 1, 1),
        lambda: inverted_mixture_boundary(math.inf, 1, 0.1, 1),
        lambda: tune_linear(-1, 0.1),
        lambda: tune_mixture(1, 0),
        lambda: linear_of_order(1, 0.1, 1),
        lambda: order_of_linear(1, 0),
    ],
)
def test_what_is_not_a_bound_is_refused(refused: Callable[[], object]) -> None:
    with pytest.raises(InvalidValue):
        refused()
