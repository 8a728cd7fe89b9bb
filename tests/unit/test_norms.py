"""Lengths of rows: Euclidean, and the same to the last bit in whatever company and however the rows are stored."""

import math

import numpy as np
import pytest

from expost.noise import Floats, SeededNoise
from expost.norms import row_norms


def rows(records: int, width: int) -> Floats:
    return SeededNoise(1).gaussian(3.0, (records, width))


@pytest.mark.parametrize("width", [1, 2, 3, 7, 64, 1000])
def test_a_norm_is_euclidean_to_a_few_last_bits(width: int) -> None:
    data = rows(20, width)

    exact = [math.sqrt(math.fsum(entry**2 for entry in row)) for row in data]

    assert row_norms(data) == pytest.approx(exact, rel=1e-14)


def test_a_norm_takes_in_every_column() -> None:
    """Also the middle one of an odd number, at each halving."""
    for width in range(1, 40):
        assert row_norms(np.eye(width)).tolist() == [1.0] * width


@pytest.mark.parametrize("records", [0, 1, 2, 16, 17, 33])
def test_there_is_one_norm_for_each_row(records: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Across the edge of what is squared at a time too."""
    monkeypatch.setattr("expost.norms.CELLS", 64)

    assert row_norms(np.full((records, 4), 2.0)).tolist() == [4.0] * records


def test_rows_of_no_columns_have_no_length() -> None:
    assert row_norms(np.zeros((3, 0))).tolist() == [0.0] * 3


def test_rows_wider_than_what_is_squared_at_a_time_are_taken_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("expost.norms.CELLS", 64)

    assert row_norms(np.ones((2, 4 * 64))).tolist() == [16.0] * 2


def test_the_rows_are_left_as_they_were() -> None:
    data = rows(5, 3)
    before = data.copy()

    row_norms(data)

    assert np.array_equal(data, before)
