"""Seeded noise for tests of many short draws: the samplers are quick where they draw many at a time."""

from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from expost.noise import Floats, Integers, SeededNoise, Shape
from expost.sampling import limits
from expost.sampling.bounds import Bounds

AHEAD = 20_000
NONE = np.empty(0, np.int64)


@final
class NoiseAhead:
    """Integers are drawn in thousands for each law that is asked for, and handed out in turn; no one twice."""

    seeded: ClassVar[bool] = True

    def __init__(self, seed: int) -> None:
        self._noise = SeededNoise(seed)
        self._left: dict[tuple[str, Fraction], Integers] = {}

    def discrete_gaussian(self, variance: Fraction, shape: Shape) -> Integers:
        return self._next("Gaussian", variance, shape, self._noise.discrete_gaussian)

    def discrete_laplace(self, scale: Fraction, shape: Shape) -> Integers:
        return self._next("Laplace", scale, shape, self._noise.discrete_laplace)

    def _next(self, law: str, width: Fraction, shape: Shape, draw: Callable[[Fraction, Shape], Integers]) -> Integers:
        left, size = self._left.get((law, width), NONE), limits.size(shape)
        if len(left) < size:
            left = draw(width, max(AHEAD, size))
        self._left[law, width] = left[size:]
        return left[:size].reshape(shape)

    def bernoulli_exp(self, exponent: Fraction) -> bool:
        return self._noise.bernoulli_exp(exponent)

    def bernoulli_real(self, bounds: Bounds) -> bool:
        return self._noise.bernoulli_real(bounds)

    def below(self, bound: int) -> int:
        return self._noise.below(bound)

    def coins(self, probability: Fraction, count: int) -> NDArray[np.bool_]:
        return self._noise.coins(probability, count)

    def key(self) -> bytes:
        return self._noise.key()

    def gaussian(self, std: float, shape: Shape) -> Floats:
        return self._noise.gaussian(std, shape)

    def laplace(self, scale: float, shape: Shape) -> Floats:
        return self._noise.laplace(scale, shape)

    def uniform(self, shape: Shape) -> Floats:
        return self._noise.uniform(shape)
