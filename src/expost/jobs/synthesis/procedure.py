"""The procedure of a synthetic table: marginals selected, then refined until it passes; and the same from a receipt."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, final

from expost.accounting.plan import Plan
from expost.errors import Unreadable
from expost.jobs.synthesis.counted import Counted, Released
from expost.jobs.synthesis.recipe import THOUSANDTHS, TableRecipe
from expost.mechanisms.brownian import Brownian, Estimate
from expost.mechanisms.gaussian import Gaussian, Measurement
from expost.noise import Noise
from expost.numerics import up
from expost.odometer import Odometer
from expost.private import Private, Split
from expost.receipts.costs import BUDGET, budget_in
from expost.receipts.notation import items, record, text, truth, whole
from expost.receipts.procedures import Procedure, Step
from expost.receipts.testimony import MOST_ENTRIES, Testimony, bounded
from expost.release import Past
from expost.search import Line, Outcome, search
from expost.tabular.apart import require_apart
from expost.tabular.marginals import Clique, Marginals
from expost.tabular.model.graphical import Measured, fit
from expost.tabular.model.junction import Junction
from expost.tabular.score import Candidate
from expost.tabular.selection import SpanningTree, affordable, queries
from expost.tabular.table import Table

Progress: TypeAlias = Callable[[str], None]
"""Hears what is being done."""


@final
@dataclass(frozen=True, eq=False)
class Synthesis:
    """A finished job: the outcome of the search, and what was released on the way to it.

    ``released`` is every column alone, then what was measured together, at the noise of the last rung.
    """

    recipe: TableRecipe
    plan: Plan
    outcome: Outcome[Candidate]
    released: tuple[Released, ...]
    counted: Counted

    @property
    def measured(self) -> tuple[Clique, ...]:
        """The columns that were measured together."""
        return tuple(each.clique for each in self.released[len(self.recipe.schema.names) :])


class Builder:
    """Turns the estimates so far into a candidate: fit, draw rows, learn. Sees released values only."""

    def __init__(
        self, recipe: TableRecipe, marginals: Marginals, ones: Measurement, noise: Noise, tell: Progress
    ) -> None:
        self._recipe, self._marginals, self._noise, self._tell = recipe, marginals, noise, tell
        place = {name: index for index, name in enumerate(recipe.schema.names)}
        self._cliques = [tuple(place[name] for name in clique) for clique in marginals.cliques]
        self._junction = Junction.of(tuple(recipe.schema.domain.values()), self._cliques)
        singles = recipe.selection.alone().apart(ones.values)
        self._ones = [Measured((place[name],), values, up(ones.variance)) for (name,), values in singles.items()]
        std = math.sqrt(up(ones.variance))
        self._singles = [Released(clique, values, std) for clique, values in singles.items()]
        self.released: tuple[Released, ...] = ()
        self.counted: Counted | None = None

    def __call__(self, estimates: tuple[Estimate, ...]) -> Candidate:
        """The candidate of this rung."""
        recipe, newest = self._recipe, estimates[-1]
        measured = self._marginals.apart(newest.values)
        variance = up(1 / newest.precision)
        pairs = [Measured(c, v, variance) for c, v in zip(self._cliques, measured.values(), strict=True)]
        self.released = (*self._singles, *(Released(clique, v, newest.std) for clique, v in measured.items()))
        self.counted = Counted.of(self.released, recipe.schema, recipe.target, recipe.held)
        self._tell("fitting the model")
        model = fit(self._junction, [*self._ones, *pairs])
        self._tell("drawing a synthetic table")
        rows = recipe.rows or max(1, round(self.counted.records / float(1 - recipe.held)))
        codes = dict(zip(recipe.schema.names, model.round(rows, self._noise), strict=True))
        table = Table(recipe.schema, codes)
        self._tell("learning from it")
        candidate = Candidate(table, model, recipe.learner(table, model, recipe.target, self._noise))
        if recipe.held:
            require_apart(recipe.question().score, candidate)
        return candidate


def synthesise(
    parts: Split[Table],
    recipe: TableRecipe,
    chosen: Plan,
    *,
    odometer: Odometer,
    noise: Noise,
    on_step: Callable[[Line, Counted], None] | None = None,
    on_progress: Progress | None = None,
) -> Synthesis:
    """Select marginals, then refine them until a table drawn from them is accurate enough.

    ``on_step`` is told each rung and what the released counts say by then.
    """
    tell: Progress = on_progress or (lambda text: None)
    tell("selecting columns to measure together")
    ones, cliques = _select(parts.train, recipe, odometer, noise)
    marginals = recipe.selection.marginals(cliques)
    builder = Builder(recipe, marginals, ones, noise, tell)

    def climbed(line: Line) -> None:
        assert builder.counted is not None  # a candidate was built on this rung
        if on_step is not None:
            on_step(line, builder.counted)

    outcome = search(
        parts,
        Brownian(Gaussian(marginals.statistic)),
        recipe.rungs,
        builder,
        recipe.judge(),
        noise=noise,
        odometer=odometer,
        on_step=climbed,
    )
    assert builder.counted is not None  # the search has released something
    return Synthesis(recipe, chosen, outcome, builder.released, builder.counted)


def _select(
    train: Private[Table], recipe: TableRecipe, odometer: Odometer, noise: Noise
) -> tuple[Measurement, tuple[Clique, ...]]:
    """Each column alone, then the tree; both billed to the training part."""
    alone = recipe.selection.alone()
    ones = odometer.spend(Gaussian(alone.statistic), train, recipe.selection.half, Past(), noise).value
    measured = {clique[0]: values for clique, values in alone.apart(ones.values).items()}
    tree = odometer.spend(recipe.selection.tree(measured), train, recipe.selection.half, Past(), noise).value
    return ones, queries(recipe.schema.domain, recipe.target, tree)


OWN = ("rows", "schema", "selection", "measured")
RESOLUTIONS = {"accuracy": 1, "mean score": THOUSANDTHS}
"""Steps to 1 of a record's score, by what is measured."""


def rebuild_synthesis(told: Testimony) -> Procedure:
    """Each column alone and a tree of pairs, then the pairs ever finer; all from the schema and the target."""
    schema = record(told.found["schema"], ("sha256", "columns", "sizes", "checked"))
    text(schema["sha256"])
    truth(schema["checked"])
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
