"""Rules: what a step on record must have cost, worked out from its own facts, beside the mechanism that wrote them.

A rule needs nothing but the line of a bill. Audits collect the rules of our mechanisms and checks by the names that
those go on record with; no release rests on one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, TypeAlias, final

from expost.accounting.claim import Budget
from expost.accounting.curve import Curve
from expost.ledger import Fact


class Recorded(Protocol):
    """A line of a bill that nobody vouches for. Implemented by the audit of a receipt.

    ``fraction`` and ``whole`` refuse facts that are missing, malformed or too long to work with.
    """

    @property
    def facts(self) -> Mapping[str, Fact]:
        """What its mechanism put on record."""

    @property
    def xi(self) -> Fraction:
        """The ξ that it says was spent."""

    @property
    def rho(self) -> Fraction:
        """The ρ that it says was spent."""

    def fraction(self, fact: str) -> Fraction:
        """The exact number that a fact spells."""

    def whole(self, fact: str) -> int:
        """The count that a fact is."""


@final
@dataclass(frozen=True, slots=True)
class Due:
    """What the facts of a line lead to: its curve, and whether its noise was floating, None where they do not say.

    ``pays`` says whether a budget calls for just this step; true of every budget where it does not show.
    """

    curve: Curve
    floating: bool | None = None
    pays: Callable[[Budget], bool] = lambda budget: True


Rule: TypeAlias = Callable[[Recorded], Due]
