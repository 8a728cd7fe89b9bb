"""Waiting: when a synthesis has stopped rising, for the run itself and again from its receipt."""

from collections.abc import Mapping

from expost.jobs.synthesis.counted import Counted
from expost.jobs.synthesis.recipe import TableRecipe
from expost.patience import HIDDEN, Plateau
from expost.receipts.notation import number, record
from expost.receipts.testimony import Testimony
from expost.report.digits import points
from expost.report.units import by_unit
from expost.tabular.marginals import Marginals
from expost.tabular.planting import Planting
from expost.tabular.precisions import settled
from expost.tabular.selection import queries, star
from expost.text import Json

COUNTED = ("records", "held")
"""About how many records were trained on and held out, by the counts of each column alone: known before any rung."""


def counted_alone(recipe: TableRecipe, alone: Counted) -> dict[str, float]:
    """These two numbers, from releases; of those held out the ones that a margin is a share of, by the rarest aim."""
    held = min(alone.scale(aim, recipe.schema)[0] for aim in recipe.aims)
    return dict(zip(COUNTED, (alone.records, held), strict=True))


def plateau_of(recipe: TableRecipe, planting: Planting, alone: Counted) -> Plateau | None:
    """The rule by which the run ends early; None where it has no patience."""
    if recipe.waits is None:
        return None
    guards = tuple(None if look is None else look.guard for look in recipe.looks())
    known = counted_alone(recipe, alone)
    quiet = settled(planting.whole, recipe.ladder.budgets, known["records"], planting.allowance)
    return Plateau(recipe.waits, guards, known["held"], quiet)


def deciding_words(recipe: TableRecipe) -> str:
    """A line of the plan: from which rung on patience can decide whatever is answered, by the public number of records.

    Nothing where that was not said, or where an aim is about rare records, whose number is not public.
    """
    if recipe.waits is None or recipe.records is None or not all(aim.of_all for aim in recipe.aims):
        return ""
    domain, targets = recipe.schema.domain, recipe.targets
    first = recipe.selection.marginals(queries(domain, targets, star(domain, targets)))
    held, looks = float(recipe.records * recipe.validation), recipe.looks()
    if not recipe.waits.may_end([look is not None for look in looks]):
        return ""
    quiet = settled(first, recipe.ladder.budgets, recipe.records - held, recipe.rows_per_person or 1)
    guards = tuple(None if look is None else look.guard for look in looks)
    place = Plateau(recipe.waits, guards, held, quiet).decides([None if look is None else look.std for look in looks])
    about = f"about {recipe.records:,} {by_unit('records', recipe.schema.neighbours.value)}"
    far = "only where its answers are so far below the target that no rise which noise may hide would reach it."
    if place is None:
        return f"With {about} noise may hide a gain of {points(HIDDEN)} a look on every rung: a run ends early {far}"
    return (
        f"With {about} noise may hide a gain of {points(HIDDEN)} a look before rung {place + 1}, and longer where the "
        f"pairs that are chosen have more values than they might: until then a run ends {far}"
    )


def plateau_claimed(told: Testimony, first: Marginals, allowance: int) -> Plateau | None:
    """The same from what a receipt says, refused where it does not say about how many records there were."""
    counted: Mapping[str, Json] = record(told.found["counted"], COUNTED)
    records, held = (number(counted[name]) for name in COUNTED)
    if told.asked.patience is None:
        return None
    budgets = [stop.rung.budget for stop in told.stops if stop.rung is not None]
    guards = tuple(stop.guard for stop in told.stops)
    return Plateau(told.asked.patience, guards, held, settled(first, budgets, records, allowance))
