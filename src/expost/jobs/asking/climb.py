"""The climb: coarse looks until it is clear how precise the answer must be, then one jump there.

Only the measurement after the jump was chosen is shown, so that its error bars are those of a single release. If it is
still not precise enough, the run goes on to looks that were fixed by the jump, each with a share of what may be missed.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

import numpy as np

from expost.accounting.jumps import PlannedJumps
from expost.errors import BudgetExceeded
from expost.intervals import steady_width
from expost.jobs.asking.blocks import Block
from expost.jobs.asking.estimates import Bars, NoisyCells, bars_of
from expost.jobs.asking.levels import FIRST, LEAD, AnswerPlan, precision_at, price_of, shared_precisions, stop_at
from expost.jobs.asking.measuring import Measuring, Progress, parts
from expost.jobs.asking.question import AskRecipe, Question
from expost.jobs.asking.targets import Flags, Within, WithinShare, decided, pairs_compared, precise, small

MARGIN = 1.2
"""Standard errors of a coarse look that the jump allows for."""
ENOUGH = 0.8
"""The share of the lead at which coarse looks end."""
STRIDE = 4
"""How much dearer a coarse look is than the one before, at most."""
SPARE = 1.25
"""How much larger than the least that can be measured a group must be for its precision to be promised."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class AnswerLook:
    """What is known at the end: the error bars of each question, which groups are settled, which are small."""

    bars: tuple[Bars, ...]
    settled: tuple[Flags, ...]
    small: tuple[Flags, ...]
    sizes: tuple[int, ...]
    width: float

    @property
    def reached(self) -> bool:
        """Whether every group of every question is settled."""
        return all(bool((settled | few).all()) for settled, few in zip(self.settled, self.small, strict=True))


def release_exactly(plan: AnswerPlan, measuring: Measuring) -> AnswerLook:
    """One release at the price that was planned, chosen before anything was read."""
    measuring.odometer.jump(0)
    measuring.measure(plan.exact)
    return look(measuring, measuring.recipe.width(FIRST), [0] * len(measuring.recipe.questions))


def look(measuring: Measuring, width: float, sizes: list[int]) -> AnswerLook:
    """What the measurements say of every question, at so many standard errors."""
    recipe, bars, settled, few = measuring.recipe, [], [], []
    for question, size in zip(recipe.questions, sizes, strict=True):
        cells = measuring.cells(Block.of(question.query))
        assert cells is not None  # every block was measured, or follows from one that was
        found = bars_of(question.query, recipe.schema, cells, width)
        bars.append(found)
        settled.append(met(question, found))
        few.append(small(found, size))
    return AnswerLook(tuple(bars), tuple(settled), tuple(few), tuple(sizes), width)


def met(question: Question, bars: Bars) -> Flags:
    """The groups that meet their precision."""
    assert isinstance(question.target, Within | WithinShare)  # decisions are another way
    return precise(question.target, bars)


def climb(plan: AnswerPlan, measuring: Measuring, *, top: int, tell: Progress) -> AnswerLook:
    """Coarse looks, a jump and, where that was not enough, further looks; ``top`` is how many levels there are room for."""
    recipe, levels = measuring.recipe, plan.levels[:top]
    sizes, width = sizes_at(recipe, measuring, levels[-1]), recipe.width(FIRST)
    _coarse(measuring, levels, sizes, width, tell)
    coarse, needed = measuring.spent, _needed(measuring, levels[-1] - measuring.spent, sizes, width)
    wanted = float(coarse) + sum(needed.values())
    place = next(
        (place for place, each in enumerate(levels) if each >= wanted and coarse <= LEAD * each), len(levels) - 1
    )
    measuring.odometer.jump(place)
    measuring.forget()
    tell("measuring as precisely as that takes")
    measuring.measure(parts(levels[place] - coarse, needed))
    found = look(measuring, width, sizes)
    share, chain = (1 - FIRST) / 2, levels[place] - coarse
    while not found.reached:
        wider = recipe.width(share)
        least = coarse + chain * Fraction((wider / width) ** 2)
        place = next((place for place, each in enumerate(levels) if each > measuring.spent and each >= least), -1)
        if place < 0 or not _allowed(plan, levels[place], recipe.max_epsilon):
            return found
        tell("measuring once more")
        measuring.measure(parts(levels[place] - measuring.spent, needed))
        share, found = share / 2, look(measuring, wider, sizes)
    return found


def _allowed(plan: AnswerPlan, rho: Fraction, most: float) -> bool:
    return isinstance(plan.pledge, PlannedJumps) and plan.pledge.epsilon(stop_at(rho)) <= most


