"""The sampled Gaussian at its edges: tiny rates, little noise, high orders, and where one form gives way to another."""

import math
from collections.abc import Iterator
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest

from expost.accounting.subsampled import subsampled_gaussian


def log_moment(alpha: int, rate: float, noise: float, terms: int = 1000) -> mp.mpf:
    """ln A at an integer order: the sum, or so many terms of it, in high precision."""
    q, s = mp.mpf(rate), mp.mpf(noise)
    return mp.log1p(
        mp.fsum(
            mp.binomial(alpha, k) * (1 - q) ** (alpha - k) * q**k * mp.expm1(k * (k - 1) / (2 * s * s))
            for k in range(2, min(alpha, terms) + 1)
        )
    )


def by_quadrature(alpha: float, rate: float, noise: float) -> mp.mpf:
    """The value at a real order, by the trapezoid rule in high precision: its error is below e^{−6π²}."""
    a, q, s = mp.mpf(alpha), mp.mpf(rate), mp.mpf(noise)
    step, left = min(s / 4, s * s / 3), -13 * s
    total = mp.mpf(0)
    for place in range(int((max(a, 2) + 15 * s - left) / step)):
        x = left + place * step
        w = q * mp.expm1((2 * x - 1) / (2 * s * s))
        # Below, three terms of the series have more digits than the difference.
        series = a * (a - 1) / 2 * w**2 * (1 + (a - 2) / 3 * w * (1 + (a - 3) / 4 * w))
        total += mp.exp(-x * x / (2 * s * s)) * (series if abs(a * w) < 1e-10 else (1 + w) ** a - 1 - a * w)
    return mp.log1p(total * step / (s * mp.sqrt(2 * mp.pi))) / (a - 1)


@pytest.mark.parametrize("rate", [1e-300, 1e-100, 1e-40, 1e-20, 1e-16, 1e-13, 1e-6, 0.1, 0.9])
@pytest.mark.parametrize("noise", [0.1, 0.15, 0.3, 1.0, 8.0])
def test_the_bound_never_falls_as_the_order_rises(rate: float, noise: float) -> None:
    """A Rényi divergence does not; integer orders are summed and the others integrated, so each checks the other."""
    orders = [1.1, 1.5, 1.9, 2, 2.5, 3, 3.3, 4, 10, 10.9, 11, 32, 32.5, 33]

    bounds = [subsampled_gaussian(alpha, rate, noise) for alpha in orders]

    assert all(low <= high for low, high in pairwise(bounds))


def draws(alpha: int) -> Iterator[tuple[float, float]]:
    """Rates from next to nothing to next to all, and all amounts of noise."""
    generator = np.random.default_rng(7)
    for _ in range(40):
        depth, noise = 140 * float(generator.random()) ** 3, 10 ** float(generator.uniform(-1.5, 2))
        yield 10**-depth, noise
        yield 1 - 10 ** (-depth / 10), noise
        yield 0.999, 100 * noise
        # Where growth and rate cancel, so that the logarithm is small and its terms are not.
        yield 10**-depth, math.sqrt(alpha / (2 * depth * math.log(10) + 1))


@pytest.mark.parametrize("alpha", [2, 3, 5, 20])
def test_integer_orders_are_the_exact_sum_from_above(alpha: int) -> None:
    with mp.workdps(50):
        for rate, noise in draws(alpha):
            exact = log_moment(alpha, rate, noise) / (alpha - 1)

            assert exact <= subsampled_gaussian(alpha, rate, noise) <= exact * (1 + 1e-10)


@pytest.mark.parametrize(("alpha", "rate", "noise"), [(100_000, 1e-8, 1e3), (50_001, 1e-9, 1e3), (9_973, 1e-6, 200.0)])
def test_a_high_order_has_room_for_the_rounding_of_its_binomial_coefficients(
    alpha: int, rate: float, noise: float
) -> None:
    """Their logarithms are differences of numbers as large as ln α!, while the value is tiny; its terms fall fast."""
    with mp.workdps(50):
        for tenth in range(10):
            exact = log_moment(alpha, rate * (1 + tenth / 10), noise, terms=12) / (alpha - 1)

            value = subsampled_gaussian(alpha, rate * (1 + tenth / 10), noise)

            assert exact <= value <= exact * (1 + 1e-6)


