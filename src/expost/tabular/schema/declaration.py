"""How a column is declared in a schema file: TOML in, one clear sentence for each mistake, TOML out."""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from typing import TypeVar, final

from expost.errors import SchemaMismatch
from expost.tabular.schema.binned import Dates, IntegerBins, Numeric
from expost.tabular.schema.bins import REAL_LIMIT, Closed, DateEdge
from expost.tabular.schema.column import LARGEST_DOMAIN, Column, Missing
from expost.tabular.schema.inside import Inside, Shape
from expost.tabular.schema.listed import Boolean, Categorical, Integer
from expost.tabular.schema.private_bins import PrivateBins
from expost.tabular.schema.spelling import DayFormat, Numerals, TruthWords

T = TypeVar("T")
NOUNS = {str: "a text in quotes", int: "a whole number", bool: "true or false", list: "a list in brackets"}
RULED = 'list rules at the head of the schema, such as rules = ["pregnant implies sex = F"]'


@final
class Fields:
    """The settings of one TOML table, each taken once; what nobody took is refused as a slip of the pen."""

    def __init__(self, table: object, where: str) -> None:
        if not isinstance(table, dict):
            raise SchemaMismatch(f"{where} is not a table of settings; write it under [[column]].")
        self._left: dict[str, object] = dict(table)
        self.where = where

    def take(self, key: str, kind: type[T]) -> T:
        """The setting, refused unless it is there and of this kind."""
        found = self.optional(key, kind)
        if found is None:
            raise SchemaMismatch(f"{self.where} does not say {key}; add it.")
        return found

    def optional(self, key: str, kind: type[T]) -> T | None:
        """The setting, or None where it is not there."""
        value = self._left.pop(key, None)
        if value is not None and type(value) is not kind:
            raise SchemaMismatch(f"{key} of {self.where} is not {NOUNS[kind]}; correct it.")
        return value if isinstance(value, kind) else None

    def has(self, key: str) -> bool:
        return key in self._left

    def says(self, key: str, word: str) -> bool:
        """Whether the setting is this word, which is taken then; no other word stands in its place."""
        value = self._left.get(key)
        if isinstance(value, str) and value != word:
            raise SchemaMismatch(f'{key} of {self.where} is "{value}"; write a list in brackets, or "{word}".')
        return value == word and self._left.pop(key) == word

    def choice(self, key: str, words: Mapping[str, T]) -> T:
        """What the word means, refused unless it is one of these."""
        word = self.optional(key, str)
        if word is None:
            raise SchemaMismatch(f"{self.where} does not say {key}; add it: it is one of {', '.join(words)}.")
        if word not in words:
            raise SchemaMismatch(f"{key} of {self.where} is {word}; it must be one of {', '.join(words)}.")
        return words[word]

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; numbers and truth values are taken as they are spelled in a table."""
        values = self.take(key, list)
        if not all(isinstance(value, str | int | float) for value in values):
            raise SchemaMismatch(f"{key} of {self.where} is not a list of texts; put each in quotes.")
        return tuple(value if isinstance(value, str) else str(value).lower() for value in values)

    def whole(self, key: str) -> tuple[int, ...]:
        """A list of whole numbers."""
        values = self.take(key, list)
        if not all(type(value) is int for value in values):
            raise SchemaMismatch(f"{key} of {self.where} is not a list of whole numbers; correct it.")
        return tuple(values)

    def numbers(self, key: str) -> tuple[float, ...]:
        """A list of numbers, which may be infinite."""
        values = self.take(key, list)
        if not all(type(value) in (int, float) for value in values):
            raise SchemaMismatch(f"{key} of {self.where} is not a list of numbers; correct it.")
        if any(type(value) is int and abs(value) > REAL_LIMIT for value in values):
            raise SchemaMismatch(f"{key} of {self.where} has a number beyond ±{REAL_LIMIT:g}; correct it.")
        return tuple(values)

    def dates(self, key: str) -> tuple[DateEdge, ...]:
        """A list of dates, as dates or texts, which may start or end with an infinity."""
        try:
            return tuple(map(_day, self.take(key, list)))
        except ValueError:
            raise SchemaMismatch(f"{key} of {self.where} is not a list of dates such as 2024-01-31.") from None

    def missing(self) -> Missing:
        """What a missing value becomes: true for a category of its own, "drop", or false for the fallback."""
        value = self._left.pop("missing", None)
        if type(value) is bool:
            return Missing.CATEGORY if value else Missing.FALLBACK
        if value == "drop":
            return Missing.DROP
        said = "does not say what becomes of a missing value" if value is None else "has an unknown choice for missing"
        raise SchemaMismatch(
            f'{self.where} {said}; write missing = true for a category of its own, missing = "drop" to leave the '
            "record out, or missing = false to count it as the fallback, which without one is the first value or bin."
        )

    def numerals(self) -> Numerals:
        """How numbers are written."""
        decimal, thousands = self.optional("decimal", str), self.optional("thousands", str)
        return self._named(lambda: Numerals("." if decimal is None else decimal, thousands))

    def inside(self) -> Shape:
        """How values lie inside the bins: a word for all, or a list with one for each."""
        asked = self._left.pop("inside", Inside.EVEN.value)
        listed = asked if isinstance(asked, list) else [asked]
        words = tuple(INSIDE[word] for word in listed if isinstance(word, str) and word in INSIDE)
        if len(words) < len(listed):
            raise SchemaMismatch(
                f"inside of {self.where} must be one of {', '.join(INSIDE)}, or a list with one of these for each bin."
            )
        return words if isinstance(asked, list) else words[0]

    def words(self) -> TruthWords:
        """Which words are true and which are false."""
        true, false = (self.texts(side) if self.has(side) else () for side in ("true", "false"))
        return self._named(lambda: TruthWords(true, false))

    def format(self) -> DayFormat | None:
        """How dates are written; None where they are in ISO form."""
        text = self.optional("format", str)
        return None if text is None else self._named(lambda: DayFormat(text))

    def _named(self, make: Callable[[], T]) -> T:
        """What is made, refused under the name of the column."""
        try:
            return make()
        except SchemaMismatch as refusal:
            raise SchemaMismatch(f"in {self.where} {refusal}") from None

    def finish(self) -> None:
        """Refuse whatever is left."""
        if self._left:
            hint = RULED if "rule" in self._left else "remove it"
            raise SchemaMismatch(f"{self.where} says {', '.join(self._left)}, which has no meaning there; {hint}.")


def column(table: object) -> Column:
    """The column that a table of the schema file declares."""
    fields = Fields(table, "a column of the schema")
    name = fields.take("name", str)
    fields.where = f"column {name}"
    found = fields.choice("kind", KINDS)(name, fields)
    fields.finish()
    return found


def toml(value: object) -> str:
    """A value as TOML: texts in quotes, lists in brackets."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Iterable):
        return f"[{', '.join(map(toml, value))}]"
    return value.isoformat() if isinstance(value, date) else repr(value)


