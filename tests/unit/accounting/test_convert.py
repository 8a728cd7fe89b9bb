"""Conversions at their edges: float error never lowers a claim, no search loses tightness, and NaN claims nothing."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import mpmath as mp
import pytest

from expost.accounting.claim import Promise
from expost.accounting.convert import (
    best_linear_order,
    best_linear_tail,
    best_order,
    cks_offset,
    lemma_7_offset,
    log_half_normal,
    log_mixture,
    mixture_hockey_stick,
    mixture_tail,
    raised,
    union_over_orders,
)
from expost.accounting.pledge import Mixture
from expost.errors import InvalidValue
from expost.numerics import Real
from tests.unit.examples import line, one_sentence

DELTA = 1e-5
HALF_UNIT = 2.0**-53
"""The most, relatively, that one float operation rounds off."""


def exact_cks(alpha: Real, delta: float) -> mp.mpf:
    """The offset in high precision."""
    gap = mp.mpf(Fraction(alpha).numerator - Fraction(alpha).denominator) / Fraction(alpha).denominator
    return (-mp.log(mp.mpf(delta)) - mp.log1p(gap)) / gap + mp.log(gap) - mp.log1p(gap)


def vanishing(gap: float) -> float:
    """The δ at which the offset of order 1 + gap is about 0: large terms of both signs cancel."""
    return math.exp(-math.log1p(gap) - gap * (math.log1p(gap) - math.log(gap)))


def one_order(alpha: float, bound: float) -> Callable[[float], float]:
    """The moment of a mixture of one order, without the arrays."""
    return lambda epsilon: (alpha - 1) * (epsilon - bound)


def test_a_raised_bound_has_room_for_two_dozen_roundings() -> None:
    with mp.workdps(40):
        assert raised(1.0) >= (1 + mp.mpf(HALF_UNIT)) ** 24


def test_a_raised_difference_has_room_for_the_rounding_of_its_terms() -> None:
    assert raised(0.0, 1.0) >= 24 * HALF_UNIT
    assert raised(-1e-20, 1.0) >= 24 * HALF_UNIT


@pytest.mark.parametrize("exponent", range(-50, 50))
def test_the_cks_offset_is_not_too_low_where_its_terms_cancel(exponent: int) -> None:
    for seventh in range(7):
        gap = 2.0 ** (exponent + seventh / 7)
        alpha, delta = 1 + Fraction(gap), vanishing(gap)
        if 0 < delta < 1:
            with mp.workdps(50):
                assert cks_offset(alpha, delta) >= exact_cks(alpha, delta)


@pytest.mark.parametrize("delta", [0.5, math.nextafter(1, 0)])
def test_the_cks_offset_of_an_order_next_to_one_is_no_less_than_it_should_be(delta: float) -> None:
    """The reciprocal of such a gap is not a float."""
    alpha = 1 + Fraction(1, 10**310)

    with mp.workdps(400):
        assert cks_offset(alpha, delta) >= exact_cks(alpha, delta)


@pytest.mark.parametrize("rho", [1e-9, 1e-4, 0.05, 0.6, 3.0, 50.0, 1e4])
@pytest.mark.parametrize("delta", [0.5, 0.1, 1e-5, 1e-300])
def test_no_order_beats_the_best_one_of_a_line(rho: float, delta: float) -> None:
    orders = [1 + 2.0 ** (eighth / 8) for eighth in range(-160, 320)]

    epsilon, alpha = best_linear_order(0.1, rho, delta)

    least, _ = best_order(lambda alpha: 0.1 + rho * alpha, delta, orders)
    assert epsilon <= least * (1 + 1e-12)
    assert epsilon == max(0.0, raised(0.1 + rho * alpha + cks_offset(alpha, delta)))


@pytest.mark.parametrize("delta", [0.5, 1e-5, 5e-324])
def test_a_pure_bound_stays_what_it_is_under_approximation(delta: float) -> None:
    """Without a slope the offset falls for ever, and a large order is as good as the limit; so for the least δ."""
    assert best_linear_order(3, 0, delta)[0] <= 3 * (1 + 1e-12)
    assert 3 <= best_linear_tail(3, 0, delta)[0] <= 3 * (1 + 1e-9)


def test_a_slope_without_measure_has_a_best_order_all_the_same() -> None:
    epsilon, alpha = best_linear_order(0, 1e40, 0.5)

    assert alpha > 1
    assert epsilon >= 1e40


@pytest.mark.parametrize("rho", [1e-9, 1e-4, 0.05, 0.6, 3.0, 50.0, 1e4])
@pytest.mark.parametrize("delta", [0.9, 0.1, 1e-5, 1e-300])
def test_the_best_tail_of_a_line_is_its_closed_form(rho: float, delta: float) -> None:
    with mp.workdps(40):
        closed = mp.mpf(0.1) + mp.mpf(rho) + 2 * mp.sqrt(-mp.mpf(rho) * mp.log(mp.mpf(delta)))

        assert 0 <= best_linear_tail(0.1, rho, delta)[0] - closed <= 1e-12 * closed


def test_a_tail_at_zero_is_zero() -> None:
    def enough(epsilon: float) -> float:
        return 20 + epsilon

    assert mixture_tail(enough, DELTA, 1.0) == 0
    assert mixture_hockey_stick(enough, DELTA, 1.0) == 0


@pytest.mark.parametrize("delta", [0.9, 0.3, 0.01, 1e-5, 1e-9, 1e-300])
def test_a_moment_that_stays_within_float_error_of_its_target_makes_no_claim(delta: float) -> None:
    """It may be below in truth, and then Markov's inequality gives more than δ."""
    assert mixture_tail(lambda _: -math.log(delta), delta, 1.0) == math.inf
    assert mixture_hockey_stick(lambda _: -math.log(delta), delta, 1.0) == math.inf


