"""The Brownian mechanism: exact weights, a bill that is the last level, and resuming from what was published."""

import math
from fractions import Fraction

import numpy as np
import pytest

from expost.accounting.claim import NOTHING
from expost.errors import InvalidValue, MechanismFailed
from expost.ladder import Ladder
from expost.mechanisms.brownian import Brownian, Estimate
from expost.mechanisms.gaussian import FloatGaussian, Gaussian, Measurement
from expost.noise import Floats, Integers, Noise, ScriptedNoise
from expost.numerics import up
from expost.odometer import Odometer
from expost.private import Neighbours, Private
from expost.release import Past
from expost.statistic import Statistic
from tests.unit.examples import ADD, REPLACE, budget, counts, people, rehearsal, silence

LEVELS = Ladder.of([Fraction(1, 100), Fraction(1, 10), 1], alpha=20)
ONE_CELL: Statistic[Integers] = Statistic(lambda data: data.sum(keepdims=True), (1,), Fraction(24), Fraction(24), ADD)
STEP = Brownian(Gaussian(ONE_CELL))
NOBODY: Past[Estimate] = Past()


def climb(
    mechanism: Brownian[Integers],
    data: Private[Integers],
    noise: Noise,
    odometer: Odometer,
    rungs: slice = slice(None),
    *,
    past: Past[Estimate] = NOBODY,
) -> Past[Estimate]:
    """Some rungs of the ladder, one after another."""
    for each in LEVELS.budgets[rungs]:
        past = past.then(odometer.spend(mechanism, data, each, past, noise))
    return past


def values(past: Past[Estimate]) -> list[float]:
    """The first cell of each estimate."""
    return [float(step.value.values[0]) for step in past.steps]


@pytest.mark.parametrize(("place", "weight"), [(0, 1 / 100), (1, 9 / 100), (2, 9 / 10)])
def test_each_measurement_has_its_weight_in_the_last_estimate(place: int, weight: float) -> None:
    script = [0, 0, 0]
    script[place] = 10**6

    past = climb(STEP, people(0), ScriptedNoise(script), rehearsal())

    assert values(past)[-1] == pytest.approx(weight * 10**6, rel=1e-14)


def test_the_weights_add_up_to_the_statistic() -> None:
    past = climb(STEP, people(5, 7), silence(), rehearsal())

    assert values(past) == pytest.approx([12, 12, 12], rel=1e-14)


def test_the_precision_left_is_that_of_one_measurement_at_the_level() -> None:
    past = climb(STEP, people(0), silence(), rehearsal())

    assert [1 / step.value.precision for step in past.steps] == [24000, 2400, 240]


def test_the_bill_is_exactly_the_last_level() -> None:
    odometer = rehearsal()

    climb(STEP, people(0), silence(), odometer)

    assert odometer.spent.at(20) == 1.0


def test_the_joint_bill_of_the_steps_is_the_last_level() -> None:
    assert climb(STEP, people(0), silence(), rehearsal()).joint().spent.at(20) == 1.0


def test_each_estimate_carries_its_level_and_not_its_increment() -> None:
    """The last estimate is a mean of all measurements: its own increment would not cover it."""
    past = climb(STEP, people(0), silence(), rehearsal())

    assert [step.spent.at(20) for step in past.steps] == [up(level) for level in LEVELS.levels]


def test_an_estimate_taken_out_of_its_past_still_carries_the_total() -> None:
    past = climb(STEP, people(0), silence(), rehearsal())

    assert Past(past.steps[-1]).joint().map(lambda pair: pair[0].values.sum()).spent.at(20) == 1.0


def test_resuming_from_a_published_estimate_equals_an_uninterrupted_run() -> None:
    script = [123, -45, 6]
    straight = climb(STEP, people(3), ScriptedNoise(script), rehearsal())
    noise = ScriptedNoise(script)
    published = climb(STEP, people(3), noise, rehearsal(), slice(1))

    resumed = climb(STEP, people(3), noise, rehearsal(), slice(1, None), past=published)

    assert values(resumed) == values(straight)
    assert resumed.steps[-1].value.precision == straight.steps[-1].value.precision


