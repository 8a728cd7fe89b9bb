"""Rows from a junction tree: independent draws, and rounded counts with far less variance.

Both walk the tree from its root and bring in the columns of one clique at a time, given the columns before.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from expost.noise import Floats, Integers, Noise
from expost.numerics import non_negative
from expost.tabular.model.junction import Clique, Junction

Codes: TypeAlias = NDArray[np.unsignedinteger]
Draw: TypeAlias = Callable[[Junction, Sequence[Floats], int, Noise], list[Codes]]

CHUNK = 1 << 16
"""Rows drawn at a time: the scratch arrays stay in the processor's cache."""
SLOTS = 1 << 17
"""Entries of a lookup table at most: 256 KB, for the same reason."""
TRIES = 16
"""Rows for each one tried before the cells left open are shuffled whole: rare cells only, when rows are many."""


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
    the mean is exact (systematic sampling). Which rows get it is random, every choice as likely as any other: columns
    that the model holds independent given s stay so.
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
    """Residual cells for rows whose separator cells are given.

    Independent draws come within a few rows of the counts wanted; rows picked at random from the cells that got too
    many then go to those that got too few. No step looks at a row's place, so every arrangement is equally likely.
    """
    values = table.shape[1]
    lookup, starts = _Lookup(table, len(given)), range(0, max(len(given), 1), CHUNK)
    found = np.concatenate([lookup.draw(given[start : start + CHUNK], noise) for start in starts])
    cells = given * values + found
    wanted = _counts(table, np.bincount(given, minlength=len(table)), noise).ravel()
    missing = wanted - np.bincount(cells, minlength=table.size)
    moved = _picked(cells, np.maximum(-missing, 0), noise)
    found[moved] = np.repeat(np.arange(table.size) % values, np.maximum(missing, 0))
    return found


def _counts(table: Floats, sizes: Integers, noise: Noise) -> Integers:
    """How many of each separator cell's rows get each residual value: systematic sampling, one uniform per cell."""
    shares = _cumulated(table)
    ends = np.maximum(np.ceil(shares * sizes[:, None] - noise.uniform(len(table))[:, None]), 0.0)
    # A uniform next to 1 would round the end of the last interval down, and lose a row.
    counts = np.where(shares == 1, sizes[:, None], ends.astype(np.int64))
    counts[:, 1:] -= counts[:, :-1].copy()
    return counts


def _picked(cells: Integers, picks: Integers, noise: Noise) -> Integers:
    """Rows in order of their cells, ``picks[cell]`` of each: a random choice in random order.

    Rows tried at random fill all cells but those with few rows; those few are shuffled.
    """
    tried = (noise.uniform(len(cells) // TRIES) * len(cells)).astype(np.int64)
    tried = tried[(picks > 0)[cells[tried]]]
    tried = tried[np.sort(np.unique(tried, return_index=True)[1])]
    open_ = np.bincount(cells[tried], minlength=len(picks)) < picks
    rest = np.flatnonzero(open_[cells])
    rest = rest[np.argsort(noise.uniform(len(rest)))]
    rows = np.concatenate([tried[~open_[cells[tried]]], rest])
    rows = rows[np.argsort(cells[rows], kind="stable")]
    home = cells[rows]
    taken: Integers = rows[np.arange(len(rows)) - np.searchsorted(home, home) < picks[home]]
    return taken


def _words(count: int, noise: Noise) -> NDArray[np.uint16]:
    """Random words of 16 bits, three to a uniform number: entropy is a third of the cost of a row."""
    words = (noise.uniform(-(-count // 3)) * 2.0**48).astype("<u8").view("<u2")
    return words.reshape(-1, 4)[:, :3].ravel()[:count]


@final
class _Lookup:
    """Inversion of the conditional distributions, one row of a table per separator cell.

    Each row's unit interval is cut into equal slots; a slot inside one value's interval names the value at once, and
    only draws that fall into another are searched for.
    """

    __slots__ = ("_cumulated", "_last", "_shift", "_slots", "_table", "_values")

    def __init__(self, table: Floats, rows: int) -> None:
        count, self._values = table.shape
        self._cumulated = (np.arange(count)[:, None] + _cumulated(table)).ravel()
        self._last = self._values - 1 - np.argmax(table[:, ::-1] > 0, axis=1)
        room = max(1, min(rows // 4, SLOTS) // count)
        self._shift = 17 - min(room.bit_length(), 17)
        self._slots = 1 << (16 - self._shift)
        edges = np.arange(count)[:, None] + np.arange(self._slots + 1) / self._slots
        first = np.searchsorted(self._cumulated, edges[:, :-1].ravel(), side="right")
        last = np.searchsorted(self._cumulated, edges[:, 1:].ravel(), side="left")
        values = first - np.repeat(np.arange(count) * self._values, self._slots)
        self._table = np.where(first == last, values, -1).astype(np.int16 if self._values < 1 << 15 else np.int64)

    def draw(self, given: Integers, noise: Noise) -> Integers:
        """Independent residual cells for rows whose separator cells are given."""
        slots = given * self._slots + (_words(len(given), noise) >> self._shift)
        found: Integers = self._table[slots]
        shared = np.flatnonzero(found < 0)
        cells = given[shared]
        uniform = (slots[shared] + noise.uniform(len(shared))) / self._slots
        places = np.searchsorted(self._cumulated, uniform, side="right") - cells * self._values
        # A uniform next to 1 can round up into the next cell's interval: keep it at the last value that can occur.
        found[shared] = np.minimum(places, self._last[cells])
        return found
