"""Planned stops: the pledge of a run whose possible ends, and what each will have cost, are known beforehand."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

from expost.accounting.claim import Promise, best_statement, best_tail
from expost.accounting.composed_loss import composed_epsilon
from expost.accounting.curve import AdpEpsilon, Tabulated
from expost.accounting.kinds import Known, stays_within
from expost.accounting.pledge import promised
from expost.errors import InvalidValue
from expost.numerics import probability


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

    def __post_init__(self) -> None:
        probability(self.delta, "delta")
        if not self.promises:
            raise InvalidValue("no stop is planned; give at least one promise.")
        object.__setattr__(self, "table", tuple(_stop(each, self.share) for each in self.promises))

    @property
    def share(self) -> float:
        """The δ of one stop."""
        return math.nextafter(self.delta / len(self.promises), 0)

    def epsilon(self, promise: Promise) -> AdpEpsilon:
        """The ε of the cheapest planned stop that covers the run."""
        return _cheapest(self.table, promise)

    def probabilistic(self, promise: Promise) -> AdpEpsilon:
        """The larger bound that the privacy loss itself exceeds with probability δ at most."""
        return _cheapest([Stop(each, *best_tail(each, self.share)) for each in self.promises], promise)


def _stop(promise: Promise, delta: float) -> Stop:
    """The stop, stated in whichever way gives the least ε; which one is thereby fixed."""
    epsilon, alpha = best_statement(promise, delta)
    kinds = promise.curve.kinds
    if isinstance(promise.curve, Tabulated) and kinds is not None:
        by_loss = composed_epsilon(kinds, delta)
        if by_loss < epsilon:
            return Stop(promise, by_loss, None, kinds)
    return Stop(promise, epsilon, alpha)


def _cheapest(table: Sequence[Stop], promise: Promise) -> AdpEpsilon:
    run = promised(promise)
    return AdpEpsilon(min((stop.epsilon for stop in table if stop.covers(run)), default=math.inf))
