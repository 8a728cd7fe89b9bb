"""Ladders drawn at random."""

import numpy as np


def random_ladders(count: int) -> list[tuple[float, ...]]:
    """Increasing ρ's over many scales and spacings."""
    draws = np.random.default_rng(7)
    ladders = []
    for _ in range(count):
        steps = 1.05 + draws.exponential(1.5, size=draws.integers(2, 9))
        ladders.append(tuple((10 ** draws.uniform(-4, 0.5) * np.cumprod(steps)).tolist()))
    return ladders
