"""How a table writes its numbers, dates and truth values where that is not the usual way: declared, and public.

A spelling is about text only. A number or a date that a table holds as such, and not as text, has none.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, time
from functools import lru_cache
from typing import final

from expost.errors import SchemaMismatch
from expost.tabular.schema.cells import Cell, Plain, number_in, ordinal
from expost.tabular.schema.column import Values, as_texts

FALSE_WORDS = frozenset({"false", "f", "no", "n", "0"})
TRUE_WORDS = frozenset({"true", "t", "yes", "y", "1"})
"""The usual words, in small letters."""

SPELLINGS = frozenset({"decimal", "thousands", "format", "true", "false"})
"""The settings of a column that say how it is written."""

DECIMALS = (".", ",")
THOUSANDS = {".": ".", ",": ",", "'": "'\N{RIGHT SINGLE QUOTATION MARK}", " ": " \N{NO-BREAK SPACE}\u2009\u202f"}
"""Signs between thousands, each with the letters that stand for it: an apostrophe and a space have several."""

PARTS = {"d": "day", "m": "month", "Y": "year", "H": "hour", "M": "minute", "S": "second"}
"""The directives of a date's format: those of strptime that mean the same in every language and every century."""
DIRECTIVE = re.compile("%(.?)", re.DOTALL)
ONE_OR_TWO = "(?P<{}>[0-9]{{2}}|(?<![0-9])[0-9](?![0-9]))"
"""One digit will do where none is beside it."""


@final
@dataclass(frozen=True, slots=True)
class Numerals:
    """How numbers are written: the sign before decimals, and the one that may stand between thousands."""

    decimal: str = "."
    thousands: str | None = None

    def __post_init__(self) -> None:
        if self.decimal not in DECIMALS:
            raise SchemaMismatch(f'decimal is {self.decimal!r}; it must be one of "." and ",".')
        if self.thousands is not None and self.thousands not in THOUSANDS:
            raise SchemaMismatch(f"thousands is {self.thousands!r}; it must be a point, a comma, a space or '.")
        if self.thousands == self.decimal:
            raise SchemaMismatch(f"decimal and thousands are both {self.decimal!r}; declare two different signs.")

    @property
    def settings(self) -> dict[str, str]:
        """What a schema file says of it: nothing where numbers are written as usual."""
        decimal = {} if self.decimal == "." else {"decimal": self.decimal}
        return decimal if self.thousands is None else decimal | {"thousands": self.thousands}

    def number(self, cell: Cell) -> int | float | None:
        """The number that a cell holds or spells; None where it spells none."""
        if isinstance(cell, Plain):
            return number_in(cell.text)
        if self.decimal == "." and self.thousands is None:
            return number_in(cell)
        found = _numeral(self.decimal, self.thousands or "").fullmatch(cell)
        if found is None:
            return None
        sign, whole, decimals, exponent = (each or "" for each in found.groups())
        point = f".{decimals}" if decimals else ""
        return number_in(f"{sign}{re.sub('[^0-9]', '', whole)}{point}{exponent}")

    def respelled(self, values: Values) -> Values:
        """The values as a table writes them, with no sign between thousands; themselves where that is as usual."""
        return as_texts(values, lambda value: str(value).replace(".", self.decimal)) if self.settings else values


USUAL = Numerals()


@lru_cache(maxsize=1024)
def _numeral(decimal: str, thousands: str) -> re.Pattern[str]:
    """A sign, whole digits, in threes or not parted at all, decimals and an exponent."""
    parted = f"|[0-9]{{1,3}}(?:[{THOUSANDS[thousands]}][0-9]{{3}})+" if thousands else ""
    return re.compile(
        rf"([+-]?)([0-9]+{parted}|(?=[{decimal}][0-9]))(?:[{decimal}]([0-9]*))?(e[+-]?[0-9]+)?", re.IGNORECASE
    )


