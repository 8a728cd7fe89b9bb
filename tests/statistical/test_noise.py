"""Draws against their laws: chi-square tests that pass the right scale and reject one that is 5 % wrong.

Each test rejects a correct sampler with probability 1e-6. Seeds are fixed, except where the operating system's
entropy or OpenDP is drawn from: there the rate is that of every run.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from expost.noise import Noise, SeededNoise, SystemNoise
from expost.sampling import reference
from expost.sampling.bounds import exp_bounds
from tests.statistical.laws import (
    FALSE_ALARM,
    WRONG,
    Integers,
    counts_between,
    fits,
    gaussian_below,
    gaussian_edges,
    laplace_below,
    laplace_edges,
    plausible,
)

pytestmark = pytest.mark.statistical


@cache
def gaussian_draws(std: float) -> Integers:
    return SeededNoise(11).discrete_gaussian(Fraction(std) ** 2, 10**6)


@cache
def laplace_draws(scale: float) -> Integers:
    return SeededNoise(12).discrete_laplace(Fraction(scale), 10**6)


@cache
def reference_gaussian_draws() -> Integers:
    noise = SeededNoise(13)
    return np.array([reference.discrete_gaussian(noise, Fraction(25, 4)) for _ in range(100_000)])


@cache
def reference_laplace_draws() -> Integers:
    noise = SeededNoise(14)
    return np.array([reference.discrete_laplace(noise, Fraction(5, 2)) for _ in range(100_000)])


@cache
def opendp_draws(std: float) -> Integers:
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    return np.array(dp.m.make_gaussian(*space, scale=std)([0] * 100_000))


STDS = [0.5, 2.0, 10.0, 70.0, 1000.0, 1e5, 1e7]
SCALES = [0.5, 2.5, 200.0, 1000.0, 1e6]


@pytest.mark.parametrize("std", STDS)
def test_gaussian_draws_follow_their_law(std: float) -> None:
    """False-alarm rate 1e-6 a scale, a million draws, seed 11."""
    assert fits(gaussian_draws(std), partial(gaussian_below, std), gaussian_edges(std))


@pytest.mark.parametrize("std", STDS)
@pytest.mark.parametrize("error", [WRONG, 1 / WRONG])
def test_gaussian_draws_of_a_scale_5_percent_off_are_rejected(std: float, error: float) -> None:
    """The twin: the same draws against a law whose scale is 5 % wrong."""
    assert not fits(gaussian_draws(std), partial(gaussian_below, error * std), gaussian_edges(std))


@pytest.mark.parametrize("scale", SCALES)
def test_laplace_draws_follow_their_law(scale: float) -> None:
    """False-alarm rate 1e-6 a scale, a million draws, seed 12."""
    assert fits(laplace_draws(scale), partial(laplace_below, scale), laplace_edges(scale))


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("error", [WRONG, 1 / WRONG])
def test_laplace_draws_of_a_scale_5_percent_off_are_rejected(scale: float, error: float) -> None:
    """The twin: the same draws against a law whose scale is 5 % wrong."""
    assert not fits(laplace_draws(scale), partial(laplace_below, error * scale), laplace_edges(scale))


def test_reference_gaussian_draws_follow_their_law() -> None:
    """False-alarm rate 1e-6, 100000 draws, seed 13."""
    assert fits(reference_gaussian_draws(), partial(gaussian_below, 2.5), gaussian_edges(2.5))


def test_reference_gaussian_draws_of_a_scale_5_percent_off_are_rejected() -> None:
    """The twin: the same draws against a law whose scale is 5 % wrong."""
    assert not fits(reference_gaussian_draws(), partial(gaussian_below, 2.5 * WRONG), gaussian_edges(2.5))


def test_reference_laplace_draws_follow_their_law() -> None:
    """False-alarm rate 1e-6, 100000 draws, seed 14; the scale is not an integer."""
    assert fits(reference_laplace_draws(), partial(laplace_below, 2.5), laplace_edges(2.5))


def test_reference_laplace_draws_of_a_scale_5_percent_off_are_rejected() -> None:
    """The twin: the same draws against a law whose scale is 5 % wrong."""
    assert not fits(reference_laplace_draws(), partial(laplace_below, 2.5 * WRONG), laplace_edges(2.5))


@pytest.mark.parametrize("std", [2.0, 1000.0, 1e5])
def test_system_draws_follow_their_law(std: float) -> None:
    """False-alarm rate 1e-6 a scale at every run: a million draws of the operating system's entropy."""
    values = SystemNoise().discrete_gaussian(Fraction(std) ** 2, 10**6)

    assert fits(values, partial(gaussian_below, std), gaussian_edges(std))


