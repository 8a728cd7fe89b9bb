"""Prices: a ladder between two ends and a check by its name; all known before data is touched."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import final

from expost.accounting.claim import Budget
from expost.accounting.convert import best_linear_order
from expost.accounting.curve import cover
from expost.checks.confidence import Confidence
from expost.checks.gaussian import BalancedCheck, GaussianCheck
from expost.checks.question import CentredSum
from expost.checks.sparse_vector import SparseVectorCheck
from expost.errors import InvalidValue
from expost.jobs.synthesis.public import public_check
from expost.jobs.synthesis.recipe import CheckMaker, TableRecipe, plan_synthesis
from expost.ladder import Ladder
from expost.numerics import up
from expost.tabular.schema.schema import Schema
from expost.tabular.score import Candidate
from expost.tabular.table import Table
from expost.text import number_typed

MOST_RUNGS = 100
"""Of a ladder that is typed: as many as an audit of its receipt goes through."""


@final
@dataclass(frozen=True, slots=True)
class Ends:
    """The ends of a ladder and its rungs: Rényi ε at the ladder's order or, if ``stated``, ε at δ."""

    low: Fraction
    high: Fraction
    rungs: int
    stated: bool

    @classmethod
    def typed(cls, text: str) -> "Ends":
        """The ends as typed: LOW:HIGH:RUNGS, with eps: before them if they are stated."""
        stated = text.startswith("eps:")
        try:
            low, high, rungs = text.removeprefix("eps:").split(":")
            ends = cls(number_typed(low), number_typed(high), int(rungs), stated)
        except (ValueError, ZeroDivisionError):
            raise InvalidValue(f"the ladder {text} is not LOW:HIGH:RUNGS; write for example 0.01:1:7.") from None
        if ends.rungs > MOST_RUNGS:
            raise InvalidValue(f"the ladder has {ends.rungs} rungs; give it at most {MOST_RUNGS}.")
        return ends


def with_prices(recipe: TableRecipe, ends: Ends, check: Callable[[Ladder], CheckMaker]) -> TableRecipe:
    """The recipe on a ladder between two ends."""
    alpha = recipe.query.alpha
    ladder = Ladder.geometric(ends.low, ends.high, ends.rungs, alpha=alpha)
    if ends.stated:
        prior, share = plan_synthesis(recipe).stops[0].curve, recipe.delta / ends.rungs
        spent = cover(prior)
        assert spent is not None  # selection and ladder are lines
        base = spent.rho - recipe.ladder.levels[0] / alpha
        levels = [alpha * (_rho_of(up(level), share) - base) for level in ladder.levels]
        if levels[0] <= 0:
            raise InvalidValue(f"ε = {up(ends.low):g} is not above what selection costs; start the ladder higher.")
        ladder = _kept_below(recipe, levels, [up(level) for level in ladder.levels], check)
    return replace(recipe, ladder=ladder, check=check(ladder))


def _kept_below(
    recipe: TableRecipe, levels: list[Fraction], ends: list[float], check: Callable[[Ladder], CheckMaker]
) -> Ladder:
    """The levels, lowered where the check's own price would lift a statement above its end."""
    for _ in range(40):
        ladder = Ladder.of(levels, alpha=recipe.query.alpha)
        plan = plan_synthesis(replace(recipe, ladder=ladder, check=check(ladder)))
        stated = [plan.pledge.epsilon(stop) for stop in plan.stops]
        if all(epsilon <= end for epsilon, end in zip(stated, ends, strict=True)):
            return ladder
        pairs = zip(levels, stated, ends, strict=True)
        levels = [level if epsilon <= end else level * Fraction(97, 100) for level, epsilon, end in pairs]
    raise InvalidValue("the check alone would be stated above this ladder; give it a smaller --check-epsilon.")


def _rho_of(epsilon: float, delta: float) -> Fraction:
    """The largest ρ whose zCDP curve is stated as at most ε at δ, by bisection."""
    low, high = 0.0, epsilon
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if best_linear_order(0, middle, delta)[0] <= epsilon else (low, middle)
    return Fraction(low)


def check_named(name: str, budget: Budget, schema: Schema) -> Callable[[Ladder], CheckMaker]:
    """The check that a name stands for, on a ladder known later; a public table is read at once."""
    if name == "balanced":
        return lambda ladder: BalancedCheck
    if name == "gaussian":
        return lambda ladder: partial(_gaussian, budget, ladder)
    if name == "svt":
        return lambda ladder: lambda question, confidence: SparseVectorCheck.calibrated(question, budget, confidence)
    if name.startswith("public:"):
        made = public_check(name.removeprefix("public:"), schema)
        return lambda ladder: made
    raise InvalidValue(f"the check {name} is unknown; choose balanced, gaussian, svt or public:FILE.")


def _gaussian(
    budget: Budget, ladder: Ladder, question: CentredSum[Table, Candidate], confidence: Confidence | None
) -> GaussianCheck[Table, Candidate]:
    """As many questions as there are looks; without a confidence one for each rung but the last."""
    looks = max(1, len(ladder.levels) - 1) if confidence is None else confidence.looks
    return GaussianCheck(question, budget, looks, confidence)
