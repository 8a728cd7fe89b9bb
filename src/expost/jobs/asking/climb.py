"""The climb: coarse looks until it is clear how precise the answer must be, then one jump there.

Only the measurement after the jump was chosen is shown, so that its error bars are those of a single release. If it is
still not precise enough, the run goes on to looks that were fixed by the jump, each with a share of what may be missed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

from expost.accounting.jumps import PlannedJumps
from expost.errors import BudgetExceeded
from expost.jobs.asking.estimates import Bars, bars_of
from expost.jobs.asking.lasting import LASTING, enough_known, further_needed, lasting_width_of
from expost.jobs.asking.measuring import Measuring, Progress
from expost.jobs.asking.needs import foreseen, met, needed_by, sizes_at, telling
from expost.jobs.asking.planning import (
    FIRST,
    FURTHER,
    LEAD,
    AnswerPlan,
    beside,
    level,
    off_levels,
    stop_at,
)
from expost.jobs.asking.question import AskRecipe
from expost.jobs.asking.tallies import Tally
from expost.jobs.asking.targets import Flags, nearer_middles, too_small

ENOUGH = 0.65
"""The share of the lead at which coarse looks end."""
STRIDE = 4
"""How much dearer a coarse look is than the one before, at most."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class AnswerLook:
    """What is known at the end: the error bars of each question, which groups are settled, which are small."""

    bars: tuple[Bars, ...]
    settled: tuple[Flags, ...]
    few: tuple[Flags, ...]
    sizes: tuple[int, ...]
    width: float

    @property
    def reached(self) -> bool:
        """Whether every group of every question is settled."""
        return all(bool((settled | few).all()) for settled, few in zip(self.settled, self.few, strict=True))


def release_exactly(plan: AnswerPlan, measuring: Measuring) -> AnswerLook:
    """One release at the price that was planned, chosen before anything was read."""
    width, sizes = measuring.recipe.width(FIRST), [0] * len(measuring.recipe.questions)
    measuring.measure(plan.exact, to=plan.levels[0], store=measuring.storing(width, sizes))
    return look(measuring, width, sizes)


def look(measuring: Measuring, width: float, sizes: list[int]) -> AnswerLook:
    """What the measurements say of every question, at this number of standard errors."""
    recipe, cells = measuring.recipe, measuring.consistent_cells()
    bars = [bars_of(each.query, recipe.schema, cells[each.query], width) for each in recipe.questions]
    return looked_at(recipe, AnswerLook(tuple(bars), (), (), tuple(sizes), width))


def lasting_look(measuring: Measuring, sizes: list[int], share: float = FIRST) -> AnswerLook:
    """The same with error bars that hold however the measurements came about, and miss a share of what all may.

    Estimates are of each tally by itself: such bars are known to hold for means by precision alone.
    """
    recipe, bars = measuring.recipe, []
    for each in recipe.questions:
        cells = measuring.known_cells(Tally.of(each.query))
        bars.append(bars_of(each.query, recipe.schema, cells, lasting_width_of(measuring, cells, recipe.chance(share))))
    return looked_at(recipe, AnswerLook(tuple(bars), (), (), tuple(sizes), LASTING))


def looked_at(recipe: AskRecipe, seen: AnswerLook) -> AnswerLook:
    """The same error bars, with numbers where both ends are near, and what they settle of these questions."""
    told = tuple(nearer_middles(each.target, bars) for each, bars in zip(recipe.questions, seen.bars, strict=True))
    settled = tuple(met(question, bars) for question, bars in zip(recipe.questions, told, strict=True))
    few = tuple(too_small(bars, size) for bars, size in zip(told, seen.sizes, strict=True))
    return replace(seen, bars=told, settled=settled, few=few)


def climb(plan: AnswerPlan, measuring: Measuring, *, top: int, tell: Progress) -> AnswerLook:
    """Coarse looks, a jump and, where that was not enough, further looks, up to ``top`` levels.

    Implements: error bars after a jump.
    Uses: planned jumps.
    """
    recipe, levels = measuring.recipe, plan.levels[:top]
    sizes, width = sizes_at(recipe, measuring, levels[-1]), recipe.width(FIRST)
    _coarse(measuring, levels, sizes, width, most=_most(plan, measuring, levels), tell=tell)
    coarse, needed = measuring.spent, needed_by(measuring, levels[-1] - measuring.spent, sizes, width)
    further = further_needed(measuring, levels[-1] - coarse, sizes)
    if further is not None and 0 < sum(further.values()) < sum(needed.values()):
        return _go_on(plan, measuring, levels, further, sizes)
    place = _place(levels, coarse, needed)
    measuring.forget()
    to, chain, this = levels[place], levels[place] - coarse, width
    share, doing = FURTHER, "measuring as precisely as that takes"
    while True:
        wider = recipe.width(share)
        least = coarse + chain * Fraction((wider / width) ** 2)
        then = next((each for each in levels if beside(each) > to and each >= least), None)
        if then is not None and not _allowed(plan, then, recipe.max_epsilon):
            then = None
        tell(doing)
        measuring.measure(needed, to=to, store=measuring.storing(this, sizes, last=then is None))
        found = look(measuring, this, sizes)
        if found.reached or then is None:
            return found
        to, this, share, doing = beside(then), wider, share / 2, "measuring once more"


