"""Message passing on flat tables: marginals of a junction-tree model, and how they move with its potentials.

All cliques live in one vector, level by level, each clique's cells ordered by separator and then residual. A pass
treats a whole level at once, so that the number of array operations depends on the height of the tree only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from expost.errors import InvalidValue
from expost.noise import Floats
from expost.tabular.model.junction import Clique, Junction
from expost.tabular.model.links import Links, Places

Flags: TypeAlias = NDArray[np.bool_]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Allowed:
    """Which combinations of some columns' codes there are; all others have probability 0, whatever was measured."""

    clique: Clique
    table: Flags


@final
@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """The cliques at one depth: where their cells lie, and how their separators meet the level above.

    Cell ``start + i`` belongs to separator cell ``owner[i]``; separator cell s owns a run of cells that begins at
    ``runs[s]``. ``links`` join the cells of the upper level with the separator cells that they fall into.
    """

    cells: slice
    runs: Places
    owner: Places
    upper: slice
    links: Links

    def down(self, upper: Floats) -> Floats:
        """Sums of the upper level's cells over everything outside each separator."""
        return self.links.rightward(upper)

    def up(self, messages: Floats) -> Floats:
        """What the separators' messages add to each cell of the upper level."""
        return self.links.leftward(messages)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Beliefs:
    """A distribution: P(residual | separator) and P(clique) cell by cell, and the marginals that were asked for."""

    log_partition: float
    conditional: Floats
    joint: Floats
    expected: Floats


@final
class Passes:
    """The passes over one junction tree for one list of cliques, whose tables are joined into a flat vector.

    ``reachable`` are the entries of that vector which some allowed combination of all columns adds to.
    """

    __slots__ = ("_levels", "_links", "_zeros", "bounds", "junction", "offsets", "reachable")

    def __init__(self, junction: Junction, cliques: Sequence[Clique], allowed: Sequence[Allowed] = ()) -> None:
        self.junction = junction
        sizes = [int(np.prod(shape(junction.domain, node.columns))) for node in junction.nodes]
        self.offsets = [0, *np.cumsum(sizes).tolist()]
        self._levels = tuple(_levels(junction, self.offsets))
        tables = [int(np.prod(shape(junction.domain, clique))) for clique in cliques]
        self.bounds = [0, *np.cumsum(tables, dtype=np.int64).tolist()]
        rows, columns = list[Places](), list[Places]()
        for clique, bound in zip(cliques, self.bounds, strict=False):
            place = held(junction, clique)
            rows.append(bound + project(junction.domain, junction.nodes[place].columns, clique))
            columns.append(np.arange(self.offsets[place], self.offsets[place + 1]))
        self._links = Links(rows, columns, (self.bounds[-1], self.offsets[-1]))
        del rows, columns  # as large as the links
        possible = self._possible(allowed)
        self.reachable: Flags = self._gather(possible.astype(np.float64)) > 0
        self._zeros = self._closed(possible)

    def _possible(self, allowed: Sequence[Allowed]) -> Flags:
        """The cells that some allowed combination of all columns falls into: those that go on below, and above."""
        possible = np.ones(self.offsets[-1], dtype=np.bool_)
        for each in allowed:
            place = held(self.junction, each.clique)
            cells = project(self.junction.domain, self.junction.nodes[place].columns, each.clique)
            possible[self.offsets[place] : self.offsets[place + 1]] &= each.table.ravel()[cells]
        for level in reversed(self._levels):
            ends = ~np.logical_or.reduceat(possible[level.cells], level.runs)
            if level.upper.stop:
                possible[level.upper] &= level.up(ends.astype(np.float64)) == 0
            elif ends.any():
                raise InvalidValue("no combination of all columns is allowed; allow at least one.")
        for level in self._levels[1:]:
            possible[level.cells] &= (level.down(possible[level.upper].astype(np.float64)) > 0)[level.owner]
        return possible

    def _closed(self, possible: Flags) -> Flags:
        """The impossible cells beside which, given their separator, others are possible.

        A separator that has none has probability 0 itself. Its cells are left alone, so that no sum is of nothing.
        """
        closed = ~possible
        for level in self._levels:
            closed[level.cells] &= np.logical_or.reduceat(possible[level.cells], level.runs)[level.owner]
        return closed

    def _gather(self, cells: Floats) -> Floats:
        """The cliques' tables, summed from cells."""
        return self._links.leftward(cells)

    def _spread(self, tables: Floats) -> Floats:
        """The cliques' tables added up at each cell."""
        return self._links.rightward(tables)

    def infer(self, potentials: Floats) -> Beliefs:
        """The distribution proportional to exp(potentials): in log space upwards, in probabilities downwards.

        Each separator is normalised by its largest term, so nothing overflows and no sum is zero. What is not allowed
        has probability 0 exactly.
        """
        logs, conditional = self._spread(potentials), np.empty(self.offsets[-1])
        logs[self._zeros] = -np.inf
        message = np.zeros(1)
        for level in reversed(self._levels):
            terms = logs[level.cells]
            largest = np.maximum.reduceat(terms, level.runs)
            terms = np.exp(terms - largest[level.owner])
            sums = np.add.reduceat(terms, level.runs)
            np.divide(terms, sums[level.owner], out=conditional[level.cells])
            message = largest + np.log(sums)
            logs[level.upper] += level.up(message)
        joint = conditional.copy()
        for level in self._levels[1:]:
            joint[level.cells] *= level.down(joint[level.upper])[level.owner]
        return Beliefs(float(message[0]), conditional, joint, self._gather(joint))

    def covariance(self, beliefs: Beliefs, direction: Floats) -> Floats:
        """The derivative of ``expected`` when the potentials move in a direction: Cov·direction."""
        moves = self._spread(direction)
        for level in reversed(self._levels):
            terms = moves[level.cells]
            message = np.add.reduceat(beliefs.conditional[level.cells] * terms, level.runs)
            terms -= message[level.owner]
            moves[level.upper] += level.up(message)
        moves *= beliefs.joint
        for level in self._levels[1:]:
            moves[level.cells] += beliefs.conditional[level.cells] * level.down(moves[level.upper])[level.owner]
        return self._gather(moves)

    def least(self, costs: Floats) -> float:
        """The smallest Σ costs·expected that any distribution reaches: the cheapest single record that is allowed."""
        logs, message = -self._spread(costs), np.zeros(1)
        logs[self._zeros] = -np.inf
        for level in reversed(self._levels):
            message = np.maximum.reduceat(logs[level.cells], level.runs)
            logs[level.upper] += level.up(message)
        return -float(message[0])

    def split(self, flat: Floats) -> tuple[Floats, ...]:
        """A vector over cells as one table per node, axes in the node's order of columns."""
        domain, nodes = self.junction.domain, self.junction.nodes
        pairs = zip(self.offsets, self.offsets[1:], strict=False)
        return tuple(flat[i:j].reshape(shape(domain, node.columns)) for node, (i, j) in zip(nodes, pairs, strict=True))


