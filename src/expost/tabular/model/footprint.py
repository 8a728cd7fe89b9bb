"""What a schema needs: the largest model that may be selected under it, and whether that fits into memory."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from expost.errors import SchemaMismatch
from expost.tabular.candidates import MOST_COUNTS, MOST_TRIPLE_COUNTS
from expost.tabular.marginals import AT_ONCE, MOST_CELLS
from expost.tabular.model.junction import Clique, Junction
from expost.tabular.model.pairwise import pairwise_cells
from expost.tabular.parts import Parts
from expost.tabular.selection import LARGEST_CLIQUE, Edge, affordable, hub_cells, queries

CELL, COUNT, LINK = 104, 104, 32
"""Bytes that a fit holds at its peak for each cell of the model, each count measured, and each cell that one of the
maps between them goes through. Measured, and rounded up to whole numbers of doubles."""

TRIED, TRIED_AT_ONCE = 32, 2**22
"""Bytes for each entry of the invented records that a classifier is tried on: one for each value of each column, of
which this many entries at a time."""

SCORED = 32
"""Bytes for each cell of the pairs that are counted in one pass to be chosen from."""

PAIR_TIME, CELL_TIME, COLUMN_TIME, FIT_TIME = 1e-4, 5e-8, 0.012, 1e-6
"""Seconds of one core, measured on tables of ten thousand records with 60 to 500 columns, and of 13 with 700 values."""

LEAST = 2**20
"""Bytes that the smallest fit takes."""

GROWN_CELLS, GROWN_BYTES, LARGEST_WALK = 2**14, 2**26, 2**21
"""What a model may have if pairs are added to it: cells, which take seconds to fit, bytes of its fit, and cells that a
comparison of all pairs with it, or of triples, may hold at a time."""

WALKED, ADDED = 32, 96
"""Bytes for each cell of that comparison, and for each count of the marginals that are compared."""

LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
"""Where a container is told how much memory it may use."""


@final
@dataclass(frozen=True, slots=True)
class Footprint:
    """The most that a run under a schema can ask for: cells of the model of any selection, counts, and bytes.

    ``bytes`` are for that model, of which ``fit`` are for its fit, or for choosing its pairs if that takes more.
    ``growth`` is what pairs and triples that are added later may need on top of it. ``choice`` and ``rung`` are rough
    times in seconds, of one core: to choose the pairs, and to fit a model, draw from it and try what was learnt.
    """

    cells: int
    counts: int
    fit: int
    bytes: int
    growth: int
    choice: float
    rung: float

    @classmethod
    def of(
        cls, domain: Mapping[str, int], targets: tuple[str, ...], tied: Sequence[tuple[str, ...]] = ()
    ) -> "Footprint":
        """The bound for a domain; known from the schema alone.

        The smallest column makes a pair with any column that has one, so the selection is a single tree and columns
        without a pair. With the targets, each edge and each such column is a clique; their cells are most for the tree
        of largest pairs. Each marginal is summed from the smallest clique that holds it: for an edge its own, for a
        column, alone or with a target, none larger than that of its edge towards the root. Each clique is joined to
        another one, no larger than the largest. So the maps go through at most three times all cells and, for each
        column and three more, the cells of the largest clique.

        Pairs that are added later are kept out of the model where its fit would need more than ``GROWN_BYTES``, and
        triples always. Columns
        that rules have ``tied`` together are in it in any case, and so is the target with each column. The selected
        pairs are kept out where both would need more than the tree of largest pairs without rules.
        """
        forest, hub = _largest_forest(domain, targets), hub_cells(domain, targets)
        paired = {name for edge in forest for name in edge}
        pairs = [domain[left] * domain[right] for left, right in forest]
        single = [size for name, size in domain.items() if name not in paired and name not in targets]
        cliques = [size * hub for size in [*pairs, *single]]
        cells, largest = sum(cliques), max(cliques)
        counts = sum(pairs) + sum(domain.values()) * (1 + sum(domain[name] for name in targets))
        links = 3 * cells + (len(domain) + 3) * largest
        tried = min(len(domain) * sum(domain.values()), TRIED_AT_ONCE)
        fit = CELL * cells + COUNT * counts + LINK * links
        if tied:
            fit = max(fit, fit_bytes(*_ruled(domain, targets, tied)))
            cells = fit // CELL
        scored = [domain[left] * domain[right] for left, right in affordable(domain, targets)]
        needed = LEAST + max(fit + TRIED * tried, SCORED * (min(sum(scored), AT_ONCE) + max(scored, default=0)))
        choice = PAIR_TIME * len(scored) + CELL_TIME * sum(scored)
        times = choice, COLUMN_TIME * len(domain) + FIT_TIME * cells
        added, larger = _added(domain, targets), _triples(domain)
        if not added:
            return cls(cells, counts, fit, needed, 0, *times)
        growth = _growth(domain, cells, counts, added, needed) + ADDED * larger
        return cls(cells, counts + added + larger, fit, needed, growth, *times)


def require_room(
    domain: Mapping[str, int],
    targets: tuple[str, ...],
    tied: Sequence[tuple[str, ...]] = (),
    *,
    allowed: int | None = None,
) -> None:
    """Refuse a schema under which a model could be selected that does not fit into memory, or into what is allowed."""
    if tied:
        _require_tied(domain, targets, tied)
    needed = Footprint.of(domain, targets, tied)
    room = min((each for each in (memory(), allowed) if each is not None), default=None)
    total = needed.bytes + needed.growth
    others = sorted((name for name in domain if name not in targets), key=lambda name: -domain[name])
    advice = f"use coarser bins, for {' and '.join(others[:2])} first, or fewer columns."
    if needed.counts > MOST_CELLS:
        raise SchemaMismatch(f"the schema may lead to {needed.counts:,} counts; the limit is {MOST_CELLS:,}: {advice}")
    if room is not None and total > room:
        raise SchemaMismatch(
            f"the schema may lead to a model that needs {in_words(total)} of memory, and there is room for "
            f"{in_words(room)}: {advice}"
        )


def _ruled(
    domain: Mapping[str, int], targets: tuple[str, ...], tied: Sequence[tuple[str, ...]]
) -> tuple[Junction, list[Clique]]:
    """The smallest structure that keeps the rules, and what is measured in it: columns alone and with the targets."""
    place = {name: index for index, name in enumerate(domain)}
    pairs = [tuple(place[name] for name in pair) for pair in queries(domain, targets, ())]
    rules = [tuple(sorted(place[name] for name in names)) for names in tied]
    return Junction.of(tuple(domain.values()), [*pairs, *rules]), [*((each,) for each in place.values()), *pairs]


def _require_tied(domain: Mapping[str, int], targets: tuple[str, ...], tied: Sequence[tuple[str, ...]]) -> None:
    names = [list(domain)[place] for place in _ruled(domain, targets, tied)[0].widest]
    cells = math.prod(domain[name] for name in names)
    if cells > LARGEST_CLIQUE:
        raise SchemaMismatch(
            f"the rules need one table of {', '.join(names)}, which has {cells:,} cells; the limit is "
            f"{LARGEST_CLIQUE:,}: use coarser bins, or fewer rules."
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


def _largest_forest(domain: Mapping[str, int], targets: tuple[str, ...]) -> list[Edge]:
    """The forest of largest pairs that the selection may draw."""
    edges = sorted(affordable(domain, targets), key=lambda edge: -domain[edge[0]] * domain[edge[1]])
    parts = Parts(domain)
    return [edge for edge in edges if parts.join(*edge)]


def _added(domain: Mapping[str, int], targets: tuple[str, ...]) -> int:
    """The most counts that added pairs can have."""
    others = [size for name, size in domain.items() if name not in targets]
    return min(MOST_COUNTS, (sum(others) ** 2 - sum(size**2 for size in others)) // 2)


def _triples(domain: Mapping[str, int]) -> int:
    """The most counts that added triples can have."""
    one, two, three = 0, 0, 0
    for size in domain.values():
        one, two, three = one + size, two + size * one, three + size * two
    return min(MOST_TRIPLE_COUNTS, three)


def _growth(domain: Mapping[str, int], cells: int, counts: int, added: int, fitted: int) -> int:
    """Bytes that a run which adds pairs needs beyond those of the first fit.

    No clique has more cells than the whole table, there are no more of them than columns, and each marginal is summed
    from one.
    """
    largest = min(GROWN_CELLS, math.prod(domain.values()))
    grown = min(GROWN_CELLS, len(domain) * largest)
    maps = (2 * len(domain) + math.comb(len(domain), 2)) * largest
    again = LEAST + min(GROWN_BYTES, CELL * grown + COUNT * (counts + added) + LINK * maps)
    walked = min(LARGEST_WALK, math.prod(sorted(domain.values())[-2:]) * max(cells, grown))
    return max(0, again - fitted) + ADDED * added + WALKED * walked


def grown_fits(junction: Junction, cliques: Sequence[Clique]) -> bool:
    """Whether a model that pairs were added to is small enough to be fitted to these marginals."""
    if junction.cells > GROWN_CELLS or pairwise_cells(junction) > LARGEST_WALK:
        return False
    return fit_bytes(junction, cliques) <= GROWN_BYTES


def fit_bytes(junction: Junction, cliques: Sequence[Clique]) -> int:
    """What a fit to these marginals holds at its peak."""
    sizes = [math.prod(junction.domain[column] for column in node.columns) for node in junction.nodes]
    homes = [junction.home(clique) for clique in cliques]
    links = sum(sizes[place] for place in homes if place is not None)
    links += sum(sizes[node.parent] for node in junction.nodes if node.parent >= 0)
    counts = sum(math.prod(junction.domain[column] for column in clique) for clique in cliques)
    return CELL * junction.cells + COUNT * counts + LINK * links
