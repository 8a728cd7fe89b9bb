"""Deciding: ever finer looks until error bars say which group is larger, or above a threshold."""

from fractions import Fraction

import numpy as np

from expost.intervals import steady_width
from expost.jobs.asking.climb import AnswerLook
from expost.jobs.asking.estimates import bars_of
from expost.jobs.asking.measuring import Measuring, Progress
from expost.jobs.asking.planning import AnswerPlan
from expost.jobs.asking.tallies import Tally
from expost.jobs.asking.targets import WithinDistance, WithinShare, decided, pairs_compared


def decide(plan: AnswerPlan, measuring: Measuring, *, top: int, tell: Progress) -> AnswerLook:
    """AnswerLook at ever finer measurements until it is decided; every look holds, whichever is the last.

    Uses: error bars at every look.
    """
    recipe, question = measuring.recipe, measuring.recipe.decision
    assert question is not None  # it is what was asked for
    target, tally = question.target, Tally.of(question.query)
    assert not isinstance(target, WithinDistance | WithinShare)
    labels = recipe.labels(question.query)
    pairs = pairs_compared(target, len(labels))
    together = recipe.together and not pairs
    miss = (1 - recipe.confidence) / (max(1, pairs) * (1 if question.linear or not pairs else 2))
    width = steady_width(plan.levels, Fraction(miss) / (len(labels) if together else 1))
    apart = width / 2**0.5 if pairs and question.linear else width
    for each in plan.levels[:top]:
        tell("looking whether it is decided")
        measuring.measure({tally: 1.0}, to=each)
        settled = decided(target, bars_of(question.query, recipe.schema, measuring.known_cells(tally), apart), labels)
        if settled.all():
            break
    width = steady_width(plan.levels, Fraction(recipe.chance())) if pairs else width
    shown = bars_of(question.query, recipe.schema, measuring.known_cells(tally), width)
    none = np.zeros(len(labels), dtype=np.bool_)
    return AnswerLook((shown,), (settled,), (none,), (0,), width)
