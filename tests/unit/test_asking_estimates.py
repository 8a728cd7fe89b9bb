"""What noisy cells say: ends of ratios and quantiles, what a target needs, and what is measured once for several."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from expost.jobs.asking.climb import release_exactly
from expost.jobs.asking.contribution import BOUNDS, cuts_in, lengths_of
from expost.jobs.asking.estimates import Bars, NoisyCells, bars_of
from expost.jobs.asking.joint import fold
from expost.jobs.asking.measuring import Measuring
from expost.jobs.asking.phrases import queries_in
from expost.jobs.asking.planning import FIRST, plan_answer, price_of
from expost.jobs.asking.question import AskRecipe, Targeted
from expost.jobs.asking.run import ask
from expost.jobs.asking.tallies import PER_ROW, Tally
from expost.jobs.asking.targets import (
    Above,
    Compare,
    Precision,
    Top,
    WithinDistance,
    WithinShare,
    decided,
    nearer_middles,
    precise,
)
from expost.mechanisms.gaussian import Measurement
from expost.noise import Floats, SeededNoise
from expost.odometer import Odometer
from expost.private import Private
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.table import Table
from tests.unit.examples import ADD

SCHEMA = Schema((Integer("g", (0, 1, 2), Missing.FALLBACK), Integer("v", tuple(range(5)), Missing.FALLBACK)), True, ADD)


def recipe_of(*asked: tuple[str, Precision], delta: float = 1e-5) -> AskRecipe:
    questions = tuple(Targeted(queries_in(text)[0], target) for text, target in asked)
    return AskRecipe(
        schema=SCHEMA, questions=questions, confidence=Fraction(19, 20), together=False, delta=delta, max_epsilon=2.0
    )


def seen(question: str, values: list[float], std: float, width: float) -> Bars:
    (query,) = queries_in(question)
    return bars_of(query, SCHEMA, NoisyCells(Tally.of(query), np.array(values), std), width)


@pytest.mark.parametrize("cells", [(40.0, 60.0), (5.0, 90.0), (98.0, 1.0), (-3.0, 60.0), (7.0, 9.0)])
@pytest.mark.parametrize("std", [1.0, 4.0])
def test_ends_of_a_share_are_where_the_noise_leaves_it_possible(cells: tuple[float, float], std: float) -> None:
    """By brute force over all shares t: |A(1−t) − Bt| ≤ cσ√(t² + (1−t)²)."""
    first, second = cells
    bars = seen("share of v = 1", [first, second], std, 1.96)
    shares = np.linspace(0, 1, 200_001)
    possible = shares[
        np.abs(first * (1 - shares) - second * shares) <= 1.96 * std * np.sqrt(shares**2 + (1 - shares) ** 2)
    ]

    if len(possible):
        assert bars.low[0] == pytest.approx(possible.min(), abs=1e-5)
        assert bars.high[0] == pytest.approx(possible.max(), abs=1e-5)
    assert bars.low[0] <= bars.point[0] <= bars.high[0]


def test_ends_of_a_mean_solve_their_equation_to_many_digits() -> None:
    """Fieller's ends of A/(A+B), stretched over the column from 0 to 4."""
    bars = seen("mean of v", [30.0, 70.0], 3.0, 2.5)
    with mpmath.workdps(40):
        a, n, k = mpmath.mpf(30), mpmath.mpf(100), (mpmath.mpf("2.5") * 3) ** 2
        root = mpmath.sqrt((a * n - k) ** 2 - (n**2 - 2 * k) * (a**2 - k))
        low, high = ((a * n - k - root) / (n**2 - 2 * k), (a * n - k + root) / (n**2 - 2 * k))

    assert bars.low[0] == pytest.approx(float(4 * low), rel=1e-12)
    assert bars.high[0] == pytest.approx(float(4 * high), rel=1e-12)


def test_nothing_is_known_of_a_mean_of_fewer_rows_than_noise() -> None:
    bars = seen("mean of v", [3.0, 1.0], 5.0, 1.96)

    assert (bars.low[0], bars.high[0]) == (0.0, 4.0)


def test_a_sum_of_a_column_that_starts_at_zero_has_the_noise_of_one_cell() -> None:
    bars = seen("sum of v", [25.0, 75.0], 2.0, 1.96)

    assert bars.point[0] == 100.0
    assert bars.high[0] - bars.point[0] == pytest.approx(1.96 * 2 * 4)


