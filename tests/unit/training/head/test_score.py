"""Scores: what a head predicts on rows of any length, how accurate it must be, and that it is saved whole."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from expost.errors import InvalidValue
from expost.noise import SeededNoise
from expost.numerics import Real
from expost.training.head import labelled
from expost.training.head.labelled import Features, Labelled
from expost.training.head.score import (
    Classifier,
    Target,
    accuracy,
    classified,
    made_length_one,
    of_length_one,
    unit,
)
from tests.unit.examples import one_sentence

HEAD = Classifier(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, -1.0, 0.5]]))
ROWS = np.array([[2.0, 1.0], [1.0, 3.0], [-4.0, -4.0], [0.0, 0.0]], np.float32)


def test_the_likeliest_class_is_predicted_with_the_bias() -> None:
    assert HEAD.predict(ROWS).tolist() == [0, 1, 2, 2]


@pytest.mark.parametrize("size", [1e-30, 1.0, 1e30])
def test_the_length_of_a_row_does_not_matter(size: float) -> None:
    assert HEAD.predict(ROWS[:3] * np.float32(size)).tolist() == [0, 1, 2]


def test_rows_that_are_scaled_already_are_taken_as_they_are() -> None:
    """The bias wins over short rows just when they are not scaled."""
    short = ROWS[:2] * np.float32(0.01)

    assert HEAD.predict_unit(short).tolist() == [2, 2]
    assert HEAD.predict_unit(unit(short)).tolist() == [0, 1]


def test_scaled_rows_have_length_one_and_zero_stays() -> None:
    rows = np.concatenate([SeededNoise(1).gaussian(1.0, (5, 3)), np.zeros((1, 3)), np.full((1, 3), 3e38)])

    scaled = unit(rows.astype(np.float32))

    assert np.linalg.norm(scaled, axis=1) == pytest.approx([1.0] * 5 + [0.0, 1.0], abs=1e-6)
    assert scaled.dtype == np.float32


def test_a_row_is_scaled_by_itself() -> None:
    assert np.array_equal(unit(ROWS)[1:2], unit(ROWS[1:2]))


def test_a_record_is_right_or_wrong() -> None:
    held = Labelled.of(unit(ROWS), [0, 0, 2, 1], classes=3)

    assert classified(HEAD, held).tolist() == [1.0, 0.0, 1.0, 0.0]


def test_an_accuracy_is_the_decimal_that_was_typed() -> None:
    assert accuracy(0.825) == Target(Fraction(33, 40))


@pytest.mark.parametrize("value", [0, 1, 1.2, -0.5, 0.0, 1.0])
def test_an_accuracy_lies_between_zero_and_one(value: Real) -> None:
    with pytest.raises(InvalidValue, match="strictly between 0 and 1") as refused:
        accuracy(value)

    assert one_sentence(refused.value)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_an_accuracy_is_a_number(value: float) -> None:
    with pytest.raises(InvalidValue) as refused:
        accuracy(value)

    assert one_sentence(refused.value)


def test_a_head_is_saved_and_loaded_whole(tmp_path: Path) -> None:
    HEAD.save(tmp_path / "head.npz")

    again = Classifier.load(tmp_path / "head.npz")

    assert np.array_equal(again.weights, HEAD.weights)


@pytest.mark.parametrize("rows", [np.zeros((2, 3)), np.zeros((2, 1)), np.zeros(2)])
def test_rows_of_another_width_are_refused(rows: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> None:
    with pytest.raises(InvalidValue, match="rows of 2 features") as refused:
        HEAD.predict_unit(rows.astype(np.float32))

    assert one_sentence(refused.value)


def tied() -> tuple[Features, Classifier]:
    """Rows that say all twice, and two classes that weigh the halves crosswise: ties but for rounding."""
    rows = SeededNoise(1).gaussian(1.0, (300, 40)).astype(np.float32)
    one, other = SeededNoise(2).gaussian(1.0, (2, 40))
    return unit(np.hstack([rows, rows])), Classifier(np.array([[*one, *other, 0.0], [*other, *one, 0.0]]))


def test_a_tie_is_settled_alike_for_every_record_alone_or_in_company() -> None:
    rows, head = tied()

    together = head.predict_unit(rows)
    alone = [int(head.predict_unit(rows[place : place + 1])[0]) for place in range(300)]

    assert together.tolist() == alone == [0] * 300


def test_ordinary_sums_settle_ties_by_their_rounding() -> None:
    """The negative twin."""
    rows, head = tied()

    assert set(np.argmax(rows @ head.weights[:, :-1].T, axis=1).tolist()) == {0, 1}


def test_rows_are_scaled_and_classes_predicted_alike_however_many_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = SeededNoise(3).gaussian(2.0, (30, 5)).astype(np.float32)
    head = Classifier(SeededNoise(4).gaussian(1.0, (3, 6)))
    scaled, predicted = unit(rows), head.predict(rows)
    monkeypatch.setattr(labelled, "AT_ONCE", 11)

    assert np.array_equal(unit(rows), scaled)
    assert np.array_equal(head.predict(rows), predicted)


def test_records_are_scaled_in_place_only_where_that_is_asked_for() -> None:
    """A side of a division is written over; records that are somebody else's array are left as they were."""
    given = SeededNoise(3).gaussian(2.0, (30, 5)).astype(np.float32)
    before, data = given.copy(), Labelled.of(given, np.zeros(30, np.int64), classes=2)

    side, scaled = data[np.ones(30, np.bool_)], of_length_one(data)

    assert np.array_equal(given, before)
    assert made_length_one(side).features is side.features
    assert np.array_equal(side.features, scaled.features)
    assert not np.shares_memory(side.features, given)
