"""A synthetic table's run put together again from the settings of its receipt, without its data."""

from collections.abc import Mapping

from expost.errors import Unreadable
from expost.jobs.synthesis.recipe import THOUSANDTHS
from expost.mechanisms.brownian import Brownian
from expost.mechanisms.gaussian import Gaussian
from expost.receipts.notation import BUDGET, budget_in, items, record, text, whole
from expost.receipts.procedures import Procedure, Step
from expost.receipts.testimony import MOST_ENTRIES, Testimony, bounded
from expost.tabular.marginals import Clique, Marginals
from expost.tabular.selection import SpanningTree, affordable, queries

OWN = ("rows", "schema", "selection", "measured")
RESOLUTIONS = {"accuracy": 1, "mean score": THOUSANDTHS}
"""Steps to 1 of a record's score, by what is measured."""


def rebuild_synthesis(told: Testimony) -> Procedure:
    """Each column alone and a tree of pairs, then the pairs ever finer; all from the schema and the target."""
    schema = record(told.found["schema"], ("sha256", "columns", "sizes"))
    text(schema["sha256"])
    whole(told.found["rows"])
    names = [text(name) for name in bounded(schema["columns"], MOST_ENTRIES)]
    domain = dict(zip(names, map(whole, items(schema["sizes"])), strict=True))
    half, neighbours = budget_in(record(told.found["selection"], BUDGET)), told.neighbours
    if len(domain) < len(names):
        raise Unreadable("the receipt names a column twice; it was changed.")
    edges = affordable(domain, told.asked.target)
    alone = Gaussian(Marginals(domain, tuple((name,) for name in names), neighbours).statistic)
    tree = SpanningTree({}, edges, neighbours)
    pairs = Gaussian(Marginals(domain, _pairs(told, domain, edges), neighbours).statistic)
    before = tuple(Step(each.name, each.facts(half), each.floating, each.promise(half)) for each in (alone, tree))
    return Procedure(before, Brownian(pairs), RESOLUTIONS[told.asked.measure], OWN)


def _pairs(told: Testimony, domain: Mapping[str, int], edges: tuple[tuple[str, str], ...]) -> tuple[Clique, ...]:
    """The pairs that were measured: the target with each other column, and a tree of affordable pairs."""
    found = bounded(told.found["measured"], 2 * MOST_ENTRIES)
    cliques = tuple(tuple(text(name) for name in bounded(clique, 2)) for clique in found)
    tree = tuple((clique[0], clique[-1]) for clique in cliques if told.asked.target not in clique)
    if cliques != queries(domain, told.asked.target, tree) or not set(tree) <= set(edges) or not _spans(tree, edges):
        raise Unreadable("the pairs that were measured are not those that a selection makes.")
    return cliques


def _spans(tree: tuple[tuple[str, str], ...], edges: tuple[tuple[str, str], ...]) -> bool:
    """Whether the tree joins all that the edges can, without a circle."""
    component = {name: name for edge in edges for name in edge}

    def root(name: str) -> str:
        while component[name] != name:
            name = component[name]
        return name

    for one, other in tree:
        if root(one) == root(other):
            return False
        component[root(one)] = root(other)
    joined = {name: root(name) for name in component}
    return all(joined[one] == joined[other] for one, other in edges)
