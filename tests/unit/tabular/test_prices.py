"""Prices: the noise of a check is known beforehand, and is the noise that the run then reports."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from expost.accounting.claim import Budget
from expost.checks.gaussian import BalancedCheck, GaussianCheck
from expost.checks.public import PublicCheck
from expost.checks.sparse_vector import SparseVectorCheck
from expost.tabular.prices import check_noise
from expost.tabular.synthesis import CheckMaker
from tests.unit.tabular.test_synthesis import LADDER, RECIPE, done

HARD = replace(RECIPE, accuracy=Fraction(99, 100))
BUDGET = Budget.of(Fraction(1, 20), alpha=LADDER.alpha)
REVEALING: dict[str, CheckMaker] = {
    "balanced": BalancedCheck,
    "gaussian": lambda question: GaussianCheck(question, BUDGET, 2, None),
}


@pytest.mark.parametrize("maker", REVEALING.values(), ids=REVEALING)
def test_the_noise_of_each_answer_is_known_beforehand(maker: CheckMaker) -> None:
    recipe = replace(HARD, check=maker)

    known = check_noise(recipe)

    verdicts = [line.verdict for line in done(recipe).outcome.history]
    reported = [None if verdict is None else verdict.std for verdict in verdicts]
    assert known[-1] is reported[-1] is None
    assert known[:-1] == pytest.approx(reported[:-1], rel=1e-9)


def test_a_check_that_says_yes_or_no_has_the_noise_of_its_threshold_and_of_its_question() -> None:
    question = HARD.question()
    check = SparseVectorCheck(question, Fraction(9), Fraction(2), None)

    first, second, last = check_noise(replace(HARD, check=lambda asked: check))

    assert last is None
    assert first == second == pytest.approx(math.sqrt(9 + 2 * 4) * question.sensitivity / question.unit)


def test_a_public_check_adds_no_noise() -> None:
    public = replace(HARD, check=lambda question: PublicCheck(lambda candidate: True))

    assert check_noise(public) == (None, None, None)
