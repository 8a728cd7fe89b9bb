"""One row of each person: what a question about records asks where the held-out records are persons."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Generic, TypeVar, final

from numpy.typing import NDArray

from expost.checks.question import Question
from expost.noise import Integers, Noise
from expost.pieces import Pieces
from expost.private import Neighbours
from expost.tabular.persons import Grouped
from expost.tabular.table import Table

T = TypeVar("T")
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

    def ask(self, candidate: U, held: Grouped | Pieces) -> int:
        """The value for these rows."""
        rows: Any = OneRowEachOf(held) if isinstance(held, Pieces) else held.one_row_each()
        return self.question.ask(candidate, rows)


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OneRowEachOf:
    """The rows that stand for persons in pieces, piece by piece."""

    persons: Pieces

    def added(self, f: Callable[[Any], Integers]) -> Integers:
        """The sum over all pieces."""
        return self.persons.added(partial(_of_one_row_each, f))

    def joined(self, f: Callable[[Any], NDArray[Any]]) -> NDArray[Any]:
        """What ``f`` makes of each piece, one after another."""
        return self.persons.joined(partial(_of_one_row_each, f))

    def divided(self, share: Fraction, noise: Noise) -> "tuple[OneRowEachOf, OneRowEachOf]":
        """Two parts of the persons."""
        one, other = self.persons.divided(share, noise)
        return OneRowEachOf(one), OneRowEachOf(other)


def _of_one_row_each(f: Callable[[Any], T], persons: Grouped) -> T:
    return f(persons.one_row_each())
