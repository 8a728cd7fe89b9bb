"""Persons with any number of rows: which rows are whose, and which of them stands for a person where only one can."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from expost.errors import InvalidValue
from expost.noise import Integers, Noise
from expost.persons.identifiers import Register

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
    def of(cls, numbers: NDArray[np.integer]) -> "People":
        """The persons of rows that have a number each, the same where the person is; which number does not matter.

        Persons are in the order in which they first appear, and so are the rows of each.
        """
        order = np.argsort(numbers, kind="stable")
        known = numbers[order]
        starts = np.flatnonzero(np.concatenate([[True], known[1:] != known[:-1]])) if len(known) else np.zeros(0, int)
        sizes, appearance = np.diff(starts, append=len(known)), np.argsort(order[starts])
        ends = _ends(sizes[appearance])
        rows = order[np.repeat(starts[appearance] - ends[:-1], sizes[appearance]) + np.arange(len(known))]
        return cls(rows.astype(np.int64), ends, np.zeros(len(sizes), np.int64))

    def drawn(self, noise: Noise) -> "People":
        """The same, with a row drawn for each person who has several; nothing is drawn for the others."""
        sizes, several = self.sizes, self.sizes > 1
        chosen = np.zeros(len(self), dtype=np.int64)
        draws = noise.uniform(int(several.sum())) if several.any() else np.zeros(0)
        chosen[several] = np.minimum(draws * sizes[several], sizes[several] - 1).astype(np.int64)
        return replace(self, chosen=chosen)

    def in_order(self) -> "People":
        """The same persons, of rows that were put in the order of ``rows``."""
        return replace(self, rows=np.arange(len(self.rows), dtype=np.int64))

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


def numbered(identifiers: ArrayLike) -> Integers:
    """A number for each row, the same where the identifier is; refused by one sentence that shows none of them.

    None, NaN and empty text name nobody: such a row is a person of its own.
    """
    given: Any = identifiers.cpu() if hasattr(identifiers, "cpu") else identifiers
    try:
        found = np.asarray(given, dtype=None if hasattr(given, "dtype") else object)  # each value as it is
    except (TypeError, ValueError, RuntimeError):
        raise InvalidValue("the unit is not an array; give one identifier per row.") from None
    if found.ndim != 1:
        raise InvalidValue("the unit is not a single column; give one identifier per row.")
    if found.dtype.kind in "mM":
        found = np.where(np.isnat(found), "", found.astype(str))
    values = [*found] if found.dtype in (np.float32, np.float16) else found.tolist()  # which hold fewer whole numbers
    persons = Register(frozenset({None, ""}))
    persons.add(values, np.ones(len(found), np.bool_))
    return persons.numbers()


def _ends(sizes: Integers) -> Integers:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
