"""The Gaussian mechanism: exact on integers, and in floating point for callers that accept it."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Generic, TypeVar, final

import numpy as np

from expost.accounting.claim import Budget, Promise
from expost.accounting.curve import Linear
from expost.accounting.gaussian import lattice_line
from expost.errors import InvalidValue
from expost.ledger import Fact
from expost.noise import Floats, Noise
from expost.numerics import Real, positive, up
from expost.private import Neighbours
from expost.release import Past
from expost.rules import Due, Recorded
from expost.sampling import limits
from expost.statistic import Statistic

D = TypeVar("D")


@final
@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """Noisy values and the variance of their noise, which is public."""

    values: Floats
    variance: Fraction

    @property
    def std(self) -> float:
        """The standard deviation of the noise in each cell."""
        return math.sqrt(up(self.variance))


@final
@dataclass(frozen=True)
class Gaussian(Generic[D]):
    """Integer statistic plus discrete Gaussian noise of variance Δ²/(2ρ), exact from budget to draw.

    The Rényi divergences are at most those of the continuous mechanism because statistic and noise are both
    integers; centring the noise elsewhere would break that.

    Implements: discrete Gaussian mechanism.
    Uses: exact discrete Gaussian sampler; integer noise under the Gaussian profile.
    """

    statistic: Statistic[D]
    name: ClassVar[str] = "Gaussian"
    floating: ClassVar[bool] = False

    @property
    def neighbours(self) -> Neighbours:
        """The statistic's."""
        return self.statistic.neighbours

    def variance(self, budget: Budget) -> Fraction:
        """The noise that this budget calls for: αΔ²/(2ε), an exact fraction."""
        return limits.variance(self.statistic.l2_squared / (2 * budget.rho))

    def promise(self, budget: Budget) -> Promise:
        """The curve ρ·α, with the Gaussian profile where the noise is wide enough for it."""
        return Promise(lattice_line(*self._released(budget), self._cells))

    def sample(self, data: D, budget: Budget, past: Past[object], noise: Noise) -> Measurement:
        """The noisy integers."""
        statistic, variance = self.statistic, self.variance(budget)
        noisy = statistic.evaluate(data) + noise.discrete_gaussian(variance, statistic.shape)
        return Measurement(noisy.astype(np.float64) * float(statistic.spacing), variance * statistic.spacing**2)

    def facts(self, budget: Budget) -> Mapping[str, Fact]:
        """Statistic, sensitivity and variance."""
        variance, l2_squared = self._released(budget)
        return {
            "statistic": self.statistic.name,
            "cells": self._cells,
            "l2_squared": str(l2_squared),
            "variance": str(variance),
        }

    def _released(self, budget: Budget) -> tuple[Fraction, Fraction]:
        """Variance and squared sensitivity in what is released, of which a statistic may have finer steps.

        The claim is then that of steps of 1, and holds all the more.
        """
        square = self.statistic.spacing**2
        return self.variance(budget) * square, self.statistic.l2_squared * square

    @property
    def _cells(self) -> int:
        return math.prod(self.statistic.shape)

    @staticmethod
    def rule(line: Recorded) -> Due:
        """Sensitivity, variance and the number of cells give the curve."""
        curve = lattice_line(line.fraction("variance"), line.fraction("l2_squared"), line.whole("cells"))
        return Due(curve, floating=False, pays=lambda budget: budget.rho == curve.rho)


@final
@dataclass(frozen=True)
class FloatGaussian(Generic[D]):
    """Real statistic plus floating-point Gaussian noise: for callers who accept that rounding is not covered.

    Its releases, records and receipts say so.
    """

    compute: Callable[[D], Floats]
    shape: tuple[int, ...]
    l2: Real
    neighbours: Neighbours
    statistic: str = "statistic"
    name: ClassVar[str] = "FloatGaussian"
    floating: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "l2", positive(self.l2, "l2"))

    def variance(self, budget: Budget) -> Fraction:
        """The noise that this budget calls for."""
        return Fraction(self.l2) ** 2 / (2 * budget.rho)

    def promise(self, budget: Budget) -> Promise:
        """The curve ρ·α with its Gaussian profile, as for real numbers."""
        return Promise(Linear(Fraction(0), budget.rho, budget.rho))

    def sample(self, data: D, budget: Budget, past: Past[object], noise: Noise) -> Measurement:
        """The noisy values."""
        values, variance = real_values(self.compute(data), self.shape), self.variance(budget)
        return Measurement(values + noise.gaussian(math.sqrt(up(variance)), self.shape), variance)

    def facts(self, budget: Budget) -> Mapping[str, Fact]:
        """Statistic, sensitivity and variance."""
        return {"statistic": self.statistic, "l2": str(self.l2), "variance": str(self.variance(budget))}

    @staticmethod
    def rule(line: Recorded) -> Due:
        """Sensitivity and variance give the curve."""
        rho = line.fraction("l2") ** 2 / (2 * line.fraction("variance"))
        return Due(Linear(Fraction(0), rho, rho), floating=True, pays=lambda budget: budget.rho == rho)


def real_values(values: Floats, shape: tuple[int, ...]) -> Floats:
    """The values as floats, refused unless they are finite and of the declared shape."""
    array = np.asarray(values, dtype=np.float64)
    if array.shape != shape or not np.all(np.isfinite(array)):
        raise InvalidValue(f"the statistic did not return finite values of the declared shape {shape}.")
    return array
