"""Scales: what the answers of a check are told in, as an accuracy or, where their number is private, in records."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Protocol, TypeAlias, final

from expost.protocols import Verdict
from expost.report import digits

Answer: TypeAlias = tuple[float, float]
"""A noisy value, and half the range of the noise alone."""


class Scale(Protocol):
    """How a noisy answer is shown, in words and on a chart. Implemented by Shares and Margins."""

    @property
    def goal(self) -> float:
        """Where the target lies."""
        ...

    @property
    def limits(self) -> tuple[float, float]:
        """What no value is shown beyond."""
        ...

    @property
    def room(self) -> float:
        """The least space left around what is drawn."""
        ...

    @property
    def unit(self) -> str:
        """What follows a number in a sentence."""
        ...

    @property
    def lead(self) -> str:
        """What comes before it, where the target was reached."""
        ...

    def answer(self, verdict: Verdict | None) -> Answer | None:
        """What a verdict reveals, with one standard error; None where nobody asked, or only yes or no is known."""
        ...

    def name(self, measure: str) -> str:
        """What is measured, in a sentence."""
        ...

    def head(self, measure: str) -> str:
        """The same above numbers without a unit."""
        ...

    def told(self, answer: Answer) -> str:
        """The value with half the range of its noise."""
        ...

    def mark(self, value: float) -> str:
        """A number on the axis."""
        ...


@final
@dataclass(frozen=True, slots=True)
class Shares:
    """Accuracies: the margin over about how many records were held out, which is public or was released."""

    asked: Fraction
    held: float
    limits: ClassVar[tuple[float, float]] = (0.0, 1.0)
    room: ClassVar[float] = 0.01
    unit: ClassVar[str] = ""
    lead: ClassVar[str] = "noisy answer"

    @property
    def goal(self) -> float:
        """The accuracy asked for."""
        return float(self.asked)

    def answer(self, verdict: Verdict | None) -> Answer | None:
        """The accuracy."""
        found = Margins().answer(verdict)
        records = max(1.0, self.held)
        return None if found is None else (self.goal + found[0] / records, found[1] / records)

    def name(self, measure: str) -> str:
        """The measure."""
        return measure

    def head(self, measure: str) -> str:
        """The measure."""
        return measure

    def told(self, answer: Answer) -> str:
        """A percentage."""
        return digits.measured(*answer)

    def mark(self, value: float) -> str:
        """A percentage."""
        return digits.plain(value)


@final
@dataclass(frozen=True, slots=True)
class Margins:
    """Held-out records that are right beyond what the target needs: known where their number is not."""

    goal: ClassVar[float] = 0.0
    limits: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    room: ClassVar[float] = 1.0
    unit: ClassVar[str] = " records"
    lead: ClassVar[str] = "noisy margin"

    def answer(self, verdict: Verdict | None) -> Answer | None:
        """The margin as it was released."""
        if verdict is None or verdict.margin is None or verdict.std is None:
            return None
        return verdict.margin, verdict.std

    def name(self, measure: str) -> str:
        """The margin."""
        return "margin"

    def head(self, measure: str) -> str:
        """The margin and its unit."""
        return "margin in records"

    def told(self, answer: Answer) -> str:
        """A signed number of records."""
        return digits.margin(*answer)

    def mark(self, value: float) -> str:
        """A signed number."""
        return digits.signed(f"{value:+g}") if value else "0"
