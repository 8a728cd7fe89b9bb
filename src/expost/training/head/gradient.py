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
from expost.training.head.arrays import LARGEST_ENTRY, LARGEST_FACTOR, Array, Arrays

FEATURE_GRID, ERROR_GRID = LARGEST_ENTRY, LARGEST_FACTOR
"""Largest norm of a record's features and of its error on the integer grid of an exact sum."""
WEIGHT_GRIDS = {4: 2**11, 8: 2**26}
"""Largest norm of the weights that an exact head predicts a class by, on a grid of their own, by the bytes of a float.

Products with features on theirs are sums of terms that together have no larger size than the two norms multiplied,
2**24 in single and 2**39 in double precision: they are exact in whatever order they are added."""
FINE, UNIT = 2.0**20, 2.0**30
"""Steps to 1 of predictions, and of the odds they are made from."""
STEPS, LOWEST = 2**10, 16
"""Steps to 1 of a score's distance from the highest, and the distance beyond which odds are all alike."""
SUMMED = 2.0**16
"""Steps of the errors of a person with several rows, up to the longest of them."""
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

    def prepare(self, rows: Array, norms: Array, arrays: Arrays) -> Array:
        """The features as they enter the sum."""
        ...

    def scores(self, weights: Array, rows: Array, arrays: Arrays) -> Array:
        """The products of weights with prepared features, for features of norm 1: a line for each class."""
        ...

    def pulls(self, scores: Array, norms: Array, truth: Array, clip: float, xp: Any) -> Array:
        """What each record's prepared features are multiplied by and summed, one column per record."""
        ...

    def total(self, pulls: Array, rows: Array, arrays: Arrays) -> Array:
        """The sum of the outer products."""
        ...

    def together(
        self, scores: Array, norms: Array, truth: Array, rows: Array, *, size: int, clip: float, arrays: Arrays
    ) -> Array:
        """The sum over persons with ``size`` rows each, one after the other: each adds up gradients, clipped as one.

        What must hold: what a person adds has norm ``reach`` at most and does not depend on other persons.
        """
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

    def prepare(self, rows: Array, norms: Array, arrays: Arrays) -> Array:
        """Features of norm 1."""
        return rows / norms

    def scores(self, weights: Array, rows: Array, arrays: Arrays) -> Array:
        """Products."""
        return arrays.scores(weights, rows)

    def pulls(self, scores: Array, norms: Array, truth: Array, clip: float, xp: Any) -> Array:
        """Errors of softmax regression, clipped."""
        errors = self._errors(scores, norms, truth, xp)
        pulls = errors * norms  # before they are squared: a small error of a long record must not vanish
        lengths = xp.sqrt((pulls * pulls).sum(axis=0, keepdims=True))
        return self.factors(errors, norms / xp.clip(lengths, clip, None), xp)

    def factors(self, errors: Array, shares: Array, xp: Any) -> Array:
        """Of norm 1 at most, for shares that are the clipped norms over |e| and over the clipping norm."""
        # Weights that left the floats make errors that are not numbers; such records must not show in the sum.
        factors = errors * shares
        return xp.where(xp.isfinite(factors), factors, 0.0)

    def total(self, pulls: Array, rows: Array, arrays: Arrays) -> Array:
        """A product."""
        return arrays.weighted(pulls, rows)

    def together(
        self, scores: Array, norms: Array, truth: Array, rows: Array, *, size: int, clip: float, arrays: Arrays
    ) -> Array:
        """Products, clipped; a person whose sum has left the floats must not show."""
        xp = arrays.functions
        sums = _person_sums(self._errors(scores, norms, truth, xp) * norms, rows, size, xp)
        lengths = xp.sqrt((sums * sums).sum(axis=(1, 2)))
        clipped = sums / lengths.clip(clip, None)[:, None, None]
        return xp.where(xp.isfinite(lengths)[:, None, None], clipped, 0.0).sum(axis=0)

    def _errors(self, scores: Array, norms: Array, truth: Array, xp: Any) -> Array:
        scores = scores * norms
        scores -= xp.amax(scores, axis=0, keepdims=True)
        errors = xp.exp(scores)
        errors /= errors.sum(axis=0, keepdims=True)
        errors -= truth
        return errors

    def noise(self, multiplier: Fraction, shape: tuple[int, ...], noise: Noise) -> NDArray[Any]:
        """Normal floats."""
        return noise.gaussian(up(multiplier), shape).astype(np.float32)


