"""Room: how much memory reading a table may take, as it is typed, and by default half of what the machine has."""

import re
from dataclasses import dataclass
from typing import TypeAlias, final

from expost.errors import InvalidValue
from expost.tabular.model.footprint import in_words, memory

Memory: TypeAlias = int | str | None
"""Bytes, or a text such as ``4GB``; None is half of what the machine has."""

UNITS = {"": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "kib": 2**10, "mib": 2**20, "gib": 2**30}
TYPED = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)\s*", re.IGNORECASE)
LEAST = 5 * 10**8
"""Bytes that Python, the libraries and a small model take by themselves."""
UNKNOWN = 4 * 10**9
"""Taken for the memory of a machine that does not say what it has."""


@final
@dataclass(frozen=True, slots=True)
class Room:
    """The memory that a run may take: a quarter of it for codes, a quarter for the engine that reads."""

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
