"""The plan is the best of the valid pledges for its stops, and says so."""

import math
from fractions import Fraction

import pytest

from expost.accounting.claim import NOTHING, Promise
from expost.accounting.curve import ORDERS, Tabulated
from expost.accounting.descent import Descent
from expost.accounting.plan import stated_by, tightest_pledge
from expost.accounting.pledge import FixedOrder, HalfNormal, Mixture
from expost.accounting.pure import randomized_response_rdp
from expost.accounting.stops import PlannedStops
from expost.errors import InvalidValue
from tests.unit.examples import line

DELTA = 1e-5
LADDER = [Promise(line(0, rho, rho)) for rho in (Fraction(0.01 * 100 ** (k / 6)) / 20 for k in range(7))]
CROWD = [Promise(line(0, 1 + Fraction(k, 10**6), 1 + Fraction(k, 10**6))) for k in range(20)]
POWERS = [2.0**k for k in range(1, 11)]
WIDE = [
    Promise(Tabulated.of(POWERS, [rho * alpha for alpha in POWERS])) for rho in (10 ** (k / 3 - 3.8) for k in range(16))
]
"""Stops from 1e-4·α to 16·α of which nothing but a table is known."""
PURE = Promise(Tabulated.of(ORDERS, [randomized_response_rdp(1, alpha) for alpha in ORDERS]))


def test_a_short_gaussian_ladder_is_planned_stop_by_stop() -> None:
    assert isinstance(tightest_pledge(LADDER, DELTA).pledge, PlannedStops)


def test_the_reason_names_the_winner_and_every_loser() -> None:
    reason = tightest_pledge(LADDER, DELTA).reason

    assert reason.startswith("planned stops: ε averages 0.38")
    assert all(name in reason for name in ("7 stops", "mixture of orders", "fixed order", "half-normal mixture"))


@pytest.mark.parametrize(
    ("stops", "words"),
    [
        (LADDER[:2], "stated by the Gaussian profile"),
        ([PURE], "stated by one Rényi order"),
        (
            [Descent(Fraction(1, 10), Fraction(4)).promise(steps) for steps in (50, 100)],
            "stated by the distribution of the privacy loss",
        ),
        ([PURE, *LADDER[:2]], "stated by one Rényi order (1 of them) and the Gaussian profile (2 of them)"),
    ],
    ids=["Gaussian", "order", "kinds", "two"],
)
def test_what_states_the_stops_is_said_in_words(stops: list[Promise], words: str) -> None:
    assert stated_by(PlannedStops(tuple(stops), DELTA)) == words


def test_one_stop_is_not_called_stops() -> None:
    assert "over 1 stop at" in tightest_pledge(LADDER[:1], DELTA).reason


def test_the_stops_are_kept_in_order() -> None:
    assert tightest_pledge(LADDER, DELTA).stops == tuple(LADDER)


def test_many_stops_close_together_are_better_stated_at_one_order() -> None:
    assert isinstance(tightest_pledge(CROWD, DELTA).pledge, FixedOrder)


def test_many_stops_far_apart_are_better_stated_at_several_orders() -> None:
    assert isinstance(tightest_pledge(WIDE, DELTA).pledge, Mixture)


def test_an_order_is_tuned_to_later_stops_too() -> None:
    """The first stop is stated a little better at order 2, the second far better at 64."""
    first, second = Promise(Tabulated.of([2, 64], [0, 10.2])), Promise(Tabulated.of([64], [1.0]))
    assert FixedOrder.tuned(first, DELTA).alpha == 2

    assert tightest_pledge([first, second], DELTA).pledge == FixedOrder.at(64, DELTA)


def test_a_stop_that_costs_nothing_brings_the_average_to_zero() -> None:
    reason = tightest_pledge([NOTHING, LADDER[0]], DELTA).reason

    assert reason.startswith("planned stops: ε averages 0 over 2 stops")


def test_a_pure_promise_is_planned_without_a_half_normal() -> None:
    """A constant curve has no ρ to tune a half-normal to."""
    planned = tightest_pledge([Promise(line(1, 0)), Promise(line(2, 0))], DELTA)

    assert "half-normal" not in planned.reason
    assert planned.pledge.epsilon(Promise(line(2, 0))) == pytest.approx(2, rel=1e-3)


@pytest.mark.parametrize("stops", [LADDER, [PURE, PURE + PURE], [*LADDER[:2], PURE], WIDE])
def test_no_other_pledge_would_average_less(stops: list[Promise]) -> None:
    chosen = tightest_pledge(stops, DELTA).pledge
    others = [
        PlannedStops(tuple(stops), DELTA),
        Mixture.even([2.0**k for k in range(1, 9)], DELTA),
        HalfNormal.tuned(Fraction(1, 20), DELTA),
        *(FixedOrder.at(alpha, DELTA) for alpha in (2, 5, 20, 64)),
    ]

    def product(pledge: object) -> float:
        assert isinstance(pledge, PlannedStops | Mixture | HalfNormal | FixedOrder)
        return math.prod(pledge.epsilon(stop) for stop in stops)

    assert all(product(chosen) <= product(other) * (1 + 1e-12) for other in others)


def test_a_plan_without_stops_is_refused() -> None:
    with pytest.raises(InvalidValue, match="no stop is planned"):
        tightest_pledge([], DELTA)


@pytest.mark.parametrize("rho", [Fraction(1, 10**12), Fraction(1, 10**8)])
def test_a_pledge_that_claims_nothing_somewhere_never_wins(rho: Fraction) -> None:
    """At the order that suits a tiny Gaussian a table ends: one stop is stated as 0, the other as infinite.

    Planned stops state the second Gaussian above 0, at their share of δ.
    """
    tiny = Promise(line(0, rho))
    assert not FixedOrder.tuned(tiny, 1e-4).epsilon(tiny) > 0

    planned = tightest_pledge([tiny, PURE], 1e-4)

    assert all(math.isfinite(planned.pledge.epsilon(stop)) for stop in (tiny, PURE))
    assert "half-normal mixture inf" in planned.reason
