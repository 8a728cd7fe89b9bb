"""Noisy sums of clipped gradients: one matrix product is the sum of the records' own gradients, each within reach."""

from fractions import Fraction

import numpy as np
import pytest

from expost.noise import Floats, SeededNoise
from expost.norms import row_norms
from expost.training.arrays import InNumpy
from expost.training.gradient import ERROR_GRID, FEATURE_GRID, Exact, Floating
from tests.unit.training.sums import summed

RECORDS, WIDTH, CLASSES = 50, 6, 4
BOTH: list[Exact | Floating] = [Floating(), Exact()]
EACH = pytest.mark.parametrize("summation", BOTH, ids=["floating", "exact"])


def batch() -> tuple[Floats, Floats, Floats]:
    """Rows, their norms, and errors."""
    rows = 3 * SeededNoise(1).gaussian(1.0, (RECORDS, WIDTH))
    return rows, np.linalg.norm(rows, axis=1, keepdims=True), SeededNoise(2).gaussian(0.3, (RECORDS, CLASSES))


def clipped_one_by_one(clip: float) -> Floats:
    """The sum of the outer products, each clipped by its own norm, over the clipping norm."""
    rows, _, errors = batch()
    gradients = [np.outer(error, row) for error, row in zip(errors, rows, strict=True)]
    return np.asarray(sum(each / max(float(np.linalg.norm(each)), clip) for each in gradients))


def total(summation: Exact | Floating, clip: float) -> Floats:
    """The same by one matrix product, in units of the clipping norm."""
    rows, norms, errors = batch()
    shares = norms / np.clip(np.linalg.norm(errors, axis=1, keepdims=True) * norms, clip, None)
    prepared = summation.prepare(rows, norms, np)
    return np.asarray(summed(summation, prepared, errors, shares) / summation.reach)


@EACH
@pytest.mark.parametrize("clip", [0.1, 1.0, 5.0, 100.0])
def test_one_product_is_the_sum_of_clipped_gradients(summation: Exact | Floating, clip: float) -> None:
    tolerance = 1e-12 if summation.floating else 0.02

    found = total(summation, clip)

    assert found == pytest.approx(clipped_one_by_one(clip), abs=tolerance)
    assert found != pytest.approx(clipped_one_by_one(2 * clip + 5), abs=tolerance)


@EACH
def test_prepared_features_have_the_norm_of_their_grid(summation: Exact | Floating) -> None:
    rows, norms, _ = batch()

    lengths = np.linalg.norm(summation.prepare(rows, norms, np), axis=1)

    if summation.floating:
        assert lengths == pytest.approx(np.ones(RECORDS), rel=1e-15)
    else:
        assert lengths == pytest.approx(np.full(RECORDS, FEATURE_GRID), rel=1e-3)


@EACH
def test_pulls_are_the_clipped_errors_of_softmax_regression(summation: Exact | Floating) -> None:
    rows, norms, _ = batch()
    weights = SeededNoise(3).gaussian(0.5, (CLASSES, WIDTH))
    truth = np.eye(CLASSES)[np.arange(RECORDS) % CLASSES].T
    scores = weights @ rows.T
    errors = np.exp(scores - scores.max(axis=0)) / np.exp(scores - scores.max(axis=0)).sum(axis=0) - truth
    lengths = np.linalg.norm(errors, axis=0) * norms.T
    prepared = summation.prepare(rows, norms, np)

    products = InNumpy().scores(summation.read(weights, np), prepared)
    found = summation.pulls(products, norms.T, truth, 1.0, np) @ prepared / summation.reach

    wanted = (errors / np.maximum(lengths, 1.0)) @ rows
    assert np.abs(found - wanted).max() < (1e-12 if summation.floating else 0.02 * RECORDS**0.5)


