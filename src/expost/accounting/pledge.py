"""Pledges: how spent privacy will be stated as (ε, δ), fixed before the first release.

Taking the best order at the realised output is not valid when the spend depends on the output: the failure events
of different orders can be disjoint, and their probabilities add. Each pledge below is a rule that avoids this.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, final, runtime_checkable

from expost.accounting import convert
from expost.accounting.claim import Promise, Spent, order_statement
from expost.accounting.curve import AdpEpsilon, cover
from expost.errors import InvalidValue
from expost.numerics import Real, order, positive, probability, up


class Pledge(Protocol):
    """A rule from spent privacy to ε at a fixed δ: one in the approximate notion, a larger one in the probabilistic.

    Both must hold for whatever stopping rule the outputs led to. It is asked what a run would be stated as that spends
    a promise, and refuses what was spent: that is stated by its odometer, whose pledge came first. Implemented by
    FixedOrder, Mixture, HalfNormal, PlannedStops and PlannedJumps.
    """

    @property
    def delta(self) -> float:
        """The δ of every statement under this pledge."""

    def epsilon(self, promise: Promise) -> AdpEpsilon:
        """The ε of a run that spends this; infinity where the pledge makes no claim."""

    def probabilistic(self, promise: Promise) -> AdpEpsilon:
        """What the privacy loss itself exceeds with probability δ at most, also after post-processing."""


@runtime_checkable
class Watching(Pledge, Protocol):
    """A pledge whose ε depends on how a total was reached, so that it must watch the run. Implemented by PlannedJumps.

    What must hold: its ε is valid for every run of one odometer that asks it before each step. It says nothing of a
    total that was not reached so: one of several odometers together, or a bill that was raised by hand.
    """

    def require_step(self, totals: Sequence[Spent], after: Spent) -> None:
        """Raise BudgetExceeded unless one step may take a run with these totals so far, the last one now, there."""


@final
@dataclass(frozen=True, slots=True)
class FixedOrder:
    """One order for calibration and report.

    Implements: fixed order (S1).
    Uses: CKS conversion, ex post; Lemma 7 conversion.
    """

    alpha: Fraction
    delta: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", order(self.alpha))
        probability(self.delta, "delta")

    @classmethod
    def at(cls, alpha: Real, delta: float) -> "FixedOrder":
        """A pledge from ordinary numbers."""
        return cls(order(alpha), delta)

    @classmethod
    def tuned(cls, anticipated: Promise, delta: float) -> "FixedOrder":
        """The order that would suit this anticipated, public promise best."""
        return cls(Fraction(order_statement(anticipated, delta)[1]), delta)

    def epsilon(self, promise: Promise) -> AdpEpsilon:
        """The approximate statement."""
        return _shifted(promised(promise).at(self.alpha), convert.cks_offset(self.alpha, self.delta))

    def probabilistic(self, promise: Promise) -> AdpEpsilon:
        """The larger bound that the privacy loss itself exceeds with probability δ at most."""
        return _shifted(promised(promise).at(self.alpha), convert.lemma_7_offset(self.alpha, self.delta))


@final
@dataclass(frozen=True, slots=True)
class Mixture:
    """Several orders at once, weighted: for open-ended, adaptive spending.

    Implements: mixture over orders (S3).
    Uses: mixture conversion.
    """

    orders: tuple[float, ...]
    weights: tuple[float, ...]
    delta: float

    def __post_init__(self) -> None:
        probability(self.delta, "delta")
        if len(self.orders) != len(self.weights):
            raise InvalidValue(f"{len(self.orders)} orders have {len(self.weights)} weights; give one per order.")
        for alpha in self.orders:
            order(alpha)
        if any(not weight > 0 for weight in self.weights) or not math.isclose(math.fsum(self.weights), 1):
            raise InvalidValue("the weights must be above 0 and sum to 1.")

    @classmethod
    def even(cls, orders: Sequence[float], delta: float) -> "Mixture":
        """The same weight for each order."""
        return cls(tuple(orders), tuple(1 / len(orders) for _ in orders), delta)

    def epsilon(self, promise: Promise) -> AdpEpsilon:
        """The approximate statement."""
        return self._solve(convert.mixture_hockey_stick, promise)

    def probabilistic(self, promise: Promise) -> AdpEpsilon:
        """The larger bound that the privacy loss itself exceeds with probability δ at most."""
        return self._solve(convert.mixture_tail, promise)

    def _solve(self, solve: "Solver", promise: Promise) -> AdpEpsilon:
        bounds = tuple(promised(promise).at(alpha) for alpha in self.orders)
        ceiling = convert.union_over_orders(self.orders, bounds, self.weights, self.delta)
        if math.isinf(ceiling):
            return AdpEpsilon(math.inf)
        moment = convert.log_mixture(self.orders, bounds, self.weights)
        return AdpEpsilon(solve(moment, self.delta, ceiling))


@final
@dataclass(frozen=True, slots=True)
class HalfNormal:
    """All orders at once, α − 1 drawn from a half-normal law of variance v: for zCDP, degrading only like √ln.

    Implements: half-normal mixture over all orders (S3, zCDP).
    Uses: half-normal mixture.
    """

    v: float
    delta: float

    def __post_init__(self) -> None:
        positive(self.v, "v")
        probability(self.delta, "delta")

    @classmethod
    def tuned(cls, rho: Real, delta: float) -> "HalfNormal":
        """The variance that suits this anticipated, public ρ best."""
        return cls(convert.half_normal_tuning(float(positive(rho, "rho")), probability(delta, "delta")), delta)

    def epsilon(self, promise: Promise) -> AdpEpsilon:
        """The approximate statement."""
        return self._solve(convert.mixture_hockey_stick, promise)

    def probabilistic(self, promise: Promise) -> AdpEpsilon:
        """The larger bound that the privacy loss itself exceeds with probability δ at most."""
        return self._solve(convert.mixture_tail, promise)

    def _solve(self, solve: "Solver", promise: Promise) -> AdpEpsilon:
        line = cover(promised(promise).curve)
        if line is None:  # a table says nothing about all orders
            return AdpEpsilon(math.inf)
        xi, rho = up(line.xi), up(line.rho)
        ceiling = convert.half_normal_closed_form(xi, rho, self.v, self.delta)
        moment = convert.log_half_normal(xi, rho, self.v)
        return AdpEpsilon(solve(moment, self.delta, ceiling))


Solver = Callable[[Callable[[float], float], float, float], float]


def promised(promise: Promise) -> Promise:
    """The promise, refused if it is what was spent: by then a pledge can be chosen to suit it."""
    if not isinstance(promise, Promise):
        raise TypeError(
            "a pledge made after the run proves nothing; give it to the odometer first, whose releases have an epsilon."
        )
    return promise


def _shifted(bound: float, offset: float) -> AdpEpsilon:
    return AdpEpsilon(max(0.0, math.nextafter(bound + offset, math.inf)))
