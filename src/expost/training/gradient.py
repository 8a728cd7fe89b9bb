"""Noisy sums of clipped gradients of softmax regression, without one gradient a record.

A record with features a and error e = p − y has the gradient a ⊗ e, of norm |a|·|e|: clipping needs two norms a record,
and the clipped sum of a batch is one matrix product.
"""

import math
from fractions import Fraction
from typing import Any, ClassVar, Protocol, final

import numpy as np
from numpy.typing import NDArray

from expost.accounting.gaussian import SMOOTHING_VARIANCE
from expost.noise import Noise
from expost.numerics import up
from expost.training.arrays import Array

FEATURE_GRID, ERROR_GRID = 2**13, 2**10
"""Largest norm of a record's features and of its error on the integer grid of an exact sum."""


class Summation(Protocol):
    """How clipped gradients are added up and made noisy. Implemented by Floating and Exact.

    What must hold: the outer product of a record's factors and prepared features has norm ``reach`` at most, and
    ``noise`` is at least as private for their sum as Gaussian noise of standard deviation multiplier·reach.
    """

    @property
    def floating(self) -> bool:
        """Whether the noise is drawn in floating point."""
        ...

    @property
    def reach(self) -> int:
        """The norm of a contribution at the clipping norm, in the units of the sum."""
        ...

    def prepare(self, rows: Array, norms: Array, xp: Any) -> Array:
        """The features as they enter the sum; a record's depend on that record alone."""
        ...

    def scale(self, width: int) -> float:
        """The norm of features over that of their prepared form, by which a record's own norm is left out."""
        ...

    def factors(self, errors: Array, shares: Array, xp: Any) -> Array:
        """What each record's prepared features are multiplied by and summed, a column a record.

        ``shares`` are the clipped norms over |e| and over the clipping norm.
        """
        ...

    def noise(self, multiplier: Fraction, shape: tuple[int, ...], noise: Noise) -> NDArray[Any]:
        """Noise for as many entries of totals."""
        ...


@final
class Floating:
    """Single precision and floating-point Gaussian noise: fast, but rounding is not covered by the bound."""

    __slots__ = ()
    floating: ClassVar[bool] = True
    reach: ClassVar[int] = 1

    def prepare(self, rows: Array, norms: Array, xp: Any) -> Array:
        """Features of norm 1."""
        return rows / norms

    def scale(self, width: int) -> float:
        """Prepared features have norm 1."""
        return 1.0

    def factors(self, errors: Array, shares: Array, xp: Any) -> Array:
        """Of norm 1 at most."""
        # Weights that left the floats make errors that are no numbers; such records must not show in the sum.
        return xp.nan_to_num(errors * shares)

    def noise(self, multiplier: Fraction, shape: tuple[int, ...], noise: Noise) -> NDArray[Any]:
        """Normal floats."""
        return noise.gaussian(up(multiplier), shape).astype(np.float32)


@final
class Exact:
    """Sums of integers and exact integer noise: the bound holds for the machine's arithmetic too.

    Features and error of a record are rounded to integer vectors, whose norms are checked in integers; their outer
    product is then an integer matrix of norm ``reach`` at most. Sums of such products stay far below 2**53, where
    double precision adds integers without error, in whatever order.

    Noise N_Z(0, σ²) with σ² = (multiplier·reach)² + 3 is, up to factors within e^{±1e−19}, a rounding of Gaussian noise
    of standard deviation multiplier·reach that does not look at the data. Mixing over who joins the step and rounding
    commute, so the sampled sum with integer noise has the Rényi bound of the sampled Gaussian.

    Implements: sampled sums with integer noise.
    Uses: integer noise under the Gaussian profile; Poisson-subsampled Gaussian.
    """

    __slots__ = ()
    floating: ClassVar[bool] = False
    reach: ClassVar[int] = FEATURE_GRID * ERROR_GRID

    def prepare(self, rows: Array, norms: Array, xp: Any) -> Array:
        """Features as integers of norm FEATURE_GRID at most."""
        return _on_grid(rows / norms, FEATURE_GRID, 1, xp)

    def scale(self, width: int) -> float:
        """Prepared features have about the norm that rounding leaves room for."""
        return 1 / _room(FEATURE_GRID, width)

    def factors(self, errors: Array, shares: Array, xp: Any) -> Array:
        """Integers of norm ERROR_GRID at most."""
        return _on_grid(errors * shares, ERROR_GRID, 0, xp)

    def noise(self, multiplier: Fraction, shape: tuple[int, ...], noise: Noise) -> NDArray[Any]:
        """Discrete Gaussian integers."""
        variance = math.ceil((multiplier * self.reach) ** 2) + SMOOTHING_VARIANCE
        return noise.discrete_gaussian(Fraction(variance), shape).astype(np.float64)


def _room(limit: int, width: int) -> float:
    """The norm a vector may have before rounding, which moves it by half the root of its width at most."""
    return limit - math.sqrt(width) / 2


def _on_grid(vectors: Array, limit: int, axis: int, xp: Any) -> Array:
    """Vectors of norm 1 at most as integer vectors of norm ``limit`` at most; 0 for what is larger or no number."""
    grid = xp.round(vectors * _room(limit, vectors.shape[axis]))
    return xp.where((grid * grid).sum(axis=axis, keepdims=True) <= limit * limit, grid, 0.0)
