"""Filters: caps on what a run may spend, tested before data is opened."""

from dataclasses import dataclass
from typing import Protocol, final

from expost.accounting.claim import Budget, Promise, Spent
from expost.accounting.curve import AdpEpsilon, Tabulated, exceeds
from expost.accounting.pledge import Pledge
from expost.accounting.statement import stated
from expost.errors import BudgetExceeded
from expost.numerics import down, positive, up


class Cap(Protocol):
    """A limit on the total, tested before data is opened. Implemented by Filter and PledgedFilter."""

    def require(self, total: Spent) -> None:
        """Raise BudgetExceeded unless the total stays within the limit."""


@final
@dataclass(frozen=True, slots=True)
class Filter:
    """A cap on ε at one order: whatever is chosen below it, the whole run has that ex-ante bound.

    Implements: filter (Theorem 4.3).
    """

    cap: Budget

    @property
    def promise(self) -> Promise:
        """The ex-ante bound of any run under this filter."""
        return Promise(Tabulated.of([down(self.cap.alpha)], [up(self.cap.epsilon)]))

    def require(self, total: Spent) -> None:
        """Raise BudgetExceeded unless the total at the order stays within the cap, compared exactly."""
        alpha, epsilon = self.cap.alpha, self.cap.epsilon
        if exceeds(total.curve, alpha, epsilon):
            raise BudgetExceeded(
                f"would spend ε = {total.at(alpha):.6g} at α = {up(alpha):g}; the cap is {up(epsilon):.6g}. "
                "Ask for less, or stop here."
            )


@final
@dataclass(frozen=True, slots=True)
class PledgedFilter:
    """A cap on the ε that a pledge would state: the whole run is (ε, δ)-DP.

    Implements: filter on the pledged statement.
    """

    pledge: Pledge
    cap: AdpEpsilon

    def __post_init__(self) -> None:
        positive(self.cap, "cap")

    def require(self, total: Spent) -> None:
        """Raise BudgetExceeded unless the stated ε stays within the cap."""
        reached = stated(total, self.pledge)
        if not reached <= self.cap:
            raise BudgetExceeded(
                f"would be stated as ε = {reached:.6g} at δ = {self.pledge.delta:g}; the cap is {self.cap:.6g}. "
                "Ask for less, or stop here."
            )
