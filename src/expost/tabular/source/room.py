"""Room: how much memory a run may take, as it is typed, by default half of what the machine has, and for what."""

import re
from dataclasses import dataclass
from typing import TypeAlias, final

from expost.errors import InvalidValue
from expost.tabular.model.footprint import in_words, memory
from expost.tabular.schema.column import smallest
from expost.tabular.schema.schema import Schema

Memory: TypeAlias = int | str | None
"""Bytes, or a text such as ``4GB``; None is half of what the machine has."""

UNITS = {"": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "kib": 2**10, "mib": 2**20, "gib": 2**30}
TYPED = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)\s*", re.IGNORECASE)
LEAST = 5 * 10**8
"""Bytes that Python, the libraries and a small model take by themselves."""
LIBRARIES = 2 * 10**8
"""Bytes that Python and the libraries take of it."""
UNKNOWN = 4 * 10**9
"""Taken for the memory of a machine that does not say what it has."""

PIECE = 2**20
"""Rows in a piece at most, about."""
FEWEST = 2**10
"""Rows in a piece at least, about, however wide they are."""
HELD = 8
"""Pieces that are held at once at most, with room to spare: one that is read, those that wait, and copies of them."""
DIGEST = 16
"""Bytes beside the codes of a row by which it is known whose it is."""


@final
@dataclass(frozen=True, slots=True)
class Room:
    """The memory that a run may take: a quarter for codes, one for the engine, and then the rest for a model."""

    size: int

    @classmethod
    def of(cls, given: Memory) -> "Room":
        """The room that was asked for."""
        if given is None:
            return cls(max(LEAST, (memory() or UNKNOWN) // 2))
        found = TYPED.fullmatch(str(given)) if not isinstance(given, bool) else None
        if found is None or found[2].lower() not in UNITS:
            raise InvalidValue(f"memory is {given}; write a size such as 4GB or 500MB.")
        size = int(float(found[1]) * UNITS[found[2].lower()])
        if size < LEAST:
            raise InvalidValue(f"memory is {in_words(size)}; a run needs at least {in_words(LEAST)}.")
        return cls(size)

    @property
    def codes(self) -> int:
        """Bytes of codes that are kept in memory; all others are kept in files."""
        return self.size // 4

    @property
    def engine(self) -> int:
        """Bytes that the engine may take which reads files, enough for it to begin."""
        return max(LEAST, self.size) // 4

    @property
    def model(self) -> int:
        """Bytes that a model may take beside the codes, once the engine has read them."""
        return max(0, self.size - self.codes - LIBRARIES)

    def rows(self, schema: Schema) -> int:
        """Rows in a piece, about, so that all pieces which are held at once take no more than the codes that are kept.

        What has fewer rows is one table, and no pieces are made of it.
        """
        width = row_width(schema) + (0 if schema.unit is None else DIGEST)
        return min(PIECE, max(FEWEST, self.codes // (HELD * width)))


def row_width(schema: Schema) -> int:
    """The bytes that the codes of a row take."""
    return sum(smallest(each.size).itemsize for each in schema.columns)
