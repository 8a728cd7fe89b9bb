"""Persons: rows that belong together, and weights by which all rows of one person move no more than a few would.

A person's weight depends on that person's own rows only, so that what is claimed of one holds whoever else is there.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from expost.errors import SchemaMismatch
from expost.noise import Integers, Noise
from expost.persons.people import People
from expost.private import Neighbours
from expost.statistic import Statistic
from expost.tabular.schema.schema import Schema
from expost.tabular.table import Kind, Table

GRID = 2**16
"""Steps of a weight from 0 to 1."""
NUMBERS = (1, 2, 3, 6, 11, 21, 51, 101)
"""The least numbers of rows by which persons are counted: 1, 2, 3 to 5, and so on."""


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Grouped:
    """A table whose rows belong to persons: its records are the persons, each with any number of rows.

    The rows of each are together, in the order of the persons. Indexed by a mask of persons, as ``split`` does. Shows
    nothing of its records when printed.
    """

    table: Table
    people: People
    _steps: dict[tuple[tuple[tuple[str, ...], ...], int], Integers] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        people, rows = self.people, np.arange(len(self.table))
        whole = np.array_equal(people.rows, rows) and people.ends[0] == 0 and people.ends[-1] == len(rows)
        if not whole or (self.sizes < 1).any():
            raise SchemaMismatch("the rows of the persons are not all rows, one person's after another's; use of.")
        if people.chosen.shape != (len(self),) or not ((people.chosen >= 0) & (people.chosen < self.sizes)).all():
            raise SchemaMismatch("there is not one row of their own for each person; draw them anew.")

    @classmethod
    def of(cls, table: Table, persons: NDArray[np.integer]) -> "Grouped":
        """The rows of a table by whoever each is of; only which rows have the same person matters, not who it is.

        Persons are in the order in which they first appear, and so are the rows of each: where every row has a person
        of its own, or those of a person are together already, the table stays as it is.
        """
        if persons.shape != (len(table),):
            raise SchemaMismatch("there is not one person for each row; give as many as there are rows.")
        people = People.of(persons)
        if np.array_equal(people.rows, np.arange(len(table))):
            return cls(table, people)
        columns = {name: codes[people.rows] for name, codes in table.columns.items()}
        return cls(Table(table.schema, columns, table.native), people.in_order())

    def __len__(self) -> int:
        return len(self.people)

    def __getitem__(self, mask: NDArray[np.bool_], /) -> "Grouped":
        """The persons where the mask is true, with all their rows."""
        return Grouped(self.table[np.repeat(mask, self.sizes)], self.people[mask])

    def __repr__(self) -> str:
        """The names of the columns: nothing about the records, not even how many."""
        return f"Grouped({', '.join(self.table.schema.names)})"

    @property
    def sizes(self) -> Integers:
        """How many rows each person has."""
        return self.people.sizes

    @property
    def schema(self) -> Schema:
        """The schema of its rows."""
        return self.table.schema

    @property
    def native(self) -> Kind:
        """The kind of frame it came as."""
        return self.table.native

    def drawn(self, noise: Noise) -> "Grouped":
        """The same, with a row drawn for each person who has several."""
        return Grouped(self.table, self.people.drawn(noise))

    def one_row_each(self) -> Table:
        """The rows that stand for their persons."""
        chosen = np.zeros(len(self.table), dtype=np.bool_)
        chosen[self.people.judged] = True
        return self.table[chosen]

    def same_records(self, other: "Grouped") -> bool:
        """Whether both have the same rows, at least one, in any order and whoever they are of."""
        return self.table.same_records(other.table)

    def recoded(self, f: Callable[[Table], Table]) -> "Grouped":
        """The same persons, with rows that ``f`` writes anew one by one."""
        return Grouped(f(self.table), self.people)

    def norm_steps(self, cliques: tuple[tuple[str, ...], ...], allowance: int = 1) -> Integers:
        """The weight of each person, in steps, with which all their rows move these marginals no more than one would.

        That is, by no larger a Euclidean norm: G√Q for Q marginals. A row weighs one over the ``allowance`` at most, so
        that as many rows that are alike weigh as much each as one alone. Worked out once.
        """
        if (cliques, allowance) not in self._steps:
            several = self.sizes > 1
            owners = np.repeat(np.arange(int(several.sum()), dtype=np.int64), self.sizes[several])
            rows, squared = self.table[np.repeat(several, self.sizes)], np.zeros(int(several.sum()), dtype=np.int64)
            limit = GRID * GRID * len(cliques)
            for clique in cliques if len(squared) else ():  # past the limit a weight is 0 anyway, and no sum overflows
                squared = np.minimum(squared + _repeats(owners, rows.cells(clique), len(squared)), limit + 1)
            whole = GRID // allowance
            steps = np.full(len(self), whole, dtype=np.int64)
            steps[several] = steps_within(squared, limit, whole=whole)
            self._steps[cliques, allowance] = steps
        return self._steps[cliques, allowance]

    def average_steps(self) -> Integers:
        """The weight of each row, in steps, with which all rows of a person together weigh no more than one would."""
        return np.repeat(GRID // self.sizes, self.sizes)


Rows: TypeAlias = Table | Grouped
"""Coded data: of records, one row each, or of persons."""
AnyRows = TypeVar("AnyRows", Table, Grouped)


def steps_within(squared: Integers, limit: int, *, whole: int = GRID) -> Integers:
    """For each squared norm the most steps, up to the whole weight, with steps²·squared ≤ limit, exactly.

    Implements: a person's weight.
    """
    room = limit // np.maximum(squared, 1)
    steps = np.minimum(np.sqrt(room.astype(np.float64)).astype(np.int64), whole)  # to within one
    steps -= steps * steps > room
    larger = np.minimum(steps + 1, whole)
    return np.where(larger * larger <= room, larger, steps)


def rows_per_person(neighbours: Neighbours) -> Statistic[Grouped]:
    """How many persons have how many rows, by ``NUMBERS``; one person is in one cell.

    Implements: rows per person.
    """

    def compute(grouped: Grouped) -> Integers:
        places = np.searchsorted(NUMBERS, grouped.sizes, side="right") - 1
        return np.bincount(places, minlength=len(NUMBERS)).astype(np.int64)

    moved = Fraction(2 if neighbours.replaces else 1)
    return Statistic(compute, (len(NUMBERS),), moved, moved, neighbours, "persons by number of rows", additive=True)


def _repeats(owners: Integers, cells: Integers, persons: int) -> Integers:
    """For each person the sum over cells of the squared number of their rows in it."""
    width = int(cells.max()) + 1
    keys = np.sort(owners * width + cells)
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    counts = np.diff(np.concatenate([first, [len(keys)]])).astype(np.float64)  # whose squares are exact
    return np.bincount(keys[first] // width, counts * counts, persons).astype(np.int64)
