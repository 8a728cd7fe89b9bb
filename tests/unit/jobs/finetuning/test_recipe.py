"""Fine-tuning on scanned digits: train, look, stop at the first head that is accurate enough, within the plan."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_digits

from expost.accounting.claim import NOTHING
from expost.accounting.descent import Descent
from expost.checks.question import PublicCheck
from expost.errors import InvalidValue
from expost.jobs.finetuning.recipe import HeadRecipe, fine_tune, plan_training
from expost.jobs.finetuning.wanted import Shape
from expost.judge import Balanced, Budgeted, Judge, OnPublic
from expost.noise import SeededNoise
from expost.odometer import Odometer
from expost.private import Private, Split, split
from expost.search import Ended, Line, Outcome
from expost.training.head.gradient import FloatSums
from expost.training.head.labelled import Labelled
from expost.training.head.optimizer import Adam
from expost.training.head.score import Classifier, accuracy, classified, unit
from expost.training.schedule import Epsilon, Schedule
from tests.unit.examples import one_sentence

ASKED = 0.85


@cache
def digits() -> tuple[Labelled, Labelled]:
    """Three quarters of the digits for the run, and a quarter that is public."""
    images, labels = load_digits(return_X_y=True)
    records = Labelled.of(unit(images.astype(np.float32)), labels, classes=10)
    public = SeededNoise(2024).coins(Fraction(1, 4), len(records))
    return records[~public], records[public]


SHAPE = Shape(64, 10)
RECIPE = HeadRecipe(
    target=accuracy(ASKED), schedule=Schedule(20, 20, 8), start=Fraction(4, 3), delta=1e-3,
    optimizer=Adam(0.1), drop=1.0,
)  # fmt: skip


def public() -> Judge:
    """The check on the quarter that is public."""
    return OnPublic(digits()[1])


def parts(recipe: HeadRecipe) -> Split[Labelled]:
    """The records as the recipe divides them."""
    data = Private(digits()[0])
    return split(data, recipe.held, SeededNoise(5)) if recipe.held else Split.whole(data)


def run(recipe: HeadRecipe, seed: int = 1, on_step: Callable[[Line], None] | None = None) -> Outcome[Classifier]:
    """A rehearsal under the pledge of the plan."""
    odometer = Odometer(pledge=plan_training(recipe).pledge, rehearsal=True)
    return fine_tune(parts(recipe), recipe, SHAPE, odometer=odometer, noise=SeededNoise(seed), on_step=on_step)


CHECKS: dict[str, Callable[[], Judge]] = {"public": public, "balanced": Balanced, "budgeted": Budgeted}


@pytest.mark.parametrize("name", CHECKS)
def test_a_threshold_that_the_first_release_misses_is_reached(name: str) -> None:
    recipe = replace(RECIPE, check=CHECKS[name]())

    outcome = run(recipe)

    verdicts = [line.verdict for line in outcome.history]
    assert outcome.ended is Ended.HALTED
    assert [verdict.passed for verdict in verdicts if verdict is not None] == [False] * (len(verdicts) - 1) + [True]
    assert len(verdicts) > 1
    assert float(np.mean(classified(outcome.release.value, digits()[1]))) > ASKED - 0.06


@pytest.mark.parametrize("name", CHECKS)
def test_the_run_is_stated_as_its_plan_says(name: str) -> None:
    recipe = replace(RECIPE, check=CHECKS[name]())
    stated = plan_training(recipe).epsilons

    outcome = run(recipe)

    assert outcome.epsilon == stated[len(outcome.history) - 1]
    assert outcome.epsilon < stated[-1]


def test_a_threshold_out_of_reach_exhausts_the_schedule() -> None:
    outcome = run(replace(RECIPE, target=accuracy(0.999)))

    assert outcome.ended is Ended.EXHAUSTED
    assert len(outcome.history) == 8


def test_a_check_on_public_records_holds_nothing_out() -> None:
    assert replace(RECIPE, check=public()).held == 0
    assert RECIPE.held == Fraction(1, 2)


def test_public_records_on_the_threshold_pass() -> None:
    """Three of four right, asked for three quarters, and for a hair more."""
    records = digits()[1][np.arange(len(digits()[1])) < 4]
    head = Classifier(np.eye(10, 65)[:, ::-1])
    guess = head.predict_unit(records.features)
    labels = np.where(np.arange(4) < 3, guess, (guess + 1) % 10)
    four = Labelled.of(records.features, labels, classes=10)

    def passes(share: float) -> bool:
        judge = replace(RECIPE, target=accuracy(share), check=OnPublic(four)).judge()
        return isinstance(judge, PublicCheck) and judge.verdict(head).passed

    assert (passes(0.75), passes(0.751)) == (True, False)


@pytest.mark.parametrize("check", [Balanced(), Budgeted()])
def test_the_noise_is_the_least_that_starts_at_the_epsilon_asked(check: Judge) -> None:
    recipe = replace(RECIPE, start=Epsilon(1.0), check=check)

    stated = plan_training(recipe).epsilons[0]
    less = replace(recipe, start=recipe.descent.noise_multiplier * Fraction(999999, 1000000))

    assert stated <= 1.0 < plan_training(less).epsilons[0]


def test_balanced_checks_cost_no_more_than_public_ones() -> None:
    assert plan_training(RECIPE).epsilons == plan_training(replace(RECIPE, check=public())).epsilons


@pytest.mark.parametrize("name", CHECKS)
def test_the_noise_of_the_check_is_known_beforehand(name: str) -> None:
    recipe = replace(RECIPE, check=CHECKS[name](), target=accuracy(0.999))

    verdicts = [line.verdict for line in run(recipe).history]

    pairs = list(zip(recipe.looks(), verdicts, strict=True))
    assert all((look is None) == (verdict is None or verdict.std is None) for look, verdict in pairs)
    for look, verdict in pairs:
        if look is not None and verdict is not None:
            assert verdict.std == pytest.approx(look.std, rel=1e-9)
            assert verdict.guard == look.guard


def test_a_noise_multiplier_may_be_given_itself() -> None:
    assert RECIPE.descent == Descent(Fraction(1, 10), Fraction(4, 3))


def test_the_learning_rate_drops_after_the_first_release() -> None:
    assert RECIPE.head(SHAPE).drop_after == 20


def test_every_release_is_reported_as_it_happens() -> None:
    seen: list[Line] = []

    outcome = run(RECIPE, on_step=seen.append)

    assert tuple(seen) == outcome.history


def test_floating_noise_reaches_the_threshold_too_and_says_so() -> None:
    outcome = run(replace(RECIPE, summation=FloatSums()))

    assert outcome.ended is Ended.HALTED
    assert outcome.release.floating


BAD: dict[str, Callable[[], object]] = {
    "delta 0": lambda: replace(RECIPE, delta=0.0),
    "delta 1": lambda: replace(RECIPE, delta=1.0),
    "one class": lambda: Shape(64, 1),
    "clip 0": lambda: replace(RECIPE, clip=0.0),
    "batch below 0": lambda: replace(RECIPE, batch=-64.0),
    "drop 0": lambda: replace(RECIPE, drop=0.0),
    "nothing held out": lambda: replace(RECIPE, validation=Fraction(0)),
    "everything held out": lambda: replace(RECIPE, validation=Fraction(1)),
    "rate 0": lambda: plan_training(replace(RECIPE, rate=Fraction(0))),
    "rate above 1": lambda: plan_training(replace(RECIPE, rate=Fraction(3, 2))),
    "noise below 0": lambda: plan_training(replace(RECIPE, start=Fraction(-1))),
    "start out of reach": lambda: plan_training(replace(RECIPE, start=Epsilon(1e-9), delta=1e-15)),
    "no release": lambda: replace(RECIPE, schedule=Schedule(20, 20, 0)),
    "accuracy 1.2": lambda: replace(RECIPE, target=accuracy(1.2)),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_settings_are_refused_by_one_sentence(name: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        BAD[name]()

    assert one_sentence(refused.value)


def test_bad_settings_are_refused_before_any_record_is_opened() -> None:
    odometer, recipe = Odometer(rehearsal=True), replace(RECIPE, rate=Fraction(3, 2))
    divided = parts(RECIPE)

    with pytest.raises(InvalidValue):
        fine_tune(divided, recipe, SHAPE, odometer=odometer, noise=SeededNoise(1))

    assert odometer.spent == NOTHING.as_spent()
