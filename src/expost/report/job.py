"""Jobs: what a report says of one kind of run, and of no other."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, final

if TYPE_CHECKING:
    from expost.report.facts import Facts
    from expost.report.notation import Json


@final
@dataclass(frozen=True, slots=True)
class Terms:
    """The words that a kind of job has for its rungs."""

    rung: str
    title: str
    whole: str
    onward: str
    top: str
    taken: str
    finer: str


class Job(Protocol):
    """What a report says of one kind of job and of no other, made of plain values.

    Implemented by TableJob, HeadJob, ModuleJob and SearchJob.
    """

    @property
    def kind(self) -> str:
        """What was made."""
        ...

    @property
    def terms(self) -> Terms:
        """How its rungs are called."""
        ...

    @property
    def lines(self) -> Mapping[str, str]:
        """What its lines of the bill are called, by the names of their mechanisms."""
        ...

    @property
    def target(self) -> str:
        """What is predicted; empty where nobody said."""
        ...

    @property
    def product(self) -> str:
        """The result as the subject of a sentence, up to what it predicts."""
        ...

    @property
    def unseen(self) -> str:
        """The held-out records, and why they say something about the result."""
        ...

    @property
    def first(self) -> str:
        """What is paid besides the rungs and the checks."""
        ...

    def size(self, facts: "Facts") -> tuple[str, str, str]:
        """How large the result is: a title, a number, a remark."""
        ...

    def name(self, place: int) -> str:
        """The rung with this number, from 1, in a table."""
        ...

    def method(self, facts: "Facts") -> tuple[str, ...]:
        """The procedure in plain words, step by step."""
        ...

    def exhibits(self) -> str:
        """Charts of what was released, as a part of the page."""
        ...

    def appendix(self, facts: "Facts") -> str:
        """What the page ends with."""
        ...

    def receipt(self) -> "Mapping[str, Json]":
        """What the receipt says of this job alone."""
        ...
