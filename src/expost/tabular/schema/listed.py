"""Columns whose domain is a list: texts, truth values and whole numbers."""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import final

import numpy as np

from expost.errors import SchemaMismatch
from expost.noise import Noise
from expost.tabular.schema.column import (
    Cells,
    Codes,
    Missing,
    Setting,
    Values,
    check_domain,
    coded,
    number_in,
    value_codes,
    with_missing,
    with_missing_label,
)

FALSE_WORDS = frozenset({"false", "f", "no", "n", "0"})
TRUE_WORDS = frozenset({"true", "t", "yes", "y", "1"})


@final
@dataclass(frozen=True, slots=True)
class Categorical:
    """A list of texts; any other text is coded as ``other``, or where there is none as ``fallback``."""

    name: str
    values: tuple[str, ...]
    other: str | None = None
    fallback: str | None = None
    missing: Missing = field(kw_only=True)

    def __post_init__(self) -> None:
        known = self._known
        check_domain(self.name, len(known))
        if len(set(known)) < len(known):
            raise SchemaMismatch(f"column {self.name} lists a value twice; each value has one code.")
        if any(value != value.strip() or not value for value in known):
            raise SchemaMismatch(f"column {self.name} lists a value that is blank or has space around it; trim it.")
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
        extra = {"other": self.other, "fallback": self.fallback}
        return {"kind": "categorical", "values": self.values} | {k: v for k, v in extra.items() if v is not None}

    def encode(self, cells: Cells) -> Codes:
        """The place of each text in the list."""
        known = self._known
        place = {value: code for code, value in enumerate(known)}
        unknown = place[self.other or self.fallback or known[0]]
        return coded(cells, lambda cell: place.get(cell, unknown), len(known), self.missing, unknown)

    def decode(self, codes: Codes, noise: Noise) -> Values:
        known = np.array(self._known, dtype=np.object_)
        return with_missing(known[value_codes(codes, len(known))], codes, len(known), self.missing)


@final
@dataclass(frozen=True, slots=True)
class Boolean:
    """False and true in their usual spellings, or numbers that are 0 and 1; any other text counts as missing."""

    name: str
    missing: Missing

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
        """The kind says it all."""
        return {"kind": "boolean"}

    def encode(self, cells: Cells) -> Codes:
        """False is 0, true is 1."""
        return coded(cells, _truth, 2, self.missing)

    def decode(self, codes: Codes, noise: Noise) -> Values:
        return with_missing(value_codes(codes, 2) == 1, codes, 2, self.missing)


@final
@dataclass(frozen=True, slots=True)
class Integer:
    """A list of whole numbers; any other number is coded as the nearest of them, the lower one of two."""

    name: str
    values: tuple[int, ...]
    missing: Missing

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
            return {"kind": "integer", "range": (first, last)}
        return {"kind": "integer", "values": self.values}

    def _nearest(self, cell: str) -> int | None:
        value = number_in(cell)
        if value is None:
            return None
        above = bisect_left(self.values, value)
        if above in (0, len(self.values)):
            return min(above, len(self.values) - 1)
        return above if self.values[above] - value < value - self.values[above - 1] else above - 1

    def encode(self, cells: Cells) -> Codes:
        """The place of the nearest number."""
        return coded(cells, self._nearest, len(self.values), self.missing)

    def decode(self, codes: Codes, noise: Noise) -> Values:
        values = np.array(self.values, dtype=np.int64)
        return with_missing(values[value_codes(codes, len(values))], codes, len(values), self.missing)


def _truth(cell: str) -> int | None:
    """0 or 1; a number is taken by its value, since a table of floats has 1.0 where another has 1 or true."""
    word = cell.lower()
    if word in FALSE_WORDS or word in TRUE_WORDS:
        return int(word in TRUE_WORDS)
    value = number_in(cell)
    return int(value) if value in (0, 1) else None
