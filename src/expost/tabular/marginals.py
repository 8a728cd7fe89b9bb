"""Marginals: the counts of every combination of some columns, many at once, as one integer statistic."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import accumulate, pairwise
from typing import Any, TypeAlias, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from expost.errors import InvalidValue, SchemaMismatch
from expost.noise import Integers
from expost.private import Neighbours
from expost.statistic import Statistic
from expost.tabular.coverings import histograms
from expost.tabular.persons import GRID, Grouped, Rows
from expost.tabular.table import Table

Clique: TypeAlias = tuple[str, ...]
S = TypeVar("S", bound=np.generic)

MOST_CELLS = 2**26
"""All marginals together, half a gigabyte of counts; a model of more would not fit either."""

AT_ONCE = 2**23
"""Cells that are counted in one pass over the records where each marginal is done with by itself: 64 megabytes."""


@final
@dataclass(frozen=True)
class Marginals:
    """One histogram for each clique, a set of columns; a record counts in one cell of each.

    Adding or removing a record moves one cell of each histogram by 1, replacing one moves at most two: with k cliques
    the squared Euclidean distance and the sum of absolute differences are at most k, or 2k.

    Where records are persons with any number of rows, these are weighed such that all rows of a person move the
    histograms no further than one row would: each row of m weighs 1/m in a ``statistic``, and as much as the Euclidean
    norm allows if it is ``weighed``. No share of a cell is negative, so that replacing a person moves no more than the
    squares of both shares together.

    Implements: marginals of persons.
    Uses: a person's weight.
    """

    domain: Mapping[str, int]
    cliques: tuple[Clique, ...]
    neighbours: Neighbours

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

    @cached_property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """The shape of each marginal: one axis for each of its columns."""
        return tuple(tuple(self.domain[name] for name in clique) for clique in self.cliques)

    @cached_property
    def cells(self) -> int:
        """How many counts all marginals have together."""
        return sum(map(math.prod, self.shapes))

    @property
    def statistic(self) -> Statistic[Any]:
        """All counts, one marginal after the other, with their sensitivities: of a Table, or of Grouped rows."""
        most = len(self.cliques) * self._moved
        if self.neighbours.unit == "record":
            return Statistic(
                self.counts, (self.cells,), Fraction(most), Fraction(most), self.neighbours, "marginals", additive=True
            )
        return self._of_persons(self._averaged, l1=GRID * most, name="marginals of persons")

    def weighed(self, first: tuple[Clique, ...], allowance: int = 1) -> Statistic[Any]:
        """The same, but rows of a person that differ from each other weigh more, the more they differ.

        A person's weight is one for the ``first`` marginals and no larger one for these: rows that are alike in what is
        measured beside the first weigh less there. All weights are divided by the ``allowance``, of which as many
        rows of a person count in full: the sums, times it, are those of weights up to 1, and no claim is another.
        """
        if self.neighbours.unit == "record":
            return self.statistic
        l1 = self._moved * math.isqrt(GRID * GRID * len(self.cliques) * self.cells)  # Cauchy-Schwarz
        return self._of_persons(partial(self._weighed, first, allowance), l1=l1, name="weighed marginals of persons")

    def _of_persons(self, compute: Callable[[Grouped], Integers], *, l1: int, name: str) -> Statistic[Grouped]:
        squared = Fraction(GRID * GRID * len(self.cliques) * self._moved)
        return Statistic(
            compute, (self.cells,), squared, Fraction(l1), self.neighbours, name, Fraction(1, GRID), additive=True
        )

    @property
    def _moved(self) -> int:
        return 2 if self.neighbours.replaces else 1

    def apart(self, values: NDArray[S]) -> dict[Clique, NDArray[S]]:
        """The flat values as one array for each clique, with an axis for each of its columns."""
        if values.shape != (self.cells,):
            raise InvalidValue(f"these marginals have {self.cells} cells; give one value per cell, as they measured.")
        bounds = pairwise(accumulate(map(math.prod, self.shapes), initial=0))
        parts = zip(self.cliques, self.shapes, bounds, strict=True)
        return {clique: values[start:end].reshape(shape) for clique, shape, (start, end) in parts}

    def counts(self, table: Table) -> Integers:
        """The counts of the rows of a table, whoever they are of."""
        self._require_domain(table)
        return histograms(table, self.cliques)

    def _averaged(self, grouped: Grouped) -> Integers:
        return self._summed(grouped, grouped.average_steps())

    def _weighed(self, first: tuple[Clique, ...], allowance: int, grouped: Grouped) -> Integers:
        steps = grouped.norm_steps(self.cliques, allowance)
        if self.cliques != first:
            steps = np.minimum(steps, grouped.norm_steps(first, allowance))
        return self._summed(grouped, np.repeat(steps, grouped.sizes))

    def _summed(self, grouped: Grouped, steps: Integers) -> Integers:
        """The steps of all rows in each cell."""
        self._require_domain(grouped.table)
        weights = steps.astype(np.float64)  # whose sums stay below 2**53, and so exact
        return histograms(grouped.table, self.cliques, weights)

    def _require_domain(self, table: Table) -> None:
        domain = table.domain
        if any(domain.get(name) != self.domain[name] for name in {name for clique in self.cliques for name in clique}):
            raise SchemaMismatch("the table's domain is not that of the marginals; use one schema for both.")


def counted_apart(
    domain: Mapping[str, int], cliques: Iterable[Clique], neighbours: Neighbours, data: Rows
) -> Iterator[tuple[Clique, Integers]]:
    """Each of many marginals and its counts, which are not private: as many in one pass over the records as may be."""
    for batch in _batches(domain, cliques):
        marginals = Marginals(domain, batch, neighbours)
        counts: Integers = marginals.statistic.evaluate(data)
        yield from ((clique, each.ravel()) for clique, each in marginals.apart(counts).items())


def _batches(domain: Mapping[str, int], cliques: Iterable[Clique]) -> Iterator[tuple[Clique, ...]]:
    batch, cells = list[Clique](), 0
    for clique in cliques:
        more = math.prod(domain[name] for name in clique)
        if batch and cells + more > AT_ONCE:
            yield tuple(batch)
            batch, cells = [], 0
        batch.append(clique)
        cells += more
    if batch:
        yield tuple(batch)
