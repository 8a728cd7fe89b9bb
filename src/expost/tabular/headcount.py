"""How many persons a table has and how many rows each, told to the table's owner: private, and on no bill."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from expost.persons.identifiers import Register
from expost.tabular.schema.cells import Cell
from expost.tabular.schema.column import Missing
from expost.tabular.schema.schema import Schema
from expost.tabular.source.texts import absent

WITHOUT, BY_ONE, ENOUGH = 0.01, 0.1, 100
"""Shares of the rows above which something is notable: those without an identifier, and those of one person in a table
of no fewer rows than the last."""


@final
@dataclass(frozen=True, slots=True)
class Headcount:
    """The persons of a table, of whom none is named: how many, how many with one row, and the most rows of one."""

    unit: str
    rows: int
    persons: int
    alone: int
    most: int
    missing: int

    def advice(self) -> list[str]:
        """A sentence for each share that is notable."""
        told = []
        if self.missing > WITHOUT * self.rows:
            told.append(
                "A row without an identifier counts as a person of its own. If some of these are of the same person, "
                "the bound does not cover them together; complete or remove them."
            )
        if self.most > BY_ONE * self.rows and self.rows >= ENOUGH:
            told.append(
                "One person has more than a tenth of all rows. If the identifier stands for an unknown person, add it "
                "to missing_marks."
            )
        return told


@final
class HeadcountPass:
    """What a pass over the table has seen of its persons."""

    def __init__(self, schema: Schema, unit: str) -> None:
        self._unit, self._persons = unit, Register(absent(schema))
        self._dropping = [column for column in schema.columns if column.missing is Missing.DROP]

    def add(self, identifiers: Sequence[object], cells: Mapping[str, Sequence[Cell | None]]) -> None:
        """Note some rows, given by whose they are and by their cells; those that a run would drop do not count."""
        kept = np.ones(len(identifiers), np.bool_)
        for column in self._dropping:
            if column.name in cells:
                kept &= column.encode(cells[column.name]) < column.size
        self._persons.add(identifiers, kept)

    def done(self) -> Headcount:
        """What was seen."""
        numbers = self._persons.numbers()
        sizes = np.unique(numbers, return_counts=True)[1]
        return Headcount(
            self._unit, len(numbers), len(sizes), int((sizes == 1).sum()), int(sizes.max(initial=0)),
            self._persons.missing,
        )  # fmt: skip
