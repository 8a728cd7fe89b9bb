"""Granted: how many rows of a person count in full if they are alike, for a run and again from its receipt."""

from collections.abc import Sequence

from expost.errors import Unreadable
from expost.jobs.synthesis.persons import counted_told
from expost.jobs.synthesis.recipe import TableRecipe
from expost.mechanisms.gaussian import Measurement
from expost.receipts.procedures import Step
from expost.receipts.testimony import Testimony
from expost.tabular.aims import Aim
from expost.tabular.allowance import ALLOWANCES, allowance_of
from expost.tabular.marginals import Clique, Marginals
from expost.tabular.measures import Overlap


def allowance_granted(recipe: TableRecipe, first: tuple[Clique, ...], persons: Measurement | None) -> int:
    """What is declared, or else what follows from how many persons have how many rows, as released."""
    if recipe.rows_per_person is not None:
        return recipe.rows_per_person
    if persons is None or is_held_to_one_row(recipe.aims):
        return 1
    return allowance_of(persons.values.tolist(), persons.std, recipe.selection.marginals(first), recipe.ladder.budgets)


def is_held_to_one_row(aims: Sequence[Aim]) -> bool:
    """Whether the counts themselves are compared with those of one row of each held-out person.

    The more the rows of one person count, the farther from these are all counts, however little noise there is.
    """
    return any(isinstance(aim.measure, Overlap) for aim in aims)


def allowance_claimed(told: Testimony, counting: Sequence[Step], aims: Sequence[Aim], first: Marginals) -> int:
    """The allowance of a receipt, refused unless it is declared or is the one that its own counts lead to."""
    counted = counted_told(told, counting)
    if counted is None:
        return 1
    if not counted.declared:
        budgets = [stop.rung.budget for stop in told.stops if stop.rung is not None]
        due = 1 if is_held_to_one_row(aims) else allowance_of(counted.rows, counted.std, first, budgets)
    if counted.allowance not in ALLOWANCES or not (counted.declared or counted.allowance == due):
        raise Unreadable("the receipt lets more or fewer rows of a person count than its own counts lead to.")
    return counted.allowance
