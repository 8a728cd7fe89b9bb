"""Facts: plain values, all of them released, that say what the run itself says."""

from dataclasses import replace
from fractions import Fraction

import pytest

from expost.accounting.claim import Spent
from expost.accounting.curve import RdpEpsilon
from expost.bill import Item, bill_total
from expost.errors import LedgerConflict
from expost.jobs.synthesis.declared import field_of
from expost.jobs.synthesis.report import table_facts
from expost.ledger import Entry, MemoryLedger
from expost.search import Ended
from expost.tabular.schema.column import Column, Missing
from expost.tabular.schema.listed import Categorical, Integer
from tests.unit.examples import line
from tests.unit.report.examples import facts, run, table
from tests.unit.report.pages import PLAIN, leaves


def test_facts_are_plain_values() -> None:
    assert [leaf for leaf in leaves(facts()) if not isinstance(leaf, PLAIN)] == []


def test_a_table_among_the_facts_would_be_noticed() -> None:
    table = run()[0].outcome.release.value.table

    smuggled = replace(facts(), title=table)  # type: ignore[arg-type]  # the mistake that must be noticed

    assert [leaf for leaf in leaves(smuggled) if not isinstance(leaf, PLAIN)] == [table]


def test_the_statement_is_the_outcomes() -> None:
    outcome, told = run()[0].outcome, facts()

    assert (told.epsilon, told.ended, told.seeded) == (outcome.epsilon, Ended.HALTED, True)
    assert told.rungs[-1].epsilon == told.epsilon
    assert told.reached


def test_a_noisy_accuracy_is_the_threshold_and_the_margin_over_the_estimated_records() -> None:
    synthesis, told = run()[0], facts()
    verdict = synthesis.outcome.history[-1].verdict
    assert verdict is not None
    assert verdict.margin is not None
    assert verdict.std is not None

    assert told.rungs[-1].accuracy == pytest.approx(0.8 + verdict.margin / synthesis.counted.held)
    assert told.rungs[-1].error == pytest.approx(verdict.std / synthesis.counted.held)


def test_a_rung_that_was_not_checked_has_no_accuracy() -> None:
    told = facts(Fraction(999, 1000), sure=False)

    assert (told.ended, told.reached) == (Ended.EXHAUSTED, False)
    assert (told.rungs[-1].passed, told.rungs[-1].accuracy) == (None, None)


def test_every_planned_stop_has_a_price_and_they_rise() -> None:
    prices = [stop.epsilon for stop in facts().stops]

    assert len(prices) == 4
    assert prices == sorted(prices)


def test_the_bill_adds_up_to_what_was_spent() -> None:
    told = facts()

    assert bill_total(told.bill).at(20) == pytest.approx(told.spent.at(20), rel=1e-12)


def test_of_two_parts_the_dearer_counts_and_what_reads_both_comes_on_top() -> None:
    def item(part: str, rho: Fraction) -> Item:
        return Item(Entry("step", part, "add or remove one record", False, False), Spent(line(0, rho)))

    bill = [item("data", Fraction(1)), item("data/train", Fraction(2)), item("data/train", Fraction(3))]

    assert bill_total([*bill, item("data/held", Fraction(4))]).at(2) == RdpEpsilon(2 * (1 + 5))
    assert bill_total([*bill, item("data/held", Fraction(6))]).at(2) == RdpEpsilon(2 * (1 + 6))


def test_a_step_that_failed_is_billed_in_full() -> None:
    synthesis, ledger = run()
    pledge, copy = synthesis.outcome.pledge, MemoryLedger()
    assert pledge is not None
    copy.pledge(pledge)
    copy.hold(ledger.lines[0][0], synthesis.plan.stops[0])

    (item,) = table_facts(synthesis, copy, title="", because="").bill

    assert (item.finished, item.spent) == (False, synthesis.plan.stops[0].as_spent())


def test_the_record_of_another_run_is_refused() -> None:
    with pytest.raises(LedgerConflict, match="pledged otherwise"):
        table_facts(run()[0], MemoryLedger(), title="", because="")


@pytest.mark.parametrize(
    ("column", "told"),
    [
        (Categorical("c", ("a", "b"), "rest", missing=Missing.FALLBACK), "counted as rest"),
        (Categorical("c", ("a", "b"), None, "b", missing=Missing.FALLBACK), "counted as b"),
        (Categorical("c", ("a", "b"), missing=Missing.FALLBACK), "counted as a"),
        (Integer("c", (3, 4), Missing.FALLBACK), "counted as 3"),
        (Categorical("c", ("a", "b"), "rest", None, missing=Missing.CATEGORY), "a category of its own"),
        (Categorical("c", ("a", "b"), missing=Missing.DROP), "the record is dropped"),
    ],
    ids=["other", "fallback", "neither", "a number", "a category", "dropped"],
)
def test_what_becomes_of_a_missing_value_is_what_the_schema_declares(column: Column, told: str) -> None:
    assert field_of(column).missing == told


def test_the_digest_is_that_of_the_schema() -> None:
    told = table(facts())

    assert len(told.schema_digest) == 64
    assert told.schema_digest != table(facts(value="somewhere")).schema_digest
