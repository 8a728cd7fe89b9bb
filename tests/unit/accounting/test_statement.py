"""What was spent is stated under the pledge that came first, and without one not at all."""

import math
from collections.abc import Callable
from fractions import Fraction

import pytest

from expost.accounting.claim import Promise, Spent
from expost.accounting.curve import AdpEpsilon, Tabulated
from expost.accounting.jumps import PlannedJumps
from expost.accounting.pledge import FixedOrder, HalfNormal, Mixture, Pledge
from expost.accounting.statement import stated, stated_loss
from expost.accounting.stops import PlannedStops
from tests.unit.examples import line

DELTA = 1e-5
CURVE = line(0, Fraction(1, 20), Fraction(1, 20))
PLEDGES: list[Pledge] = [
    FixedOrder.at(20, DELTA),
    Mixture.even([2, 4, 8, 16], DELTA),
    HalfNormal.tuned(Fraction(1, 20), DELTA),
    PlannedStops((Promise(CURVE),), DELTA),
    PlannedJumps((Promise(CURVE),), DELTA, Fraction(1, 10)),
]


@pytest.mark.parametrize("statement", [stated, stated_loss])
def test_without_a_pledge_no_claim_is_made(statement: Callable[[Spent, None], AdpEpsilon]) -> None:
    assert statement(Spent(CURVE), None) == math.inf


@pytest.mark.parametrize("pledge", PLEDGES)
def test_a_run_is_stated_as_one_that_always_stops_there(pledge: Pledge) -> None:
    assert stated(Spent(CURVE), pledge) == pledge.epsilon(Promise(CURVE)) < math.inf


@pytest.mark.parametrize("pledge", PLEDGES)
def test_the_loss_of_a_run_is_bounded_by_the_larger_number(pledge: Pledge) -> None:
    bound = stated_loss(Spent(CURVE), pledge)

    assert bound == pledge.probabilistic(Promise(CURVE)) < math.inf
    assert bound > stated(Spent(CURVE), pledge)


@pytest.mark.parametrize("statement", [stated, stated_loss])
def test_beyond_what_the_pledge_covers_no_claim_is_made(statement: Callable[[Spent, Pledge], AdpEpsilon]) -> None:
    assert statement(Spent(Tabulated.of([2, 5], [0, 0])), FixedOrder.at(20, DELTA)) == math.inf
