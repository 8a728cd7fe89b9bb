"""Planned stops: the pledge of a run whose possible ends, and what each will have cost, are known beforehand."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from expost.accounting.claim import Promise, best_statement, best_tail
from expost.accounting.composed_loss import composed_epsilon
from expost.accounting.curve import AdpEpsilon, Floats, Tabulated, bounds_at
from expost.accounting.kinds import Known, stays_within
from expost.accounting.pledge import promised
from expost.errors import InvalidValue
from expost.numerics import probability, up

PROFILE = 0.0
"""The order of a stop that is not stated by one."""
SLACK = 2.0**-40
"""What floats may be apart that stand for equal numbers: far above the rounding of a few operations."""


@final
@dataclass(frozen=True, slots=True)
class Stop:
    """One planned stop: what may have been spent there, and the ε it will be stated as.

    The statement rests on the kinds of its steps, on the order ``alpha`` or, if both are None, on the Gaussian profile.
    """

    promise: Promise
    epsilon: AdpEpsilon
    alpha: float | None
    kinds: Known | None = None

    @property
    def measure(self) -> str:
        """What the statement rests on, in words."""
        if self.kinds is not None:
            return "the distribution of the privacy loss"
        return "the Gaussian profile" if self.alpha is None else "one Rényi order"

    def covers(self, run: Promise) -> bool:
        """Whether a run that spends this much stays within the promise, in the measure the statement rests on."""
        if self.kinds is not None:
            return stays_within(run.curve.kinds, self.kinds)
        if self.alpha is not None:
            return run.at(self.alpha) <= self.promise.at(self.alpha)
        planned, used = self.promise.curve.gaussian, run.curve.gaussian
        return planned is not None and used is not None and used <= planned


@final
@dataclass(frozen=True, slots=True)
class PlannedStops:
    """Finitely many possible stops, each with a promise known beforehand; δ is split over them.

    At stop i the claim is the ex-ante one of a filter that refuses whatever would exceed promise i, converted in
    the best way known: exact Gaussian profile, the best order or, where the kinds of all steps are known, the
    distribution of their loss. A run that stayed within promise i is an event of that filtered run, so claiming ε_i on
    it fails with probability δ_i at most, and the δ_i add up to δ. The budgets in between may therefore be chosen
    adaptively, among the planned kinds where these are what was stated. A run that fits no stop gets no claim. The
    same holds of the loss, with the tail of the Gaussian or of the best order in the place of its profile.

    Implements: planned stops (S4).
    Uses: filter; exact Gaussian profile; composed loss distributions; CKS conversion, ex post; Gaussian tail after
    post-processing; Lemma 7 conversion.
    """

    promises: tuple[Promise, ...]
    delta: float
    table: tuple[Stop, ...] = field(init=False)
    _cheapest: "_CheapestFirst" = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        probability(self.delta, "delta")
        if not self.promises:
            raise InvalidValue("no stop is planned; give at least one promise.")
        object.__setattr__(self, "table", tuple(_stop(each, self.share) for each in self.promises))
        object.__setattr__(self, "_cheapest", _CheapestFirst.of(self.table))

    @property
    def share(self) -> float:
        """The δ of one stop."""
        return math.nextafter(self.delta / len(self.promises), 0)

    def epsilon(self, promise: Promise) -> AdpEpsilon:
        """The ε of the cheapest planned stop that covers the run."""
        return self._cheapest.covering(promised(promise))

    def probabilistic(self, promise: Promise) -> AdpEpsilon:
        """The larger bound that the privacy loss itself exceeds with probability δ at most."""
        tails = [Stop(each, *best_tail(each, self.share)) for each in self.promises]
        return _CheapestFirst.of(tails).covering(promised(promise))


def _stop(promise: Promise, delta: float) -> Stop:
    """The stop, stated in whichever way gives the least ε; which one is thereby fixed."""
    epsilon, alpha = best_statement(promise, delta)
    kinds = promise.curve.kinds
    if isinstance(promise.curve, Tabulated) and kinds is not None:
        by_loss = composed_epsilon(kinds, delta)
        if by_loss < epsilon:
            return Stop(promise, by_loss, None, kinds)
    return Stop(promise, epsilon, alpha)


@final
@dataclass(frozen=True, slots=True, eq=False)
class _CheapestFirst:
    """Stops by their ε, and what a run may cost where each is stated: one comparison of floats rules most of them out.

    A stop without an order is told by the ρ of its Gaussian profile, and one without either is never ruled out.
    """

    stops: Sequence[Stop]
    orders: Floats
    limits: Floats

    @classmethod
    def of(cls, table: Sequence[Stop]) -> "_CheapestFirst":
        """The stops of a table in this order."""
        stops = tuple(sorted(table, key=lambda stop: stop.epsilon))
        return cls(
            stops, np.array([stop.alpha or PROFILE for stop in stops]), np.array([_limit(stop) for stop in stops])
        )

    def covering(self, run: Promise) -> AdpEpsilon:
        """The ε of the cheapest stop that covers the run, asked in exact numbers; infinite where none does."""
        gaussian = math.inf if run.curve.gaussian is None else up(run.curve.gaussian)
        costs = np.where(self.orders == PROFILE, gaussian, bounds_at(run.curve, self.orders))
        near = np.flatnonzero(costs <= self.limits * (1 + SLACK) + SLACK).tolist()
        return next(
            (self.stops[place].epsilon for place in near if self.stops[place].covers(run)), AdpEpsilon(math.inf)
        )


def _limit(stop: Stop) -> float:
    gaussian = stop.promise.curve.gaussian
    if stop.alpha is not None:
        return stop.promise.at(stop.alpha)
    return math.inf if stop.kinds is not None or gaussian is None else up(gaussian)
