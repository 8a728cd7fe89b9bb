"""The centre: its sensitivity by brute force, what it makes of a release, and records seen from it one by one."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from expost.mechanisms.gaussian import Measurement
from expost.noise import Floats, Integers, SeededNoise
from expost.private import Neighbours
from expost.training.head import labelled
from expost.training.head.centre import COUNT, RADIUS, SPACING, Centre, first_moment
from expost.training.head.labelled import Labelled
from tests.unit.examples import ADD, REPLACE, distances, l2_squared, largest

ROWS = [(0.0, 0.0), (1.0, 0.0), (-1.0, 0.0), (0.6, 0.8), (0.6, -0.8), (3.0, -4.0), (1e30, 1e30)]
"""Of length 1, and what a caller who did not scale would send."""


def records(rows: list[tuple[float, ...]] | Floats) -> Labelled:
    features = np.asarray(rows, np.float32).reshape(len(rows), -1) if len(rows) else np.zeros((0, 2), np.float32)
    return Labelled(features, np.zeros(len(rows), np.int64))


def summed(neighbours: Neighbours, rows: list[tuple[float, ...]]) -> Integers:
    return first_moment(2, neighbours).evaluate(records(rows))


@pytest.mark.parametrize("neighbours", [ADD, REPLACE])
def test_no_neighbour_moves_the_first_moment_further_than_claimed_and_some_nearly_so(neighbours: Neighbours) -> None:
    claimed = first_moment(2, neighbours).l2_squared

    moved = largest(distances(partial(summed, neighbours), ROWS, neighbours), l2_squared)

    assert Fraction(75, 100) * claimed <= moved <= claimed


def measured(mean: Floats, number: float, variance: Fraction) -> Measurement:
    return Measurement(np.append(mean * number, COUNT * number) / float(SPACING), variance)


def test_a_precise_release_gives_the_mean_and_the_number() -> None:
    mean = np.array([0.3, -0.4, 0.1])

    centre = Centre.of(measured(mean, 500, Fraction(1)))

    assert centre.records == pytest.approx(500)
    assert centre.mean == pytest.approx(mean, rel=1e-6)


def test_a_mean_that_may_be_all_noise_is_taken_for_nothing_and_one_that_is_half_noise_for_half() -> None:
    mean, number = np.full(100, 0.05), 500.0
    half = Fraction((0.25 / 2 / 100) * (number / float(SPACING)) ** 2)

    assert Centre.of(measured(mean, number, 4 * half)).mean.tolist() == [0.0] * 100
    assert Centre.of(measured(mean, number, half)).mean == pytest.approx(mean / 2)


def test_fewer_than_one_record_count_as_one() -> None:
    assert Centre.of(measured(np.array([0.0]), -30.0, Fraction(1))).records == 1.0


def test_a_record_is_moved_to_the_radius_and_no_farther() -> None:
    centre = Centre(np.array([0.5, 0.5]), 10.0)

    seen = centre.apart(records([(0.5, 0.5), (0.8, 0.5), (0.5, 2.5)]), unit=0.5)

    assert seen.features == pytest.approx(np.array([[0, 0], [0.6, 0], [0, RADIUS / 0.5]]), rel=1e-6)


@pytest.mark.parametrize("others", [0, 1, 7, 1000])
@pytest.mark.parametrize("order", ["C", "F"])
def test_how_a_record_is_seen_does_not_depend_on_the_others(others: int, order: str) -> None:
    rows = np.random.default_rng(3).normal(size=(others + 1, 129)).astype(np.float32)
    centre = Centre(np.random.default_rng(4).normal(size=129) / 20, 10.0)
    alone = centre.apart(Labelled(rows[:1], np.zeros(1, np.int64)), unit=0.3)

    together = centre.apart(Labelled(np.array(rows, order=order), np.zeros(others + 1, np.int64)), unit=0.3)  # type: ignore[call-overload]

    assert together.features[0].tobytes() == alone.features[0].tobytes()


def test_the_first_moment_is_the_same_however_many_records_are_added_up_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    owners = np.arange(40) % 9
    rows = Labelled.of(SeededNoise(5).gaussian(0.3, (40, 3)), owners % 2, classes=2)
    bodies = ((rows, ADD), (rows.of_persons(owners, SeededNoise(1)), ADD.of_persons))
    together = [first_moment(3, neighbours).evaluate(data) for data, neighbours in bodies]
    monkeypatch.setattr(labelled, "AT_ONCE", 20)

    apart = [first_moment(3, neighbours).evaluate(data) for data, neighbours in bodies]

    assert all(map(np.array_equal, together, apart))
