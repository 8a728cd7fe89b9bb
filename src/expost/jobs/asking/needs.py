"""Needs: how precise each block must be, as far as coarse looks tell, and which groups are too small for that."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from expost.jobs.asking.blocks import Block
from expost.jobs.asking.estimates import Bars, NoisyCells, bars_of
from expost.jobs.asking.planning import FIRST, precision_at, price_of, shared_precisions
from expost.jobs.asking.measuring import Measuring
from expost.jobs.asking.question import AskRecipe, Question
from expost.jobs.asking.targets import Flags, Within, WithinShare, precise, small

MARGIN = 1.2
"""Standard errors of a coarse look that the jump allows for."""
SPARE = 1.25
"""How much larger than the least that can be measured a group must be for its precision to be promised."""


def met(question: Question, bars: Bars) -> Flags:
    """The groups that meet their precision."""
    assert isinstance(question.target, Within | WithinShare)  # decisions are another way
    return precise(question.target, bars)


def foreseen(recipe: AskRecipe, block: Block) -> bool:
    """Whether what a block needs does not depend on the data."""
    asked = [each for each in recipe.questions if Block.of(each.query) == block]
    return all(each.linear and isinstance(each.target, Within) for each in asked)


def needed_by(measuring: Measuring, room: Fraction, sizes: list[int], width: float) -> dict[Block, float]:
    """The ρ that each block seems to need, as far as there is room."""
    recipe, wanted = measuring.recipe, dict[Block, float]()
    for question, size in zip(recipe.questions, sizes, strict=True):
        block = Block.of(question.query)
        finest = precision_at(recipe, block, float(room), most=measuring.most[block])
        if question.linear and isinstance(question.target, Within):
            precision = recipe.std_within(question, width) ** -2
        else:
            precision = _least_precision(
                recipe, question, measuring.cells(block), size=size, width=width, finest=finest
            )
        wanted[block] = max(wanted.get(block, 0.0), min(precision, finest))
    own = shared_precisions(recipe, wanted)
    return {block: price_of(recipe, block, each, most=measuring.most[block]) for block, each in own.items()}


def _least_precision(
    recipe: AskRecipe, question: Question, cells: NoisyCells | None, *, size: int, width: float, finest: float
) -> float:
    """The least precision at which the groups would be settled, were they as the coarse look has them.

    Noise may have made them larger or smaller than they are, which a margin allows for.
    """
    if cells is None:
        return finest
    shift = 0.0 if len(cells.values) > 2 * len(recipe.labels(question.query)) else MARGIN * cells.std
    low, high = finest * 1e-7, finest

    def settles(precision: float) -> bool:
        std = precision**-0.5
        least = bars_of(question.query, recipe.schema, replace(cells, values=cells.values - shift, std=std), width)
        most = bars_of(question.query, recipe.schema, replace(cells, values=cells.values + shift, std=std), width)
        return bool((met(question, least) | small(most, size)).all())

    if settles(low):
        return low
    for _ in range(30):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if settles(middle) else (middle, high)
    return high


def sizes_at(recipe: AskRecipe, measuring: Measuring, top: Fraction) -> list[int]:
    """For each question the size of groups that the highest level cannot tell as precisely as is asked."""
    found = []
    for each in recipe.questions:
        block = Block.of(each.query)
        precision = precision_at(recipe, block, float(top) / len(recipe.blocks), most=measuring.most[block])
        half = recipe.width(FIRST) * precision**-0.5
        found.append(recipe.fewer_than if recipe.fewer_than is not None else _least_size(recipe, each, half))
    return found


def _least_size(recipe: AskRecipe, question: Question, half: float) -> int:
    """How many rows a group needs for its precision, at this length of half an error bar of a count."""
    if question.linear and isinstance(question.target, Within):
        return 0
    if isinstance(question.target, WithinShare):
        share = float(question.target.share)
        return int(np.ceil(SPARE * half * (1 + share) / share))
    assert isinstance(question.target, Within)
    return int(np.ceil(SPARE * half * max(2.0, recipe.span(question) / float(question.target.distance))))
