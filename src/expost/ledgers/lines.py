"""Lines in whole numbers over one divisor: as exact as in fractions, whose sums would take most time of a charge."""

from fractions import Fraction
from math import lcm
from typing import TypeAlias

from expost.accounting.curve import Linear
from expost.numerics import DENOMINATOR_BITS

Whole: TypeAlias = tuple[int, int, int | None, int]
"""A line: its ξ, its ρ, the ρ of its Gaussian profile, if it has one, and what all of them are divided by."""


def whole_line(line: Linear) -> Whole:
    """A line in whole numbers."""
    (xi, of_xi), (rho, of_rho) = line.xi.as_integer_ratio(), line.rho.as_integer_ratio()
    profile, of_profile = (None, 1) if line.gaussian is None else line.gaussian.as_integer_ratio()
    divisor = lcm(of_xi, of_rho, of_profile)
    known = None if profile is None else profile * (divisor // of_profile)
    return xi * (divisor // of_xi), rho * (divisor // of_rho), known, divisor


def lines_together(one: Whole, other: Whole) -> Whole | None:
    """What two lines cost together; None where their divisor is too large for an exact sum."""
    divisor = lcm(one[3], other[3])
    if divisor.bit_length() > DENOMINATOR_BITS:
        return None
    mine, its = divisor // one[3], divisor // other[3]
    profile = None if one[2] is None or other[2] is None else one[2] * mine + other[2] * its
    return one[0] * mine + other[0] * its, one[1] * mine + other[1] * its, profile, divisor


def line_of(found: Whole) -> Linear:
    """The line that ``whole_line`` was given, or the sum that ``lines_together`` made."""
    xi, rho, profile, divisor = found
    known = None if profile is None else Fraction(profile, divisor)
    return Linear(Fraction(xi, divisor), Fraction(rho, divisor), known)
