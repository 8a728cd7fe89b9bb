"""Claimed: the marginals that a receipt says were measured, refused unless a run may have chosen them."""

from collections.abc import Mapping

from expost.errors import Unreadable
from expost.receipts.notation import items, text
from expost.receipts.testimony import MOST_ENTRIES, Testimony, bounded
from expost.tabular.candidates import may_be_added
from expost.tabular.marginals import Clique
from expost.tabular.selection import queries, spans


def pairs_claimed(
    told: Testimony, domain: Mapping[str, int], targets: tuple[str, ...], edges: tuple[tuple[str, str], ...]
) -> tuple[Clique, ...]:
    """The pairs that were measured: each target with each other column, and a tree of affordable pairs."""
    found = bounded(told.found["measured"], 2 * MOST_ENTRIES)
    cliques = tuple(tuple(text(name) for name in bounded(clique, 2)) for clique in found)
    tree = tuple((clique[0], clique[-1]) for clique in cliques if not {*targets} & {*clique})
    if cliques != queries(domain, targets, tree) or not set(tree) <= set(edges) or not spans(tree, edges):
        raise Unreadable("the pairs that were measured are not those that a selection makes.")
    return cliques


def require_grown(told: Testimony, domain: Mapping[str, int], first: tuple[Clique, ...]) -> None:
    """Refuse pairs and triples that no rung can have added; whichever it was, and however many, it costs the same."""
    rungs = bounded(told.found["grown"], len(told.history))
    added = [[tuple(text(name) for name in bounded(each, 3)) for each in items(rung)] for rung in rungs]
    if len(rungs) < len(told.history) or not may_be_added(domain, first, added):
        raise Unreadable("what the rungs added to the pairs is not what a run may add.")
