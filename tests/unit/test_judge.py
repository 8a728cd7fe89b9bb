"""What ``check=`` takes becomes the check that it names, with its budget, its looks and its confidence."""

from fractions import Fraction

import numpy as np
import pytest

from expost.accounting.claim import Budget
from expost.checks.confidence import Confidence
from expost.checks.gaussian import BalancedCheck, GaussianCheck
from expost.checks.question import CentredSum, PublicCheck
from expost.checks.sparse_vector import SparseVectorCheck
from expost.judge import Balanced, Budgeted, OnPublic, SparseVector, planned_looks_of
from expost.noise import Integers
from tests.unit.examples import ADD, right

QUESTION: CentredSum[Integers, int] = CentredSum(right, Fraction(1, 2), ADD)
FIRST = Budget.of(Fraction(1, 10), alpha=20)
LOOKS = 3
CONFIDENCES = [None, Confidence.of(0.95, looks=LOOKS)]


@pytest.mark.parametrize("sure", CONFIDENCES)
@pytest.mark.parametrize("given", [None, Fraction(2)])
def test_a_check_spends_what_is_said_or_what_the_first_rung_costs(
    sure: Confidence | None, given: Fraction | None
) -> None:
    budget = FIRST if given is None else Budget.of(given, alpha=20)

    gaussian, sparse = (each.check(QUESTION, FIRST, LOOKS, sure) for each in (Budgeted(given), SparseVector(given)))

    assert gaussian == GaussianCheck(QUESTION, budget, LOOKS, sure)
    assert sparse == SparseVectorCheck.calibrated(QUESTION, budget, sure)


@pytest.mark.parametrize("sure", CONFIDENCES)
def test_a_balanced_check_keeps_its_confidence(sure: Confidence | None) -> None:
    assert Balanced().check(QUESTION, FIRST, LOOKS, sure) == BalancedCheck(QUESTION, sure)


@pytest.mark.parametrize(("codes", "passes"), [([1, 1, 0, 0], True), ([1, 1, 0, 0, 0], False)])
def test_a_check_on_public_records_passes_from_the_threshold_on(codes: list[int], passes: bool) -> None:
    check = OnPublic(np.array(codes)).check(QUESTION, FIRST, LOOKS, None)

    assert isinstance(check, PublicCheck)
    assert check.verdict(1).passed is passes


def test_only_a_check_on_public_records_holds_nothing_out() -> None:
    assert [each.public for each in (Balanced(), Budgeted(), SparseVector(), OnPublic(()))] == [False] * 3 + [True]


@pytest.mark.parametrize(("rungs", "sure", "looks"), [(5, None, 4), (1, None, 1), (5, CONFIDENCES[1], LOOKS)])
def test_the_papers_check_is_not_asked_about_the_last_rung(rungs: int, sure: Confidence | None, looks: int) -> None:
    assert planned_looks_of(rungs, sure) == looks
