"""Sampled sums with integer noise.

Let records join by independent coins of chance q, contribute integer vectors of norm at most L, and let the sum have
noise N_Z(0, σ²) per entry with σ² ≥ z²L² + 3. Then adding or removing a record has, at every order and in both
directions, the Rényi divergence of the Poisson-subsampled Gaussian of noise multiplier z at most, up to
(2α−1)/(α−1)·dτ for d entries, τ < 8e−26. Checked here by exact sums in one dimension.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import mpmath as mp
import numpy as np
import pytest

from expost.accounting.descent import Descent
from expost.accounting.gaussian import SMOOTHING_VARIANCE
from expost.noise import Floats, SeededNoise
from expost.training.head.arrays import TALLEST, InNumpy
from expost.training.head.gradient import ERROR_GRID, FEATURE_GRID, IntegerSums
from tests.unit.training.sums import summed

DIGITS = 40
CASES = [
    (alpha, rate, z, reach)
    for alpha, rate in ((1.1, 0.1), (2.0, 0.1), (5.0, 0.5), (9.6, 0.1), (32.0, 0.01))
    for z, reach in ((0.5, 3), (1.0, 1), (1.0, 40), (4.0, 7))
]
LONG = [(alpha, rate, z, 40) for alpha, rate, z, reach in CASES if (z, reach) == (1.0, 40)]
"""Where the 3 is small against the noise, so that a twentieth less of it shows."""

Law = dict[int, mp.mpf]


def noise_law(variance: Fraction, centre: float) -> Law:
    """The discrete Gaussian, far beyond the centre of the moment that is summed."""
    spread = mp.mpf(variance.numerator) / variance.denominator
    far = int(centre + 14 * math.sqrt(variance))
    weights = {k: mp.exp(-(mp.mpf(k) ** 2) / (2 * spread)) for k in range(-far, far + 1)}
    total = mp.fsum(weights.values())
    return {k: weight / total for k, weight in weights.items()}


def sampled(contributions: Sequence[int], rate: float, noise: Law) -> Law:
    """The law of the noisy sum over those who join."""
    q, law = mp.mpf(rate), dict[int, mp.mpf]()
    for coins in product((0, 1), repeat=len(contributions)):
        chance = q ** sum(coins) * (1 - q) ** (len(coins) - sum(coins))
        centre = sum(value for value, coin in zip(contributions, coins, strict=True) if coin)
        for k, mass in noise.items():
            law[k + centre] = law.get(k + centre, mp.mpf(0)) + chance * mass
    return law


def divergence(left: Law, right: Law, alpha: float) -> float:
    """The order-α Rényi divergence, summed where both laws are kept."""
    a = mp.mpf(alpha)
    moment = mp.fsum(mass**a * right[k] ** (1 - a) for k, mass in left.items() if k in right)
    return float(mp.log(moment) / (a - 1))


def worst(others: Sequence[int], reach: int, rate: float, variance: Fraction, alpha: float) -> float:
    """The larger divergence between the sums with and without a record of full length."""
    with mp.workdps(DIGITS):
        noise = noise_law(variance, alpha * reach)
        without, with_it = sampled(others, rate, noise), sampled([*others, reach], rate, noise)
        return max(divergence(without, with_it, alpha), divergence(with_it, without, alpha))


def smoothed(z: float, reach: int) -> Fraction:
    """The variance of the theorem."""
    return (Fraction(z) * reach) ** 2 + SMOOTHING_VARIANCE


def promised(alpha: float, rate: float, z: float) -> float:
    """What a step is billed."""
    return Descent(Fraction(rate), Fraction(z)).step.at(alpha)


@pytest.mark.parametrize(("alpha", "rate", "z", "reach"), CASES)
def test_one_record_alone_stays_within_the_bill(alpha: float, rate: float, z: float, reach: int) -> None:
    found = worst([], reach, rate, smoothed(z, reach), alpha)

    assert 0 < found <= promised(alpha, rate, z)


@pytest.mark.parametrize("others", [(3,), (-3, 1), (2, 3, -1)])
@pytest.mark.parametrize(("alpha", "rate"), [(1.1, 0.3), (2.0, 0.5), (9.6, 0.1)])
def test_other_records_that_join_by_coins_change_nothing(others: tuple[int, ...], alpha: float, rate: float) -> None:
    assert worst(others, 3, rate, smoothed(1.0, 3), alpha) <= promised(alpha, rate, 1.0)


@pytest.mark.parametrize(("alpha", "rate", "z", "reach"), LONG)
def test_a_twentieth_less_noise_exceeds_the_bill(alpha: float, rate: float, z: float, reach: int) -> None:
    """The negative twin."""
    short = smoothed(z, reach) * Fraction(19, 20) ** 2

    assert worst([], reach, rate, short, alpha) > promised(alpha, rate, z) * 1.03


def test_a_contribution_beyond_the_reach_exceeds_the_bill() -> None:
    """The negative twin of clipping."""
    assert worst([], 42, 0.1, smoothed(1.0, 40), 2.0) > promised(2.0, 0.1, 1.0) * 1.03


@pytest.mark.parametrize(("multiplier", "variance"), [((1, 1), 1), ((3, 2), 3), ((7, 3), 6)])
def test_the_noise_has_the_variance_of_the_theorem(multiplier: tuple[int, int], variance: int) -> None:
    """⌈(multiplier·reach)²⌉ + 3: the same draws as from that law, and not those of the law without the 3."""
    noise = IntegerSums().noise(Fraction(*multiplier) / IntegerSums.reach, (40, 5), SeededNoise(3))

    assert np.array_equal(noise, SeededNoise(3).discrete_gaussian(Fraction(variance + 3), (40, 5)))
    assert not np.array_equal(noise, SeededNoise(3).discrete_gaussian(Fraction(variance), (40, 5)))


def batch(records: int, width: int, classes: int) -> tuple[Floats, Floats, Floats]:
    """Features of norm 1 in their prepared form, errors, and shares that make full use of the reach."""
    rows = SeededNoise(5).gaussian(1.0, (records, width))
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    errors = SeededNoise(6).gaussian(1.0, (records, classes))
    return IntegerSums().prepare(rows, norms, InNumpy()), errors, 1 / np.linalg.norm(errors, axis=1, keepdims=True)


def test_sums_in_double_precision_are_the_sums_of_integers() -> None:
    prepared, errors, shares = batch(3000, 7, 4)
    rows = [slice(place, place + 1) for place in range(len(prepared))]
    single = [summed(IntegerSums(), prepared[row], errors[row], shares[row]) for row in rows]
    by_hand = [sum(int(each[i, j]) for each in single) for i in range(4) for j in range(7)]

    together = summed(IntegerSums(), prepared, errors, shares)

    assert [int(entry) for entry in together.ravel()] == by_hand
    assert all(float(entry).is_integer() for each in single for entry in each.ravel())


def test_one_record_more_moves_the_sum_by_its_own_product_wherever_it_stands() -> None:
    """Other records then stand in other places of a strip, or in another strip; in integers, without tolerance."""
    prepared, errors, shares = batch(3 * TALLEST + 1, 7, 4)
    everybody = np.arange(len(prepared))
    assert InNumpy().whole(7) == np.float32

    for place in (0, 1, TALLEST - 1, TALLEST, 2 * TALLEST + 5, 3 * TALLEST):
        others = everybody != place
        alone = summed(IntegerSums(), prepared[~others], errors[~others], shares[~others])
        without = summed(IntegerSums(), prepared[others], errors[others], shares[others])

        moved = summed(IntegerSums(), prepared, errors, shares) - without

        assert np.array_equal(moved, alone)
        assert sum(int(entry) ** 2 for entry in moved.ravel()) <= IntegerSums.reach**2


def test_sums_in_single_precision_would_not_be() -> None:
    """The negative twin: single precision holds integers up to 2**24, about one record's reach."""
    prepared, errors, shares = batch(3000, 7, 4)
    together = summed(IntegerSums(), prepared, errors, shares)
    grid = np.stack(
        [summed(IntegerSums(), np.eye(7)[:1], e[None], s[None])[:, 0] for e, s in zip(errors, shares, strict=True)]
    )

    rough = grid.astype(np.float32).T @ prepared.astype(np.float32)

    assert not np.array_equal(rough.astype(np.float64), together)
    assert np.array_equal(grid.T @ prepared, together)


def test_a_record_of_full_length_comes_close_to_the_reach() -> None:
    """Rounding to the grid gives away less than a hundredth."""
    prepared, errors, shares = batch(300, 7, 4)

    lengths = [
        np.linalg.norm(summed(IntegerSums(), prepared[row : row + 1], errors[row : row + 1], shares[row : row + 1]))
        for row in range(300)
    ]

    assert IntegerSums.reach == FEATURE_GRID * ERROR_GRID
    assert 0.99 * IntegerSums.reach < min(lengths) <= max(lengths) <= IntegerSums.reach
