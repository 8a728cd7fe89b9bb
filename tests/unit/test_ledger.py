"""The record in memory: a hold counts in full until it is captured, once, by its own ledger."""

from dataclasses import replace

import pytest

from expost.accounting.claim import NOTHING, Promise, Spent
from expost.accounting.pledge import FixedOrder
from expost.errors import LedgerConflict
from expost.ledger import Entry, Hold, MemoryLedger
from tests.unit.examples import line

ENTRY = Entry("Gaussian", "data", "add or remove one record", False, False, {"variance": "10"})
OTHER = Entry("Gaussian", "data", "add or remove one record", False, False, {"variance": "20"})
PRICE, BILL = Promise(line(2, 1)), Spent(line(1, 1))


def test_an_empty_record_has_spent_nothing() -> None:
    assert MemoryLedger().spent == NOTHING.as_spent()


def test_a_hold_counts_in_full() -> None:
    memory = MemoryLedger()

    memory.hold(ENTRY, PRICE)

    assert memory.spent == PRICE.as_spent()


def test_a_captured_step_counts_what_it_spent() -> None:
    memory = MemoryLedger()

    memory.capture(memory.hold(ENTRY, PRICE), BILL)

    assert (memory.spent, memory.held, memory.lines) == (BILL, (), ((ENTRY, BILL, 1),))


def test_a_failed_step_stays_held_beside_later_ones() -> None:
    memory = MemoryLedger()
    failed = memory.hold(ENTRY, PRICE)

    memory.capture(memory.hold(ENTRY, PRICE), BILL)

    assert memory.held == (failed,)
    assert memory.spent == PRICE.as_spent() + BILL


def test_a_hold_is_captured_once() -> None:
    memory = MemoryLedger()
    hold = memory.hold(ENTRY, PRICE)
    memory.capture(hold, BILL)

    with pytest.raises(LedgerConflict, match="captured before"):
        memory.capture(hold, BILL)


def test_a_hold_of_another_recorder_is_refused() -> None:
    foreign = MemoryLedger().hold(ENTRY, PRICE)

    with pytest.raises(LedgerConflict, match="made by another ledger"):
        MemoryLedger().capture(foreign, BILL)


def test_a_hold_made_by_hand_is_refused_even_if_it_looks_the_same() -> None:
    memory = MemoryLedger()
    memory.hold(ENTRY, PRICE)

    with pytest.raises(LedgerConflict):
        memory.capture(Hold(ENTRY, PRICE), BILL)


def test_a_refused_capture_changes_nothing() -> None:
    memory = MemoryLedger()
    memory.hold(ENTRY, PRICE)

    with pytest.raises(LedgerConflict):
        memory.capture(Hold(ENTRY, PRICE), NOTHING.as_spent())

    assert memory.spent == PRICE.as_spent()


def test_equal_steps_in_a_row_are_one_line() -> None:
    memory = MemoryLedger()

    for _ in range(3):
        memory.capture(memory.hold(ENTRY, PRICE), BILL)

    assert memory.lines == ((ENTRY, BILL, 3),)


@pytest.mark.parametrize(("entry", "bill"), [(OTHER, BILL), (ENTRY, Spent(line(0, 1)))])
def test_another_fact_or_another_bill_is_another_line(entry: Entry, bill: Spent) -> None:
    memory = MemoryLedger()

    memory.capture(memory.hold(ENTRY, PRICE), BILL)
    memory.capture(memory.hold(entry, PRICE), bill)

    assert [count for _, _, count in memory.lines] == [1, 1]


def test_many_equal_steps_are_one_line_and_add_up() -> None:
    memory = MemoryLedger()

    for _ in range(10**4):
        memory.capture(memory.hold(ENTRY, PRICE), BILL)

    assert len(memory.lines) == 1
    assert memory.spent == BILL.times(10**4)


PLEDGE = FixedOrder.at(20, 1e-5)


def test_a_pledge_that_comes_first_is_kept() -> None:
    memory = MemoryLedger()

    memory.pledge(PLEDGE)

    assert memory.pledged is PLEDGE


def test_a_record_without_a_pledge_says_so() -> None:
    assert MemoryLedger().pledged is None


@pytest.mark.parametrize("first", [PLEDGE, None])
def test_an_odometer_that_pledges_nothing_is_refused_as_a_second_one_and_leaves_the_pledge_alone(
    first: FixedOrder | None,
) -> None:
    memory = MemoryLedger()
    memory.pledge(first)

    with pytest.raises(LedgerConflict, match="a ledger is for one odometer"):
        memory.pledge(None)

    assert memory.pledged is first


def test_a_pledge_that_comes_after_a_captured_step_is_refused() -> None:
    memory = MemoryLedger()
    memory.capture(memory.hold(ENTRY, PRICE), BILL)

    with pytest.raises(LedgerConflict, match="a ledger is for one odometer"):
        memory.pledge(PLEDGE)


def test_a_pledge_that_comes_after_a_hold_is_refused() -> None:
    memory = MemoryLedger()
    memory.hold(ENTRY, PRICE)

    with pytest.raises(LedgerConflict, match="a ledger is for one odometer"):
        memory.pledge(PLEDGE)


@pytest.mark.parametrize("second", [PLEDGE, FixedOrder.at(40, 1e-5)])
def test_a_second_pledge_is_refused(second: FixedOrder) -> None:
    memory = MemoryLedger()
    memory.pledge(PLEDGE)

    with pytest.raises(LedgerConflict, match="a ledger is for one odometer"):
        memory.pledge(second)


def test_equal_steps_are_counted_on_the_line_of_the_last_one() -> None:
    memory = MemoryLedger()

    for entry in (ENTRY, OTHER, OTHER, OTHER, ENTRY):
        memory.capture(memory.hold(entry, PRICE), BILL)

    assert memory.lines == ((ENTRY, BILL, 1), (OTHER, BILL, 3), (ENTRY, BILL, 1))


def test_a_record_stays_with_the_relation_of_its_first_step() -> None:
    memory = MemoryLedger()
    memory.hold(ENTRY, PRICE)

    with pytest.raises(LedgerConflict, match="this step for others"):
        memory.hold(replace(ENTRY, neighbours="replace one record"), PRICE)

    assert memory.spent == PRICE.as_spent()
