"""Marginals: the counts of every combination of some columns, many at once, as one integer statistic."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any, TypeAlias, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from expost.errors import InvalidValue, SchemaMismatch
from expost.noise import Integers
from expost.private import Neighbours
from expost.statistic import Statistic
from expost.tabular.persons import GRID, Contribution, Grouped, person_steps
from expost.tabular.table import Table

Clique: TypeAlias = tuple[str, ...]
S = TypeVar("S", bound=np.generic)

CHUNK = 2**15
"""Records combined at a time: their codes stay in the processor's cache."""

MOST_CELLS = 2**26
"""All marginals together, half a gigabyte of counts; a model of more would not fit either."""


@final
@dataclass(frozen=True)
class Marginals:
    """One histogram for each clique, a set of columns; a record counts in one cell of each.

    Adding or removing a record moves one cell of each histogram by 1, replacing one moves at most two: with k cliques
    the squared Euclidean distance and the sum of absolute differences are at most k, or 2k.

    Where records are persons with any number of rows, their ``contribution`` bounds the Euclidean norm of what each
    adds to all histograms. No share of a cell is negative, so that replacing a person moves no more than the squares of
    both shares together.

    Implements: marginals of persons.
    Uses: a person's weight.
    """

    domain: Mapping[str, int]
    cliques: tuple[Clique, ...]
    neighbours: Neighbours
    contribution: Contribution | None = None

    def __post_init__(self) -> None:
        if not self.cliques:
            raise InvalidValue("no marginals were asked for; name at least one set of columns.")
        unknown = sorted({name for clique in self.cliques for name in clique} - set(self.domain))
        if unknown:
            raise SchemaMismatch(f"the domain has no column {', '.join(unknown)}; ask for columns it has.")
        sets = {frozenset(clique) for clique in self.cliques}
        if len(sets) < len(self.cliques) or any(len(set(clique)) < len(clique) for clique in self.cliques):
            raise InvalidValue("a marginal, or a column in one, is asked for twice; ask for each once.")
        if self.cells > MOST_CELLS:
            raise InvalidValue(
                f"the marginals have {self.cells} cells; the limit is {MOST_CELLS}, so ask for fewer columns."
            )

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """The shape of each marginal: one axis for each of its columns."""
        return tuple(tuple(self.domain[name] for name in clique) for clique in self.cliques)

    @property
    def cells(self) -> int:
        """How many counts all marginals have together."""
        return sum(map(math.prod, self.shapes))

    @property
    def statistic(self) -> Statistic[Any]:
        """All counts, one marginal after the other, with their sensitivities: of a Table, or of Grouped rows."""
        moved, shape = 2 if self.neighbours.replaces else 1, (self.cells,)
        if self.contribution is None:
            most = Fraction(len(self.cliques) * moved)
            return Statistic(self._counts, shape, most, most, self.neighbours, "marginals")
        squared = self.contribution.squared(len(self.cliques))
        l1 = moved * math.isqrt(squared * self.cells)  # Cauchy-Schwarz, and l1 is an integer
        name = "marginals of persons"
        return Statistic(
            self._weighed, shape, Fraction(moved * squared), Fraction(l1), self.neighbours, name, Fraction(1, GRID)
        )

    def apart(self, values: NDArray[S]) -> dict[Clique, NDArray[S]]:
        """The flat values as one array for each clique, with an axis for each of its columns."""
        if values.shape != (self.cells,):
            raise InvalidValue(f"these marginals have {self.cells} cells; give one value per cell, as they measured.")
        bounds = pairwise(accumulate(map(math.prod, self.shapes), initial=0))
        parts = zip(self.cliques, self.shapes, bounds, strict=True)
        return {clique: values[start:end].reshape(shape) for clique, shape, (start, end) in parts}

    def _counts(self, table: Table) -> Integers:
        self._require_domain(table)
        return np.concatenate([_histogram(table, clique, shape) for clique, shape in self._asked])

    def _weighed(self, grouped: Grouped) -> Integers:
        """The counts in steps of a weight."""
        assert self.contribution is not None
        self._require_domain(grouped.table)
        packed = [_packed(grouped.table, clique, shape) for clique, shape in self._asked]
        steps = person_steps(grouped, packed, self.contribution.squared(len(self.cliques)))
        weights = np.repeat(steps, grouped.sizes).astype(np.float64)  # whose sums stay below 2**53, and so exact
        sizes = map(math.prod, self.shapes)
        found = [np.bincount(cells, weights, minlength=size) for cells, size in zip(packed, sizes, strict=True)]
        return np.concatenate(found).astype(np.int64)

    def _require_domain(self, table: Table) -> None:
        if any(table.domain.get(name) != self.domain[name] for clique in self.cliques for name in clique):
            raise SchemaMismatch("the table's domain is not that of the marginals; use one schema for both.")

    @property
    def _asked(self) -> tuple[tuple[Clique, tuple[int, ...]], ...]:
        return tuple(zip(self.cliques, self.shapes, strict=True))


def _histogram(table: Table, clique: Clique, shape: tuple[int, ...]) -> Integers:
    cells = math.prod(shape)
    counts = np.zeros(cells, dtype=np.int64)
    step = max(CHUNK, cells)
    for start in range(0, len(table), step):
        combined = np.zeros(min(step, len(table) - start), dtype=np.int64)
        for name, size in zip(clique, shape, strict=True):
            combined *= size
            combined += table.codes(name)[start : start + step]
        counts += np.bincount(combined, minlength=cells)
    return counts


def _packed(table: Table, clique: Clique, shape: tuple[int, ...]) -> Integers:
    """The cell of each row."""
    cells = np.zeros(len(table), dtype=np.int64)
    for name, size in zip(clique, shape, strict=True):
        cells *= size
        cells += table.codes(name)
    return cells
