"""The baselines: what each answer costs, and that nothing is free which the papers charge for."""

import pickle
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest

from expost.accounting.claim import Budget, Spent
from expost.baselines import Doubling, ReducedAboveThreshold, RenyiReducedAboveThreshold, doubling
from expost.checks.question import CentredSum, PublicCheck, PublicCount
from expost.errors import InvalidValue, SpentCheck
from expost.ledger import Fact
from expost.mechanisms.gaussian import Gaussian
from expost.noise import Integers, Noise, ScriptedNoise, SeededNoise
from expost.numerics import Real
from expost.private import Neighbours, Split
from expost.protocols import Check, Inquiry, Verdict
from expost.release import Past
from expost.search import Ended
from tests.unit.examples import (
    ADD,
    NONE,
    REPLACE,
    Says,
    budget,
    counts,
    line,
    people,
    rehearsal,
    released,
    right,
    silence,
)

QUESTION: CentredSum[Integers, int] = CentredSum(right, Fraction(1, 2), ADD)
PURE = ReducedAboveThreshold(QUESTION, (Fraction(1), Fraction(2), Fraction(4)))
RENYI = RenyiReducedAboveThreshold(QUESTION, (budget(1), budget(2), budget(4)))
CHECKS: list[Check[Integers, int]] = [PURE, RENYI]
HELD = np.array([1, 1, 2])
THIRDS: PublicCount[Integers, int] = PublicCount(right, Fraction(1, 2), 2, ADD, 3)


def bills(check: Check[Integers, int], answers: Sequence[bool]) -> Spent:
    """The sum of the prices of these answers in turn."""
    spent = NONE
    for index, passed in enumerate(answers):
        price = check.price(index, NONE, spent)
        spent = spent + (price.passed if passed else price.failed).as_spent()
    return spent


def answered(inquiry: Inquiry[Integers, int], noise: Noise) -> Verdict:
    """The next question about the candidate 1, priced and answered."""
    return inquiry.answer(inquiry.price(NONE, NONE), HELD, 1, noise)


def pure(*levels: Real) -> ReducedAboveThreshold[Integers, int]:
    """The pure check from ordinary numbers."""
    return ReducedAboveThreshold(QUESTION, levels)  # type: ignore[arg-type] # a caller without a type checker


@pytest.mark.parametrize(("fails", "level"), [(1, 1), (2, 2), (3, 4)])
def test_failing_costs_half_the_level_in_all(fails: int, level: int) -> None:
    assert bills(PURE, [False] * fails) == Spent(line(Fraction(level, 2), 0))


@pytest.mark.parametrize(("fails", "level"), [(0, 1), (1, 2), (2, 4)])
def test_passing_costs_the_level_in_all(fails: int, level: int) -> None:
    assert bills(PURE, [False] * fails + [True]) == Spent(line(level, 0))


def test_equal_levels_cost_what_the_textbook_says() -> None:
    assert bills(pure(1, 1, 1), [False, False, True]) == Spent(line(1, 0))


@pytest.mark.parametrize(("fails", "level"), [(1, 1), (2, 2), (3, 4)])
def test_failing_costs_the_share_of_the_threshold(fails: int, level: int) -> None:
    assert bills(RENYI, [False] * fails) == Spent(line(0, Fraction(level, 40)))


@pytest.mark.parametrize(("fails", "level"), [(0, 1), (1, 2), (2, 4)])
def test_passing_costs_the_level_at_its_order(fails: int, level: int) -> None:
    assert bills(RENYI, [False] * fails + [True]) == Spent(line(Fraction(level, 2), Fraction(level, 40)))


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("fails", [0, 1, 2])
def test_a_fail_never_costs_more_than_a_pass(check: Check[Integers, int], fails: int) -> None:
    price = check.price(fails, NONE, NONE)

    assert all(price.failed.at(alpha) <= price.passed.at(alpha) for alpha in (1.5, 20, 1000))


@pytest.mark.parametrize("check", CHECKS)
def test_after_a_pass_the_check_is_over(check: Check[Integers, int]) -> None:
    inquiry = Inquiry(check)
    answered(inquiry, ScriptedNoise([0, 0]))

    with pytest.raises(SpentCheck, match="has passed a candidate and is over"):
        inquiry.price(NONE, NONE)


@pytest.mark.parametrize("check", CHECKS)
def test_after_the_last_level_no_question_is_left(check: Check[Integers, int]) -> None:
    inquiry, noise = Inquiry(check), ScriptedNoise([1, -99] * 3)  # the 1 is a threshold, or the coin that keeps it
    for _ in range(3):
        answered(inquiry, noise)

    with pytest.raises(SpentCheck, match="every planned level has been asked"):
        inquiry.price(NONE, NONE)


