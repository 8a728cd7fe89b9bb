"""Persons with several rows: what they add is their sum, shrunk if it is too long, and nobody else's affair."""

from fractions import Fraction

import numpy as np
import pytest

from expost.accounting.descent import Descent
from expost.noise import Floats, Integers, SeededNoise
from expost.private import Neighbours
from expost.training.head.arrays import InNumpy, on
from expost.training.head.centre import RADIUS, Centre, first_moment
from expost.training.head.gradient import FloatSums, IntegerSums, Summation
from expost.training.head.labelled import Labelled
from expost.training.head.mechanism import Head, Trained, _Run
from expost.training.head.moments import BESIDE, CONSTANT, DIAGONAL, REACH, Moments, SecondMoments

WIDTH, CLASSES = 6, 3
CENTRE = Centre(np.linspace(-0.1, 0.2, WIDTH), 10.0)
PERSON = Neighbours.ADD_REMOVE_PERSON
MOMENTS = Moments(WIDTH, CLASSES)
SIZES = (1, 2, 3, 5, 7, 8, 40, 3000)
"""More rows than features among them, and so many that a sum is far longer than it may be."""


def drawn(size: int, seed: int = 3, spread: float = 0.1) -> Labelled:
    noise = SeededNoise(seed)
    rows = CENTRE.mean + noise.gaussian(spread, (size, WIDTH))
    return Labelled(rows.astype(np.float32), np.arange(size) % CLASSES)


def one_person(data: Labelled) -> Labelled:
    return data.of_persons(np.zeros(len(data.labels), np.int64), SeededNoise(1))


def each_a_person(data: Labelled) -> Labelled:
    return data.of_persons(np.arange(len(data.labels)), SeededNoise(1))


def together(*persons: Labelled) -> Labelled:
    """Several persons, their rows in turn as far as they go."""
    owners = np.concatenate([np.full(len(each.labels), place) for place, each in enumerate(persons)])
    order = SeededNoise(9).uniform(len(owners)).argsort()
    features = np.concatenate([each.features for each in persons])
    labels = np.concatenate([each.labels for each in persons])
    return Labelled(features[order], labels[order]).of_persons(owners[order], SeededNoise(1))


def direction(found: Integers | Floats, plain: Integers | Floats) -> float:
    """The cosine between both."""
    one, other = found.ravel().astype(float), plain.ravel().astype(float)
    return float(one @ other / np.sqrt((one @ one) * (other @ other)))


