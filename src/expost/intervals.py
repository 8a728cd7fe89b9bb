"""Intervals: error bars around ever finer estimates that hold however often one looks, and wherever one stops."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any, final

import numpy as np
from scipy.special import ndtr, ndtri

from expost.accounting.gaussian import LEAST_VARIANCE
from expost.checks.confidence import confidence_level
from expost.errors import InvalidValue
from expost.ladder import Ladder
from expost.mechanisms.brownian import Estimate
from expost.mechanisms.gaussian import Gaussian
from expost.noise import Floats
from expost.numerics import Real, up

NODES, PER_KERNEL = 48, 24
"""Points of the quadrature: at least as many as the first, and as many as the second to the width of a kernel."""
RAISED = 1e-9
"""What a width is raised by, far above the error of the quadrature."""


@final
@dataclass(frozen=True)
class ErrorBars:
    """Error bars for the estimates of a Brownian ladder that all hold at once with probability ``level``.

    ``precisions`` are those that the estimates will have, planned before the first; ``unit`` is the step of what is
    measured. Whatever rule ends the run, the last bar holds with that probability, because all of them do. Each count
    of a histogram has its own bars; where those of ``counts`` of them are to hold together, they are wider.

    Implements: error bars at every look.
    Uses: Brownian mechanism (Theorem 5.2).
    """

    precisions: tuple[Fraction, ...]
    level: Fraction
    unit: Fraction = Fraction(1)
    counts: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", confidence_level(self.level))
        if not self.precisions or any(later <= earlier for earlier, later in pairwise((Fraction(0), *self.precisions))):
            raise InvalidValue("the precisions of ever finer estimates rise from one to the next; plan at least one.")
        if self.counts < 1:
            raise InvalidValue(f"counts is {self.counts}; error bars hold together for at least one.")

    @classmethod
    def planned(
        cls, measure: Gaussian[Any], ladder: Ladder, *, level: Real = 0.95, together: bool = False
    ) -> "ErrorBars":
        """The bars of a Brownian mechanism that measures so and climbs this ladder; reads no data.

        ``together`` makes those of all counts hold at once, and not each by itself.
        """
        variances = [measure.variance(budget) for budget in ladder.budgets]
        if min(variances) <= LEAST_VARIANCE:
            raise InvalidValue("the noise of a rung is about as small as what is counted; end the ladder lower.")
        unit = measure.statistic.spacing
        precisions = tuple(accumulate(1 / (variance * unit**2) for variance in variances))
        cells = math.prod(measure.statistic.shape) if together else 1
        return cls(precisions, confidence_level(level), unit, cells)

    @property
    def width(self) -> float:
        """Standard errors on either side."""
        return steady_width(self.precisions, (1 - self.level) / self.counts)

    def half(self, estimate: Estimate) -> float:
        """How far the truth may be from each value of an estimate: the bar's half, and a step for integer noise."""
        if estimate.precision not in self.precisions:
            raise InvalidValue("the estimate has a precision that was not planned; use the ladder of these error bars.")
        return self.width * estimate.std + up(self.unit)

    def around(self, estimate: Estimate) -> tuple[Floats, Floats]:
        """The lower and the upper ends."""
        half = self.half(estimate)
        return estimate.values - half, estimate.values + half


@lru_cache(maxsize=64)
def steady_width(precisions: Sequence[Fraction], miss: Fraction) -> float:
    """The c with P(|u_i| > c for some i) = miss, u_i the errors of estimates of these precisions in standard errors.

    They are a Gauss-Markov chain, u_{i+1} = r·u_i + √(1−r²)·z with r² = T_i/T_{i+1}. Its density on [−c, c] is
    carried from level to level by Gauss-Legendre quadrature.
    """
    chance = float(miss)
    ratios = [math.sqrt(up(earlier / later)) for earlier, later in pairwise(precisions)]
    narrow, wide = float(-ndtri(chance / 2)), float(-ndtri(chance / (2 * len(precisions))))
    if not ratios:
        return narrow + RAISED
    from scipy.optimize import brentq  # noqa: PLC0415  slow to load, and rarely needed

    found = brentq(
        lambda width: missed(width, ratios) - chance, narrow * (1 - RAISED), wide * (1 + RAISED), xtol=RAISED
    )
    return float(found) + 2 * RAISED


def missed(width: float, ratios: Sequence[float]) -> float:
    """The chance that the chain leaves [−width, width], for correlations of its neighbours."""
    narrowest = min(math.sqrt(1 - ratio * ratio) for ratio in ratios)
    nodes, weights = np.polynomial.legendre.leggauss(NODES + math.ceil(PER_KERNEL * width / narrowest / 4))
    places, weights = width * nodes, width * weights
    density = np.exp(-(places**2) / 2) / math.sqrt(2 * math.pi)
    for ratio in ratios[:-1]:
        spread = math.sqrt(1 - ratio * ratio)
        kernel = np.exp(-(((places[:, None] - ratio * places[None, :]) / spread) ** 2) / 2)
        density = kernel @ (weights * density) / (spread * math.sqrt(2 * math.pi))
    last = math.sqrt(1 - ratios[-1] ** 2)
    stays = ndtr((width - ratios[-1] * places) / last) - ndtr((-width - ratios[-1] * places) / last)
    return 1 - float(weights @ (density * stays))
