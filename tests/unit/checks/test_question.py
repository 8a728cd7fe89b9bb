"""What a check asks: an exact integer whose sign is the question, with sensitivities by brute force."""

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from expost.checks.gaussian import GaussianCheck
from expost.checks.question import FINEST, CentredSum, PublicCheck, PublicCount, accuracy_threshold, as_typed
from expost.errors import InvalidValue
from expost.noise import Floats, Integers, ScriptedNoise
from expost.numerics import Real
from expost.private import Neighbours
from expost.protocols import Verdict
from tests.unit.examples import ADD, NONE, REPLACE, budget, distances, l1, largest

Scores = Floats
Ask = CentredSum[Scores, int] | PublicCount[Scores, int]
ZERO_OR_ONE = (0.0, 1.0)
QUARTERS = (0.0, 0.25, 0.5, 0.9, 1.0, math.nan, -3.0, 7.0)
THRESHOLDS = [Fraction(33, 40), Fraction(1, 3), Fraction(1, 2), Fraction(1, 100)]


def own(candidate: int, held: Scores) -> Scores:
    """Each record is its own score."""
    return held


def centred(threshold: Fraction, neighbours: Neighbours, resolution: int = 1) -> CentredSum[Scores, int]:
    """A centred sum of records that are scores."""
    return CentredSum(own, threshold, neighbours, resolution)


def public(threshold: Fraction, neighbours: Neighbours, resolution: int = 1) -> PublicCount[Scores, int]:
    """The same against a public count of 10 records."""
    return PublicCount(own, threshold, 10, neighbours, resolution)


def asked(question: Ask, data: list[float]) -> Integers:
    """The value as an array, for brute force."""
    return np.array([question.ask(0, np.array(data))])


CASES = list(product([centred, public], THRESHOLDS, [ADD, REPLACE], [(1, ZERO_OR_ONE), (4, QUARTERS)]))
Make = Callable[[Fraction, Neighbours, int], Ask]


@pytest.mark.parametrize(("make", "threshold", "neighbours", "kind"), CASES)
def test_no_neighbour_moves_the_value_further_than_claimed(
    make: Make, threshold: Fraction, neighbours: Neighbours, kind: tuple[int, tuple[float, ...]]
) -> None:
    question = make(threshold, neighbours, kind[0])

    moved = largest(distances(lambda data: asked(question, data), kind[1], neighbours, most=2), l1)

    assert moved <= question.sensitivity


@pytest.mark.parametrize(("make", "threshold", "neighbours", "kind"), CASES)
def test_some_neighbour_moves_the_value_further_than_any_smaller_claim(
    make: Make, threshold: Fraction, neighbours: Neighbours, kind: tuple[int, tuple[float, ...]]
) -> None:
    question = make(threshold, neighbours, kind[0])

    moved = largest(distances(lambda data: asked(question, data), kind[1], neighbours, most=2), l1)

    assert moved > question.sensitivity - 1


def test_the_claim_for_added_records_is_false_for_replaced_ones() -> None:
    question = centred(Fraction(33, 40), ADD)

    assert largest(distances(lambda data: asked(question, data), ZERO_OR_ONE, REPLACE), l1) > question.sensitivity


@pytest.mark.parametrize("correct", range(9))
def test_the_margin_is_not_negative_just_when_the_accuracy_is_reached(correct: int) -> None:
    records = np.array([1.0] * correct + [0.0] * (8 - correct))

    margin = centred(Fraction(5, 8), ADD).ask(0, records)

    assert (margin >= 0) == (Fraction(correct, 8) >= Fraction(5, 8))


def test_a_typed_threshold_is_the_decimal() -> None:
    assert CentredSum.accuracy(own, 0.825, ADD).threshold == Fraction(33, 40)


def test_a_threshold_of_a_numeric_array_is_the_decimal_too() -> None:
    assert as_typed(np.float64(0.825)) == Fraction(33, 40)


