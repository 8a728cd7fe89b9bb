"""One row of each person: what a question about records asks where the held-out records are persons."""

from dataclasses import dataclass
from typing import Generic, TypeVar, final

from expost.checks.question import Question
from expost.private import Neighbours
from expost.tabular.persons import Grouped
from expost.tabular.table import Table

U = TypeVar("U")


@final
@dataclass(frozen=True)
class OneRowEach(Generic[U]):
    """A question about records, asked of one row of each person, which was drawn from that person's rows alone.

    A person is then one record, so that what is claimed of records holds of persons. On average over the draws each
    row of a person counts alike, and each person as much as another.

    Implements: one row of each person.
    """

    question: Question[Table, U]

    @property
    def neighbours(self) -> Neighbours:
        """The question's, which are persons."""
        return self.question.neighbours

    @property
    def unit(self) -> int:
        """Integer units to a person."""
        return self.question.unit

    @property
    def sensitivity(self) -> int:
        """The question's."""
        return self.question.sensitivity

    @property
    def monotone(self) -> bool:
        """Whether the question is."""
        return self.question.monotone

    def ask(self, candidate: U, held: Grouped) -> int:
        """The value for these rows."""
        return self.question.ask(candidate, held.one_row_each())
