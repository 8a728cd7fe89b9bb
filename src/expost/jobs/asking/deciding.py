"""Deciding: ever finer looks until error bars say which group is larger, or above a threshold."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from expost.errors import BudgetExceeded
from expost.intervals import steady_width
from expost.jobs.asking.climb import AnswerLook
from expost.jobs.asking.estimates import bars_of
from expost.jobs.asking.lasting import LASTING, lasting_width_of
from expost.jobs.asking.measuring import Measuring, Progress
from expost.jobs.asking.planning import FIRST, RECALLED, AnswerPlan
from expost.jobs.asking.question import AskRecipe
from expost.jobs.asking.tallies import Tally
from expost.jobs.asking.targets import Above, WithinDistance, WithinShare, comparisons, decided


def decide(plan: AnswerPlan, measuring: Measuring, *, top: int, tell: Progress) -> AnswerLook:
    """Look at ever finer measurements until it is decided; every look holds, whichever is the last.

    Uses: error bars at every look.
    """
    (tally,) = measuring.recipe.tallies
    levels = [each for each in plan.levels[:top] if each > measuring.spent]
    if not levels:
        raise BudgetExceeded("there is no room for a first look; ask with more to spend, or say how many rows count.")
    for each in levels:
        tell("looking whether it is decided")
        measuring.measure({tally: 1.0}, to=each, store=measuring.storing(1.0, [0], last=each == levels[-1]))
        found = decision_look(plan, measuring)
        if found.reached:
            break
    return found


def decision_width(plan: AnswerPlan, recipe: AskRecipe) -> float:
    """Standard errors on either side of an error bar that is shown beside a decision."""
    return steady_width(plan.levels, Fraction(recipe.chance(FIRST)))


def decision_look(plan: AnswerPlan, measuring: Measuring) -> AnswerLook:
    """What the measurements so far decide, and the error bars beside that."""
    return _look(measuring, lambda chance: steady_width(plan.levels, chance), FIRST)


def lasting_decision(measuring: Measuring) -> AnswerLook:
    """The same of measurements that were made for other questions, with error bars that hold however they came about.

    Uses: error bars that nobody planned.
    """
    (tally,) = measuring.recipe.tallies
    cells = measuring.known_cells(tally)
    found = _look(measuring, lambda chance: lasting_width_of(measuring, cells, float(chance)), RECALLED)
    return replace(found, width=LASTING)


def _look(measuring: Measuring, width_at: Callable[[Fraction], float], share: float) -> AnswerLook:
    """What is decided, by error bars whose width follows from the chance that one of them may miss: a share of all."""
    recipe, question = measuring.recipe, measuring.recipe.decision
    assert question is not None  # it is what was asked for
    target, cells = question.target, measuring.known_cells(Tally.of(question.query))
    assert not isinstance(target, WithinDistance | WithinShare)
    labels = recipe.labels(question.query)
    pairs = not isinstance(target, Above)
    bars = comparisons(target, len(labels)) * (2 if pairs and not question.linear else 1)
    width = width_at(Fraction(share) * Fraction(1 - recipe.confidence) / bars)
    apart = width / 2**0.5 if pairs and question.linear else width  # of two that are independent
    settled = decided(target, bars_of(question.query, recipe.schema, cells, apart), labels)
    width = width_at(Fraction(recipe.chance(share)))
    none = np.zeros(len(labels), dtype=np.bool_)
    return AnswerLook((bars_of(question.query, recipe.schema, cells, width),), (settled,), (none,), (0,), width)
