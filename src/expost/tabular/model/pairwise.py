"""Every pair of columns at once, as a model expects it: post-processing, and the model's joint tables suffice."""

from collections.abc import Iterator, Sequence

import numpy as np

from expost.noise import Floats
from expost.tabular.model.graphical import Model
from expost.tabular.model.junction import Clique, Junction


def pairwise_cells(junction: Junction) -> int:
    """Cells that the walk from one column holds at most."""
    return max(junction.domain) * junction.cells


def pairwise_counts(model: Model) -> Iterator[tuple[Clique, Floats]]:
    """The expected counts of each pair of columns, in no particular order.

    From a clique that holds the first column, the tree is walked along its edges: given the columns that two cliques
    share, all that is beyond them is independent of the first column.
    """
    domain, nodes = model.domain, model.junction.nodes
    near: list[list[int]] = [[] for _ in nodes]
    for place, node in enumerate(nodes):
        if node.parent >= 0:
            near[place].append(node.parent)
            near[node.parent].append(place)
    for column in range(len(domain)):
        home = model.junction.home((column,))
        assert home is not None  # each column is in a clique
        own, done = nodes[home].columns, {column}
        table = np.moveaxis(model.joints[home], own.index(column), 0)
        stretched = np.zeros((domain[column], *table.shape))
        stretched[np.arange(domain[column]), np.arange(domain[column])] = table
        stretched = np.moveaxis(stretched, 1, 1 + own.index(column))
        queue = [(home, -1, stretched)]
        for place, before, joint in queue:
            for other in nodes[place].columns:
                if other not in done:
                    done.add(other)
                    if column < other:
                        yield (column, other), model.total * _onto(joint, nodes[place].columns, (other,))
            queue.extend(
                (child, place, _across(model, joint, place, child)) for child in near[place] if child != before
            )


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
