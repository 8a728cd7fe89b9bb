"""Planned jumps: what is refused, which total is stated by which table, and what the odometer lets a run do."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from expost.accounting.claim import Promise, Spent
from expost.accounting.curve import AdpEpsilon, Tabulated
from expost.accounting.jumps import PlannedJumps
from expost.accounting.pledge import FixedOrder, Watching
from expost.accounting.stops import PlannedStops
from expost.checks.gaussian import BalancedCheck
from expost.checks.question import CentredSum
from expost.errors import BudgetExceeded, ExpostError, InvalidValue
from expost.filters import PledgedFilter
from expost.ledger import MemoryLedger
from expost.mechanisms.gaussian import Gaussian
from expost.noise import Integers, SystemNoise
from expost.odometer import Odometer
from expost.private import Private, Split, split
from expost.protocols import Inquiry, Price
from expost.receipts.costs import MOST_PLANNED, pledge_in, pledge_out
from expost.release import Past, Release
from expost.report.outcomes import reason_of
from tests.unit.examples import ADD, Says, budget, counts, line, people, right

DELTA = 1e-5
LEAD = Fraction(1, 10)
RHOS = tuple(Fraction(1, 1000) * 4**power for power in range(5))
"""From one to the next but one it is a jump; from one to the next it is not."""
SYSTEM = SystemNoise()


def stop(rho: Fraction) -> Promise:
    return Promise(line(0, rho, rho))


PLEDGE = PlannedJumps(tuple(map(stop, RHOS)), DELTA, LEAD)


def spend(odometer: Odometer, rho: Fraction, data: Private[Integers]) -> Release[int]:
    """One Gaussian step at the price."""
    return odometer.spend(Says(0, curve=stop(rho).curve), data, budget(1), Past(), SYSTEM)


@pytest.mark.parametrize(
    "refused",
    [
        lambda: PlannedJumps((), DELTA, LEAD),
        lambda: PlannedJumps((Promise(line(0, 1)),), DELTA, LEAD),
        lambda: PlannedJumps((stop(RHOS[0]), Promise(line(1, 2))), DELTA, LEAD),
        lambda: PlannedJumps((Promise(Tabulated.of([2], [1.0])),), DELTA, LEAD),
        lambda: PlannedJumps((stop(RHOS[1]), stop(RHOS[0])), DELTA, LEAD),
        lambda: PlannedJumps((stop(RHOS[0]), stop(RHOS[0])), DELTA, LEAD),
        lambda: PlannedJumps((stop(RHOS[0]), stop(RHOS[0] * Fraction(10009, 10000))), DELTA, LEAD),
        lambda: PlannedJumps((stop(RHOS[0]),), DELTA, Fraction(0)),
        lambda: PlannedJumps((stop(RHOS[0]),), DELTA, Fraction(1)),
        lambda: PlannedJumps((stop(RHOS[0]),), 1.0, LEAD),
        lambda: PlannedJumps((stop(RHOS[0]),), 0.0, LEAD),
        lambda: PlannedJumps((stop(Fraction(513)),), DELTA, LEAD),
        lambda: PlannedJumps((stop(Fraction(9, 2**30)),), DELTA, LEAD),
    ],
)
def test_what_is_not_a_plan_of_jumps_is_refused(refused: Callable[[], object]) -> None:
    with pytest.raises(InvalidValue):
        refused()


@pytest.mark.parametrize("rho", [Fraction(512), Fraction(10, 2**30)])
def test_the_largest_and_the_smallest_stops_are_stated(rho: Fraction) -> None:
    assert 0 < PlannedJumps((stop(rho),), DELTA, LEAD).epsilon(stop(rho)) < math.inf


def test_a_total_exactly_on_a_stop_is_stated_as_a_jump_and_any_other_by_a_stop_that_covers_it() -> None:
    little = Fraction(1, 10**30)

    assert PLEDGE.epsilon(stop(RHOS[2])) == PLEDGE.table[2].epsilon
    assert PLEDGE.epsilon(stop(RHOS[2] - little)) == PLEDGE.others.table[2].epsilon > PLEDGE.table[2].epsilon
    assert PLEDGE.epsilon(stop(RHOS[2] + little)) == PLEDGE.others.table[3].epsilon
    assert PLEDGE.epsilon(stop(RHOS[-1] + little)) == math.inf
    assert PLEDGE.epsilon(Promise(line(0, RHOS[2]))) == math.inf


def test_it_is_the_profile_that_must_lie_on_the_stop() -> None:
    wider = Promise(line(0, RHOS[2] / 2, RHOS[2]))

    assert PLEDGE.epsilon(wider) == PLEDGE.table[2].epsilon


def test_the_delta_of_the_tables_is_all_of_it() -> None:
    assert PLEDGE.others.delta == pytest.approx(DELTA / 10)
    assert PLEDGE.delta == DELTA


def test_a_jump_from_the_lead_itself_is_allowed_and_from_more_is_not() -> None:
    at, above = Spent(stop(LEAD * RHOS[3]).curve), Spent(stop(LEAD * RHOS[3] + Fraction(1, 10**30)).curve)
    there = Spent(stop(RHOS[3]).curve)

    PLEDGE.require_step([at], there)
    with pytest.raises(BudgetExceeded, match="more than the lead"):
        PLEDGE.require_step([above], there)


def test_a_run_may_look_and_jump_and_go_on() -> None:
    odometer, data = Odometer(pledge=PLEDGE), people(0)

    spend(odometer, RHOS[0] / 2, data)
    jumped = spend(odometer, RHOS[2] - RHOS[0] / 2, data)
    went_on = spend(odometer, RHOS[2], data)

    assert jumped.epsilon == PLEDGE.table[2].epsilon
    assert went_on.epsilon == odometer.epsilon == PLEDGE.others.table[3].epsilon


def test_a_second_jump_is_refused_even_if_something_was_spent_in_between() -> None:
    odometer, data = Odometer(pledge=PLEDGE), people(0)
    spend(odometer, RHOS[0], data)

    with pytest.raises(BudgetExceeded, match="has jumped before"):
        spend(odometer, RHOS[4] - RHOS[0], data)
    spend(odometer, RHOS[0] / 2, data)
    with pytest.raises(BudgetExceeded, match="has jumped before"):
        spend(odometer, RHOS[4] - RHOS[0] * Fraction(3, 2), data)

    assert odometer.spent.curve.gaussian == RHOS[0] * Fraction(3, 2)


def test_a_jump_that_was_refused_leaves_the_run_free_to_jump() -> None:
    odometer, data = Odometer(pledge=PLEDGE, cap=PledgedFilter(PLEDGE, PLEDGE.table[2].epsilon)), people(0)

    with pytest.raises(BudgetExceeded, match="the cap is"):
        spend(odometer, RHOS[3], data)

    assert spend(odometer, RHOS[2], data).epsilon == PLEDGE.table[2].epsilon


def test_what_is_refused_is_not_on_record() -> None:
    ledger = MemoryLedger()
    odometer, data = Odometer(pledge=PLEDGE, ledger=ledger), people(0)
    spend(odometer, RHOS[0] / 2, data)
    lines = len(ledger.lines)

    with pytest.raises(BudgetExceeded):
        spend(odometer, RHOS[0] / 2, data)

    assert len(ledger.lines) == lines


def test_no_step_leaves_the_total_on_a_stop() -> None:
    """What the cheaper side of a split spends after the jump would not show, and looks at the loss all the same."""
    odometer, parts = Odometer(pledge=PLEDGE), split(people(0, 1), 0.5, SYSTEM)
    assert parts.held is not None
    spend(odometer, RHOS[2], parts.train)

    with pytest.raises(BudgetExceeded, match="more than the lead"):
        spend(odometer, RHOS[0], parts.held)

    assert odometer.epsilon == PLEDGE.table[2].epsilon


def test_what_is_not_gaussian_noise_is_refused() -> None:
    odometer = Odometer(pledge=PLEDGE)

    with pytest.raises(BudgetExceeded, match="Gaussian noise alone"):
        odometer.spend(Says(0), people(0), budget(1), Past(), SYSTEM)


@dataclass(frozen=True)
class Varying:
    """A check that costs less when it fails."""

    inner: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def price(self, index: int, trained: Spent, asked: Spent) -> Price:
        return Price(stop(RHOS[1]), stop(RHOS[0]))


def asked(odometer: Odometer, check: Any) -> float:
    """The ε after one question about a candidate that was trained for."""
    parts: Split[Integers] = split(people(0, 1), 0.5, SYSTEM)
    assert parts.held is not None
    candidate = spend(odometer, RHOS[1] / 3, parts.train)
    odometer.ask(Inquiry(check), parts.held, candidate, trained=odometer.spent_on(parts.train), noise=SYSTEM)
    return odometer.epsilon


BALANCED: BalancedCheck[Integers, int] = BalancedCheck(CentredSum(right, Fraction(1, 2), ADD), None)


def test_a_check_of_one_price_is_asked_and_one_whose_price_depends_on_the_answer_is_not() -> None:
    assert asked(Odometer(pledge=PLEDGE), BALANCED) < math.inf
    with pytest.raises(BudgetExceeded, match="known beforehand"):
        asked(Odometer(pledge=PLEDGE), Varying(BALANCED))


def test_totals_of_two_odometers_are_not_stated_as_a_jump() -> None:
    halves = [spend(Odometer(pledge=PLEDGE), RHOS[2] / 2, people(0)) for _ in range(2)]

    assert Past(halves[0]).joint().epsilon < math.inf
    assert Past(*halves).joint().epsilon == math.inf


def test_a_bill_that_was_raised_to_a_stop_is_not_stated_as_a_jump() -> None:
    assert spend(Odometer(pledge=PLEDGE), RHOS[2] / 2, people(0)).at_least(stop(RHOS[2])).epsilon == math.inf


def test_a_release_is_charged_with_what_its_odometer_spent_since() -> None:
    odometer, data = Odometer(pledge=PLEDGE), people(0)
    early = spend(odometer, RHOS[0] / 2, data)
    spend(odometer, RHOS[2] - RHOS[0] / 2, data)

    charged = odometer.charge(early)

    assert (charged.value, charged.spent, charged.epsilon) == (0, odometer.spent, PLEDGE.table[2].epsilon)


@pytest.mark.parametrize("pledge", [None, FixedOrder.at(20, DELTA), PlannedJumps(PLEDGE.promises[:1], DELTA, LEAD)])
def test_a_cap_on_jumps_needs_an_odometer_that_watches_them(pledge: Any) -> None:
    with pytest.raises(InvalidValue, match="same pledge"):
        Odometer(pledge=pledge, cap=PledgedFilter(PLEDGE, AdpEpsilon(1.0)))


def test_only_jumps_watch_the_run() -> None:
    assert isinstance(PLEDGE, Watching)
    assert not isinstance(PlannedStops(PLEDGE.promises, DELTA), Watching)


def test_integer_noise_lands_on_a_stop() -> None:
    mechanism: Gaussian[Integers] = Gaussian(counts())
    first, jump = budget(Fraction(1, 500)), budget(Fraction(1, 10))
    total = mechanism.promise(first) + mechanism.promise(jump)
    odometer, data = Odometer(pledge=PlannedJumps((total,), DELTA, LEAD)), people(0)

    for each in (first, jump):
        release = odometer.spend(mechanism, data, each, Past(), SYSTEM)

    assert release.epsilon == odometer.epsilon
    assert isinstance(odometer.pledge, PlannedJumps)
    assert odometer.epsilon == odometer.pledge.table[0].epsilon


Change = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found.pop("lead"),
        lambda found: found.update(lead="1"),
        lambda found: found.update(lead="a tenth"),
        lambda found: found.update(lead=0.1),
        lambda found: found.update(stops=[]),
        lambda found: found["stops"].reverse(),
        lambda found: found.update(more=3),
        lambda found: found.update(stops=found["stops"] * (MOST_PLANNED + 1)),
        lambda found: found["stops"][0]["lines"][0].update(gaussian=None),
    ],
)
def test_a_receipt_with_another_plan_is_refused(change: Change) -> None:
    found = json.loads(json.dumps(pledge_out(PLEDGE)))
    assert pledge_in(found) == PLEDGE

    change(found)

    with pytest.raises(ExpostError):
        pledge_in(found)


def test_a_report_says_what_the_pledge_is() -> None:
    assert reason_of(PLEDGE).startswith("planned jumps: ")
