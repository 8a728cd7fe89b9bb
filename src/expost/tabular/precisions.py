"""Precisions: one over the variance that steps give to the marginals they measure, all of it known beforehand."""

import math
from collections.abc import Sequence
from itertools import accumulate

from expost.accounting.claim import Budget
from expost.numerics import up
from expost.tabular.growth import shares
from expost.tabular.marginals import Marginals

MOST_NOISE = 0.04
"""The mean total variation that noise may make in the first pairs before it counts as small; in a triple, at all."""
ABSOLUTE = math.sqrt(2 / math.pi)
"""The mean of |N(0, 1)|."""


def precisions_of(
    first: Marginals, pairs: int, triples: int, budget: Budget, allowance: int
) -> tuple[float, float, float]:
    """One over the variance that a step gives to the first marginals, to that many other pairs, and to triples.

    Of persons the variance grows with the square of the allowance, by which what is released is multiplied.
    """
    moved = (2 if first.neighbours.replaces else 1) * allowance**2
    number = len(first.cliques)
    parts = zip((number, max(1, pairs), max(1, triples)), shares(number, pairs, triples), strict=True)
    mine, theirs, larger = (up(2 * budget.rho * part / (each * moved)) for each, part in parts)
    return mine, theirs, larger


def undivided(first: Marginals, budgets: Sequence[Budget], allowance: int = 1) -> tuple[float, ...]:
    """One over the variance in the first marginals by each of these steps, were none of them divided to add others."""
    return tuple(accumulate(precisions_of(first, 0, 0, budget, allowance)[0] for budget in budgets))


def settled(first: Marginals, budgets: Sequence[Budget], records: float, allowance: int = 1) -> tuple[bool, ...]:
    """Whether noise is small in the first marginals by each of these steps, were none of them divided to add others."""
    return tuple(is_quiet(first, precision, records) for precision in undivided(first, budgets, allowance))


def is_quiet(first: Marginals, precision: float, records: float) -> bool:
    """Whether noise of this precision makes ``MOST_NOISE`` of total variation at most, on average over marginals."""
    std = 1 / math.sqrt(precision)
    return ABSOLUTE / 2 * std * first.cells / len(first.cliques) <= MOST_NOISE * records
