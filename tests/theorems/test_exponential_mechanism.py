"""Theorem (bounded range). Choosing i with probability ∝ exp(ε·score_i/(2Δ)) is ε²/8-zCDP when a record moves each
score by Δ at most.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from expost import Budget, Exponential, FiniteMechanism, Neighbours, Odometer, Past, Private, SeededNoise

SCORES = {"X": (3, 0, 5, 4), "X'": (4, 1, 4, 5)}
MECHANISM: Exponential[tuple[int, ...]] = Exponential(
    lambda data: np.asarray(data, dtype=np.int64),
    candidates=4,
    sensitivity=Fraction(1),
    neighbours=Neighbours.ADD_REMOVE,
)
BUDGET = Budget.of(Fraction(1, 2), alpha=4)


def law(scores: tuple[int, ...], epsilon: float, bill: float) -> dict[tuple[int, float], float]:
    weights = [math.exp(epsilon * score / 2) for score in scores]
    return {(index, bill): weight / math.fsum(weights) for index, weight in enumerate(weights)}


def test_the_budget_is_met_from_below() -> None:
    assert BUDGET.epsilon * (1 - Fraction(1, 10**9)) <= Fraction(MECHANISM.promise(BUDGET).at(4)) <= BUDGET.epsilon


def test_the_choice_has_the_promised_curve() -> None:
    epsilon, rho = float(MECHANISM.epsilon(BUDGET)), float(BUDGET.rho)

    assert FiniteMechanism({name: law(scores, epsilon, rho) for name, scores in SCORES.items()}).is_zcdp(0)


def test_half_the_promised_curve_would_be_too_little() -> None:
    epsilon, rho = float(MECHANISM.epsilon(BUDGET)), float(BUDGET.rho) / 2

    assert not FiniteMechanism({name: law(scores, epsilon, rho) for name, scores in SCORES.items()}).is_zcdp(0)


@pytest.mark.statistical
def test_the_sampler_follows_the_law() -> None:
    """2e4 choices, chi-square with 3 degrees of freedom; 30.7 has a false-alarm rate of 1e-6."""
    odometer, noise = Odometer(rehearsal=True), SeededNoise(11)
    data = Private(SCORES["X"])

    picks = [odometer.spend(MECHANISM, data, BUDGET, Past(), noise).value for _ in range(20_000)]

    expected = [20_000 * p for p in law(SCORES["X"], float(MECHANISM.epsilon(BUDGET)), 0.0).values()]
    wrong = [20_000 * p for p in law(SCORES["X"], 0.8 * float(MECHANISM.epsilon(BUDGET)), 0.0).values()]
    seen = np.bincount(picks, minlength=4)
    assert sum((seen - expected) ** 2 / expected) < 30.7
    assert sum((seen - wrong) ** 2 / wrong) > 30.7
