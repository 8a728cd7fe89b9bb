"""Synthesis: planned in public, billed to the part that was read, and true to what was released."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from expost.accounting.claim import NOTHING
from expost.accounting.curve import AdpEpsilon
from expost.bill import billed, by_part
from expost.checks.question import accuracy_threshold
from expost.errors import BudgetExceeded, ExpostError, InvalidValue, MechanismFailed, SchemaMismatch
from expost.filters import PledgedFilter
from expost.jobs.synthesis.counted import Counted
from expost.jobs.synthesis.procedure import synthesise
from expost.jobs.synthesis.recipe import plan_synthesis
from expost.ledger import MemoryLedger
from expost.noise import Floats, SeededNoise
from expost.odometer import Odometer
from expost.search import Ended
from expost.tabular.aims import Aim
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Boolean, Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.score import Candidate
from expost.tabular.selection import queries
from expost.tabular.table import Table
from tests.unit.examples import ADD, REPLACE, budget, one_sentence
from tests.unit.jobs.synthesis.recipes import GROWING, LADDER, RECIPE, done, hard, parts, scored
from tests.unit.report.examples import customers, run, schema

BAD: dict[str, dict[str, Any]] = {
    "a target that is no column": {"target": "income"},
    "nothing asked for": {"aims": ()},
    "too many aims": {"aims": (Aim.accuracy("renewed", Fraction(4, 5)),) * 21},
    "δ of one": {"delta": 1.0},
    "δ that is no number": {"delta": math.nan},
    "nothing held out": {"validation": Fraction(0)},
    "everything held out": {"validation": Fraction(1)},
    "no rows": {"rows": 0},
    "another order": {"query": budget(0.01, 10)},
    "an accuracy of one": {"accuracy": Fraction(1)},
    "an accuracy too fine to count": {"accuracy": Fraction(1, 2**25)},
}


@pytest.mark.parametrize("changes", BAD.values(), ids=BAD)
def test_a_recipe_that_cannot_be_followed_is_refused_in_one_sentence(changes: dict[str, Any]) -> None:
    with pytest.raises(ExpostError) as refusal:
        wanted: dict[str, Any] = {"target": "renewed", "accuracy": Fraction(4, 5)} | changes
        aims = (Aim.accuracy(wanted.pop("target"), wanted.pop("accuracy")),)
        replace(RECIPE, **({"aims": aims} | wanted))

    assert one_sentence(refusal.value)


def test_columns_that_are_too_large_are_refused_by_name_before_data_is_opened() -> None:
    form = Schema(
        (
            Integer("wide", tuple(range(2**15)), Missing.FALLBACK),
            Integer("y", tuple(range(2**6)), Missing.FALLBACK),
            Boolean("b", Missing.FALLBACK),
        ),
        True,
        ADD,
    )

    with pytest.raises(SchemaMismatch, match=r"^wide with y "):
        replace(RECIPE, schema=form, aims=(Aim.accuracy("y", Fraction(4, 5)),))


@pytest.mark.parametrize(
    ("accuracy", "exactly"), [(0.825, Fraction(33, 40)), (0.1, Fraction(1, 10)), (0.5, Fraction(1, 2))]
)
def test_an_accuracy_is_the_decimal_that_was_typed(accuracy: float, exactly: Fraction) -> None:
    assert accuracy_threshold(accuracy) == exactly


@pytest.mark.parametrize("accuracy", [0, 1, 1.2, -1, math.nan, math.inf])
def test_an_absurd_accuracy_is_refused_in_one_sentence(accuracy: float) -> None:
    with pytest.raises(InvalidValue) as refusal:
        accuracy_threshold(accuracy)

    assert one_sentence(refusal.value)


def test_the_plan_has_a_stop_for_each_rung_and_each_costs_more() -> None:
    plan = plan_synthesis(RECIPE)

    prices = [plan.pledge.epsilon(stop) for stop in plan.stops]

    assert len(prices) == len(LADDER.levels)
    assert prices == sorted(set(prices))


def test_the_plan_pays_for_the_selection_in_every_stop() -> None:
    plan = plan_synthesis(RECIPE)

    for level, stop in zip(LADDER.levels, plan.stops, strict=True):
        assert float(level) < stop.at(20) <= float(level + RECIPE.query.epsilon) * (1 + 1e-9)


def test_the_plan_does_not_depend_on_what_was_selected() -> None:
    """Whichever pairs are drawn, a rung costs its level: the noise grows with their number instead."""
    finished = done()

    stop = finished.plan.stops[len(finished.outcome.history) - 1]

    assert finished.outcome.release.spent.at(20) == pytest.approx(stop.at(20), rel=1e-9)
    assert finished.outcome.release.spent.curve.gaussian == stop.curve.gaussian is not None


@pytest.mark.parametrize("neighbours", [ADD, REPLACE])
@pytest.mark.parametrize("accuracy", [Fraction(4, 5), Fraction(99, 100)], ids=["reached", "exhausted"])
def test_no_run_is_stated_above_the_stop_it_ended_at(neighbours: Any, accuracy: Fraction) -> None:
    form = Schema(schema().columns, True, neighbours)

    finished = done(replace(RECIPE, schema=form, aims=(Aim.accuracy("renewed", accuracy),)))

    stop = finished.plan.stops[len(finished.outcome.history) - 1]
    assert finished.outcome.epsilon <= finished.plan.pledge.epsilon(stop) < math.inf


def test_the_selection_is_billed_to_the_training_part_before_the_first_rung() -> None:
    ledger = MemoryLedger()
    done(ledger=ledger)

    first, second, *_ = billed(ledger)

    assert [item.entry.what for item in (first, second)] == ["Gaussian", "SpanningTree"]
    assert {item.entry.part for item in (first, second)} == {"data/train"}
    assert (first.spent + second.spent).at(20) == pytest.approx(float(RECIPE.query.epsilon), rel=1e-9)


def test_only_the_check_reads_the_held_out_part() -> None:
    ledger = MemoryLedger()
    done(ledger=ledger)

    assert {item.entry.what for item in billed(ledger) if item.entry.part == "data/held"} == {"balanced check"}


def test_what_the_two_parts_spent_is_not_added_up() -> None:
    ledger = MemoryLedger()

    finished = done(ledger=ledger)

    spent = by_part(billed(ledger))
    assert finished.outcome.release.spent.at(20) == max(each.at(20) for each in spent.values())
    assert spent["data/held"] != NOTHING.as_spent()


def test_the_target_is_measured_with_every_column_and_the_rest_as_a_tree() -> None:
    finished = done()

    star = set(queries(RECIPE.schema.domain, RECIPE.targets, ()))
    tree = set(finished.measured) - star
    assert star <= set(finished.measured)
    assert len(tree) == len(RECIPE.schema.names) - 2
    assert len({name for edge in tree for name in edge}) == len(RECIPE.schema.names) - 1


def test_a_run_with_little_noise_adds_pairs_and_pays_what_was_planned() -> None:
    finished = done(GROWING)

    others = {*combinations(GROWING.schema.names, 2)} - {*finished.measured}
    added = [clique for rung in finished.grown for clique in rung]
    assert added
    assert {*added} <= others
    assert len(finished.grown) == len(finished.outcome.history)
    assert finished.outcome.release.spent.at(20) == pytest.approx(finished.plan.stops[-1].at(20), rel=1e-9)


def test_a_run_with_much_noise_stays_with_the_pairs_it_selected() -> None:
    finished = done(replace(GROWING, ladder=LADDER))

    assert finished.grown == ((),) * len(LADDER.levels)


def test_the_measured_counts_lie_near_the_truth() -> None:
    """40 counts with independent noise: none is 7 standard errors off, but for a chance of 1e-10."""
    finished = done(hard())

    table = customers(RECIPE.schema)
    for each in finished.released[len(RECIPE.schema.names) :]:
        share = float(1 - RECIPE.validation)
        truth = counted(table, each.clique) * share
        spread = np.sqrt(each.std**2 + truth)
        assert (np.abs(each.values - truth) < 7 * spread).all()


def counted(table: Table, clique: tuple[str, ...]) -> Floats:
    """The counts of a pair of columns."""
    left, right = clique
    counts = np.zeros((table.domain[left], table.domain[right]))
    np.add.at(counts, (table.codes(left), table.codes(right)), 1)
    return counts


def test_the_number_held_out_is_estimated_from_released_counts() -> None:
    """3000 records, a fifth of them by coins: 600 with a standard error of 22, and noise of about 40."""
    assert abs(done().counted.held - 600) < 300


def test_the_candidate_has_the_rows_that_were_asked() -> None:
    assert len(done().outcome.release.value.table) == 500


def test_without_a_number_the_candidate_has_about_the_rows_of_the_whole_table() -> None:
    synthesis, _ = run()

    assert abs(len(synthesis.outcome.release.value.table) - 3000) < 900


def test_a_score_that_fails_shows_nothing_and_keeps_its_bill() -> None:
    def fails(candidate: Candidate, held: Table) -> Floats:
        """On about as many records as are held out, of which no trial on made-up ones has so many."""
        if 500 < len(held) < 900:
            raise ValueError(f"no idea what {held.codes('age')} means")
        return np.zeros(len(held))

    ledger = MemoryLedger()
    with pytest.raises(MechanismFailed) as failure:
        done(scored(fails), ledger=ledger)

    assert failure.value.__context__ is None
    assert [hold.entry.what for hold in ledger.held] == ["balanced check"]


def test_a_climb_under_a_cap_ends_below_it() -> None:
    recipe = hard()
    chosen, noise, cap = plan_synthesis(recipe), SeededNoise(1), AdpEpsilon(1.0)
    odometer = Odometer(pledge=chosen.pledge, cap=PledgedFilter(chosen.pledge, cap), rehearsal=True)

    finished = synthesise(parts(recipe), recipe, chosen, odometer=odometer, noise=noise)

    assert finished.outcome.ended is Ended.CAPPED
    assert finished.outcome.epsilon <= cap


def test_a_cap_below_the_first_rung_leaves_nothing_to_return() -> None:
    chosen, noise = plan_synthesis(RECIPE), SeededNoise(1)
    odometer = Odometer(pledge=chosen.pledge, cap=PledgedFilter(chosen.pledge, AdpEpsilon(0.01)), rehearsal=True)

    with pytest.raises(BudgetExceeded):
        synthesise(parts(RECIPE), RECIPE, chosen, odometer=odometer, noise=noise)


def test_every_rung_is_told_with_the_number_held_out() -> None:
    seen: list[Counted] = []

    finished = done(on_step=lambda line, counted: seen.append(counted))

    assert len(seen) == len(finished.outcome.history)
    assert seen[-1] == finished.counted


def test_more_noise_makes_a_worse_fit_to_the_same_records() -> None:
    """Distances of all pairs of columns from the truth on the rungs of one run; the last has a tenth of the noise."""
    candidates: list[Candidate] = []

    def watch(candidate: Candidate, held: Table) -> Floats:
        candidates.append(candidate)
        return np.zeros(len(held))

    finished = done(replace(scored(watch), rows=3000))

    truth = customers(RECIPE.schema)
    first, last = (distance(each.table, truth) for each in (candidates[0], finished.outcome.release.value))
    assert last < first / 2


def distance(made: Table, truth: Table) -> float:
    """The mean total variation over the pairs of columns."""
    names = RECIPE.schema.names
    pairs = [(left, right) for place, left in enumerate(names) for right in names[place + 1 :]]
    shares = [[counted(table, pair) / len(table) for table in (made, truth)] for pair in pairs]
    return float(np.mean([np.abs(one - other).sum() / 2 for one, other in shares]))
