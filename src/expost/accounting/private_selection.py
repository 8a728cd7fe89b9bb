"""Private selection: the price of trying configurations a random number of times and showing the best run only."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from expost.accounting.convert import raised
from expost.accounting.curve import AdpEpsilon
from expost.errors import InvalidValue
from expost.numerics import exact, non_negative, probability, up

NEGLIGIBLE = 1e-20
"""An η nearer to 0 than this is counted as 0: it changes no chance by a relative 1e-17."""
SHORTEST, LONGEST = 2.0**-40, 690.0
"""The logarithms of 1/γ searched for a mean: from hardly more than one run to the smallest ordinary floats."""


@final
@dataclass(frozen=True, slots=True)
class Statement:
    """An (ε, δ): of a mechanism before it runs, or of one run of it as an approximate ex-post bill."""

    epsilon: AdpEpsilon
    delta: float

    def __post_init__(self) -> None:
        non_negative(self.epsilon, "epsilon")
        if not 0 <= self.delta < 1:
            raise InvalidValue(f"delta is {self.delta:g}; it must be at least 0 and below 1.")

    def __add__(self, later: "Statement") -> "Statement":
        """Both on the same data, rounded up; holds if each δ was fixed before the first of them ran.

        Uses: adaptive composition.
        """
        if not isinstance(later, Statement):
            return NotImplemented
        epsilon = exact(self.epsilon, "epsilon") + exact(later.epsilon, "epsilon")
        delta = exact(self.delta, "delta") + exact(later.delta, "delta")
        return Statement(AdpEpsilon(up(epsilon)), up(delta))


@final
@dataclass(frozen=True, slots=True)
class TruncatedNegativeBinomial:
    """A number of runs K ≥ 1 with P(K = k) ∝ (1−γ)^k Π_{0<l<k} (l+η)/(l+1), where −1 < η ≤ 1 and 0 < γ < 1.

    η = 0 is the logarithmic law and η = 1 the geometric one. For the same mean a smaller η makes the bill smaller
    and K more uneven: one run more often, and very many runs at times.
    """

    eta: float
    gamma: float

    def __post_init__(self) -> None:
        if not -1 < self.eta <= 1:
            raise InvalidValue(f"eta is {self.eta:g}; it must be above -1 and at most 1.")
        probability(self.gamma, "gamma")

    @classmethod
    def with_mean(cls, mean: float, *, eta: float) -> "TruncatedNegativeBinomial":
        """The law of this η with this number of runs on average, to rounding."""
        most = cls(eta, math.exp(-LONGEST)).mean
        if not cls(eta, math.exp(-SHORTEST)).mean < mean < most:
            raise InvalidValue(f"mean is {mean:g} with eta {eta:g}; it must lie strictly between 1 and {most:.4g}.")
        from scipy.optimize import brentq  # noqa: PLC0415  slow to load, and rarely needed

        log = brentq(lambda at: cls(eta, math.exp(-at)).mean - mean, SHORTEST, LONGEST, xtol=1e-15)
        return cls(eta, math.exp(-log))

    @property
    def mean(self) -> float:
        """E[K] = η(1−γ)/(γ(1−γ^η))."""
        return (1 - self.gamma) / self.gamma / _decay(self.eta, -math.log(self.gamma))

    def pmf(self, k: int) -> float:
        """P(K = k)."""
        if k < 1:
            return 0.0
        first = (1 - self.gamma) * math.pow(self.gamma, self.eta) / _decay(self.eta, -math.log(self.gamma))
        return first * math.prod((1 - self.gamma) * (at + self.eta) / (at + 1) for at in range(1, k))

    def pgf(self, x: float) -> float:
        """f(x) = E[x^K], for 0 ≤ x ≤ 1."""
        return 1 - self._met(1 - x)

    def met(self, chance: float) -> float:
        """1 − f(1−chance), rounded up: that what happens in a run with this chance happens in any of the K."""
        if not 0 <= chance <= 1:
            raise InvalidValue(f"chance is {chance:g}; it must lie in [0, 1].")
        return min(1.0, raised(self._met(chance)))

    def _met(self, chance: float) -> float:
        grown = math.log1p((1 - self.gamma) * chance / self.gamma)
        return _decay(self.eta, grown) / _decay(self.eta, -math.log(self.gamma))


@final
@dataclass(frozen=True, slots=True)
class SelectionBill:
    """What it costs to run configurations K times, one drawn evenly each time, and to show the best passing run.

    Best is the smallest ε, then the highest score, then the earliest. K and all other runs stay secret.
    """

    runs: TruncatedNegativeBinomial
    configurations: tuple[Statement, ...]

    def __post_init__(self) -> None:
        if not self.configurations:
            raise InvalidValue("there are no configurations to choose from; give at least one.")

    def passed(self, place: int) -> Statement:
        """(2+η)·ε_j, where the best passing run is one of configuration j, the one at ``place``.

        Implements: private selection.
        """
        return self._stated(exact(self.configurations[place].epsilon, "epsilon"))

    @property
    def none_passed(self) -> Statement:
        """(2+η)·max ε_j: that no run passed says something about every configuration."""
        return self._stated(max(exact(each.epsilon, "epsilon") for each in self.configurations))

    @property
    def delta(self) -> float:
        """1 − f(1−d) ≤ E[K]·d, where d is the mean of the δ_j: the same whatever is returned.

        Implements: private selection, approximate.
        """
        deltas = [exact(each.delta, "delta") for each in self.configurations]
        return self.runs.met(up(sum(deltas, Fraction(0)) / len(deltas)))

    def _stated(self, epsilon: Fraction) -> Statement:
        return Statement(AdpEpsilon(up((2 + exact(self.runs.eta, "eta")) * epsilon)), self.delta)


def _decay(rate: float, time: float) -> float:
    """(1 − e^(−rate·time))/rate, which is ``time`` where the rate is 0."""
    return time if abs(rate) < NEGLIGIBLE else -math.expm1(-rate * time) / rate
