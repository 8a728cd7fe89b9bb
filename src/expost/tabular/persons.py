"""Persons: rows that belong together, and weights by which all rows of one person move no more than a few would.

A person's weight depends on that person's own rows only, so that what is claimed of one holds whoever else is there.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
from numpy.typing import NDArray

from expost.errors import InvalidValue, SchemaMismatch
from expost.noise import Integers
from expost.numerics import positive
from expost.tabular.table import Table

GRID = 2**16
"""Steps of a weight from 0 to 1."""
MOST_ROWS = 2**20
"""Rows of one person that are looked at; more than these have no weight left on the grid anyway."""


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Grouped:
    """A table whose rows belong to persons: its records are the persons, each with any number of rows.

    ``ends`` are where the rows of each person begin and end, one more than there are persons. Indexed by a mask of
    persons, as ``split`` does. Shows nothing of its records when printed.
    """

    table: Table
    ends: Integers

    @classmethod
    def of(cls, table: Table, persons: NDArray[np.integer]) -> "Grouped":
        """The rows of a table by whoever each is of; only which rows have the same person matters, not who it is.

        Persons are in the order in which they first appear, and so are the rows of each: where every row has a person
        of its own, or those of a person are together already, the table stays as it is.
        """
        if persons.shape != (len(table),):
            raise SchemaMismatch("there is not one person for each row; give as many as there are rows.")
        order = np.argsort(persons, kind="stable")
        known = persons[order]
        starts = np.flatnonzero(np.concatenate([[True], known[1:] != known[:-1]])) if len(known) else np.zeros(0, int)
        sizes, appearance = np.diff(starts, append=len(known)), np.argsort(order[starts])
        ends = np.concatenate([[0], np.cumsum(sizes[appearance])]).astype(np.int64)
        rows = np.arange(len(known))
        moved = order[np.repeat(starts[appearance] - ends[:-1], sizes[appearance]) + rows]
        if np.array_equal(moved, rows):
            return cls(table, ends)
        columns = {name: codes[moved] for name, codes in table.columns.items()}
        return cls(Table(table.schema, columns, table.native), ends)

    def __len__(self) -> int:
        return len(self.ends) - 1

    def __getitem__(self, mask: NDArray[np.bool_], /) -> "Grouped":
        """The persons where the mask is true, with all their rows."""
        sizes = self.sizes
        kept = self.table[np.repeat(mask, sizes)]
        return Grouped(kept, np.concatenate([[0], np.cumsum(sizes[mask])]).astype(np.int64))

    def __repr__(self) -> str:
        """The names of the columns: nothing about the records, not even how many."""
        return f"Grouped({', '.join(self.table.schema.names)})"

    @property
    def sizes(self) -> Integers:
        """How many rows each person has."""
        return np.diff(self.ends)

    @property
    def owners(self) -> Integers:
        """The place of each row's person."""
        return np.repeat(np.arange(len(self), dtype=np.int64), self.sizes)


@final
@dataclass(frozen=True, slots=True)
class Contribution:
    """How much of a person's rows counts: in all marginals together no more than ``rows`` identical rows would.

    Rows that differ from each other may count more often: m rows in different cells count in full up to m = rows².
    """

    rows: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", positive(self.rows, "rows"))
        if not 0 < self.rows <= MOST_ROWS:
            raise InvalidValue(f"a person counts for at most {MOST_ROWS} rows; declare fewer.")

    def squared(self, cliques: int) -> int:
        """The largest squared Euclidean norm of what a person adds to this number of marginals, in squared steps."""
        return math.floor((GRID * self.rows) ** 2 * cliques)

    @property
    def most(self) -> int:
        """The most that the weights of a person's rows add up to, in steps, where rows are weighted by their number."""
        return math.floor(GRID * self.rows)


def steps_within(squared: Integers, limit: int) -> Integers:
    """For each squared norm the most steps, up to the whole grid, with steps²·squared ≤ limit, exactly.

    Implements: a person's weight.
    """
    room = limit // np.maximum(squared, 1)
    steps = np.minimum(np.sqrt(room.astype(np.float64)).astype(np.int64), GRID)  # to within one
    steps -= steps * steps > room
    larger = np.minimum(steps + 1, GRID)
    return np.where(larger * larger <= room, larger, steps)


def person_steps(grouped: Grouped, packed: Sequence[Integers], limit: int) -> Integers:
    """The weight of each person, in steps, such that all their cells together stay within a squared norm.

    ``packed`` has for each marginal the cell of each row.
    """
    squared = np.zeros(len(grouped), dtype=np.int64)
    alone = grouped.sizes == 1
    squared[alone] = len(packed)
    several = np.flatnonzero(~alone)
    if len(several):
        rows = np.repeat(~alone, grouped.sizes)
        owners = np.repeat(np.arange(len(several), dtype=np.int64), grouped.sizes[several])
        total = np.zeros(len(several), dtype=np.int64)
        for cells in packed:
            total += _repeats(owners, cells[rows], len(several))
        squared[several] = total
    return steps_within(squared, limit)


def row_steps(grouped: Grouped, contribution: Contribution) -> Integers:
    """The weight of each row, in steps: that of one of ``rows`` rows where its person has more."""
    return np.repeat(np.minimum(GRID, contribution.most // np.maximum(grouped.sizes, 1)), grouped.sizes)


def one_row_each(grouped: Grouped, draws: NDArray[np.float64]) -> Table:
    """One row of each person, by a number from 0 to 1 that is the person's own."""
    sizes = grouped.sizes
    places = np.minimum((draws * sizes).astype(np.int64), sizes - 1)
    chosen = np.zeros(len(grouped.table), dtype=np.bool_)
    chosen[grouped.ends[:-1] + places] = True
    return grouped.table[chosen]


def _repeats(owners: Integers, cells: Integers, persons: int) -> Integers:
    """For each person the sum over cells of the squared number of their rows in it."""
    width = int(cells.max()) + 1
    keys = np.sort(owners * width + cells)
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    counts = np.diff(np.concatenate([first, [len(keys)]]))
    found = np.zeros(persons, dtype=np.int64)
    np.add.at(found, keys[first] // width, counts * counts)
    return found
