"""Privacy-loss distributions on a grid, every error upwards: sampled Gaussian steps, and plain Gaussian noise.

A distribution is masses at the multiples of a width h, each at least the true one, and a mass whose loss has no bound.
More mass, or mass at a larger loss, only raises δ(ε) = Σ p_j (1 − e^{ε−jh})⁺.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias, final

import numpy as np
from scipy.special import ndtr

from expost.accounting.curve import Floats

ROUNDING = 2.0**-53
CELL_ERROR = 16 * ROUNDING
"""Relative error of what a cell is computed from, in a unit of size: several times what is lost in each formula."""

Masses: TypeAlias = tuple[Floats, Floats]
"""Masses, and for each a bound on its float error."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class LossDistribution:
    """Masses at (start + j)·width, the mass that has no bound, and how far a loss may lie above where its mass is."""

    width: float
    start: int
    masses: Floats
    lost: float
    excess: float

    def __post_init__(self) -> None:
        self.masses.setflags(write=False)

    @property
    def losses(self) -> Floats:
        """Where the masses are."""
        return multiples(self.width, self.start, len(self.masses))


def multiples(width: float, start: int, count: int) -> Floats:
    """Multiples of the width, from that one on."""
    return width * np.arange(start, start + count, dtype=np.float64)


def connect_the_dots(
    width: float, start: int, first: Masses, second: Masses, *, below: float, lost: float, excess: float
) -> LossDistribution:
    """A pair that dominates one of which ln(first/second) in cell j lies between (start+j)·width and the next multiple.

    The mass of a cell goes to its two ends so that both laws keep their mass in it. ``excess`` says how far the
    logarithm may lie outside, since the ends of cells are floats; a bound on all errors is added to each mass.
    ``below`` is the mass under the first law of smaller losses, ``lost`` that of larger ones.

    Implements: connecting the dots.
    """
    (ours, our_errors), (others, other_errors) = first, second
    ends, share = np.exp(multiples(width, start, len(ours))), -math.expm1(-width)
    theirs = ends * others
    errors = our_errors + ends * other_errors + 3 * (excess + CELL_ERROR) * (ours + theirs)
    upper = np.maximum(ours - theirs, 0.0) + errors
    lower = np.maximum(theirs - math.exp(-width) * ours, 0.0) + errors
    masses = (np.append(lower, 0.0) + np.append(0.0, upper)) / share * (1 + CELL_ERROR)
    masses[0] += below
    return LossDistribution(width, start, masses, lost, excess)


@lru_cache(maxsize=128)
def sampled_gaussian(width: float, rate: float, noise: float, reach: int, *, removing: bool) -> LossDistribution:
    """One sampled Gaussian step: (1−q)N(0, z²) + qN(1, z²) against N(0, z²), or the other way round for adding.

    ln(1−q+q e^{(2x−1)/(2z²)}) rises with x; it is followed for ``reach`` standard deviations on either side.

    Uses: connecting the dots.
    """
    low = math.floor(log_ratio(rate, noise, -reach * noise) / width)
    high = math.ceil(log_ratio(rate, noise, reach * noise + 1) / width)
    points = _points(rate, noise, multiples(width, low, high + 1 - low))
    slack = 1 + 1 / noise**2
    null, one = _cells(points / noise, slack), _cells((points - 1) / noise, slack)
    mixed = ((1 - rate) * null[0] + rate * one[0], (1 - rate) * null[1] + rate * one[1])
    excess = CELL_ERROR * (slack + max(abs(low), abs(high)) * width - math.log(rate))
    left = _tail(points[0] / noise), _tail((points[0] - 1) / noise)
    right = _tail(-points[-1] / noise), _tail((1 - points[-1]) / noise)
    if removing:
        below, lost = ((1 - rate) * tail[0] + rate * tail[1] for tail in (left, right))
        return connect_the_dots(width, low, mixed, null, below=below, lost=lost, excess=excess)
    turned, turned_mixed = (null[0][::-1], null[1][::-1]), (mixed[0][::-1], mixed[1][::-1])
    return connect_the_dots(width, -high, turned, turned_mixed, below=right[0], lost=left[0], excess=excess)


@lru_cache(maxsize=128)
def plain_gaussian(width: float, rho: float, reach: int) -> LossDistribution:
    """Gaussian noise of ρ: the loss is N(ρ, 2ρ) under the first law and N(−ρ, 2ρ) under the second.

    Uses: connecting the dots.
    """
    deviation = math.sqrt(2 * rho)
    low, high = math.floor((rho - reach * deviation) / width), math.ceil((rho + reach * deviation) / width)
    points, slack = multiples(width, low, high + 1 - low), 1 + 2 * rho
    first, second = _cells((points - rho) / deviation, slack), _cells((points + rho) / deviation, slack)
    excess = CELL_ERROR * (slack + max(abs(low), abs(high)) * width)
    below, lost = _tail((points[0] - rho) / deviation), _tail((rho - points[-1]) / deviation)
    return connect_the_dots(width, low, first, second, below=below, lost=lost, excess=excess)


def log_ratio(rate: float, noise: float, point: float) -> float:
    """ln(1−q+q e^{(2x−1)/(2z²)}) for a rate below 1."""
    return float(np.logaddexp(math.log1p(-rate), math.log(rate) + (2 * point - 1) / (2 * noise * noise)))


def _points(rate: float, noise: float, losses: Floats) -> Floats:
    """Where that logarithm has these values, in a form that moves them by their last digits; −∞ below the least one."""
    with np.errstate(divide="ignore", over="ignore"):
        near = np.log(np.maximum(np.expm1(losses) + rate, 0.0) / rate)
        small = np.log(np.maximum(np.exp(losses) - (1 - rate), 0.0) / rate)
        large = losses + np.log1p(-(1 - rate) * np.exp(-np.maximum(losses, 0.5))) - math.log(rate)
    exponents = np.where(losses > 0.5, large, np.where(losses < -0.5, small, near))
    points: Floats = noise * noise * exponents + 0.5
    return points


def _cells(points: Floats, slack: float) -> Masses:
    """The mass of N(0, 1) between neighbouring points, and a bound on its error.

    Each is a difference of the nearer tails, which a point's last digits move by x² times as much.
    """
    tails = ndtr(-np.abs(points))
    errors = tails * CELL_ERROR * (slack + np.where(np.isfinite(points), points, 0.0) ** 2)
    across = (points[:-1] < 0) & (points[1:] >= 0)
    masses = np.where(across, 1 - tails[:-1] - tails[1:], np.abs(tails[1:] - tails[:-1]))
    return np.maximum(masses, 0.0), errors[:-1] + errors[1:] + np.where(across, CELL_ERROR, 0.0)


def _tail(point: float) -> float:
    """P(N(0, 1) < point), rounded up."""
    return float(ndtr(point)) * (1 + CELL_ERROR * (1 + min(abs(point), 40.0) ** 2))
