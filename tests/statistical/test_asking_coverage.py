"""Error bars of answers hold as often as they say, and answers meet their targets, however the run came to its end.

``benchmarks/coverage.py`` asks each kind of question in 2,000 runs and has its shares on record; here are RUNS of the
same runs, with eight error bars each. What a run shows is measured after it was chosen how precisely, so that the bars
of a run miss independently of each other but for further looks. A count of misses is rejected where it has a chance
below 1e-6 at the miss that is allowed.
"""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from benchmarks import coverage
from benchmarks.coverage import (
    COUNTS,
    DECISIONS,
    EVERY,
    KINDS,
    SEVERAL,
    SIZES,
    Kind,
    after_an_earlier_one,
    bars_hold,
    begun,
    ended,
    exists_for_rows_only,
    holds,
    naive_looks,
    plausible,
    recipe_of,
    refined_twice,
    several,
    target_met,
    within_share,
)

from expost.jobs.asking.climb import AnswerLook, looked_at
from expost.jobs.asking.planning import plan_answer
from expost.jobs.asking.targets import Above, Compare
from expost.private import Neighbours, Private
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.table import Table

pytestmark = pytest.mark.statistical

RUNS = 100


@cache
def looks(name: str) -> list[AnswerLook]:
    recipe = recipe_of(KINDS[name])
    plan = plan_answer(recipe)
    return [ended(plan, begun(recipe, plan, seed)) for seed in range(RUNS)]


@pytest.mark.parametrize("name", KINDS)
def test_error_bars_hold_as_often_as_they_say(name: str) -> None:
    """Those of groups without any value are left out for a median and a mean, which then do not exist."""
    kind = KINDS[name]
    counted = SIZES > 0 if exists_for_rows_only(name) else SIZES >= 0

    held = np.array([holds(look, kind.truth)[counted] for look in looks(name)])

    assert plausible(int((~held).sum()), held.size)


@pytest.mark.parametrize("name", KINDS)
def test_settled_answers_meet_their_target_as_often_as_they_say(name: str) -> None:
    """And groups that end as fewer than some size are smaller than that, as often."""
    held = np.concatenate([target_met(KINDS[name], look) for look in looks(name)])

    assert held.size > 0.8 * RUNS * len(SIZES)
    assert plausible(int((~held).sum()), held.size)


@pytest.mark.parametrize("name", KINDS)
def test_most_runs_reach_their_target(name: str) -> None:
    assert sum(look.reached for look in looks(name)) > 0.75 * RUNS


def test_bars_that_hold_together_miss_in_few_runs() -> None:
    kind = KINDS["a count within a share"]
    recipe = recipe_of(kind, together=True)
    plan = plan_answer(recipe)

    missed = [not holds(ended(plan, begun(recipe, plan, seed)), kind.truth).all() for seed in range(RUNS)]

    assert plausible(sum(missed), RUNS)
    apart = [not holds(look, kind.truth).all() for look in looks("a count within a share")]
    assert not plausible(sum(apart), RUNS)  # the twin: bars that hold by themselves


def test_all_bars_of_an_answer_that_is_refined_hold_as_often_as_one_says() -> None:
    """Of each group all bars at once, whether or not somebody went on because of what an earlier one showed."""
    plan = plan_answer(within_share(Fraction(1, 3)))

    runs = [refined_twice(plan, seed) for seed in range(RUNS)]

    held = np.array([np.all([holds(look, COUNTS) for look in each], axis=0) for each in runs])
    assert {len(each) for each in runs} == {2, 3}
    assert plausible(int((~held).sum()), held.size)


@pytest.mark.parametrize("name", SEVERAL)
def test_bars_of_questions_that_overlap_hold_as_often_as_they_say(name: str) -> None:
    """Of each question by itself, as what they have in common makes them miss together."""
    recipe = several(name)
    plan = plan_answer(recipe)

    found = [ended(plan, begun(recipe, plan, seed)) for seed in range(RUNS)]

    for place, (_, truth) in enumerate(SEVERAL[name][0]):
        held = np.array([bars_hold(look.bars[place], truth) for look in found])
        assert plausible(int((~held).sum()), held.size)
    assert sum(look.reached for look in found) > 0.75 * RUNS


