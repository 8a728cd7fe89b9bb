"""What was spent is stated under the pledge that came first, and no other: the best of many orders proves nothing.

The attack: run without a pledge, or with a loose one, then look through many orders for the smallest ε. The failure
events of the orders can be disjoint, so that their probabilities add up beyond δ.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from expost import Budget, Gaussian, Odometer, Private, Promise, Release, Spent, SystemNoise
from expost.accounting.jumps import PlannedJumps
from expost.accounting.pledge import FixedOrder, HalfNormal, Mixture, Pledge
from expost.accounting.stops import PlannedStops
from expost.release import Past
from tests.unit.examples import Says, budget, counts, line, one_sentence, people

DELTA = 1e-5
FIRST = FixedOrder.at(2, DELTA)
ORDERS = np.geomspace(1.1, 500, 200)
PLEDGES: dict[str, Pledge] = {
    "fixed order": FixedOrder.at(20, DELTA),
    "mixture": Mixture.even([2, 20], DELTA),
    "half-normal": HalfNormal(1.0, DELTA),
    "planned stops": PlannedStops((Promise(line(0, 1, 1)),), DELTA),
    "planned jumps": PlannedJumps((Promise(line(0, 1, 1)),), DELTA, Fraction(1, 10)),
}


def made(pledge: Pledge | None, epsilon: float = 1, past: "Past[Any] | None" = None) -> Release[Any]:
    """A Gaussian release of an odometer with this pledge."""
    odometer, data = Odometer(pledge=pledge), Private(np.zeros(5, dtype=np.int64))
    mechanism: Gaussian[Any] = Gaussian(counts())
    return odometer.spend(mechanism, data, Budget.of(epsilon, alpha=20), past or Past(), SystemNoise())


def best_of(orders: "np.ndarray[Any, Any]", read: Callable[[Spent], Any], release: Release[Any]) -> float:
    """The smallest ε that a pledge chosen now would state."""
    return min(FixedOrder.at(float(alpha), DELTA).epsilon(read(release.spent)) for alpha in orders)


def test_the_best_of_200_orders_is_refused_afterwards() -> None:
    with pytest.raises(TypeError, match="a pledge made after the run proves nothing") as refused:
        best_of(ORDERS, lambda spent: spent, made(FIRST))

    assert one_sentence(refused.value)


def test_it_would_state_less_than_was_pledged() -> None:
    """The negative twin: whoever reads what was spent as a promise gets less than the pledge on record states."""
    release = made(FIRST)

    assert best_of(ORDERS, lambda spent: Promise(spent.curve), release) < release.epsilon / 5


@pytest.mark.parametrize("pledge", PLEDGES.values(), ids=PLEDGES)
def test_no_pledge_takes_what_was_spent(pledge: Any) -> None:
    spent = made(None).spent

    with pytest.raises(TypeError):
        pledge.epsilon(spent)
    if hasattr(pledge, "probabilistic"):
        with pytest.raises(TypeError):
            pledge.probabilistic(spent)


@pytest.mark.parametrize("pledge", PLEDGES.values(), ids=PLEDGES)
def test_every_pledge_takes_a_promise(pledge: Pledge) -> None:
    assert math.isfinite(pledge.epsilon(Promise(line(0, 1, 1))))


def test_what_was_spent_has_no_statement_of_its_own() -> None:
    assert not hasattr(made(FIRST).spent, "approx")


@pytest.mark.parametrize("pledge", [FIRST, PLEDGES["mixture"]])
def test_a_release_is_stated_under_the_pledge_of_its_odometer(pledge: Pledge) -> None:
    release = made(pledge)

    assert release.pledge is pledge
    assert release.epsilon == pledge.epsilon(Promise(release.spent.curve)) < math.inf
    assert release.map(str).epsilon == release.epsilon


def test_a_release_without_a_pledge_is_not_stated() -> None:
    assert made(None).epsilon == math.inf


def test_a_raised_bill_is_stated_under_the_same_pledge() -> None:
    release = made(FIRST).at_least(Promise(line(0, 3)))

    assert release.pledge is FIRST
    assert release.epsilon == FIRST.epsilon(Promise(line(0, 3)))


def test_releases_of_two_odometers_are_stated_if_both_were_pledged_alike() -> None:
    joint = Past(made(FIRST), made(FixedOrder.at(2, DELTA))).joint()

    assert joint.epsilon == FIRST.epsilon(Promise(joint.spent.curve)) > made(FIRST).epsilon


@pytest.mark.parametrize("other", [None, FixedOrder.at(3, DELTA), FixedOrder.at(2, 1e-6)])
def test_releases_of_two_odometers_that_were_pledged_otherwise_are_not(other: Pledge | None) -> None:
    first = made(FIRST)

    assert Past(first, made(other)).joint().epsilon == math.inf
    assert made(other, past=Past(first)).epsilon == math.inf


def test_the_pledge_of_a_release_cannot_be_replaced() -> None:
    with pytest.raises(Exception, match="a release is final"):
        made(FIRST).pledge = FixedOrder.at(30, DELTA)  # type: ignore[misc] # what an attacker would write


def test_a_release_is_stated_as_its_odometer_is() -> None:
    odometer = Odometer(pledge=FIRST)

    release = odometer.spend(Says(0), people(0), budget(1), Past(), SystemNoise())

    assert release.epsilon == odometer.epsilon < math.inf
