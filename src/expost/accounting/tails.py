"""Upper tails of exact integer noise: how likely noise alone lifts a margin, never understated."""

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from expost.accounting.convert import ROUNDING, raised
from expost.errors import InvalidValue
from expost.numerics import positive, up

SUMMED = 256.0
"""Standard deviations up to which the terms of the discrete Gaussian are summed one by one."""

REACH = 40.0
"""Standard deviations beyond which a Gaussian term is below the smallest float."""

Floats = NDArray[np.float64]


@lru_cache(maxsize=4096)
def lattice_tail(variance: Fraction, least: int) -> float:
    """P(Z ≥ least) for Z with P(k) ∝ exp(−k²/(2·variance)): summed, or an upper bound where noise is wide.

    exp(−x²/2σ²) is convex beyond σ, so a term is at most its integral over the unit interval around it; nearer to 0
    it still falls, and a term is at most the integral over the unit interval below it. By Poisson summation the terms
    add up to σ√(2π) at least.

    Implements: tail of exact integer noise.
    """
    std = math.sqrt(up(positive(variance, "variance")))
    if least <= 0:
        return 1.0
    if std > SUMMED:
        start = least - 0.5 if least - 0.5 >= std else least - 1
        return min(1.0, raised(float(ndtr(-start / (std * (1 + ROUNDING))))))
    reach = max(least, math.ceil(REACH * std) + 1)
    terms = np.exp(-(np.arange(reach + 1, dtype=np.float64) ** 2) / (2 * std * std))
    return min(1.0, raised(math.fsum(terms[least:]) / (2 * math.fsum(terms[1:]) + 1)))


def laplace_tail(scale: Fraction, least: Floats) -> Floats:
    """P(V ≥ least) for each entry, V with P(k) ∝ exp(−|k|/scale), exactly but for the rounding of floats."""
    width = up(positive(scale, "scale"))
    above = np.exp(-np.maximum(least, 0.0) / width) / (1 + math.exp(-1 / width))
    below = np.exp(-np.maximum(1 - least, 0.0) / width) / (1 + math.exp(-1 / width))
    return np.minimum(1.0, np.where(least > 0, above, 1 - below) * (1 + ROUNDING) + ROUNDING)


@lru_cache(maxsize=4096)
def sparse_vector_tail(variance: Fraction, scale: Fraction, least: int, looks: int) -> float:
    """P(V_i − T ≥ least for some i ≤ looks): Laplace noises V_i above one Gaussian threshold noise T.

    Given T = t the looks are independent, so the chance is the mean over t of 1 − (1 − P(V ≥ t + least))^looks, which
    falls in t. A wide T is taken in blocks, each at its likeliest and lowest point: an upper bound.

    Implements: tail of the sparse vector.
    """
    std = math.sqrt(up(positive(variance, "variance")))
    if looks < 1:
        raise InvalidValue(f"looks is {looks}; plan at least one.")
    block = max(1, math.floor(std / SUMMED))
    lows = block * np.arange(-math.ceil(REACH * std / block) - 1, math.ceil(REACH * std / block) + 1, dtype=np.float64)
    nearest = np.maximum(0.0, np.maximum(lows, -(lows + block - 1)))
    weights = block * np.exp(-(nearest**2) / (2 * std * std))
    # Sorted from the largest term on: fsum is exact in any order, and ten times as fast in this one.
    whole = math.fsum(np.sort(weights)[::-1]) if block == 1 else std * math.sqrt(2 * math.pi)
    missed = np.log1p(-np.minimum(laplace_tail(scale, lows + least), 1 - 2.0**-53))
    return min(1.0, raised(math.fsum(np.sort(weights * -np.expm1(looks * missed))[::-1]) / whole))
