"""Columns whose domain is a list: texts, truth values and whole numbers."""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import final

import numpy as np

from expost.errors import SchemaMismatch
from expost.noise import Noise
from expost.tabular.schema.cells import Cell, How, Taken, text_of
from expost.tabular.schema.column import (
    MISSING_LABEL,
    Cells,
    Codes,
    Missing,
    Setting,
    Values,
    as_texts,
    check_domain,
    coded,
    value_codes,
    with_missing,
    with_missing_label,
    without_value,
)
from expost.tabular.schema.spelling import USUAL, USUAL_WORDS, Numerals, TruthWords


@final
@dataclass(frozen=True, slots=True)
class Categorical:
    """A list of texts; any other text is coded as ``other``, or where there is none as ``fallback``.

    With a ``prefix`` a text is known by that many of its first characters. The list has only those, and so has what is
    decoded.
    """

    name: str
    values: tuple[str, ...]
    other: str | None = None
    fallback: str | None = None
    missing: Missing = field(kw_only=True)
    prefix: int | None = field(default=None, kw_only=True)
    _places: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        known = self._known
        object.__setattr__(self, "_places", {value: code for code, value in enumerate(known)})
        check_domain(self.name, len(known))
        if len(set(known)) < len(known):
            raise SchemaMismatch(f"column {self.name} lists a value twice; each value has one code.")
        if any(value != value.strip() or not value for value in known):
            raise SchemaMismatch(f"column {self.name} lists a value that is blank or has space around it; trim it.")
        if len(set(self.labels)) < len(self.labels):
            raise SchemaMismatch(
                f"column {self.name} lists {MISSING_LABEL}, which is what missing values are called; put it among the "
                "missing_marks instead."
            )
        if self.prefix is not None and (self.prefix < 1 or any(len(value) > self.prefix for value in self.values)):
            raise SchemaMismatch(
                f"column {self.name} has prefix = {self.prefix}; it must be at least 1, and no value may be longer."
            )
        if self.fallback is not None and (self.other is not None or self.fallback not in self.values):
            raise SchemaMismatch(
                f"the fallback of column {self.name} is not one of its values, or it also has `other`."
            )

    @property
    def _known(self) -> tuple[str, ...]:
        return self.values if self.other is None else (*self.values, self.other)

    @property
    def size(self) -> int:
        """The values, ``other``, and the missing category."""
        return len(self._known) + (self.missing is Missing.CATEGORY)

    @property
    def labels(self) -> tuple[str, ...]:
        """The values themselves."""
        return with_missing_label(self._known, self.missing)

    @property
    def settings(self) -> Mapping[str, Setting]:
        """The values and where other texts go."""
        extra = {"prefix": self.prefix, "other": self.other, "fallback": self.fallback}
        return {"kind": "categorical", "values": self.values} | {k: v for k, v in extra.items() if v is not None}

    def taken(self, cell: Cell | None) -> Taken:
        """The place of a text in the list."""
        unknown = self._places[self.other or self.fallback or self.values[0]]
        if cell is None:
            return without_value(cell, len(self._places), self.missing, unknown)
        found = self._places.get(self.head(text_of(cell)))
        return (How.OUTSIDE, unknown) if found is None else (How.VALUE, found)

    def head(self, text: str) -> str:
        """The part of a text that it is known by; ``other``, which is not a code, is known as a whole."""
        return text if text == self.other else text[: self.prefix].rstrip()

    def encode(self, cells: Cells) -> Codes:
        """The place of each text in the list."""
        return coded(cells, self)

    def decode(self, codes: Codes, noise: Noise) -> Values:
        known = np.array(self._known, dtype=np.object_)
        return with_missing(known[value_codes(codes, len(known))], codes, len(known), self.missing)

    def spelled(self, values: Values) -> Values:
        """The texts themselves."""
        return values


@final
@dataclass(frozen=True, slots=True)
class Boolean:
    """False and true in their usual and declared spellings, or as 0 and 1; any other text counts as missing."""

    name: str
    missing: Missing
    words: TruthWords = USUAL_WORDS

    @property
    def size(self) -> int:
        """Two, and the missing category."""
        return 2 + (self.missing is Missing.CATEGORY)

    @property
    def labels(self) -> tuple[str, ...]:
        """False comes first."""
        return with_missing_label(("false", "true"), self.missing)

    @property
    def settings(self) -> Mapping[str, Setting]:
        """The words that were declared."""
        return {"kind": "boolean"} | self.words.settings

    def taken(self, cell: Cell | None) -> Taken:
        """False is 0, true is 1."""
        found = None if cell is None else self.words.truth(text_of(cell))
        return without_value(cell, 2, self.missing) if found is None else (How.VALUE, int(found))

    def encode(self, cells: Cells) -> Codes:
        """False is 0, true is 1."""
        return coded(cells, self)

    def decode(self, codes: Codes, noise: Noise) -> Values:
        return with_missing(value_codes(codes, 2) == 1, codes, 2, self.missing)

    def spelled(self, values: Values) -> Values:
        """By the first word that was declared."""
        return as_texts(values, self.words.spelled) if self.words.settings else values


@final
@dataclass(frozen=True, slots=True)
class Integer:
    """A list of whole numbers; any other number is coded as the nearest of them, the lower one of two."""

    name: str
    values: tuple[int, ...]
    missing: Missing
    numerals: Numerals = USUAL

    def __post_init__(self) -> None:
        check_domain(self.name, len(self.values))
        if any(left >= right for left, right in pairwise(self.values)):
            raise SchemaMismatch(f"the values of column {self.name} do not increase; list each once, smallest first.")
        if max(map(abs, self.values)) > 2**53:
            raise SchemaMismatch(f"a value of column {self.name} is beyond 2**53; declare it as categorical.")

    @property
    def size(self) -> int:
        """The values and the missing category."""
        return len(self.values) + (self.missing is Missing.CATEGORY)

    @property
    def labels(self) -> tuple[str, ...]:
        """The numbers as text."""
        return with_missing_label(tuple(map(str, self.values)), self.missing)

    @property
    def settings(self) -> Mapping[str, Setting]:
        """The range where there are no gaps, else the values."""
        first, last = self.values[0], self.values[-1]
        if last - first + 1 == len(self.values):
            return {"kind": "integer", "range": (first, last)} | self.numerals.settings
        return {"kind": "integer", "values": self.values} | self.numerals.settings

    def taken(self, cell: Cell | None) -> Taken:
        """The place of the nearest number."""
        value = None if cell is None else self.numerals.number(cell)
        if value is None:
            return without_value(cell, len(self.values), self.missing)
        above = bisect_left(self.values, value)
        if above in (0, len(self.values)):
            nearest = min(above, len(self.values) - 1)
        else:
            nearest = above if self.values[above] - value < value - self.values[above - 1] else above - 1
        return How.VALUE if self.values[nearest] == value else How.OUTSIDE, nearest

    def encode(self, cells: Cells) -> Codes:
        """The place of the nearest number."""
        return coded(cells, self)

    def decode(self, codes: Codes, noise: Noise) -> Values:
        values = np.array(self.values, dtype=np.int64)
        return with_missing(values[value_codes(codes, len(values))], codes, len(values), self.missing)

    def spelled(self, values: Values) -> Values:
        """As text where a spelling is declared."""
        return self.numerals.respelled(values)