REAL_ORDERS = [
    (1.1, 1e-70, 0.12),
    (1.5, 1e-20, 0.15),
    (2.5, 1e-20, 0.2),
    (10.9, 1e-16, 0.3),
    (2.5, 4e-15, 0.2236),
    (1.5, 0.3, 0.2),
    (2.5, 1e-3, 0.3),
    (1 + 1e-6, 0.3, 1.0),
    (1 + 1e-6, 1e-3, 0.5),
    (1.9, 0.2, 1.0),
    (2.1, 0.2, 2.0),
    (3.3, 0.01, 0.7),
    (63.5, 1e-18, 1.0),
    (63.5, 0.002, 4.0),
    (200.5, 1e-3, 4.0),
    (1.5, 1e-140, 1.0),
    (3.5, 1e-150, 2.0),
]


@pytest.mark.parametrize(("alpha", "rate", "noise"), REAL_ORDERS)
def test_real_orders_have_the_allowance_for_quadrature_and_little_more(alpha: float, rate: float, noise: float) -> None:
    """The allowance is 1e−12 of A−1, of which ln A keeps a part that is known."""
    with mp.workdps(40):
        exact = by_quadrature(alpha, rate, noise)
        log = exact * (mp.mpf(alpha) - 1)
        kept = -mp.expm1(-log) / log

        value = subsampled_gaussian(alpha, rate, noise)

        assert exact * (1 + kept * mp.mpf(1e-12)) <= value <= exact * (1 + mp.mpf(1e-11))


@pytest.mark.parametrize(
    ("alpha", "rate", "noise"), [(600.5, 0.1, 0.1), (700.25, 0.3, 0.1), (1.95, 1e-300, 0.0063), (30_000.75, 1e-3, 1.0)]
)
def test_beyond_the_quadrature_the_chord_between_integers_is_billed(alpha: float, rate: float, noise: float) -> None:
    """ln A is convex in the order, so it is an upper bound; without sampling the value would be larger."""
    floor = math.floor(alpha)
    below, above = (subsampled_gaussian(k, rate, noise) * (k - 1) if k > 1 else 0.0 for k in (floor, floor + 1))
    chord = below + (alpha - floor) * (above - below)

    value = subsampled_gaussian(alpha, rate, noise)

    assert value == pytest.approx(chord / (alpha - 1), rel=1e-12)
    assert value < alpha / (2 * noise * noise) * (1 - 1e-6)


@pytest.mark.parametrize("noise", [1e-200, 1e-90, 1e-20, 1e-9])
@pytest.mark.parametrize("alpha", [2.5, 3])
def test_next_to_no_noise_costs_what_it_would_without_sampling(alpha: float, noise: float) -> None:
    """Nor is there a point for every step of that length."""
    cap = alpha / 2 / noise / noise

    assert subsampled_gaussian(alpha, 0.1, noise) == pytest.approx(cap, rel=1e-12)


@pytest.mark.parametrize("alpha", [2.5, 3])
def test_noise_beyond_measure_costs_next_to_nothing(alpha: float) -> None:
    assert subsampled_gaussian(alpha, 0.1, 1e200) == math.ulp(0.0)
    assert 0 < subsampled_gaussian(alpha, 0.1, 1e99) < 1e-190


@pytest.mark.parametrize("alpha", [1.5, 2, 63.5, 64])
def test_a_rate_next_to_one_costs_what_it_would_without_sampling(alpha: float) -> None:
    assert subsampled_gaussian(alpha, math.nextafter(1, 0), 1.0) == pytest.approx(alpha / 2, rel=1e-12)
