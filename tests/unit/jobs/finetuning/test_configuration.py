"""The linear head as something to tune: its price is known, its run private, and a tuned head predicts."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import load_digits

from expost.accounting.claim import best_statement
from expost.accounting.curve import largest_rho
from expost.errors import InvalidValue
from expost.jobs.finetuning.configuration import HeadConfiguration
from expost.jobs.finetuning.recipe import HeadRecipe
from expost.noise import SeededNoise
from expost.odometer import Odometer
from expost.private import Neighbours, Private
from expost.training.head.labelled import Labelled
from expost.training.head.optimizer import Adam
from expost.training.head.score import accuracy, unit
from expost.training.schedule import Schedule
from expost.training.tune import tune
from tests.bills.recording import RecordingNoise

DELTA = 1e-7
RECIPE = HeadRecipe(
    target=accuracy(0.6),
    schedule=Schedule.of_epochs(5, 5, 1, rate=Fraction(1, 10)),
    start=Fraction(2),
)


def digits() -> Labelled:
    features, labels = load_digits(return_X_y=True)
    return Labelled.of(unit(features.astype(np.float32)), labels, classes=10)


def configuration(rate: float, noise: int = 2) -> HeadConfiguration:
    return HeadConfiguration(f"rate {rate}", replace(RECIPE, optimizer=Adam(rate), start=Fraction(noise)), 10, DELTA)


def test_a_run_costs_what_its_training_costs_because_scoring_reads_the_other_part() -> None:
    one = configuration(0.05)

    trained = one.recipe.descent.promise(one.recipe.schedule.first)

    assert one.epsilon == best_statement(trained, DELTA)[0]


def test_a_score_is_as_noisy_as_the_price_of_the_run_leaves_it() -> None:
    one, noise = configuration(0.05), RecordingNoise(SeededNoise(1))
    steps, question = one.recipe.schedule.first, one.recipe.question()

    one.run(digits(), digits(), noise)

    (score,) = (draw for draw in noise.asked if draw.kind == "discrete_gaussian" and draw.shape == ())
    rho = largest_rho(one.recipe.descent.promise(steps).curve)
    assert score.parameter == Fraction(question.sensitivity**2) / (2 * rho)


def test_less_noise_costs_more() -> None:
    assert configuration(0.05, noise=2).epsilon > configuration(0.05, noise=3).epsilon


def test_a_useful_rate_is_found_and_billed_twice_its_price() -> None:
    good, poor = configuration(0.05), configuration(1e-6)

    found = tune(
        Private(digits()),
        [poor, good],
        at_least=0.0,
        delta=1e-5,
        mean_runs=6,
        noise=SeededNoise(3),
        odometer=Odometer(rehearsal=True),
        held=0.5,
    )

    assert found.configuration == "rate 0.05"
    assert found.epsilon == pytest.approx(2 * good.epsilon)
    assert found.value is not None
    data = digits()
    assert np.mean(found.value.predict_unit(data.features) == data.labels) > 0.6


def test_a_head_that_learns_nothing_does_not_pass() -> None:
    data = digits()
    half = np.arange(len(data)) % 2 == 0

    _, score = configuration(1e-6).run(data[half], data[~half], SeededNoise(1))

    assert score < 0


def test_a_recipe_with_several_releases_is_refused() -> None:
    recipe = replace(RECIPE, schedule=Schedule(50, 50, 2))

    with pytest.raises(InvalidValue, match="one release"):
        HeadConfiguration("two", recipe, 10, DELTA)


def test_features_of_any_length_are_scaled_as_the_head_will_scale_them() -> None:
    data = digits()
    longer = Labelled(data.features * 1000, data.labels)

    heads = [configuration(0.05).run(each, each, SeededNoise(1))[0] for each in (data, longer)]

    assert np.abs(heads[0].weights - heads[1].weights).max() < 1e-3


def test_persons_are_tuned_for_at_the_price_of_records() -> None:
    persons = digits().of_persons(np.arange(1797) // 3, SeededNoise(4))
    one = configuration(0.05)
    by_person = replace(one, recipe=replace(one.recipe, neighbours=Neighbours.ADD_REMOVE_PERSON))

    best = tune(
        Private(persons, Neighbours.ADD_REMOVE_PERSON),
        [by_person],
        at_least=0,
        delta=1e-5,
        mean_runs=2,
        noise=SeededNoise(1),
        odometer=Odometer(rehearsal=True),
    )

    assert by_person.epsilon == one.epsilon
    assert best.contest.neighbours == "add or remove one person"
    with pytest.raises(InvalidValue, match="replace a record"):
        replace(one.recipe, neighbours=Neighbours.REPLACE_PERSON)