@pytest.mark.parametrize(("correct", "contribution"), [(1.0, 7), (0.0, -33)])
def test_at_33_of_40_a_record_adds_7_or_takes_33(correct: float, contribution: int) -> None:
    assert CentredSum.accuracy(own, 0.825, ADD).ask(0, np.array([correct])) == contribution


def test_margins_count_in_fortieths_of_a_record() -> None:
    assert CentredSum.accuracy(own, 0.825, ADD).unit == 40


def test_no_records_have_no_margin() -> None:
    assert centred(Fraction(1, 2), ADD).ask(0, np.array([])) == 0


def test_a_public_count_compares_with_the_smallest_passing_sum() -> None:
    """Of 10 records at 33/40, 8.25 must be right: nine."""
    question = public(Fraction(33, 40), ADD)

    assert [question.ask(0, np.ones(right)) for right in (8, 9)] == [-1, 0]


@pytest.mark.parametrize(
    ("score", "steps"),
    [(0.0, 0), (1.0, 4), (0.5, 2), (0.99, 3), (0.24, 0), (math.nan, 0), (math.inf, 4), (-math.inf, 0), (-2.0, 0)],
)
def test_a_fractional_score_is_rounded_down_and_clipped(score: float, steps: int) -> None:
    assert public(Fraction(1, 2), ADD, 4).ask(0, np.array([score])) == steps - 20


def test_without_a_resolution_a_fraction_counts_for_nothing() -> None:
    assert centred(Fraction(1, 2), ADD).ask(0, np.array([0.99])) == -1


@pytest.mark.parametrize("scores", [np.zeros(1), np.zeros(3), np.zeros((2, 1)), np.float64(1.0)])
@pytest.mark.parametrize("kind", [CentredSum, PublicCount])
def test_scores_that_are_not_one_to_a_record_are_refused(scores: Floats, kind: type) -> None:
    count = () if kind is CentredSum else (10,)
    question = kind(lambda candidate, held: scores, Fraction(1, 2), *count, ADD)

    with pytest.raises(InvalidValue, match="one number for each held-out record"):
        question.ask(0, np.zeros(2))


def test_a_centred_sum_is_not_monotone() -> None:
    """One record may raise one candidate's margin and lower another's."""
    question: CentredSum[Scores, int] = CentredSum(
        lambda candidate, held: held if candidate else 1 - held, Fraction(1, 2), ADD
    )

    moved = [question.ask(candidate, np.ones(1)) - question.ask(candidate, np.ones(0)) for candidate in (0, 1)]

    assert moved[0] < 0 < moved[1]
    assert not question.monotone


@pytest.mark.parametrize(("neighbours", "monotone"), [(ADD, True), (REPLACE, False)])
def test_a_public_count_is_monotone_for_added_records_only(neighbours: Neighbours, monotone: bool) -> None:
    assert public(Fraction(1, 2), neighbours).monotone is monotone


@pytest.mark.parametrize("threshold", [0, 1, -0.5, 1.5, math.nan, math.inf])
def test_a_threshold_lies_strictly_between_zero_and_one(threshold: Real) -> None:
    with pytest.raises(InvalidValue, match="threshold is"):
        CentredSum.accuracy(own, threshold, ADD)


@pytest.mark.parametrize(
    ("threshold", "resolution"), [(Fraction(1, 2), 0), (Fraction(1, 2), 2**24), (as_typed(1 / 3), 1)]
)
def test_a_grid_too_fine_or_empty_is_refused(threshold: Fraction, resolution: int) -> None:
    with pytest.raises(InvalidValue, match="units per record; round it"):
        centred(threshold, ADD, resolution)


def test_a_public_count_is_at_least_one() -> None:
    with pytest.raises(InvalidValue, match="count is 0"):
        PublicCount(own, Fraction(1, 2), 0, ADD)


def test_a_plain_threshold_is_read_exactly() -> None:
    plain = CentredSum(own, 0.5, ADD)  # type: ignore[arg-type] # a caller without a type checker

    assert plain == CentredSum(own, Fraction(1, 2), ADD)


