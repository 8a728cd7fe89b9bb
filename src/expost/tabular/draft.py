"""A first schema read off the data, for its owner to review: private until then, and marked so."""

import math
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from functools import partial
from typing import final

from expost.errors import Unreadable
from expost.private import Neighbours
from expost.tabular.schema.binned import Dates, IntegerBins, Numeric
from expost.tabular.schema.bins import WHOLE_LIMIT, Closed
from expost.tabular.schema.cells import Cell, number_in, ordinal, text_of
from expost.tabular.schema.column import Column, Missing
from expost.tabular.schema.declaration import toml
from expost.tabular.schema.listed import Boolean, Categorical, Integer
from expost.tabular.schema.schema import declared, heading
from expost.tabular.schema.spelling import FALSE_WORDS, TRUE_WORDS
from expost.tabular.source.reading import cells_of, opened, quietly, revealed

BINS = 10
MOST_TEXTS = 100
"""Text columns with more values than this are proposed as dropped."""

MOST_NUMBERS = 20
"""Whole numbers that span no more than this are listed, not binned."""

STEPS_OF_MONTHS = (1, 3, 12, 24, 60, 120, 240, 600, 1200, 6000, 12000)
"""Months, quarters, years and so on: what dates are binned by."""

WARNING = """\
# DRAFT, PRIVATE: for the eyes of the data's owner only. Which columns are declared below, their kinds, values, ranges
# and edges were all read from the records, and a single record can have changed any of them. No bound covers that.
# Before anybody else sees this file, put what you knew without looking:
#   kind    what the form or the code book says, even where no record shows it
#   values  the whole list, not what happened to occur
#   range   limits that you would name without looking
#   edges   round limits that you would name without looking
# Remove columns nobody needs, add those you need, then set reviewed = true. Comments are the same for all records and
# may stay.
"""


@final
@dataclass
class Seen:
    """What a pass over the data saw of one column."""

    name: str
    rows: int = 0
    values: set[str] = field(default_factory=set)

    def add(self, found: list[Cell | None]) -> None:
        """Note some cells."""
        self.rows += len(found)
        self.values.update(text_of(cell) for cell in found if cell is not None)

    @property
    def identifies(self) -> bool:
        """Whether the column looks like one that tells records apart."""
        named = self.name.lower() == "id" or self.name.lower().endswith(("_id", "-id", " id", "uuid"))
        unique = len(self.values) == self.rows > MOST_TEXTS
        return named or (unique and not any("." in value or ("-" in value and ordinal(value)) for value in self.values))


def draft(source: object, *, missing_marks: tuple[str, ...] = ()) -> str:
    """A schema file with ``reviewed = false`` for any source that ``read`` takes.

    The domain it proposes was read from the data, for its owner to replace by what is public. Nothing else was: a
    missing value is a category of its own whether or not one was seen, and comments follow from the names of the
    columns alone, because a comment survives a review that looks at the settings only.
    """
    result = quietly(partial(_draft, source, missing_marks), source)
    del source  # a traceback that shows variables would show its rows
    return revealed(result)


def nice_edges(low: Fraction, high: Fraction, finest: Fraction) -> list[Fraction]:
    """About ten bins of a round width, from at or below ``low`` to above ``high``; no width under ``finest``."""
    width = max((high - low) / BINS, finest)
    power = Fraction(10) ** math.floor(math.log10(width))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= width)
    first, last = math.floor(low / step), math.floor(high / step) + 1
    return [step * place for place in range(first, last + 1)]


def _draft(source: object, marks: tuple[str, ...]) -> str:
    table = opened(source)
    if len(set(table.names)) < len(table.names) or not table.names:
        raise Unreadable("the table has no column names, or has one of them twice; name each column once.")
    seen = [Seen(name) for name in table.names]
    absent = frozenset({None, "", *marks})
    for chunk in table.chunks(table.names):
        for column, values in zip(seen, chunk, strict=True):
            column.add(cells_of(values, absent))
    if not seen[0].rows:
        raise Unreadable("the table has no rows; check that it is the right one and written to its end.")
    proposed = [None if column.identifies else _proposed(column) for column in seen]
    blocks = [declared(column) for column in proposed if column is not None]
    head = heading(Neighbours.ADD_REMOVE, reviewed=False, missing_marks=marks)
    return "\n".join([WARNING + _columns(table.names), head, *blocks])


def _columns(names: tuple[str, ...]) -> str:
    """All columns of the table: naming those that are left out would tell what their records are like."""
    return f"# The table has these columns; what is not declared is not read: {', '.join(map(toml, names))}.\n"


def _proposed(seen: Seen) -> Column | None:
    words = {value.lower() for value in seen.values}
    if not words:
        return None
    if words <= (FALSE_WORDS | TRUE_WORDS) - {"0", "1"}:
        return Boolean(seen.name, Missing.CATEGORY)
    numbers = [number_in(value) for value in seen.values]
    finite = [Fraction(value) for value in numbers if value is not None and math.isfinite(value)]
    if None not in numbers and finite:
        return _numbers(seen, min(finite), max(finite), all(value.denominator == 1 for value in finite))
    days = [ordinal(value) for value in seen.values]
    known = [day for day in days if day is not None]
    if len(known) == len(days):
        return _dates(seen, min(known), max(known))
    return _texts(seen)


def _texts(seen: Seen) -> Column | None:
    if len(seen.values) > MOST_TEXTS:
        return None
    values = tuple(sorted(seen.values))
    fallback = next((value for value in values if value.lower() == "other"), None)
    other = "other" if fallback is None else None
    return Categorical(seen.name, values, other, fallback, missing=Missing.CATEGORY)


def _numbers(seen: Seen, low: Fraction, high: Fraction, whole: bool) -> Column | None:
    largest = max(abs(low), abs(high), Fraction(1, 10**290))
    if largest > Fraction(10) ** 299:
        return None
    whole = whole and largest <= WHOLE_LIMIT // 4
    if whole and high - low < MOST_NUMBERS:
        return Integer(seen.name, tuple(range(int(low), int(high) + 1)), Missing.CATEGORY)
    if whole:
        edges = nice_edges(low, high, Fraction(1))
        return IntegerBins(seen.name, tuple(map(int, edges)), Closed.LEFT, Missing.CATEGORY)
    finest = Fraction(1) if low == high else largest / 10**12  # a lone value must not be pinned down
    return Numeric(seen.name, tuple(map(float, nice_edges(low, high, finest))), Closed.LEFT, Missing.CATEGORY)


def _dates(seen: Seen, low: int, high: int) -> Column:
    """Up to ten bins between first days of months, quarters or years."""
    first, last = (12 * day.year + day.month - 1 for day in map(date.fromordinal, (low, high)))
    step = next(step for step in STEPS_OF_MONTHS if last // step - first // step < BINS)
    months = range(first // step * step, last // step * step + step + 1, step)
    return Dates(seen.name, tuple(map(_first_day, months)), Closed.LEFT, Missing.CATEGORY)


def _first_day(month: int) -> date:
    """The first day of a month counted from the year 0, or the calendar's own end beyond it."""
    year, place = divmod(month, 12)
    return date.min if year < date.min.year else date.max if year > date.max.year else date(year, place + 1, 1)
