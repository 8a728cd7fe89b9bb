"""How many cells hold about how many records, and the harm that noise in their counts does."""

import numpy as np
import pytest

from expost.tabular.model.raking import PRIOR, _step
from expost.tabular.occupancy import Occupancy
from expost.tabular.precisions import ABSOLUTE


@pytest.mark.parametrize("std", [0.1, 5.0, 40.0, 1000.0])
def test_noise_is_left_in_cells_by_how_much_of_it_a_model_with_so_many_records_takes_up(std: float) -> None:
    counts = np.array([0.3, 2.0, 50.0, 700.0, 1e5])

    harm = Occupancy.of(counts).harm(std)

    assert harm == pytest.approx(float(np.sum(ABSOLUTE * std * counts / (counts + PRIOR * std**2))), rel=0.16)


def test_raking_moves_a_cell_by_that_much_of_a_small_error() -> None:
    """The formula is the first order of what raking does."""
    counts, error, variance = np.array([3.0, 40.0, 900.0]), 1e-3, 400.0

    step = _step(counts, np.zeros(3), counts + error, PRIOR * variance)

    assert counts * np.expm1(step) == pytest.approx(error * counts / (counts + PRIOR * variance), rel=1e-3)


def test_cells_that_are_empty_take_up_next_to_nothing() -> None:
    assert Occupancy.of(np.array([0.0, -30.0])).harm(20.0) < 0.02


@pytest.mark.parametrize("std", [0.1, 1e4])
def test_full_cells_take_up_all_of_it(std: float) -> None:
    assert Occupancy.full(7).harm(std) == pytest.approx(7 * ABSOLUTE * std)
    assert Occupancy.of(np.full(7, 1e12)).harm(std) == pytest.approx(7 * ABSOLUTE * std)


def test_harms_add_up() -> None:
    one, other = Occupancy.of(np.array([1.0, 30.0])), Occupancy.full(2)

    assert (one + other).harm(9.0) == pytest.approx(one.harm(9.0) + other.harm(9.0))


def test_of_more_records_more_noise_is_left() -> None:
    harms = [Occupancy.of(np.array([10.0**power])).harm(25.0) for power in range(-3, 9)]

    assert harms == sorted(harms)
