"""Full-batch steps: noise that a budget calls for, weights that mean the same before and after centring, learning."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from expost.accounting.claim import Budget
from expost.accounting.curve import Linear
from expost.errors import InvalidValue
from expost.noise import ScriptedNoise, SeededNoise
from expost.private import Private
from expost.release import Past
from expost.training.head.centre import RADIUS, Centre
from expost.training.head.full_batch import BIAS, FINENESS, KEPT, LEARNING_RATE, STEPS, FullBatch, multiplier
from expost.training.head.gradient import FloatSums, IntegerSums, Summation
from expost.training.head.labelled import Labelled
from expost.training.head.mechanism import Trained
from expost.training.head.score import LARGEST_WEIGHT, Classifier, unit
from tests.unit.examples import one_sentence, rehearsal

WIDTH, CLASSES = 5, 3
CENTRE = Centre(np.array([0.1, 0.2, 0.0, -0.1, 0.3]), 200.0)


def head(summation: Summation | None = None, centre: Centre | None = CENTRE) -> FullBatch:
    return FullBatch(width=WIDTH, classes=CLASSES, centre=centre, summation=summation or IntegerSums())


def budget(rho: Fraction) -> Budget:
    return Budget(2 * rho, Fraction(2))


@given(st.fractions(Fraction(1, 10**6), 100), st.integers(1, 20))
def test_the_noise_is_the_least_on_its_grid_that_keeps_the_budget(rho: Fraction, steps: int) -> None:
    noise, finer = multiplier(rho, steps), Fraction(1, FINENESS)

    assert Fraction(steps) / (2 * noise**2) <= rho
    assert noise == finer or Fraction(steps) / (2 * (noise - finer) ** 2) > rho


@pytest.mark.parametrize("root", [1, 2, 1000, FINENESS, 3 * FINENESS])
def test_a_price_just_beyond_a_square_calls_for_the_next_step_of_the_grid(root: int) -> None:
    assert multiplier(Fraction(FINENESS**2, 2 * root**2), 1) == Fraction(root, FINENESS)
    assert multiplier(Fraction(FINENESS**2, 2 * (root**2 + 1)), 1) == Fraction(root + 1, FINENESS)


@given(st.fractions(Fraction(1, 10**6), 100))
def test_a_budget_buys_steps_that_cost_as_much_with_the_gaussian_profile(rho: Fraction) -> None:
    curve = head(centre=None).promise(budget(rho)).curve

    assert isinstance(curve, Linear)
    assert curve.gaussian == curve.rho
    assert rho * (1 - Fraction(1, 10**6)) <= curve.rho <= rho


def test_weights_are_as_noisy_as_the_longest_record_calls_for() -> None:
    """A larger clip would hide records no better, and bury them in more noise; 10,000 draws are within 5 %."""
    wide = Centre(np.zeros(4999), 200.0)
    steps = FullBatch(width=4999, classes=2, centre=wide, steps=1)
    nobody = Labelled(np.zeros((0, 4999), np.float32), np.zeros(0, np.int64))

    weights = steps.sample(nobody, budget(Fraction(1, 2)), Past(), SeededNoise(1)).weights

    longest = np.hypot(RADIUS / BIAS, 1)
    assert weights.std() == pytest.approx(longest * LEARNING_RATE / wide.records, rel=0.05)


@pytest.mark.parametrize(
    ("summation", "noise"), [(IntegerSums(), "exact discrete Gaussian"), (FloatSums(), "floating-point Gaussian")]
)
def test_steps_and_noise_go_on_record(summation: Summation, noise: str) -> None:
    mechanism = head(summation)

    assert mechanism.floating is summation.floating
    assert mechanism.facts(budget(Fraction(2))) == {"steps": 4, "rate": "1", "noise multiplier": "1", "noise": noise}


@pytest.mark.parametrize("steps", [0, -1])
def test_no_step_is_refused(steps: int) -> None:
    with pytest.raises(InvalidValue) as refused:
        multiplier(Fraction(1), steps)

    assert one_sentence(refused.value)


def test_a_head_that_is_too_large_is_refused_before_any_data() -> None:
    with pytest.raises(InvalidValue, match="too large"):
        FullBatch(width=10**7, classes=2, centre=None)


def test_weights_score_as_they_did_on_centred_features() -> None:
    rng = np.random.default_rng(5)
    rows = unit(rng.normal(size=(200, WIDTH)).astype(np.float32))
    trained = Trained(rng.normal(size=(CLASSES, WIDTH + 1)), (), 4)
    seen = (rows - CENTRE.mean) / BIAS

    weights = head().weights(trained)
    predicted = Classifier(weights).predict_unit(rows)

    scores = seen @ trained.weights[:, :-1].T + trained.weights[:, -1]
    clear = np.ptp(np.sort(scores, axis=1)[:, -2:], axis=1) > 1e-3  # ties within the grid may go either way
    assert np.array_equal(predicted[clear], np.argmax(scores, axis=1)[clear])
    assert clear.sum() > 150
    assert np.abs(weights).max() == LARGEST_WEIGHT  # as fine as the grid of predictions can be


def test_without_records_and_noise_a_release_keeps_its_share_of_the_one_before() -> None:
    empty = Labelled(np.zeros((0, WIDTH), np.float32), np.zeros(0, np.int64))
    first = rehearsal().spend(head(), Private(empty), budget(Fraction(1)), Past(), SeededNoise(8))
    other = rehearsal().spend(head(), Private(empty), budget(Fraction(1)), Past(), SeededNoise(9))
    silent, silent_again = (ScriptedNoise([0.0] * STEPS * CLASSES * (WIDTH + 1)) for _ in range(2))

    second = head().sample(empty, budget(Fraction(1)), Past[Trained]().then(first), silent)

    third = head().sample(empty, budget(Fraction(1)), Past[Trained]().then(other).then(first), silent_again)

    assert second.weights == pytest.approx(KEPT * first.value.weights, rel=1e-6)
    assert np.array_equal(third.weights, second.weights)  # the last of two releases
    assert (first.value.steps, second.steps) == (STEPS, 2 * STEPS)


def test_the_released_number_of_records_divides_the_gradient() -> None:
    rows = Labelled(unit(np.eye(WIDTH, dtype=np.float32)), np.array([0, 1, 2, 0, 1]))
    quiet = [1.0] * len(rows) + [0.0] * CLASSES * (WIDTH + 1)
    few, many = (
        FullBatch(width=WIDTH, classes=CLASSES, centre=Centre(CENTRE.mean, number), steps=1).sample(
            rows, budget(Fraction(1)), Past(), ScriptedNoise(quiet)
        )
        for number in (10.0, 40.0)
    )

    assert np.abs(few.weights).max() > 0
    assert few.weights == pytest.approx(4 * many.weights, rel=1e-5)


@pytest.mark.parametrize("summation", [IntegerSums(), FloatSums()])
def test_it_learns_to_tell_classes_apart(summation: Summation) -> None:
    rng = np.random.default_rng(6)
    labels = rng.integers(0, CLASSES, 900)
    rows = unit((np.eye(CLASSES, WIDTH)[labels] + 0.3 * rng.normal(size=(900, WIDTH)) + 1).astype(np.float32))
    centre = Centre(rows.mean(axis=0).astype(np.float64), 900.0)
    mechanism = head(summation, centre)

    made = mechanism.sample(Labelled(rows, labels), budget(Fraction(1, 2)), Past(), SeededNoise(7))

    assert np.mean(Classifier(mechanism.weights(made)).predict_unit(rows) == labels) > 0.9