def test_a_forked_continuation_is_billed_twice() -> None:
    odometer, data = rehearsal(), people(3)
    published = climb(STEP, data, silence(), odometer, slice(1))

    for _ in range(2):
        climb(STEP, data, silence(), odometer, slice(1, None), past=published)

    assert odometer.spent.at(20) == up(Fraction(1, 100) + 2 * (1 - Fraction(1, 100)))


def test_resuming_on_another_odometer_brings_the_earlier_bill_along() -> None:
    """The attack: a cheap odometer that goes on from what a dear one released used to bill its own increment alone."""
    first, second = rehearsal(), rehearsal()
    published = climb(STEP, people(3), silence(), first, slice(1))

    resumed = climb(STEP, people(3), silence(), second, slice(1, None), past=published)

    assert [step.spent.at(20) for step in resumed.steps] == [up(level) for level in LEVELS.levels]
    assert second.spent.at(20) == up(1 - Fraction(1, 100))


def test_an_estimate_without_its_release_is_nothing_to_resume_from() -> None:
    """The negative twin: the increments alone are less than what the estimate reveals."""
    published = climb(STEP, people(3), silence(), rehearsal(), slice(1)).steps[-1].value

    with pytest.raises(TypeError):
        Brownian(Gaussian(ONE_CELL), published)  # type: ignore[call-arg] # what an attacker would write


def test_an_estimate_knows_the_noise_that_is_left() -> None:
    assert Estimate(np.zeros(1), Fraction(1, 4)).std == 2


def test_refining_weighs_by_precision() -> None:
    estimate = Estimate(np.array([0.0]), Fraction(1)).refine(Measurement(np.array([8.0]), Fraction(1, 3)))

    assert (estimate.values.tolist(), estimate.precision) == ([6.0], Fraction(4))


def test_a_precision_that_is_a_float_is_held_exactly() -> None:
    start = Estimate(np.zeros(1), 0.1)  # type: ignore[arg-type] # a caller without a type checker

    assert start.refine(Measurement(np.zeros(1), Fraction(1, 3))).precision == Fraction(0.1) + 3


def test_an_estimate_of_another_shape_is_not_refined() -> None:
    with pytest.raises(InvalidValue, match="met values of"):
        Estimate(np.zeros(2), Fraction(1)).refine(Measurement(np.zeros(3), Fraction(1)))


def test_resuming_from_another_statistic_fails_the_step() -> None:
    two_cells = Brownian(Gaussian(counts(2)))
    other = rehearsal().spend(two_cells, people(0), budget(1), Past(), silence())

    with pytest.raises(MechanismFailed):
        rehearsal().spend(Brownian(Gaussian(counts(3))), people(0), budget(1), Past(other), silence())


@pytest.mark.parametrize("broken", [np.array([math.nan]), np.array([math.inf])])
def test_an_estimate_is_finite(broken: Floats) -> None:
    with pytest.raises(InvalidValue, match="not finite"):
        Estimate(broken, Fraction(1))


def test_an_estimate_has_some_precision() -> None:
    with pytest.raises(InvalidValue, match="precision is 0"):
        Estimate(np.zeros(1), Fraction(0))


def test_the_promise_is_that_of_the_increment() -> None:
    assert STEP.promise(budget(1)) == Gaussian(ONE_CELL).promise(budget(1)) != NOTHING


def test_an_estimate_with_one_value_that_is_not_finite_is_refused() -> None:
    with pytest.raises(InvalidValue, match="not finite"):
        Estimate(np.array([0.0, math.nan]), Fraction(1))


@pytest.mark.parametrize(
    ("measure", "floating"),
    [(FloatGaussian[Integers](lambda data: np.zeros(3), (3,), 1, ADD), True), (Gaussian(counts()), False)],
)
def test_an_estimate_is_floating_if_its_measurements_are(
    measure: Gaussian[Integers] | FloatGaussian[Integers], floating: bool
) -> None:
    released = rehearsal().spend(Brownian(measure), people(0), budget(1), Past(), silence())

    assert released.floating is floating


@pytest.mark.parametrize("neighbours", [ADD, REPLACE])
def test_the_relation_and_the_facts_are_those_of_the_measurement(neighbours: Neighbours) -> None:
    measure = Gaussian(counts(neighbours=neighbours))

    assert Brownian(measure).neighbours is neighbours
    assert Brownian(measure).facts(budget(1)) == measure.facts(budget(1))
