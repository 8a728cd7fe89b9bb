"""The least of several questions: one answer that is above zero when all of them are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar, final

from expost.checks.question import Question
from expost.errors import InvalidValue
from expost.private import Neighbours

D = TypeVar("D")
U = TypeVar("U")

UNITS = 1000
"""Integer units to a record, into which the values of all questions are brought."""


@final
@dataclass(frozen=True)
class Least(Generic[D, U]):
    """The least value of several questions, at or above 0 just when all of them are.

    If no value moves by more than s between neighbours, neither does the least of them: it is at most s above that
    of the neighbour whose question is least. So one answer, at the price of the dearest question alone, judges them
    all; which of them is least is not told. Values are brought into the same units and rounded down, which keeps what
    is below 0 below it, and takes no two values farther apart than the next whole number of units.

    Implements: least of several questions.
    """

    questions: Sequence[Question[D, U]]
    unit: ClassVar[int] = UNITS
    monotone: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "questions", tuple(self.questions))
        if len({each.neighbours for each in self.questions}) != 1:
            raise InvalidValue("the questions have different neighbours, or there are none; ask for at least one.")

    @property
    def neighbours(self) -> Neighbours:
        """That of all questions."""
        return self.questions[0].neighbours

    @property
    def sensitivity(self) -> int:
        """The largest of them, in the common units, rounded up."""
        return max(-(-each.sensitivity * UNITS // each.unit) for each in self.questions)

    def ask(self, candidate: U, held: D) -> int:
        """The least value."""
        return min(each.ask(candidate, held) * UNITS // each.unit for each in self.questions)
