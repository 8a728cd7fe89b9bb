"""The only home of randomness: exact integer noise from OS entropy, and its seeded and scripted stand-ins."""

from fractions import Fraction
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Shape: TypeAlias = int | tuple[int, ...]
Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


class Noise(Protocol):
    """A source of draws, given explicitly wherever a draw happens.

    ``seeded`` is true when somebody could know the draws, so that nothing made with them is private.
    Implemented by SystemNoise, SeededNoise and ScriptedNoise.
    """

    @property
    def seeded(self) -> bool:
        """True when the draws can be repeated by whoever knows the seed."""
        ...

    def discrete_gaussian(self, variance: Fraction, shape: Shape) -> Integers:
        """Independent integers with P(k) ∝ exp(−k²/(2·variance)), exactly."""
        ...

    def discrete_laplace(self, scale: Fraction, shape: Shape) -> Integers:
        """Independent integers with P(k) ∝ exp(−|k|/scale), exactly."""
        ...

    def bernoulli_exp(self, exponent: Fraction) -> bool:
        """True with probability exp(−exponent), exactly; exponent ≥ 0."""
        ...

    def below(self, bound: int) -> int:
        """A uniform integer in [0, bound), exactly."""
        ...

    def coins(self, probability: Fraction, count: int) -> NDArray[np.bool_]:
        """Independent coins, each true with the given probability."""
        ...

    def gaussian(self, std: float, shape: Shape) -> Floats:
        """Floating-point normal draws: only for callers that accept floating point, and say so."""
        ...

    def laplace(self, scale: float, shape: Shape) -> Floats:
        """Floating-point Laplace draws: only for callers that accept floating point, and say so."""
        ...

    def uniform(self, shape: Shape) -> Floats:
        """Uniform floats in (0, 1): only for callers that accept floating point."""
        ...