def shape(domain: Sequence[int], clique: Clique) -> tuple[int, ...]:
    """The sizes of the clique's columns."""
    return tuple(domain[column] for column in clique)


def held(junction: Junction, clique: Clique) -> int:
    """The place of the smallest node that holds the columns, refused if there is none."""
    place = junction.home(clique)
    if place is None:
        raise InvalidValue(f"no clique of the junction tree holds columns {clique}; build it with them.")
    return place


def project(domain: Sequence[int], columns: Clique, onto: Clique) -> Places:
    """For each cell of a table over ``columns``, the cell of the table over ``onto`` that it falls into."""
    strides = dict(zip(onto, np.cumprod([1, *shape(domain, onto)[:0:-1]])[::-1].tolist(), strict=True)) if onto else {}
    places = np.zeros(shape(domain, columns), np.intp)
    for axis, column in enumerate(columns):
        steps = strides.get(column, 0) * np.arange(domain[column])
        places += steps.reshape([-1 if other == axis else 1 for other in range(len(columns))])
    return places.ravel()


def _levels(junction: Junction, offsets: Sequence[int]) -> list[Level]:
    levels: list[Level] = []
    for depth in range(junction.nodes[-1].level + 1):
        members = [place for place, node in enumerate(junction.nodes) if node.level == depth]
        upper = levels[-1].cells if levels else slice(0, 0)
        lengths, above, below = [np.zeros(0, np.intp)], list[Places](), list[Places]()
        separators = 0
        for place in members:
            node = junction.nodes[place]
            own = int(np.prod(shape(junction.domain, node.separator)))
            lengths.append(np.full(own, (offsets[place + 1] - offsets[place]) // own, np.intp))
            if node.parent >= 0:
                columns = junction.nodes[node.parent].columns
                below.append(separators + project(junction.domain, columns, node.separator))
                above.append(np.arange(offsets[node.parent], offsets[node.parent + 1]) - upper.start)
            separators += own
        run = np.concatenate(lengths)
        owner = np.repeat(np.arange(separators), run)
        cells = slice(offsets[members[0]], offsets[members[-1] + 1])
        links = Links(above, below, (upper.stop - upper.start, separators))
        levels.append(Level(cells, np.cumsum(run) - run, owner, upper, links))
    return levels