def test_a_plain_threshold_of_a_public_count_is_read_exactly() -> None:
    plain = PublicCount(own, 0.5, 10, ADD)  # type: ignore[arg-type] # a caller without a type checker

    assert plain == PublicCount(own, Fraction(1, 2), 10, ADD)


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64])
@pytest.mark.parametrize("make", [centred, public])
def test_the_numbers_of_a_question_cannot_wrap_around(make: Make, kind: type[np.integer[Any]]) -> None:
    """Checks square the sensitivity, which 32 bits do not hold."""
    question = make(Fraction(1, 2), ADD, kind(100))  # type: ignore[arg-type] # a numpy integer

    assert (type(question.sensitivity), type(question.unit)) == (int, int)


@pytest.mark.parametrize("make", [centred, public])
def test_the_resolution_of_an_array_gets_the_noise_of_the_same_number(make: Make) -> None:
    def std(resolution: int) -> float | None:
        check = GaussianCheck(make(Fraction(1, 2), ADD, resolution), budget(1), 1, None)
        price = check.price(0, NONE, NONE)
        return check.begin().answer(0, price, np.zeros(1), 0, ScriptedNoise([0])).std

    with np.errstate(all="ignore"):
        assert std(np.int32(70_000)) == std(70_000)  # type: ignore[arg-type] # a numpy integer


@pytest.mark.parametrize(("asked", "share"), [(0.825, Fraction(33, 40)), (Fraction(1, 3), Fraction(1, 3))])
def test_an_accuracy_is_read_as_it_was_typed(asked: Real, share: Fraction) -> None:
    assert accuracy_threshold(asked) == share


@pytest.mark.parametrize("asked", [0, 1, -0.1, 1.5])
def test_an_accuracy_that_no_share_of_records_reaches_is_refused(asked: Real) -> None:
    with pytest.raises(InvalidValue, match="strictly between 0 and 1"):
        accuracy_threshold(asked)


def test_a_threshold_is_kept_as_it_was_typed() -> None:
    question = CentredSum(own, 0.825, ADD)  # type: ignore[arg-type] # a caller without a type checker

    assert question.threshold == Fraction(33, 40)


def test_the_finest_units_are_allowed_and_no_finer() -> None:
    """Sums of that many units per record stay within 64 bits for a billion records."""
    finest = 2**24

    assert CentredSum(own, Fraction(1, finest), ADD).unit == FINEST == finest
    with pytest.raises(InvalidValue, match="units per record"):
        CentredSum(own, Fraction(1, finest + 1), ADD)


def test_a_public_number_of_records_is_one_of_pythons_own_and_may_be_one() -> None:
    """NumPy's small integers would wrap around."""
    question = PublicCount(own, Fraction(1, 2), np.int8(1), ADD)  # type: ignore[arg-type] # as above

    assert (type(question.count), question.count) == (int, 1)


def test_a_question_under_a_relation_in_words_is_refused() -> None:
    with pytest.raises(InvalidValue, match="neighbour relation"):
        CentredSum(own, Fraction(1, 2), "add or remove one record")  # type: ignore[arg-type] # as above


@pytest.mark.parametrize("question", [CentredSum(own, Fraction(1, 2), ADD), PublicCount(own, Fraction(1, 2), 10, ADD)])
def test_scores_are_whole_unless_a_resolution_is_given(question: Ask) -> None:
    assert question.resolution == 1


@pytest.mark.parametrize(("candidate", "passed"), [(3, False), (4, True)])
def test_the_verdict_is_that_of_the_rule(candidate: int, passed: bool) -> None:
    check: PublicCheck[int] = PublicCheck(lambda value: value > 3)

    assert check.verdict(candidate) == Verdict(passed)


def test_a_public_verdict_has_no_noise_to_report() -> None:
    verdict = PublicCheck[int](lambda value: True).verdict(0)

    assert (verdict.margin, verdict.std) == (None, None)