@final
@dataclass(frozen=True, slots=True)
class DayFormat:
    """How dates are written: a day, a month and a year of four digits, and a time of day that is ignored.

    >>> day = DayFormat("%d.%m.%Y").day("31.12.1950")
    >>> date.fromordinal(day)
    datetime.date(1950, 12, 31)
    """

    text: str

    def __post_init__(self) -> None:
        known = [letter for letter in DIRECTIVE.findall(self.text) if letter != "%"]
        odd = [letter for letter in known if letter not in PARTS]
        if odd:
            raise SchemaMismatch(
                f"format has the directive %{odd[0]}; it may have %d, %m, %Y, %H, %M, %S and %% only, since other ones "
                "depend on the language or leave the century open."
            )
        if len(set(known)) < len(known) or not {"d", "m", "Y"} <= set(known) or self.text != self.text.strip():
            raise SchemaMismatch(
                f"format is {self.text!r}; it must have %d, %m and %Y, none of them twice, and no space at its ends."
            )

    def day(self, cell: Cell) -> int | None:
        """The number of the day that a cell holds or spells; None where it spells none."""
        if isinstance(cell, Plain):
            return ordinal(cell.text)
        found = _pattern(self.text).fullmatch(cell)
        if found is None:
            return None
        parts = {part: int(digits) for part, digits in found.groupdict().items()}
        try:
            time(parts.get("hour", 0), parts.get("minute", 0), parts.get("second", 0))
            return date(parts["year"], parts["month"], parts["day"]).toordinal()
        except ValueError:  # there is no 31st of February, and no 25th hour
            return None

    def spelled(self, value: date) -> str:
        """The date as a table writes it, at midnight where it has a time."""
        known = {"d": f"{value.day:02}", "m": f"{value.month:02}", "Y": f"{value.year:04}", "%": "%"}
        return DIRECTIVE.sub(lambda found: known.get(found[1], "00"), self.text)


@lru_cache(maxsize=1024)
def _pattern(text: str) -> re.Pattern[str]:
    """The expression whose groups are the parts of a date."""
    made, end = [], 0
    for found in DIRECTIVE.finditer(text):
        part = PARTS.get(found[1])
        four = "(?P<year>[0-9]{4})"
        made.append(re.escape(text[end : found.start()]))
        made.append("%" if part is None else four if part == "year" else ONE_OR_TWO.format(part))
        end = found.end()
    return re.compile("".join((*made, re.escape(text[end:]))))


@final
@dataclass(frozen=True, slots=True)
class TruthWords:
    """Words for true and false, besides the usual ones and before them, in any case."""

    true: tuple[str, ...] = ()
    false: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        true, false = ({word.lower() for word in words} for words in (self.true, self.false))
        both = sorted((true | {"true"}) & (false | {"false"}) | (true & {"false"}) | (false & {"true"}))
        if both:
            raise SchemaMismatch(f'"{both[0]}" would mean both true and false; list each word on one side only.')
        if any(not word or word != word.strip() for word in (*self.true, *self.false)):
            raise SchemaMismatch("a word for true or false is blank or has space around it; trim it.")

    @property
    def settings(self) -> dict[str, tuple[str, ...]]:
        """What a schema file says of them."""
        return {side: words for side, words in (("true", self.true), ("false", self.false)) if words}

    def truth(self, text: str) -> bool | None:
        """What a text means; a number is taken by its value, since a table of floats has 1.0 where another has 1."""
        meaning = _meanings(self)
        found = meaning.get(text.lower())
        value = number_in(text) if found is None else None
        if value is None or (isinstance(value, float) and not value.is_integer()):
            return found
        return meaning.get(str(int(value)))

    def spelled(self, value: bool) -> str:
        """The first word of its side, or the usual one."""
        first = (self.true if value else self.false)[:1]
        return first[0] if first else str(bool(value)).lower()


USUAL_WORDS = TruthWords()


@lru_cache(maxsize=1024)
def _meanings(words: TruthWords) -> Mapping[str, bool]:
    """What each word means, in small letters; a word that was declared means what was declared."""
    usual = dict.fromkeys(FALSE_WORDS, False) | dict.fromkeys(TRUE_WORDS, True)
    declared = {word.lower(): side for side, listed in ((True, words.true), (False, words.false)) for word in listed}
    return usual | declared
