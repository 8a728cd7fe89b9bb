"""Facts: plain values, all of them released, that say what the run itself says."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from expost.accounting.claim import Spent
from expost.accounting.curve import RdpEpsilon
from expost.bill import Item, bill_total
from expost.errors import LedgerConflict
from expost.jobs.synthesis.comparison import MOST_CELLS, NORMAL_95, alone
from expost.jobs.synthesis.declared import field_of
from expost.jobs.synthesis.report import table_facts
from expost.ledger import Entry, MemoryLedger
from expost.noise import Floats
from expost.search import Ended
from expost.tabular.marginals import Clique
from expost.tabular.schema.column import Codes, Column, Missing
from expost.tabular.schema.listed import Categorical, Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.table import Table
from tests.unit.examples import line
from tests.unit.report.examples import facts, run, schema, table
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

    assert told.rungs[-1].accuracy == pytest.approx(0.8 + verdict.margin / synthesis.held)
    assert told.rungs[-1].error == pytest.approx(verdict.std / synthesis.held)


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


def drawn(form: Schema, counts: tuple[int, int, int]) -> Table:
    codes: Codes = np.repeat(np.arange(3, dtype=np.uint8), counts)
    blank = np.zeros(len(codes), dtype=np.uint8)
    return Table(form, {name: codes if name == "region" else blank for name in form.names})


def test_a_column_is_added_up_from_every_marginal_that_holds_it_by_precision() -> None:
    """Over the two cells of plan the noise doubles, over the four of age it quadruples: weights 2 to 1."""
    measured: dict[Clique, Floats] = {
        ("region", "plan"): np.array([[30.0, 30], [20, 20], [10, 10]]),
        ("region", "age"): np.array([[9.0] * 4, [9] * 4, [9] * 4]),
    }

    compared = alone(measured, 3.0, drawn(schema(), (3, 2, 1)), "region")

    assert [cell.released for cell in compared.cells] == pytest.approx([52, (80 + 36) / 3, (40 + 36) / 3])
    assert compared.cells[0].half == pytest.approx(NORMAL_95 * 3 / np.sqrt(1 / 2 + 1 / 4))


def test_a_synthetic_marginal_is_scaled_to_the_released_total() -> None:
    compared = alone({("region",): np.array([30.0, 20, 10])}, 1.0, drawn(schema(), (300, 200, 100)), "region")

    assert [cell.synthetic for cell in compared.cells] == pytest.approx([30, 20, 10])
    assert compared.distance == pytest.approx(0)
    assert compared.noise == pytest.approx(3 / np.sqrt(2 * np.pi) / 60)


def test_total_variation_is_half_the_sum_of_differences() -> None:
    compared = alone({("region",): np.array([30.0, 20, 10])}, 1.0, drawn(schema(), (20, 20, 20)), "region")

    assert compared.distance == pytest.approx(1 / 6)


def test_a_large_marginal_shows_some_cells_and_adds_up_the_rest() -> None:
    edges = ", ".join(map(str, range(31)))
    form = Schema.load(
        'reviewed = true\nneighbours = "add-remove"\n[[column]]\nname = "age"\nkind = "integer"\n'
        f'edges = [{edges}]\nclosed = "left"\nmissing = false\n'
    )
    table = Table(form, {"age": np.arange(30, dtype=np.uint8)})

    cells = alone({("age",): np.arange(30.0)}, 1.0, table, "age").cells

    assert len(cells) == MOST_CELLS + 1
    assert cells[-1].label == "the 18 others"
    assert cells[-1].released == sum(range(18))
    assert cells[-1].half == pytest.approx(NORMAL_95 * np.sqrt(18))


@pytest.mark.parametrize(
    ("column", "told"),
    [
        (Categorical("c", ("a", "b"), "rest", missing=Missing.FALLBACK), "counted as rest"),
        (Categorical("c", ("a", "b"), None, "b", missing=Missing.FALLBACK), "counted as b"),
        (Categorical("c", ("a", "b"), missing=Missing.FALLBACK), "counted as a"),
        (Integer("c", (3, 4), Missing.FALLBACK), "counted as 3"),
        (Categorical("c", ("a", "b"), "rest", None, missing=Missing.CATEGORY), "a category of its own, the last code"),
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
