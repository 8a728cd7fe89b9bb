"""The procedure of a synthetic table: pairs selected, then refined and added until it passes; and from a receipt."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias, final

from expost.accounting.plan import Plan
from expost.errors import Unreadable
from expost.jobs.synthesis.claimed import pairs_claimed, require_grown
from expost.jobs.synthesis.counted import Counted, Released, digests_told
from expost.jobs.synthesis.found import edges_claimed, find_edges, query_claimed, sizing_claimed
from expost.jobs.synthesis.goals import aims_told, question_told
from expost.jobs.synthesis.granted import allowance_claimed, allowance_granted
from expost.jobs.synthesis.recipe import MOST_ROWS, TableRecipe
from expost.jobs.synthesis.waiting import counted_alone, plateau_claimed, plateau_of
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
from expost.search import Line, Outcome, Search, finish
from expost.tabular.aims import targets_of
from expost.tabular.apart import require_apart
from expost.tabular.candidates import candidates
from expost.tabular.growth import Growing, Grown, Scored
from expost.tabular.marginals import Clique, Marginals
from expost.tabular.model.footprint import Footprint
from expost.tabular.model.graphical import Measured
from expost.tabular.model.raking import raked
from expost.tabular.model.ruled import allowed_by
from expost.tabular.persons import AnyRows
from expost.tabular.planting import Planting
from expost.tabular.score import Candidate
from expost.tabular.selection import SpanningTree, affordable, queries
from expost.tabular.table import Table
from expost.tabular.teaching import learn

Progress: TypeAlias = Callable[[str], None]
"""Hears what is being done."""


@final
@dataclass(frozen=True, eq=False)
class Synthesis:
    """A finished job: the outcome of the search, and what was released on the way to it.

    ``released`` is every column alone, then what was measured together, at the noise of the last rung. ``grown`` are
    the pairs and triples that each rung added to those measured from the first on, ``scored`` the noisy scores of pairs
    that the last such rung went by, and ``alone`` is about how many records the columns alone said there are. Where
    these are ``persons``, that is how many of them have how many rows, and ``scale`` how many there are to what all
    their rows weigh; ``allowance`` rows of one count in full if they are alike.
    """

    recipe: TableRecipe
    plan: Plan
    outcome: Outcome[Candidate]
    released: tuple[Released, ...]
    counted: Counted
    grown: tuple[tuple[Clique, ...], ...]
    scored: Scored | None
    alone: Mapping[str, float]
    persons: Measurement | None = None
    scale: float = 1.0
    allowance: int = 1

    @property
    def measured(self) -> tuple[Clique, ...]:
        """The columns that were measured together from the first rung on."""
        together = self.released[len(self.recipe.schema.names) :]
        return tuple(each.clique for each in together[: len(together) - sum(map(len, self.grown))])


class Builder:
    """Turns the estimates so far into a candidate: fit, draw rows, learn. Sees released values only."""

    def __init__(
        self,
        recipe: TableRecipe,
        cliques: tuple[Clique, ...],
        ones: Measurement,
        noise: Noise,
        tell: Progress,
        *,
        allowance: int = 1,
    ) -> None:
        self._recipe, self._noise, self._tell = recipe, noise, tell
        schema, singles = recipe.schema, recipe.selection.alone().apart(ones.values)
        place = {name: index for index, name in enumerate(schema.names)}
        alone = [Measured((place[name],), values, up(ones.variance)) for (name,), values in singles.items()]
        room = Footprint.of(schema.domain, recipe.targets, schema.tied).fit
        self.planting = Planting(
            schema.domain, cliques, schema.neighbours, alone, allowed=allowed_by(schema), room=room, allowance=allowance
        )
        std = math.sqrt(up(ones.variance))
        self._singles = [Released(clique, values, std) for clique, values in singles.items()]
        self.alone = Counted.of(self._singles, recipe.targets, recipe.held)
        self._steps: tuple[Grown, ...] = ()
        self.released: tuple[Released, ...] = ()
        self.counted: Counted | None = None

    def __call__(self, steps: tuple[Grown, ...]) -> Candidate:
        """The candidate of this rung."""
        recipe, self._steps = self._recipe, steps
        measured = self.planting.measured(steps[-1])
        together = zip(steps[-1].cliques, measured, strict=True)
        self.released = (*self._singles, *(Released(c, each.values, math.sqrt(each.variance)) for c, each in together))
        scaled = self.planting.scale(steps[-1]) != 1
        common = self.alone.std / self.alone.records if scaled else 0.0
        self.counted = replace(Counted.of(self.released, recipe.targets, recipe.held), common=common)
        self._tell("fitting the model")
        model = self.planting.model(steps[-1])
        self._tell("drawing a synthetic table")
        rows = recipe.rows or min(MOST_ROWS, max(1, round(self.counted.records / float(1 - recipe.held))))
        fitted = {clique for clique, _ in model.potentials}
        if all(each.clique in fitted for each in measured):
            drawn = model.round(rows, self._noise)
        else:
            model, drawn = raked(model, self.planting.informed(steps[-1]), rows, self._noise)
        table = Table(recipe.schema, dict(zip(recipe.schema.names, drawn, strict=True)))
        self._tell("learning from it" if recipe.lessons else "comparing it")
        learnt = {lesson: learn(recipe.learner, table, model, lesson, self._noise) for lesson in recipe.lessons}
        counts = {name: (column.values, column.std) for name, column in self.counted.targets.items()}
        candidate = Candidate(table, model, learnt, counts, self.counted.held)
        for score in recipe.scores if recipe.held else ():
            require_apart(score, candidate)
        return candidate

    @property
    def scored(self) -> Scored | None:
        """The scores that the last growing rung went by."""
        return self._steps[-1].scored if self._steps else None

    @property
    def scale(self) -> float:
        """How many persons there are to what all their rows weigh."""
        return self.planting.scale(self._steps[-1]) if self._steps else 1.0

    @property
    def grown(self) -> tuple[tuple[Clique, ...], ...]:
        """The pairs and triples that each rung added to the first pairs."""
        counts = [len(self.planting.first), *(len(each.cliques) for each in self._steps)]
        return tuple(each.cliques[before:] for before, each in zip(counts, self._steps, strict=False))


def synthesise(
    parts: Split[AnyRows],
    recipe: TableRecipe,
    chosen: Plan,
    *,
    persons: Measurement | None = None,
    odometer: Odometer,
    noise: Noise,
    on_step: Callable[[Line, Counted], None] | None = None,
    on_progress: Progress | None = None,
) -> Synthesis:
    """Select marginals, then refine them, and add others, until a table drawn from them is accurate enough.

    Edges that are not declared are found first; the recipe of the result has them.
    ``on_step`` is told each rung and what the released counts say by then.
    """
    tell: Progress = on_progress or (lambda text: None)
    tell("selecting columns to measure together")
    parts, recipe = find_edges(parts, recipe, odometer, noise)
    ones, cliques = _select(parts.train, recipe, odometer, noise)
    builder = Builder(recipe, cliques, ones, noise, tell, allowance=allowance_granted(recipe, cliques, persons))
    planting, schema = builder.planting, recipe.schema

    def climbed(line: Line) -> None:
        assert builder.counted is not None  # a candidate was built on this rung
        if on_step is not None:
            on_step(line, builder.counted)

    running = Search(
        parts,
        Growing(schema.domain, cliques, planting.candidates, schema.neighbours, planting, planting.allowance),
        recipe.rungs,
        builder,
        recipe.judge(),
        noise=noise,
        odometer=odometer,
        flat=plateau_of(recipe, planting, builder.alone),
    )
    outcome = finish(running, climbed)
    assert builder.counted is not None  # the search has released something
    alone = counted_alone(recipe, builder.alone)
    return Synthesis(
        recipe, chosen, outcome, builder.released, builder.counted, builder.grown, builder.scored, alone, persons,
        builder.scale, planting.allowance,
    )  # fmt: skip


def _select(
    train: Private[AnyRows], recipe: TableRecipe, odometer: Odometer, noise: Noise
) -> tuple[Measurement, tuple[Clique, ...]]:
    """Each column alone, then the tree; both billed to the training part."""
    alone = recipe.selection.alone()
    ones = odometer.spend(Gaussian(alone.statistic), train, recipe.selection.half, Past(), noise).value
    measured = {clique[0]: values for clique, values in alone.apart(ones.values).items()}
    tree = odometer.spend(recipe.selection.tree(measured), train, recipe.selection.half, Past(), noise).value
    return ones, queries(recipe.schema.domain, recipe.targets, tree)


OWN = ("rows", "schema", "selection", "measured", "grown", "counted", "counts", "edges", "sizing", "persons")


def rebuild_synthesis(told: Testimony) -> Procedure:
    """Each column alone and a tree of pairs, then pairs ever finer; all from the schema and the target."""
    schema = record(told.found["schema"], ("sha256", "columns", "sizes", "checked"))
    text(schema["sha256"])
    truth(schema["checked"])
    digests_told(told.found)
    whole(told.found["rows"])
    names = [text(name) for name in bounded(schema["columns"], MOST_ENTRIES)]
    domain = dict(zip(names, map(whole, items(schema["sizes"])), strict=True))
    half, neighbours = budget_in(record(told.found["selection"], BUDGET)), told.neighbours
    if len(domain) < len(names):
        raise Unreadable("the receipt names a column twice; it was changed.")
    aims = aims_told(told)
    targets = targets_of(aims)
    edges = affordable(domain, targets)
    alone = Gaussian(Marginals(domain, tuple((name,) for name in names), neighbours).statistic)
    tree = SpanningTree({}, edges, neighbours)
    first = pairs_claimed(told, domain, targets, edges)
    growing = Growing(domain, first, candidates(domain, first), neighbours)
    query = query_claimed(told, half)
    sizing = sizing_claimed(told, query)
    found = (*sizing, *edges_claimed(told, domain, targets, query))
    chosen = (Step(each.name, each.facts(half), each.floating, each.promise(half)) for each in (alone, tree))
    require_grown(told, domain, first)
    refined = Marginals(domain, first, neighbours)
    plateau = plateau_claimed(told, refined, allowance_claimed(told, sizing, aims, refined))
    asked = question_told(aims, tuple(names), neighbours)
    return Procedure((*found, *chosen), growing, asked, OWN, plateau=plateau)
