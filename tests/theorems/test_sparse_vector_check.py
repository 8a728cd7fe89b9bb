"""Theorem (sparse vector with Gaussian threshold). Noise N(0, σ²) on the threshold once and Laplace noise of scale b
on each question cost ξ + ρα with ξ = 2Δ/b and ρ = Δ²/(2σ²), however many questions fail before one passes; while
none passes only ρ is spent. If every question moves the same way between neighbours, ξ is Δ/b.

The law is summed exactly over the discrete threshold; the two data sets differ in every answer by the sensitivity.
"""

from fractions import Fraction

import numpy as np
import pytest

from expost import Budget, FiniteMechanism, Neighbours, SparseVectorCheck
from expost.accounting.claim import NOTHING
from expost.checks import PublicCount
from expost.errors import SpentCheck
from expost.noise import Floats, ScriptedNoise
from expost.numerics import up
from expost.protocols import Inquiry
from tests.theorems.sparse_vectors import gaussian_law, pass_chance

VARIANCE, SCALE, DEPTH = 2.0, 3.0, 4
FAIL, PASS = "fail", "pass"


def law(values: tuple[int, ...], scale: float, bill: tuple[float, float]) -> dict[tuple[tuple[str, int], float], float]:
    """Where the first pass comes, if at all; (ξ, ρ) billed as ρ·α while failing and ξ + ρ·α on a pass."""
    outputs: dict[tuple[tuple[str, int], float], float] = {}
    for threshold, weight in gaussian_law(VARIANCE).items():
        alive = weight
        for index, value in enumerate(values):
            chance = pass_chance(threshold - value, scale)
            outputs[(PASS, index), bill[1]] = outputs.get(((PASS, index), bill[1]), 0.0) + alive * chance
            alive *= 1 - chance
        outputs[(FAIL, len(values)), bill[0]] = outputs.get(((FAIL, len(values)), bill[0]), 0.0) + alive
    return outputs


BASE = (-1, 0, -2, 1)
OPPOSED = tuple(value + shift for value, shift in zip(BASE, (-1, -1, -1, 1), strict=True))
TOGETHER = tuple(value - 1 for value in BASE)


def mechanism(other: tuple[int, ...], xi: float, rho: float, alpha: float) -> FiniteMechanism[str, tuple[str, int]]:
    bill = (rho * alpha, xi + rho * alpha)
    return FiniteMechanism({"X": law(BASE, SCALE, bill), "X'": law(other, SCALE, bill)})


@pytest.mark.parametrize("alpha", [1.2, 2.0, 6.0, 30.0])
def test_the_stated_cost_is_ex_post_renyi_at_every_order(alpha: float) -> None:
    assert mechanism(OPPOSED, 2 / SCALE, 1 / (2 * VARIANCE), alpha).is_renyi(alpha)


@pytest.mark.parametrize("alpha", [1.2, 2.0, 6.0, 30.0])
def test_half_the_price_of_a_pass_suffices_when_all_answers_move_together(alpha: float) -> None:
    assert mechanism(TOGETHER, 1 / SCALE, 1 / (2 * VARIANCE), alpha).is_renyi(alpha)


def test_no_price_for_the_threshold_would_be_too_little() -> None:
    assert not mechanism(TOGETHER, 1 / SCALE, 0.0, 30.0).is_renyi(30.0)


def test_no_price_for_a_pass_would_be_too_little() -> None:
    bill = (2.0 / (2 * VARIANCE), 2.0 / (2 * VARIANCE))
    level, opposed = (0, 0, 0, 0), (-1, -1, -1, 1)

    table = FiniteMechanism({"X": law(level, 1 / 3, bill), "X'": law(opposed, 1 / 3, bill)})

    assert table.moment(2.0) > 1.1


def score(candidate: float, held: Floats) -> Floats:
    return (held <= candidate).astype(np.float64)


COUNT: PublicCount[Floats, float] = PublicCount(score, Fraction(1, 2), 100, Neighbours.ADD_REMOVE)
BUDGET = Budget.of(Fraction(1, 100), alpha=20)
NONE = NOTHING.as_spent()


def test_the_calibrated_check_meets_its_budget_exactly_on_the_safe_side() -> None:
    check = SparseVectorCheck.calibrated(COUNT, BUDGET, None)

    reached = check.pass_cost.xi + 20 * check.threshold_cost.rho

    assert BUDGET.epsilon * (1 - Fraction(1, 10**9)) < reached <= BUDGET.epsilon


def test_a_monotone_check_has_the_printed_constants() -> None:
    check = SparseVectorCheck.calibrated(COUNT, BUDGET, None)

    assert up(check.pass_cost.xi) == pytest.approx(8.713866e-3, rel=1e-6)
    assert up(check.threshold_cost.rho) == pytest.approx(6.430671e-5, rel=1e-6)


def test_failing_costs_the_threshold_once_and_a_pass_its_own_price() -> None:
    check = SparseVectorCheck.calibrated(COUNT, BUDGET, None)

    first, later = (check.price(index, NONE, NONE) for index in (0, 5))

    assert first.failed.curve == check.threshold_cost
    assert later.failed == NOTHING
    assert later.passed.curve == check.pass_cost
    assert first.passed == first.failed + later.passed


def test_a_check_that_has_passed_answers_no_more() -> None:
    inquiry = Inquiry(SparseVectorCheck(COUNT, Fraction(4), Fraction(2), None))
    held = np.repeat([0.0, 1.0], 50)
    inquiry.answer(inquiry.price(NONE, NONE), held, 0.5, ScriptedNoise([0, 0]))

    with pytest.raises(SpentCheck):
        inquiry.price(NONE, NONE)


def test_the_threshold_is_drawn_once_and_the_noise_of_questions_afresh() -> None:
    inquiry = Inquiry(SparseVectorCheck(COUNT, Fraction(4), Fraction(2), None))
    noise = ScriptedNoise([5, 4, 6])  # threshold 5, then 0 + 4 < 5 ≤ 0 + 6
    held = np.repeat([0.0, 1.0], 50)

    verdicts = [inquiry.answer(inquiry.price(NONE, NONE), held, 0.5, noise).passed for _ in range(2)]

    assert verdicts == [False, True]
