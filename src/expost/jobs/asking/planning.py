"""Levels: where an answer may stop, and how that will be stated; all of it is known before any data is read."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import final

from expost.accounting.claim import Promise
from expost.accounting.curve import AdpEpsilon, Linear
from expost.accounting.gaussian import gaussian_epsilon
from expost.accounting.jumps import JUMP_SHARE, LEAST, MOST, PlannedJumps
from expost.accounting.pledge import Pledge
from expost.accounting.stops import PlannedStops
from expost.errors import BudgetExceeded
from expost.jobs.asking.joint import Joint
from expost.jobs.asking.question import AskRecipe
from expost.jobs.asking.sharing import shared_precisions
from expost.jobs.asking.tallies import Tally
from expost.jobs.asking.targets import WithinDistance
from expost.numerics import Real
from expost.report.digits import price

AT_ONCE = Fraction(1, 1000)
"""The lead where nothing is spent before a level is chosen."""
LEAD = Fraction(1, 10)
"""The share of a level that may be spent before it is chosen."""
RATIO, JUMPS = 1.12, 100
"""From one level to the next, and how many there are: they reach down to a four-hundredth of the largest ε."""
FOUND = 3
"""What δ is divided by where the highest level is looked for; where a run jumps, somewhat less than that."""
LOOKS = 11
"""Levels of a decision, each twice as dear as the one before."""
FIRST = 0.95
"""The share of what may be missed that the first look has, or all looks of a decision."""
RECALLED, FURTHER, REFINED = (1 - FIRST) / 4, (1 - FIRST) / 8, (1 - FIRST) / 4
"""Shares of earlier answers that may be enough, of the first further look, and of the first that refines an answer.

