"""Coverings: which columns to count together, so that few histograms hold all marginals that are asked for.

A pass over the records costs the same for a histogram of many columns as for one of two, as long as its cells stay in
the processor's cache, and what is asked for are sums of its cells. Which columns go together follows from the domain.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import TypeAlias, final

import numpy as np

from expost.noise import Floats, Integers
from expost.tabular.schema.column import Codes, smallest
from expost.tabular.table import Table

Names: TypeAlias = tuple[str, ...]

LARGEST_JOINT = 2**16
"""Cells that marginals are counted in together: half a megabyte, and the cell of a record is a number of 16 bits."""

SMALLEST_JOINT, ROWS_TO_A_CELL = 2**8, 4
"""Where records are few, adding up cells takes longer than counting: there are at most a quarter as many, or these."""

CHUNK = 2**17
"""Records counted at a time: their cells stay in the processor's cache."""


@final
@dataclass(frozen=True, slots=True)
class Together:
    """One histogram, of columns that have more than one code each, and the places of the marginals in it."""

    columns: Names
    places: tuple[int, ...]


def joint_cells(rows: int) -> int:
    """The most cells that pay for counting this many records, a power of two."""
    return min(LARGEST_JOINT, max(SMALLEST_JOINT, 1 << (rows // ROWS_TO_A_CELL).bit_length()))


def histograms(table: Table, cliques: tuple[Names, ...], weights: Floats | None = None) -> Integers:
    """The counts of each of these marginals, one after another, or the sums of whole weights, below 2⁵³ all together.

    They do not depend on what was counted together: only how long it takes does.
    """
    domain = table.domain
    ends = list(accumulate((math.prod(domain[name] for name in clique) for clique in cliques), initial=0))
    found = np.empty(ends[-1], dtype=np.int64)
    for each in covering(tuple(domain.items()), cliques, joint_cells(len(table))):
        cells = _counted(table, [(name, domain[name]) for name in each.columns], weights)
        for place in each.places:
            found[ends[place] : ends[place + 1]] = _margin(cells, each.columns, cliques[place])
    return found


@lru_cache(maxsize=8)
def covering(domain: tuple[tuple[str, int], ...], cliques: tuple[Names, ...], most: int) -> tuple[Together, ...]:
    """Histograms of at most that many cells, or of one marginal alone, that hold each of these marginals once.

    Columns are put into groups of at most √most cells, so that any two groups fit one histogram. The marginals of like
    groups then come one after another, and each joins those before it while there is room.
    """
    sizes = {name: size for name, size in domain if size > 1}
    proper = [tuple(name for name in clique if name in sizes) for clique in cliques]
    group = _groups({name: sizes[name] for clique in proper for name in clique}, math.isqrt(most))
    order = sorted(range(len(cliques)), key=lambda place: sorted({group[name] for name in proper[place]}))
    return tuple(_joined(sizes, proper, order, most))


def _joined(sizes: Mapping[str, int], cliques: Sequence[Names], order: Sequence[int], most: int) -> Iterator[Together]:
    columns, places, cells = dict[str, None](), list[int](), 1
    for place in order:
        more = [name for name in cliques[place] if name not in columns]
        larger = cells * math.prod(sizes[name] for name in more)
        if places and larger > most:
            yield Together(tuple(columns), tuple(places))
            more, larger = list(cliques[place]), math.prod(sizes[name] for name in cliques[place])
            columns, places = {}, []
        columns |= dict.fromkeys(more)
        places.append(place)
        cells = larger
    yield Together(tuple(columns), tuple(places))


def _groups(sizes: Mapping[str, int], most: int) -> dict[str, int]:
    """The group of each column: the first one with room for it, largest columns first."""
    group, room = dict[str, int](), list[int]()
    for name in sorted(sizes, key=lambda name: -sizes[name]):
        place = next((place for place, left in enumerate(room) if left >= sizes[name]), len(room))
        if place == len(room):
            room.append(most)
        room[place] //= sizes[name]
        group[name] = place
    return group


def _counted(table: Table, columns: Sequence[tuple[str, int]], weights: Floats | None) -> Integers:
    """One histogram of the columns, with an axis for each."""
    codes, shape = [table.codes(name) for name, _ in columns], [size for _, size in columns]
    count, cells = len(table), math.prod(shape)
    counts, step = np.zeros(cells, dtype=np.int64), max(CHUNK, cells)
    for start in range(0, count, step):
        rows = slice(start, min(start + step, count))
        combined = joint_codes([each[rows] for each in codes], shape, rows.stop - start)
        added = np.bincount(combined, None if weights is None else weights[rows], cells)
        counts += added.astype(np.int64, copy=False)
    return counts.reshape(shape)


def joint_codes(codes: Sequence[Codes], shape: Sequence[int], rows: int) -> Codes:
    """The cell of each record, in the smallest type for it."""
    kind = smallest(math.prod(shape))
    if not codes:
        return np.zeros(rows, dtype=kind)
    combined = codes[0].astype(kind)
    for each, size in zip(codes[1:], shape[1:], strict=True):
        combined *= kind.type(size)
        combined += each
    return combined


def _margin(cells: Integers, columns: Names, clique: Names) -> Integers:
    """The sums of the cells over all columns but the clique's, in its order."""
    axis = {name: place for place, name in enumerate(columns)}
    kept = [axis[name] for name in clique if name in axis]
    return np.asarray(np.einsum(cells, list(range(cells.ndim)), kept)).ravel()