def contributions(summation: Exact | Floating, joined: list[int], width: int = 700) -> list[bytes]:
    """What the first of the records that joined is multiplied by, to the last bit."""
    rows = np.hstack([SeededNoise(4).gaussian(1.0, (200, width)), np.ones((200, 1))])
    norms = row_norms(rows)[:, None]
    prepared = np.asarray(summation.prepare(rows, norms, np))[joined]
    truth = np.eye(CLASSES)[np.arange(200) % CLASSES].T[:, joined]
    weights = SeededNoise(5).gaussian(0.5, (CLASSES, width + 1))
    products = InNumpy().scores(summation.read(weights, np), prepared)
    pulls = np.asarray(summation.pulls(products, norms.T[:, joined], truth, 1.0, np))
    return [column.tobytes() for column in pulls.T]


def test_a_contribution_does_not_depend_on_who_else_joins() -> None:
    """To the last bit, through products, norms, odds and lengths, alone or in any company."""
    together = contributions(Exact(), list(range(200)))

    assert [contributions(Exact(), [place])[0] for place in range(200)] == together
    assert contributions(Exact(), list(range(199, -1, -1))) == together[::-1]
    assert contributions(Exact(), list(range(1, 200))) == together[1:]


def test_an_ordinary_contribution_does() -> None:
    """The negative twin: sums of ordinary floats differ in their last bits."""
    together = contributions(Floating(), list(range(200)))

    assert [contributions(Floating(), [place])[0] for place in range(200)] != together


def test_exact_features_are_integers_within_their_grid() -> None:
    rows, norms, _ = batch()

    grid = Exact().prepare(rows, norms, np)

    assert np.array_equal(grid, np.round(grid))
    assert max(sum(int(entry) ** 2 for entry in row) for row in grid) <= FEATURE_GRID**2


@pytest.mark.parametrize("length", [1.01, 2.0, 1e30, np.inf, np.nan])
def test_what_should_come_out_too_long_counts_for_nothing(length: float) -> None:
    """Checked after rounding, in integers, whatever went wrong before."""
    prepared = np.full((1, WIDTH), 2.0)

    found = summed(Exact(), prepared, np.full((1, 4), 0.5), np.full((1, 1), length))

    assert not found.any()


def test_errors_at_full_length_count_in_full() -> None:
    found = summed(Exact(), np.ones((1, 1)), np.full((1, 4), 0.5), np.ones((1, 1)))

    assert np.linalg.norm(found) == pytest.approx(ERROR_GRID, rel=2e-3)
    assert np.linalg.norm(found) <= ERROR_GRID


def test_floating_sums_leave_out_what_is_no_number() -> None:
    errors, shares = np.array([[np.nan, 0.1], [0.5, -0.5]]), np.ones((2, 1))

    assert np.array_equal(summed(Floating(), np.ones((2, 1)), errors, shares), [[0.5], [-0.4]])


@EACH
def test_a_batch_of_nobody_sums_to_zero(summation: Exact | Floating) -> None:
    nobody = np.zeros((0, WIDTH))

    found = summed(summation, nobody, np.zeros((0, CLASSES)), np.zeros((0, 1)))

    assert np.array_equal(found, np.zeros((CLASSES, WIDTH)))


@pytest.mark.statistical
@EACH
def test_noise_has_the_standard_deviation_of_its_multiplier(summation: Exact | Floating) -> None:
    """1e5 draws: within 6 standard errors of the variance, 2.7 %; false alarms 2e−9. A 5 % wrong scale is noticed."""
    drawn = summation.noise(Fraction(3, 2), (100, 1000), SeededNoise(4)).astype(np.float64)

    variance = float(np.mean(drawn**2)) / summation.reach**2

    assert variance == pytest.approx(2.25, rel=0.027)
    assert variance != pytest.approx(2.25 * 1.05**2, rel=0.027)


@pytest.mark.parametrize(("summation", "kind"), [(Floating(), np.float32), (Exact(), np.float64)])
def test_noise_has_the_precision_of_the_sum(summation: Exact | Floating, kind: type[np.generic]) -> None:
    assert summation.noise(Fraction(1), (2, 3), SeededNoise(1)).dtype == kind
