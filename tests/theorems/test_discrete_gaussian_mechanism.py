"""Theorem (Canonne, Kamath and Steinke 2020). For integer statistics, discrete Gaussian noise of variance parameter σ²
has Rényi divergences of at most α·Δ²/(2σ²), the same as continuous noise. Its mean must be an integer.
"""

from fractions import Fraction

import mpmath
import pytest

from expost import Budget, Gaussian, Neighbours
from expost.statistic import Statistic

REACH = 60


def law(variance: float, centre: float) -> list[mpmath.mpf]:
    weights = [mpmath.exp(-((k - centre) ** 2) / (2 * mpmath.mpf(variance))) for k in range(-REACH, REACH + 1)]
    return [weight / mpmath.fsum(weights) for weight in weights]


def divergence(alpha: float, p: list[mpmath.mpf], q: list[mpmath.mpf]) -> mpmath.mpf:
    return mpmath.log(mpmath.fsum(a**alpha * b ** (1 - alpha) for a, b in zip(p, q, strict=True))) / (alpha - 1)


@pytest.mark.parametrize("variance", [0.05, 0.5, 4.0])
@pytest.mark.parametrize("shift", [1, 2])
@pytest.mark.parametrize("alpha", [1.5, 2.0, 8.0])
def test_the_divergence_is_at_most_that_of_continuous_noise(variance: float, shift: int, alpha: float) -> None:
    assert divergence(alpha, law(variance, shift), law(variance, 0)) <= alpha * shift**2 / (2 * variance) * (1 + 1e-12)


def test_noise_centred_off_the_integers_breaks_the_bound() -> None:
    spread = divergence(2.0, law(0.05, 0.5), law(0.05, 0.0))

    assert float(spread) == pytest.approx(8.6139, abs=1e-4)
    assert spread > 2 * 0.5**2 / (2 * 0.05)


def test_the_promise_is_met_by_the_noise_it_calls_for() -> None:
    """From budget to variance and back without rounding: n_q = 24 marginals at α = 20."""
    statistic: Statistic[object] = Statistic(
        lambda data: pytest.fail("no data here"), (24,), Fraction(24), Fraction(24), Neighbours.ADD_REMOVE
    )
    levels = [Fraction(1, 100), Fraction(9, 100), Fraction(9, 10)]

    variances = [Gaussian(statistic).variance(Budget(level, Fraction(20))) for level in levels]

    assert variances == [24000, Fraction(8000, 3), Fraction(800, 3)]
    assert sum(Fraction(20 * 24) / (2 * variance) for variance in variances) == 1


@pytest.mark.parametrize(("variance", "printed"), [(0.1, 0.0132967), (0.5, 0.4989791), (1.0, 0.9999998), (4.0, 4.0)])
def test_the_actual_variance_never_exceeds_the_parameter(variance: float, printed: float) -> None:
    actual = mpmath.fsum(k**2 * p for k, p in zip(range(-REACH, REACH + 1), law(variance, 0), strict=True))

    assert float(actual) == pytest.approx(printed, abs=1e-7)
    assert actual <= variance
