"""The Poisson-subsampled Gaussian (Mironov, Talwar, Zhang 2019).

At rate q and noise multiplier σ one step has order-α divergence ln(A)/(α−1) with
A = E[((1−q) + q e^{(2x−1)/(2σ²)})^α], x ~ N(0, σ²), under add/remove neighbours; it dominates the other direction.
"""

import logging
import math
from collections.abc import Callable, Iterator

import mpmath as mp
import pytest
from dp_accounting.rdp.rdp_privacy_accountant import _compute_rdp_poisson_subsampled_gaussian

from expost.accounting.subsampled import subsampled_gaussian
from expost.errors import InvalidValue
from tests.theorems.published import PUBLISHED

RATES = (1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9)
NOISES = (0.5, 0.8, 1.1, 2.0, 4.0, 10.0)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """dp-accounting logs every order it gives up on."""
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


def google(alpha: float, rate: float, noise: float) -> float:
    return float(_compute_rdp_poisson_subsampled_gaussian(rate, noise, [alpha])[0])


def oracle(alpha: float, rate: float, noise: float) -> float:
    """Quadrature of A−1 in high precision; E[w] = 0 is subtracted inside, so tiny values keep their digits."""
    with mp.workdps(25):
        a, q, s = mp.mpf(alpha), mp.mpf(rate), mp.mpf(noise)

        def integrand(x: mp.mpf) -> mp.mpf:
            w = q * mp.expm1((2 * x - 1) / (2 * s * s))
            return mp.npdf(x, 0, s) * ((1 + w) ** a - 1 - a * w)

        high = max(a, 2) + 12 * s
        panels = mp.linspace(-12 * s, high, 8 + int((high + 12 * s) / (2 * s)))
        return float(mp.log1p(mp.quad(integrand, panels, maxdegree=4)) / (a - 1))


@pytest.mark.parametrize(("rate", "noise", "alpha", "value"), PUBLISHED)
def test_known_values(rate: float, noise: float, alpha: float, value: float) -> None:
    assert subsampled_gaussian(alpha, rate, noise) == pytest.approx(value, rel=1e-11)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("noise", NOISES)
def test_integer_orders_agree_with_dp_accounting(rate: float, noise: float) -> None:
    """To 1e−9, plus the 1e−13 that is lost there in ln A when A is close to 1."""
    for alpha in (2, 3, 5, 8, 16, 32, 64, 256):
        ours, theirs = subsampled_gaussian(alpha, rate, noise), google(alpha, rate, noise)
        assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-13 / (alpha - 1))


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("noise", NOISES)
def test_real_orders_never_exceed_dp_accounting(rate: float, noise: float) -> None:
    """dp-accounting adds the alternating series without its signs: an upper bound, sometimes infinite."""
    for alpha in (1.01, 1.5, 2.5, 3.3, 7.9, 10.9, 20.5, 63.5):
        ours, theirs = subsampled_gaussian(alpha, rate, noise), google(alpha, rate, noise)
        assert ours <= theirs * (1 + 1e-9) + 1e-13 / (alpha - 1)
        if alpha > 20 and math.isfinite(theirs):
            assert ours == pytest.approx(theirs, rel=1e-8, abs=1e-13)


REAL_CASES = [
    (1.01, 0.01, 1.0),
    (1.1, 1e-4, 10.0),
    (1.5, 0.9, 0.5),
    (1.5, 0.5, 2.0),
    (2.5, 0.5, 10.0),
    (2.5, 0.3, 0.5),
    (3.3, 0.1, 0.7),
    (7.9, 1e-3, 0.5),
    (10.9, 0.5, 4.0),
    (20.5, 1e-4, 1.0),
    (63.5, 0.01, 2.0),
    (63.5, 0.9, 10.0),
]


@pytest.mark.parametrize(("alpha", "rate", "noise"), REAL_CASES)
def test_real_orders_match_high_precision_quadrature_from_above(alpha: float, rate: float, noise: float) -> None:
    exact = oracle(alpha, rate, noise)

    value = subsampled_gaussian(alpha, rate, noise)

    assert exact * (1 - 1e-14) <= value <= exact * (1 + 1e-11)


def test_the_curve_rises_smoothly_through_integers() -> None:
    for alpha in (2, 5, 30):
        below, at, above = (subsampled_gaussian(alpha + step, 0.05, 1.3) for step in (-1e-6, 0.0, 1e-6))
        assert below < at < above
        assert above - at == pytest.approx(at - below, rel=1e-3)


@pytest.mark.parametrize(("alpha", "rate", "noise"), [(32, 0.01, 1.1), (8, 0.5, 1.0)])
def test_the_small_rate_rule_of_thumb_is_not_a_bound(alpha: float, rate: float, noise: float) -> None:
    """αq²/σ² only holds for small orders; beyond, the curve jumps."""
    rule_of_thumb = alpha * rate**2 / noise**2

    assert oracle(alpha, rate, noise) > 1.05 * rule_of_thumb
    assert subsampled_gaussian(alpha, rate, noise) >= oracle(alpha, rate, noise) * (1 - 1e-14)


def test_the_other_direction_is_dominated() -> None:
    alpha, q, s = 3.3, 0.3, 1.0

    def integrand(x: mp.mpf) -> mp.mpf:
        mixed = (1 - q) * mp.npdf(x, 0, s) + q * mp.npdf(x, 1, s)
        return mp.npdf(x, 0, s) ** alpha * mixed ** (1 - alpha)

    reverse = float(mp.log(mp.quad(integrand, mp.linspace(-12, 12, 13))) / (alpha - 1))

    assert reverse < subsampled_gaussian(alpha, q, s)


def test_the_edges() -> None:
    assert subsampled_gaussian(3, 0, 0) == 0
    assert subsampled_gaussian(3, 0.1, 0) == math.inf
    assert subsampled_gaussian(3, 1, 2) == 3 / 8
    assert subsampled_gaussian(2.5, 0.1, 0.001) <= 2.5 / (2 * 0.001**2)
    assert subsampled_gaussian(1e9, 0.1, 2) == 1e9 / 8
    assert 0 < subsampled_gaussian(1000.5, 1e-300, 1) < 1e-300


@pytest.mark.parametrize(
    "refused",
    [
        lambda: subsampled_gaussian(1, 0.1, 1),
        lambda: subsampled_gaussian(math.inf, 0.1, 1),
        lambda: subsampled_gaussian(2, -0.1, 1),
        lambda: subsampled_gaussian(2, 1.1, 1),
        lambda: subsampled_gaussian(2, math.nan, 1),
        lambda: subsampled_gaussian(2, 0.1, -1),
        lambda: subsampled_gaussian(2, 0.1, math.nan),
    ],
)
def test_what_is_not_a_bound_is_refused(refused: Callable[[], object]) -> None:
    with pytest.raises(InvalidValue):
        refused()
