"""From Rényi curves to (ε, δ): offsets at one order, and what a choice among several orders costs.

Ex ante (the bound does not depend on the output) the best order may be picked freely. Ex post it may not: the
failure events of different orders can be disjoint, so their probabilities add. Then fix the order beforehand,
or pay the union or the mixture over orders.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from expost.errors import InvalidValue
from expost.numerics import Real, non_negative, order, positive, probability, up

ROUNDING = 2.0**-48
"""Relative slack for a few dozen float operations: well above their error, well below any printed digit."""

LARGEST_ORDER = 2.0**40  # where the offset of a pure claim has vanished for every digit that is shown
GOLDEN = (math.sqrt(5) - 1) / 2

Floats = NDArray[np.float64]
Function = Callable[[float], float]
Offset = Callable[[Real, float], float]


def raised(value: float, scale: float | None = None) -> float:
    """The bound moved up by ``ROUNDING`` times its size, or ``scale``: float error cannot lower it."""
    return value + ROUNDING * (abs(value) if scale is None else scale)


def lemma_7_offset(alpha: Real, delta: float) -> float:
    """ln(1/δ)/(α−1): what to add to an ex-post RDP ε for a probabilistic, hence also approximate, claim.

    Markov's inequality on exp((α−1)(L−ε)), whose mean is at most 1.

    Implements: Lemma 7 conversion.
    """
    return raised(-math.log(probability(delta, "delta")) / float(order(alpha) - 1))


def cks_offset(alpha: Real, delta: float) -> float:
    """ln(1/δ)/(α−1) + ln(1−1/α) − ln(α)/(α−1): what to add to an ex-post RDP ε for an approximate claim.

    With Z = L−ε, E[(1−e^{c−Z})⁺] ≤ max_z (1−e^{c−z})e^{−(α−1)z} · E[e^{(α−1)Z}] ≤ δ: the offset of Balle et
    al. 2020 and Canonne, Kamath, Steinke 2020 holds ex post, in the approximate notion. It may be negative.

    Implements: CKS conversion, ex post.
    """
    gap = float(order(alpha) - 1)
    log_delta = math.log(probability(delta, "delta"))
    shrink = math.log1p(1 / gap) if gap > 1 else math.log1p(gap) - math.log(gap)
    offset = (-log_delta - math.log1p(gap)) / gap - shrink
    return raised(offset, (math.log1p(gap) - log_delta) / gap + shrink)


def best_order(
    curve_at: Function, delta: float, orders: Sequence[float], offset: Offset = cks_offset
) -> tuple[float, float]:
    """(ε, α) with the smallest max(0, curve(α) + offset) over the given orders: EX ANTE ONLY.

    ``curve_at`` must not depend on any output; an infinite value makes no claim at that order. The offset says which
    notion ε is of.

    Uses: CKS conversion, ex post; Lemma 7 conversion.
    """
    if not orders:
        raise InvalidValue("no orders were given; give at least one order above 1.")
    sums = [(_claim(curve_at(alpha), "the curve") + offset(alpha, delta), alpha) for alpha in orders]
    least, alpha = min(sums)
    return max(0.0, raised(least)), alpha


def best_linear_order(xi: Real, rho: Real, delta: float) -> tuple[float, float]:
    """(ε, α) with the smallest max(0, ξ + ρα + offset) over all real α > 1: EX ANTE ONLY.

    The derivative vanishes where ρ(α−1)² = ln(1/δ) − ln α, whose left side rises and right side falls.

    Uses: CKS conversion, ex post.
    """
    slope, constant = up(non_negative(rho, "rho")), up(non_negative(xi, "xi"))
    log_inverse = -math.log(probability(delta, "delta"))
    low, high = 0.0, min(math.exp(min(log_inverse, 700)), math.sqrt(log_inverse / slope) if slope else math.inf)
    while high - low > ROUNDING * high:
        middle = low + (high - low) / 2
        if slope * middle * middle + math.log1p(middle) < log_inverse:
            low = middle
        else:
            high = middle
    # Any order is valid, so the bisection error costs nothing but a second-order loss.
    alpha = max(1 + high, math.nextafter(1, 2))
    return max(0.0, raised(constant + slope * alpha + cks_offset(alpha, delta))), alpha


def best_linear_tail(xi: Real, rho: Real, delta: float) -> tuple[float, float]:
    """(ε, α) with the smallest ξ + ρα + ln(1/δ)/(α−1) over all real α > 1: EX ANTE ONLY.

    The least is at α = 1 + √(ln(1/δ)/ρ); where ρ is 0 it falls with α, and a large order is as good as the limit.

    Uses: Lemma 7 conversion.
    """
    slope, constant = up(non_negative(rho, "rho")), up(non_negative(xi, "xi"))
    log_inverse = -math.log(probability(delta, "delta"))
    alpha = 1 + min(math.sqrt(log_inverse / slope) if slope else math.inf, LARGEST_ORDER)
    return raised(constant + slope * alpha + lemma_7_offset(alpha, delta)), alpha


def union_over_orders(orders: Sequence[Real], bounds: Sequence[float], weights: Sequence[float], delta: float) -> float:
    """The least E_k + ln(1/(w_k δ))/(α_k−1): each order has its share of δ, so any of them may be quoted.

    The weights are fixed before the run and sum to at most 1. An infinite bound makes no claim.

    Implements: union over orders.
    """
    gaps, claims, log_weights = _rows(orders, bounds, weights)
    log_inverse = -math.log(probability(delta, "delta"))
    return raised(float(np.min(claims + (log_inverse - log_weights) / gaps, initial=math.inf)))


def log_mixture(orders: Sequence[Real], bounds: Sequence[float], weights: Sequence[float]) -> Function:
    """The logarithm of Σ_k w_k exp((α_k−1)(ε−E_k)) as a function of ε; an infinite bound contributes nothing.

    Uses: mixture conversion.
    """
    rows = [*zip(*(row.tolist() for row in _rows(orders, bounds, weights)), strict=True)]

    def moment(epsilon: float) -> float:
        terms = [log_weight + gap * (epsilon - claim) for gap, claim, log_weight in rows]
        top = max(terms, default=-math.inf)
        return top if math.isinf(top) else top + math.log(math.fsum(math.exp(term - top) for term in terms))

    return moment


def log_half_normal(xi: float, rho: float, v: float) -> Function:
    """The logarithm of the mean of exp((α−1)(ε−ξ−αρ)) over α−1 ~ |N(0, v)|, for ξ-ex-post zCDP and its ρ.

    As a function of ε: ln(2 D^{−1/2} e^{x²v/(2D)} Φ(x√(v/D))), x = ε−ξ−ρ, D = 1+2ρv; v is fixed before the run.

    Implements: half-normal mixture.
    """
    start, width = float(non_negative(xi, "xi")), float(positive(v, "v"))
    spread = 1 + 2 * float(non_negative(rho, "rho")) * width
    scale, level = math.sqrt(width / spread), math.log(2) - math.log(spread) / 2
    return lambda epsilon: level + (x := epsilon - start - rho) * x * width / (2 * spread) + float(log_ndtr(x * scale))


def mixture_tail(log_moment: Function, delta: float, bracket: float) -> float:
    """The smallest ε ≥ 0 with log_moment(ε) ≥ ln(1/δ): a probabilistic claim by Markov's inequality.

    ``log_moment`` increases, and exp(log_moment(L)) must have mean at most 1. The bracket is a guess of an
    upper end, widened as needed; a moment that never gets there gives infinity.

    Implements: mixture conversion.
    """
    target = -math.log(probability(delta, "delta")) * (1 + ROUNDING)
    if log_moment(0.0) >= target:
        return 0.0
    low, high = 0.0, max(0.0, float(bracket))
    # Written so that a NaN moment widens to infinity instead of ending the search.
    while not log_moment(high) >= target:
        low, high = high, 2 * high + 1
        if math.isinf(high):
            return math.inf
    while high - low > ROUNDING * high:
        middle = low + (high - low) / 2
        low, high = (low, middle) if log_moment(middle) >= target else (middle, high)
    return raised(high)


def mixture_hockey_stick(log_moment: Function, delta: float, bracket: float) -> float:
    """The smallest ε ≥ 0 with ln(1−e^{−z}) − log_moment(ε+z) ≤ ln δ for every z > 0: an approximate claim.

    With u = ε+z this reads ε ≥ u + ln(1 − δe^{M(u)}) for every u, so ε is the maximum of a concave function.
    M increases and is convex: at 1 below the tail root δe^M(1+M') ≤ e^{−M'}(1+M') ≤ 1, so the maximiser is above.

    Uses: mixture conversion.
    """
    top = mixture_tail(log_moment, delta, bracket)
    # Where a step of 1 nears the float spacing the tail root itself is the answer, and it is above.
    if top > 2.0**40:
        return top
    log_delta = math.log(delta)

    def claim(u: float) -> float:
        excess = log_moment(u) + log_delta
        return u + math.log1p(-math.exp(excess)) if excess < 0 else -math.inf

    peak = _peak(claim, max(0.0, top - 1), top)
    return min(top, max(0.0, raised(peak, 8 * top))) if peak > -math.inf else top


def half_normal_closed_form(xi: float, rho: float, v: float, delta: float) -> float:
    """ξ + ρ + √((2D/v) ln(√D/δ)), D = 1+2ρv: slightly above the half-normal root, and without a search.

    Uses: half-normal mixture.
    """
    width, cost = float(positive(v, "v")), float(non_negative(rho, "rho"))
    spread = 1 + 2 * cost * width
    reach = math.sqrt(2 * spread / width * (math.log(spread) / 2 - math.log(probability(delta, "delta"))))
    return raised(float(non_negative(xi, "xi")) + cost + reach)


def half_normal_tuning(rho0: Real, delta: float) -> float:
    """The v that minimises the closed form at an anticipated ρ₀: (−W₋₁(−δ²/e) − 1)/(2ρ₀).

    Uses: half-normal mixture.
    """
    return (lambert_tuning(delta) - 1) / (2 * float(positive(rho0, "rho0")))


def lambert_tuning(delta: float) -> float:
    """−W₋₁(−δ²/e): the root w ≥ 1 of w − ln w = 1 + 2 ln(1/δ), by Newton steps from above, even if δ² is 0."""
    excess = -2 * math.log(probability(delta, "delta"))
    root, last = 1 + excess + math.sqrt(2 * excess), math.inf
    while root < last:
        root, last = root * (excess + math.log(root)) / (root - 1), root
    return last


def _claim(value: float, name: str) -> float:
    """A divergence bound: not NaN and not negative; infinity makes no claim."""
    return math.inf if value == math.inf else float(non_negative(value, name))


def _peak(f: Function, low: float, high: float) -> float:
    """The maximum of a concave function with slope at most 1, by golden section; from above, as f(low) + width is."""
    for _ in range(75):
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        low, high = (low, right) if f(left) >= f(right) else (left, high)
    return f(low) + (high - low)


def _rows(orders: Sequence[Real], bounds: Sequence[float], weights: Sequence[float]) -> tuple[Floats, Floats, Floats]:
    """(α−1, E, ln w) of the rows that make a claim, as arrays."""
    if not len(orders) == len(bounds) == len(weights):
        raise InvalidValue(f"{len(orders)} orders, {len(bounds)} bounds, {len(weights)} weights; give as many of each.")
    total = math.fsum(weights)
    if not (min(weights, default=0) > 0 and total <= 1 + 1e-9):
        raise InvalidValue(f"weights sum to {total:g}; each must be above 0 and the sum at most 1.")
    gaps = np.array([float(alpha - 1) for alpha in orders])
    if not (np.all(gaps > 0) and np.all(np.isfinite(gaps))):
        raise InvalidValue("an order is not a finite number above 1; every Rényi order must be.")
    claims = np.array([float(bound) for bound in bounds])
    if not np.all(claims >= 0):
        raise InvalidValue("a bound is negative or NaN; a divergence bound must be at least 0, or infinite.")
    kept = np.isfinite(claims)
    return gaps[kept], claims[kept], np.log(np.array(weights)[kept] / max(1.0, total))
