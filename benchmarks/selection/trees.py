"""Ways to choose a tree of pairs privately: exponential mechanisms as the library has them, and Gaussian noise.

One record moves every score of a pair, by 1 each, so that m scores cost m/(2σ²). A release of all scores costs no more
than what the first edge alone would take, and the whole tree is then post-processing; rounds of edges would pay for the
same candidates again. What does help is to look again where it matters: ``Gaussian`` spends an even share of its
budget in each round, and each round measures the half of the pairs whose place in the tree is least certain.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from expost.accounting.claim import NOTHING, Budget, Promise
from expost.accounting.gaussian import lattice_line
from expost.noise import Noise
from expost.release import Past
from expost.tabular.selection import Edge, SpanningTree
from expost.tabular.table import Table

Floats: TypeAlias = NDArray[np.float64]
Places: TypeAlias = list[int]


class Way(Protocol):
    """A private choice of a tree."""

    def cost(self, tree: SpanningTree, budget: Budget) -> Promise:
        """What it costs, whatever is chosen."""
        ...

    def choose(self, tree: SpanningTree, data: Table, budget: Budget, noise: Noise) -> tuple[Edge, ...]:
        """The tree."""
        ...


@final
@dataclass(frozen=True, slots=True)
class Exponential:
    """The library's: an exponential mechanism for each edge, with a share of the budget."""

    share: Fraction = Fraction(1)

    def cost(self, tree: SpanningTree, budget: Budget) -> Promise:
        """The edges together."""
        return tree.promise(self._paid(budget))

    def choose(self, tree: SpanningTree, data: Table, budget: Budget, noise: Noise) -> tuple[Edge, ...]:
        """Edge by edge."""
        return tree.sample(data, self._paid(budget), Past(), noise)

    def _paid(self, budget: Budget) -> Budget:
        return Budget(self.share * budget.epsilon, budget.alpha)


@final
@dataclass(frozen=True, slots=True)
class Gaussian:
    """Integer noise on the scores, in rounds of half as many pairs each; one round releases all scores at once."""

    rounds: int

    def cost(self, tree: SpanningTree, budget: Budget) -> Promise:
        """The rounds together, whose sizes are public."""
        lines = (Promise(lattice_line(variance, Fraction(size))) for size, variance in self._plan(tree, budget))
        return sum(lines, NOTHING)

    def choose(self, tree: SpanningTree, data: Table, budget: Budget, noise: Noise) -> tuple[Edge, ...]:
        """The tree of the highest estimates, each the mean of its measurements by precision."""
        scores = true_scores(tree, data)
        sums, precisions, estimates = np.zeros(len(scores)), np.zeros(len(scores)), np.zeros(len(scores))
        for size, variance in self._plan(tree, budget):
            asked = np.argsort(leeway(tree.edges, estimates), kind="stable")[:size] if precisions.any() else slice(None)
            noisy = scores[asked] + noise.discrete_gaussian(variance, (size,))
            sums[asked] += noisy / float(variance)
            precisions[asked] += 1 / float(variance)
            estimates = sums / precisions
        return tuple(tree.edges[place] for place in heaviest(tree.edges, estimates))

    def _plan(self, tree: SpanningTree, budget: Budget) -> Iterator[tuple[int, Fraction]]:
        """How many scores each round measures, and the variance that its share of the budget calls for."""
        for turn in range(self.rounds):
            size = -(-len(tree.edges) // 2**turn)
            yield size, size * self.rounds / (2 * budget.rho)


def true_scores(tree: SpanningTree, data: Table) -> NDArray[np.int64]:
    """The score of every pair, without noise."""
    return np.array(tree._scores(data), dtype=np.int64)


def heaviest(edges: Sequence[Edge], weights: Floats | NDArray[np.int64]) -> Places:
    """The edges of the heaviest spanning tree, or forest."""
    part, found = {name: name for edge in edges for name in edge}, Places()
    for place in np.argsort(-weights, kind="stable").tolist():
        left, right = (part[name] for name in edges[place])
        if left != right:
            found.append(place)
            part = {name: left if each == right else each for name, each in part.items()}
    return found


def leeway(edges: Sequence[Edge], weights: Floats) -> Floats:
    """How far each weight lies from changing the tree: from the least on the way between, or from what replaces it."""
    tree, gaps = heaviest(edges, weights), np.full(len(edges), np.inf)
    for place, (left, right) in enumerate(edges):
        if place in tree:
            continue
        for other in _way(edges, tree, left, right):
            gap = weights[other] - weights[place]
            gaps[place], gaps[other] = min(gaps[place], gap), min(gaps[other], gap)
    return gaps


def _way(edges: Sequence[Edge], tree: Places, start: str, end: str) -> Places:
    """The edges of the tree between two columns that it joins."""
    reached: dict[str, Places] = {start: []}
    while end not in reached:
        for place in tree:
            for here, there in (edges[place], edges[place][::-1]):
                if here in reached and there not in reached:
                    reached[there] = [*reached[here], place]
    return reached[end]