@pytest.mark.parametrize("bracket", [-2.0, 0.0, 1e-9, 0.5, 1e9, 1e300])
def test_the_bracket_is_only_a_guess(bracket: float) -> None:
    moment = log_half_normal(xi=0.1, rho=0.01, v=100.0)

    root, stick = mixture_tail(moment, DELTA, 1.0), mixture_hockey_stick(moment, DELTA, 1.0)

    assert mixture_tail(moment, DELTA, bracket) == pytest.approx(root, rel=1e-13)
    assert mixture_hockey_stick(moment, DELTA, bracket) == pytest.approx(stick, rel=1e-12)


@pytest.mark.parametrize("below", [math.nan, -math.log(DELTA)])
def test_where_a_moment_says_nothing_below_the_root_the_root_is_claimed(below: float) -> None:
    """Not a number, or so close to the target that nothing is left to gain."""

    def jump(epsilon: float) -> float:
        return 100.0 if epsilon >= 1 else below

    assert mixture_hockey_stick(jump, DELTA, 1.0) == mixture_tail(jump, DELTA, 1.0) == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("alpha", [1.001, 2.0, 100.0, 1e9, 1e18])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3, 1e6, 1e9])
def test_the_hockey_stick_of_one_order_is_its_offset_from_above(alpha: float, size: float) -> None:
    for tenth in range(10):
        bound = size * (1 + tenth / 10)
        with mp.workdps(50):
            exact = mp.mpf(bound) + exact_cks(alpha, DELTA)

            assert 0 <= mixture_hockey_stick(one_order(alpha, bound), DELTA, bound) - exact <= 1e-12 * (exact + bound)


@pytest.mark.parametrize("bound", [2.0**k for k in range(36, 60, 4)] + [1e300])
def test_a_huge_hockey_stick_lies_between_its_offset_and_its_tail(bound: float) -> None:
    """Whether or not a step of 1 still shows."""
    alpha = 1.01

    claim = mixture_hockey_stick(one_order(alpha, bound), DELTA, bound)

    assert bound + cks_offset(alpha, DELTA) <= claim <= mixture_tail(one_order(alpha, bound), DELTA, bound)
    assert claim <= (bound + lemma_7_offset(alpha, DELTA)) * (1 + 1e-12)


@pytest.mark.parametrize("weight", [0.1, 0.25, 0.75, 1.0])
def test_what_a_weight_leaves_unused_is_lost(weight: float) -> None:
    """Each order has its share of δ, and no more."""
    alpha, bound = 3.0, 0.5
    with mp.workdps(40):
        exact = mp.mpf(bound) - mp.log(mp.mpf(weight) * mp.mpf(DELTA)) / 2

        union = union_over_orders([alpha], [bound], [weight], DELTA)
        tail = mixture_tail(log_mixture([alpha], [bound], [weight]), DELTA, 1.0)

        assert 0 <= union - exact <= 1e-12
        assert 0 <= tail - exact <= 1e-12


def test_weights_that_a_pledge_takes_for_one_are_made_one() -> None:
    """A sum that is 1 but for rounding is accepted, and divided out so that no δ is gained."""
    weights = (0.5, 0.5 + 9e-10)

    pledge = Mixture((2.0, 3.0), weights, DELTA)

    assert math.isfinite(pledge.epsilon(Promise(line(0, 0.01))))
    assert union_over_orders([2.0], [0.0], [1 + 9e-10], DELTA) >= -math.log(DELTA)
    assert log_mixture([2.0], [0.0], [1 + 9e-10])(0.0) <= 0


def test_a_bound_of_zero_is_a_bound() -> None:
    assert union_over_orders([2.0], [0.0], [1.0], DELTA) == pytest.approx(-math.log(DELTA))


@pytest.mark.parametrize(
    ("orders", "bounds", "weights", "reason"),
    [
        ([], [], [], "weights sum to 0"),
        ([2.0, 3.0], [0.1, 0.1], [1.0, 0.0], "each must be above 0"),
        ([2.0, 3.0], [0.1, 0.1], [0.9, -0.1], "each must be above 0"),
        ([2.0, 3.0], [0.1, 0.1], [0.5, 0.50001], "the sum at most 1"),
        ([2.0, math.inf], [0.1, 0.1], [0.5, 0.5], "finite number above 1"),
        ([2.0, math.nan], [0.1, 0.1], [0.5, 0.5], "finite number above 1"),
        ([2.0, 3.0], [0.1, -0.1], [0.5, 0.5], "a bound is negative"),
        ([2.0], [-0.5], [1.0], "a bound is negative"),
    ],
)
def test_rows_that_are_not_bounds_are_refused(
    orders: Sequence[float], bounds: Sequence[float], weights: Sequence[float], reason: str
) -> None:
    with pytest.raises(InvalidValue, match=reason) as refused:
        union_over_orders(orders, bounds, weights, DELTA)

    assert one_sentence(refused.value)
