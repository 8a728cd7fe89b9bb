"""The choice of what to measure: what comes before the rungs of a synthesis, and what it costs."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np

from expost.accounting.claim import NOTHING, Budget, Promise
from expost.mechanisms.gaussian import Gaussian
from expost.noise import Floats, Integers
from expost.private import Neighbours
from expost.statistic import Statistic
from expost.tabular.edges import grid_counts, grids
from expost.tabular.growth import Growing
from expost.tabular.marginals import Clique, Marginals
from expost.tabular.persons import rows_per_person
from expost.tabular.schema.schema import Schema
from expost.tabular.selection import SpanningTree, affordable, queries, star
from expost.tabular.table import Table

FINDING = Fraction(1, 4)
"""The share of the selection's budget that finding edges takes, where there are edges to be found."""
COUNTING = Fraction(1, 50)
"""The share of it that counting all records takes, where the number of those to hold out follows from that."""


@final
@dataclass(frozen=True, slots=True)
class PairSelection:
    """Which pairs of columns are counted: every column alone first, then a tree of pairs, each for half the budget.

    Where edges of bins are to be found, that comes before and takes a quarter of it. First of all, where records are
    ``sized`` or persons, all of them are counted before they are divided.
    """

    schema: Schema
    targets: tuple[str, ...]
    query: Budget
    sized: bool = False

    def __post_init__(self) -> None:
        affordable(self.schema.domain, self.targets)

    @property
    def half(self) -> Budget:
        """What each of the two steps may spend."""
        earlier = sum((each.epsilon for each in (self.edges, self.sizing) if each is not None), Fraction(0))
        return Budget((self.query.epsilon - earlier) / 2, self.query.alpha)

    @property
    def sizing(self) -> Budget | None:
        """What counting all records may spend; None where they are not counted."""
        counted = self.sized or self.schema.unit is not None
        return Budget(COUNTING * self.query.epsilon, self.query.alpha) if counted else None

    @property
    def whole(self) -> Promise:
        """What is spent on all records, before they are divided."""
        return NOTHING if self.sizing is None else Gaussian(counted_first(self.schema.neighbours)).promise(self.sizing)

    @property
    def edges(self) -> Budget | None:
        """What finding edges may spend; None where all are declared."""
        return Budget(FINDING * self.query.epsilon, self.query.alpha) if grids(self.schema) else None

    def grids(self) -> Marginals:
        """The columns whose edges are to be found, on their grids."""
        return grid_counts(grids(self.schema), self.schema.neighbours)

    def marginals(self, cliques: tuple[Clique, ...]) -> Marginals:
        """The statistic of these cliques."""
        return Marginals(self.schema.domain, cliques, self.schema.neighbours)

    def alone(self) -> Marginals:
        """Every column by itself."""
        return self.marginals(tuple((name,) for name in self.schema.names))

    def tree(self, measured: dict[str, Floats]) -> SpanningTree:
        """The selection of pairs, given what each column alone looks like."""
        edges = affordable(self.schema.domain, self.targets)
        return SpanningTree(measured, edges, self.schema.neighbours)

    @property
    def cost(self) -> Promise:
        """What all steps on the training part cost, whatever is selected."""
        blank = {name: np.zeros(size) for name, size in self.schema.domain.items()}
        alone, tree = Gaussian(self.alone().statistic).promise(self.half), self.tree(blank).promise(self.half)
        if self.edges is None:
            return alone + tree
        return Gaussian(self.grids().statistic).promise(self.edges) + alone + tree

    def refined(self) -> Growing:
        """A mechanism that costs on every rung what the run's will: whatever is selected has as many pairs.

        What a rung adds to them does not change its cost.
        """
        domain, targets = self.schema.domain, self.targets
        return Growing(domain, queries(domain, targets, star(domain, targets)), (), self.schema.neighbours)


def counted_first(neighbours: Neighbours) -> Statistic[Any]:
    """What is counted of all records: how many there are, and of persons how many have how many rows."""
    return record_number(neighbours) if neighbours.unit == "record" else rows_per_person(neighbours)


def record_number(neighbours: Neighbours) -> Statistic[Table]:
    """How many records there are; what is claimed is what a person moves who is counted by the number of rows.

    So both are billed alike, also where one record replaces another and their number stays as it is.
    """
    moved = Fraction(2 if neighbours.replaces else 1)
    return Statistic(_number, (1,), moved, moved, neighbours, "records", additive=True)


def _number(table: Table) -> Integers:
    return np.array([len(table)], dtype=np.int64)
