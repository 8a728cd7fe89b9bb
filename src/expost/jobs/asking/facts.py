"""The facts of an answer: what was asked, what was told and what it cost, all of it from releases."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from expost.accounting.jumps import PlannedJumps
from expost.accounting.pledge import Pledge
from expost.jobs.asking.contribution import Cut
from expost.jobs.asking.planning import AnswerPlan
from expost.jobs.asking.question import AskRecipe
from expost.jobs.asking.tallies import Tally
from expost.jobs.asking.targets import Precision
from expost.jobs.asking.told import OPEN, QuestionTold
from expost.recorded import Booking
from expost.report.spending import Spending

ONE, JUMP, LOOKS = "one release", "coarse looks and a jump", "looks until it is decided"
"""The kinds of plans."""


@final
@dataclass(frozen=True, slots=True)
class Pledged:
    """What is fixed before any data is read: what is asked, how it is measured, and how that will be stated."""

    recipe: AskRecipe
    plan: AnswerPlan

    @property
    def kind(self) -> str:
        """How the answers are measured."""
        if self.plan.exact:
            return ONE
        return JUMP if self.recipe.decision is None else LOOKS

    @property
    def price(self) -> float | None:
        """The ε of the answers, where it does not depend on the data."""
        return self.plan.epsilons[0] if self.plan.exact else None

    @property
    def pledge(self) -> Pledge:
        """The rule that states the total."""
        return self.plan.pledge

    @property
    def lead(self) -> float | None:
        """The share of a level that may be spent before it is chosen, where one is chosen."""
        return float(self.pledge.lead) if isinstance(self.pledge, PlannedJumps) else None


@final
@dataclass(frozen=True, slots=True)
class Heading:
    """What an answer is known by: what the first question fixed, and the precisions that were asked for after that.

    ``date`` is the day on which it was begun; a rehearsal has none.
    """

    title: str
    date: str
    pledged: Pledged
    refined: tuple[Precision, ...] = ()


@final
@dataclass(frozen=True, kw_only=True)
class AnswerFacts:
    """What a report and a receipt tell of an answer.

    ``told`` are the answers to what was asked last. ``width`` is how many standard errors an error bar has to either
    side, 0 where they hold however the measurements came about. ``bounds`` are how many rows of a person count in full
    in each tally, ``cuts`` what was found out of that. ``recalled`` says that earlier answers on a lasting ledger were
    used.
    """

    heading: Heading
    told: tuple[QuestionTold, ...]
    width: float
    bounds: Mapping[Tally, int]
    cuts: Mapping[Tally, Cut]
    recalled: bool
    spending: Spending
    seeded: bool
    floating: bool
    booking: Booking | None
    versions: tuple[tuple[str, str], ...]

    @property
    def recipe(self) -> AskRecipe:
        """What was asked at first."""
        return self.heading.pledged.recipe

    @property
    def neighbours(self) -> str:
        """What the bound compares."""
        return self.recipe.schema.neighbours.value

    @property
    def epsilon(self) -> float:
        """The ε that is stated."""
        return self.spending.epsilon

    @property
    def delta(self) -> float:
        """The δ of the statement."""
        return self.recipe.delta

    @property
    def groups(self) -> int:
        """How many answers there are."""
        return sum(len(each.lines) for each in self.told)

    @property
    def open(self) -> int:
        """How many of them are not as precise, or not as decided, as was asked."""
        return sum(line.settled == OPEN for each in self.told for line in each.lines)

    @property
    def few(self) -> int:
        """How many groups are known to be too small for what was asked."""
        return sum(line.few for each in self.told for line in each.lines)

    @property
    def settled(self) -> int:
        """How many answers are as precise, or as decided, as was asked."""
        return self.groups - self.open - self.few

    @property
    def reached(self) -> bool:
        """Whether every group is settled, or known to be too small."""
        return not self.open
