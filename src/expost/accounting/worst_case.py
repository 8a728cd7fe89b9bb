"""The exact worst case over all stopping rules of a Gaussian ladder with a claimed ε at each rung.

Under X the loss at rung i is L_i = ρ_i + √(2ρ_i)·u_i with u_1 ~ N(0,1), u_{i+1} = c·u_i + s·Z, s² = 1−c² and
c² = ρ_i/ρ_{i+1}. Backwards from the last rung, V_i(u) = max(g_i(u), E V_{i+1}(cu+sZ)), g_i being the gain of
stopping; the worst δ is E V_1(Z). One dimension and the full sensitivity suffice: a smaller shift is a garbling
of the larger.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx, log_ndtr, ndtr

from expost.errors import InvalidValue
from expost.numerics import positive

ACCURACY = 1e-9
"""Relative slack added to the answer; the quadrature below is an order of magnitude better."""

LOWEST, HIGHEST = -9.0, 38.0
"""Range of u: the values are increasing, so the mass below −9 weighs under 1e−18; above 38 there is none."""

CLOSEST = 1.0005
"""Rungs nearer than this ratio are refused: they would need a needlessly fine grid."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)

Floats = NDArray[np.float64]


def worst_case_delta(ladder: Sequence[float], claims: Sequence[float]) -> float:
    """The largest δ, in the approximate notion, that any stopping rule attains against the claims.

    ``ladder`` holds the rungs' ρ, increasing. The value is convex in e^{−L}, the gain (1−e^{b−L})⁺ is linear
    where it is positive, and both are 1 at e^{−L} = 0: so a rung stops above one point, found by bracketing.

    Implements: exact worst case over stopping rules.
    """
    return _worst(ladder, claims, approximate=True)


def worst_case_tail(ladder: Sequence[float], claims: Sequence[float]) -> float:
    """The largest probability, over all stopping rules, that the loss exceeds the claim at the stop.

    Uses: exact worst case over stopping rules.
    """
    return _worst(ladder, claims, approximate=False)


@final
@dataclass(frozen=True, slots=True)
class _Rung:
    """V at one rung: the gain above ``stop``, and below it the continuation value at quadrature nodes."""

    slope: float
    barrier: float
    stop: float
    approximate: bool
    nodes: Floats
    weighted: Floats

    def gain(self, u: Floats) -> Floats:
        """(1−e^{b−L})⁺ at u."""
        return -np.expm1(-self.slope * np.maximum(u - self.barrier, 0.0))

    def expected(self, mean: Floats, std: float) -> Floats:
        """E V(u) for u ~ N(mean, std²)."""
        reach = (mean - self.stop) / std
        total: Floats = ndtr(reach)
        if self.approximate:
            # E[e^{b−L}; u > stop], by completing the square; written so that no large terms cancel.
            x = reach - self.slope * std
            below = np.log(erfcx(np.maximum(-x, 0.0) / math.sqrt(2)) / 2) - reach**2 / 2
            above = self.slope * std * (self.slope * std / 2 - reach) + log_ndtr(np.maximum(x, 0.0))
            total = total - np.exp(np.where(x < 0, below, above) - self.slope * (self.stop - self.barrier))
        if self.nodes.size:
            kernel = np.exp(-(((self.nodes - mean[:, None]) / std) ** 2) / 2)
            total = total + kernel @ self.weighted / (std * math.sqrt(2 * math.pi))
        return total


def _worst(ladder: Sequence[float], claims: Sequence[float], *, approximate: bool) -> float:
    """Backward induction over the rungs."""
    rhos = [float(positive(rho, "a rung's rho")) for rho in ladder]
    if not rhos or len(rhos) != len(claims):
        raise InvalidValue(f"there are {len(rhos)} rungs and {len(claims)} claims; give one claim per rung.")
    if any(not claim >= 0 for claim in claims):
        raise InvalidValue("a claim is negative or NaN; a claimed ε must be at least 0, or infinite.")
    if any(later < CLOSEST * earlier for earlier, later in pairwise(rhos)):
        raise InvalidValue(f"the ladder must rise by a factor of at least {CLOSEST} from rung to rung.")
    kept = [(rho, float(claim)) for rho, claim in zip(rhos, claims, strict=True) if math.isfinite(claim)]
    value: _Rung | None = None
    for i in reversed(range(len(kept))):
        later = kept[i + 1][0] if value else math.inf
        earlier = kept[i - 1][0] if i else 0.0
        value = _rung(kept[i], value, math.sqrt(kept[i][0] / later), 1 - earlier / kept[i][0], approximate)
    if value is None:
        return 0.0
    worst = float(value.expected(np.zeros(1), 1.0)[0])
    # The true value is positive even where the floats end.
    return min(1.0, max(math.ulp(0.0), worst * (1 + ACCURACY)))


def _rung(
    rung: tuple[float, float], after: _Rung | None, correlation: float, incoming: float, approximate: bool
) -> _Rung:
    """One step back: where to stop, and the continuation value below that point."""
    rho, claim = rung
    slope = math.sqrt(2 * rho)
    barrier = (claim - rho) / slope
    nothing = np.empty(0)
    alone = _Rung(slope, barrier, barrier, approximate, nothing, nothing)
    if after is None:
        return alone
    std = math.sqrt(1 - correlation**2)
    stop = _crossing(alone, after, correlation, std) if approximate and barrier < HIGHEST else barrier
    nodes, weights = _grid(stop, min(std, math.sqrt(incoming)))
    return _Rung(slope, barrier, stop, approximate, nodes, weights * after.expected(correlation * nodes, std))


def _crossing(alone: _Rung, after: _Rung, correlation: float, std: float) -> float:
    """The point above the barrier where stopping begins to pay; an error e in it costs only e²."""
    low = max(alone.barrier, LOWEST)
    points = low + np.concatenate([np.zeros(1), np.geomspace(1e-14, 1, 120)]) * (HIGHEST - low)
    for _ in range(5):
        pays = alone.gain(points) >= after.expected(correlation * points, std)
        # Gain and continuation are both 0 at the barrier and both 1 far out; the first crossing is the one.
        first = int(np.argmax(pays[1:])) + 1 if np.any(pays[1:]) else points.size - 1
        points = np.linspace(points[first - 1], points[first], 20)
    return float(points[-1])


def _grid(stop: float, width: float) -> tuple[Floats, Floats]:
    """Gauss–Legendre panels of two kernel widths up to the stop; ten nodes resolve a Gaussian to 1e−11."""
    length = min(stop, HIGHEST) - LOWEST
    if length <= 0:
        return np.empty(0), np.empty(0)
    panels = math.ceil(length / (2 * min(width, 0.5)))
    half = length / panels / 2
    centres = LOWEST + half * (2 * np.arange(panels) + 1)
    nodes = (centres[:, None] + half * _NODES).ravel()
    return nodes, np.tile(half * _WEIGHTS, panels)
