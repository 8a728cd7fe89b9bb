"""Waiting: when a synthesis has stopped rising, for the run itself and again from its receipt."""

from collections.abc import Mapping

from expost.jobs.synthesis.recipe import TableRecipe
from expost.patience import Plateau
from expost.receipts.notation import number, record
from expost.receipts.testimony import Testimony
from expost.tabular.marginals import Marginals
from expost.tabular.planting import Planting, settled
from expost.text import Json

COUNTED = ("records", "held")
"""About how many records were trained on and held out, by the counts of each column alone: known before any rung."""


def counted_alone(recipe: TableRecipe, planting: Planting) -> dict[str, float]:
    """These two numbers, from releases."""
    odds = float(recipe.held / (1 - recipe.held))
    return dict(zip(COUNTED, (planting.records, planting.records * odds), strict=True))


def plateau_of(recipe: TableRecipe, planting: Planting) -> Plateau | None:
    """The rule by which the run ends early; None where it has no patience."""
    if recipe.waits is None:
        return None
    guards = tuple(None if look is None else look.guard for look in recipe.looks())
    quiet = settled(planting.whole, recipe.ladder.budgets, planting.records)
    return Plateau(recipe.waits, guards, counted_alone(recipe, planting)["held"], quiet)


def plateau_claimed(told: Testimony, first: Marginals) -> Plateau | None:
    """The same from what a receipt says, refused where it does not say about how many records there were."""
    counted: Mapping[str, Json] = record(told.found["counted"], COUNTED)
    records, held = (number(counted[name]) for name in COUNTED)
    if told.asked.patience is None:
        return None
    budgets = [stop.rung.budget for stop in told.stops if stop.rung is not None]
    guards = tuple(stop.guard for stop in told.stops)
    return Plateau(told.asked.patience, guards, held, settled(first, budgets, records))
