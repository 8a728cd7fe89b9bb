"""The sparse vector check: one price for the threshold, one for a pass, none for a fail, and then it is over."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from expost.accounting.claim import NOTHING, Promise
from expost.checks.confidence import Confidence
from expost.checks.question import CentredSum, PublicCount, Question
from expost.checks.sparse_vector import SparseVectorCheck
from expost.errors import InvalidValue, SpentCheck
from expost.noise import Integers, Noise, ScriptedNoise
from expost.private import Neighbours
from expost.protocols import Inquiry, Verdict
from tests.unit.examples import ADD, NONE, REPLACE, budget, line, right

HELD = np.array([1, 1, 1, 2])


CENTRED: CentredSum[Integers, int] = CentredSum(right, Fraction(3, 4), ADD)
COUNTED: PublicCount[Integers, int] = PublicCount(right, Fraction(3, 4), 4, ADD)
REPLACED: PublicCount[Integers, int] = PublicCount(right, Fraction(3, 4), 4, REPLACE)
CHECK = SparseVectorCheck(CENTRED, Fraction(10), Fraction(8), None)


def answered(inquiry: Inquiry[Integers, int], noise: Noise) -> Verdict:
    """The next question about the candidate 1, priced and answered."""
    return inquiry.answer(inquiry.price(NONE, NONE), HELD, 1, noise)


@pytest.mark.parametrize(
    ("threshold", "noise", "passed"), [(0, 0, True), (1, 0, False), (1, 1, True), (-5, -6, False), (-5, -5, True)]
)
def test_a_candidate_passes_when_its_noisy_margin_reaches_the_noisy_threshold(
    threshold: int, noise: int, passed: bool
) -> None:
    inquiry = Inquiry(CHECK)

    assert answered(inquiry, ScriptedNoise([threshold, noise])) == Verdict(passed, guard=0.0)


def test_the_threshold_is_drawn_once() -> None:
    inquiry, noise = Inquiry(CHECK), ScriptedNoise([5, 0, 4, 5])

    verdicts = [answered(inquiry, noise).passed for _ in range(3)]

    assert verdicts == [False, False, True]


def test_the_first_question_pays_the_threshold_even_if_it_fails() -> None:
    assert CHECK.price(0, NONE, NONE).failed == Promise(line(0, Fraction(1, 20)))


def test_later_fails_cost_nothing() -> None:
    assert [CHECK.price(index, NONE, NONE).failed for index in (1, 2, 3)] == [NOTHING] * 3


def test_a_pass_adds_its_own_price() -> None:
    assert CHECK.price(0, NONE, NONE).passed == Promise(line(Fraction(1, 4), Fraction(1, 20)))


def test_a_later_pass_does_not_pay_the_threshold_again() -> None:
    assert CHECK.price(1, NONE, NONE).passed == Promise(line(Fraction(1, 4), 0))


def test_after_a_pass_the_check_is_over() -> None:
    inquiry = Inquiry(CHECK)
    answered(inquiry, ScriptedNoise([0, 0]))

    with pytest.raises(SpentCheck, match="has passed a candidate and is over"):
        inquiry.price(NONE, NONE)


def test_after_a_fail_the_check_goes_on() -> None:
    inquiry = Inquiry(CHECK)
    answered(inquiry, ScriptedNoise([0, -1]))

    assert inquiry.price(NONE, NONE) == CHECK.price(1, NONE, NONE)


@pytest.mark.parametrize(("question", "price"), [(CENTRED, 2), (REPLACED, 2), (COUNTED, 1)])
def test_only_a_public_count_under_added_records_halves_a_pass(question: Question[Integers, int], price: int) -> None:
    assert SparseVectorCheck(question, Fraction(1), Fraction(8), None).pass_cost == line(Fraction(price, 8), 0)


@pytest.mark.parametrize(
    ("question", "rho", "xi"), [(CENTRED, 3.5405e-5, 9.2919e-3), (COUNTED, 6.430671e-5, 8.713866e-3)]
)
def test_the_calibration_is_the_best_for_its_budget(question: Question[Integers, int], rho: float, xi: float) -> None:
    check = SparseVectorCheck.calibrated(question, budget(Fraction(1, 100)), None)

    assert float(check.threshold_cost.rho) == pytest.approx(rho, rel=2e-5)
    assert float(check.pass_cost.xi) == pytest.approx(xi, rel=2e-5)


@pytest.mark.parametrize("epsilon", [Fraction(1, 100), 1, Fraction(1, 3)])
def test_a_calibrated_check_stays_within_its_budget(epsilon: Fraction) -> None:
    check = SparseVectorCheck.calibrated(CENTRED, budget(epsilon), None)

    assert check.threshold_cost.rho * 20 + check.pass_cost.xi <= epsilon


def test_the_noise_is_in_units_of_the_sensitivity() -> None:
    """A sensitivity of 3 makes the smallest possible noise too wide for 64 bits nine times earlier."""
    widest = Fraction(2**104, 9)

    assert answered(Inquiry(SparseVectorCheck(CENTRED, widest, Fraction(1), None)), ScriptedNoise([0, 0])).passed
    with pytest.raises(InvalidValue, match="64-bit noise"):
        SparseVectorCheck(CENTRED, widest + 1, Fraction(1), None)


@pytest.mark.parametrize(("variance", "scale"), [(0, 1), (1, 0), (-1, 1), (1, -1)])
def test_noise_that_is_no_noise_is_refused(variance: int, scale: int) -> None:
    with pytest.raises(InvalidValue, match="it must be above 0"):
        SparseVectorCheck(CENTRED, Fraction(variance), Fraction(scale), None)


def test_plain_numbers_are_read_exactly() -> None:
    check = SparseVectorCheck(CENTRED, np.int64(10), 0.1, None)  # type: ignore[arg-type] # a caller without a type checker

    assert (check.variance, check.scale) == (Fraction(10), Fraction(0.1))
    assert all(type(number) is Fraction for number in (check.variance, check.scale))


def test_the_record_holds_what_it_takes_to_recompute_the_cost() -> None:
    facts = {"sensitivity": 3, "unit": 4, "variance": "10", "scale": "8", "monotone": False}

    assert CHECK.facts() == facts


def test_the_secret_threshold_is_not_pickled() -> None:
    with pytest.raises(TypeError, match="secret noise"):
        pickle.dumps(CHECK.begin())


def test_a_scale_too_wide_for_64_bits_is_refused_in_units_of_the_sensitivity() -> None:
    """A sensitivity of 3 brings the widest scale down to a third."""
    widest = Fraction(2**51, 3)

    assert SparseVectorCheck(CENTRED, Fraction(1), widest, None).scale == widest
    with pytest.raises(InvalidValue, match="64-bit noise"):
        SparseVectorCheck(CENTRED, Fraction(1), widest + 1, None)


def test_a_confidence_that_no_guard_gives_is_refused_before_data_is_opened() -> None:
    with pytest.raises(InvalidValue, match="ask for less confidence, or plan fewer looks"):
        SparseVectorCheck(CENTRED, Fraction(10), Fraction(8), Confidence(1 - Fraction(1, 10**17), 7))


def test_a_confidence_close_to_certainty_still_has_a_guard() -> None:
    check = SparseVectorCheck(CENTRED, Fraction(10), Fraction(8), Confidence(1 - Fraction(1, 10**11), 7))

    assert check.guard > 24 * 26  # scales of the Laplace noise: e^26 is 2e11


SURE = Confidence.of(0.95, looks=3)
CONFIDENT = SparseVectorCheck(CENTRED, Fraction(1000), Fraction(8), SURE)
GUARD = SURE.threshold_guard(Fraction(9000), Fraction(24))
"""Of the same noise in the question's units, three to a sensitivity."""


