"""Pairs of columns, and triples, as a model expects them: post-processing, and the model's joint tables suffice."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set

import numpy as np

from expost.noise import Floats
from expost.tabular.model.graphical import Model
from expost.tabular.model.inference import held
from expost.tabular.model.junction import Clique, Junction


def pairwise_cells(junction: Junction) -> int:
    """Cells that the walk from one column holds at most."""
    return max(junction.domain) * junction.cells


def pairwise_counts(model: Model, pairs: Iterable[Clique]) -> Iterator[tuple[Clique, Floats]]:
    """The expected counts of each of these pairs of columns, in no particular order."""
    wanted: dict[int, set[int]] = defaultdict(set)
    for column, other in pairs:
        wanted[column].add(other)
    for column, others in wanted.items():
        for other, counts in walk(model, (column,), others):
            yield (column, other), counts


def walk(model: Model, start: Clique, wanted: Set[int]) -> Iterator[tuple[int, Floats]]:
    """Each column that is wanted, and its expected counts beside the first ones, which one clique must hold.

    The tree is walked along its edges from that clique: given the columns that two cliques share, all that is beyond
    them is independent of the first columns. It goes no further than to where the columns wanted are.
    """
    domain, nodes = model.domain, model.junction.nodes
    home = held(model.junction, start)
    shape, met = [domain[column] for column in start], _met(model.junction, home, {*wanted} - {*start})
    queue = [(home, _stretched(model.joints[home], nodes[home].columns, start))]
    for place, joint in queue:
        others, further = met[place]
        for other in others:
            counts = model.total * _onto(joint, nodes[place].columns, (other,))
            yield other, counts.reshape(*shape, domain[other])
        queue.extend((child, _across(model, joint, place, child)) for child in further)


def _met(junction: Junction, home: int, wanted: Set[int]) -> dict[int, tuple[list[int], list[int]]]:
    """For each node on the way from one: the columns wanted that are met there first, and the nodes to go on to."""
    near: list[list[int]] = [[] for _ in junction.nodes]
    for place, node in enumerate(junction.nodes):
        if node.parent >= 0:
            near[place].append(node.parent)
            near[node.parent].append(place)
    before, met, left = {home: -1}, dict[int, tuple[list[int], list[int]]](), {*wanted}
    for place in (order := [home]):
        met[place] = [column for column in junction.nodes[place].columns if column in left], []
        left.difference_update(met[place][0])
        for child in near[place]:
            if child != before[place]:
                before[child] = place
                order.append(child)
    for place in reversed(order[1:]):
        if any(met[place]):
            met[before[place]][1].append(place)
    return met


def _stretched(table: Floats, columns: Sequence[int], start: Clique) -> Floats:
    """The table of a clique once for each combination of the first columns, and 0 where these are not so."""
    axes = [columns.index(column) for column in start]
    moved = np.moveaxis(table, axes, range(len(axes)))
    lines = moved.reshape(-1, *moved.shape[len(axes) :])
    stretched = np.zeros((len(lines), *lines.shape))
    stretched[np.arange(len(lines)), np.arange(len(lines))] = lines
    apart = stretched.reshape(len(lines), *moved.shape)
    return np.moveaxis(apart, range(1, 1 + len(axes)), [1 + axis for axis in axes])


def _across(model: Model, table: Floats, place: int, child: int) -> Floats:
    """The table of the first column with a clique, from that with its neighbour: by way of what the two share."""
    here, there = model.junction.nodes[place].columns, model.junction.nodes[child].columns
    shared = tuple(sorted(set(here) & set(there)))
    along = _onto(table, here, shared)
    sizes = along.sum(axis=0)
    given = np.divide(along, sizes, out=np.zeros_like(along), where=sizes > 0)
    order = sorted(shared, key=there.index)
    placed = given.transpose(0, *(1 + shared.index(each) for each in order))
    wide = placed.reshape(len(table), *(model.domain[each] if each in shared else 1 for each in there))
    return np.asarray(wide * model.joints[child])


def _onto(table: Floats, columns: Sequence[int], kept: Clique) -> Floats:
    """The sums over all columns of a clique but those kept, in their order; the first axis stays."""
    summed = table.sum(axis=tuple(1 + axis for axis, column in enumerate(columns) if column not in kept))
    left = [column for column in columns if column in kept]
    return np.asarray(summed.transpose(0, *(1 + left.index(column) for column in kept)))
