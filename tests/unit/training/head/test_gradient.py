"""Noisy sums of clipped gradients: one matrix product is the sum of the records' own gradients, each within reach."""

import math
from fractions import Fraction
from functools import cache
from typing import Any, final

import numpy as np
import pytest
from numpy.typing import NDArray

from expost.accounting.descent import LOUDEST, MOST_ENTRIES
from expost.noise import Floats, SeededNoise
from expost.norms import row_norms
from expost.training.head.arrays import InNumpy, on
from expost.training.head.gradient import ERROR_GRID, FEATURE_GRID, ODDS, WEIGHT_GRIDS, FloatSums, IntegerSums
from tests.unit.training.sums import summed

RECORDS, WIDTH, CLASSES = 50, 6, 4
FLOATING, EXACT = FloatSums(), IntegerSums()
EACH = pytest.mark.parametrize("summation", [FLOATING, EXACT], ids=["floating", "exact"])


def batch() -> tuple[Floats, Floats, Floats]:
    """Rows, their norms, and errors."""
    rows = 3 * SeededNoise(1).gaussian(1.0, (RECORDS, WIDTH))
    return rows, np.linalg.norm(rows, axis=1, keepdims=True), SeededNoise(2).gaussian(0.3, (RECORDS, CLASSES))


def clipped_one_by_one(clip: float) -> Floats:
    """The sum of the outer products, each clipped by its own norm, over the clipping norm."""
    rows, _, errors = batch()
    gradients = [np.outer(error, row) for error, row in zip(errors, rows, strict=True)]
    return np.asarray(sum(each / max(float(np.linalg.norm(each)), clip) for each in gradients))


def total(summation: IntegerSums | FloatSums, clip: float) -> Floats:
    """The same by one matrix product, in units of the clipping norm."""
    rows, norms, errors = batch()
    shares = norms / np.clip(np.linalg.norm(errors, axis=1, keepdims=True) * norms, clip, None)
    prepared = summation.prepare(rows, norms, InNumpy())
    return np.asarray(summed(summation, prepared, errors, shares) / summation.reach)


@EACH
@pytest.mark.parametrize("clip", [0.1, 1.0, 5.0, 100.0])
def test_one_product_is_the_sum_of_clipped_gradients(summation: IntegerSums | FloatSums, clip: float) -> None:
    tolerance = 1e-12 if summation.floating else 0.02

    found = total(summation, clip)

    assert found == pytest.approx(clipped_one_by_one(clip), abs=tolerance)
    assert found != pytest.approx(clipped_one_by_one(2 * clip + 5), abs=tolerance)


@EACH
def test_prepared_features_have_the_norm_of_their_grid(summation: IntegerSums | FloatSums) -> None:
    rows, norms, _ = batch()

    lengths = np.linalg.norm(summation.prepare(rows, norms, InNumpy()), axis=1)

    if summation.floating:
        assert lengths == pytest.approx(np.ones(RECORDS), rel=1e-15)
    else:
        assert lengths == pytest.approx(np.full(RECORDS, FEATURE_GRID), rel=1e-3)


@EACH
def test_pulls_are_the_clipped_errors_of_softmax_regression(summation: IntegerSums | FloatSums) -> None:
    rows, norms, _ = batch()
    weights = SeededNoise(3).gaussian(0.5, (CLASSES, WIDTH))
    truth = np.eye(CLASSES)[np.arange(RECORDS) % CLASSES].T
    scores = weights @ rows.T
    errors = np.exp(scores - scores.max(axis=0)) / np.exp(scores - scores.max(axis=0)).sum(axis=0) - truth
    lengths = np.linalg.norm(errors, axis=0) * norms.T
    prepared = summation.prepare(rows, norms, InNumpy())

    found = summation.pulls(summation.scores(weights, prepared, InNumpy()), norms.T, truth, 1.0, np) @ prepared
    found = found / summation.reach

    wanted = (errors / np.maximum(lengths, 1.0)) @ rows
    assert np.abs(found - wanted).max() < (1e-12 if summation.floating else 0.02 * RECORDS**0.5)


@cache
def longer_batch(summation: IntegerSums | FloatSums, width: int = 700) -> tuple[Floats, Floats, Floats, Floats]:
    """Prepared features of 200 records, their norms and classes, and weights."""
    rows = np.hstack([SeededNoise(4).gaussian(1.0, (200, width)), np.ones((200, 1))])
    norms = row_norms(rows)[:, None]
    prepared = np.asarray(summation.prepare(rows, norms, InNumpy()))
    truth = np.eye(CLASSES)[np.arange(200) % CLASSES].T
    return prepared, norms.T, truth, SeededNoise(5).gaussian(0.5, (CLASSES, width + 1))


