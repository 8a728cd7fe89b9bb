"""Bills under two neighbour relations have no sum: a bound on replacing a record says nothing about adding one.

The attack: replacing a record does not change the number of records, which makes that number free; an odometer that
adds such a step to a bill for added and removed records states a finite ε for a release that tells any two such data
sets apart.
"""

from collections.abc import Callable

import numpy as np
import pytest

from expost import odometer as odometers
from expost.accounting.claim import Budget, Promise, Spent
from expost.accounting.pledge import FixedOrder, Pledge
from expost.checks import CentredSum, GaussianCheck
from expost.errors import BudgetExceeded, InvalidValue, LedgerConflict
from expost.filters import Filter
from expost.ledger import Entry, Hold, Ledger, MemoryLedger
from expost.mechanisms import Gaussian
from expost.noise import Integers
from expost.odometer import Odometer
from expost.private import Neighbours, Private
from expost.protocols import Inquiry
from expost.release import Past, Release
from tests.unit.examples import (
    ADD,
    REPLACE,
    Says,
    Tripwire,
    budget,
    counts,
    line,
    one_sentence,
    people,
    rehearsal,
    right,
    silence,
)

PLEDGE = FixedOrder.at(20, 1e-5)


def sealed(records: int, neighbours: Neighbours) -> Private[Integers]:
    return Private(np.zeros(records, dtype=np.int64), neighbours)


class Forgetful:
    """A ledger that compares nothing."""

    def pledge(self, pledge: Pledge | None) -> None:
        """Not kept."""

    def hold(self, entry: Entry, promise: Promise) -> Hold:
        """Not kept."""
        return Hold(entry, promise)

    def capture(self, hold: Hold, spent: Spent) -> None:
        """Not kept."""


def number_under_two_relations(records: int, ledger: Ledger) -> tuple[int, float]:
    """The exact number of records, free under replacement, after one honest step for added and removed ones."""
    seen: list[int] = []
    odometer = Odometer(pledge=PLEDGE, rehearsal=True, ledger=ledger)
    odometer.spend(Gaussian(counts()), sealed(records, ADD), budget(1), Past(), silence())
    free = Says(None, look=lambda data: seen.append(len(data)), neighbours=REPLACE, curve=line(0, 0))
    odometer.spend(free, sealed(records, REPLACE), budget(1), Past(), silence())
    return seen[0], odometer.epsilon


def test_an_odometer_stays_with_the_neighbours_of_its_first_step() -> None:
    with pytest.raises(InvalidValue, match="use one, and an odometer for each") as refused:
        number_under_two_relations(7, Forgetful())

    assert one_sentence(refused.value)


def test_an_odometer_that_forgets_them_states_a_finite_price_of_the_exact_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The negative twin: two data sets that differ by a record are told apart with certainty, for ε = 1.397."""
    monkeypatch.setattr(odometers, "agree", lambda neighbours, data: None)

    fewer, more = (number_under_two_relations(records, Forgetful()) for records in (7, 8))

    assert (fewer[0], more[0]) == (7, 8)
    assert fewer[1] == more[1] < 1.4


@pytest.mark.parametrize("first", [ADD, REPLACE])
def test_the_other_relation_is_refused_before_data_is_opened_and_costs_nothing(first: Neighbours) -> None:
    second, wire, odometer = REPLACE if first is ADD else ADD, Tripwire(), rehearsal()
    odometer.spend(Gaussian(counts(neighbours=first)), people(0, neighbours=first), budget(1), Past(), silence())
    before = odometer.spent

    with pytest.raises(InvalidValue):
        odometer.spend(Gaussian(wire.counts(second)), people(0, neighbours=second), budget(1), Past(), silence())

    assert not wire.opened
    assert odometer.spent == before


def test_a_question_under_another_relation_is_refused_too() -> None:
    odometer, wire = rehearsal(), Tripwire()
    candidate = odometer.spend(Says(0), people(0), budget(1), Past(), silence())
    check = GaussianCheck(CentredSum.accuracy(wire.score, 0.5, REPLACE), budget(1), 2, None)

    with pytest.raises(InvalidValue):
        odometer.ask(Inquiry(check), people(0, neighbours=REPLACE), candidate, trained=odometer.spent, noise=silence())

    assert not wire.opened


def test_a_failed_step_fixes_the_relation() -> None:
    """It is on the bill, and was perhaps seen."""
    odometer, broken = rehearsal(), Says(0, look=lambda data: 1 // 0)
    with pytest.raises(Exception, match="a step failed"):
        odometer.spend(broken, people(0), budget(1), Past(), silence())

    with pytest.raises(InvalidValue):
        odometer.spend(Says(0, neighbours=REPLACE), people(0, neighbours=REPLACE), budget(1), Past(), silence())


def test_a_step_that_was_refused_does_not() -> None:
    odometer = Odometer(cap=Filter(Budget.of(1, alpha=20)), rehearsal=True)
    with pytest.raises(BudgetExceeded):
        odometer.spend(Says(0), people(0), budget(2), Past(), silence())

    release = odometer.spend(Says(0, neighbours=REPLACE), people(0, neighbours=REPLACE), budget(1), Past(), silence())

    assert release.neighbours is REPLACE


def made(neighbours: Neighbours) -> Release[int]:
    return rehearsal().spend(
        Says(0, neighbours=neighbours), people(0, neighbours=neighbours), budget(1), Past(), silence()
    )


MIXED: dict[str, Callable[[], object]] = {
    "in a past": lambda: Past(made(ADD), made(REPLACE)),
    "in a past that grows": lambda: Past(made(ADD)).then(made(REPLACE)),
    "in a past of joint releases": lambda: Past[object](Past(made(ADD)).joint(), made(REPLACE).map(str)),
    "in a past after a bill was raised": lambda: Past(made(ADD).at_least(made(ADD).spent), made(REPLACE)),
    "as the past of a step": lambda: rehearsal().spend(Says(0), people(0), budget(1), Past(made(REPLACE)), silence()),
    "as a candidate": lambda: rehearsal().ask(
        Inquiry(GaussianCheck(CentredSum.accuracy(right, 0.5, ADD), budget(1), 2, None)),
        people(0),
        made(REPLACE),
        trained=made(ADD).spent,
        noise=silence(),
    ),
}


@pytest.mark.parametrize("mixing", MIXED.values(), ids=MIXED)
def test_releases_of_two_odometers_are_not_billed_together_across_relations(mixing: Callable[[], object]) -> None:
    with pytest.raises(InvalidValue) as refused:
        mixing()

    assert one_sentence(refused.value)


@pytest.mark.parametrize("neighbours", [ADD, REPLACE])
def test_releases_of_two_odometers_are_billed_together_within_one_relation(neighbours: Neighbours) -> None:
    joint = Past(made(neighbours), made(neighbours)).joint()

    assert joint.neighbours is neighbours
    assert joint.spent.at(20) == 2.0


def test_a_past_without_releases_goes_with_either() -> None:
    assert Past[int]().neighbours is Past[int]().joint().neighbours is None


def test_a_record_stays_with_one_odometer_and_so_with_one_relation() -> None:
    """By their names, a side of one split and the other side of another would cost the dearer of the two."""
    ledger = MemoryLedger()
    first = Odometer(ledger=ledger, rehearsal=True)
    first.spend(Says(0), people(0), budget(1), Past(), silence())

    with pytest.raises(LedgerConflict, match="one odometer") as refused:
        Odometer(ledger=ledger, rehearsal=True)

    assert one_sentence(refused.value)
    assert ledger.spent.at(20) == first.spent.at(20) == 1.0
