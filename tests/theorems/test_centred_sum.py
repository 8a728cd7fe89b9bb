"""Claim (centred sum). Σ (score − τ) ≥ 0 just when the mean score reaches τ, and one record moves it by at most max(τ,
1 − τ) when added or removed and by 1 when replaced: no private number of records enters. Rounded to integer units
both hold exactly. A count against a public number moves by 1.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

from expost import CentredSum, Neighbours
from expost.checks import PublicCount
from expost.checks.question import Question
from expost.noise import Floats
from tests.unit.examples import OF_RECORDS

THRESHOLDS = [Fraction(33, 40), Fraction(1, 2), Fraction(1, 3), Fraction(99, 100)]
SCORES = [0.0, 0.25, 0.5, 1.0]
RESOLUTION = 4


def own(candidate: None, held: Floats) -> Floats:
    """The record is its score."""
    return held


def data_sets(most: int) -> Iterator[list[float]]:
    for size in range(most + 1):
        yield from (list(chosen) for chosen in combinations_with_replacement(SCORES, size))


def moves(question: Question[Floats, None], neighbours: Neighbours) -> Iterator[int]:
    """How far the value moves between any two neighbours of up to three records."""
    for rest in data_sets(2):
        values = [question.ask(None, np.array([*rest, score])) for score in SCORES]
        if neighbours is Neighbours.ADD_REMOVE:
            values = [value - question.ask(None, np.array(rest)) for value in values]
            yield from (abs(value) for value in values)
        else:
            yield from (abs(one - other) for one in values for other in values)


Maker = Callable[[Fraction, Neighbours], Question[Floats, None]]
MAKERS: dict[str, Maker] = {
    "centred sum": lambda threshold, neighbours: CentredSum(own, threshold, neighbours, RESOLUTION),
    "public count": lambda threshold, neighbours: PublicCount(own, threshold, 3, neighbours, RESOLUTION),
}


@pytest.mark.parametrize("neighbours", OF_RECORDS)
@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("kind", MAKERS)
def test_the_claimed_sensitivity_is_the_largest_move(kind: str, threshold: Fraction, neighbours: Neighbours) -> None:
    """Both at once: never exceeded, and attained, so that any smaller claim would be false."""
    question = MAKERS[kind](threshold, neighbours)

    assert max(moves(question, neighbours)) == question.sensitivity


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_the_sum_is_at_or_above_zero_just_when_the_mean_reaches_the_threshold(threshold: Fraction) -> None:
    question = CentredSum(own, threshold, Neighbours.ADD_REMOVE, RESOLUTION)

    for scores in data_sets(3):
        reaches = sum(map(Fraction, scores)) >= threshold * len(scores)

        assert (question.ask(None, np.array(scores)) >= 0) == reaches


def test_the_mean_itself_moves_by_more_than_one_over_the_larger_n() -> None:
    """Why not ask for the accuracy: noise calibrated to 1/n would use a private n, and too little noise at that."""
    few, more = np.array([0.0]), np.array([0.0, 1.0])

    assert abs(more.mean() - few.mean()) > 1 / 3
