"""A first schema read off the data, for its owner to review: private until then, and marked so."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from functools import partial
from typing import final

from expost.errors import SchemaMismatch
from expost.private import Neighbours
from expost.tabular.binned import WHOLE_LIMIT, Closed, Dates, IntegerBins, Numeric, ordinal
from expost.tabular.column import Column, Missing, number
from expost.tabular.declaration import toml
from expost.tabular.listed import FALSE_WORDS, TRUE_WORDS, Boolean, Categorical, Integer
from expost.tabular.schema import declared, heading
from expost.tabular.source import cells, opened, quietly, revealed

BINS = 10
MOST_TEXTS = 100
"""Text columns with more values than this are proposed as dropped."""

MOST_NUMBERS = 20
"""Whole numbers that span no more than this are listed, not binned."""

WARNING = """\
# DRAFT, PRIVATE: everything below was read from the data. For each column decide what you would say of it in public
# without looking: its possible values, its range. Change what tells more, remove columns nobody needs,
# then set reviewed = true.
"""


@final
@dataclass
class Seen:
    """What a pass over the data saw of one column."""

    name: str
    rows: int = 0
    missing: int = 0
    values: set[str] = field(default_factory=set)

    def add(self, found: list[str | None]) -> None:
        """Note some cells."""
        self.rows += len(found)
        self.missing += found.count(None)
        self.values.update(cell for cell in found if cell is not None)

    @property
    def identifies(self) -> bool:
        """Whether the column looks like one that tells records apart."""
        named = self.name.lower() == "id" or self.name.lower().endswith(("_id", "-id", " id", "uuid"))
        unique = len(self.values) == self.rows > MOST_TEXTS
        return named or (unique and not any("." in value or ("-" in value and ordinal(value)) for value in self.values))

    @property
    def policy(self) -> Missing:
        """A category of its own where a value was missing."""
        return Missing.CATEGORY if self.missing else Missing.FALLBACK


def draft(source: object, *, missing_marks: tuple[str, ...] = ()) -> str:
    """A schema file with ``reviewed = false`` for any source that ``read`` takes; its comments say what was seen."""
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
        raise SchemaMismatch("the table has no column names, or one of them twice; name each column once.")
    seen = [Seen(name) for name in table.names]
    absent = frozenset({None, "", *marks})
    for chunk in table.chunks(table.names):
        for column, values in zip(seen, chunk, strict=True):
            column.add(cells(values, absent))
    if not seen[0].rows:
        raise SchemaMismatch("the table has no rows; check that it is the right one and written to its end.")
    blocks = [_block(column) for column in seen]
    return "\n".join([WARNING, heading(Neighbours.ADD_REMOVE, reviewed=False, missing_marks=marks), *blocks])


def _block(seen: Seen) -> str:
    """What was seen of a column, and what is proposed for it."""
    proposed = None if seen.identifies else _proposed(seen)
    shown = f"# {toml(seen.name)}: {len(seen.values)} different values, {seen.missing} missing; {_range(seen)}\n"
    if proposed is not None:
        return shown + declared(proposed)
    reason = (
        "it looks like an identifier" if seen.identifies else "it has too many texts, too large numbers or no value"
    )
    return f"{shown}# Dropped, because {reason}: declare it to keep it.\n"


def _range(seen: Seen) -> str:
    if not seen.values:
        return "no value."
    key: Callable[[str], tuple[float, str]] = lambda value: (number(value) or 0, value)  # noqa: E731
    return f"from {toml(min(seen.values, key=key)[:40])} to {toml(max(seen.values, key=key)[:40])}."


def _proposed(seen: Seen) -> Column | None:
    words = {value.lower() for value in seen.values}
    if not words:
        return None
    if words <= (FALSE_WORDS | TRUE_WORDS) - {"0", "1"}:
        return Boolean(seen.name, seen.policy)
    numbers = [number(value) for value in seen.values]
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
    other = next(word for word in ("other", "(other)", "((other))") if word not in seen.values)
    return Categorical(seen.name, tuple(sorted(seen.values)), other, None, seen.policy)


def _numbers(seen: Seen, low: Fraction, high: Fraction, whole: bool) -> Column | None:
    largest = max(abs(low), abs(high), Fraction(1, 10**290))
    if largest > Fraction(10) ** 299:
        return None
    whole = whole and largest <= WHOLE_LIMIT // 4
    if whole and high - low < MOST_NUMBERS:
        return Integer(seen.name, tuple(range(int(low), int(high) + 1)), seen.policy)
    if whole:
        edges = nice_edges(low, high, Fraction(1))
        return IntegerBins(seen.name, tuple(map(int, edges)), Closed.LEFT, seen.policy)
    finest = Fraction(1) if low == high else largest / 10**12  # a lone value must not be pinned down
    return Numeric(seen.name, tuple(map(float, nice_edges(low, high, finest))), Closed.LEFT, seen.policy)


def _dates(seen: Seen, low: int, high: int) -> Column:
    """Whole years where there are several, else the months or days that ``nice_edges`` takes."""
    first, last = date.fromordinal(low), date.fromordinal(high)
    if last.year - first.year >= 3:
        years = nice_edges(Fraction(first.year), Fraction(last.year), Fraction(1))
        edges = [date(min(max(int(year), 1), 9999), 1, 1) for year in years]
    else:
        edges = [date.fromordinal(int(day)) for day in nice_edges(Fraction(low), Fraction(high), Fraction(1))]
    return Dates(seen.name, tuple(sorted(set(edges))), Closed.LEFT, seen.policy)
