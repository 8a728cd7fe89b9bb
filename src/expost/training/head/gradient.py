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
from expost.training.head.arrays import Array

FEATURE_GRID, ERROR_GRID = 2**13, 2**10
"""Largest norm of a record's features and of its error on the integer grid of an exact sum."""
WEIGHT_GRID, LARGEST_WEIGHT = 2.0**20, 2.0**8
"""Steps to 1 of the weights that an exact head predicts by, and where they are cut: products with features on their
grid then stay below 2**53 for ten million features, and are exact in whatever order they are added."""
FINE, UNIT = 2.0**20, 2.0**30
"""Steps to 1 of predictions, and of the odds they are made from."""
STEPS, LOWEST = 2**10, 16
"""Steps to 1 of a score's distance from the highest, and the distance beyond which odds are all alike."""
ODDS = np.round(UNIT * np.exp(-np.arange(LOWEST * STEPS) / STEPS))
"""The odds of each distance, as whole numbers: any order of adding them up gives the same sum."""


class Summation(Protocol):
    """How clipped gradients are added up and made noisy. Implemented by FloatSums and IntegerSums.

    What must hold: the outer product of a record's factors and prepared features has norm ``reach`` at most and does
    not depend on other records, and ``noise`` is at least as private for their sum as Gaussian noise of standard
    deviation multiplier·reach.
    """

    @property
    def floating(self) -> bool:
        """Whether rounding is left out of account."""
        ...

    @property
    def reach(self) -> int:
        """The norm of a contribution at the clipping norm, in the units of the sum."""
        ...

    def prepare(self, rows: Array, norms: Array, xp: Any) -> Array:
        """The features as they enter the sum."""
        ...

    def read(self, weights: Array, xp: Any) -> Array:
        """The weights as prepared features are multiplied by them: their product times a record's norm is a score."""
        ...

    def pulls(self, products: Array, norms: Array, truth: Array, clip: float, xp: Any) -> Array:
        """What each record's prepared features are multiplied by and summed, one column per record."""
        ...

    def noise(self, multiplier: Fraction, shape: tuple[int, ...], noise: Noise) -> NDArray[Any]:
        """Noise for as many entries of totals."""
        ...


@final
class FloatSums:
    """Single precision and floating-point Gaussian noise: fast, but rounding is not covered by the bound."""

    __slots__ = ()
    floating: ClassVar[bool] = True
    reach: ClassVar[int] = 1

    def prepare(self, rows: Array, norms: Array, xp: Any) -> Array:
        """Features of norm 1."""
        return rows / norms

    def read(self, weights: Array, xp: Any) -> Array:
        """As they are."""
        return weights

    def pulls(self, products: Array, norms: Array, truth: Array, clip: float, xp: Any) -> Array:
        """Errors of softmax regression, clipped."""
        products *= norms
        products -= xp.amax(products, axis=0, keepdims=True)
        errors = xp.exp(products)
        errors /= errors.sum(axis=0, keepdims=True)
        errors -= truth
        pulls = errors * norms  # before they are squared: a small error of a long record must not vanish
        lengths = xp.sqrt((pulls * pulls).sum(axis=0, keepdims=True))
        return self.factors(errors, norms / xp.clip(lengths, clip, None), xp)

    def factors(self, errors: Array, shares: Array, xp: Any) -> Array:
        """Of norm 1 at most, for shares that are the clipped norms over |e| and over the clipping norm."""
        # Weights that left the floats make errors that are not numbers; such records must not show in the sum.
        factors = errors * shares
        return xp.where(xp.isfinite(factors), factors, 0.0)

    def noise(self, multiplier: Fraction, shape: tuple[int, ...], noise: Noise) -> NDArray[Any]:
        """Normal floats."""
        return noise.gaussian(up(multiplier), shape).astype(np.float32)


@final
class IntegerSums:
    """Sums of integers and exact integer noise: the bound holds for the machine's arithmetic too.

    Features and error of a record are rounded to integer vectors, whose norms are checked in integers; their outer
    product is then an integer matrix of norm ``reach`` at most. Sums of a billion such products stay below 2**53, where
    double precision adds integers without error, in whatever order. Everything that is summed on the way there, scores,
    odds and squared errors, is made of such integers too, and a norm is added up in an order of its own: so a record's
    contribution is the same whoever else joins, which the last bits of an ordinary matrix product do not promise.

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

    def read(self, weights: Array, xp: Any) -> Array:
        """On a grid of their own."""
        cut = xp.clip(weights, -LARGEST_WEIGHT, LARGEST_WEIGHT)
        grid = xp.asarray(xp.where(xp.isnan(cut), 0.0, cut), dtype=xp.float64)
        grid *= WEIGHT_GRID
        return xp.round(grid)

    def pulls(self, products: Array, norms: Array, truth: Array, clip: float, xp: Any) -> Array:
        """Errors of softmax regression on the grid, clipped; nothing but whole numbers is ever added up."""
        scores = products * norms
        distance = xp.amax(scores, axis=0, keepdims=True) - scores
        steps = xp.asarray(xp.clip(distance * (STEPS / (FEATURE_GRID * WEIGHT_GRID)), 0, len(ODDS) - 1), dtype=xp.int64)
        odds = xp.asarray(ODDS, device=products.device)[steps]
        errors = xp.round((odds / odds.sum(axis=0, keepdims=True) - truth) * FINE) / FINE
        lengths = xp.sqrt((errors * errors).sum(axis=0, keepdims=True)) * norms
        return self.factors(errors, norms / xp.clip(lengths, clip, None), xp)

    def factors(self, errors: Array, shares: Array, xp: Any) -> Array:
        """Integers of norm ERROR_GRID at most, for shares that are the clipped norms over |e| and over the clip."""
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
