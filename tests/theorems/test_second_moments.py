"""Claim (second moments on an integer grid). For an integer vector g with ‖g‖ ≤ L the upper triangle of g ⊗ g, squares
times 29 and products times 41, has length 29 L² at most, because 41² ≤ 2·29². Class sums (g, c) times k beside it make
a vector that one record moves by √(k²(L² + c²) + 29² L⁴) at most.
"""

from itertools import combinations, product

import numpy as np
import pytest

from expost.noise import Integers
from expost.training.head.centre import RADIUS, Centre
from expost.training.head.labelled import Labelled
from expost.training.head.moments import ACROSS, BESIDE, CONSTANT, DIAGONAL, REACH, Moments, SecondMoments
from tests.unit.examples import ADD, REPLACE, distances, l1, l2_squared, largest, small_data

VECTORS = [vector for width in (1, 2, 3, 4) for vector in product(range(-3, 4), repeat=width)]
WIDTH, CLASSES = 3, 2
CENTRE = Centre(np.array([0.1, -0.2, 0.3]), 5.0)
ENDS = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (0.7, 0.7, 0.0), (1.0, 1.0, 1.0), (0.2, -0.3, 1e30))
RECORDS = [(*(RADIUS * np.array(end) + CENTRE.mean).tolist(), label) for end in ENDS for label in range(CLASSES)]
"""At the centre, at the radius along an axis and between axes, and far beyond it; in both classes."""


def squared(vector: tuple[int, ...], diagonal: int, across: int) -> int:
    """The squared length of the triangle."""
    products = sum((one * other) ** 2 for one, other in combinations(vector, 2))
    return diagonal**2 * sum(entry**4 for entry in vector) + across**2 * products


def exceeded(diagonal: int, across: int) -> bool:
    """Whether some vector makes a triangle longer than the claim."""
    return any(
        squared(vector, diagonal, across) > diagonal**2 * sum(entry**2 for entry in vector) ** 2 for vector in VECTORS
    )


def test_no_triangle_is_longer_than_claimed_and_along_an_axis_it_is_as_long() -> None:
    assert not exceeded(DIAGONAL, ACROSS)
    assert squared((3, 0, 0), DIAGONAL, ACROSS) == DIAGONAL**2 * 3**4


def test_products_that_count_a_little_more_make_longer_ones() -> None:
    """The negative twin."""
    assert exceeded(DIAGONAL, ACROSS + 1)


def records(rows: list[tuple[float, ...]]) -> Labelled:
    found = np.array(rows, np.float64).reshape(len(rows), WIDTH + 1)
    return Labelled(found[:, :-1].astype(np.float32), found[:, -1].astype(np.int64))


STATISTICS = [Moments(WIDTH, CLASSES), SecondMoments(Moments(WIDTH, CLASSES))]


@pytest.mark.parametrize("moments", STATISTICS)
def test_no_record_moves_the_moments_further_than_claimed_and_some_nearly_so(
    moments: Moments | SecondMoments,
) -> None:
    statistic = moments.statistic(CENTRE, ADD)

    moved = list(distances(lambda rows: statistic.evaluate(records(rows)), RECORDS, ADD, most=1))

    assert 0.99 * float(statistic.l2_squared) <= largest(iter(moved), l2_squared) <= statistic.l2_squared
    assert largest(iter(moved), l1) <= statistic.l1


@pytest.mark.parametrize("moments", STATISTICS)
def test_no_replaced_record_moves_them_further_than_claimed(moments: Moments | SecondMoments) -> None:
    statistic = moments.statistic(CENTRE, REPLACE)

    moved = list(distances(lambda rows: statistic.evaluate(records(rows)), RECORDS, REPLACE, most=2))

    assert statistic.l2_squared / 2 <= largest(iter(moved), l2_squared) <= statistic.l2_squared
    assert largest(iter(moved), l1) <= statistic.l1


@pytest.mark.parametrize("moments", STATISTICS)
def test_the_moments_are_the_sum_of_what_single_records_contribute(moments: Moments | SecondMoments) -> None:
    statistic = moments.statistic(CENTRE, ADD)
    alone: dict[tuple[float, ...], Integers] = {row: statistic.evaluate(records([row])) for row in RECORDS}

    for rows in small_data(RECORDS, 2):
        expected = np.sum([alone[row] for row in rows], axis=0) if rows else np.zeros(statistic.shape)
        assert statistic.evaluate(records(rows)).tolist() == expected.tolist()


TOO_SMALL: dict[str, tuple[Moments | SecondMoments, int]] = {
    "the number of records left out": (Moments(WIDTH, CLASSES), REACH**2),
    "the class sums left out": (SecondMoments(Moments(WIDTH, CLASSES)), DIAGONAL**2 * REACH**4),
    "the second moments left out": (SecondMoments(Moments(WIDTH, CLASSES)), BESIDE**2 * (REACH**2 + CONSTANT**2)),
    "the longer of both": (
        SecondMoments(Moments(WIDTH, CLASSES)),
        max(BESIDE**2 * (REACH**2 + CONSTANT**2), DIAGONAL**2 * REACH**4),
    ),
}


@pytest.mark.parametrize("name", TOO_SMALL)
def test_a_smaller_claim_is_exceeded(name: str) -> None:
    """The negative twins."""
    moments, claim = TOO_SMALL[name]
    statistic = moments.statistic(CENTRE, ADD)

    assert max(l2_squared(statistic.evaluate(records([row]))) for row in RECORDS) > claim
