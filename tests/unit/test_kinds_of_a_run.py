"""Which runs of an odometer a stop covers that is stated by kinds of steps, and that a bill read back says the same."""

import math
from fractions import Fraction

import pytest

from expost.accounting.claim import Budget, Promise
from expost.accounting.curve import Linear
from expost.accounting.descent import Descent
from expost.accounting.statement import stated
from expost.accounting.stops import PlannedStops
from expost.bill import bill_total, billed
from expost.ledger import MemoryLedger
from expost.noise import Integers, SystemNoise
from expost.odometer import Odometer
from expost.private import Private, split
from expost.release import Past
from tests.unit.examples import Says, people

STEPS = Descent(Fraction(1, 10), Fraction(5))
LOOK = Promise(Linear(Fraction(0), Fraction(1, 100), Fraction(1, 100)))
PLEDGE = PlannedStops((STEPS.promise(100).with_held(LOOK), STEPS.promise(200).with_held(LOOK + LOOK)), 1e-5)
BUDGET = Budget.of(1, alpha=2)
SYSTEM = SystemNoise()


def run(*steps: tuple[Promise, Private[Integers] | None]) -> float:
    """What the odometer states after these steps; a bill read back from its record must state the same."""
    ledger = MemoryLedger()
    odometer = Odometer(pledge=PLEDGE, ledger=ledger)
    for price, data in steps:
        assert data is not None
        odometer.spend(Says(0, curve=price.curve), data, BUDGET, Past(), SYSTEM)
    assert stated(bill_total(billed(ledger)), PLEDGE) == odometer.epsilon
    return odometer.epsilon


WHOLE = people(0)
PARTS, OTHERS = (split(WHOLE, Fraction(1, 2), SYSTEM) for _ in range(2))
FIRST, SECOND = (stop.epsilon for stop in PLEDGE.table)


def test_the_stops_are_stated_by_kinds() -> None:
    assert all(stop.kinds is not None for stop in PLEDGE.table)
    assert all(stop.measure == "the distribution of the privacy loss" for stop in PLEDGE.table)


@pytest.mark.parametrize("pieces", [1, 4, 100])
def test_a_run_within_a_stop_is_stated_as_that_stop_however_it_was_divided(pieces: int) -> None:
    part = STEPS.promise(100 // pieces)

    assert run(*[(part, PARTS.train)] * pieces) == FIRST
    assert run(*[(part, PARTS.train)] * pieces, (LOOK, PARTS.held)) == FIRST
    assert run((LOOK, PARTS.held), *[(part, PARTS.train)] * pieces, (part, PARTS.train)) == SECOND


def test_a_run_beyond_a_stop_on_either_side_is_not_within_it() -> None:
    steps = STEPS.promise(100)

    assert run((steps, PARTS.train), (STEPS.promise(1), PARTS.train)) == SECOND
    assert run((steps, PARTS.train), (LOOK, PARTS.held), (LOOK, PARTS.held)) == SECOND
    assert run((steps, PARTS.train), (LOOK, PARTS.held), (LOOK, PARTS.held), (LOOK, PARTS.held)) == math.inf
    assert run(*[(steps, PARTS.train)] * 2, (STEPS.promise(1), PARTS.train)) == math.inf


def test_a_step_of_another_kind_is_not_covered_though_it_costs_less() -> None:
    """Whoever chose it may have looked."""
    milder = Descent(Fraction(1, 20), Fraction(6)).promise(1)

    assert run((STEPS.promise(100), PARTS.train), (milder, PARTS.train)) == math.inf


def test_sides_are_not_exchanged_and_divisions_not_mixed() -> None:
    """On the other side, on the whole, or on a second division: no side is then fixed before the first release."""
    steps, one = STEPS.promise(50), STEPS.promise(1)

    assert run((steps, PARTS.held)) == math.inf
    assert run((steps, WHOLE)) == math.inf
    assert run((LOOK, WHOLE), (steps, PARTS.train)) == math.inf
    assert run((steps, PARTS.train), (LOOK, WHOLE)) == math.inf
    assert run((steps, PARTS.train), (LOOK, OTHERS.held)) == math.inf
    assert run((steps, PARTS.train), (one, OTHERS.train)) == math.inf


def test_a_split_within_a_split_leaves_no_kinds_known() -> None:
    inner = split(PARTS.train, Fraction(1, 2), SYSTEM)

    assert run((STEPS.promise(1), inner.train)) == math.inf


def test_a_plan_without_sides_covers_the_whole_and_each_of_its_parts() -> None:
    pledge = PlannedStops((STEPS.promise(100),), 1e-5)

    for data in (WHOLE, PARTS.train, PARTS.held):
        assert data is not None
        odometer = Odometer(pledge=pledge)
        odometer.spend(Says(0, curve=STEPS.promise(100).curve), data, BUDGET, Past(), SYSTEM)
        assert odometer.epsilon == pledge.table[0].epsilon
