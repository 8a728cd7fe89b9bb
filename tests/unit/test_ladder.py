"""Ladders: levels in order, increments that add up exactly, and strides when the target is far."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from expost.errors import InvalidValue
from expost.ladder import Ladder, Rung, Strides
from expost.numerics import Real
from expost.protocols import Verdict
from expost.release import Past
from tests.unit.examples import budget, one_sentence, released

LADDER = Ladder.of([1, 2, 4, 8, 16], alpha=20)
FAR, CLOSE = Verdict(False, margin=-100.0, std=10.0), Verdict(False, margin=-10.0, std=10.0)


def after(steps: int) -> Past[int]:
    """A past of so many releases."""
    return Past(*(released(0, 1) for _ in range(steps)))


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=9, unique=True).map(sorted))
def test_the_increments_add_up_to_the_last_level_exactly(levels: list[float]) -> None:
    budgets = Ladder.of(levels, alpha=20).budgets

    assert sum(each.epsilon for each in budgets) == Fraction(levels[-1])


def test_each_rung_pays_the_difference_to_the_one_below() -> None:
    assert [each.epsilon for each in LADDER.budgets] == [1, 1, 2, 4, 8]


def test_the_next_rung_follows_the_number_of_releases() -> None:
    assert [LADDER(after(taken), ()) for taken in (0, 3)] == [Rung(budget(1), True), Rung(budget(4), True)]


def test_the_top_rung_is_not_asked_about_unless_chosen() -> None:
    assert LADDER(after(4), ()) == Rung(budget(8), False)


def test_above_the_top_there_is_nothing() -> None:
    assert LADDER(after(5), ()) is None


def test_geometric_ends_are_exactly_as_given() -> None:
    levels = Ladder.geometric(Fraction(1, 100), Fraction(1), 7, alpha=20).levels

    assert (levels[0], levels[-1]) == (Fraction(1, 100), Fraction(1))


def test_geometric_levels_are_evenly_spaced_on_a_log_scale() -> None:
    levels = Ladder.geometric(0.01, 1, 7, alpha=20).levels

    assert [float(level) for level in levels] == pytest.approx(
        [0.01, 0.021544347, 0.046415888, 0.1, 0.215443469, 0.464158883, 1], rel=1e-8
    )


def test_one_rung_may_be_the_whole_ladder() -> None:
    assert Ladder.geometric(1, 1, 1, alpha=20).levels == (Fraction(1),)


@pytest.mark.parametrize("levels", [[], [1, 1], [2, 1], [0, 1], [-1, 1], [math.nan], [1, math.inf]])
def test_levels_that_do_not_increase_from_above_zero_are_refused(levels: list[Real]) -> None:
    with pytest.raises(InvalidValue) as refused:
        Ladder.of(levels, alpha=20)

    assert one_sentence(refused.value)


@pytest.mark.parametrize(("low", "high", "rungs"), [(2, 1, 3), (1, 2, 1), (1, 2, 0), (0, 1, 3), (1, 1, 2)])
def test_a_geometric_ladder_that_does_not_climb_is_refused(low: Real, high: Real, rungs: int) -> None:
    with pytest.raises(InvalidValue) as refused:
        Ladder.geometric(low, high, rungs, alpha=20)

    assert one_sentence(refused.value)


@pytest.mark.parametrize("alpha", [1, 0, math.nan])
def test_a_ladder_has_an_order_above_one(alpha: Real) -> None:
    with pytest.raises(InvalidValue, match="alpha is"):
        Ladder.of([1], alpha=alpha)


def test_strides_begin_with_one_rung() -> None:
    assert Strides(LADDER)(Past[int](), ()) == Rung(budget(1), True)


def test_a_target_that_is_far_is_approached_two_rungs_at_a_time() -> None:
    assert Strides(LADDER)(after(1), (FAR,)) == Rung(budget(3), True)


@pytest.mark.parametrize("verdict", [CLOSE, Verdict(False), Verdict(False, margin=-40.0, std=10.0)])
def test_a_target_that_is_close_or_unknown_is_approached_one_by_one(verdict: Verdict) -> None:
    assert Strides(LADDER)(after(1), (verdict,)) == Rung(budget(1), True)


def test_strides_remember_the_rungs_they_left_out() -> None:
    """Level 1, then 4, then 8: the third rung pays 8 − 4."""
    assert Strides(LADDER)(after(2), (FAR, CLOSE)) == Rung(budget(4), True)


def test_strides_stop_at_the_top() -> None:
    assert Strides(LADDER)(after(3), (FAR, CLOSE, FAR)) == Rung(budget(8), False)
    assert Strides(LADDER)(after(4), (FAR, CLOSE, FAR, FAR)) is None


def test_strides_pay_the_top_level_in_all() -> None:
    rungs = [Strides(LADDER)(after(taken), (FAR,) * taken) for taken in range(3)]

    assert sum(rung.budget.epsilon for rung in rungs if rung is not None) == 16


@pytest.mark.parametrize("levels", [(1, 2, 4), (0.1, 0.5), tuple(np.array([1, 2, 4])), tuple(np.array([0.1, 0.5]))])
def test_plain_levels_are_read_exactly(levels: tuple[Real, ...]) -> None:
    ladder = Ladder(levels, np.int64(20))  # type: ignore[arg-type] # a caller without a type checker

    assert ladder == Ladder.of([float(level) for level in levels], alpha=20)
    assert all(type(part) is int for level in ladder.levels for part in level.as_integer_ratio())


def test_levels_of_an_array_do_not_wrap_around() -> None:
    ladder = Ladder.of(list(np.array([100, 120], dtype=np.int8)), alpha=np.int8(100))  # type: ignore[arg-type] # a numpy integer

    assert [each.rho for each in ladder.budgets] == [1, Fraction(1, 5)]


def test_the_rungs_of_a_ladder_are_those_it_gives_out() -> None:
    given_out = tuple(LADDER(after(taken), ()) for taken in range(len(LADDER.levels)))

    assert LADDER.rungs == given_out
    assert [rung.times for rung in LADDER.rungs] == [1] * 5


@pytest.mark.parametrize("times", [0, -1])
def test_a_rung_is_climbed_once_at_least(times: int) -> None:
    with pytest.raises(InvalidValue, match="times is") as refused:
        Rung(budget(1), True, times)

    assert one_sentence(refused.value)


def test_strides_have_the_levels_of_their_ladder() -> None:
    strides = Strides(LADDER)

    assert (strides.levels, strides.rungs, strides.alpha) == (LADDER.levels, LADDER.rungs, LADDER.alpha)


@pytest.mark.parametrize("asked", [(), (0, 4), tuple(range(5))])
def test_the_rungs_asked_about_are_those_chosen(asked: tuple[int, ...]) -> None:
    ladder = Ladder(LADDER.levels, LADDER.alpha, asked)

    assert tuple(place for place, rung in enumerate(ladder.rungs) if rung.asked) == asked


@pytest.mark.parametrize("asked", [(5,), (-1,), (0, 9)])
def test_a_rung_to_ask_about_is_one_of_the_ladder(asked: tuple[int, ...]) -> None:
    with pytest.raises(InvalidValue, match="count them from 0") as refused:
        Ladder(LADDER.levels, LADDER.alpha, asked)

    assert one_sentence(refused.value)


def test_an_order_given_plainly_is_read_exactly_and_lies_above_one() -> None:
    plain = Ladder(LADDER.levels, np.int64(20))  # type: ignore[arg-type] # a caller without a type checker

    assert type(plain.alpha) is Fraction
    with pytest.raises(InvalidValue, match="alpha is"):
        Ladder(LADDER.levels, Fraction(1))


def test_a_geometric_ladder_that_floating_point_cannot_span_is_refused() -> None:
    with pytest.raises(InvalidValue, match="closer together") as refused:
        Ladder.geometric(1e-300, 1e300, 3, alpha=20)

    assert one_sentence(refused.value)


def test_a_geometric_ladder_may_begin_as_low_as_its_ends_allow() -> None:
    """The ratio of its ends, divided by the lower one, would be too large."""
    levels = Ladder.geometric(1e-200, 1e-20, 3, alpha=20).levels

    assert float(levels[1]) == pytest.approx(1e-110)


@pytest.mark.parametrize(("margin", "rise"), [(-40.0, 1), (-40.5, 3), (-79.0, 3)])
def test_more_than_four_standard_errors_are_far(margin: float, rise: int) -> None:
    assert Strides(LADDER)(after(1), (Verdict(False, margin=margin, std=10.0),)) == Rung(budget(rise), True)
