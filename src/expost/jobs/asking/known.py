"""Answers that are known already: from what earlier ones have released, at no cost."""

from typing import Any

from expost.jobs.asking.answer import Answer, answered
from expost.jobs.asking.climb import AnswerLook, lasting_look, look
from expost.jobs.asking.contribution import bounds_declared
from expost.jobs.asking.deciding import decision_look
from expost.jobs.asking.facts import Heading
from expost.jobs.asking.lasting import LASTING
from expost.jobs.asking.measuring import Measuring
from expost.jobs.asking.needs import sizes_at
from expost.jobs.asking.planning import AnswerPlan
from expost.jobs.asking.question import AskRecipe
from expost.jobs.asking.recalled import Memory, Recollection
from expost.ledger import MemoryLedger
from expost.noise import SystemNoise
from expost.odometer import Odometer
from expost.private import Private
from expost.recorded import ReadableLedger
from expost.tabular.persons import Rows


def answer_known(heading: Heading, past: Recollection, rows: Rows, ledger: ReadableLedger) -> Answer | None:
    """The same answer as before to the same request, or one that earlier measurements are precise enough for.

    None where something must be measured. The data was read to see that it is the same, and nothing else of it is used.
    """
    recipe, plan = heading.pledged.recipe, heading.pledged.plan
    sealed: Private[Any] = Private(rows, recipe.schema.neighbours)
    odometer = Odometer(pledge=plan.pledge, ledger=MemoryLedger())
    measuring = Measuring(recipe, sealed, odometer, SystemNoise(), {**bounds_declared(recipe), **past.most()})
    same = past.same(recipe)
    measuring.forget(past.estimates(measuring.most, None if same is None else [same]))
    if any(measuring.cells(tally) is None for tally in recipe.tallies):
        return None
    found = _precise(recipe, plan, measuring) if same is None else _repeated(recipe, plan, measuring, same)
    if found is None:
        return None
    return Answer(answered(recipe, measuring, found, {}), measuring, rows.native, ledger, heading)


def _repeated(recipe: AskRecipe, plan: AnswerPlan, measuring: Measuring, same: Memory) -> AnswerLook:
    if recipe.decision is not None:
        return decision_look(plan, measuring)
    return (
        lasting_look(measuring, [*same.sizes]) if same.width == LASTING else look(measuring, same.width, [*same.sizes])
    )


def _precise(recipe: AskRecipe, plan: AnswerPlan, measuring: Measuring) -> AnswerLook | None:
    """What earlier measurements say, if that is enough."""
    if recipe.decision is not None:
        return None
    found = lasting_look(measuring, sizes_at(recipe, measuring, plan.levels[-1]))
    return found if found.reached else None
