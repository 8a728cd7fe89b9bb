"""Selection: which pairs of columns to measure, chosen privately as a spanning tree of the worst explained ones."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import ClassVar, TypeAlias, final

import numpy as np

from expost.accounting.claim import Budget, Promise
from expost.errors import SchemaMismatch
from expost.ledger import Fact
from expost.mechanisms.exponential import chosen, pure_parameter
from expost.mechanisms.urn import Urn
from expost.noise import Floats, Integers, Noise
from expost.private import Neighbours
from expost.release import Past
from expost.rules import Due, Recorded
from expost.tabular.marginals import Clique, counted_apart
from expost.tabular.parts import Parts
from expost.tabular.persons import GRID, Rows

Edge: TypeAlias = tuple[str, str]

LARGEST_CLIQUE = 2**20
"""Cells the model may hold for one group of columns; larger groups are left out before any data is touched."""


@final
@dataclass(frozen=True)
class SpanningTree:
    """A tree over the columns, drawn edge by edge, in which pairs that independent columns explain badly are likelier.

    The score of a pair is the l1 distance between its counts and those of independent columns (rounded to integers),
    which one record, or all rows of a person together, moves by 1, or by 2 when it is replaced. Each edge is an
    exponential mechanism with an even share of the budget; the scores are computed once.

    Implements: private spanning tree.
    Uses: exponential mechanism curve; exponential mechanism profile; adaptive composition.
    """

    alone: Mapping[str, Floats]
    edges: tuple[Edge, ...]
    neighbours: Neighbours
    name: ClassVar[str] = "SpanningTree"
    floating: ClassVar[bool] = False

    @property
    def draws(self) -> int:
        """How many edges there will be at most: one less than the columns that have any."""
        return max(1, len({name for edge in self.edges for name in edge}) - 1)

    def epsilon(self, budget: Budget) -> Fraction:
        """The pure parameter of one draw."""
        return pure_parameter(budget.rho / self.draws)

    def promise(self, budget: Budget) -> Promise:
        """The draws together."""
        return Promise(chosen(self.epsilon(budget), self.draws))

    def sample(self, data: Rows, budget: Budget, past: Past[object], noise: Noise) -> tuple[Edge, ...]:
        """The edges in the order they were drawn."""
        moved = 2 if self.neighbours.replaces else 1
        urn = Urn(self._scores(data), self.epsilon(budget) / (2 * moved * self._steps))
        parts = Parts(self.alone)
        drawn = list[Edge]()
        for _ in range(self._joins):
            edge = self.edges[urn.draw(lambda place: parts.apart(*self.edges[place]), noise)]
            parts.join(*edge)
            drawn.append(edge)
        return tuple(drawn)

    def facts(self, budget: Budget) -> Mapping[str, Fact]:
        """Candidates, draws and the parameter of each."""
        return {"candidates": len(self.edges), "draws": self.draws, "epsilon": str(self.epsilon(budget))}

    @staticmethod
    def rule(line: Recorded) -> Due:
        """Draws and parameter give the curve."""
        draws, epsilon = line.whole("draws"), line.fraction("epsilon")
        return Due(chosen(epsilon, draws), False, lambda budget: epsilon == pure_parameter(budget.rho / draws))

    @property
    def _steps(self) -> int:
        """Of a score for what one record counts."""
        return 1 if self.neighbours.unit == "record" else GRID

    @property
    def _joins(self) -> int:
        """How many edges there will be: each joins two parts of the columns, until no edge does."""
        parts = Parts(self.alone)
        return sum(parts.join(*edge) for edge in self.edges)

    def _scores(self, data: Rows) -> list[int]:
        """The score of each pair, all from a pass over the records or a few."""
        domain = {name: len(counts) for name, counts in self.alone.items()}
        alone = {name: np.maximum(counts, 0) for name, counts in self.alone.items()}
        sums = {name: counts.sum() for name, counts in alone.items()}
        counted = counted_apart(domain, self.edges, self.neighbours, data)

        def score(left: str, right: str, counts: Integers) -> int:
            total = max(1.0, (sums[left] + sums[right]) / 2)
            independent = np.outer(alone[left], alone[right]) / max(1.0, sums[left] * sums[right]) * total
            return int(np.abs(counts - self._steps * np.rint(independent).astype(np.int64).ravel()).sum())

        return [score(left, right, counts) for (left, right), counts in counted]


def hub_cells(domain: Mapping[str, int], targets: tuple[str, ...]) -> int:
    """The cells of all targets together, 1 without any."""
    return math.prod(domain[name] for name in targets)


def affordable(domain: Mapping[str, int], targets: tuple[str, ...]) -> tuple[Edge, ...]:
    """The pairs of other columns that fit the model together with all targets; known from the schema alone."""
    for target in targets:
        if target not in domain:
            raise SchemaMismatch(f"the target {target} is not a column of the schema; it has {', '.join(domain)}.")
    others = [name for name in domain if name not in targets]
    if not others:
        raise SchemaMismatch("the schema has no column besides the target; declare what it is to be predicted from.")
    hub = hub_cells(domain, targets)
    too_large = [name for name in others if domain[name] * hub > LARGEST_CLIQUE]
    if too_large:
        raise SchemaMismatch(
            f"{', '.join(too_large)} with {' and '.join(targets)} would have over {LARGEST_CLIQUE} cells; use coarser "
            "bins."
        )
    found = _fitting(tuple((name, domain[name]) for name in others), LARGEST_CLIQUE // hub)
    if not targets and not found:
        raise SchemaMismatch(
            f"there are no two columns whose table has at most {LARGEST_CLIQUE} cells; declare more, or coarser bins."
        )
    return found


@lru_cache(maxsize=4)
def _fitting(sizes: tuple[tuple[str, int], ...], most: int) -> tuple[Edge, ...]:
    """The pairs of columns with at most that many cells; asked for again and again while a run is planned."""
    return tuple((left, right) for (left, size), (right, other) in combinations(sizes, 2) if size * other <= most)


def star(domain: Mapping[str, int], targets: tuple[str, ...]) -> tuple[Edge, ...]:
    """The tree of the smallest column, with as many pairs as any tree that is selected.

    It makes an affordable pair with every column that has one, being no larger than the other column of that pair.
    """
    smallest = min((name for name in domain if name not in targets), key=domain.__getitem__, default="")
    return tuple(edge for edge in affordable(domain, targets) if smallest in edge)


def unpaired(domain: Mapping[str, int], targets: tuple[str, ...]) -> tuple[str, ...]:
    """The columns that no affordable pair holds: they are measured with the targets only."""
    paired = {name for edge in affordable(domain, targets) for name in edge}
    others = tuple(name for name in domain if name not in targets)
    return tuple(name for name in others if name not in paired) if len(others) > 1 else ()


def why_unpaired(domain: Mapping[str, int], targets: tuple[str, ...]) -> str:
    """What the reader of a plan or report should know of columns that are measured with the target only; maybe nothing.

    It follows from the schema alone.
    """
    names = unpaired(domain, targets)
    if not names:
        return ""
    if not targets:
        return _alone(names)
    target = " and ".join(targets)
    if len(names) == len(domain) - len(targets):
        return (
            f"Each column is measured with {target} only: any two of them and {target} would make a table of more than "
            f"{LARGEST_CLIQUE:,} cells. The model takes them to be independent of each other given {target}. Coarser "
            "bins would let it hold pairs of them."
        )
    if len(names) == 1:
        return (
            f"{names[0]} is measured with {target} only: with any other column and {target} it would make a table of "
            f"more than {LARGEST_CLIQUE:,} cells. The model takes it to be independent of all other columns given "
            f"{target}. Coarser bins would let the model hold it together with others."
        )
    return (
        f"{', '.join(names[:-1])} and {names[-1]} are measured with {target} only: with any other column and {target}, "
        f"each of them would make a table of more than {LARGEST_CLIQUE:,} cells. The model takes them to be "
        f"independent of all other columns given {target}. Coarser bins would let the model hold them together with "
        "others."
    )


def _alone(names: tuple[str, ...]) -> str:
    """The same without a target."""
    listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    verb, it, each = ("is", "it", "it") if len(names) == 1 else ("are", "them", "each of them")
    return (
        f"{listed} {verb} measured alone: with any other column, {each} would make a table of more than "
        f"{LARGEST_CLIQUE:,} cells. The model takes {it} to be independent of all other columns. Coarser bins would "
        f"let the model hold {it} together with others."
    )


def queries(domain: Mapping[str, int], targets: tuple[str, ...], tree: tuple[Edge, ...]) -> tuple[Clique, ...]:
    """The marginals to measure: the tree's edges, and each target with every other column."""
    order = {name: place for place, name in enumerate(domain)}
    beside = {frozenset((target, name)) for target in targets for name in domain if name != target}
    pairs = {frozenset(edge) for edge in tree} | beside
    cliques = (tuple(sorted(pair, key=order.__getitem__)) for pair in pairs)
    return tuple(sorted(cliques, key=lambda clique: [order[name] for name in clique]))


def spans(tree: tuple[Edge, ...], edges: tuple[Edge, ...]) -> bool:
    """Whether the tree joins all that the edges can, without a circle."""
    parts = Parts(name for edge in edges for name in edge)
    return all(parts.join(*edge) for edge in tree) and not any(parts.apart(*edge) for edge in edges)