def _day(value: object) -> DateEdge:
    if isinstance(value, float) and math.isinf(value):
        return value
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    return date.fromisoformat(value if isinstance(value, str) else "")


def _categorical(name: str, fields: Fields) -> Column:
    other, fallback = fields.optional("other", str), fields.optional("fallback", str)
    values, prefix = fields.texts("values"), fields.optional("prefix", int)
    return Categorical(name, values, other, fallback, missing=fields.missing(), prefix=prefix)


def _boolean(name: str, fields: Fields) -> Column:
    return Boolean(name, fields.missing(), fields.words())


def _private(name: str, fields: Fields, *, whole: bool) -> Column:
    ends, bins = fields.numbers("range"), fields.take("bins", int)
    if len(ends) != 2:
        raise SchemaMismatch(f"range of column {name} is not [low, high]; name the least and the largest number.")
    low, high = ends if whole else map(float, ends)
    closed, missing = fields.choice("closed", CLOSED), fields.missing()
    return PrivateBins(name, low, high, bins, whole, closed, missing, fields.numerals())


def _numeric(name: str, fields: Fields) -> Column:
    if fields.says("edges", "private"):
        return _private(name, fields, whole=False)
    edges = tuple(map(float, fields.numbers("edges")))
    closed, missing = fields.choice("closed", CLOSED), fields.missing()
    return Numeric(name, edges, closed, missing, fields.numerals(), fields.inside())


def _integer(name: str, fields: Fields) -> Column:
    if fields.says("edges", "private"):
        return _private(name, fields, whole=True)
    numerals = fields.numerals()
    if fields.has("edges"):
        closed, missing = fields.choice("closed", CLOSED), fields.missing()
        return IntegerBins(name, fields.numbers("edges"), closed, missing, numerals, fields.inside())
    if fields.has("values"):
        return Integer(name, fields.whole("values"), fields.missing(), numerals)
    ends = fields.whole("range")
    if len(ends) != 2 or not 0 <= ends[1] - ends[0] < LARGEST_DOMAIN:
        raise SchemaMismatch(
            f"range of column {name} is not [first, last] with up to {LARGEST_DOMAIN} numbers; bin it."
        )
    return Integer(name, tuple(range(ends[0], ends[1] + 1)), fields.missing(), numerals)


def _date(name: str, fields: Fields) -> Column:
    closed, missing = fields.choice("closed", CLOSED), fields.missing()
    return Dates(name, fields.dates("edges"), closed, missing, fields.format(), fields.inside())


CLOSED = {closed.value: closed for closed in Closed}
INSIDE = {inside.value: inside for inside in Inside}
KINDS: dict[str, Callable[[str, Fields], Column]] = {
    "categorical": _categorical,
    "numeric": _numeric,
    "integer": _integer,
    "boolean": _boolean,
    "date": _date,
}