def contributions(summation: IntegerSums | FloatSums, joined: list[int]) -> list[bytes]:
    """What each of the records that joined is multiplied by, to the last bit."""
    prepared, norms, truth, weights = longer_batch(summation)
    scores = summation.scores(weights, prepared[joined], InNumpy())
    pulls = np.asarray(summation.pulls(scores, norms[:, joined], truth[:, joined], 1.0, np))
    return [column.tobytes() for column in pulls.T]


def test_a_contribution_does_not_depend_on_who_else_joins() -> None:
    """To the last bit, through products, norms, odds and lengths, alone or in any company."""
    together = contributions(EXACT, list(range(200)))

    assert [contributions(EXACT, [place])[0] for place in range(200)] == together
    assert contributions(EXACT, list(range(199, -1, -1))) == together[::-1]
    assert contributions(EXACT, list(range(1, 200))) == together[1:]


def test_an_ordinary_contribution_does() -> None:
    """The negative twin: sums of ordinary floats differ in their last bits."""
    together = contributions(FLOATING, list(range(200)))

    assert [contributions(FLOATING, [place])[0] for place in range(200)] != together


WHOLE = 2**53
"""Up to here every integer is a double, and sums of integers come out alike in whatever order they are added."""


@final
class Watched(np.ndarray[Any, Any]):
    """Numbers that tell, whenever they are added up along an axis, whether any order could have rounded a sum."""

    @staticmethod
    def asarray(array: Any, dtype: Any = None, device: Any = None) -> "Watched":
        """As NumPy's, and watched."""
        return np.asarray(array, dtype).view(Watched)

    def sum(self, *given: Any, **named: Any) -> Any:
        """The sum of multiples of a power of two whose sizes together are no more than 2**53 times that."""
        plain, unit = np.asarray(self, np.float64), 1.0
        while (plain % unit).any():
            unit /= 2
        assert np.abs(plain).sum(axis=0).max() <= WHOLE * unit
        return plain.sum(*given, **named).view(Watched)


@final
class Watching:
    """NumPy, whose new arrays are watched."""

    asarray = staticmethod(Watched.asarray)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


def direction(leads: Floats, xp: Any = np) -> Floats:
    """What records of norm 1 pull by when a small clip lets only the direction of their errors through.

    The scores fall behind that of the first class, the right one, by these leads.
    """
    scores = Watched.asarray(-leads)
    truth = np.zeros_like(leads)
    truth[0] = 1
    return np.asarray(IntegerSums().pulls(scores, np.ones((1, leads.shape[1])), truth, 1e-6, xp)) / ERROR_GRID


def leads(classes: int, furthest: float) -> Floats:
    """Of 20 records over their other classes."""
    return np.vstack([np.zeros((1, 20)), SeededNoise(7).uniform((classes - 1) * 20).reshape(-1, 20) * furthest])


@pytest.mark.parametrize("furthest", [0.0, 5.0, 40.0])
@pytest.mark.parametrize("classes", [2, 40, 1000])
def test_whatever_order_odds_and_squared_errors_are_added_in_no_sum_is_rounded(classes: int, furthest: float) -> None:
    direction(leads(classes, furthest), Watching())


def test_sums_of_ordinary_floats_would_be_rounded() -> None:
    """The negative twin."""
    with pytest.raises(AssertionError):
        Watched.asarray(np.full((3, 1), 0.1)).sum(axis=0)


