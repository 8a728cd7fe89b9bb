"""One cap in several measures: a step is admitted while some measure stays within its limit, each for its share of δ.

All that is ever released is then (ε, δ)-DP, and the least of ε and of what a mixture of orders states may be claimed at
any time. The limits are planned stops, and are compared with those.
"""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from expost.accounting.claim import Promise, Spent
from expost.accounting.curve import Curve, Linear, Tabulated, total
from expost.accounting.gaussian import gaussian_epsilon
from expost.accounting.pledge import FixedOrder, Mixture
from expost.ledgers.amounts import as_fraction
from expost.ledgers.measures import Order, Profile
from expost.ledgers.terms import (
    GAUSSIAN_SHARE,
    MIXED,
    MIXTURE_SHARE,
    ORDER_SHARE,
    ORDERS,
    Terms,
    epsilon_terms,
)

DELTA = 1e-6
TERMS = epsilon_terms(3, DELTA)
LIMITS = {measure: limit for measure, limit in zip(TERMS.measures, TERMS.limits, strict=True) if limit is not None}


def gaussian(rho: Fraction) -> Linear:
    return Linear(Fraction(0), rho, rho)


def pure(epsilon: Fraction) -> Tabulated:
    orders = [float(alpha) for alpha in ORDERS]
    return Tabulated.of(orders, [min(float(epsilon), float(epsilon) ** 2 / 2 * alpha) for alpha in orders])


steps = st.lists(
    st.one_of(
        st.builds(gaussian, st.fractions(Fraction(1, 1000), Fraction(1, 10))),
        st.builds(pure, st.fractions(Fraction(1, 100), Fraction(1, 2))),
    ),
    min_size=1,
    max_size=6,
)


def added(curves: list[Curve]) -> Curve:
    return total(curves[0], added(curves[1:])) if len(curves) > 1 else curves[0]


def test_the_shares_of_delta_add_up_to_no_more_than_delta() -> None:
    assert GAUSSIAN_SHARE + ORDER_SHARE + MIXTURE_SHARE <= 1


def test_the_limit_on_the_profile_is_what_its_share_allows() -> None:
    rho = as_fraction(LIMITS[Profile()])

    assert gaussian_epsilon(rho, DELTA * GAUSSIAN_SHARE) <= 3
    assert gaussian_epsilon(rho * Fraction(1001, 1000), DELTA * GAUSSIAN_SHARE) > 3


def test_the_whole_delta_for_the_profile_would_allow_more_than_its_share() -> None:
    """The twin: a limit that forgets that others take their share of δ is larger than ours."""
    rho = as_fraction(LIMITS[Profile()])

    assert gaussian_epsilon(rho * Fraction(102, 100), DELTA) <= 3


def test_the_limit_at_an_order_is_what_its_share_allows() -> None:
    ((measure, limit),) = ((each, limit) for each, limit in LIMITS.items() if isinstance(each, Order))
    pledge = FixedOrder(measure.alpha, DELTA * ORDER_SHARE)
    at_limit = Tabulated.of([float(measure.alpha)], [float(as_fraction(limit))])

    assert pledge.epsilon(Promise(at_limit)) == pytest.approx(3, rel=1e-12)
    assert pledge.epsilon(Promise(Tabulated.of(at_limit.orders, [float(at_limit.values[0]) * 1.001]))) > 3


def oracle(terms: Terms, curve: Curve) -> float:
    """What planned stops and the mixture claim, each with its share."""
    claims: list[float] = [Mixture.even([float(each) for each in MIXED], DELTA * MIXTURE_SHARE).epsilon(Promise(curve))]
    for measure, limit in LIMITS.items():
        match measure:
            case Profile() if curve.gaussian is not None and curve.gaussian <= as_fraction(limit):
                claims.append(float(terms.cap))
            case Order(alpha) if curve.at(alpha) <= as_fraction(limit):
                claims.append(float(terms.cap))
    return min(claims)


@settings(max_examples=30)
@given(steps)
def test_a_total_is_stated_by_the_least_of_these_claims(curves: list[Curve]) -> None:
    curve = added(curves)

    stated = TERMS.stated(TERMS.amount(Spent(curve)))

    assert stated == pytest.approx(oracle(TERMS, curve), rel=1e-9)


@given(steps)
def test_amounts_are_no_less_than_the_curve_at_each_order(curves: list[Curve]) -> None:
    amount = [sum(column) for column in zip(*(TERMS.amount(Spent(each)) for each in curves), strict=True)]

    orders = [measure.alpha for measure in TERMS.measures if isinstance(measure, Order)]
    assert {*MIXED} < {*orders} < {*ORDERS}
    for alpha, number in zip(orders, amount, strict=False):
        assert as_fraction(number) >= sum((height(each, int(alpha)) for each in curves), Fraction(0))


def height(curve: Curve, alpha: int) -> Fraction:
    if isinstance(curve, Tabulated):
        return Fraction(curve.at(alpha))
    return max(line.xi + line.rho * alpha for line in curve.lines)


def test_a_step_without_a_profile_leaves_only_the_order_to_cap_it() -> None:
    rho = as_fraction(LIMITS[Profile()])
    with_profile = TERMS.amount(Spent(gaussian(rho)))
    without = TERMS.amount(Spent(Linear(Fraction(0), rho)))

    assert TERMS.room(with_profile) >= 0
    assert TERMS.room(without) < 0
    assert math.isfinite(TERMS.stated(without))
