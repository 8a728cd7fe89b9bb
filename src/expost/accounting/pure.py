"""Rényi curves of pure mechanisms whose ε is fixed before they run.

Under adaptive stopping a pure mechanism is charged its pure ε, never one of these curves.
"""

import math
from fractions import Fraction

from expost.accounting.convert import raised
from expost.numerics import Real, non_negative, order, up

HALF_PI = Fraction(355, 226)
"""π/2, rounded up: 355/113 lies above π."""


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


def exponential_rho(epsilon: Real) -> Fraction:
    """ε²/8: the zCDP cost of an ε-DP exponential mechanism, by its bounded range (Cesar and Rogers 2021).

    Implements: exponential mechanism curve.
    """
    return non_negative(epsilon, "epsilon") ** 2 / 8


def exponential_profile(epsilon: Real) -> Fraction:
    """π/2 · ε²/8: an ε-DP exponential mechanism is a post-processing of a Gaussian release of this ρ.

    For any two neighbours, that is, by its bounded range: the pair of laws is at least as hard to tell apart as that of
    the Gaussian. Two candidates attain it as ε falls, so that the ρ of the curve would not do.

    Implements: exponential mechanism profile.
    """
    return HALF_PI * exponential_rho(epsilon)
