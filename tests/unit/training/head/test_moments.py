"""Moments of centred records: what is read from an estimate, records by themselves, and what is too large."""

from collections.abc import Callable
from fractions import Fraction
from math import isqrt

import numpy as np
import pytest

from expost.accounting.descent import MOST_ENTRIES
from expost.errors import InvalidValue
from expost.mechanisms.brownian import Estimate
from expost.noise import Floats, Integers
from expost.private import Neighbours
from expost.training.head import centre as centring
from expost.training.head import moments as counted
from expost.training.head.centre import RADIUS, Centre
from expost.training.head.labelled import Labelled
from expost.training.head.moments import BESIDE, CONSTANT, REACH, Moments, SecondMoments
from tests.unit.examples import ADD, OF_RECORDS, REPLACE, one_sentence
from tests.unit.layouts import LAYOUTS, Rows, plain_norms

WIDTH, CLASSES = 33, 3
CENTRE = Centre(np.random.default_rng(4).normal(size=WIDTH) / 20, 10.0)
KINDS = [Moments(WIDTH, CLASSES), SecondMoments(Moments(WIDTH, CLASSES))]
Kind = Moments | SecondMoments


def drawn(number: int) -> Labelled:
    """Some records within the radius, some beyond it, some with a class that there is not."""
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(number, WIDTH)) * rng.choice([0.05, 0.2, 1e20], size=(number, 1))
    return Labelled(rows.astype(np.float32), rng.integers(0, CLASSES + 1, number))


def summed(kind: Kind, data: Labelled) -> Integers:
    return kind.statistic(CENTRE, ADD).evaluate(data)


def each_summed(kind: Kind, data: Labelled) -> list[int]:
    """The sum of what records add that are there alone, stored row by row."""
    total = np.zeros(kind.statistic(CENTRE, ADD).shape, np.int64)
    for place in range(len(data)):
        row = np.array(data.features[place : place + 1], order="C")
        total += summed(kind, Labelled(row, data.labels[place : place + 1]))
    return [int(entry) for entry in total]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", [0, 1, 2, 40])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_moments_are_those_of_the_records_alone(kind: Kind, number: int, layout: str) -> None:
    data = drawn(number)
    stored = Labelled(LAYOUTS[layout](data.features), data.labels)

    assert summed(kind, stored).tolist() == each_summed(kind, stored)


