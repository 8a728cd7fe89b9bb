"""Spending: the bill of a run beside the pledge that came first, and what is stated of both."""

from dataclasses import dataclass
from functools import cached_property
from typing import final

from expost.accounting.claim import Spent
from expost.accounting.curve import AdpEpsilon
from expost.accounting.gaussian import gaussian_mu
from expost.accounting.pledge import Pledge
from expost.accounting.statement import stated, stated_loss
from expost.bill import Item, bill_total


@final
@dataclass(frozen=True)
class Spending:
    """All lines of one run, and the pledge that was on record before the first of them."""

    bill: tuple[Item, ...]
    pledge: Pledge

    @cached_property
    def spent(self) -> Spent:
        """What the lines add up to."""
        return bill_total(self.bill)

    @cached_property
    def epsilon(self) -> AdpEpsilon:
        """The ε that is stated; 0 where there is no line."""
        return AdpEpsilon(0.0) if not self.bill else stated(self.spent, self.pledge)

    @cached_property
    def probabilistic(self) -> AdpEpsilon:
        """What the privacy loss itself exceeds with probability δ at most."""
        return AdpEpsilon(0.0) if not self.bill else stated_loss(self.spent, self.pledge)

    @property
    def mu(self) -> float | None:
        """The μ of μ-Gaussian differential privacy, where all noise was Gaussian."""
        return gaussian_mu(self.spent.curve)
