"""Persons with any number of rows: identifiers become places in order of first appearance, and are forgotten."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from expost.errors import InvalidValue
from expost.noise import Integers, Noise

ABSENT = {"NAType", "NaTType"}
"""What pandas calls the types of its missing values."""
LONGEST = 2**13
"""Bits of a whole number that is spelled in base 10: Python refuses to spell those of many thousand digits so."""
BLOCK = 2**22
"""Numbers computed at a time."""


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class People:
    """Whose rows they are: ``rows`` are the places of all rows, person by person, and ``ends`` where each person's end.

    ``ends`` has one entry more than there are persons, the first of which is 0. ``chosen`` is the row of each person
    that a check looks at, counted from that person's first. Shows nothing when printed.
    """

    rows: Integers
    ends: Integers
    chosen: Integers

    @classmethod
    def of(cls, identifiers: ArrayLike, noise: Noise | None) -> "People":
        """The persons in order of first appearance; of each who has several rows one is drawn for checks, if any."""
        owners = dense(identifiers)
        sizes = np.bincount(owners) if len(owners) else np.zeros(0, np.int64)
        chosen = np.zeros(len(sizes), np.int64)
        if noise is not None:
            for person in np.flatnonzero(sizes > 1):
                chosen[person] = noise.below(int(sizes[person]))
        return cls(np.argsort(owners, kind="stable").astype(np.int64), _ends(sizes), chosen)

    def __len__(self) -> int:
        return len(self.ends) - 1

    def __getitem__(self, mask: NDArray[np.bool_], /) -> "People":
        """The persons where the mask is true, of a table that holds their rows alone, in the order of ``rows_of``."""
        sizes = self.sizes[mask]
        return People(np.arange(int(sizes.sum()), dtype=np.int64), _ends(sizes), self.chosen[mask])

    def __repr__(self) -> str:
        return "People"

    @property
    def sizes(self) -> Integers:
        """How many rows each person has."""
        return np.diff(self.ends)

    @property
    def judged(self) -> Integers:
        """The row of each person that a check looks at."""
        return np.asarray(self.rows[self.ends[:-1] + self.chosen])

    def rows_of(self, persons: Integers) -> Integers:
        """All rows of these persons, person by person."""
        sizes = self.sizes[persons]
        before = _ends(sizes)
        return np.asarray(self.rows[np.arange(before[-1]) + np.repeat(self.ends[persons] - before[:-1], sizes)])

    def alone(self, persons: Integers) -> Integers:
        """The rows of those among these persons who have a single one."""
        return self.rows_of(persons[self.sizes[persons] == 1])

    def alike(self, persons: Integers, numbers: Callable[[int], int]) -> Iterator[tuple[int, Integers]]:
        """The others among these persons, those with the same number of rows together: that number, and the rows.

        Few enough at a time for BLOCK numbers, of which a person with that many rows takes ``numbers``, or one person.
        """
        sizes = self.sizes[persons]
        for size in np.unique(sizes[sizes > 1]).tolist():
            found, step = persons[sizes == size], max(1, BLOCK // numbers(size))
            for start in range(0, len(found), step):
                yield size, self.rows_of(found[start : start + step])


def dense(identifiers: ArrayLike) -> Integers:
    """The person of each row as an integer, by first appearance; a row without an identifier is a person of its own.

    Identifiers are the same if their text is, but for blanks around it: 7, 7.0 and "7" are one person, "07" is another.
    None, NaN and empty text name nobody.
    """
    given: Any = identifiers.cpu() if hasattr(identifiers, "cpu") else identifiers
    try:
        found = np.asarray(given, dtype=None if hasattr(given, "dtype") else object)  # each value as it is
    except (TypeError, ValueError, RuntimeError):
        raise InvalidValue("the unit is not an array; give one identifier per row.") from None
    if found.ndim != 1:
        raise InvalidValue("the unit is not a single column; give one identifier per row.")
    if found.dtype.kind in "iu":
        return _by_appearance(found)
    if found.dtype.kind in "mM":
        found = np.where(np.isnat(found), "", found.astype(str))
    known: dict[object, int] = {}
    values = found.tolist()
    texts = map(str.strip if {*map(type, values)} == {str} else identifier_text, values)
    return np.array([known.setdefault(text or (row,), len(known)) for row, text in enumerate(texts)], np.int64)


def identifier_text(value: object) -> str | None:
    """The text of an identifier; None or empty where there is none."""
    if value is None or type(value).__name__ in ABSENT or value != value:  # noqa: PLR0124  NaN is not itself
        return None
    if isinstance(value, float | np.floating | Decimal) and math.isfinite(value) and value == int(value):
        value = int(value)
    if isinstance(value, int) and value.bit_length() > LONGEST:
        return hex(value)
    return str(value).strip()


def _by_appearance(found: NDArray[Any]) -> Integers:
    _, first, inverse = np.unique(found, return_index=True, return_inverse=True)
    ranks = np.empty(len(first), np.int64)
    ranks[np.argsort(first)] = np.arange(len(first))
    return np.asarray(ranks[inverse], np.int64)


def _ends(sizes: Integers) -> Integers:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
