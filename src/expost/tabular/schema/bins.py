"""Bins between public edges: which one a value falls into, and what they are called."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from datetime import date
from enum import Enum
from itertools import pairwise
from typing import TypeAlias

from expost.errors import SchemaMismatch
from expost.tabular.schema.cells import Cell, How, Taken
from expost.tabular.schema.column import Missing, check_domain, with_missing_label, without_value

Edges: TypeAlias = tuple[float, ...]
DateEdge: TypeAlias = date | float

WHOLE_LIMIT = 2**53
"""Whole numbers up to here are floats too, so that a uniform draw between edges is one of them."""

REAL_LIMIT = 1e300
"""Edges up to here can be added and subtracted without overflow."""


class Closed(Enum):
    """Which end of each bin belongs to it."""

    LEFT = "left"
    RIGHT = "right"


def check_edges(name: str, edges: Edges, limit: float) -> None:
    """Refuse edges that do not bound bins."""
    check_domain(name, len(edges) - 1)
    if not all(left < right for left, right in pairwise(edges)):
        raise SchemaMismatch(f"the edges of column {name} do not increase; list each once, smallest first.")
    finite = [edge for edge in edges if math.isfinite(edge)]
    if not finite or max(map(abs, finite)) > limit:
        raise SchemaMismatch(
            f"the edges of column {name} need at least one finite value, and none beyond ±{limit:g} except infinity."
        )


def binned(
    cell: Cell | None, read: Callable[[Cell], float | None], edges: Edges, closed: Closed, missing: Missing
) -> Taken:
    """The bin of the value that is read from a cell, the nearest one if it is outside all of them."""
    value = None if cell is None else read(cell)
    if value is None:
        return without_value(cell, len(edges) - 1, missing)
    found = bisect_right(edges, value) if closed is Closed.LEFT else bisect_left(edges, value)
    inside = edges[0] <= value <= edges[-1]
    return How.VALUE if inside else How.OUTSIDE, min(max(found - 1, 0), len(edges) - 2)


def bin_count(edges: Sequence[DateEdge], missing: Missing) -> int:
    """How many codes there are: the bins and, where there is one, the missing category."""
    return len(edges) - 1 + (missing is Missing.CATEGORY)


def intervals(edges: Sequence[DateEdge], closed: Closed, missing: Missing) -> tuple[str, ...]:
    """The bins as text, such as [10, 20) or (90, ∞), and the missing category where there is one."""
    left, right = ("[", ")") if closed is Closed.LEFT else ("(", "]")
    ends = pairwise(map(_plain, edges))
    bins = (f"{'(' if low == '-∞' else left}{low}, {high}{')' if high == '∞' else right}" for low, high in ends)
    return with_missing_label(tuple(bins), missing)


def _plain(edge: DateEdge) -> str:
    if isinstance(edge, date):
        return edge.isoformat()
    if not math.isfinite(edge):
        return "∞" if edge > 0 else "-∞"
    return str(int(edge)) if edge == int(edge) else repr(edge)