def _place(levels: tuple[Fraction, ...], coarse: Fraction, needed: Mapping[Tally, float]) -> int:
    """The least level that is enough, and that may still be chosen."""
    wanted = float(coarse) + sum(needed.values())
    enough = (place for place, each in enumerate(levels) if each >= wanted and coarse <= LEAD * each)
    return next(enough, len(levels) - 1)


def _go_on(
    plan: AnswerPlan,
    measuring: Measuring,
    levels: tuple[Fraction, ...],
    further: Mapping[Tally, float],
    sizes: list[int],
) -> AnswerLook:
    """Go on from what earlier answers released; error bars that nobody planned hold at every look."""
    place = _place(levels, measuring.spent, further)
    measuring.forget(measuring.before)
    to = levels[place]
    while True:
        place += STRIDE
        last = place >= len(levels) or not _allowed(plan, levels[place], measuring.recipe.max_epsilon)
        measuring.measure(further, to=to, store=measuring.storing(LASTING, sizes, last=last))
        found = lasting_look(measuring, sizes)
        if found.reached or last:
            return found
        to = beside(levels[place])


def _allowed(plan: AnswerPlan, rho: Fraction, most: float) -> bool:
    return isinstance(plan.pledge, PlannedJumps) and plan.pledge.epsilon(stop_at(beside(rho))) <= most


def _most(plan: AnswerPlan, measuring: Measuring, levels: tuple[Fraction, ...]) -> Fraction:
    """What coarse looks may take at most: of the highest level, and of what is stated within the cap without a jump."""
    fitting = [each for each in levels if _allowed(plan, each, measuring.recipe.max_epsilon)]
    return min(LEAD * levels[-1], beside(max(fitting, default=levels[0])))


def _coarse(
    measuring: Measuring,
    levels: tuple[Fraction, ...],
    sizes: list[int],
    width: float,
    *,
    most: Fraction,
    tell: Progress,
) -> None:
    """Look coarsely until the price of what is asked for is known well enough to jump, for that much at most."""
    least = measuring.spent * Fraction(3, 2)
    total = min(max(LEAD * levels[0], least), most)
    unknown = {tally: 1.0 for tally in measuring.recipe.tallies if not foreseen(measuring.recipe, tally)}
    measuring.forget(measuring.before)
    if unknown and all(measuring.cells(tally) is not None for tally in unknown):
        needed = needed_by(measuring, levels[-1] - measuring.spent, sizes, width)
        if enough_known(measuring, needed):
            return
    while unknown:
        tell("looking coarsely")
        measuring.measure(unknown, to=off_levels(level(total), levels))
        needed = needed_by(measuring, levels[-1] - measuring.spent, sizes, width)
        wanted = ENOUGH * float(LEAD) * sum(needed.values())
        if wanted <= measuring.spent or total >= most:
            return
        total = min(max(Fraction(wanted), measuring.spent * Fraction(3, 2)), measuring.spent * STRIDE, most)
        unknown = telling(measuring.recipe, needed, unknown)


def next_place(plan: AnswerPlan, measuring: Measuring, share: float) -> tuple[int, dict[Tally, float]]:
    """The level that a finer target seems to need, and what each tally gets; refused beyond the highest.

    Both follow from what was released, so that the price is known before it is paid.
    """
    recipe, levels = measuring.recipe, plan.levels
    sizes = sizes_at(recipe, measuring, levels[-1])
    needed = needed_by(measuring, levels[-1], sizes, recipe.width(share))  # all of it: what does not fit is refused
    wanted = measuring.spent + Fraction(sum(needed.values()))
    place = next((place for place, each in enumerate(levels) if beside(each) >= wanted), None)
    if place is None or not _allowed(plan, levels[place], recipe.max_epsilon):
        raise BudgetExceeded(
            f"this would cost more than the ε = {recipe.max_epsilon:g} that the answer was planned for; ask for less "
            "precision, or ask anew with more to spend."
        )
    return place, needed


def refine(plan: AnswerPlan, measuring: Measuring, *, tell: Progress) -> AnswerLook:
    """Measure as precisely as a finer target seems to need, and look at that alone."""
    share, sizes = measuring.share, sizes_at(measuring.recipe, measuring, plan.levels[-1])
    place, needed = next_place(plan, measuring, share)
    measuring.refined += 1
    tell("measuring as precisely as that takes")
    width = measuring.recipe.width(share)
    measuring.measure(needed, to=beside(plan.levels[place]), store=measuring.storing(width, sizes), anew=True)
    return look(measuring, width, sizes)