def test_sums_for_the_largest_head_and_a_billion_records_are_exact() -> None:
    """Each bounded as a whole: scores by the norms of what is multiplied, odds by their largest, records by reach."""
    loudest = 10 * int(LOUDEST)

    assert WEIGHT_GRIDS == {4: 2**24 // FEATURE_GRID, 8: 2**26}
    assert WEIGHT_GRIDS[8] * FEATURE_GRID <= WHOLE and WEIGHT_GRIDS[8] ** 2 <= WHOLE
    assert int(ODDS.max()) * (MOST_ENTRIES // 2) <= WHOLE  # the bias is an entry too, and two classes make a head
    assert IntegerSums.reach * (10**9 + loudest) <= WHOLE


def test_errors_of_records_that_are_nearly_right_keep_their_direction() -> None:
    """Within three thousandths, though the other classes are six behind at least and errors below a hundredth."""
    behind = leads(5, 2.0)
    behind[1:] += 6
    odds = np.exp(-behind)
    errors = odds / odds.sum(axis=0) - np.eye(5)[:, :1]

    found = direction(behind)

    wanted = errors / np.linalg.norm(errors, axis=0)
    assert np.linalg.norm(found - wanted, axis=0).max() < 0.003


@EACH
def test_scores_are_the_products_with_features_of_norm_1(summation: IntegerSums | FloatSums) -> None:
    """Of an exact head up to a few ten thousandths of the weights' length, or a few hundred millionths in double."""
    rows = np.hstack([SeededNoise(4).gaussian(1.0, (200, 700)), np.ones((200, 1))])
    norms = row_norms(rows)[:, None]
    weights = SeededNoise(5).gaussian(0.5, (CLASSES, 701))
    wanted = weights @ (rows / norms).T

    single, double = InNumpy(), on("cpu")
    found = summation.scores(weights, summation.prepare(rows, norms, single), single)
    prepared = summation.prepare(double.put(rows), double.put(norms), double)
    finer = double.get(summation.scores(double.put(weights), prepared, double))

    length = np.linalg.norm(weights, axis=1).max()
    assert np.abs(found - wanted).max() < (1e-12 if summation.floating else 1e-3 * length)
    assert np.abs(finer - wanted).max() < (1e-12 if summation.floating else 3e-4 * length)


@pytest.mark.parametrize("size", [1e-15, 1e-3, 1.0, 1e6, 1e15])
def test_weights_of_any_size_are_read_on_a_grid_of_their_own(size: float) -> None:
    weights, prepared = np.array([[3.0, 4.0]], np.float32), EXACT.prepare(np.eye(2), np.ones((2, 1)), InNumpy())

    found = EXACT.scores(weights * np.float32(size), prepared, InNumpy())

    assert found / size == pytest.approx(np.array([[3.0, 4.0]]), rel=1e-3)


@pytest.mark.parametrize("wild", [np.nan, np.inf, -np.inf, 3e38])
def test_a_class_whose_weights_left_the_floats_is_read_as_nothing_and_others_as_they_are(wild: float) -> None:
    weights = np.array([[wild, 1.0], [3.0, 4.0], [0.0, 0.0]], np.float32)
    prepared = EXACT.prepare(np.eye(2), np.ones((2, 1)), InNumpy())

    with np.errstate(all="ignore"):
        found = EXACT.scores(weights, prepared, InNumpy())

    assert found == pytest.approx(np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 0.0]]), rel=1e-3)


def integers(array: NDArray[Any]) -> list[list[int]]:
    return [[int(entry) for entry in row] for row in array]


@pytest.mark.parametrize("width", [2, 700])
def test_products_at_the_bound_of_single_precision_are_those_of_integers(width: int) -> None:
    """Features and weights along one direction, so that the sizes of the terms add up to nearly 2**24."""
    rows = SeededNoise(6).gaussian(1.0, (60, width))
    prepared = np.asarray(EXACT.prepare(rows, row_norms(rows)[:, None], InNumpy()))
    grid = np.round(rows * ((WEIGHT_GRIDS[4] - math.sqrt(width) / 2) / row_norms(rows)[:, None])).astype(np.float32)

    found = InNumpy().scores(grid, prepared)

    assert prepared.dtype == np.int16
    assert InNumpy().whole(width) == np.float32
    assert 0.95 * 2**24 < found.max() <= 2**24
    assert np.array_equal(found, np.array(integers(grid), np.int64) @ np.array(integers(prepared), np.int64).T)


def test_products_beyond_it_are_not() -> None:
    """The negative twin: weights on a grid eight times as fine."""
    rows = SeededNoise(6).gaussian(1.0, (60, 700))
    prepared = np.asarray(EXACT.prepare(rows, row_norms(rows)[:, None], InNumpy()))
    grid = np.round(rows * (8 * WEIGHT_GRIDS[4] / row_norms(rows)[:, None])).astype(np.float32)

    found = InNumpy().scores(grid, prepared)

    assert not np.array_equal(found, np.array(integers(grid), np.int64) @ np.array(integers(prepared), np.int64).T)


def test_wide_heads_are_read_in_double_precision() -> None:
    """In single precision entries of so many weights would all but vanish."""
    rows = SeededNoise(8).gaussian(1.0, (1, 10**6))

    prepared = EXACT.prepare(rows, row_norms(rows)[:, None], InNumpy())
    found = EXACT.scores(np.vstack([rows, -rows]).astype(np.float32), prepared, InNumpy())

    assert prepared.dtype == np.int16
    assert InNumpy().whole(10**6) == np.float64
    assert found == pytest.approx(np.array([[1000.0], [-1000.0]]), rel=1e-2)