@pytest.mark.parametrize(("threshold", "noise", "passed"), [(1, 0, True), (2, 0, False), (2, 1, True)])
@pytest.mark.parametrize("check", CHECKS)
def test_a_candidate_passes_when_its_noisy_margin_reaches_the_noisy_threshold(
    check: Check[Integers, int], threshold: int, noise: int, passed: bool
) -> None:
    """Two of three right at one half is a margin of 1."""
    assert answered(Inquiry(check), ScriptedNoise([threshold, noise])) == Verdict(passed)


def test_the_threshold_is_reduced_from_its_own_path() -> None:
    """Threshold noise 5 at the first level stays at the second (one draw says so); 4 is short of it, 5 is not."""
    inquiry, noise = Inquiry(PURE), ScriptedNoise([5, 3, 1, 4])

    assert [answered(inquiry, noise).passed for _ in range(2)] == [False, True]


def test_levels_however_close_are_asked_in_turn() -> None:
    """Closer than any that noise reduction accepts; this seed's first answer is a fail, so that a second is due."""
    inquiry, noise = Inquiry(pure(Fraction(1, 2**40), (1 + Fraction(1, 2**200)) / 2**40)), SeededNoise(2)

    verdicts = [answered(inquiry, noise).passed for _ in range(2)]

    assert verdicts == [False, False]


def test_the_brownian_threshold_is_the_weighted_mean_of_its_draws() -> None:
    """Draws 10 and −2, each half of the precision at the second level: the threshold is 4, the margin 1 + 3."""
    inquiry, noise = Inquiry(RENYI), ScriptedNoise([10, 0, -2, 3])

    assert [answered(inquiry, noise).passed for _ in range(2)] == [False, True]


@pytest.mark.parametrize("bad", [(), (2, 1), (1, 3, 2)])
def test_levels_must_not_decrease(bad: tuple[int, ...]) -> None:
    with pytest.raises(InvalidValue, match="must not decrease"):
        pure(*bad)


@pytest.mark.parametrize("bad", [(), (2, 1), (1, 1)])
def test_renyi_levels_must_increase(bad: tuple[int, ...]) -> None:
    with pytest.raises(InvalidValue, match="must increase"):
        RenyiReducedAboveThreshold(QUESTION, tuple(budget(level) for level in bad))


@pytest.mark.parametrize("share", [0, 1, -1, 2])
def test_the_threshold_gets_a_share_between_none_and_all(share: int) -> None:
    with pytest.raises(InvalidValue, match="share is"):
        RenyiReducedAboveThreshold(QUESTION, (budget(1),), Fraction(share))


def test_a_plain_share_is_read_exactly() -> None:
    plain = RenyiReducedAboveThreshold(QUESTION, (budget(1),), 0.5)  # type: ignore[arg-type] # a caller without a type checker

    assert plain.price(0, NONE, NONE) == RenyiReducedAboveThreshold(QUESTION, (budget(1),)).price(0, NONE, NONE)


def test_renyi_levels_at_other_orders_cost_their_own_epsilon() -> None:
    """The price of a pass is ε at the order of the level, whatever the levels before were given at."""
    mixed = RenyiReducedAboveThreshold(QUESTION, (Budget.of(1, alpha=20), Budget.of(8, alpha=40)))

    assert bills(mixed, [False, True]).at(40) == 8.0


@pytest.mark.parametrize("level", [0, -1, float("nan")])
def test_a_level_is_above_zero(level: float) -> None:
    with pytest.raises(InvalidValue, match="level is"):
        pure(level)


@pytest.mark.parametrize("levels", [(1, 2), (0.1, 0.5), (np.int64(1), np.int32(2)), (np.float64(0.1), 1)])
def test_plain_levels_are_read_exactly(levels: tuple[Real, ...]) -> None:
    check = pure(*levels)

    assert check.levels == tuple(Fraction(float(level)) for level in levels)
    assert all(type(part) is int for level in check.levels for part in level.as_integer_ratio())


@pytest.mark.parametrize("check", CHECKS)
def test_the_secret_threshold_is_not_pickled(check: Check[Integers, int]) -> None:
    with pytest.raises(TypeError, match="secret noise"):
        pickle.dumps(check.begin())


@pytest.mark.parametrize(
    ("check", "facts"),
    [
        (PURE, {"sensitivity": 1, "levels": "1 2 4"}),
        (RENYI, {"sensitivity": 1, "levels": "1@20 2@20 4@20", "share": "1/2"}),
    ],
)
def test_the_record_holds_what_it_takes_to_recompute_the_cost(
    check: Check[Integers, int], facts: dict[str, Fact]
) -> None:
    assert check.facts() == facts


