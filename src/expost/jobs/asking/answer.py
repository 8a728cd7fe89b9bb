"""The answer: a table with error bars and a bill, which can be made finer at the price of the increment."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, final

from expost.accounting.curve import AdpEpsilon
from expost.errors import InvalidValue
from expost.jobs.asking.climb import AnswerLook, looked_at, next_place, refine
from expost.jobs.asking.contribution import Cut
from expost.jobs.asking.estimates import shorter_bars
from expost.jobs.asking.measuring import Measuring
from expost.jobs.asking.planning import AnswerPlan, beside, stop_at
from expost.jobs.asking.question import AskRecipe, Targeted
from expost.jobs.asking.tallies import Tally
from expost.jobs.asking.targets import Precision, precision_of
from expost.jobs.asking.told import Answered, QuestionTold, answers_in, columns_of
from expost.numerics import Real
from expost.recorded import ReadableLedger
from expost.tabular.source.frames import frame
from expost.tabular.table import Kind


@final
class Answer:
    """Answers with their error bars and their bill, which can be made finer at the price of the increment."""

    __slots__ = ("_kind", "_ledger", "_measuring", "_outcome", "_plan")

    def __init__(
        self, outcome: Answered, measuring: Measuring, plan: AnswerPlan, kind: Kind, ledger: ReadableLedger
    ) -> None:
        self._outcome, self._measuring, self._plan, self._kind, self._ledger = outcome, measuring, plan, kind, ledger

    @property
    def table(self) -> Any:
        """Group, estimate, low, high and settled, as the same kind of frame as the input."""
        return frame(self._kind, columns_of(self.told))

    @property
    def told(self) -> tuple[QuestionTold, ...]:
        """The answers, question by question."""
        return self._outcome.release.value

    @property
    def outcome(self) -> Answered:
        """All that is known of the run."""
        return self._outcome

    @property
    def epsilon(self) -> AdpEpsilon:
        """The ε of the pledged (ε, δ) statement, for everything so far."""
        return self._outcome.epsilon

    @property
    def delta(self) -> float:
        """The δ of the statement."""
        return self._outcome.recipe.delta

    @property
    def passed(self) -> bool:
        """Whether every group of every question is settled."""
        return self._outcome.look.reached

    def price(self, within: Precision | Real | str) -> AdpEpsilon:
        """The ε of all of it after ``refine``; it follows from releases, so that asking is free."""
        self._measuring.recipe = _finer(self._outcome.recipe, within)
        if looked_at(self._measuring.recipe, self._outcome.look).reached:
            return self.epsilon
        place, _ = next_place(self._plan, self._measuring, self._measuring.share)
        return self._plan.pledge.epsilon(stop_at(beside(self._plan.levels[place])))

    def refine(self, within: Precision | Real | str) -> "Answer":
        """The same questions, more precisely; the increment is paid, and earlier error bars stay valid.

        What is precise enough already costs nothing. All error bars of an answer hold together, so that the shorter of
        two may be taken; those of later measurements are somewhat wider for that.
        """
        if not self._outcome.measured:
            raise InvalidValue("this answer was known already; ask for the finer one anew, which uses what is known.")
        recipe, before = _finer(self._outcome.recipe, within), self._outcome.look
        self._measuring.recipe = recipe
        found = looked_at(recipe, before)
        if not found.reached:
            later = refine(self._plan, self._measuring, tell=say_nothing)
            shorter = tuple(shorter_bars(*each) for each in zip(before.bars, later.bars, strict=True))
            found = looked_at(recipe, replace(later, bars=shorter))
        outcome = answered(recipe, self._measuring, found, self._outcome.cuts)
        return Answer(outcome, self._measuring, self._plan, self._kind, self._ledger)

    def __repr__(self) -> str:
        return f"Answer({self._outcome.release.brief})"


def answered(recipe: AskRecipe, measuring: Measuring, found: AnswerLook, cuts: Mapping[Tally, Cut]) -> Answered:
    """What a look comes to, with the bill of everything that led to it."""
    release = measuring.past.joint().map(lambda _: answers_in(recipe, found))
    return Answered(recipe, release, found, cuts)


def _finer(recipe: AskRecipe, within: Precision | Real | str) -> AskRecipe:
    if recipe.decision is not None:
        raise InvalidValue("a decision has no precision to refine; ask for its numbers by within.")
    target = precision_of(within)
    return replace(recipe, questions=tuple(Targeted(each.query, target) for each in recipe.questions))


def say_nothing(doing: str) -> None:
    """Say nothing."""
