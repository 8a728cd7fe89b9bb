"""Exact search for the table that loses most when two of its outputs are merged."""

import math
from collections.abc import Callable, Iterator

from expost import FiniteMechanism
from paper.show.definitions import Example, Search

GROWN = 1e-9
"""Growth below this is rounding."""

Mechanism = FiniteMechanism[str, int]
Measure = Callable[[Mechanism], float]


def search(name: str, measure: Measure, parts: int, claim: float, outputs: int) -> Search:
    """Merge the first two outputs of every table; any post-processing splits outputs by coins, and then merges."""
    worst, tables, after = Example(p=[], q=[], before=0.0, after=0.0), 0, dict[float, float]()
    for p, q in _tables(parts, outputs):
        rows = {"X": p, "X'": q}
        table = FiniteMechanism({x: {(y, claim): n / parts for y, n in enumerate(rows[x])} for x in rows})
        merged = table.post_process(lambda y, epsilon: {max(y, 1): 1.0})
        start, end, tables = measure(table), measure(merged), tables + 1
        if start == math.inf:
            continue
        if end - start > worst["after"] - worst["before"] + GROWN:
            worst = Example(p=list(p), q=list(q), before=start, after=end)
        level = round(start, 9)
        after[level] = max(after.get(level, end), end)
    profile = sorted(after.items()) if name in ("probabilistic", "approximate") else []
    growth = worst["after"] - worst["before"]
    return Search(
        notion=name, parts=parts, tables=tables, growth=growth, example=worst, profile=[list(at) for at in profile]
    )


def _tables(parts: int, outputs: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All pairs of laws in units of 1/parts; of those that differ in the order of outputs alone, one."""
    laws = list(_laws(parts, outputs))
    for p in laws:
        for q in laws:
            cells = list(zip(p, q, strict=True))
            if cells[0] <= cells[1] and cells[2:] == sorted(cells[2:]):
                yield p, q


def _laws(parts: int, outputs: int) -> Iterator[tuple[int, ...]]:
    if outputs == 1:
        yield (parts,)
        return
    for first in range(parts + 1):
        yield from ((first, *rest) for rest in _laws(parts - first, outputs - 1))
