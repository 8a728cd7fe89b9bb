"""Planned jumps: the pledge of a run that looks coarsely first and then goes, in one step, to the level it needs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import final

import numpy as np
from scipy.special import erfcx, ndtr, ndtri

from expost.accounting.claim import Promise, Spent
from expost.accounting.curve import AdpEpsilon, Floats
from expost.accounting.gaussian import EPSILON_SLACK, gaussian_epsilon
from expost.accounting.pledge import promised
from expost.accounting.stops import PlannedStops, Stop
from expost.errors import BudgetExceeded, InvalidValue
from expost.numerics import exact, probability, up

JUMP_SHARE = 0.9
"""The part of δ for totals reached by a jump; the rest is for all others."""
CLOSEST = Fraction(1001, 1000)
"""Stops nearer than this ratio are refused: they gain nothing, and the chords below would add up."""
LEAST, MOST = Fraction(1, 2**30), Fraction(2**9)
"""The range of ρ, at the first decision and at the last stop: floats lose less than ``ROUNDING`` within it."""
ROUNDING = 1e-6
"""Relative slack on the worst δ: at most 2⁻⁵² over the step of the grid of losses is lost per stop, 1e−8 in all."""
NODES = 160
"""Points of the grid. Fewer are as valid; with these the worst δ for eighty stops at 1e−5 is 1 % too large."""
NEGLECTED = 1e-4
"""The share of δ that may be lost to what lies above the grid, which counts as failed."""


@final
@dataclass(frozen=True, slots=True)
class PlannedJumps:
    """Finitely many stops that a run may jump to, once, from a total of at most ``lead`` times the stop's.

    A run that lands exactly on stop i chose it when its loss had come at most ``lead`` of its way. What a rule gains by
    that choice is at most the value of an optimal stopping problem, so that the stops need not share δ evenly: all are
    stated by the Gaussian profile at one fraction of δ that suffices. Any other total is stated by planned stops over
    the same promises, with the δ that is left. That only a jump ends exactly on a stop, the odometer enforces.

    Implements: planned jumps.
    Uses: planned stops; exact Gaussian profile.
    """

    promises: tuple[Promise, ...]
    delta: float
    lead: Fraction
    table: tuple[Stop, ...] = field(init=False)
    others: PlannedStops = field(init=False)

    def __post_init__(self) -> None:
        share = probability(self.delta, "delta") * JUMP_SHARE
        object.__setattr__(self, "lead", exact(self.lead, "lead"))
        if not 0 < self.lead < 1:
            raise InvalidValue(f"the lead is {up(self.lead):g}; it must lie strictly between 0 and 1.")
        rhos = _profiles(self.promises, self.lead)
        stated = zip(self.promises, jump_epsilons(rhos, share, self.lead), strict=True)
        object.__setattr__(self, "table", tuple(Stop(each, AdpEpsilon(epsilon), None) for each, epsilon in stated))
        object.__setattr__(self, "others", PlannedStops(self.promises, self.delta - share))

    def epsilon(self, promise: Promise) -> AdpEpsilon:
        """The ε of the jump that ends exactly there, or else of the cheapest stop that covers the run."""
        jumped = self._stop(promised(promise).curve.gaussian)
        return self.others.epsilon(promise) if jumped is None else jumped.epsilon

    def probabilistic(self, promise: Promise) -> AdpEpsilon:
        """The larger bound that the privacy loss itself exceeds with probability δ at most: that of planned stops."""
        return max(PlannedStops(self.promises, self.delta).probabilistic(promise), self.epsilon(promise))

    def require_step(self, totals: Sequence[Spent], after: Spent) -> None:
        """Refuse to end exactly on a stop other than by the first jump of the run, and what is not Gaussian noise."""
        before, rho = totals[-1].curve.gaussian, after.curve.gaussian
        if before is None or rho is None:
            raise BudgetExceeded("planned jumps are stated for Gaussian noise alone; pledge planned stops instead.")
        if self._stop(rho) is None:
            return
        if before > self.lead * rho:
            raise BudgetExceeded(
                f"would end on the planned stop ρ = {up(rho):.6g} from ρ = {up(before):.6g}, more than the lead of "
                f"{up(self.lead):g} times the stop. Spend a little more or less than the stop."
            )
        if any(self._stop(total.curve.gaussian) is not None for total in totals):
            raise BudgetExceeded(
                f"would jump to the planned stop ρ = {up(rho):.6g}, but the run has jumped before. Spend a little more "
                "or less than the stop."
            )

    def _stop(self, rho: Fraction | None) -> Stop | None:
        """The stop that lies exactly there."""
        return next((stop for stop in self.table if stop.promise.curve.gaussian == rho), None)


def _profiles(promises: Sequence[Promise], lead: Fraction) -> tuple[Fraction, ...]:
    """The ρ of the Gaussian profile of each stop, refused unless it has one, and they rise."""
    found = [promise.curve.gaussian for promise in promises]
    rhos = tuple(rho for rho in found if rho is not None)
    if not found or len(rhos) < len(found):
        raise InvalidValue(
            "planned jumps are for Gaussian noise; give at least one promise, each with a Gaussian profile."
        )
    if any(later < CLOSEST * earlier for earlier, later in pairwise(rhos)):
        raise InvalidValue(
            f"planned jumps must rise by a factor of at least {up(CLOSEST):g}; sort them, or give fewer."
        )
    if not (lead * rhos[0] >= LEAST and rhos[-1] <= MOST):
        raise InvalidValue(f"planned jumps must have ρ of at most {up(MOST):g}, and at least {up(LEAST / lead):.3g}.")
    return rhos


@lru_cache(maxsize=64)
def jump_epsilons(rhos: tuple[Fraction, ...], delta: float, lead: Fraction) -> tuple[float, ...]:
    """The ε of each stop: all at the same fraction of δ, at which no rule for jumping exceeds δ."""
    decisions, costs, parts = Decisions.of(rhos, lead, delta), [up(rho) for rho in rhos], 1.0
    while True:
        epsilons = tuple(gaussian_epsilon(cost, delta / parts) for cost in costs)
        worst = decisions.worst(epsilons)
        if worst <= delta:
            return epsilons
        parts *= 1.001 * worst / delta  # would do if the worst δ fell in proportion; a little more, so that this ends


@final
@dataclass(frozen=True, slots=True)
class Decisions:
    """The losses at which a jump to each stop is decided, on a grid, and the law of each given the one before.

    The value of stopping is convex and falls in e^{−L}, so that between two points its chord lies above it, below the
    first point that point does, and above the last one 1: what is computed is never too small.
    """

    rhos: tuple[float, ...]
    lead: float
    nodes: Floats
    ways: tuple[tuple[Floats, Floats], ...]

    @classmethod
    def of(cls, rhos: Sequence[Fraction], lead: Fraction, delta: float, count: int = NODES) -> "Decisions":
        """A grid that reaches far enough for claims at this δ."""
        costs, part = tuple(up(rho) for rho in rhos), float(lead)
        nodes = np.linspace(-1.0, 1.0, count) * -float(ndtri(delta * NEGLECTED / len(costs)))
        times = [0.0, *(2 * part * cost for cost in costs)]
        starts = [np.zeros(1), *[nodes] * (len(costs) - 1)]
        ways = tuple(_way(start, *pair, nodes) for start, pair in zip(starts, pairwise(times), strict=True))
        return cls(costs, part, nodes, ways)

    def worst(self, epsilons: Sequence[float]) -> float:
        """At least Σ_i E[(1 − e^{ε_i−L})⁺; jump to i] under any rule for jumping, by backward induction."""
        value = np.zeros(self.nodes.size)
        for cost, epsilon, (weights, above) in reversed(list(zip(self.rhos, epsilons, self.ways, strict=True))):
            losses = self.lead * cost + math.sqrt(2 * self.lead * cost) * self.nodes
            # The slack is for integer noise, whose laws differ from Gaussian ones by less.
            gain = _hockey_stick(epsilon - EPSILON_SLACK - losses, math.sqrt(2 * (1 - self.lead) * cost))
            value = weights @ np.maximum(gain, value) + above
        return float(value[0]) * (1 + ROUNDING)


def _hockey_stick(epsilons: Floats, mu: float) -> Floats:
    """Φ(μ/2−ε/μ) − e^ε Φ(−μ/2−ε/μ) at any real ε, written so that small values keep their digits."""
    point = epsilons / mu - mu / 2
    right = np.maximum(point, 0.0)
    tail = np.exp(-(right**2) / 2) / 2 * (erfcx(right / math.sqrt(2)) - erfcx((right + mu) / math.sqrt(2)))
    left = ndtr(-point) - np.exp(np.minimum(epsilons, mu**2 / 2)) * ndtr(-point - mu)
    return np.where(point > 0, tail, left)


def _way(start: Floats, earlier: float, later: float, nodes: Floats) -> tuple[Floats, Floats]:
    """Weights of the value at the nodes of a later time in its expectation given a start, and the chance to lie above.

    Within a cell of mass P and, in the neighbour's law, P' the chord in x = e^{−L} has the mean that keeps both masses.
    """
    root, width = math.sqrt(later), math.sqrt(1 - earlier / later)
    edges = (nodes - math.sqrt(earlier / later) * start[:, None]) / width
    mass, neighbours = _cells(edges), _cells(edges + root * width)
    gap = (later - earlier) / 2 + root * nodes[1:] - (math.sqrt(earlier) * start)[:, None]
    # Where exponentials end, the lower end of the cell gets too little weight: the mean is then too large.
    lower = np.clip((np.exp(np.minimum(gap, 700.0)) * neighbours - mass) / np.expm1(root * np.diff(nodes)), 0.0, mass)
    weights = np.zeros((start.size, nodes.size))
    weights[:, :-1] += lower
    weights[:, 1:] += mass - lower
    weights[:, 0] += ndtr(edges[:, 0])
    return weights, ndtr(-edges[:, -1])


def _cells(edges: Floats) -> Floats:
    """The normal masses between edges, from the nearer tail so that small ones keep their digits."""
    tails = ndtr(-np.abs(edges))
    across = (edges[:, :-1] < 0) & (edges[:, 1:] > 0)
    return np.where(across, 1 - tails[:, :-1] - tails[:, 1:], np.abs(np.diff(tails, axis=1)))
