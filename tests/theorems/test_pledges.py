"""Claim (pledges). A fixed order, a mixture of orders and planned stops each turn what was spent into (ε, δ) validly
under every stopping rule; the best order at the realised output does not.

On Gaussian ladders the worst case over all stopping rules is known exactly, so each pledge is put to the test
there.
"""

import math
from collections.abc import Callable
from fractions import Fraction

import pytest

from expost import Budget, FixedOrder, HalfNormal, Ladder, Mixture, PlannedStops, Promise, worst_case_delta
from expost.accounting import convert
from expost.accounting.curve import Linear
from expost.accounting.gaussian import gaussian_epsilon
from expost.accounting.pledge import Pledge
from expost.accounting.worst_case import worst_case_tail
from tests.theorems.ladders import random_ladders

DELTA = 1e-5
LADDER = Ladder.geometric(0.01, 1, 7, alpha=20)
ORDERS = tuple(2.0**power for power in range(1, 9))
EVEN = Mixture.even(ORDERS, DELTA)


def gaussian(rho: Fraction) -> Promise:
    """A Gaussian release of this ρ."""
    return Promise(Linear(Fraction(0), rho, rho))


SPENT = tuple(gaussian(level / 20) for level in LADDER.levels)
STOPS = tuple(Promise(spent.curve) for spent in SPENT)


def union(promise: Promise) -> float:
    return convert.union_over_orders(ORDERS, [promise.at(a) for a in ORDERS], EVEN.weights, DELTA)


PRINTED: dict[str, tuple[Callable[[Promise], float], list[str]]] = {
    "fixed order, Lemma 7": (
        FixedOrder.at(20, DELTA).probabilistic,
        [".615943", ".627488", ".652359", ".705943", ".821387", "1.070102", "1.605943"],
    ),
    "fixed order, CKS": (
        FixedOrder.at(20, DELTA).epsilon,
        [".406980", ".418524", ".443396", ".496980", ".612424", ".861139", "1.396980"],
    ),
    "union over orders": (
        union,
        [".171027", ".244910", ".364283", ".535752", ".783173", "1.181118", "1.706158"],
    ),
    "mixture, probabilistic": (
        EVEN.probabilistic,
        [".170450", ".244261", ".364022", ".533459", ".782768", "1.173459", "1.705368"],
    ),
    "mixture, approximate": (
        EVEN.epsilon,
        [".124199", ".191980", ".281138", ".437208", ".637257", ".998122", "1.453304"],
    ),
    "half-normal mixture": (
        HalfNormal.tuned(Fraction(1, 2000), DELTA).probabilistic,
        [".161419", ".238427", ".354161", ".527687", ".787897", "1.178845", "1.768347"],
    ),
    "planned stops": (
        PlannedStops(STOPS, DELTA).epsilon,
        [".113159", ".170770", ".257604", ".388593", ".586515", ".886398", "1.342714"],
    ),
}


@pytest.mark.parametrize("column", PRINTED)
def test_every_column_of_the_comparison_comes_out_to_the_printed_digits(column: str) -> None:
    state, printed = PRINTED[column]

    stated = [state(spent) for spent in SPENT]

    assert [f"{epsilon:.6f}" for epsilon in stated] == [f"{float(number):.6f}" for number in printed]


def test_the_half_normal_variance_for_the_first_rung_is_the_printed_one() -> None:
    assert f"{HalfNormal.tuned(Fraction(1, 2000), DELTA).v:.2f}" == "26333.98"


def pledges(ladder: tuple[float, ...], delta: float) -> dict[str, Pledge]:
    middle = gaussian(Fraction(ladder[len(ladder) // 2]))
    return {
        "fixed order": FixedOrder.tuned(Promise(middle.curve), delta),
        "mixture": Mixture.even(ORDERS, delta),
        "half-normal": HalfNormal.tuned(ladder[len(ladder) // 2], delta),
        "planned stops": PlannedStops(tuple(Promise(gaussian(Fraction(rho)).curve) for rho in ladder), delta),
    }


@pytest.mark.parametrize("delta", [0.05, 1e-5])
@pytest.mark.parametrize("ladder", random_ladders(6), ids=lambda ladder: f"{len(ladder)} rungs from {ladder[0]:.2g}")
def test_no_stopping_rule_breaks_a_pledge(ladder: tuple[float, ...], delta: float) -> None:
    for name, pledge in pledges(ladder, delta).items():
        claims = [pledge.epsilon(gaussian(Fraction(rho))) for rho in ladder]

        assert worst_case_delta(ladder, claims) <= delta, name


@pytest.mark.parametrize("ladder", random_ladders(4), ids=lambda ladder: f"{len(ladder)} rungs from {ladder[0]:.2g}")
def test_no_stopping_rule_breaks_a_probabilistic_pledge(ladder: tuple[float, ...]) -> None:
    middle = Fraction(ladder[len(ladder) // 2])
    for pledge in (
        FixedOrder.tuned(Promise(gaussian(middle).curve), 0.05),
        Mixture.even(ORDERS, 0.05),
        HalfNormal.tuned(middle, 0.05),
    ):
        claims = [pledge.probabilistic(gaussian(Fraction(rho))) for rho in ladder]

        assert worst_case_tail(ladder, claims) <= 0.05


def test_planned_stops_without_splitting_delta_are_broken() -> None:
    rhos = [float(level / 20) for level in LADDER.levels]

    unsplit = [gaussian_epsilon(rho, DELTA) for rho in rhos]

    assert worst_case_delta(rhos, unsplit) == pytest.approx(5.7e-5, rel=0.02)


def test_the_best_order_at_the_realised_spend_is_broken_on_a_long_ladder() -> None:
    rhos = [10.0**rung for rung in range(10)]

    best = [rho + 2 * math.sqrt(rho * math.log(1 / 0.05)) for rho in rhos]

    assert worst_case_delta(rhos, best) > 0.05


def test_a_fixed_order_pledge_for_a_table_uses_its_own_orders() -> None:
    promise = Promise(Linear(Fraction(1, 100), Fraction(1, 50)))

    pledge = FixedOrder.tuned(promise, DELTA)

    assert pledge.epsilon(promise) == pytest.approx(promise.approx(DELTA))


def test_planned_stops_cover_adaptive_spending_within_a_stop() -> None:
    pledge = PlannedStops(STOPS, DELTA)
    between = gaussian(Fraction(3, 2) * LADDER.levels[2] / 20)

    assert pledge.epsilon(between) == pledge.table[3].epsilon


def test_planned_stops_claim_nothing_beyond_the_last() -> None:
    assert PlannedStops(STOPS, DELTA).epsilon(gaussian(Fraction(1, 19))) == math.inf


def test_planned_stops_do_not_lend_the_gaussian_profile_to_a_spend_that_is_not_gaussian() -> None:
    pledge = PlannedStops(STOPS, DELTA)

    merely_zcdp = Promise(Linear(Fraction(0), Budget.of(Fraction(1, 100), alpha=20).rho))

    assert pledge.epsilon(merely_zcdp) == math.inf
