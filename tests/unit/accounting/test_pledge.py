"""Pledges: refused when they could prove nothing, silent beyond what they cover, never lower for more spent."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from expost.accounting.claim import NOTHING, Promise, Spent
from expost.accounting.curve import AdpEpsilon, Curve, Tabulated, highest
from expost.accounting.descent import Descent
from expost.accounting.gaussian import gaussian_epsilon
from expost.accounting.pledge import FixedOrder, HalfNormal, Mixture, Pledge
from expost.accounting.stops import PlannedStops, Stop
from expost.errors import InvalidValue
from tests.unit.examples import line, one_sentence

DELTA = 1e-5
RHOS = tuple(Fraction(level).limit_denominator(10**6) / 20 for level in (0.01, 0.1, 1))
STOPS = tuple(Promise(line(0, rho, rho)) for rho in RHOS)
TABLED = tuple(Promise(Tabulated.of([2, 20, 64], [0.1 * k, 1.0 * k, 4.0 * k])) for k in (1, 2, 3))
PLEDGES: list[Pledge] = [
    FixedOrder.at(20, DELTA),
    Mixture.even([2, 4, 8, 16, 32, 64], DELTA),
    HalfNormal.tuned(Fraction(1, 20), DELTA),
    PlannedStops(STOPS, DELTA),
]


@pytest.mark.parametrize("delta", [0.0, 1.0, -1e-5, 2.0, math.nan])
@pytest.mark.parametrize(
    "pledge",
    [
        lambda delta: FixedOrder.at(20, delta),
        lambda delta: FixedOrder.tuned(STOPS[0], delta),
        lambda delta: Mixture.even([2, 4], delta),
        lambda delta: HalfNormal(1.0, delta),
        lambda delta: HalfNormal.tuned(1, delta),
        lambda delta: PlannedStops(STOPS, delta),
    ],
)
def test_delta_lies_strictly_between_zero_and_one(pledge: Callable[[float], Pledge], delta: float) -> None:
    with pytest.raises(InvalidValue, match=r"delta is .*strictly between 0 and 1"):
        pledge(delta)


@pytest.mark.parametrize(
    "pledge",
    [
        lambda: FixedOrder.at(1, DELTA),
        lambda: FixedOrder.at(math.nan, DELTA),
        lambda: FixedOrder.tuned(Promise(Tabulated.of([2], [math.inf])), 2.0),
        lambda: Mixture((2.0, 4.0), (1.0,), DELTA),
        lambda: Mixture((), (), DELTA),
        lambda: Mixture.even([], DELTA),
        lambda: Mixture((1.0, 4.0), (0.5, 0.5), DELTA),
        lambda: Mixture((2.0, 4.0), (0.5, 0.6), DELTA),
        lambda: Mixture((2.0, 4.0), (0.0, 1.0), DELTA),
        lambda: Mixture((2.0, 4.0), (math.nan, 1.0), DELTA),
        lambda: HalfNormal(0, DELTA),
        lambda: HalfNormal(math.inf, DELTA),
        lambda: HalfNormal.tuned(0, DELTA),
        lambda: PlannedStops((), DELTA),
    ],
)
def test_a_pledge_that_could_prove_nothing_is_refused_in_a_sentence(pledge: Callable[[], Pledge]) -> None:
    with pytest.raises(InvalidValue) as refused:
        pledge()

    assert one_sentence(refused.value)


@pytest.mark.parametrize("pledge", PLEDGES)
def test_where_nothing_is_known_no_claim_is_made(pledge: Pledge) -> None:
    unknown = Promise(Tabulated.of([2.0, 64.0], [math.inf, math.inf]))

    assert pledge.epsilon(unknown) == math.inf


def test_a_fixed_order_beyond_a_table_makes_no_claim() -> None:
    assert FixedOrder.at(20, DELTA).epsilon(Promise(Tabulated.of([2, 5], [0, 0]))) == math.inf


def test_a_mixture_claims_from_the_orders_that_are_known() -> None:
    known = Promise(Tabulated.of([2, 5], [0.1, 0.2]))

    assert math.isfinite(Mixture.even([2, 4, 8], DELTA).epsilon(known))


def test_a_half_normal_makes_no_claim_for_a_table() -> None:
    assert HalfNormal(1.0, DELTA).epsilon(Promise(Tabulated.of([2, 5], [0, 0]))) == math.inf


@pytest.mark.parametrize(
    ("epsilon", "stated"),
    [(0.01, 0.406980), (0.1, 0.496980), (0.464158883, 0.861139), (1, 1.396980)],
)
def test_a_fixed_order_adds_its_offset(epsilon: float, stated: float) -> None:
    pledge = FixedOrder.at(20, DELTA)

    assert pledge.epsilon(Promise(line(0, Fraction(epsilon) / 20))) == pytest.approx(stated, abs=5e-7)


@pytest.mark.parametrize(("epsilon", "stated"), [(0.01, 0.615943), (0.1, 0.705943), (1, 1.605943)])
def test_a_fixed_order_bounds_the_loss_itself_by_a_larger_number(epsilon: float, stated: float) -> None:
    pledge = FixedOrder.at(20, DELTA)

    assert pledge.probabilistic(Promise(line(0, Fraction(epsilon) / 20))) == pytest.approx(stated, abs=5e-7)


def test_an_order_between_floats_states_no_less_than_the_exact_offset() -> None:
    """Near order 1 the float nearest to α is off by 1e-7 of α − 1, far more than any rounding slack."""
    alpha = 1 + Fraction(1, 3_000_000_001)
    gap = alpha - 1
    shrink = math.log1p(float(gap)) - math.log(float(gap))
    offset = (-math.log(DELTA) - math.log1p(float(gap))) / float(gap) - shrink

    assert FixedOrder.at(alpha, DELTA).epsilon(NOTHING) >= offset


def test_a_tuned_order_is_the_best_for_its_anticipation() -> None:
    pledge = FixedOrder.tuned(Promise(line(0, Fraction(1, 20))), DELTA)

    assert float(pledge.alpha) == pytest.approx(14.3058, abs=1e-4)


def test_a_tuned_order_may_rest_on_a_table() -> None:
    assert FixedOrder.tuned(Promise(Tabulated.of([2, 20], [0.1, 1])), DELTA).alpha == 20


@pytest.mark.parametrize("curve", [line(0, 0, 0), line(0, Fraction(1, 20), 1), highest(line(1, 0), line(0, 1))])
def test_a_tuned_order_is_at_least_as_good_as_others(curve: Curve) -> None:
    """Also for nothing at all, for a Gaussian that an order does not use, and for lines that cross."""
    tuned = FixedOrder.tuned(Promise(curve), DELTA).epsilon(Promise(curve))

    for alpha in (1.1, 2, 5, 15, 20, 100):
        assert tuned <= FixedOrder.at(alpha, DELTA).epsilon(Promise(curve)) * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0])
def test_a_mixture_states_what_the_comparison_table_says(epsilon: float) -> None:
    mixture = Mixture.even([2.0**k for k in range(1, 9)], DELTA)
    expected = {0.01: (0.124199, 0.170450), 0.1: (0.437208, 0.533459), 1.0: (1.453304, 1.705368)}[epsilon]
    spent = Promise(line(0, Fraction(epsilon) / 20))

    assert (mixture.epsilon(spent), mixture.probabilistic(spent)) == pytest.approx(expected, abs=2e-6)


def test_a_half_normal_states_what_the_comparison_table_says() -> None:
    pledge = HalfNormal(26333.98, DELTA)

    assert pledge.probabilistic(Promise(line(0, Fraction(1, 2000)))) == pytest.approx(0.161419, abs=1e-6)


@pytest.mark.parametrize(("rung", "rho"), list(enumerate(RHOS)))
def test_a_planned_stop_is_stated_by_its_share_of_delta(rung: int, rho: Fraction) -> None:
    stated = PlannedStops(STOPS, DELTA).epsilon(STOPS[rung])

    assert stated == pytest.approx(gaussian_epsilon(rho, DELTA / 3), rel=1e-9)


def test_the_cheapest_stop_that_covers_is_stated_whatever_their_order() -> None:
    forwards, backwards = PlannedStops(STOPS, DELTA), PlannedStops(STOPS[::-1], DELTA)
    between = Promise(line(0, (RHOS[0] + RHOS[1]) / 2, (RHOS[0] + RHOS[1]) / 2))

    assert forwards.epsilon(between) == backwards.epsilon(between) == forwards.table[1].epsilon


def test_a_run_exactly_at_its_stop_is_covered() -> None:
    pledge = PlannedStops(STOPS, DELTA)

    assert pledge.epsilon(STOPS[-1]) == pledge.table[-1].epsilon


def test_a_run_that_overspends_every_stop_gets_no_claim() -> None:
    over = RHOS[-1] + Fraction(1, 2**200)

    assert PlannedStops(STOPS, DELTA).epsilon(Promise(line(0, over, over))) == math.inf


def test_a_run_that_lost_its_gaussian_gets_no_claim_from_a_gaussian_stop() -> None:
    assert PlannedStops(STOPS, DELTA).epsilon(Promise(line(0, RHOS[0]))) == math.inf


def test_a_stop_at_an_order_covers_by_that_order_alone() -> None:
    pledge = PlannedStops(TABLED, DELTA)
    alpha = pledge.table[0].alpha
    assert alpha is not None

    within = Promise(Tabulated.of([alpha], [float(TABLED[0].at(alpha))]))

    assert pledge.epsilon(within) == pledge.table[0].epsilon


def test_a_stop_at_an_order_does_not_cover_one_ulp_more() -> None:
    pledge = PlannedStops(TABLED[:1], DELTA)
    alpha = pledge.table[0].alpha
    assert alpha is not None

    beyond = Promise(Tabulated.of([alpha], [math.nextafter(float(TABLED[0].at(alpha)), math.inf)]))

    assert pledge.epsilon(beyond) == math.inf


@pytest.mark.parametrize("delta", [0.1, 1e-5, 2.0**-20, 0.3])
@pytest.mark.parametrize("stops", [1, 2, 3, 7, 100])
def test_the_shares_of_delta_do_not_exceed_it(delta: float, stops: int) -> None:
    """Also where the share is not a float, and the nearest one lies above it."""
    shares = stops * Fraction(PlannedStops((Promise(line(0, 1, 1)),) * stops, delta).share)

    assert (1 - Fraction(1, 10**15)) * Fraction(delta) < shares <= Fraction(delta)


def test_a_planned_stop_is_stated_no_smaller_than_at_its_share_of_delta() -> None:
    stop = Promise(line(0, 1, 1))

    assert PlannedStops((stop,) * 7, 0.1).table[0].epsilon >= gaussian_epsilon(1, 0.1 / 7)


def test_a_run_that_spent_nothing_is_stated_at_the_cheapest_stop() -> None:
    pledge = PlannedStops(STOPS, DELTA)

    assert pledge.epsilon(NOTHING) == pledge.table[0].epsilon


KINDS_OF_STOPS = [
    *STOPS,
    *TABLED,
    *(Promise(line(Fraction(1, 3), rho)) for rho in RHOS),
    Promise(highest(line(1, 0), line(0, Fraction(1, 7)))),
    Descent(Fraction(1, 10), Fraction(4)).promise(50),
    NOTHING,
]
"""Stated by the Gaussian profile, at an order of a table or of a line, by the distribution of the loss, and free."""


@given(st.permutations(KINDS_OF_STOPS), st.sampled_from([0, Fraction(1, 2**300), Fraction(1, 2**40), Fraction(1, 9)]))
@settings(max_examples=20, deadline=None)
def test_the_stop_that_is_found_is_the_cheapest_of_all_that_cover(stops: list[Promise], more: Fraction | int) -> None:
    """Also for runs that end exactly on a stop, or too close beyond it for floats to tell."""
    pledge = PlannedStops(tuple(stops[:6]), DELTA)

    for run in (each + Promise(line(more, 0)) for each in KINDS_OF_STOPS):
        one_by_one = min((stop.epsilon for stop in pledge.table if stop.covers(run)), default=math.inf)
        assert pledge.epsilon(run) == one_by_one


def test_a_stop_that_rests_on_a_gaussian_it_does_not_have_covers_nothing() -> None:
    assert not Stop(Promise(line(0, 1)), AdpEpsilon(1.0), None).covers(NOTHING)


@pytest.mark.parametrize("pledge", PLEDGES)
def test_a_pledge_refuses_what_was_spent_already(pledge: Pledge) -> None:
    spent = Spent(line(0, RHOS[0], RHOS[0]))

    for statement in (pledge.epsilon, pledge.probabilistic):
        with pytest.raises(TypeError, match="made after the run proves nothing"):
            statement(spent)  # type: ignore[arg-type] # a caller without a type checker


@settings(max_examples=40)
@given(
    st.sampled_from(PLEDGES),
    st.fractions(0, 2, max_denominator=10**4),
    st.fractions(0, 2, max_denominator=10**4),
)
def test_more_spent_is_never_stated_smaller(pledge: Pledge, rho: Fraction, extra: Fraction) -> None:
    less, more = Promise(line(0, rho, rho)), Promise(line(0, rho + extra, rho + extra))

    assert pledge.epsilon(less) <= pledge.epsilon(more)


@settings(max_examples=40)
@given(st.sampled_from(PLEDGES), st.fractions(0, 2, max_denominator=10**4))
def test_what_bounds_the_loss_is_never_below_the_stated_epsilon(pledge: Pledge, rho: Fraction) -> None:
    spent = Promise(line(0, rho, rho))

    assert pledge.probabilistic(spent) >= pledge.epsilon(spent)


def test_a_run_that_overspends_every_stop_gets_no_bound_on_its_loss() -> None:
    pledge, over = PlannedStops(STOPS, DELTA), RHOS[-1] + Fraction(1, 2**200)

    assert pledge.probabilistic(Promise(line(0, over, over))) == math.inf
    assert pledge.probabilistic(STOPS[-1]) < math.inf


@pytest.mark.parametrize("alpha", [20, 1.5, np.int64(20), np.float64(1.5)])
def test_an_order_of_plain_numbers_is_read_exactly(alpha: float) -> None:
    pledge = FixedOrder(alpha, 1e-5)  # type: ignore[arg-type] # a caller without a type checker

    assert pledge == FixedOrder.at(float(alpha), 1e-5)
    assert {type(part) for part in pledge.alpha.as_integer_ratio()} == {int}
