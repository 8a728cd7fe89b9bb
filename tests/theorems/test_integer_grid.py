"""Claim (sums on an integer grid). If every record's contribution is rounded to an integer vector of norm at most L
before summing, the sum moves by at most L when a record is added or removed and by 2L when one is replaced.
Rounding the sum instead moves it further.
"""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from expost import Neighbours, bounded_sum
from expost.noise import Floats
from expost.statistic import Statistic
from tests.unit.examples import OF_RECORDS

ROWS = [np.array(row) for row in product((-9.0, -0.7, 0.0, 0.6, 2.4, math.inf, math.nan), repeat=2)]


def statistic(neighbours: Neighbours) -> Statistic[Floats]:
    return bounded_sum(lambda rows: rows, 2, neighbours, clip=2.5, spacing=0.5)


@pytest.mark.parametrize("neighbours", OF_RECORDS)
def test_no_record_moves_the_sum_further_than_claimed(neighbours: Neighbours) -> None:
    grid = statistic(neighbours)
    single = [grid.evaluate(row[None, :]) for row in ROWS]
    moved = single if neighbours is Neighbours.ADD_REMOVE else [one - other for one in single for other in single]

    assert max(int(step @ step) for step in moved) == grid.l2_squared


def test_the_sum_is_the_sum_of_what_single_records_contribute() -> None:
    grid, rows = statistic(Neighbours.ADD_REMOVE), np.array(ROWS)

    assert grid.evaluate(rows).tolist() == np.sum([grid.evaluate(row[None, :]) for row in rows], axis=0).tolist()


def test_rounding_the_sum_instead_moves_it_further() -> None:
    """The negative twin: one record of norm 1/2 moves the rounded sum by a whole unit."""
    before, record = np.array([0.4]), np.array([0.2])

    moved = np.round(before + record) - np.round(before)

    assert abs(moved[0]) > Fraction(1, 2) > abs(record[0])
