"""Rényi curves of pure mechanisms whose ε is fixed before they run.

Under adaptive stopping a pure mechanism is charged its pure ε, never one of these curves.
"""

import math
from fractions import Fraction

from expost.accounting.convert import raised
from expost.numerics import Real, non_negative, order, up


def randomized_response_rdp(epsilon: Real, alpha: Real) -> float:
    """ln((e^{αε}+e^{(1−α)ε})/(1+e^ε))/(α−1): the largest order-α divergence of any ε-DP mechanism.

    Randomised response dominates every ε-DP pair (Kairouz, Oh, Viswanath 2015); at most min(ε, αε²/2).

    Implements: pure to Rényi.
    """
    pure, level = up(non_negative(epsilon, "epsilon")), order(alpha)
    gap, top = float(level - 1), float(level)
    if top * pure > 500:
        inner, outer = math.log1p(math.exp(-pure)), math.log1p(math.exp(-(2 * top - 1) * pure))
        return min(pure, raised(pure - (inner - outer) / gap, pure + inner / gap))
    # As a ratio of cosines, less 1, a product: it keeps its digits for small ε and for α near 1.
    product = 2 * math.sinh(top * pure / 2) * math.sinh(gap * pure / 2)
    return raised(math.log1p(product / math.cosh(pure / 2)) / gap)


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


def exponential_rho(epsilon: Real) -> Fraction:
    """ε²/8: the zCDP cost of an ε-DP exponential mechanism, by its bounded range (Cesar and Rogers 2021).

    Implements: exponential mechanism curve.
    """
    return non_negative(epsilon, "epsilon") ** 2 / 8


def _second_order(x: float) -> float:
    """e^x − 1 − x, accurate also near 0."""
    if abs(x) > 0.5:
        return math.expm1(x) - x
    total, term, k = 0.0, x * x / 2, 2
    while abs(term) > 1e-18 * total:
        total, k = total + term, k + 1
        term *= x / k
    return total
