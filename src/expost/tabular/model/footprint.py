"""What a schema needs: the largest model that may be selected under it, and whether that fits into memory."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import final

from expost.errors import SchemaMismatch
from expost.tabular.marginals import MOST_CELLS
from expost.tabular.selection import Edge, affordable

CELL, COUNT, LINK = 104, 104, 32
"""Bytes that a fit holds at its peak for each cell of the model, each count measured, and each cell that one of the
maps between them goes through. Measured, and rounded up to whole numbers of doubles."""

TRIED = 32
"""Bytes for each entry of the invented records that a classifier is tried on: one for each value of each column."""

LEAST = 2**20
"""Bytes that the smallest fit takes."""

LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
"""Where a container is told how much memory it may use."""


@final
@dataclass(frozen=True, slots=True)
class Footprint:
    """The most that any selection under a schema can ask for: cells of the model, counts measured, and bytes."""

    cells: int
    counts: int
    bytes: int

    @classmethod
    def of(cls, domain: Mapping[str, int], target: str) -> "Footprint":
        """The bound for a domain; known from the schema alone.

        The smallest column makes a pair with any column that has one, so the selection is a single tree and columns
        without a pair. With the target, each edge and each such column is a clique; their cells are most for the tree
        of largest pairs. Each marginal is summed from the smallest clique that holds it: for an edge its own, for a
        column, alone or with the target, none larger than that of its edge towards the root. Each clique is joined to
        another one, no larger than the largest. So the maps go through at most three times all cells and, for each
        column and three more, the cells of the largest clique.
        """
        forest = _largest_forest(domain, target)
        paired = {name for edge in forest for name in edge}
        pairs = [domain[left] * domain[right] for left, right in forest]
        single = [size for name, size in domain.items() if name not in paired and name != target]
        cliques = [size * domain[target] for size in [*pairs, *single]]
        cells, largest = sum(cliques), max(cliques)
        counts = sum(pairs) + sum(domain.values()) * (1 + domain[target])
        links = 3 * cells + (len(domain) + 3) * largest
        tried = (len(domain) - 1) * (sum(domain.values()) - domain[target])
        return cls(cells, counts, LEAST + CELL * cells + COUNT * counts + LINK * links + TRIED * tried)


def require_room(domain: Mapping[str, int], target: str) -> None:
    """Refuse a schema under which a model could be selected that does not fit into memory."""
    needed, room = Footprint.of(domain, target), memory()
    others = sorted((name for name in domain if name != target), key=lambda name: -domain[name])
    advice = f"use coarser bins, for {' and '.join(others[:2])} first, or fewer columns."
    if needed.counts > MOST_CELLS:
        raise SchemaMismatch(f"the schema may lead to {needed.counts:,} counts; the limit is {MOST_CELLS:,}: {advice}")
    if room is not None and needed.bytes > room:
        raise SchemaMismatch(
            f"the schema may lead to a model that needs {in_words(needed.bytes)} of memory, and there is room for "
            f"{in_words(room)}: {advice}"
        )


def memory() -> int | None:
    """Bytes of memory that this machine has, or this container may use; None if neither is known."""
    try:
        found = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    except (AttributeError, OSError, ValueError):
        found = []
    for path in LIMITS:
        try:
            found.append(int(path.read_text(encoding="ascii")))
        except (OSError, ValueError):
            continue
    return min(found, default=None)


def in_words(size: int) -> str:
    """Bytes in a unit that suits them, rounded up."""
    unit, name = (10**9, "GB") if size >= 10**9 else (10**6, "MB")
    tenths = -(-size * 10 // unit)
    return f"{tenths / 10:g} {name}" if tenths < 100 else f"{-(-size // unit):,} {name}"


def _largest_forest(domain: Mapping[str, int], target: str) -> list[Edge]:
    """The forest of largest pairs that the selection may draw."""
    edges = sorted(affordable(domain, target), key=lambda edge: -domain[edge[0]] * domain[edge[1]])
    component, forest = {name: name for name in domain}, []
    for left, right in edges:
        if component[left] != component[right]:
            forest.append((left, right))
            joined = component[right]
            component = {name: component[left] if part == joined else part for name, part in component.items()}
    return forest
