"""Heads in closed form: the means and the ridge regression of precise moments, and how far noisy ones are trusted."""

import numpy as np
import pytest

from expost.noise import Floats, Integers
from expost.training.head import closed_form
from expost.training.head.closed_form import MARGIN, class_means, ridge
from expost.training.head.moments import Squares, Sums

CLASSES, WIDTH = 3, 6
TINY = 1e-9


def drawn(number: int = 600, width: int = WIDTH) -> tuple[Floats, Integers]:
    """Classes that differ along features of different scales, none of them around 0."""
    rng = np.random.default_rng(2)
    labels = rng.choice(CLASSES, size=number, p=[0.5, 0.3, 0.2])
    scales = 0.2 / (1 + np.arange(width))
    rows = (rng.normal(size=(CLASSES, width))[labels] + rng.normal(size=(number, width))) * scales + 0.05
    return np.asarray(rows), np.asarray(labels)


def sums_of(rows: Floats, labels: Integers, std: float = TINY) -> Sums:
    truth = np.eye(CLASSES)[labels]
    return Sums(truth.T @ rows, truth.sum(axis=0), std)


def predicted(planes: tuple[Floats, Floats], rows: Floats) -> Integers:
    return np.asarray(np.argmax(rows @ planes[0].T + planes[1], axis=1), np.int64)


def test_precise_sums_give_the_class_means() -> None:
    rows, labels = drawn()

    means, _ = class_means(sums_of(rows, labels))

    assert means == pytest.approx(np.array([rows[labels == label].mean(axis=0) for label in range(CLASSES)]))


def test_of_two_equal_means_the_more_frequent_class_is_predicted_and_of_two_others_the_nearer() -> None:
    sums = Sums(np.array([[3.0, 0.0], [9.0, 0.0], [0.0, -6.0]]), np.array([10.0, 30.0, 10.0]), TINY)

    found = predicted(class_means(sums), np.array([[0.3, 0.0], [0.0, -0.6]]))

    assert found.tolist() == [1, 2]


def test_a_mean_of_few_records_is_moved_towards_the_centre_most() -> None:
    sums = Sums(np.array([[100.0, 0.0], [10.0, 0.0], [1.0, 0.0]]), np.array([1000.0, 100.0, 10.0]), 3.0)

    means, _ = class_means(sums)

    kept = means[:, 0] / 0.1
    assert 1 > kept[0] > 0.95 > kept[1] > 0.1 > kept[2] > 0


@pytest.mark.parametrize("sums", [np.zeros((CLASSES, WIDTH)), np.full((CLASSES, WIDTH), 1e-3)])
def test_sums_that_may_be_all_noise_give_a_head_all_the_same(sums: Floats) -> None:
    slopes, bias = class_means(Sums(sums, np.array([-5.0, 0.0, 2.0]), 1.0))

    assert np.isfinite(slopes).all() and np.isfinite(bias).all()


def test_precise_moments_give_ridge_regression_with_free_biases() -> None:
    rows, labels = drawn()
    truth, penalty = np.eye(CLASSES)[labels], 0.3
    std = penalty / MARGIN / np.sqrt(2 * WIDTH)

    slopes, bias = ridge(sums_of(rows, labels), Squares(rows.T @ rows, std))

    apart = rows - rows.mean(axis=0)
    expected = np.linalg.solve(apart.T @ apart + penalty * np.eye(WIDTH), apart.T @ truth).T
    assert slopes == pytest.approx(expected)
    assert bias == pytest.approx(truth.mean(axis=0) - expected @ rows.mean(axis=0))


def test_where_noise_leaves_no_positive_matrix_eigenvalues_below_0_are_cut() -> None:
    rows, labels = drawn()
    noisy = rows.T @ rows - 100 * np.diag([1.0, *[0.0] * (WIDTH - 1)])
    std = 0.3 / MARGIN / np.sqrt(2 * WIDTH)

    slopes, bias = ridge(sums_of(rows, labels), Squares(noisy, std))

    values, vectors = np.linalg.eigh(noisy - len(rows) * np.outer(rows.mean(axis=0), rows.mean(axis=0)))
    cut = (vectors * (np.maximum(values, 0) + 0.3)) @ vectors.T
    assert values.min() < -50
    assert slopes @ cut == pytest.approx(np.eye(CLASSES)[labels].T @ (rows - rows.mean(axis=0)))
    assert np.isfinite(bias).all()


def symmetric(width: int, std: float) -> Floats:
    """Noise on second moments: std on the diagonal, std/√2 beside it."""
    drawn = np.random.default_rng(8).normal(size=(width, width)) * std
    upper = np.triu(drawn, 1) / np.sqrt(2)
    return np.asarray(upper + upper.T + np.diag(np.diag(drawn)))


@pytest.mark.parametrize("width", [20, 200])
def test_the_penalty_is_a_little_more_than_the_length_of_the_noise(width: int) -> None:
    length = float(np.abs(np.linalg.eigvalsh(symmetric(width, 3.0))).max())

    assert length < MARGIN * 3.0 * np.sqrt(2 * width) < 1.6 * length


def test_noise_alone_needs_no_eigenvalues(monkeypatch: pytest.MonkeyPatch) -> None:
    """They take ten times as long."""
    monkeypatch.delattr(closed_form, "eigh")
    sums = Sums(np.random.default_rng(9).normal(size=(CLASSES, 200)), np.full(CLASSES, 100.0), 1.0)

    slopes, _ = ridge(sums, Squares(symmetric(200, 3.0), 3.0))

    assert np.isfinite(slopes).all()


def test_ridge_tells_apart_what_means_do_not() -> None:
    """Along a feature of small scale, beside one of large scale that says nothing."""
    rng = np.random.default_rng(7)
    labels = rng.integers(0, CLASSES, 2000)
    side = np.array([-1.0, 0.0, 1.0])[labels]
    rows = np.column_stack([0.02 * side + 0.2 * (loud := rng.normal(size=2000)), 0.2 * loud + 0.02 * rng.normal()])

    by_means = np.mean(predicted(class_means(sums_of(rows, labels)), rows) == labels)
    by_ridge = np.mean(predicted(ridge(sums_of(rows, labels), Squares(rows.T @ rows, TINY)), rows) == labels)

    assert by_ridge > by_means + 0.1