LENGTHS = {
    "class sums": (MOMENTS.statistic(CENTRE, PERSON), REACH**2 + CONSTANT**2),
    "second moments": (
        SecondMoments(MOMENTS).statistic(CENTRE, PERSON),
        BESIDE**2 * (REACH**2 + CONSTANT**2) + DIAGONAL**2 * REACH**4,
    ),
    "mean": (first_moment(WIDTH, PERSON), 18432**2),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", LENGTHS)
def test_a_person_adds_the_sum_of_the_rows_or_what_is_left_of_it(name: str, size: int) -> None:
    statistic, limit = LENGTHS[name]
    data = drawn(size)

    found, plain = statistic.evaluate(one_person(data)), statistic.evaluate(each_a_person(data))

    length, whole = (sum(int(entry) ** 2 for entry in each) for each in (found, plain))
    assert length <= limit
    assert length > min(0.93 * limit, 0.999 * whole)
    assert direction(found, plain) > 0.9995


@pytest.mark.parametrize("name", ["class sums", "second moments"])
def test_short_rows_are_added_up_as_they_are(name: str) -> None:
    """Two rows at the centre without a class, which count for nothing, and one that does."""
    statistic, _ = LENGTHS[name]
    centred = np.tile(CENTRE.mean, (3, 1)).astype(np.float32)
    data = Labelled(centred, np.array([0, CLASSES, CLASSES]))

    assert np.array_equal(statistic.evaluate(one_person(data)), statistic.evaluate(each_a_person(data)))


@pytest.mark.parametrize("name", LENGTHS)
def test_a_person_adds_the_same_in_any_company_and_in_any_block(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    statistic, _ = LENGTHS[name]
    persons = [drawn(size, seed=size) for size in SIZES for _ in range(2)]

    alone = sum(statistic.evaluate(one_person(each)) for each in persons)

    assert np.array_equal(statistic.evaluate(together(*persons)), alone)
    monkeypatch.setattr("expost.persons.people.BLOCK", 1)
    assert np.array_equal(statistic.evaluate(together(*persons)), alone)


@pytest.mark.parametrize("value", [0.0, 1e30, RADIUS])
def test_rows_of_any_length_are_taken(value: float) -> None:
    data = Labelled(np.full((4, WIDTH), value, np.float32), np.zeros(4, np.int64))

    for statistic, limit in LENGTHS.values():
        assert sum(int(entry) ** 2 for entry in statistic.evaluate(one_person(data))) <= limit


def gradient_sum(data: Labelled, summation: Summation, clip: float, weights: Floats, device: str | None) -> Floats:
    head = Head(
        width=WIDTH, classes=CLASSES, descent=Descent(Fraction(1), Fraction(1)), clip=clip, summation=summation,
        arrays=InNumpy() if device is None else on(device), neighbours=PERSON,
    )  # fmt: skip
    kind = np.float32 if summation.floating else np.float64
    total = head.arrays.put(np.zeros((CLASSES, WIDTH + 1), kind))
    run = _Run(head, data, Trained(weights, (weights * 0, weights * 0), 0))
    run._move(np.arange(len(data)), total)
    return np.asarray(head.arrays.get(total), np.float64) * (clip / summation.reach)


def true_sum(persons: list[Labelled], clip: float, weights: Floats) -> Floats:
    """The clipped sums of gradients of softmax regression in double precision, person by person."""
    total = np.zeros((CLASSES, WIDTH + 1))
    for each in persons:
        rows = np.column_stack([each.features.astype(np.float64), np.ones(len(each.labels))])
        odds = np.exp(rows @ weights.T)
        errors = odds / odds.sum(axis=1, keepdims=True) - np.eye(CLASSES)[each.labels]
        gradient = errors.T @ rows
        total += gradient * min(1.0, clip / np.linalg.norm(gradient))
    return total


WEIGHTS = SeededNoise(8).gaussian(1.0, (CLASSES, WIDTH + 1))
PERSONS = [drawn(size, seed=size, spread=1.0) for size in (1, 1, 2, 3, 3, 9, 50)]


@pytest.mark.parametrize("device", [None, "cpu"])
@pytest.mark.parametrize("clip", [0.2, 1.0, 1000.0])
@pytest.mark.parametrize("summation", [IntegerSums(), FloatSums()], ids=["integers", "floats"])
def test_gradients_of_a_person_are_added_up_and_clipped_once(
    summation: Summation, clip: float, device: str | None
) -> None:
    found = gradient_sum(together(*PERSONS), summation, clip, WEIGHTS, device)

    expected = true_sum(PERSONS, clip, WEIGHTS)
    assert np.linalg.norm(found - expected) < 0.03 * np.linalg.norm(expected)


@pytest.mark.parametrize("clip", [0.2, 1.0])
def test_rows_clipped_one_by_one_show_in_that_comparison(clip: float) -> None:
    """The negative twin."""
    rows = [each.rows(np.array([place])) for each in PERSONS for place in range(len(each.labels))]

    found = gradient_sum(together(*rows), IntegerSums(), clip, WEIGHTS, None)

    expected = true_sum(PERSONS, clip, WEIGHTS)
    assert np.linalg.norm(found - expected) > np.linalg.norm(expected)


@pytest.mark.parametrize("device", [None, "cpu"])
def test_exact_sums_of_gradients_do_not_depend_on_who_is_beside_whom(
    device: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = sum(gradient_sum(one_person(each), IntegerSums(), 1.0, WEIGHTS, device) for each in PERSONS)

    assert np.array_equal(gradient_sum(together(*PERSONS), IntegerSums(), 1.0, WEIGHTS, device), alone)
    monkeypatch.setattr("expost.persons.people.BLOCK", 1)
    assert np.array_equal(gradient_sum(together(*PERSONS), IntegerSums(), 1.0, WEIGHTS, device), alone)


def test_weights_that_left_the_floats_let_nobody_show() -> None:
    weights = np.full((CLASSES, WIDTH + 1), np.inf)

    with np.errstate(all="ignore"):
        for summation in (IntegerSums(), FloatSums()):
            assert np.isfinite(gradient_sum(together(*PERSONS), summation, 1.0, weights, None)).all()
