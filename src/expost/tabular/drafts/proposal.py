"""The column that a draft proposes for the cells that it saw, or why it leaves the column out."""

import math
import re
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import final

from expost.tabular.drafts import names
from expost.tabular.drafts.edges import BINS, bins_for, even
from expost.tabular.drafts.seen import MANY, Seen, Spread
from expost.tabular.recognition import MOSTLY, formats_of, have_short_years, measure_of, numerals_of, share, words_of
from expost.tabular.schema.binned import Dates, IntegerBins, Numeric
from expost.tabular.schema.bins import WHOLE_LIMIT, Closed
from expost.tabular.schema.cells import Cell, ordinal, text_of
from expost.tabular.schema.column import Column, Missing
from expost.tabular.schema.declaration import toml
from expost.tabular.schema.listed import Boolean, Categorical, Integer
from expost.tabular.schema.spelling import DayFormat, Numerals
from expost.tabular.thousands import thousands_note

MOST_TEXTS = 100
"""Text columns with more values than this are proposed by a prefix, or as dropped."""

MOST_NUMBERS = 20
"""Whole numbers that span no more than this are listed, not binned."""

LARGEST = 1e299
"""Numbers beyond this have no room for edges."""

LONGEST_PREFIX = 4
CODE = re.compile(r"[^\W\d_]{0,3}[0-9][0-9A-Za-z]*([.\-/ ][0-9A-Za-z]+)*")
"""A code: some letters, digits, and more of both in groups."""
PADDED, RARELY = re.compile("0[0-9]+"), 0.01
EIGHT_DIGITS = re.compile("[0-9]{8}")

STEPS_OF_MONTHS = (1, 3, 12, 24, 60, 120, 240, 600, 1200, 6000, 12000)
"""Months, quarters, years and so on: what dates are binned by."""

KEPT = Missing.CATEGORY


@final
@dataclass(frozen=True, slots=True)
class Proposal:
    """A column, or None where it is to be left out, and what its owner should know of that."""

    column: Column | None
    note: str | None = None


@final
@dataclass(frozen=True, slots=True)
class Numbers:
    """Cells that are numbers, written so; ``doubt`` is what to tell of it."""

    numerals: Numerals
    doubt: str | None = None


@final
@dataclass(frozen=True, slots=True)
class Days:
    """Cells that are dates, written so or in ISO form."""

    format: DayFormat | None
    doubt: str | None = None

    def day(self, cell: Cell) -> int | None:
        """The number of the day."""
        return ordinal(text_of(cell)) if self.format is None else self.format.day(cell)


def reading_of(seen: Seen) -> Numbers | Days | None:
    """How the cells of a column are read, as numbers or as dates; None where they are texts."""
    fitting = numerals_of(seen.counts)
    if not fitting or share(seen.counts, _eight_digits) >= MOSTLY:
        dated = _days(seen)
        if dated is not None and (not fitting or _plausible(seen, dated)):
            return dated
    if not fitting or not any(map(math.isfinite, numbers_in(seen.counts, fitting[0]))):
        return None
    odd = [cell for cell in seen.counts if fitting[0].number(cell) is None]
    if odd and len(seen.counts) - len(odd) <= MOST_NUMBERS:
        return None
    return Numbers(fitting[0], _doubt(odd, "number") or thousands_note(fitting[0], seen.counts))


def numbers_in(cells: Mapping[Cell, int], numerals: Numerals) -> Counter[float]:
    """The numbers of these cells, each with how often it was seen; those beyond the floats are infinite."""
    found = Counter[float]()
    for cell, times in cells.items():
        value = numerals.number(cell)
        if value is not None:
            found[float(value) if abs(value) <= sys.float_info.max else (math.inf if value > 0 else -math.inf)] += times
    return found


def left_out(seen: Seen, *, beside: str | None) -> str | None:
    """Why a column is left out whatever it holds: it is empty, or tells rows apart beside the unit, if there is one."""
    whose = "Its values repeat: if" if seen.repeats else "If a person may ever have several rows, and"
    instead = "" if beside is None else f" instead of {beside}"
    unit = f" {whose} it says whose row it is, declare it as the unit{instead}." * (seen.repeats or beside is None)
    if not seen.cells:
        return "it holds no value."
    if names.identifies(seen.name):
        return f"by its name it tells people or rows apart.{unit}"
    if names.numbers(seen.name) and len(seen.counts) > max(MOST_TEXTS, seen.cells / 10):
        return f"by its name it is a running number, and it has many values.{unit}"
    return None


def unique(seen: Seen) -> str | None:
    """Why a column of texts or whole numbers is left out: no two rows have the same."""
    apart = not seen.repeats and seen.cells > MOST_TEXTS
    return "no two rows have the same value, so it tells rows apart." if apart else None


def of_numbers(seen: Seen, numbers: Numbers, spread: Spread) -> Proposal:
    """Codes, a natural range, or bins."""
    low, high = (pick(spread.heavy.keys() | {end}) for pick, end in ((min, spread.low), (max, spread.high)))
    spread.whole = spread.whole and max(abs(low), abs(high)) <= WHOLE_LIMIT // 4
    natural = names.natural_range(seen.name, low, high) if spread.whole else None
    if names.is_code(seen.name) or (natural is None and _are_padded(seen)):
        return of_texts(seen)
    if spread.whole and unique(seen):
        return Proposal(None, unique(seen))
    if max(abs(low), abs(high)) > LARGEST:
        return Proposal(None, "its numbers are too large for bins.")
    if spread.whole and natural is None and _are_few(seen, high - low):
        return _listed(seen, sorted(map(text_of, seen.counts), key=lambda text: numbers.numerals.number(text) or 0))
    if spread.whole and natural is None and high - low < MOST_NUMBERS:
        natural = int(low), int(high)
    if natural is None:
        return Proposal(_binned(seen.name, numbers.numerals, spread), numbers.doubt)
    return Proposal(Integer(seen.name, tuple(range(natural[0], natural[1] + 1)), KEPT, numbers.numerals), numbers.doubt)


