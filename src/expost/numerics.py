"""Numbers that err on the safe side: exact rationals in, floats rounded up or down out."""

import math
from fractions import Fraction
from typing import TypeAlias

from expost.errors import InvalidValue

Real: TypeAlias = int | float | Fraction

DENOMINATOR_BITS = 256
"""Sums stay exact up to this size of denominator; beyond it they are rounded up (keeps a step O(1))."""


def exact(value: Real, name: str) -> Fraction:
    """The same number as a fraction; a float means the binary fraction it stores."""
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidValue(f"{name} is {value}; give a finite number.")
    fraction = value if type(value) is Fraction else Fraction(value)
    if type(fraction.numerator) is type(fraction.denominator) is int:
        return fraction
    return Fraction(int(fraction.numerator), int(fraction.denominator))  # numpy's integers would wrap around


def positive(value: Real, name: str) -> Fraction:
    """The same number as a fraction, refused unless it is above zero."""
    fraction = exact(value, name)
    if fraction.numerator <= 0:
        raise InvalidValue(f"{name} is {up(fraction):g}; it must be above 0.")
    return fraction


def non_negative(value: Real, name: str) -> Fraction:
    """The same number as a fraction, refused if it is below zero."""
    fraction = exact(value, name)
    if fraction.numerator < 0:
        raise InvalidValue(f"{name} is {up(fraction):g}; it must be at least 0.")
    return fraction


def order(alpha: Real) -> Fraction:
    """A Rényi order as a fraction, refused unless it is above 1."""
    fraction = exact(alpha, "alpha")
    if fraction.numerator <= fraction.denominator:
        raise InvalidValue(f"alpha is {up(fraction):g}; a Rényi order must be above 1.")
    return fraction


def probability(value: float, name: str) -> float:
    """The same number, refused unless it lies strictly between 0 and 1."""
    if not 0 < value < 1:
        raise InvalidValue(f"{name} is {value}; it must lie strictly between 0 and 1.")
    return float(value)


def up(value: Fraction) -> float:
    """The smallest float not below ``value``."""
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.nextafter(math.inf, 0)
    return nearest if nearest >= value else math.nextafter(nearest, math.inf)


def down(value: Fraction) -> float:
    """The largest float not above ``value``."""
    return -up(-value)


def add_up(left: Fraction, right: Fraction) -> Fraction:
    """The sum, exact unless its denominator outgrows ``DENOMINATOR_BITS``; then the next multiple of 2**-bits."""
    total = left + right
    if total.denominator.bit_length() <= DENOMINATOR_BITS:
        return total
    ceiling = -((-total.numerator << DENOMINATOR_BITS) // total.denominator)
    return Fraction(ceiling, 1 << DENOMINATOR_BITS)
