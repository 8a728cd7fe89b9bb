"""Selection: which pairs of columns to measure, chosen privately as a spanning tree of the worst explained ones."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import ClassVar, TypeAlias, final

import numpy as np

from expost.accounting.claim import Budget, Promise
from expost.errors import SchemaMismatch
from expost.ledger import Fact
from expost.mechanisms.exponential import choose, chosen, pure_parameter
from expost.noise import Floats, Integers, Noise
from expost.private import Neighbours
from expost.release import Past
from expost.rules import Due, Recorded
from expost.tabular.marginals import Clique, Marginals
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
        rate = self.epsilon(budget) / (2 * moved * self._steps)
        scores = {edge: self._score(data, edge) for edge in self.edges}
        component = {name: name for name in self.alone}
        chosen: list[Edge] = []
        while open_edges := [edge for edge in self.edges if component[edge[0]] != component[edge[1]]]:
            edge = open_edges[choose([scores[each] for each in open_edges], rate, noise)]
            chosen.append(edge)
            joined = component[edge[1]]
            component = {name: component[edge[0]] if part == joined else part for name, part in component.items()}
        return tuple(chosen)

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

    def _score(self, data: Rows, edge: Edge) -> int:
        domain = {name: len(self.alone[name]) for name in edge}
        counts: Integers = Marginals(domain, (edge,), self.neighbours).statistic.evaluate(data)
        left, right = (np.maximum(self.alone[name], 0) for name in edge)
        total = max(1.0, (left.sum() + right.sum()) / 2)
        independent = np.outer(left, right) / max(1.0, left.sum() * right.sum()) * total
        return int(np.abs(counts - self._steps * np.rint(independent).astype(np.int64).ravel()).sum())


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
    pairs = combinations(others, 2)
    found = tuple(edge for edge in pairs if domain[edge[0]] * domain[edge[1]] * hub <= LARGEST_CLIQUE)
    if not targets and not found:
        raise SchemaMismatch(
            f"there are no two columns whose table has at most {LARGEST_CLIQUE} cells; declare more, or coarser bins."
        )
    return found


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
    component = {name: name for edge in edges for name in edge}

    def root(name: str) -> str:
        while component[name] != name:
            name = component[name]
        return name

    for one, other in tree:
        if root(one) == root(other):
            return False
        component[root(one)] = root(other)
    joined = {name: root(name) for name in component}
    return all(joined[one] == joined[other] for one, other in edges)
