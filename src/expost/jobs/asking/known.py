"""Answers that are known already: from what earlier ones have released, at no cost."""

from typing import Any

from expost.jobs.asking.answer import Answer, answered
from expost.jobs.asking.climb import AnswerLook, lasting_look, look
from expost.jobs.asking.contribution import bounds_declared
from expost.jobs.asking.deciding import decision_look, lasting_decision
from expost.jobs.asking.facts import Heading
from expost.jobs.asking.lasting import LASTING
from expost.jobs.asking.measuring import Measuring
from expost.jobs.asking.needs import sizes_at
from expost.jobs.asking.planning import RECALLED, AnswerPlan
from expost.jobs.asking.question import AskRecipe
from expost.jobs.asking.recalled import Memory, Recollection
from expost.jobs.asking.request import Request
from expost.ledger import MemoryLedger
from expost.noise import SystemNoise
from expost.odometer import Odometer
from expost.private import Private
from expost.recorded import ReadableLedger
from expost.tabular.table import Kind


def answer_known(heading: Heading, past: Recollection, kind: Kind, ledger: ReadableLedger) -> Answer | None:
    """The answer as before to the same request or to a finer one, or one that earlier measurements are enough for.

    None where something must be measured. No data is opened for it, so that it tells nothing which is not told already.
    A run that was stopped before it could go on has not answered: what it released is used as for any other request.
    """
    same = past.same(heading.pledged.recipe)
    repeated = _answer(heading, past, kind, ledger, same) if same else None
    if repeated is not None and (repeated.passed or same[-1].last):
        return repeated
    return _answer(heading, past, kind, ledger, ())


def _answer(
    heading: Heading, past: Recollection, kind: Kind, ledger: ReadableLedger, same: tuple[Memory, ...]
) -> Answer | None:
    """The answer as it was, or one from all that is known; None where that is not enough."""
    recipe, plan = heading.pledged.recipe, heading.pledged.plan
    chosen = same[-1:] if same and same[-1].width != LASTING else same or None
    most = {**past.most(chosen), **(bounds_declared(recipe) if recipe.bounded else {})}
    nothing: Private[Any] = Private((), recipe.schema.neighbours)
    measuring = Measuring(
        recipe, nothing, Odometer(pledge=plan.pledge, ledger=MemoryLedger()), SystemNoise(),
        {**bounds_declared(recipe), **most},
    )  # fmt: skip
    measuring.forget(past.estimates(most, chosen))
    if any(measuring.cells(tally) is None for tally in recipe.tallies):
        return None
    found = _repeated(recipe, plan, measuring, same[-1]) if same else _precise(recipe, plan, measuring)
    if found is None:
        return None
    return Answer(answered(recipe, measuring, found, {}), measuring, kind, ledger, heading)


def _repeated(recipe: AskRecipe, plan: AnswerPlan, measuring: Measuring, same: Memory) -> AnswerLook:
    if recipe.decision is not None:
        return decision_look(plan, measuring)
    sizes = [*same.sizes] if same.asked == Request.of(recipe) else [0] * len(recipe.questions)
    return lasting_look(measuring, sizes) if same.width == LASTING else look(measuring, same.width, sizes)


def _precise(recipe: AskRecipe, plan: AnswerPlan, measuring: Measuring) -> AnswerLook | None:
    """What earlier measurements say, if that is enough; if not, what is measured then may miss the rest."""
    if recipe.decision is not None:
        found = lasting_decision(measuring)
    else:
        found = lasting_look(measuring, sizes_at(recipe, measuring, plan.levels[-1]), RECALLED)
    return found if found.reached else None