def _binned(name: str, numerals: Numerals, spread: Spread) -> Column:
    if not spread.whole:
        edges, inside = bins_for(spread)
        return Numeric(name, edges, Closed.LEFT, KEPT, numerals, inside)
    if names.in_years(name, spread.low, spread.high) and not spread.heavy:
        return IntegerBins(name, tuple(map(int, even(spread))), Closed.LEFT, KEPT, numerals)
    edges, inside = bins_for(spread)
    ends = tuple(int(edge) if math.isfinite(edge) else edge for edge in edges)
    return IntegerBins(name, ends, Closed.LEFT, KEPT, numerals, inside)


def of_days(seen: Seen, days: Days, found: set[int]) -> Proposal:
    """Up to ten bins between first days of months, quarters or years."""
    first, last = (12 * day.year + day.month - 1 for day in map(date.fromordinal, (min(found), max(found))))
    step = next(step for step in STEPS_OF_MONTHS if last // step - first // step < BINS)
    months = range(first // step * step, last // step * step + step + 1, step)
    return Proposal(Dates(seen.name, tuple(map(_first_day, months)), Closed.LEFT, KEPT, days.format), days.doubt)


def of_texts(seen: Seen) -> Proposal:
    """Truth values, a list, or codes by their first characters."""
    apart = unique(seen)
    if apart:
        return Proposal(None, apart)
    words = words_of(seen.counts)
    if words is not None:
        return Proposal(Boolean(seen.name, KEPT, words))
    unread = None if names.is_code(seen.name) else _unread(seen)
    if seen.complete and len(seen.counts) <= MOST_TEXTS:
        listed = _listed(seen, sorted(map(text_of, seen.counts)))
        return replace(listed, note=unread) if len(seen.counts) > MOST_NUMBERS else listed
    if unread is not None:
        return Proposal(None, unread)
    if share(seen.counts, lambda cell: CODE.fullmatch(text_of(cell))) >= MOSTLY:
        for length in range(LONGEST_PREFIX, 0, -1):
            heads = Counter(text_of(cell)[:length].rstrip() for cell in seen.counts)
            if 1 < len(heads) <= MOST_TEXTS and all(head[-1].isalnum() for head in heads):
                column = Categorical(seen.name, tuple(sorted(heads)), "other", missing=KEPT, prefix=length)
                return Proposal(
                    column, f"its codes are declared by their first {length} characters, because there are many."
                )
    return Proposal(None, f"it has more than {MOST_TEXTS} different texts; group them if they are needed.")


def _unread(seen: Seen) -> str | None:
    """Why texts that are meant as dates or as numbers cannot be read as such."""
    if have_short_years(seen.counts):
        return "its dates have years of two digits, which leave the century open; write four."
    measure = measure_of(seen.counts)
    return None if measure is None else f"it has {measure} beside its numbers; write the numbers alone."


def _listed(seen: Seen, values: list[str]) -> Proposal:
    fallback = next((value for value in values if value.lower() == "other"), None)
    other = "other" if fallback is None else None
    return Proposal(Categorical(seen.name, tuple(values), other, fallback, missing=KEPT))


def _are_few(seen: Seen, span: float) -> bool:
    """Whether whole numbers are codes: few of them, each often, with gaps between."""
    count = len(seen.counts)
    return seen.complete and count <= MOST_NUMBERS and seen.cells >= MANY * count and 2 * count <= span + 1


def _are_padded(seen: Seen) -> bool:
    return share(seen.counts, lambda cell: PADDED.fullmatch(text_of(cell))) > RARELY


def _days(seen: Seen) -> Days | None:
    fitting: tuple[DayFormat | None, ...] = (None,)
    if share(seen.counts, Days(None).day) < MOSTLY:
        fitting = formats_of(seen.counts)
    if not fitting:
        return None
    days = Days(fitting[0])
    other = fitting[1] if len(fitting) > 1 else None
    months = None if other is None else f"if the month comes first, say format = {toml(other.text)}."
    return replace(days, doubt=_doubt([cell for cell in seen.counts if days.day(cell) is None], "date") or months)


def _doubt(odd: list[Cell], kind: str) -> str | None:
    if not odd:
        return None
    mark = toml(text_of(odd[0]))
    return f"{mark} is not a {kind} and counts as missing; if it stands for that, draft again with --missing {mark}."


def _eight_digits(cell: Cell) -> object:
    return EIGHT_DIGITS.fullmatch(text_of(cell))


def _plausible(seen: Seen, days: Days) -> bool:
    """Whether eight digits are dates and not numbers: all of them, and in years that people write down."""
    found = [days.day(cell) for cell in seen.counts]
    return all(day is not None and 1850 <= date.fromordinal(day).year <= 2150 for day in found)


def _first_day(month: int) -> date:
    """The first day of a month counted from the year 0, or the calendar's own end beyond it."""
    year, place = divmod(month, 12)
    return date.min if year < date.min.year else date.max if year > date.max.year else date(year, place + 1, 1)
