"""Formulas of the literature by which nothing is billed or stated here: for comparison, and for finite mechanisms."""

import math

from expost.accounting.convert import raised
from expost.numerics import Real, non_negative, order, probability, up


def zcdp_epsilon(rho: Real, delta: float) -> float:
    """ρ + 2√(ρ ln(1/δ)): EX ANTE ONLY, because its order 1+√(ln(1/δ)/ρ) moves with ρ.

    Uses: Lemma 7 conversion.
    """
    cost = up(non_negative(rho, "rho"))
    return raised(cost + 2 * math.sqrt(cost * -math.log(probability(delta, "delta"))))


def laplace_rdp(epsilon: Real, alpha: Real) -> float:
    """ln((α/(2α−1))e^{(α−1)ε} + ((α−1)/(2α−1))e^{−αε})/(α−1): Laplace noise of scale Δ₁/ε.

    Implements: Laplace curve.
    """
    pure, level = up(non_negative(epsilon, "epsilon")), order(alpha)
    gap, top = float(level - 1), float(level)
    if gap * pure > 1:
        ratio = math.log1p(gap / top * math.exp(-(2 * top - 1) * pure))
        return min(pure, raised(pure + (ratio + math.log(top / (2 * top - 1))) / gap, pure + 1 / gap))
    # The first-order terms cancel by hand: what is left is a sum of two positive terms.
    excess = (top * _second_order(gap * pure) + gap * _second_order(-top * pure)) / (2 * top - 1)
    return raised(math.log1p(excess) / gap)


def _second_order(x: float) -> float:
    """e^x − 1 − x, accurate also near 0."""
    if abs(x) > 0.5:
        return math.expm1(x) - x
    total, term, k = 0.0, x * x / 2, 2
    while abs(term) > 1e-18 * total:
        total, k = total + term, k + 1
        term *= x / k
    return total
