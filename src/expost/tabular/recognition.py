"""How cells look to be written: numbers, dates and truth values that are recognised whatever their spelling."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import islice, product
from typing import TypeVar

from expost.tabular.schema.cells import Cell, text_of
from expost.tabular.schema.spelling import FALSE_WORDS, TRUE_WORDS, USUAL, USUAL_WORDS, DayFormat, Numerals, TruthWords

C = TypeVar("C", bound=Cell)
T = TypeVar("T")

MOSTLY = 0.9
"""The share of cells that a spelling must read before it is proposed."""

ENOUGH = 500
"""Cells by which formats are told apart before all of them are read."""

ORDERS = ("%d{0}%m{0}%Y", "%m{0}%d{0}%Y", "%Y{0}%m{0}%d")
FORMATS = tuple(
    DayFormat(order.format(sign) + time)
    for order, sign, time in product(ORDERS, (".", "/", "-", " ", ""), ("", " %H:%M", " %H:%M:%S", "T%H:%M:%S"))
)
NUMERALS = (
    Numerals(), Numerals(","), Numerals(",", "."), Numerals(",", " "), Numerals(",", "'"), Numerals(thousands=","),
    Numerals(thousands="'"), Numerals(thousands=" "),
)  # fmt: skip
"""Ways to write numbers, the simpler ones first."""

WORDS = (
    ("ja", "nein"), ("ja", "nej"), ("ja", "nei"), ("ja", "nee"), ("j", "n"), ("wahr", "falsch"), ("w", "f"),
    ("oui", "non"), ("o", "n"), ("vrai", "faux"), ("v", "f"), ("sí", "no"), ("si", "no"), ("sì", "no"), ("s", "n"),
    ("vero", "falso"), ("verdadero", "falso"), ("sim", "não"), ("sim", "nao"), ("tak", "nie"), ("ano", "ne"),
    ("da", "ne"), ("da", "nu"), ("igen", "nem"), ("kyllä", "ei"), ("jah", "ei"),
)  # fmt: skip
"""Words for true and false in other languages."""


SHORT_YEARS = re.compile(r"(?:(?:0?[1-9]|[12][0-9]|3[01])([./-])){2}[0-9]{2}(?![0-9]).*")
"""A date such as 31.12.50, which leaves the century open."""

MEASURED = (
    re.compile(r"(?P<measure>[^\w\s.,'+-]|[A-Z]{3}(?=\s))\s*(?P<number>[+-]?[0-9].*)"),
    re.compile(r"(?P<number>[+-]?[0-9].*?)\s*(?P<measure>[^\w\s.,'+-]|(?<=\s)[^\W\d_]{1,4})"),
)
"""A number with a sign such as € or % on one side, a currency such as EUR ahead or a short word such as kg behind."""


def share(cells: Mapping[C, int], read: Callable[[C], object]) -> float:
    """The share of these cells, each with how often it was seen, of which something can be read."""
    return sum(times for cell, times in cells.items() if read(cell) is not None) / max(1, sum(cells.values()))


def numerals_of(cells: Mapping[C, int]) -> tuple[Numerals, ...]:
    """The ways to write numbers by which most of the cells are numbers, the simplest first; none where they are not."""
    if share(cells, USUAL.number) == 1:
        return (USUAL,)
    return _best(NUMERALS, lambda each: share(cells, each.number))


def formats_of(cells: Mapping[C, int]) -> tuple[DayFormat, ...]:
    """The formats in which most of the cells are dates, days before months; none where they are not."""
    few = dict(islice(cells.items(), 0, None, 1 + len(cells) // ENOUGH))
    likely = [each for each in FORMATS if share(few, each.day) >= MOSTLY / 2]
    return _best(likely, lambda each: share(cells, each.day))


def words_of(cells: Iterable[Cell]) -> TruthWords | None:
    """The words for true and false, as they are spelled here; None where they are not known, or are 0 and 1."""
    found = {text_of(cell).lower(): text_of(cell) for cell in cells}
    if found.keys() <= (FALSE_WORDS | TRUE_WORDS) - {"0", "1"}:
        return USUAL_WORDS
    for true, false in WORDS:
        if found.keys() <= {true, false} and (len(found) == 2 or len(true) > 1):
            return TruthWords((found.get(true, true),), (found.get(false, false),))
    return None


def have_short_years(cells: Mapping[C, int]) -> bool:
    """Whether most of these cells are dates whose years have two digits."""
    return share(cells, lambda cell: SHORT_YEARS.fullmatch(text_of(cell))) >= MOSTLY


def measure_of(cells: Mapping[C, int]) -> str | None:
    """The sign or the word, such as € or kg, that most of these cells have beside a number; None if they have none."""
    for pattern in MEASURED:
        found, numbers = Counter[str](), Counter[Cell]()
        for cell, times in cells.items():
            parts = pattern.fullmatch(text_of(cell))
            if parts is not None:
                found[parts["measure"]] += times
                numbers[parts["number"]] += times
        for measure, times in found.most_common(1):
            if times >= MOSTLY * sum(cells.values()) and numerals_of(numbers):
                return measure
    return None


def _best(ways: Iterable[T], read: Callable[[T], float]) -> tuple[T, ...]:
    """Those that read the most, if that is most of the cells."""
    shares = {way: read(way) for way in ways}
    best = max(shares.values(), default=0.0)
    return tuple(way for way, found in shares.items() if found == best >= MOSTLY)