def test_doubling_doubles() -> None:
    assert [each.epsilon for each in Doubling(budget(Fraction(1, 3)), 4).budgets] == [
        Fraction(2**k, 3) for k in range(4)
    ]


def test_doubling_ends_after_its_rungs() -> None:
    rungs = [Doubling(budget(1), 2)(Past(*(released(0, 1) for _ in range(taken))), ()) for taken in range(3)]

    assert [None if rung is None else rung.asked for rung in rungs] == [True, False, None]


def test_doubling_costs_the_sum_of_all_its_rungs() -> None:
    check: PublicCheck[int] = PublicCheck(lambda value: False)

    outcome = doubling(
        Split.whole(people(0)),
        Says(1),
        Doubling(budget(1), 4),
        lambda value: value,
        check,
        noise=silence(),
        odometer=rehearsal(),
    )

    assert (outcome.ended, outcome.release.spent.at(20)) == (Ended.EXHAUSTED, 15.0)


def test_doubling_needs_a_rung() -> None:
    with pytest.raises(InvalidValue, match="rungs is 0"):
        Doubling(budget(1), 0)


def test_the_brownian_threshold_that_is_not_reached_fails() -> None:
    """The same draws, and a margin of 1 + 2."""
    inquiry, noise = Inquiry(RENYI), ScriptedNoise([10, 0, -2, 2])

    assert [answered(inquiry, noise).passed for _ in range(2)] == [False, False]


@pytest.mark.parametrize("neighbours", [ADD, REPLACE])
def test_the_neighbours_are_those_of_the_question(neighbours: Neighbours) -> None:
    asked: CentredSum[Integers, int] = CentredSum(right, Fraction(1, 2), neighbours)

    assert ReducedAboveThreshold(asked, (Fraction(1),)).neighbours is neighbours
    assert RenyiReducedAboveThreshold(asked, (budget(1),)).neighbours is neighbours


def test_the_one_level_of_a_short_plan_is_asked() -> None:
    assert answered(Inquiry(pure(1)), ScriptedNoise([0, 0])).passed


def laplace(coarse: Fraction) -> object:
    """The pure check at a sensitivity of 3, this level and one at the order of 1."""
    return ReducedAboveThreshold(THIRDS, (coarse, Fraction(1)))


def question_noise(coarse: Fraction) -> object:
    """The Rényi check at a sensitivity of 3: this for the question at the first level."""
    return RenyiReducedAboveThreshold(THIRDS, (budget(coarse * 4 / 3), budget(1)), Fraction(1, 4))


def first_threshold(rho: Fraction) -> object:
    """The same, this ρ for the threshold at the first level."""
    alpha = 2**60
    return RenyiReducedAboveThreshold(THIRDS, (budget(4 * rho * alpha, alpha), budget(alpha, alpha)), Fraction(1, 4))


def next_threshold(rho: Fraction) -> object:
    """The same, this ρ more for the threshold at the second level than at the first."""
    return RenyiReducedAboveThreshold(THIRDS, (budget(20), budget(20 * (1 + 4 * rho))), Fraction(1, 4))


@pytest.mark.parametrize(
    ("made", "least", "message"),
    [
        (laplace, Fraction(4 * 3, 2**51), "scale is about"),
        (question_noise, Fraction(2 * 3, 2**51), "scale is about"),
        (first_threshold, Fraction(3**2, 2 * 2**104), "variance is about"),
        (next_threshold, Fraction(3**2, 2 * 2**104), "variance is about"),
    ],
)
def test_levels_whose_noise_does_not_fit_are_refused_before_any_question(
    made: Callable[[Fraction], object], least: Fraction, message: str
) -> None:
    made(least)

    with pytest.raises(InvalidValue, match=message):
        made(least * Fraction(99, 100))


def test_one_rung_is_doubling_that_never_doubles() -> None:
    assert Doubling(budget(1), 1).budgets == (budget(1),)


def test_doubling_builds_from_the_newest_release() -> None:
    """One record, and noise of 5 and then of 7."""
    built: list[int] = []
    check: PublicCheck[None] = PublicCheck(lambda value: False)

    doubling(
        Split.whole(people(0)),
        Gaussian(counts(1)),
        Doubling(budget(1), 2),
        lambda measured: built.append(int(measured.values[0])),
        check,
        noise=ScriptedNoise([5, 7]),
        odometer=rehearsal(),
    )

    assert built == [6, 8]