def _coarse(
    measuring: Measuring, levels: tuple[Fraction, ...], sizes: list[int], width: float, tell: Progress
) -> None:
    """AnswerLook coarsely until the price of what is asked for is known well enough to jump."""
    total, most = LEAD * levels[0], LEAD * levels[-1]
    unknown = {block: 1.0 for block in measuring.recipe.blocks if not _foreseen(measuring.recipe, block)}
    while unknown:
        tell("looking coarsely")
        measuring.measure(parts(total - measuring.spent, unknown))
        needed = _needed(measuring, levels[-1] - measuring.spent, sizes, width)
        wanted = ENOUGH * float(LEAD) * sum(needed.values())
        if wanted <= measuring.spent or total >= most:
            return
        total = min(max(Fraction(wanted), measuring.spent * Fraction(3, 2)), measuring.spent * STRIDE, most)
        unknown = {block: needed[block] for block in unknown}


def _foreseen(recipe: AskRecipe, block: Block) -> bool:
    """Whether what a block needs does not depend on the data."""
    asked = [each for each in recipe.questions if Block.of(each.query) == block]
    return all(each.linear and isinstance(each.target, Within) for each in asked)


def _needed(measuring: Measuring, room: Fraction, sizes: list[int], width: float) -> dict[Block, float]:
    """The ρ that each block seems to need, as far as there is room."""
    recipe, wanted = measuring.recipe, {}
    for question, size in zip(recipe.questions, sizes, strict=True):
        block = Block.of(question.query)
        finest = precision_at(recipe, block, float(room), most=measuring.most[block])
        if question.linear and isinstance(question.target, Within):
            precision = recipe.std_within(question, width) ** -2
        else:
            precision = _precision(recipe, question, measuring.cells(block), size, width, finest)
        wanted[block] = max(wanted.get(block, 0.0), min(precision, finest))
    own = shared_precisions(recipe, wanted)
    return {block: price_of(recipe, block, each, most=measuring.most[block]) for block, each in own.items()}


def _precision(
    recipe: AskRecipe, question: Question, cells: NoisyCells | None, size: int, width: float, finest: float
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


def next_place(plan: AnswerPlan, measuring: Measuring, share: float) -> tuple[int, dict[Block, float]]:
    """The level that a finer target seems to need, and what each block gets; refused beyond the highest.

    Both follow from what was released, so that the price is known before it is paid.
    """
    recipe, levels = measuring.recipe, plan.levels
    sizes = sizes_at(recipe, measuring, levels[-1])
    needed = _needed(measuring, levels[-1] - measuring.spent, sizes, recipe.width(share))
    wanted = float(measuring.spent) + sum(needed.values())
    place = next((place for place, each in enumerate(levels) if each >= wanted), None)
    if place is None or not _allowed(plan, levels[place], recipe.max_epsilon):
        raise BudgetExceeded(
            f"this would cost more than the ε = {recipe.max_epsilon:g} that the answer was planned for; ask for less "
            "precision, or ask anew with more to spend."
        )
    return place, needed


def refine(plan: AnswerPlan, measuring: Measuring, share: float, *, tell: Progress) -> AnswerLook:
    """Measure as precisely as a finer target seems to need, and look at that alone."""
    place, needed = next_place(plan, measuring, share)
    measuring.forget()
    tell("measuring as precisely as that takes")
    measuring.measure(parts(plan.levels[place] - measuring.spent, needed))
    return look(measuring, measuring.recipe.width(share), sizes_at(measuring.recipe, measuring, plan.levels[-1]))


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


def decide(plan: AnswerPlan, measuring: Measuring, *, top: int, tell: Progress) -> AnswerLook:
    """AnswerLook at ever finer measurements until it is decided; every look holds, whichever is the last.

    Uses: error bars at every look.
    """
    recipe, question = measuring.recipe, measuring.recipe.decision
    assert question is not None  # it is what was asked for
    target, block = question.target, Block.of(question.query)
    assert not isinstance(target, Within | WithinShare)
    labels = recipe.labels(question.query)
    pairs = pairs_compared(target, len(labels))
    together = recipe.together and not pairs
    miss = (1 - recipe.confidence) / (max(1, pairs) * (1 if question.linear or not pairs else 2))
    width = steady_width(tuple(plan.levels), Fraction(miss) / (len(labels) if together else 1))
    apart = width / 2**0.5 if pairs and question.linear else width
    for each in plan.levels[:top]:
        tell("looking whether it is decided")
        measuring.measure({block: each - measuring.spent})
        cells = measuring.cells(block)
        assert cells is not None
        settled = decided(target, bars_of(question.query, recipe.schema, cells, apart), labels)
        if settled.all():
            break
    shown = bars_of(question.query, recipe.schema, cells, width if not pairs else recipe_width(recipe, plan))
    none = np.zeros(len(labels), dtype=np.bool_)
    return AnswerLook((shown,), (settled,), (none,), (0,), width)


def recipe_width(recipe: AskRecipe, plan: AnswerPlan) -> float:
    """Standard errors of error bars that hold at every look, beside the decision."""
    return steady_width(tuple(plan.levels), Fraction(recipe.chance()))