@pytest.mark.parametrize("level", ["0.25", "0.5", "0.9"])
def test_ends_of_a_quantile_hold_as_often_as_they_say(level: str) -> None:
    """Over 4,000 draws of noise; the lower end at which fewer hold has a chance below 1e-6."""
    counts, noise, draws = np.array([30.0, 10.0, 60.0, 20.0, 30.0]), np.random.default_rng(2), 4000
    truth = int(np.argmax(np.cumsum(counts) >= float(level) * counts.sum() - 1e-9))
    found = [
        seen(f"quantile {level} of v", (counts + 12 * each).tolist(), 12.0, 1.96)
        for each in noise.standard_normal((draws, 5))
    ]

    held = sum(bool(bars.low[0] <= truth <= bars.high[0]) for bars in found)

    assert held > draws * 0.95 - 4.8 * math.sqrt(draws * 0.95 * 0.05)
    assert sum(bars.low[0] > 0 or bars.high[0] < 4 for bars in found) > draws / 2


def bars(low: list[float], high: list[float]) -> Bars:
    ends: tuple[Floats, Floats] = np.array(low), np.array(high)
    return Bars((ends[0] + ends[1]) / 2, *ends, *ends)


def test_a_share_of_the_truth_is_met_wherever_between_its_ends_the_truth_is() -> None:
    flags = precise(WithinShare(Fraction(1, 10)), bars([95, 90, -1, -105], [105, 110, 1, -95]))

    assert flags.tolist() == [True, False, False, True]


@given(st.floats(0, 10), st.floats(0, 10), st.floats(0, 1), st.floats(0.5, 12))
def test_a_number_is_moved_where_both_ends_are_near_if_there_is_such_a_place(
    one: float, other: float, share: float, distance: float
) -> None:
    """And no farther than that; ends stay where they are, which is what holds as often as one says."""
    low, high = min(one, other), max(one, other)
    point = low + share * (high - low)
    target, rows = WithinDistance(Fraction(distance)), np.array([50.0])
    before = Bars(np.array([point]), np.array([low]), np.array([high]), rows, rows)

    after = nearer_middles(target, before)

    moved = float(after.point[0])
    assert (after.low[0], after.high[0]) == (low, high)
    assert low <= moved <= high
    assert precise(target, after)[0] == (high - low <= 2 * distance) or precise(target, before)[0]
    if precise(target, before)[0] or high - low > 2 * distance:
        assert moved == pytest.approx(point, abs=1e-9)


@given(st.floats(-10, 10), st.floats(-10, 10), st.floats(0, 1), st.floats(0.05, 0.95))
def test_a_number_is_moved_where_both_ends_are_a_share_of_the_truth_away(
    one: float, other: float, place: float, share: float
) -> None:
    low, high = min(one, other), max(one, other)
    target, rows = WithinShare(Fraction(share)), np.array([50.0])
    before = Bars(np.array([low + place * (high - low)]), np.array([low]), np.array([high]), rows, rows)

    after = nearer_middles(target, before)

    least = max(low, -high, 0.0)
    assert low <= after.point[0] <= high
    assert precise(target, after)[0] == (high - low <= 2 * share * least) or precise(target, before)[0]


def test_a_median_at_the_edge_of_two_bins_is_within_a_share_that_both_are_of_it() -> None:
    """Else no price was enough where noise leaves open on which side of an edge it is."""
    after = nearer_middles(
        WithinShare(Fraction(1, 5)), Bars(*(np.array([each]) for each in (54.5, 50.0, 69.0, 9.0, 9.0)))
    )

    assert (after.point[0], after.low[0], after.high[0]) == (59.0, 50.0, 69.0)


def test_no_number_is_moved_for_a_share_of_the_total() -> None:
    before = bars([50.0, 2.0], [69.0, 4.0])

    assert nearer_middles(WithinShare(Fraction(1, 5), of_total=True), before) is before


def test_a_mean_within_half_of_its_column_costs_next_to_nothing() -> None:
    """Which of its ends it is nearer to need not be known, however few rows a group has."""
    groups = np.repeat([0, 1, 2], [900, 60, 0]).astype(np.uint8)
    table = Table(SCHEMA, {"g": groups, "v": (np.arange(960) % 5).astype(np.uint8)})

    answer = ask(table, "mean of v by g", schema=SCHEMA, within=2, noise=SeededNoise(5))

    assert answer.passed
    assert answer.epsilon < 0.05
    assert [line.settled for line in answer.told[0].lines] == ["yes"] * 3
    assert max(line.half for line in answer.told[0].lines) <= 2 * (1 + 1e-9)


