"""The Gaussian mechanism: exact values under scripted noise, exact variances, and honest bills."""

import math
from fractions import Fraction

import numpy as np
import pytest

from expost.accounting.gaussian import lattice_rho
from expost.errors import InvalidValue, MechanismFailed
from expost.mechanisms.gaussian import FloatGaussian, Gaussian
from expost.noise import Floats, Integers, ScriptedNoise
from expost.release import Past
from expost.statistic import Statistic
from tests.unit.examples import ADD, budget, counts, line, people, rehearsal, silence

MARGINALS: Statistic[Integers] = Statistic(
    lambda data: data, (24,), Fraction(24), Fraction(24), ADD, "24 marginals of one cell each"
)


def halves(data: Integers) -> Floats:
    """Half the sum of the records."""
    return np.array([data.sum() / 2])


def test_the_value_is_the_statistic_plus_the_noise() -> None:
    release = rehearsal().spend(Gaussian(counts()), people(0, 0, 2), budget(1), Past(), ScriptedNoise([10, -20, 30]))

    assert release.value.values.tolist() == [12, -20, 31]


@pytest.mark.parametrize(
    ("spent", "variance"),
    [
        (Fraction(1, 100), Fraction(24000)),
        (Fraction(1, 10) - Fraction(1, 100), Fraction(8000, 3)),
        (1 - Fraction(1, 10), Fraction(800, 3)),
    ],
)
def test_the_variance_is_an_exact_fraction(spent: Fraction, variance: Fraction) -> None:
    assert Gaussian(MARGINALS).variance(budget(spent)) == variance


def test_the_measurement_tells_its_variance() -> None:
    release = rehearsal().spend(Gaussian(counts()), people(0), budget(1), Past(), silence())

    assert (release.value.variance, release.value.std) == (Fraction(10), math.sqrt(10))


def test_the_promise_is_the_budget_at_its_order() -> None:
    assert Gaussian(counts()).promise(budget(Fraction(1, 3))).at(20) >= Fraction(1, 3)


def test_the_promise_is_the_line_through_the_budget() -> None:
    curve = Gaussian(counts()).promise(budget(1)).curve

    assert curve == line(0, Fraction(1, 20), lattice_rho(Fraction(10), Fraction(1)))


def test_noise_too_narrow_for_the_profile_keeps_the_curve_alone() -> None:
    assert Gaussian(counts()).promise(budget(20)).curve == line(0, 1)


def test_more_noise_than_64_bits_hold_is_refused_before_data_is_opened() -> None:
    with pytest.raises(InvalidValue, match="64-bit noise"):
        rehearsal().spend(Gaussian(counts()), people(0), budget(Fraction(1, 2**120)), Past(), silence())


@pytest.mark.parametrize("values", [np.zeros(3), np.zeros(2, dtype=np.int64), np.array(["a", "b", "c"])])
def test_a_statistic_that_breaks_its_word_fails_the_step(values: Integers) -> None:
    broken: Statistic[Integers] = Statistic(lambda data: values, (3,), Fraction(1), Fraction(1), ADD)

    with pytest.raises(MechanismFailed):
        rehearsal().spend(Gaussian(broken), people(0), budget(1), Past(), silence())


def test_the_record_holds_what_it_takes_to_recompute_the_cost() -> None:
    assert Gaussian(MARGINALS).facts(budget(1)) == {
        "statistic": "24 marginals of one cell each",
        "cells": 24,
        "l2_squared": "24",
        "variance": "240",
    }


def test_floating_values_are_the_statistic_plus_the_noise() -> None:
    mechanism = FloatGaussian(halves, (1,), 0.5, ADD)

    release = rehearsal().spend(mechanism, people(1, 2), budget(1), Past(), ScriptedNoise([0.25]))

    assert release.value.values.tolist() == [1.75]
    assert release.floating


def test_floating_noise_is_calibrated_by_the_same_formula() -> None:
    assert FloatGaussian(halves, (1,), 0.5, ADD).variance(budget(1)) == Fraction(10, 4)


@pytest.mark.parametrize("l2", [2**40, np.int64(2**40)])
def test_floating_noise_does_not_wrap_around_with_its_sensitivity(l2: int) -> None:
    """The square of a numpy integer would be 0, and so would the noise."""
    assert FloatGaussian(halves, (1,), l2, ADD).variance(budget(1)) == 10 * 2**80


def test_the_record_of_floating_noise_holds_the_sensitivity_exactly() -> None:
    assert FloatGaussian(halves, (1,), 0.5, ADD, "halves").facts(budget(1)) == {
        "statistic": "halves",
        "l2": "1/2",
        "variance": "5/2",
    }


def test_floating_noise_keeps_the_profile_of_real_numbers() -> None:
    assert FloatGaussian(halves, (1,), 0.5, ADD).promise(budget(1)).curve == line(0, Fraction(1, 20), Fraction(1, 20))


@pytest.mark.parametrize("values", [np.array([math.nan]), np.array([math.inf]), np.zeros(2), np.array(["a"])])
def test_a_real_statistic_that_breaks_its_word_fails_the_step(values: Floats) -> None:
    broken: FloatGaussian[Integers] = FloatGaussian(lambda data: values, (1,), 0.5, ADD)

    with pytest.raises(MechanismFailed):
        rehearsal().spend(broken, people(0), budget(1), Past(), silence())


@pytest.mark.parametrize("l2", [0.0, -1.0, math.nan, math.inf])
def test_a_real_statistic_needs_a_sensitivity(l2: float) -> None:
    with pytest.raises(InvalidValue, match="l2 is"):
        FloatGaussian(halves, (1,), l2, ADD)


def test_one_value_that_is_not_finite_is_refused() -> None:
    """Its noise would not hide it."""
    mechanism = FloatGaussian[Integers](lambda data: np.array([0.0, math.nan]), (2,), 1, ADD)

    with pytest.raises(MechanismFailed):
        rehearsal().spend(mechanism, people(0), budget(1), Past(), silence())