def agree(left: Integers, right: Integers, edges: Integers) -> bool:
    """Whether a two-sample chi-square test at the false-alarm rate accepts that both follow one law."""
    a, b = counts_between(left, edges), counts_between(right, edges)
    return float(((a - b) ** 2 / (a + b)).sum()) < stats.chi2.isf(FALSE_ALARM, edges.size)


@pytest.mark.parametrize("std", [2.0, 1000.0])
def test_our_draws_agree_with_opendp(std: float) -> None:
    """False-alarm rate 1e-6 a scale at every run: 100000 draws each, ours from the fast path."""
    assert agree(gaussian_draws(std)[:100_000], opendp_draws(std), gaussian_edges(std))


@pytest.mark.parametrize("std", [2.0, 1000.0])
def test_draws_of_a_scale_5_percent_off_do_not_agree_with_opendp(std: float) -> None:
    """The twin: our draws with a scale that is 5 % wrong."""
    assert not agree(gaussian_draws(WRONG * std)[:100_000], opendp_draws(std), gaussian_edges(std))


def hits(noise: Noise, bounds: Callable[[int], tuple[int, int]]) -> int:
    return sum(noise.bernoulli_real(bounds) for _ in range(100_000))


@pytest.mark.parametrize("exponent", [Fraction(2, 5), Fraction(5, 3)])
def test_a_coin_of_a_real_number_has_its_probability(exponent: Fraction) -> None:
    """False-alarm rate 1e-6 a case, 100000 draws, seed 15; a probability 5 % off is rejected."""
    count = hits(SeededNoise(15), partial(exp_bounds, exponent))

    assert plausible(count, 100_000, math.exp(-exponent))
    assert not plausible(count, 100_000, math.exp(-exponent) * WRONG)


@pytest.mark.parametrize("probability", [Fraction(1, 3), Fraction(999, 1000), Fraction(1, 50)])
def test_coins_have_their_probability(probability: Fraction) -> None:
    """False-alarm rate 1e-6 a case, a million draws, seed 16; a probability 5 % lower is rejected."""
    count = int(SeededNoise(16).coins(probability, 10**6).sum())

    assert plausible(count, 10**6, float(probability))
    assert not plausible(count, 10**6, float(probability) / WRONG)


@pytest.mark.parametrize(
    ("draw", "law"),
    [
        (lambda noise, shape: noise.gaussian(3.0, shape), stats.norm(scale=3).cdf),
        (lambda noise, shape: noise.laplace(3.0, shape), stats.laplace(scale=3).cdf),
        (lambda noise, shape: 3 * noise.uniform(shape), stats.uniform(scale=3).cdf),
    ],
)
def test_floating_draws_follow_their_law(
    draw: Callable[[Noise, int], NDArray[np.float64]], law: Callable[[float], float]
) -> None:
    """False-alarm rate 1e-6 a law, 400000 draws, seed 18; a scale 5 % off is rejected."""
    values = draw(SeededNoise(18), 400_000)

    assert stats.kstest(values, law).pvalue > FALSE_ALARM
    assert stats.kstest(values * WRONG, law).pvalue < FALSE_ALARM
