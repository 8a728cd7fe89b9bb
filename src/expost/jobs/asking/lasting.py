"""Lasting error bars: those of measurements that nobody planned together, and what it takes to go on from them."""

import math
from fractions import Fraction

from expost.jobs.asking.estimates import NoisyCells
from expost.jobs.asking.measuring import Measuring
from expost.jobs.asking.needs import needed_by
from expost.jobs.asking.planning import LEAD, USUAL, precision_at, price_of
from expost.jobs.asking.tallies import Tally

LEAST_RHO = 2.0**-14
"""What the least precision that is worth telling costs."""
LASTING = 0.0
"""The width that stands for error bars which hold at every precision."""
KNOWN = 0.8
"""The share of the lead's information that is enough to jump by."""


def lasting_width(precision: float, least: float, chance: float) -> float:
    """Standard errors on either side that hold at every precision, however it came about.

    For sums S of noise of variance T, |S| ≤ √((T+r) ln((T+r)/(r·a²))) for all T with probability 1−a; r is the least
    precision that is worth telling.

    Implements: error bars that nobody planned.
    """
    ratio = least / precision
    return math.sqrt((1 + ratio) * (math.log1p(1 / ratio) - 2 * math.log(chance)))


def lasting_width_of(measuring: Measuring, cells: NoisyCells, chance: float) -> float:
    """That of a tally at what is known of it."""
    recipe, tally = measuring.recipe, cells.tally
    least = precision_at(recipe, tally, LEAST_RHO, most=measuring.most[tally])
    return lasting_width(cells.std**-2, least, chance)


def further_needed(measuring: Measuring, room: Fraction, sizes: list[int]) -> dict[Tally, float] | None:
    """The ρ that each tally seems to need beyond what earlier answers released; None where they released none of it."""
    recipe, before = measuring.recipe, measuring.before
    if not any(tally in before for tally in recipe.tallies):
        return None
    wanted = needed_by(measuring, room, sizes, USUAL)
    scales = {tally: tally.per_row(recipe.schema) for tally in wanted}
    have = {
        tally: price_of(recipe, tally, float(estimate.precision) * scales[tally] ** 2, most=measuring.most[tally])
        for tally, estimate in before.items()
        if tally in wanted
    }
    return {tally: max(0.0, each - have.get(tally, 0.0)) for tally, each in wanted.items()}


def enough_known(measuring: Measuring, needed: dict[Tally, float]) -> bool:
    """Whether earlier answers tell well enough what is needed."""
    recipe = measuring.recipe
    for tally, rho in needed.items():
        cells = measuring.cells(tally)
        if (
            cells is None
            or price_of(recipe, tally, cells.std**-2, most=measuring.most[tally]) < KNOWN * float(LEAD) * rho
        ):
            return False
    return True
