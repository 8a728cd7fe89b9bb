"""Notation: numbers, words and tables of a receipt, fractions as texts and infinity as null, nothing rounded.

What is read back may have been written by anybody, so that each size is bounded before anything is computed from it.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from expost.errors import Unreadable
from expost.ledger import Fact
from expost.text import Json

MOST_DIGITS = 1000
"""Digits of a numerator or a denominator: the square of any float has fewer, and sums are rounded far below this."""
FRACTION = re.compile(rf"-?[0-9]{{1,{MOST_DIGITS}}}(/[0-9]{{1,{MOST_DIGITS}}})?")
"""How Python writes a fraction; exponents, which a few characters make huge, are not among it."""
MOST_COUNT = 10**7
"""Equal steps on one line: more than any run of ours takes."""
MOST_ENTRY = 2**63 - 1
"""The number of an entry of a ledger, which all of its runs together bring up; homes have columns for it."""


def finite(value: float) -> float | None:
    """A number for JSON, which knows no infinity."""
    return value if math.isfinite(value) else None


def facts_in(found: Json) -> dict[str, Fact]:
    """The facts of a step, refused unless each is a text, a whole number or a truth value."""
    facts: dict[str, Fact] = {}
    for name, value in table(found).items():
        if not isinstance(value, str | int):
            raise Unreadable("a fact of the receipt is neither a text nor a whole number; it was changed.")
        facts[name] = value
    return facts


def table(found: Json) -> Mapping[str, Json]:
    """The value, refused unless it is a table."""
    if not isinstance(found, Mapping):
        raise Unreadable("the receipt has something else where a table belongs; it was changed or cut short.")
    return found


def record(found: Json, names: Iterable[str]) -> Mapping[str, Json]:
    """The value, refused unless it is a table with just these names: what no audit reads, a reader may believe."""
    fields, known = table(found), {*names}
    if fields.keys() != known:
        raise Unreadable("a table of the receipt lacks a field, or has one that expost does not write.")
    return fields


def items(found: Json) -> Sequence[Json]:
    """The value, refused unless it is a list."""
    if isinstance(found, str) or not isinstance(found, Sequence):
        raise Unreadable("the receipt has something else where a list belongs; it was changed or cut short.")
    return found


def tables(found: Json) -> list[Mapping[str, Json]]:
    """The value, refused unless it is a list of tables."""
    return [table(each) for each in items(found)]


def text(found: Json) -> str:
    """The value, refused unless it is a text."""
    if not isinstance(found, str):
        raise Unreadable("the receipt has something else where a text belongs; it was changed or cut short.")
    return found


def truth(found: Json) -> bool:
    """The value, refused unless it is true or false."""
    if not isinstance(found, bool):
        raise Unreadable("the receipt has something else where true or false belongs; it was changed.")
    return found


def number(found: Json) -> float:
    """The value as a float, null as infinity; refused if it is anything else."""
    if found is None:
        return math.inf
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise Unreadable("the receipt has something else where a number belongs; it was changed or cut short.")
    if math.isnan(found):
        raise Unreadable("the receipt has something that is not a number where one belongs; it was changed.")
    return float(found)


def whole(found: Json, *, most: int = MOST_COUNT) -> int:
    """The value, refused unless it counts something."""
    if isinstance(found, bool) or not isinstance(found, int) or not 1 <= found <= most:
        raise Unreadable(f"the receipt has something else where a count from 1 to {most} belongs.")
    return found


def fraction(found: Json) -> Fraction:
    """The exact number that a text spells."""
    spelled = text(found)
    if not FRACTION.fullmatch(spelled):
        raise Unreadable(f"the receipt has something else where a fraction of at most {MOST_DIGITS} digits belongs.")
    try:
        return Fraction(spelled)
    except ZeroDivisionError:
        raise Unreadable("the receipt has something else where a fraction belongs; it was changed.") from None
