"""The Laplace mechanism: exact values and scales, billed at the curve of any pure step."""

import math
from fractions import Fraction

import numpy as np
import pytest

from expost.accounting.pure import randomized_response_rdp
from expost.accounting.textbook import laplace_rdp
from expost.errors import InvalidValue, MechanismFailed
from expost.mechanisms.laplace import FloatLaplace, Laplace
from expost.noise import Floats, Integers, ScriptedNoise
from expost.private import Neighbours
from expost.release import Past
from expost.statistic import Statistic
from tests.unit.examples import ADD, REPLACE, budget, counts, people, rehearsal, silence


def halves(data: Integers) -> Floats:
    """Half the sum of the records."""
    return np.array([data.sum() / 2])


def test_the_value_is_the_statistic_plus_the_noise() -> None:
    release = rehearsal().spend(Laplace(counts()), people(0, 0, 2), budget(1), Past(), ScriptedNoise([10, -20, 30]))

    assert release.value.values.tolist() == [12, -20, 31]


def test_the_scale_is_an_exact_fraction() -> None:
    assert Laplace(counts(3, REPLACE)).scale(budget(Fraction(1, 3))) == 6


def test_the_variance_is_that_of_the_scale() -> None:
    release = rehearsal().spend(Laplace(counts()), people(0), budget(Fraction(1, 2)), Past(), silence())

    assert release.value.variance == 8


@pytest.mark.parametrize("alpha", [1.5, 2.0, 20.0, 1024.0])
def test_the_promise_is_the_curve_of_any_pure_step(alpha: float) -> None:
    assert Laplace(counts()).promise(budget(1)).at(alpha) == randomized_response_rdp(1, alpha)


def test_the_promise_is_not_the_smaller_curve_of_real_laplace_noise() -> None:
    """Two-sided geometric noise has likelihood ratios e^ε and e^−ε only, like randomised response."""
    assert Laplace(counts()).promise(budget(1)).at(2) > laplace_rdp(1, 2)


def test_the_promise_never_exceeds_the_pure_epsilon() -> None:
    assert all(Laplace(counts()).promise(budget(1)).at(alpha) <= 1 for alpha in (1.1, 5, 1024))


def test_equal_steps_share_their_promise() -> None:
    """One object, so that a ledger sees equal steps as equal."""
    assert Laplace(counts()).promise(budget(1)) == Laplace(counts()).promise(budget(1))


@pytest.mark.parametrize("values", [np.zeros(3), np.zeros(2, dtype=np.int64)])
def test_a_statistic_that_breaks_its_word_fails_the_step(values: Integers) -> None:
    broken: Statistic[Integers] = Statistic(lambda data: values, (3,), Fraction(1), Fraction(1), ADD)

    with pytest.raises(MechanismFailed):
        rehearsal().spend(Laplace(broken), people(0), budget(1), Past(), silence())


def test_the_record_holds_what_it_takes_to_recompute_the_cost() -> None:
    assert Laplace(counts()).facts(budget(Fraction(1, 2))) == {"statistic": "histogram", "l1": "1", "scale": "2"}


def test_floating_values_are_the_statistic_plus_the_noise() -> None:
    mechanism = FloatLaplace(halves, (1,), 0.5, ADD)

    release = rehearsal().spend(mechanism, people(1, 2), budget(1), Past(), ScriptedNoise([0.25]))

    assert release.value.values.tolist() == [1.75]
    assert release.floating


def test_floating_noise_is_calibrated_by_the_same_formula() -> None:
    release = rehearsal().spend(FloatLaplace(halves, (1,), 0.5, ADD), people(0), budget(2), Past(), silence())

    assert release.value.variance == Fraction(1, 8)


def test_the_record_of_floating_noise_holds_the_sensitivity_exactly() -> None:
    facts = FloatLaplace(halves, (1,), 0.5, ADD, "halves").facts(budget(2))

    assert facts == {"statistic": "halves", "l1": "1/2", "scale": "1/4"}


def test_floating_noise_is_billed_as_a_pure_step() -> None:
    assert FloatLaplace(halves, (1,), 0.5, ADD).promise(budget(1)) == Laplace(counts()).promise(budget(1))


@pytest.mark.parametrize("values", [np.array([math.nan]), np.zeros(2)])
def test_a_real_statistic_that_breaks_its_word_fails_the_step(values: Floats) -> None:
    broken: FloatLaplace[Integers] = FloatLaplace(lambda data: values, (1,), 0.5, ADD)

    with pytest.raises(MechanismFailed):
        rehearsal().spend(broken, people(0), budget(1), Past(), silence())


@pytest.mark.parametrize("l1", [0.0, -1.0, math.nan])
def test_a_real_statistic_needs_a_sensitivity(l1: float) -> None:
    with pytest.raises(InvalidValue, match="l1 is"):
        FloatLaplace(halves, (1,), l1, ADD)


def test_a_budget_that_calls_for_noise_too_wide_is_refused_by_the_promise() -> None:
    """Before data is opened: the draw would refuse it too, but then it is too late."""
    with pytest.raises(InvalidValue, match="64-bit noise"):
        Laplace(counts()).promise(budget(Fraction(1, 2**60)))


@pytest.mark.parametrize("neighbours", [ADD, REPLACE])
def test_integer_noise_is_exact_and_for_the_relation_of_its_statistic(neighbours: Neighbours) -> None:
    mechanism = Laplace(counts(neighbours=neighbours))

    assert mechanism.neighbours is neighbours
    assert not mechanism.floating
