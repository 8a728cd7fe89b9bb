"""Noisy sums of clipped gradients: one matrix product is the sum of the records' own gradients, each within reach."""

from fractions import Fraction

import numpy as np
import pytest

from expost.noise import Floats, SeededNoise
from expost.training.gradient import ERROR_GRID, FEATURE_GRID, Exact, Floating, Summation
from tests.unit.training.sums import summed

RECORDS, WIDTH, CLASSES = 50, 6, 4
BOTH: list[Summation] = [Floating(), Exact()]
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


def total(summation: Summation, clip: float) -> Floats:
    """The same by one matrix product, in units of the clipping norm."""
    rows, norms, errors = batch()
    shares = norms / np.clip(np.linalg.norm(errors, axis=1, keepdims=True) * norms, clip, None)
    prepared = summation.prepare(rows, norms, np)
    return np.asarray(summed(summation, prepared, errors, shares) / summation.reach)


@EACH
@pytest.mark.parametrize("clip", [0.1, 1.0, 5.0, 100.0])
def test_one_product_is_the_sum_of_clipped_gradients(summation: Summation, clip: float) -> None:
    tolerance = 1e-12 if summation.floating else 0.02

    found = total(summation, clip)

    assert found == pytest.approx(clipped_one_by_one(clip), abs=tolerance)
    assert found != pytest.approx(clipped_one_by_one(2 * clip + 5), abs=tolerance)


@EACH
def test_prepared_features_have_the_norm_that_scale_says(summation: Summation) -> None:
    rows, norms, _ = batch()

    lengths = np.linalg.norm(summation.prepare(rows, norms, np), axis=1) * summation.scale(WIDTH)

    assert lengths == pytest.approx(np.ones(RECORDS), rel=1e-15 if summation.floating else 1e-3)


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
def test_a_batch_of_nobody_sums_to_zero(summation: Summation) -> None:
    nobody = np.zeros((0, WIDTH))

    found = summed(summation, nobody, np.zeros((0, CLASSES)), np.zeros((0, 1)))

    assert np.array_equal(found, np.zeros((CLASSES, WIDTH)))


@pytest.mark.statistical
@EACH
def test_noise_has_the_standard_deviation_of_its_multiplier(summation: Summation) -> None:
    """1e5 draws: within 6 standard errors of the variance, 2.7 %; false alarms 2e−9. A 5 % wrong scale is noticed."""
    drawn = summation.noise(Fraction(3, 2), (100, 1000), SeededNoise(4)).astype(np.float64)

    variance = float(np.mean(drawn**2)) / summation.reach**2

    assert variance == pytest.approx(2.25, rel=0.027)
    assert variance != pytest.approx(2.25 * 1.05**2, rel=0.027)


@pytest.mark.parametrize(("summation", "kind"), [(Floating(), np.float32), (Exact(), np.float64)])
def test_noise_has_the_precision_of_the_sum(summation: Summation, kind: type[np.generic]) -> None:
    assert summation.noise(Fraction(1), (2, 3), SeededNoise(1)).dtype == kind
