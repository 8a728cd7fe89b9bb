"""What may be asked of a sampler: each function returns its argument, or refuses it before any draw."""

import math
from fractions import Fraction

from expost.errors import InvalidValue
from expost.numerics import Real, exact, positive

MAX_STD = 1 << 52
"""Largest standard deviation: 2**11 of them fit an int64, so a draw that does not fit is never seen."""


def variance(value: Real) -> Fraction:
    """A Gaussian variance: positive, and small enough for 64-bit integers."""
    fraction = positive(value, "variance")
    if fraction > MAX_STD**2:
        raise InvalidValue(f"variance is about {_power(fraction)}; 64-bit noise allows at most 2**104.")
    return fraction


def scale(value: Real) -> Fraction:
    """A Laplace scale: positive, and small enough for 64-bit integers."""
    fraction = positive(value, "scale")
    if 2 * fraction > MAX_STD:
        raise InvalidValue(f"scale is about {_power(fraction)}; 64-bit noise allows at most 2**51.")
    return fraction


def coin_probability(value: Real) -> Fraction:
    """The probability of a coin, 0 and 1 included."""
    fraction = exact(value, "probability")
    if not 0 <= fraction <= 1:
        raise InvalidValue(f"probability is {value}; it must lie in [0, 1].")
    return fraction


def bound(value: int) -> int:
    """The end of a range [0, bound) that is not empty."""
    if value < 1:
        raise InvalidValue(f"bound is {value}; it must be at least 1.")
    return value


def size(shape: int | tuple[int, ...]) -> int:
    """How many values fill the shape."""
    sides = shape if isinstance(shape, tuple) else (shape,)
    if any(side < 0 for side in sides):
        raise InvalidValue(f"shape is {shape}; no side may be below 0.")
    return math.prod(sides)


def _power(value: Fraction) -> str:
    """A power of two near the value, which may be too large for a float."""
    return f"2**{math.log2(value.numerator) - math.log2(value.denominator):.4g}"
