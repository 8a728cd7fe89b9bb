"""Rows from a junction tree: independent draws, and rounded counts with far less variance.

Both walk the tree from its root and bring in the columns of one clique at a time, given the columns before.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from expost.noise import Floats, Integers, Noise
from expost.numerics import non_negative
from expost.tabular.junction import Clique, Junction

Codes: TypeAlias = NDArray[np.unsignedinteger]
Draw: TypeAlias = Callable[[Junction, Sequence[Floats], int, Noise], list[Codes]]

CHUNK = 1 << 16
"""Rows drawn at a time: the scratch arrays stay in the processor's cache."""
SLOTS = 1 << 17
"""Entries of a lookup table at most: 256 KB, for the same reason."""


def independent(junction: Junction, conditionals: Sequence[Floats], rows: int, noise: Noise) -> list[Codes]:
    """One array of codes per column; the rows are independent draws from the model."""
    codes = _empty(junction.domain, rows)
    lookups = [_Lookup(table, rows) for table in _matrices(junction, conditionals)]
    for start in range(0, rows, CHUNK):
        chunk = [column[start : start + CHUNK] for column in codes]
        _walk(junction, chunk, lambda place, given: lookups[place].draw(given, noise))
    return codes


def rounded(junction: Junction, conditionals: Sequence[Floats], rows: int, noise: Noise) -> list[Codes]:
    """One array of codes per column; in each clique, counts follow their conditional expectation to within one.

    Of n_s rows with separator s, the residual value r gets n_s·P(r | s) rows, rounded up or down at random so that
    the mean is exact (systematic sampling). Which rows get it is random: columns that the model holds independent
    given s stay so.
    """
    tables = _matrices(junction, conditionals)
    codes = _empty(junction.domain, rows)
    _walk(junction, codes, lambda place, given: _round(tables[place], given, noise))
    return codes


def _empty(domain: Sequence[int], rows: int) -> list[Codes]:
    count = int(non_negative(rows, "rows"))
    return [np.zeros(count, np.min_scalar_type(size - 1)) for size in domain]


def _matrices(junction: Junction, conditionals: Sequence[Floats]) -> list[Floats]:
    """P(residual | separator), one row per separator cell."""
    pairs = zip(junction.nodes, conditionals, strict=True)
    return [table.reshape(int(np.prod(table.shape[: len(node.separator)])), -1) for node, table in pairs]


def _walk(junction: Junction, codes: Sequence[Codes], draw: Callable[[int, Integers], Integers]) -> None:
    """Fill the columns node by node: ``draw`` maps separator cells to residual cells."""
    for place, node in enumerate(junction.nodes):
        found = draw(place, _cell(junction.domain, codes, node.separator))
        if len(node.residual) == 1:
            codes[node.residual[0]][:] = found
            continue
        sizes = [junction.domain[column] for column in node.residual]
        for column, values in zip(node.residual, np.unravel_index(np.arange(np.prod(sizes)), sizes), strict=True):
            codes[column][:] = values.astype(codes[column].dtype)[found]


def _cell(domain: Sequence[int], codes: Sequence[Codes], clique: Clique) -> Integers:
    cell = np.zeros(len(codes[0]), np.int64)
    for column in clique:
        cell *= domain[column]
        cell += codes[column]
    return cell


def _cumulated(table: Floats) -> Floats:
    """Cumulated rows that end in 1 exactly, so that no value of probability zero is ever drawn."""
    sums = np.cumsum(table, axis=1)
    return np.asarray(sums / sums[:, -1:])


def _round(table: Floats, given: Integers, noise: Noise) -> Integers:
    """Residual cells for rows whose separator cells are given."""
    sizes = np.bincount(given, minlength=len(table))
    shares = _cumulated(table)
    ends = np.maximum(np.ceil(shares * sizes[:, None] - noise.uniform(len(table))[:, None]), 0.0)
    # A uniform next to 1 would round the end of the last interval down, and lose a row.
    counts = np.where(shares == 1, sizes[:, None], ends.astype(np.int64))
    counts[:, 1:] -= counts[:, :-1].copy()
    values = np.repeat(np.tile(np.arange(table.shape[1]), len(table)), counts.ravel())
    found = np.empty(len(given), np.int64)
    found[_shuffled(given, len(table), noise)] = values
    return found


def _shuffled(given: Integers, cells: int, noise: Noise) -> Integers:
    """The rows in order of their cells, at random within a cell: 32 random bits, then the cell, by radix sort.

    NumPy sorts 16 bits at a time in a fraction of the time of a general sort; two equal keys of 32 bits keep the order
    of their rows, which says nothing about their codes.
    """
    keys = (noise.uniform(len(given)) * 2.0**32).astype(np.uint32)
    order = np.argsort(keys.astype(np.uint16), kind="stable")
    for digit in ((keys >> np.uint32(16)).astype(np.uint16), given.astype(np.min_scalar_type(cells - 1))):
        order = order[np.argsort(digit[order], kind="stable")]
    return order


@final
class _Lookup:
    """Inversion of the conditional distributions, one row of a table per separator cell.

    Each row's unit interval is cut into equal slots; a slot inside one value's interval names the value at once, and
    only draws that fall into another are searched for.
    """

    __slots__ = ("_cumulated", "_last", "_slots", "_table", "_values")

    def __init__(self, table: Floats, rows: int) -> None:
        count, self._values = table.shape
        self._cumulated = (np.arange(count)[:, None] + _cumulated(table)).ravel()
        self._last = self._values - 1 - np.argmax(table[:, ::-1] > 0, axis=1)
        room = max(1, min(rows // 4, SLOTS) // count)
        self._slots = 1 << (room.bit_length() - 1)
        edges = np.arange(count)[:, None] + np.arange(self._slots + 1) / self._slots
        first = np.searchsorted(self._cumulated, edges[:, :-1].ravel(), side="right")
        last = np.searchsorted(self._cumulated, edges[:, 1:].ravel(), side="left")
        values = first - np.repeat(np.arange(count) * self._values, self._slots)
        self._table = np.where(first == last, values, -1).astype(np.int16 if self._values < 1 << 15 else np.int64)

    def draw(self, given: Integers, noise: Noise) -> Integers:
        """Independent residual cells for rows whose separator cells are given."""
        uniform = noise.uniform(len(given))
        found: Integers = self._table[given * self._slots + (uniform * self._slots).astype(np.int64)]
        open_ = np.flatnonzero(found < 0)
        cells = given[open_]
        places = np.searchsorted(self._cumulated, cells + uniform[open_], side="right") - cells * self._values
        # A uniform next to 1 can round up into the next cell's interval: keep it at the last value that can occur.
        found[open_] = np.minimum(places, self._last[cells])
        return found
