"""Laws of Laplace noise reduction on a grid."""

import math


def two_sided(rate: float, k: int) -> float:
    """P(k) of the two-sided geometric law."""
    q = math.exp(-rate)
    return (1 - q) / (1 + q) * q ** abs(k)


def stay(low: float, high: float) -> float:
    a, b = math.exp(-low), math.exp(-high)
    return (1 - a) ** 2 * b / ((1 - b) ** 2 * a)


def joint(low: float, high: float, coarse: int, fine: int) -> float:
    """P(noise at low = coarse, noise at high = fine) of the upward construction."""
    jump = stay(low, high) * (coarse == fine) + (1 - stay(low, high)) * two_sided(low, coarse - fine)
    return two_sided(high, fine) * jump
