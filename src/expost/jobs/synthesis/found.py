"""Edges of bins, found by a step of the run before anything else, and what an audit makes of that step."""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from expost.accounting.claim import Budget
from expost.errors import Unreadable
from expost.jobs.synthesis.choice import COUNTING, FINDING, counted_first
from expost.jobs.synthesis.prices import usual_share
from expost.jobs.synthesis.recipe import TableRecipe
from expost.mechanisms.gaussian import Gaussian, Measurement
from expost.noise import Noise
from expost.odometer import Odometer
from expost.private import Private, Split
from expost.receipts.costs import BUDGET, budget_in, budget_out
from expost.receipts.notation import record, table, whole
from expost.receipts.procedures import Step
from expost.receipts.testimony import Testimony
from expost.release import Past
from expost.report.digits import plain
from expost.report.units import by_unit
from expost.tabular.edges import coarsened, grid_counts, grids, overlooked, settled_schema
from expost.tabular.persons import AnyRows
from expost.text import Json

MOST_CELLS = 1024
"""Codes that a column may have on its grid."""


def find_edges(
    parts: Split[AnyRows], recipe: TableRecipe, odometer: Odometer, noise: Noise
) -> tuple[Split[AnyRows], TableRecipe]:
    """The parts in bins and the recipe with their edges; as they are where all edges are declared.

    Which edges they are follows from released counts, and a record's bin from these and from the record alone.
    """
    budget = recipe.selection.edges
    if budget is None:
        return parts, recipe
    counts = recipe.selection.grids()
    found = odometer.spend(Gaussian(counts.statistic), parts.train, budget, Past(), noise).value
    told = {clique[0]: values for clique, values in counts.apart(found.values).items()}
    known = replace(recipe, schema=settled_schema(recipe.schema, told, found.std))
    return parts.map(partial(coarsened, schema=known.schema)), known


def sized(
    records: Private[AnyRows], recipe: TableRecipe, odometer: Odometer, noise: Noise
) -> tuple[TableRecipe, Measurement | None]:
    """The recipe with the share to hold out, by a noisy number of all records, and what was counted, if anything.

    The recipe is as it was where its share is settled.
    """
    budget = recipe.selection.sizing
    if budget is None:
        return recipe, None
    found = odometer.spend(Gaussian(counted_first(recipe.schema.neighbours)), records, budget, Past(), noise).value
    number = max(1, int(found.values.sum()))
    return (replace(recipe, validation=usual_share(number)) if recipe.sized else recipe), found


def overlooked_records(recipe: TableRecipe) -> float | None:
    """About how many records a stretch of a grid may have and count as empty; None where all edges are declared."""
    budget = recipe.selection.edges
    if budget is None:
        return None
    statistic = recipe.selection.grids().statistic
    std = math.sqrt(Gaussian(statistic).variance(budget)) * float(statistic.spacing)
    return overlooked(std, max(grids(recipe.schema).values()))


def finding_words(recipe: TableRecipe) -> str:
    """Lines of the plan: what finding edges takes and what noise hides, where there are edges to be found."""
    few = overlooked_records(recipe)
    if few is None:
        return ""
    share, names = plain(float(FINDING)), ", ".join(grids(recipe.schema))
    hidden = by_unit(f"fewer than about {few:,.0f} records may count as empty", recipe.schema.neighbours.value)
    return f"A share of {share} of it finds the edges of {names}.\nA stretch of their range with {hidden}.\n"


def edges_out(recipe: TableRecipe) -> Mapping[str, Json] | None:
    """What a receipt says of the step: its budget, and how many codes each column has on its grid."""
    budget = recipe.selection.edges
    return None if budget is None else {**budget_out(budget), "cells": dict(grids(recipe.schema))}


def query_claimed(told: Testimony, half: Budget) -> Budget:
    """All that selection spent, by what each of its two steps did, and whether anything came before them."""
    earlier = FINDING * (told.found["edges"] is not None) + COUNTING * (told.found["sizing"] is not None)
    return Budget(2 * half.epsilon / (1 - earlier), half.alpha)


def sizing_claimed(told: Testimony, query: Budget) -> tuple[Step, ...]:
    """The count of all records that a receipt leads to, if there is one; refused unless a run may take it."""
    if told.found["sizing"] is None:
        if told.neighbours.unit == "person":
            raise Unreadable("the receipt counts persons by their rows and does not say for what; it was changed.")
        return ()
    budget = budget_in(record(told.found["sizing"], BUDGET))
    if budget != Budget(COUNTING * query.epsilon, query.alpha):
        raise Unreadable("the receipt says that records were counted at another price than a run does.")
    counting = Gaussian(counted_first(told.neighbours))
    facts, promise = counting.facts(budget), counting.promise(budget)
    return (Step(counting.name, facts, counting.floating, promise, whole=True),)


def edges_claimed(
    told: Testimony, domain: Mapping[str, int], targets: tuple[str, ...], query: Budget
) -> tuple[Step, ...]:
    """The step that a receipt leads to, if there is one; refused unless a run may take it."""
    if told.found["edges"] is None:
        return ()
    fields = record(told.found["edges"], (*BUDGET, "cells"))
    budget, cells = budget_in(fields), {name: whole(size) for name, size in table(fields["cells"]).items()}
    known = (
        cells
        and {*cells} <= {*domain} - {*targets}
        and all(domain[name] <= cells[name] <= MOST_CELLS for name in cells)
    )
    if not known or budget != Budget(FINDING * query.epsilon, query.alpha):
        raise Unreadable("the edges that the receipt says were found are not those that a run finds.")
    counts = Gaussian(grid_counts(cells, told.neighbours).statistic)
    return (Step(counts.name, counts.facts(budget), counts.floating, counts.promise(budget)),)
