"""Junction trees: which columns a graphical model holds together, known before any data is touched."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, final

from expost.errors import InvalidValue
from expost.tabular.model.elimination import as_set, by_cells, by_fill, each_of, maximal_cliques

Clique: TypeAlias = tuple[int, ...]


@final
@dataclass(frozen=True, slots=True)
class Node:
    """A maximal clique in its place: columns shared with the parent, and columns that it brings in.

    ``parent`` is the place of the parent in ``Junction.nodes``, −1 for the root, whose separator is empty.
    """

    separator: Clique
    residual: Clique
    parent: int
    level: int

    @property
    def columns(self) -> Clique:
        """All its columns: the separator's, then the residual's."""
        return self.separator + self.residual


@final
@dataclass(frozen=True)
class Junction:
    """The structure of a model: a rooted tree of cliques in which each column forms a connected part.

    ``nodes`` go down the levels, parents first. Every column of the domain is the residual of exactly one node, a
    column in no clique too. Nothing here is larger than the list of cliques: tables are made only by a fit.
    """

    domain: tuple[int, ...]
    nodes: tuple[Node, ...]

    @classmethod
    def of(cls, domain: Sequence[int], cliques: Iterable[Clique]) -> "Junction":
        """The smaller of two triangulations (least fill, fewest cells) of the graph that joins each clique."""
        sizes = tuple(int(size) for size in domain)
        if not sizes or min(sizes) < 1:
            raise InvalidValue(f"the domain is {sizes}; give at least one column, each with at least one value.")
        near = [0] * len(sizes)
        for clique in cliques:
            _check(clique, len(sizes))
            for column in clique:
                near[column] |= as_set(clique) & ~(1 << column)
        found = [list(maximal_cliques(near, sizes, prefer)) for prefer in (by_fill, by_cells)]
        best = min(found, key=lambda each: sum(_cells(sizes, each_of(clique)) for clique in each))
        return cls(sizes, _rooted([frozenset(each_of(clique)) for clique in best]))

    @property
    def cells(self) -> int:
        """Cells of all its cliques together: what a fit will hold in memory, a few times over."""
        return sum(_cells(self.domain, node.columns) for node in self.nodes)

    @property
    def widest(self) -> Clique:
        """The columns of its largest clique: the ones to name when ``cells`` is too large."""
        largest = max(self.nodes, key=lambda node: _cells(self.domain, node.columns))
        return tuple(sorted(largest.columns))

    def home(self, clique: Clique) -> int | None:
        """The place of the smallest node that holds all the columns, None if no node does."""
        first, *others = (self._holders[column] for column in clique) if clique else (range(len(self.nodes)),)
        holders = sorted(set(first).intersection(*others))
        return min(holders, key=self._sizes.__getitem__, default=None)

    @cached_property
    def _holders(self) -> dict[int, set[int]]:
        """The places of the nodes that hold each column."""
        found: dict[int, set[int]] = {column: set() for column in range(len(self.domain))}
        for place, node in enumerate(self.nodes):
            for column in node.columns:
                found[column].add(place)
        return found

    @cached_property
    def _sizes(self) -> list[int]:
        return [_cells(self.domain, node.columns) for node in self.nodes]


def _check(clique: Clique, columns: int) -> None:
    if list(clique) != sorted(set(clique)) or not clique or not 0 <= clique[0] <= clique[-1] < columns:
        raise InvalidValue(f"the clique is {clique}; give increasing column numbers from 0 to {columns - 1}.")


def _cells(domain: Sequence[int], clique: Iterable[int]) -> int:
    return math.prod(domain[column] for column in clique)


def _rooted(cliques: Sequence[frozenset[int]]) -> tuple[Node, ...]:
    """A spanning tree of largest separators, hung from its middle, each clique as high as its separator allows."""
    edges = _spanning(cliques)
    root = _middle(edges)
    parents, order = {root: -1}, [root]
    for place in order:
        for child in sorted(edges[place] - parents.keys()):
            parent, separator = place, cliques[child] & cliques[place]
            while parents[parent] >= 0 and separator <= cliques[parents[parent]]:
                parent = parents[parent]
            parents[child] = parent
            order.append(child)
    levels = {-1: -1}
    for place in order:
        levels[place] = levels[parents[place]] + 1
    order.sort(key=lambda place: levels[place])
    places = {-1: -1} | {place: rank for rank, place in enumerate(order)}
    return tuple(_node(cliques, place, parents[place], places, levels[place]) for place in order)


def _node(cliques: Sequence[frozenset[int]], place: int, parent: int, places: Mapping[int, int], level: int) -> Node:
    separator = cliques[place] & cliques[parent] if parent >= 0 else frozenset[int]()
    return Node(tuple(sorted(separator)), tuple(sorted(cliques[place] - separator)), places[parent], level)


def _spanning(cliques: Sequence[frozenset[int]]) -> dict[int, set[int]]:
    """Neighbours in a spanning tree of greatest total separator size (Prim), which is a junction tree."""
    bits = [as_set(clique) for clique in cliques]
    edges: dict[int, set[int]] = {place: set() for place in range(len(cliques))}
    nearest = {place: ((bits[place] & bits[0]).bit_count(), 0) for place in range(1, len(cliques))}
    while nearest:
        place = max(nearest, key=lambda each: nearest[each][0])
        _, other = nearest.pop(place)
        edges[place].add(other)
        edges[other].add(place)
        for rest, (best, _) in nearest.items():
            if (shared := (bits[rest] & bits[place]).bit_count()) > best:
                nearest[rest] = shared, place
    return edges


def _middle(edges: Mapping[int, set[int]]) -> int:
    """The middle of a longest path: the root of least height."""
    ends = _path(edges, _path(edges, 0)[-1])
    return ends[len(ends) // 2]


def _path(edges: Mapping[int, set[int]], start: int) -> list[int]:
    """A longest path from the start."""
    before, order = {start: start}, [start]
    for place in order:
        for other in sorted(edges[place] - before.keys()):
            before[other] = place
            order.append(other)
    path = [order[-1]]
    while path[-1] != start:
        path.append(before[path[-1]])
    return path[::-1]
