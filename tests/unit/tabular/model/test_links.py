"""Sums along links are those of adding one term after another, to the last bit."""

import numpy as np

from expost.noise import SeededNoise
from expost.tabular.model.links import Links, Places, _joined

LEFT = [np.array([0, 0, 3], np.intp), np.array([], np.intp), np.array([1, 3, 3], np.intp)]
RIGHT = [np.array([2, 0, 1], np.intp), np.array([], np.intp), np.array([4, 0, 2], np.intp)]


def added(to: list[Places], of: list[Places], terms: np.ndarray, size: int) -> np.ndarray:
    """One after another, in the order of the terms."""
    sums = np.zeros(size)
    for place, term in sorted(zip(np.concatenate(to).tolist(), np.concatenate(of).tolist(), strict=True)):
        sums[place] += terms[term]
    return sums


def test_each_term_has_the_sum_of_those_that_belong_to_it() -> None:
    links, noise = Links(LEFT, RIGHT, (5, 6)), SeededNoise(1)
    left, right = noise.uniform((5,)) * 10.0 ** np.arange(5), noise.uniform((6,)) * 10.0 ** -np.arange(6)

    assert links.leftward(right).tolist() == added(LEFT, RIGHT, right, 5).tolist()
    assert links.rightward(left).tolist() == added(RIGHT, LEFT, left, 6).tolist()


def test_what_belongs_to_nothing_is_zero_and_what_is_infinite_stays_so() -> None:
    links = Links(LEFT, RIGHT, (5, 6))

    assert links.leftward(np.full(6, -np.inf)).tolist() == [-np.inf, -np.inf, 0.0, -np.inf, 0.0]
    assert Links([], [], (2, 0)).leftward(np.zeros(0)).tolist() == [0.0, 0.0]


def test_places_are_kept_in_four_bytes_where_these_are_enough() -> None:
    few, many = _joined(LEFT, 2**31 - 1), _joined(LEFT, 2**31)

    assert (few.itemsize, many.itemsize) == (4, 8)
    assert few.tolist() == many.tolist() == [0, 0, 3, 1, 3, 3]
