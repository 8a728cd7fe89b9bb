"""Pairs of columns, and triples, as a model expects them: post-processing, and the model's joint tables suffice."""

from collections.abc import Iterator, Sequence

import numpy as np

from expost.noise import Floats
from expost.tabular.model.graphical import Model
from expost.tabular.model.inference import held
from expost.tabular.model.junction import Clique, Junction


def pairwise_cells(junction: Junction) -> int:
    """Cells that the walk from one column holds at most."""
    return max(junction.domain) * junction.cells


def pairwise_counts(model: Model) -> Iterator[tuple[Clique, Floats]]:
    """The expected counts of each pair of columns, in no particular order."""
    for column in range(len(model.domain)):
        for other, counts in walk(model, (column,)):
            if column < other:
                yield (column, other), counts


def walk(model: Model, start: Clique) -> Iterator[tuple[int, Floats]]:
    """Each other column, and the expected counts of it beside the first ones, which one clique must hold.

    The tree is walked along its edges from that clique: given the columns that two cliques share, all that is beyond
    them is independent of the first columns.
    """
    domain, nodes = model.domain, model.junction.nodes
    near: list[list[int]] = [[] for _ in nodes]
    for place, node in enumerate(nodes):
        if node.parent >= 0:
            near[place].append(node.parent)
            near[node.parent].append(place)
    home = held(model.junction, start)
    shape = [domain[column] for column in start]
    done = set(start)
    queue = [(home, -1, _stretched(model.joints[home], nodes[home].columns, start))]
    for place, before, joint in queue:
        for other in nodes[place].columns:
            if other not in done:
                done.add(other)
                counts = model.total * _onto(joint, nodes[place].columns, (other,))
                yield other, counts.reshape(*shape, domain[other])
        queue.extend((child, place, _across(model, joint, place, child)) for child in near[place] if child != before)


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