def test_a_share_of_the_total_is_met_by_small_groups_too() -> None:
    target = WithinShare(Fraction(1, 10), of_total=True)

    assert precise(target, bars([995, -5], [1005, 5])).tolist() == [True, True]
    assert precise(target, bars([20, -30], [40, 30])).tolist() == [False, False]


def test_bars_that_do_not_overlap_decide() -> None:
    seen_bars, labels = bars([90, 50, 48], [110, 60, 58]), ("a", "b", "c")

    assert decided(Compare("a", "b"), seen_bars, labels).all()
    assert not decided(Compare("b", "c"), seen_bars, labels).all()
    assert decided(Above(Fraction(59)), seen_bars, labels).tolist() == [True, False, True]
    assert decided(Top(1), seen_bars, labels).all()
    assert decided(Top(2), seen_bars, labels).tolist() == [True, False, False]


def test_the_price_of_a_distance_is_the_variance_that_the_sampler_is_handed() -> None:
    """And bars made of that noise are exactly as long as was asked for, to the step that is left for integers."""
    recipe = recipe_of(("count by g", WithinDistance(Fraction(20))))
    plan, table = plan_answer(recipe), Table(SCHEMA, {name: np.zeros(50, dtype=np.uint8) for name in ("g", "v")})
    measuring = Measuring(
        recipe,
        Private(table, ADD),
        Odometer(pledge=plan.pledge, rehearsal=True),
        SeededNoise(1),
        {recipe.tallies[0]: 1},
    )

    found = release_exactly(plan, measuring)

    (estimate,) = measuring.known.values()
    variance = Fraction(PER_ROW**2) / (2 * plan.levels[0]) + 3
    assert estimate.precision == 1 / variance
    half = float(found.bars[0].high[0] - found.bars[0].point[0])
    assert 19.9 < half <= 20
    assert half == pytest.approx(recipe.width(FIRST) * (math.sqrt(variance) + 1) / PER_ROW, rel=1e-9)


def test_coarser_counts_are_sums_of_finer_ones() -> None:
    recipe = recipe_of(("count by g, v", WithinDistance(Fraction(20))))
    finer, values = recipe.tallies[0], np.arange(15.0)

    by_g, of_five = fold(recipe, finer, Tally.of(queries_in("count by g")[0]), values)
    turned, of_one = fold(recipe, finer, Tally.of(queries_in("count by v")[0]), values)

    assert (by_g.tolist(), of_five) == (values.reshape(3, 5).sum(axis=1).tolist(), 5)
    assert (turned.tolist(), of_one) == (values.reshape(3, 5).sum(axis=0).tolist(), 3)


def test_a_coarser_count_beside_a_finer_one_costs_nothing_where_its_target_allows() -> None:
    finer, coarser = ("count by g, v", WithinDistance(Fraction(20))), "count by g"
    alone = plan_answer(recipe_of(finer)).levels[0]

    loose = plan_answer(recipe_of(finer, (coarser, WithinDistance(Fraction(50))))).levels[0]
    tight = plan_answer(recipe_of(finer, (coarser, WithinDistance(Fraction(15))))).levels[0]

    assert loose == alone < tight
    apart = plan_answer(recipe_of((coarser, WithinDistance(Fraction(15))))).levels[0]
    assert tight < alone + apart


def test_the_price_of_a_precision_is_that_of_a_gaussian_release() -> None:
    recipe = recipe_of(("count by g", WithinDistance(Fraction(20))))

    assert price_of(recipe, recipe.tallies[0], 1 / 400) == pytest.approx(1 / 800)


def test_the_bound_on_rows_is_the_least_that_cuts_little() -> None:
    persons = Schema(SCHEMA.columns, True, ADD.of_persons, unit="id")
    tallies = (Tally.of(queries_in("count by g")[0]),)
    counts = np.zeros(lengths_of(tallies, persons).shape[0])
    counts[:3] = 500.0, 300.0, 200.0

    (few,) = cuts_in(tallies, Measurement(counts, Fraction(1))).values()
    counts[-2] = 100.0
    (many,) = cuts_in(tallies, Measurement(counts, Fraction(1))).values()

    assert few.most == BOUNDS[2]
    assert few.share == 0
    assert many.most > few.most
