"""Laws of a sparse vector check on a grid."""

import math


def gaussian_law(variance: float) -> dict[int, float]:
    weights = {k: math.exp(-(k**2) / (2 * variance)) for k in range(-40, 41)}
    total = math.fsum(weights.values())
    return {k: weight / total for k, weight in weights.items()}


def pass_chance(gap: int, scale: float) -> float:
    """P(Laplace noise ≥ gap) on the integers."""
    q = math.exp(-1 / scale)
    tail = q ** abs(gap) / (1 + q)
    return tail if gap > 0 else 1 - q * q ** abs(gap) / (1 + q)