@EACH
def test_records_with_scores_beyond_the_range_of_exponentials_count_in_full(summation: IntegerSums | FloatSums) -> None:
    """As certain of the wrong class as can be, among scores of a thousand and more."""
    norms, truth = np.full((1, 2), 50.0), np.array([[1.0, 0.0], [0.0, 1.0]])
    scores = summation.scores(np.array([[30.0], [90.0]]), summation.prepare(norms.T, norms.T, InNumpy()), InNumpy())

    pulls = np.asarray(summation.pulls(scores, norms, truth, 1.0, np))

    wanted = np.array([[-1.0, 0.0], [1.0, 0.0]]) * math.sqrt(0.5)
    assert pulls / (1 if summation.floating else ERROR_GRID) == pytest.approx(wanted, abs=2e-3)


def test_little_of_a_wide_record_and_of_an_error_in_many_classes_is_lost_to_the_grid() -> None:
    wide = SeededNoise(8).gaussian(1.0, (1, 250_000))
    many = SeededNoise(9).gaussian(1.0, (1000, 1))

    prepared = np.asarray(IntegerSums().prepare(wide, row_norms(wide)[:, None], InNumpy()))
    factors = np.asarray(IntegerSums().factors(many, 1 / row_norms(many.T)[:, None], np))

    assert np.linalg.norm(prepared) > 0.95 * FEATURE_GRID
    assert np.linalg.norm(factors) > 0.98 * ERROR_GRID


def test_exact_features_are_integers_within_their_grid() -> None:
    rows, norms, _ = batch()

    grid = IntegerSums().prepare(rows, norms, InNumpy())

    assert np.array_equal(grid, np.round(grid))
    assert max(sum(int(entry) ** 2 for entry in row) for row in grid) <= FEATURE_GRID**2


@pytest.mark.parametrize("length", [1.01, 2.0, 1e30, np.inf, np.nan])
def test_what_should_come_out_too_long_counts_for_nothing(length: float) -> None:
    """Checked after rounding, in integers, whatever went wrong before."""
    prepared = np.full((1, WIDTH), 2.0)

    found = summed(IntegerSums(), prepared, np.full((1, 4), 0.5), np.full((1, 1), length))

    assert not found.any()


def test_errors_at_full_length_count_in_full() -> None:
    found = summed(IntegerSums(), np.ones((1, 1)), np.full((1, 4), 0.5), np.ones((1, 1)))

    assert np.linalg.norm(found) == pytest.approx(ERROR_GRID, rel=2e-3)
    assert np.linalg.norm(found) <= ERROR_GRID


def test_floating_sums_leave_out_what_is_no_number() -> None:
    errors, shares = np.array([[np.nan, 0.1], [0.5, -0.5]]), np.ones((2, 1))

    assert np.array_equal(summed(FloatSums(), np.ones((2, 1)), errors, shares), [[0.5], [-0.4]])


@EACH
def test_a_batch_of_nobody_sums_to_zero(summation: IntegerSums | FloatSums) -> None:
    nobody = np.zeros((0, WIDTH))

    found = summed(summation, nobody, np.zeros((0, CLASSES)), np.zeros((0, 1)))

    assert np.array_equal(found, np.zeros((CLASSES, WIDTH)))


@pytest.mark.statistical
@EACH
def test_noise_has_the_standard_deviation_of_its_multiplier(summation: IntegerSums | FloatSums) -> None:
    """1e5 draws: within 6 standard errors of the variance, 2.7 %; false alarms 2e−9. A 5 % wrong scale is noticed."""
    drawn = summation.noise(Fraction(3, 2), (100, 1000), SeededNoise(4)).astype(np.float64)

    variance = float(np.mean(drawn**2)) / summation.reach**2

    assert variance == pytest.approx(2.25, rel=0.027)
    assert variance != pytest.approx(2.25 * 1.05**2, rel=0.027)


@pytest.mark.parametrize(("summation", "kind"), [(FloatSums(), np.float32), (IntegerSums(), np.float64)])
def test_noise_has_the_precision_of_the_sum(summation: IntegerSums | FloatSums, kind: type[np.generic]) -> None:
    assert summation.noise(Fraction(1), (2, 3), SeededNoise(1)).dtype == kind
