"""Elimination: the cliques of a graph that is made chordal by taking its columns out one by one."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import TypeAlias, final

Columns: TypeAlias = int
"""A set of columns, one bit for each: what sets share is found in one step."""
Preference: TypeAlias = Callable[[int, int], tuple[int, int]]


def by_fill(fill: int, cells: int) -> tuple[int, int]:
    """Fewest edges to add first, then fewest cells."""
    return fill, cells


def by_cells(fill: int, cells: int) -> tuple[int, int]:
    """Fewest cells first, then fewest edges to add."""
    return cells, fill


def as_set(columns: Iterable[int]) -> Columns:
    """These columns as a set."""
    return sum(1 << column for column in columns)


def each_of(columns: Columns) -> Iterator[int]:
    """The columns of a set, one by one."""
    while columns:
        yield (columns & -columns).bit_length() - 1
        columns &= columns - 1


def maximal_cliques(near: Sequence[Columns], domain: Sequence[int], prefer: Preference) -> Iterator[Columns]:
    """The largest cliques made by eliminating the columns one by one, the least by the preference first.

    ``near`` are the columns beside each. A clique is made before the cliques inside it, and each of these holds the
    column that was eliminated when it was made.
    """
    graph, made = _Graph(near, domain), [list[Columns]() for _ in near]

    def rank(column: int) -> tuple[int, int, int]:
        return *prefer(graph.fill[column], graph.cells[column]), column

    ranks = {column: rank(column) for column in range(len(near))}
    queue = list(ranks.values())
    heapify(queue)
    while queue:
        found = heappop(queue)
        column = found[-1]
        if ranks.get(column) != found:
            continue
        del ranks[column]
        beside = graph.near[column]
        clique = beside | 1 << column
        if not any(clique & ~other == 0 for other in made[column]):
            yield clique
        for other in each_of(beside):
            made[other].append(clique)
        for other in each_of(graph.eliminate(column)):
            ranks[other] = rank(other)
            heappush(queue, ranks[other])


@final
class _Graph:
    """What is beside each column, twice the edges that eliminating it would add, and the cells of its clique then."""

    __slots__ = ("_domain", "cells", "fill", "near")

    def __init__(self, near: Sequence[Columns], domain: Sequence[int]) -> None:
        self.near, self._domain = list(near), domain
        self.fill = [
            sum(beside.bit_count() - 1 - (near[other] & beside).bit_count() for other in each_of(beside))
            for beside in near
        ]
        self.cells = [math.prod(domain[other] for other in each_of(each | 1 << at)) for at, each in enumerate(near)]

    def eliminate(self, column: int) -> Columns:
        """Take the column out once all beside it are joined; the columns whose clique or fill is another now."""
        beside = moved = self.near[column]
        for one in each_of(beside):
            for other in each_of(beside & ~self.near[one] & -(2 << one)):
                moved |= self._join(one, other)
        for other in each_of(beside):
            self.fill[other] -= 2 * (self.near[other].bit_count() - 1 - (self.near[other] & beside).bit_count())
            self.near[other] &= ~(1 << column)
            self.cells[other] //= self._domain[column]
        return moved & ~(1 << column)

    def _join(self, one: int, other: int) -> Columns:
        """Add an edge; the columns beside both, whose fill it lowers."""
        common = self.near[one] & self.near[other]
        for here, there in ((one, other), (other, one)):
            self.fill[here] += 2 * (self.near[here].bit_count() - common.bit_count())
            self.cells[here] *= self._domain[there]
        for each in each_of(common):
            self.fill[each] -= 2
        self.near[one] |= 1 << other
        self.near[other] |= 1 << one
        return common
