"""The Laplace mechanism: exact on integers, and in floating point for callers that accept it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Generic, TypeVar, final

import numpy as np

from expost.accounting.claim import Budget, Promise
from expost.accounting.curve import ORDERS, Tabulated
from expost.accounting.pure import randomized_response_rdp
from expost.ledger import Fact
from expost.mechanisms.gaussian import Measurement, real_values
from expost.noise import Floats, Noise
from expost.numerics import Real, positive, up
from expost.private import Neighbours
from expost.release import Past
from expost.rules import Due, Recorded
from expost.sampling import limits
from expost.statistic import Statistic

D = TypeVar("D")


@final
@dataclass(frozen=True)
class Laplace(Generic[D]):
    """Integer statistic plus discrete Laplace noise of scale Δ₁/ε, where the budget's ε is meant as pure.

    Implements: discrete Laplace mechanism.
    Uses: pure to Rényi; exact discrete Laplace sampler.
    """

    statistic: Statistic[D]
    name: ClassVar[str] = "Laplace"
    floating: ClassVar[bool] = False

    @property
    def neighbours(self) -> Neighbours:
        """The statistic's."""
        return self.statistic.neighbours

    def scale(self, budget: Budget) -> Fraction:
        """The noise that this budget calls for."""
        return limits.scale(self.statistic.l1 / budget.epsilon)

    def promise(self, budget: Budget) -> Promise:
        """The curve of any ε-DP step: integer noise of sensitivity 1 attains it, so the Laplace curve is too low."""
        self.scale(budget)
        return pure_promise(budget.epsilon)

    def sample(self, data: D, budget: Budget, past: Past[object], noise: Noise) -> Measurement:
        """The noisy integers."""
        scale = self.scale(budget)
        noisy = self.statistic.evaluate(data) + noise.discrete_laplace(scale, self.statistic.shape)
        return Measurement(noisy.astype(np.float64), 2 * scale**2)

    def facts(self, budget: Budget) -> Mapping[str, Fact]:
        """Statistic, sensitivity and scale."""
        return {"statistic": self.statistic.name, "l1": str(self.statistic.l1), "scale": str(self.scale(budget))}

    @staticmethod
    def rule(line: Recorded) -> Due:
        """Sensitivity over scale is the pure ε."""
        return _due(line, floating=False)


@final
@dataclass(frozen=True)
class FloatLaplace(Generic[D]):
    """Real statistic plus floating-point Laplace noise: for callers who accept that rounding is not covered.

    Its releases, records and receipts say so.
    """

    compute: Callable[[D], Floats]
    shape: tuple[int, ...]
    l1: Real
    neighbours: Neighbours
    statistic: str = "statistic"
    name: ClassVar[str] = "FloatLaplace"
    floating: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "l1", positive(self.l1, "l1"))

    def scale(self, budget: Budget) -> Fraction:
        """The noise that this budget calls for."""
        return Fraction(self.l1) / budget.epsilon

    def promise(self, budget: Budget) -> Promise:
        """The curve of any ε-DP step."""
        return pure_promise(budget.epsilon)

    def sample(self, data: D, budget: Budget, past: Past[object], noise: Noise) -> Measurement:
        """The noisy values."""
        values, scale = real_values(self.compute(data), self.shape), self.scale(budget)
        return Measurement(values + noise.laplace(up(scale), self.shape), 2 * scale**2)

    def facts(self, budget: Budget) -> Mapping[str, Fact]:
        """Statistic, sensitivity and scale."""
        return {"statistic": self.statistic, "l1": str(self.l1), "scale": str(self.scale(budget))}

    @staticmethod
    def rule(line: Recorded) -> Due:
        """Sensitivity over scale is the pure ε."""
        return _due(line, floating=True)


@lru_cache(maxsize=256)
def pure_promise(epsilon: Fraction) -> Promise:
    """What an ε-DP step with ε fixed beforehand costs at the usual orders.

    Uses: pure to Rényi.
    """
    return Promise(Tabulated.of(ORDERS, [randomized_response_rdp(up(epsilon), alpha) for alpha in ORDERS]))


def _due(line: Recorded, *, floating: bool) -> Due:
    epsilon = line.fraction("l1") / line.fraction("scale")
    return Due(pure_promise(epsilon).curve, floating, lambda budget: budget.epsilon == epsilon)
