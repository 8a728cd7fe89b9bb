"""Amounts: what was spent as whole numbers of a tiny unit, one number per measure, so that sums and caps are exact."""

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache, reduce
from operator import add, le, sub
from typing import TypeAlias

from expost.errors import Unreadable
from expost.numerics import up

Amount: TypeAlias = tuple[int, ...]
"""What was spent in each measure of a ledger, in units."""

UNIT_BITS = 96
"""A unit is 2**-96: a cost is rounded up by less than that."""
INFINITE = 1 << 256
"""What a measure says of a step that it knows no bound for: beyond any cap, and it can be taken back like any other."""
APART = "amounts in different measures have no sum and no maximum"
MOST_TEXT = 4096
KEPT = 256
"""Amounts whose text is remembered: a charge reads what the last one wrote."""


def units(value: Fraction) -> int:
    """The number of units that covers a value."""
    return -((-value.numerator << UNIT_BITS) // value.denominator)


def whole_units(value: Fraction) -> int:
    """The number of units that a value covers: for caps, which are rounded down."""
    return (value.numerator << UNIT_BITS) // value.denominator


def is_finite(number: int) -> bool:
    """Whether a measure knows a bound."""
    return number < INFINITE


def as_fraction(number: int) -> Fraction:
    """A number of units as what it stands for."""
    return Fraction(number, 1 << UNIT_BITS)


def as_float(number: int) -> float:
    """The same, rounded up; infinite where no bound is known."""
    return up(as_fraction(number)) if is_finite(number) else float("inf")


def plus(one: Amount, other: Amount) -> Amount:
    """Both."""
    if len(one) != len(other):
        raise ValueError(APART)
    return tuple(map(add, one, other))


def minus(one: Amount, other: Amount) -> Amount:
    """What is left of one without the other."""
    if len(one) != len(other):
        raise ValueError(APART)
    return tuple(map(sub, one, other))


def larger(one: Amount, other: Amount) -> Amount:
    """The larger in each measure: what disjoint parts cost together."""
    if len(one) != len(other):
        raise ValueError(APART)
    return other if is_within(one, other) else tuple(map(max, one, other))


def summed(amounts: Iterable[Amount], width: int) -> Amount:
    """The sum of any number of them."""
    return reduce(plus, amounts, (0,) * width)


def is_within(one: Amount, other: Amount) -> bool:
    """Whether one is no more than the other in every measure."""
    return one is other or (len(one) == len(other) and all(map(le, one, other)))


@lru_cache(maxsize=KEPT)
def amount_out(amount: Amount) -> str:
    """An amount as text: its numbers, apart from each other."""
    return " ".join(map(str, amount))


@lru_cache(maxsize=KEPT)
def amount_in(text: str, width: int) -> Amount:
    """The amount that ``amount_out`` wrote."""
    found = text.split(" ") if len(text) <= MOST_TEXT else []
    if len(found) != width or not all(each.isascii() and each.isdigit() for each in found):
        raise Unreadable("an amount in the ledger is not one that expost writes; the file was changed.")
    return tuple(map(int, found))
