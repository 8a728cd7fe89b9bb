"""Needs: how precise each tally must be, as far as coarse looks tell, and which groups are too small for that."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from expost.jobs.asking.estimates import Bars, NoisyCells, bars_of
from expost.jobs.asking.measuring import Measuring
from expost.jobs.asking.overlap import covers
from expost.jobs.asking.planning import FIRST, precision_at, price_of
from expost.jobs.asking.query import Quantile
from expost.jobs.asking.question import AskRecipe, Targeted
from expost.jobs.asking.sharing import shared_precisions
from expost.jobs.asking.tallies import Tally
from expost.jobs.asking.targets import Flags, WithinDistance, WithinShare, precise, too_small

MARGIN = 1.0
"""Standard errors of a coarse look that the jump allows for."""
COARSEST, HALVINGS = 1e-7, 17
"""The least precision looked for, as a part of the finest, and how often that range is halved: to 1e-4 of it."""
SPARE = 1.25
"""How much larger than the least that can be measured a group must be for its precision to be promised."""
EACH = 0.25
"""The least part of what a coarse look spends on one tally that it spends on each other."""
LEFT = 0.01
"""The share of the room that every tally gets if it needs it, however little the others leave."""


def met(question: Targeted, bars: Bars) -> Flags:
    """The groups that meet their precision."""
    assert isinstance(question.target, WithinDistance | WithinShare)  # decisions are another way
    return precise(question.target, bars)


def foreseen(recipe: AskRecipe, tally: Tally) -> bool:
    """Whether what a tally needs does not depend on the data."""
    asked = [each for each in recipe.questions if Tally.of(each.query) == tally]
    return all(each.linear and isinstance(each.target, WithinDistance) for each in asked)


def needed_by(measuring: Measuring, room: Fraction, sizes: list[int], width: float) -> dict[Tally, float]:
    """The ρ that each tally seems to need, as far as there is room."""
    recipe, wanted = measuring.recipe, dict[Tally, float]()
    for question, size in zip(recipe.questions, sizes, strict=True):
        tally = Tally.of(question.query)
        finest = precision_at(recipe, tally, float(room), most=measuring.most[tally])
        if question.linear and isinstance(question.target, WithinDistance):
            precision = recipe.std_within(question, width) ** -2
        else:
            precision = _least_precision(
                recipe, question, measuring.cells(tally), size=size, width=width, finest=finest
            )
        wanted[tally] = max(wanted.get(tally, 0.0), min(precision, finest))
    own = shared_precisions(recipe, wanted, lambda tally: price_of(recipe, tally, 1.0, most=measuring.most[tally]))
    prices = {tally: price_of(recipe, tally, each, most=measuring.most[tally]) for tally, each in own.items()}
    return _within(prices, float(room))


def telling(recipe: AskRecipe, needed: Mapping[Tally, float], unknown: Mapping[Tally, float]) -> dict[Tally, float]:
    """What will be measured of some tallies, or of others that tell of them; a coarse look tells of each of them.

    One that by chance seems to need next to nothing would else be looked at no more, and be jumped to too early.
    """
    found = {
        tally: rho
        for tally, rho in needed.items()
        if rho > 0 and any(tally == each or covers(recipe.schema, tally, each) for each in unknown)
    }
    return {tally: max(rho, EACH * max(found.values())) for tally, rho in found.items()}


def _within(prices: dict[Tally, float], room: float) -> dict[Tally, float]:
    """The prices, where there is room for all; else those that cost least in full, and the rest in equal parts.

    Some room is left for each, so that something is known of all.
    """
    found = {tally: min(each, LEFT * room) for tally, each in prices.items()}
    room -= sum(found.values())
    waiting = sorted(prices, key=lambda each: prices[each])
    while waiting and (more := prices[waiting[0]] - found[waiting[0]]) <= room:
        found[waiting.pop(0)] += more
        room -= more
    for tally in waiting:
        found[tally] += room / len(waiting)
    return found


def _least_precision(
    recipe: AskRecipe, question: Targeted, cells: NoisyCells | None, *, size: int, width: float, finest: float
) -> float:
    """The least precision at which the groups would be settled, were they as the coarse look has them.

    Noise may have made them larger or smaller than they are, which a margin allows for. Where any number between the
    ends of a column is near enough, nothing need be known.

    Of the two cells of a share, a mean or a sum none is taken to be below 0. Error bars end where the column does, so
    that cells beyond that would seem to be known exactly from next to nothing.
    """
    if recipe.is_idle(question):
        return finest * COARSEST
    if cells is None:
        return finest
    many = len(cells.values) // len(recipe.labels(question.query))
    shift = MARGIN * cells.std if many <= 2 else 0.0
    rows = max(shift, MARGIN * cells.std / many**0.5)  # of each cell, so that all rows of a group are that much more
    fewest = np.maximum(cells.values - shift, 0.0) if many == 2 else cells.values - shift
    low, high = finest * COARSEST, finest

    def settles(precision: float) -> bool:
        std = precision**-0.5
        least = bars_of(question.query, recipe.schema, replace(cells, values=fewest, std=std), width)
        most = bars_of(question.query, recipe.schema, replace(cells, values=cells.values + rows, std=std), width)
        return bool((met(question, least) | too_small(most, size)).all())

    if settles(low):
        return low
    for _ in range(HALVINGS):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if settles(middle) else (middle, high)
    return high


def sizes_at(recipe: AskRecipe, measuring: Measuring, top: Fraction) -> list[int]:
    """For each question the size of groups that the highest level cannot tell as precisely as is asked."""
    return sizes_left(recipe, measuring.most, top)


def sizes_left(recipe: AskRecipe, most: Mapping[Tally, int], top: Fraction) -> list[int]:
    """The same where it is known how many rows of a person count in full."""
    found = []
    for each in recipe.questions:
        tally = Tally.of(each.query)
        precision = precision_at(recipe, tally, float(top) / len(recipe.tallies), most=most[tally])
        half = recipe.width(FIRST) * precision**-0.5
        found.append(recipe.fewer_than if recipe.fewer_than is not None else _least_size(recipe, each, half))
    return found


def _least_size(recipe: AskRecipe, question: Targeted, half: float) -> int:
    """How many rows a group needs for its precision, at this length of half an error bar of a count."""
    if question.linear and isinstance(question.target, WithinDistance):
        return 0
    if isinstance(question.target, WithinShare):
        share = float(question.target.share)
        return int(np.ceil(SPARE * half * (1 + share) / share))
    assert isinstance(question.target, WithinDistance)
    cells = recipe.schema[question.query.measure.column].size if isinstance(question.query.measure, Quantile) else 1
    return int(np.ceil(SPARE * half * max(2.0 * cells**0.5, recipe.span(question) / float(question.target.distance))))