def test_bars_of_overlapping_questions_are_no_longer_than_they_must_be() -> None:
    """The twin: at two thirds of their length, as if half of the noise were forgotten, they miss too often."""
    recipe = several("several within a distance")
    plan = plan_answer(recipe)

    missed = 0
    for seed in range(RUNS):
        (_, bars, *_) = ended(plan, begun(recipe, plan, seed)).bars
        missed += int((np.abs(EVERY - bars.point) > (bars.high - bars.point) * 2 / 3).sum())

    assert not plausible(missed, RUNS * len(EVERY))


def test_bars_hold_where_earlier_answers_are_used() -> None:
    plan = plan_answer(within_share(Fraction(1, 3)))

    held = np.array([holds(after_an_earlier_one(plan, seed)[-1], COUNTS) for seed in range(RUNS)])

    assert plausible(int((~held).sum()), held.size)


def test_looking_again_at_an_answer_settles_nothing_else() -> None:
    recipe, look = recipe_of(KINDS["a count within a share"]), looks("a count within a share")[0]

    again = looked_at(recipe, look)

    assert np.array_equal(again.settled[0], look.settled[0])
    assert np.array_equal(again.few[0], look.few[0])


@pytest.mark.parametrize("name", DECISIONS)
def test_decisions_are_right_as_often_as_they_say(name: str) -> None:
    target, right = DECISIONS[name]
    recipe = recipe_of(Kind("count by g", target, COUNTS))
    plan = plan_answer(recipe)

    runs = [ended(plan, begun(recipe, plan, seed)) for seed in range(RUNS)]

    decided = [look for look in runs if look.reached]
    assert len(decided) > 0.9 * RUNS
    assert plausible(sum(not right(look) for look in decided), len(decided))


def test_two_equal_groups_are_hardly_ever_said_to_differ() -> None:
    """The chance that any look decides is at most what may be missed."""
    recipe = recipe_of(Kind("count by g", Compare("1", "2"), COUNTS))
    plan = plan_answer(recipe)

    runs = [ended(plan, begun(recipe, plan, seed)) for seed in range(RUNS)]

    assert plausible(sum(look.reached for look in runs), RUNS)


def test_groups_that_are_at_a_threshold_are_hardly_ever_said_to_be_above_it() -> None:
    """Of two hundred of them none at all, since what is said of a decision is said of all its groups."""
    schema = Schema((Integer("g", tuple(range(200)), Missing.FALLBACK),), True, Neighbours.ADD_REMOVE)
    table = Table(schema, {"g": np.repeat(np.arange(200, dtype=np.uint8), 50)})
    recipe = recipe_of(Kind("count by g", Above(Fraction(50)), np.full(200, 50.0), schema))
    plan, data = plan_answer(recipe), Private(table, schema.neighbours)

    runs = [ended(plan, replace(begun(recipe, plan, seed), data=data)) for seed in range(RUNS)]

    above = [look.bars[0].point > 50 for look in runs]
    wrong = [bool((look.settled[0] & each).any()) for look, each in zip(runs, above, strict=True)]
    assert plausible(sum(wrong), RUNS)
    apart = [bool((look.bars[0].low > 50).any()) for look in runs]
    assert not plausible(sum(apart), RUNS)  # the twin: bars that hold by themselves


def test_bars_for_one_look_miss_too_often_where_one_looks_again() -> None:
    """The twin: ±1.96 standard errors at each of a few looks, which do not all hold at once."""
    draws, truth = 20_000, 100.0
    values, errors = naive_looks(draws, truth, 4, 2.0)

    missed = (np.abs(values - truth) > 1.96 * errors).any(axis=1)

    assert not plausible(int(missed.sum()), draws, 0.1)


def test_the_first_difference_that_is_large_enough_for_one_look_is_there_too_often() -> None:
    """The twin of a decision: equal groups are said to differ in far more than one run of twenty."""
    draws = 20_000
    values, errors = naive_looks(draws, 0.0, 11, 2.0)

    said = (np.abs(values) > 1.96 * errors).any(axis=1)

    assert not plausible(int(said.sum()), draws, 0.15)


def test_a_miniature_of_the_benchmark_has_every_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "RUNS", 2)

    figures = coverage.run(lambda text: None)

    assert {"coverage.least", "coverage.plausible", "coverage.refined.held", "coverage.the_top.right"} <= figures.keys()
    assert {f"coverage.{name.replace(' ', '_')}.{what}" for name in KINDS for what in ("held", "met")} <= figures.keys()
    assert {"coverage.several_within_a_share.reached", "coverage.after_an_earlier_one.held"} <= figures.keys()
    assert figures["coverage.naive_bars"] < 0.9
    assert figures["coverage.naive_decision"] < 0.85
