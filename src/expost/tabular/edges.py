"""Edges found under the bill: from noisy counts on public grids to bins of even weight, and tables written in them."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from expost.errors import InvalidValue
from expost.noise import Floats, Integers
from expost.private import Neighbours
from expost.tabular.marginals import Marginals
from expost.tabular.persons import AnyRows
from expost.tabular.schema.bins import Edges
from expost.tabular.schema.column import Column
from expost.tabular.schema.private_bins import PrivateBins
from expost.tabular.schema.schema import Schema
from expost.tabular.table import Table

TOLD, SEEN = 4.0, 2.0
"""Standard errors by which one of many counts must miss its share, and one count 0, before that is more than noise."""
FAINT = 1e-3
"""The part of all counts that is spread evenly over the grid, so that edges which nothing calls for lie apart."""


def grids(schema: Schema) -> dict[str, int]:
    """The columns whose edges are to be found, and how many codes each has on its grid."""
    return {each.name: each.fine.size for each in schema.columns if isinstance(each, PrivateBins)}


def require_declared(schema: Schema, targets: tuple[str, ...], *, public: bool) -> None:
    """Refuse private edges where edges must be known beforehand: of a target, and of public records to check on."""
    hidden = grids(schema)
    for name in targets:
        if name in hidden:
            raise InvalidValue(f"the target {name} has private edges, and is asked about by its bins; declare them.")
    if hidden and public:
        raise InvalidValue("a schema with private edges cannot be checked on public records; choose edges by these.")


def grid_counts(cells: Mapping[str, int], neighbours: Neighbours) -> Marginals:
    """The histogram of each of these columns on its grid; one record moves one cell of each."""
    return Marginals(cells, tuple((name,) for name in cells), neighbours)


def settled_schema(schema: Schema, counts: Mapping[str, Floats], std: float) -> Schema:
    """The schema with the edges that counts on the grids lead to, with noise of this size; as many bins as declared."""

    def settled(column: Column) -> Column:
        if not isinstance(column, PrivateBins):
            return column
        told = smoothed(counts[column.name][: len(column.grid) - 1], std)
        return column.between(even_edges(column.grid, told, column.bins), tuple(told.tolist()))

    return replace(schema, columns=tuple(map(settled, schema.columns)))


def coarsened(data: AnyRows, schema: Schema) -> AnyRows:
    """Rows that were read on the grids, in the bins of the schema."""
    return data.recoded(partial(_coarser, schema=schema))


def _coarser(table: Table, schema: Schema) -> Table:
    """A table that was read on the grids, in the bins of the schema; each code follows from that code alone."""
    maps = {each.name: each.coarser for each in schema.columns if isinstance(each, PrivateBins)}
    codes = {name: maps[name][found] if name in maps else found for name, found in table.columns.items()}
    return Table(schema, {name: found.astype(np.uint32) for name, found in codes.items()}, table.native)


def even_edges(grid: Edges, counts: Floats, bins: int) -> Edges:
    """The edges of a grid, ``bins`` + 1 of them, between which the squares of the counts add up to the least.

    Bins then weigh as much as each other as far as the grid lets them, and a cell with more than its share is a bin of
    its own.
    """
    below = np.concatenate([[0.0], np.cumsum(counts + FAINT * max(1.0, float(counts.sum())) / len(counts))])
    squares = np.where(np.tri(len(grid), dtype=np.bool_), np.inf, (below[None, :] - below[:, None]) ** 2)
    least, steps = squares[0], list[Integers]()
    for _ in range(bins - 1):
        total = least[:, None] + squares
        steps.append(np.argmin(total, axis=0).astype(np.int64))
        least = np.min(total, axis=0)
    places = [len(grid) - 1]
    for found in reversed(steps):
        places.append(int(found[places[-1]]))
    return (grid[0], *(grid[place] for place in reversed(places)))


def smoothed(counts: Floats, std: float) -> Floats:
    """The counts, spread evenly over each stretch in which nothing but noise of this size can be seen.

    A stretch is halved as long as some half of it, or of its halves, or some cell in it, has more or less than its
    share by more than noise makes. One that has no more than noise alone might have counts as empty.
    """
    size, share = len(counts), float(counts.mean())
    misses = ((abs(float(each.sum()) - share * len(each)), math.sqrt(len(each))) for each in _halves(counts))
    if all(miss <= TOLD * std * root for miss, root in misses):
        return np.full(size, share if float(counts.sum()) > overlooked(std, size) else 0.0)
    return np.concatenate([smoothed(part, std) for part in (counts[: size // 2], counts[size // 2 :])])


def overlooked(std: float, cells: int) -> float:
    """How many records such a stretch of this number of cells may seem to have and still count as empty."""
    return SEEN * std * math.sqrt(cells)


def _halves(counts: Floats) -> Iterator[Floats]:
    """Both halves, their halves, and so on down to single cells."""
    if len(counts) > 1:
        for part in (counts[: len(counts) // 2], counts[len(counts) // 2 :]):
            yield part
            yield from _halves(part)
