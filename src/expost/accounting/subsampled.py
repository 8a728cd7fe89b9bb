"""The Rényi curve of the Poisson-subsampled Gaussian, the step of DP-SGD."""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from expost.accounting.convert import raised
from expost.errors import InvalidValue
from expost.numerics import Real, non_negative, order, up

MOST_TERMS = 100_000
"""Beyond this many terms the sum or the quadrature gives way to a simpler upper bound."""

LEAST_NOISE, MOST_NOISE = 1e-100, 1e100
"""Outside this range squares leave the floats, and the value without sampling is returned."""

QUADRATURE_SLACK = 1e-12
"""Relative error allowed to the trapezoid rule; it converges geometrically and measures below 1e−13."""

Floats = NDArray[np.float64]


def subsampled_gaussian(alpha: Real, rate: float, noise_multiplier: Real) -> float:
    """ln(A)/(α−1), A = E[((1−q) + q e^{(2x−1)/(2σ²)})^α] for x ~ N(0, σ²): one step, add/remove neighbours.

    Needs genuine Poisson sampling at rate q, contributions of norm at most 1 and noise on the sum. This
    direction dominates the other (Mironov, Talwar, Zhang 2019).

    | rate q | noise multiplier σ | value |
    |---|---|---|
    | 0 | any | 0 |
    | above 0 | 0 | inf |
    | 1 | above 0 | α/(2σ²) |

    Implements: Poisson-subsampled Gaussian.
    """
    level, sigma = order(alpha), non_negative(noise_multiplier, "noise_multiplier")
    if not 0 <= rate <= 1:
        raise InvalidValue(f"rate is {rate}; a sampling rate must lie between 0 and 1.")
    if rate == 0:
        return 0.0
    if sigma == 0:
        return math.inf
    # Sampling never adds divergence, so the value of the whole data set caps every other.
    cap = up(level / (2 * sigma * sigma))
    if rate == 1 or level > MOST_TERMS or not LEAST_NOISE < sigma < MOST_NOISE:
        return cap
    value = raised(_log_moment(float(level), float(rate), float(sigma)) / float(level - 1))
    # The true value is positive even where the floats end.
    return min(cap, max(value, math.ulp(0.0)))


def _log_moment(alpha: float, q: float, sigma: float) -> float:
    """The logarithm of A, from A−1 as a sum of positive terms: no digits are lost when A is close to 1."""
    if alpha == 1:
        return 0.0
    if alpha.is_integer():
        return float(np.logaddexp(0.0, _log_excess_by_sum(alpha, q, sigma)))
    step = min(sigma / 4, sigma * sigma / 2)
    left, right = -12 * sigma, max(alpha, 2.0) + 14 * sigma
    if (right - left) / step <= MOST_TERMS:
        points = np.arange(left, right, step)
        return float(np.logaddexp(0.0, _log_excess_by_quadrature(alpha, q, sigma, points)))
    # ln A is convex in α, so the chord between integers lies above it.
    floor = math.floor(alpha)
    part = alpha - floor
    return (1 - part) * _log_moment(float(floor), q, sigma) + part * _log_moment(float(floor + 1), q, sigma)


def _log_excess_by_sum(alpha: float, q: float, sigma: float) -> float:
    """The logarithm of A−1 = Σ_{k≥2} C(α,k)(1−q)^{α−k}q^k (e^{(k²−k)/(2σ²)} − 1), for integer α."""
    k = np.arange(2.0, alpha + 1)
    growth = (k * k - k) / (2 * sigma * sigma)
    log_choose = gammaln(alpha + 1) - gammaln(k + 1) - gammaln(alpha - k + 1)
    log_growth = growth + np.log(-np.expm1(-growth))
    terms = log_choose + (alpha - k) * math.log1p(-q) + k * math.log(q) + log_growth
    size = float(gammaln(alpha + 1)) + float(growth[-1]) - alpha * (math.log(q) + math.log1p(-q))
    return raised(float(logsumexp(terms)), size)


def _log_excess_by_quadrature(alpha: float, q: float, sigma: float, points: Floats) -> float:
    """The logarithm of A−1 = E[(1+w)^α − 1 − αw], w = q(e^{(2x−1)/(2σ²)}−1), by the trapezoid rule.

    E[w] = 0, and no value of the integrand is negative.
    The integrand is analytic in |Im x| < πσ², so a step of min(σ/4, σ²/2) leaves an error below e^{−4π²}.
    """
    logs = _log_second_order(alpha, q, (2 * points - 1) / (2 * sigma * sigma)) - points**2 / (2 * sigma * sigma)
    step = float(points[1] - points[0])
    total = float(logsumexp(logs)) + math.log(step / (sigma * math.sqrt(2 * math.pi)))
    return raised(total, float(np.max(np.abs(logs[np.isfinite(logs)])))) + QUADRATURE_SLACK


def _log_second_order(alpha: float, q: float, exponent: Floats) -> Floats:
    """The logarithm of (1+w)^α − 1 − αw for w = q(e^exponent − 1), without cancellation or overflow.

    Small αw: the binomial series from its quadratic term. Otherwise, with ℓ = ln(1+w) and a = α−1, either as
    it stands or as e^{αℓ}(1 − αe^{−aℓ} + ae^{−αℓ}), which keeps its digits for α near 1 and never overflows.
    """
    gap = alpha - 1
    below, joined = exponent < 30, math.log(q) + exponent
    # At a rate far below e^−30 w is still small above that exponent, so it must not be cut there.
    w = np.where(below, q * np.expm1(np.minimum(exponent, 30.0)), np.exp(np.minimum(joined, 50.0)) - q)
    ell = np.where(below, np.log1p(w), np.logaddexp(math.log1p(-q), joined))
    small = alpha * np.abs(w) < 0.1
    plain = (alpha >= 2) & (alpha * ell < 50) & ~small
    near = np.where(small, w, 0.0)
    term, series = np.ones_like(near), np.ones_like(near)
    for k in range(3, 16):
        term = term * near * ((alpha - k + 1) / k)
        series += term
    direct = np.expm1(np.where(plain, alpha * ell, 0.0)) - alpha * np.where(plain, w, 0.0)
    rest = np.where(small | plain, 0.0, ell)
    bracket = -np.expm1(math.log1p(gap) - gap * rest) + gap * np.exp(-alpha * rest)
    value = np.where(small, series, np.where(plain, direct, bracket))
    # At w = 0 the value is 0 and its logarithm −inf: that point adds nothing.
    with np.errstate(divide="ignore"):
        quadratic = math.log(alpha * gap / 2) + 2 * np.log(np.abs(near))
        return np.log(np.maximum(value, 0.0)) + np.where(small, quadratic, np.where(plain, 0.0, alpha * ell))
