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
    (xi, rho, profile, below), (its_xi, its_rho, its_profile, its_below) = one, other
    divisor = lcm(below, its_below)
    if divisor.bit_length() > DENOMINATOR_BITS:
        return None
    mine, its = divisor // below, divisor // its_below
    known = None if profile is None or its_profile is None else profile * mine + its_profile * its
    return xi * mine + its_xi * its, rho * mine + its_rho * its, known, divisor


def line_of(found: Whole) -> Linear:
    """The line that ``whole_line`` was given, or the sum that ``lines_together`` made."""
    xi, rho, profile, divisor = found
    known = None if profile is None else Fraction(profile, divisor)
    return Linear(Fraction(xi, divisor), Fraction(rho, divisor), known)
