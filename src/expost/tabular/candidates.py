"""Candidates: which pairs and triples of columns may be scored for a place among the marginals, by size alone."""

from collections.abc import Mapping, Sequence
from itertools import accumulate, combinations
from math import comb, prod

from expost.tabular.marginals import Clique

MOST_CANDIDATES, MOST_COUNTS = 10_000, 2**20
"""Pairs that may be scored, and the counts that they may have together: each is counted anew on every rung."""

MOST_TRIPLES, MOST_TRIPLE_COUNTS = 1_000, 2**18
"""The same for triples, those that were added before included: all that are added are counted on every rung."""


def candidates(domain: Mapping[str, int], first: tuple[Clique, ...]) -> tuple[Clique, ...]:
    """The pairs that may be added to the first marginals: those of fewest cells if there are too many of them."""
    taken = {frozenset(clique) for clique in first}
    pairs = [pair for pair in combinations(domain, 2) if frozenset(pair) not in taken]
    return _smallest({pair: domain[pair[0]] * domain[pair[1]] for pair in pairs}, MOST_CANDIDATES, MOST_COUNTS)


def scored_triples(cells: Mapping[Clique, int], taken: Sequence[int] = ()) -> tuple[Clique, ...]:
    """Of triples, given the cells of each, those to be scored: the ones of fewest cells if there are too many.

    ``taken`` are the cells of each triple that was added before.
    """
    return _smallest(cells, max(0, MOST_TRIPLES - len(taken)), MOST_TRIPLE_COUNTS - sum(taken))


def most_triples(columns: int) -> int:
    """The most triples that a run can add, and a step of it score."""
    return min(comb(columns, 3), MOST_TRIPLES)


def may_be_added(domain: Mapping[str, int], first: tuple[Clique, ...], rungs: Sequence[Sequence[Clique]]) -> bool:
    """Whether these rungs can have added this: candidates, then triples all whose pairs are measured, each once."""
    pairs, known, place = {*candidates(domain, first)}, {*map(frozenset, first)}, list(domain).index
    taken: set[Clique] = set()
    triples, cells = 0, 0
    for rung in rungs:
        larger = [clique for clique in rung if clique not in pairs]
        smaller = rung[: len(rung) - len(larger)]
        known |= {*map(frozenset, smaller)}
        triples += len(larger)
        for clique in larger:
            if len(clique) != 3 or not {*map(frozenset, combinations(clique, 2))} <= known:
                return False
            if list(clique) != sorted(clique, key=place):
                return False
            cells += prod(domain[name] for name in clique)
        fits = triples <= most_triples(len(domain)) and cells <= MOST_TRIPLE_COUNTS
        if not fits or not {*smaller} <= pairs or len({*rung}) < len(rung) or taken & {*rung}:
            return False
        taken |= {*rung}
    return True


def _smallest(cells: Mapping[Clique, int], most: int, counts: int) -> tuple[Clique, ...]:
    """At most that many marginals with at most that many counts together, in the order given."""
    fewest = sorted(cells, key=cells.__getitem__)[:most]
    together = accumulate(cells[clique] for clique in fewest)
    kept = {clique for clique, total in zip(fewest, together, strict=True) if total <= counts}
    return tuple(clique for clique in cells if clique in kept)