Each look after these has half of the one before it, so that all of them together have no more than everything.
"""
USUAL = 3.2
"""Standard errors that error bars have which hold however measurements came about, roughly."""
ROUNDED = 1.002
"""What an exact price is raised by, since integer noise is stated a little higher."""
BITS = 64
"""A level is a multiple of 2**-64."""


@final
@dataclass(frozen=True)
class AnswerPlan:
    """The levels of ρ at which a run may stop, and the pledge that states them.

    ``exact`` is what each tally gets where one release answers everything.
    """

    levels: tuple[Fraction, ...]
    pledge: Pledge
    exact: Mapping[Tally, float]

    @property
    def stops(self) -> tuple[Promise, ...]:
        """What stopping at each level promises."""
        return tuple(map(stop_at, self.levels))

    @cached_property
    def epsilons(self) -> tuple[AdpEpsilon, ...]:
        """What each level is stated as where a run ends there as planned."""
        if isinstance(self.pledge, PlannedJumps):
            return tuple(stop.epsilon for stop in self.pledge.table)
        return tuple(map(self.pledge.epsilon, self.stops))


def stop_at(rho: Fraction) -> Promise:
    """What a run promises whose noise is stated at no more than ρ."""
    return Promise(Linear(Fraction(0), rho, rho))


def plan_answer(recipe: AskRecipe) -> AnswerPlan:
    """Where the answers to these questions may stop."""
    if recipe.priced:
        return _one_release(recipe)
    for each in recipe.questions:
        if each.linear and isinstance(each.target, WithinDistance):
            recipe.std_within(each, max(recipe.width(FIRST), USUAL))  # refused here, and not once something is paid
    planned = plan_jumps if recipe.decision is None else plan_looks
    return planned(recipe.max_epsilon, recipe.delta)


@lru_cache(maxsize=16)
def plan_looks(most: float, delta: float) -> AnswerPlan:
    """Where a decision may stop that may be stated as at most this ε."""
    top = _highest(most, delta / LOOKS)
    levels = tuple(level(top / 2**place) for place in reversed(range(LOOKS)))
    return AnswerPlan(levels, PlannedStops(tuple(map(stop_at, levels)), delta), {})


@lru_cache(maxsize=16)
def plan_jumps(most: float, delta: float) -> AnswerPlan:
    """Where coarse looks may jump to, up to this ε."""
    top = _highest(most, JUMP_SHARE * delta / FOUND)
    every = (level(top / RATIO**place) for place in reversed(range(JUMPS)))
    levels = tuple(each for each in every if LEAD * each >= LEAST)
    return AnswerPlan(levels, PlannedJumps(tuple(map(stop_at, levels)), delta, LEAD), {})


def plan_release(total: Fraction, most: float, delta: float, exact: Mapping[Tally, float]) -> AnswerPlan:
    """One release that costs the total, and finer ones that may follow it up to about this ε."""
    top = level(_highest(most, (1 - JUMP_SHARE) * delta / JUMPS))
    above = [level(float(top) / RATIO**place) for place in reversed(range(JUMPS - 1))]
    total = max(total, LEAST / AT_ONCE)
    levels = (total, *(each for each in above if each > total * Fraction(RATIO)))
    return AnswerPlan(levels, PlannedJumps(tuple(map(stop_at, levels)), delta, AT_ONCE), exact)


def _one_release(recipe: AskRecipe) -> AnswerPlan:
    """The cheapest release that meets all distances; refused where it is above the cap."""
    needed = {
        tally: min(
            recipe.std_within(each, recipe.width(FIRST))
            for each in recipe.questions
            if Tally.of(each.query) == tally and isinstance(each.target, WithinDistance)
        )
        for tally in recipe.tallies
    }
    precisions = {tally: std**-2 for tally, std in needed.items()}
    exact = shared_precisions(recipe, precisions, lambda tally: price_of(recipe, tally, 1.0))
    costs = {tally: price_of(recipe, tally, each) for tally, each in exact.items()}
    joint = Joint.of(recipe, costs, dict.fromkeys(costs, recipe.rows_per_person or 1))
    total = level(math.fsum(costs.values()) * joint.rounded(costs) * ROUNDED, up=True)
    if total > MOST:
        raise BudgetExceeded(
            f"this costs far more than the ε = {recipe.max_epsilon:g} that may be spent; ask for a larger distance, or "
            "for a share of the truth, as in 5%."
        )
    plan = plan_release(total, recipe.max_epsilon, recipe.delta, costs)
    stated = plan.epsilons[0]
    if stated > recipe.max_epsilon:
        raise BudgetExceeded(
            f"this costs ε = {price(stated)}, above the {recipe.max_epsilon:g} that may be spent; ask for less "
            "precision, or raise max_epsilon (--max-epsilon)."
        )
    return plan


def price_of(recipe: AskRecipe, tally: Tally, precision: float, *, most: int | None = None) -> float:
    """The ρ of a tally at a precision, in rows; ``most`` is the length that persons are weighed down to."""
    bound = (recipe.rows_per_person or 1) if most is None else most
    moved = 2 if recipe.schema.neighbours.replaces else 1
    return moved * (tally.scale(recipe.schema, most=bound) / tally.per_row(recipe.schema)) ** 2 * precision / 2


def precision_at(recipe: AskRecipe, tally: Tally, rho: float, *, most: int) -> float:
    """The precision, in rows, that ρ buys."""
    return rho / price_of(recipe, tally, 1.0, most=most)


def level(rho: Real, *, up: bool = False) -> Fraction:
    """A level on its grid, no higher than asked for, or no lower."""
    scaled = Fraction(rho) * 2**BITS
    return Fraction(math.ceil(scaled) if up else math.floor(scaled), 2**BITS)


def beside(rho: Fraction) -> Fraction:
    """Just below a level, where a run ends that does not jump there."""
    return rho - Fraction(1, 2**BITS)


def off_levels(rho: Fraction, levels: Sequence[Fraction]) -> Fraction:
    """A total that is not a level, which only a jump may end on."""
    return beside(rho) if rho in levels else rho


def _highest(epsilon: float, delta: float) -> float:
    """The largest ρ whose profile at δ is within ε."""
    low, high = 0.0, epsilon
    while gaussian_epsilon(high, delta) < epsilon:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_epsilon(middle, delta) <= epsilon else (low, middle)
    return low