@final
class IntegerSums:
    """Sums of integers and exact integer noise: the bound holds for the machine's arithmetic too.

    Features and error of a record are rounded to integer vectors, whose norms are checked in integers; their outer
    product is then an integer matrix of norm ``reach`` at most. Integers whose sizes together stay within 2**53 are
    added without error in double precision, in whatever order, and so within 2**24 in single: so are a billion such
    products by ``weighted_exactly``. Everything that is summed on the way there, scores, odds and squared errors, is
    made of such integers too, and a norm is added up in an order of its own: so a record's contribution is the same
    whoever else joins, which the last bits of an ordinary matrix product do not promise. The gradients of a person with
    several rows are such integers, added up and then shrunk to an integer matrix of norm ``reach`` at most.

    Noise N_Z(0, σ²) with σ² = (multiplier·reach)² + 3 is, up to factors within e^{±1e−19}, a rounding of Gaussian noise
    of standard deviation multiplier·reach that does not look at the data. Mixing over who joins the step and rounding
    commute, so the sampled sum with integer noise has the Rényi bound of the sampled Gaussian.

    Implements: sampled sums with integer noise.
    Uses: integer noise under the Gaussian profile; Poisson-subsampled Gaussian.
    """

    __slots__ = ()
    floating: ClassVar[bool] = False
    reach: ClassVar[int] = FEATURE_GRID * ERROR_GRID

    def prepare(self, rows: Array, norms: Array, arrays: Arrays) -> Array:
        """Features as integers of norm FEATURE_GRID at most."""
        xp = arrays.functions
        return xp.asarray(_on_grid(rows, 1 / norms, FEATURE_GRID, 1, xp), dtype=arrays.kept(rows.shape[1]))

    def scores(self, weights: Array, rows: Array, arrays: Arrays) -> Array:
        """Products with weights on a grid; a class whose weights have left it, or the floats, is read as nothing."""
        xp, width, kind = arrays.functions, rows.shape[1], arrays.whole(rows.shape[1])
        weights, limit = xp.asarray(weights, dtype=kind), WEIGHT_GRIDS[kind.itemsize]
        lengths = xp.sqrt(xp.linalg.vecdot(weights, weights))[:, None]
        grid = (weights * (_room(limit, width) / lengths)).round()
        fits = (xp.linalg.vecdot(grid, grid)[:, None] <= limit * limit) & xp.isfinite(lengths)
        unit = lengths / (_room(limit, width) * _room(FEATURE_GRID, width))
        return xp.where(fits, arrays.scores(grid, rows) * unit, 0.0)

    def pulls(self, scores: Array, norms: Array, truth: Array, clip: float, xp: Any) -> Array:
        """Errors of softmax regression on the grid, clipped; nothing but whole numbers is ever added up."""
        errors = self._errors(scores, norms, truth, xp)
        lengths = xp.sqrt((errors * errors).sum(axis=0, keepdims=True)) * (norms / FINE)
        return self.factors(errors, norms / (lengths.clip(clip, None) * FINE), xp)

    def factors(self, errors: Array, shares: Array, xp: Any) -> Array:
        """Integers of norm ERROR_GRID at most, for shares that are the clipped norms over |e| and over the clip."""
        return _on_grid(errors, shares, ERROR_GRID, 0, xp)

    def total(self, pulls: Array, rows: Array, arrays: Arrays) -> Array:
        """A product without rounding."""
        return arrays.weighted_exactly(pulls, rows)

    def together(
        self, scores: Array, norms: Array, truth: Array, rows: Array, *, size: int, clip: float, arrays: Arrays
    ) -> Array:
        """Sums without rounding, then shrunk and rounded entry by entry.

        Errors are in steps of the person's longest row, few enough that all sums stay within 2**53. A sum is measured
        in steps of its largest entry, whose squares are added up exactly, and the length taken is at least its own.
        """
        xp, cells = arrays.functions, len(scores) * rows.shape[1]
        steps = min(SUMMED, 2.0 ** (40 - size.bit_length()))
        longest = xp.amax(norms.reshape(-1, size), axis=1)
        shares = (norms.reshape(-1, size) / longest[:, None]).reshape(1, -1) * (steps / FINE)
        sums = _person_sums((self._errors(scores, norms, truth, xp) * shares).round(), rows, size, xp)
        tops, fine = xp.amax(abs(sums), axis=(1, 2)).clip(1, None), math.isqrt(2**53 // cells)
        measured = (sums * (fine / tops)[:, None, None]).round()
        room = _room(FEATURE_GRID, rows.shape[1]) * _room(ERROR_GRID, len(scores))
        unit = longest / (steps * _room(FEATURE_GRID, rows.shape[1]))
        lengths = (xp.sqrt((measured * measured).sum(axis=(1, 2))) + math.sqrt(cells) / 2) * (tops / fine) * unit
        grid = (sums * (unit * room / lengths.clip(clip, None))[:, None, None]).round()
        fits = (grid * grid).sum(axis=(1, 2)) <= self.reach**2
        return xp.where(fits[:, None, None], grid, 0.0).sum(axis=0)

    def _errors(self, scores: Array, norms: Array, truth: Array, xp: Any) -> Array:
        """In whole steps of 1/FINE."""
        scores = scores * (norms * STEPS)
        distances = (xp.amax(scores, axis=0, keepdims=True) - scores).clip(0, len(ODDS) - 1)
        odds = xp.take(xp.asarray(ODDS, device=scores.device), xp.asarray(distances, dtype=xp.int64))
        return (odds * (FINE / odds.sum(axis=0, keepdims=True))).round() - FINE * truth

    def noise(self, multiplier: Fraction, shape: tuple[int, ...], noise: Noise) -> NDArray[Any]:
        """Discrete Gaussian integers."""
        variance = math.ceil((multiplier * self.reach) ** 2) + SMOOTHING_VARIANCE
        return noise.discrete_gaussian(Fraction(variance), shape).astype(np.float64)


def _person_sums(factors: Array, rows: Array, size: int, xp: Any) -> Array:
    """For each person the sum of the outer products of factors and rows; whole numbers within 2**53 exactly."""
    by_person = factors.reshape(len(factors), -1, size).swapaxes(0, 1)
    return xp.matmul(by_person, xp.asarray(rows, dtype=factors.dtype).reshape(-1, size, rows.shape[1]))


def _room(limit: int, width: int) -> float:
    """The norm a vector may have before rounding, which moves it by half the root of its width at most."""
    return limit - math.sqrt(width) / 2


def _on_grid(vectors: Array, shares: Array, limit: int, axis: int, xp: Any) -> Array:
    """Vectors of norm 1 at most times their shares as integer vectors of norm ``limit`` at most; 0 for all others."""
    grid = (vectors * (shares * _room(limit, vectors.shape[axis]))).round()
    return xp.where((grid * grid).sum(axis=axis, keepdims=True) <= limit * limit, grid, 0.0)
