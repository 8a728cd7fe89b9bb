"""The Brownian mechanism: ever finer estimates whose total cost is that of the finest."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Generic, TypeVar, final

import numpy as np

from expost.accounting.claim import Budget, Promise
from expost.errors import InvalidValue
from expost.ledger import Fact
from expost.mechanisms.gaussian import FloatGaussian, Gaussian, Measurement
from expost.noise import Floats, Noise
from expost.numerics import positive, up
from expost.private import Neighbours
from expost.release import Past
from expost.rules import Due, Recorded

D = TypeVar("D")


@final
@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """The precision-weighted mean of all measurements so far: its release is all it takes to resume.

    Refining it needs fresh noise only, never the noise of the past, so it stays private even if the data changed
    in between. Two continuations of one estimate draw twice and are billed twice.

    Implements: resuming without secret state.
    """

    values: Floats
    precision: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "precision", positive(self.precision, "precision"))
        if not np.all(np.isfinite(self.values)):
            raise InvalidValue("an estimate holds a value that is not finite; resume from a published release.")

    @property
    def std(self) -> float:
        """The standard deviation of the noise that is left in each cell."""
        return math.sqrt(up(1 / self.precision))

    def refine(self, fresh: Measurement) -> "Estimate":
        """The estimate after one more measurement, each weighted by its precision."""
        if fresh.values.shape != self.values.shape:
            raise InvalidValue(f"an estimate of shape {self.values.shape} met values of {fresh.values.shape}.")
        precision = self.precision + 1 / fresh.variance
        weight = float(1 / (fresh.variance * precision))
        return Estimate((1 - weight) * self.values + weight * fresh.values, precision)


@final
@dataclass(frozen=True)
class Brownian(Generic[D]):
    """Each step measures afresh with the increment of the budget and refines the estimate.

    With budgets ε_1, ε_2 − ε_1, … the estimates have the joint law of a Brownian motion run backwards from time
    αΔ²/(2ε_1), observed at αΔ²/(2ε_i), and the bill after step i is ε_i. With integer noise the law is only nearly
    so, the bill is the same. A run resumes from the last release of its past, of whatever odometer: what that one had
    spent comes along on the bill.

    Implements: Brownian mechanism (Theorem 5.2).
    Uses: fully adaptive odometer; discrete Gaussian mechanism.
    """

    measure: Gaussian[D] | FloatGaussian[D]
    name: ClassVar[str] = "Brownian"

    @property
    def neighbours(self) -> Neighbours:
        """The measurement's."""
        return self.measure.neighbours

    @property
    def floating(self) -> bool:
        """As the measurement."""
        return self.measure.floating

    def promise(self, budget: Budget) -> Promise:
        """The increment's."""
        return self.measure.promise(budget)

    def sample(self, data: D, budget: Budget, past: Past[Estimate], noise: Noise) -> Estimate:
        """The refined estimate."""
        fresh = self.measure.sample(data, budget, past, noise)
        if past.newest is None:
            return Estimate(fresh.values, 1 / fresh.variance)
        return past.newest.value.refine(fresh)

    def facts(self, budget: Budget) -> Mapping[str, Fact]:
        """The increment's."""
        return self.measure.facts(budget)

    @staticmethod
    def rule(line: Recorded) -> Due:
        """The increment's, by whichever measurement it was."""
        return Gaussian.rule(line) if "l2_squared" in line.facts else FloatGaussian.rule(line)