@pytest.mark.parametrize("kind", KINDS)
def test_moments_do_not_depend_on_how_many_records_are_added_up_at_a_time(
    kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = summed(kind, drawn(40)).tolist()
    monkeypatch.setattr(counted, "BLOCK", 3 * WIDTH)

    assert summed(kind, drawn(40)).tolist() == at_once


def swayed(rows: Rows) -> Floats:
    """Norms that depend on who else is there, by a thousandth at most."""
    return plain_norms(rows) * (1 + 1e-3 * (len(rows) > 1))


@pytest.mark.parametrize("kind", KINDS)
def test_with_norms_that_depend_on_the_others_they_are_not(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative twin."""
    monkeypatch.setattr(centring, "row_norms", swayed)

    assert summed(kind, drawn(40)).tolist() != each_summed(kind, drawn(40))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("wild", [np.nan, np.inf, -np.inf, 3e38])
def test_a_record_that_is_not_a_number_moves_nothing_beyond_the_claim(kind: Kind, wild: float) -> None:
    row = np.zeros((1, WIDTH), np.float32)
    row[0, 0] = wild
    statistic = kind.statistic(CENTRE, ADD)

    with np.errstate(invalid="ignore"):
        moved = statistic.evaluate(Labelled(row, np.zeros(1, np.int64)))

    assert int((moved.astype(object) ** 2).sum()) <= statistic.l2_squared


def exact(values: Integers) -> Estimate:
    return Estimate(values.astype(np.float64), Fraction(1, 10**6))


def within(number: int) -> Labelled:
    """Records that no clipping moves."""
    rng = np.random.default_rng(5)
    rows = rng.uniform(-0.05, 0.05, size=(number, WIDTH)) + CENTRE.mean
    return Labelled(rows.astype(np.float32), rng.integers(0, CLASSES, number))


def test_sums_are_read_as_those_of_the_centred_features() -> None:
    data, kind = within(50), Moments(WIDTH, CLASSES)
    seen, truth = data.features - CENTRE.mean, np.eye(CLASSES)[data.labels]

    sums = kind.read(exact(summed(kind, data)))

    assert sums.features == pytest.approx(truth.T @ seen, abs=0.02)
    assert sums.records == pytest.approx(truth.sum(axis=0))
    assert sums.std == pytest.approx(1000 * RADIUS / 4096, rel=0.01)


def test_second_moments_are_read_as_those_of_the_centred_features() -> None:
    data, kind = within(50), SecondMoments(Moments(WIDTH, CLASSES))
    seen = data.features - CENTRE.mean

    sums, squares = kind.read(exact(summed(kind, data)))

    assert squares.values == pytest.approx(seen.T @ seen, abs=2e-3)
    assert np.array_equal(squares.values, squares.values.T)
    assert squares.std == pytest.approx(1000 / 29 * (RADIUS / 4096) ** 2, rel=0.01)
    assert sums.std == pytest.approx(1000 * RADIUS / 4096 / BESIDE, rel=0.01)
    plain = Moments(WIDTH, CLASSES)
    assert sums.features == pytest.approx(plain.read(exact(summed(plain, data))).features)


TOO_LARGE: list[Callable[[], object]] = [
    lambda: Moments(10**7, 2).statistic(None, ADD),
    lambda: SecondMoments(Moments(5_000, 2)).statistic(None, ADD),
]


@pytest.mark.parametrize("make", TOO_LARGE)
def test_what_is_too_large_is_refused_before_any_data(make: Callable[[], object]) -> None:
    with pytest.raises(InvalidValue) as refused:
        make()

    assert one_sentence(refused.value)


@pytest.mark.parametrize("neighbours", OF_RECORDS)
def test_what_a_record_moves_does_not_depend_on_the_shape(neighbours: Neighbours) -> None:
    small, large = Moments(1, 2), Moments(700, 40)

    assert small.statistic(None, neighbours).l2_squared == large.statistic(None, neighbours).l2_squared
    assert (
        SecondMoments(small).statistic(None, neighbours).l2_squared
        == SecondMoments(large).statistic(None, neighbours).l2_squared
    )


def test_as_many_entries_as_there_may_be_are_taken() -> None:
    assert Moments(MOST_ENTRIES // 2 - 1, 2).statistic(None, ADD).shape == (MOST_ENTRIES,)


def test_a_single_record_may_be_added_up_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = Moments(WIDTH, CLASSES)
    at_once = summed(kind, drawn(5)).tolist()
    monkeypatch.setattr(counted, "BLOCK", 1)

    assert summed(kind, drawn(5)).tolist() == at_once


@pytest.mark.parametrize(("length", "counts"), [(REACH, True), (REACH + 1, False)])
def test_a_row_that_is_longer_than_the_grid_allows_counts_as_nothing(
    length: int, counts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No row is, as the grid leaves room: the check is there for a machine that rounds otherwise."""
    monkeypatch.setattr(counted, "_spacing", lambda width: RADIUS / length)
    row = np.zeros((1, WIDTH), np.float32)
    row[0, 0] = 5.0
    origin = Centre(np.zeros(WIDTH), 10.0)

    sums = Moments(WIDTH, CLASSES).statistic(origin, ADD).evaluate(Labelled(row, np.zeros(1, np.int64)))

    assert sums.reshape(CLASSES, WIDTH + 1)[0].tolist() == [length if counts else 0, *[0] * (WIDTH - 1), CONSTANT]


@pytest.mark.parametrize(("kind", "changed"), [(KINDS[0], WIDTH + 1), (KINDS[1], WIDTH + 1 + WIDTH * (WIDTH + 1) // 2)])
@pytest.mark.parametrize(("neighbours", "apart"), [(ADD, 1), (REPLACE, 2)])
def test_both_sensitivities_double_where_a_record_is_replaced(
    kind: Kind, changed: int, neighbours: Neighbours, apart: int
) -> None:
    statistic, one = kind.statistic(None, neighbours), kind.statistic(None, ADD)

    assert statistic.l2_squared == apart**2 * one.l2_squared
    assert statistic.l1 == apart * isqrt(changed * int(one.l2_squared))