@pytest.mark.parametrize(("above", "passed"), [(0, True), (-1, False)])
def test_with_a_confidence_a_candidate_passes_from_the_guard_above_the_threshold_on(above: int, passed: bool) -> None:
    verdict = answered(Inquiry(CONFIDENT), ScriptedNoise([5, 5 + GUARD + above]))

    assert GUARD > 0
    assert verdict == Verdict(passed, guard=GUARD / 4)


def test_the_noise_and_the_guard_of_an_answer_are_known_beforehand_in_records() -> None:
    look = CONFIDENT.look(CONFIDENT.price(0, NONE, NONE))

    assert look.std == pytest.approx(math.sqrt(1000 + 2 * 8**2) * 3 / 4)
    assert look.guard == GUARD / 4


def test_a_look_that_the_confidence_was_not_planned_for_is_refused() -> None:
    CONFIDENT.price(2, NONE, NONE)

    with pytest.raises(SpentCheck, match="plan more of them"):
        CONFIDENT.price(3, NONE, NONE)


@pytest.mark.parametrize(("question", "neighbours"), [(COUNTED, ADD), (REPLACED, REPLACE)])
def test_a_check_speaks_for_the_relation_of_its_question(
    question: Question[Integers, int], neighbours: Neighbours
) -> None:
    assert SparseVectorCheck(question, Fraction(10), Fraction(8), None).neighbours is neighbours
