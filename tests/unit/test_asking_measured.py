"""What measurements say of a tally, and what error bars are made of them."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from expost.accounting.curve import AdpEpsilon
from expost.errors import InvalidValue
from expost.filters import PledgedFilter
from expost.jobs.asking.climb import climb, release_exactly
from expost.jobs.asking.estimates import Bars, NoisyCells, bars_of
from expost.jobs.asking.measuring import Measuring
from expost.jobs.asking.needs import EACH, needed_by, telling
from expost.jobs.asking.phrases import queries_in
from expost.jobs.asking.planning import FIRST, AnswerPlan, plan_answer, stop_at
from expost.jobs.asking.question import AskRecipe, Targeted
from expost.jobs.asking.tallies import Tally
from expost.jobs.asking.targets import (
    Above,
    Compare,
    Target,
    WithinDistance,
    WithinShare,
    decided,
    require_groups,
    too_small,
)
from expost.jobs.asking.values import rounding_of
from expost.mechanisms.brownian import Estimate
from expost.noise import SeededNoise
from expost.odometer import Odometer
from expost.private import Neighbours, Private
from expost.tabular.schema.binned import Numeric
from expost.tabular.schema.bins import Closed
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.table import Table

SCHEMA = Schema(
    (Integer("g", (0, 1), Missing.FALLBACK), Integer("v", (0, 1, 2, 3), Missing.FALLBACK)), True, Neighbours.ADD_REMOVE
)
TABLE = Table(SCHEMA, {"g": np.arange(1200, dtype=np.uint8) % 2, "v": np.arange(1200, dtype=np.uint8) % 4})
TENTH = WithinShare(Fraction(1, 10))


def measuring_of(*questions: str, target: Target = TENTH, schema: Schema = SCHEMA) -> tuple[AnswerPlan, Measuring]:
    recipe = AskRecipe(
        schema=schema, questions=tuple(Targeted(queries_in(each)[0], target) for each in questions),
        confidence=Fraction(19, 20), together=False, delta=1e-5, max_epsilon=4.0, fewer_than=2,
    )  # fmt: skip
    plan = plan_answer(recipe)
    odometer = Odometer(pledge=plan.pledge, rehearsal=True)
    data = Private(replace(TABLE, schema=schema), schema.neighbours)
    return plan, Measuring(recipe, data, odometer, SeededNoise(5), dict.fromkeys(recipe.tallies, 1))


def test_a_sum_of_finer_counts_has_the_noise_of_all_of_them() -> None:
    _, measuring = measuring_of("count by g, v", "count by g")
    finer, coarser = measuring.recipe.tallies
    measuring.forget({finer: Estimate(np.full(8, 256.0), Fraction(1, (4 * 256) ** 2))})

    found, parts = measuring.known_cells(coarser), measuring.known_cells(finer)

    assert found.values.tolist() == [4.0, 4.0]
    assert parts.std == pytest.approx(4, abs=0.01)
    assert found.std == pytest.approx(8, abs=0.01)


def test_values_of_rows_that_a_condition_leaves_out_do_not_count() -> None:
    of_all, of_some = (Tally.of(queries_in(f"sum of v{where}")[0]) for where in ("", " where g = 1"))

    everything, some = (each.statistic(SCHEMA).evaluate(TABLE) / each.per_row(SCHEMA) for each in (of_all, of_some))

    assert everything.sum() == pytest.approx(1200)
    assert some.sum() == pytest.approx(600)
    assert some[0] * 3 == pytest.approx(300 * 1 + 300 * 3)


@pytest.mark.parametrize("question", ["mean of v", "sum of v", "share of v = 3"])
def test_a_cell_that_noise_made_negative_does_not_seem_to_be_known_from_next_to_nothing(question: str) -> None:
    """A run that jumped by it went on with dozens of looks, each with wider error bars than the one before."""
    plan, measuring = measuring_of(question)
    (tally,) = measuring.recipe.tallies
    steps = tally.per_row(SCHEMA)

    def needed(first: float) -> float:
        measuring.forget({tally: Estimate(np.array([first, 1000.0]) * steps, Fraction(1, (400 * steps) ** 2))})
        return needed_by(measuring, plan.levels[-1], [2], measuring.recipe.width(FIRST))[tally]

    assert needed(-900.0) == needed(0.0) >= needed(900.0)


def test_questions_that_are_out_of_reach_share_what_the_others_leave() -> None:
    """One of them took all of it, and of the other next to nothing was known."""
    gaps = (SCHEMA.columns[0], Integer("v", (0, 1, 2, 3), Missing.CATEGORY))
    schema = replace(SCHEMA, columns=gaps)
    plan, measuring = measuring_of("count by g", "mean of v by g", "median of v by g", schema=schema)
    count, mean, median = (Tally.of(each.query) for each in measuring.recipe.questions)
    steps = count.per_row(schema)
    measuring.forget({count: Estimate(np.full(2, 600.0 * steps), Fraction(1, (10 * steps) ** 2))})

    room = plan.levels[-1]
    needed = needed_by(measuring, room, [2, 2, 2], measuring.recipe.width(FIRST))

    assert needed[mean] == pytest.approx(needed[median], rel=1e-6)
    assert needed[mean] + needed[median] > 0.9 * float(room)
    assert sum(needed.values()) == pytest.approx(float(room))


def test_only_what_was_measured_after_the_jump_was_chosen_is_shown() -> None:
    """Coarse looks chose how precise it would be; bars of a single release leave them out."""
    plan, measuring = measuring_of("count by g")

    climb(plan, measuring, top=len(plan.levels), tell=lambda doing: None)

    coarse, *_, last = [each.spent.curve.gaussian for each in measuring.past.steps]
    (estimate,) = measuring.known.values()
    assert coarse is not None and last is not None and coarse < last
    shown = float(estimate.precision) * 256**2 / 2
    assert shown == pytest.approx(float(last - measuring_before_jump(measuring, plan)), rel=1e-3)


def measuring_before_jump(measuring: Measuring, plan: AnswerPlan) -> Fraction:
    """What was spent when the first step ended on a level."""
    totals = [Fraction(0), *(each.spent.curve.gaussian or Fraction(0) for each in measuring.past.steps)]
    place = next(place for place, total in enumerate(totals) if total in plan.levels)
    return totals[place - 1]


def test_coarse_looks_end_before_they_would_be_stated_beyond_the_cap() -> None:
    """Where δ is as large as ε they are stated higher than the jump, and a run was refused once they were paid for."""
    plan, measuring = measuring_of("share of v = 1 by g", target=WithinDistance(Fraction(1, 5)))
    recipe = replace(measuring.recipe, delta=0.01, max_epsilon=0.01, fewer_than=None)
    plan = plan_answer(recipe)
    cap = PledgedFilter(plan.pledge, AdpEpsilon(recipe.max_epsilon))
    odometer = Odometer(pledge=plan.pledge, cap=cap, rehearsal=True)
    measuring = Measuring(recipe, measuring.data, odometer, SeededNoise(5), measuring.most)

    climb(plan, measuring, top=len(plan.levels), tell=lambda doing: None)

    assert plan.pledge.epsilon(stop_at(measuring.spent)) <= recipe.max_epsilon


def test_a_second_look_has_a_smaller_share_of_what_may_be_missed() -> None:
    """So that its bars are wider than those of the first."""
    widths = set()
    for seed in range(40):
        plan, measuring = measuring_of("count by g", target=WithinShare(Fraction(1, 12)))
        measuring.noise = SeededNoise(seed)
        widths.add(round(climb(plan, measuring, top=len(plan.levels), tell=lambda doing: None).width, 6))

    shares = [FIRST, *((1 - FIRST) / 2**place for place in range(2, 30))]
    planned = [round(measuring.recipe.width(share), 6) for share in shares]
    assert widths <= {*planned}
    assert len(widths) > 1


@pytest.mark.parametrize("relation", [Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE])
def test_one_release_is_as_precise_as_was_asked_whatever_neighbours_are(relation: Neighbours) -> None:
    schema = replace(SCHEMA, neighbours=relation)
    plan, measuring = measuring_of("count by g", target=WithinDistance(Fraction(20)), schema=schema)

    assert release_exactly(plan, measuring).reached


def test_a_coarse_look_tells_of_each_tally_however_little_it_seems_to_need() -> None:
    """Else a tally of which noise seems to tell everything is never looked at again, and jumped to far too early."""
    _, measuring = measuring_of("share of v < 2 by g", "median of v")
    one, other = measuring.recipe.tallies

    found = telling(measuring.recipe, {one: 1.0, other: 1e-6}, {one: 1.0, other: 1.0})

    assert found == {one: 1.0, other: EACH}


def test_no_group_is_said_to_have_fewer_rows_than_none() -> None:
    """Noise makes empty groups negative, and no size is too small for a distance."""
    ends = (np.array([-5.0, -5.0]), np.array([-9.0, -9.0]), np.array([-1.0, 3.0]))

    assert not too_small(Bars(*ends, *ends[1:]), 0).any()
    assert too_small(Bars(*ends, *ends[1:]), 1).tolist() == [True, False]


def test_a_group_is_above_a_threshold_only_if_its_whole_error_bar_is() -> None:
    ends = (np.array([11.0, 9.0, 12.0]), np.array([8.0, 7.0, 10.5]), np.array([14.0, 10.0, 14.0]))

    found = decided(Above(Fraction(10)), Bars(*ends, *ends[1:]), ("a", "b", "c"))

    assert found.tolist() == [False, True, True]


def test_groups_of_one_name_are_not_compared() -> None:
    """A value may be called what missing values are, and what joins two values may be part of one."""
    target = Compare("(missing)", "a")

    with pytest.raises(InvalidValue, match=r"several groups are called \(missing\)"):
        require_groups(target, ("a", "(missing)", "(missing)"))
    require_groups(target, ("a", "(missing)", "b", "b"))


def test_error_bars_of_a_mean_are_longer_by_what_rounding_can_be_on_either_side() -> None:
    cost = Numeric("cost", (0.0, 1e6), Closed.LEFT, Missing.FALLBACK)
    schema = Schema((cost,), True, Neighbours.ADD_REMOVE)
    (query,) = queries_in("mean of cost")

    bars = bars_of(query, schema, NoisyCells(Tally.of(query), np.array([5e8, 5e8]), 1e-3), 2.0)

    assert bars.point[0] - bars.low[0] == pytest.approx(rounding_of(cost), rel=1e-3)
    assert bars.high[0] - bars.point[0] == pytest.approx(rounding_of(cost), rel=1e-3)
