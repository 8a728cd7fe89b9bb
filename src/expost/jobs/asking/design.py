"""Design: how precisely each of some margins is measured, so that all that was asked for is known at the least cost.

A margin that is measured tells of all that are sums of it, and of what others have in common with it. The least cost is
a convex problem. It is solved by steps that are the same everywhere, since auditors work out the price again.
"""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from expost.jobs.asking.margins import Margins
from expost.jobs.asking.overlap import Axes, Axis
from expost.noise import Floats

ROUNDS = 300
"""Steps towards the least cost: further ones save less than a thousandth."""
DROPPED = (0.05, 0.01, 0.001)
"""Parts of the largest share of the cost below which a margin may as well not be measured."""
WORTH = 1e-3
"""The share of the cost that fewer margins may cost more."""
SAME = 1e-9
"""What rounding makes of the variance of a margin that is measured exactly as precisely as it is wanted."""


@final
@dataclass(frozen=True, slots=True)
class MarginGoal:
    """A margin whose cells are to have at most a variance; ``sums`` asks for it in sums of many cells, too."""

    margin: Axes
    variance: float
    sums: bool

    def weights(self, margins: Margins) -> dict[Axes, float]:
        """The part of the variance that is used up, each weight over the precision of the total from that margin."""
        if self.sums:
            return {self.margin: 1 / (margins.cells(self.margin) * self.variance)}
        part: Axis | None = next((axis for axis in self.margin if not isinstance(axis, str)), None)
        return {each: weight / self.variance for each, weight in margins.weights(self.margin, part).items()}


@final
@dataclass(frozen=True)
class Design:
    """The margins that may be measured, what each costs per cell and precision, and what is wanted."""

    margins: Margins
    measured: tuple[Axes, ...]
    costs: Floats
    wanted: tuple[MarginGoal, ...]

    @property
    def needs(self) -> Floats:
        """For each that is wanted the weights of all margins."""
        found = [each.weights(self.margins) for each in self.wanted]
        return np.array([[each.get(margin, 0.0) for margin in self.margins.elements] for each in found])

    @property
    def tells(self) -> NDArray[np.float64]:
        """Which margins are sums of which measured ones."""
        return np.array([[float(each <= one) for one in self.measured] for each in self.margins.elements])

    def missing(self, precisions: Floats) -> float:
        """What precisions must be multiplied by to meet everything; infinite where that does not help."""
        cells = np.array([self.margins.cells(each) for each in self.measured], dtype=np.float64)
        totals, needs = self.tells @ (precisions / cells), self.needs
        if (totals[(needs > 0).any(axis=0)] <= 0).any():
            return np.inf
        return float((needs @ (1 / np.where(totals > 0, totals, 1.0))).max())

    def cheapest(self) -> Floats:
        """The precision of each margin at the least cost: with few margins if that costs hardly more."""
        shares = self._shares(np.full(len(self.measured), 1 / len(self.measured)))
        found = [self._met(shares)]
        for part in DROPPED:
            fewer = np.where(shares >= part * shares.max(), shares, 0.0)
            if np.isfinite(self.missing(fewer)):
                found.append(self._met(self._shares(fewer)))
        found += [each for each in (self._finest_first(),) if self.missing(each) <= 1 + SAME]
        least = min(map(self.cost, found))
        return min(
            (each for each in found if self.cost(each) <= least * (1 + WORTH)),
            key=lambda each: (int((each > 0).sum()), self.cost(each)),
        )

    def cost(self, precisions: Floats) -> float:
        """What these precisions cost together."""
        return float((self.costs * precisions).sum())

    def _met(self, shares: Floats) -> Floats:
        precisions = shares / self.costs
        return precisions * self.missing(precisions)

    def _finest_first(self) -> Floats:
        """The precisions where each is measured as far as finer ones do not tell of it, the most cells first."""
        own, cells = np.zeros(len(self.measured)), [self.margins.cells(each) for each in self.measured]
        for place in sorted(range(len(own)), key=lambda each: -cells[each]):
            margin = self.measured[place]
            needed = max((1 / each.variance for each in self.wanted if each.margin == margin), default=0.0)
            free = (
                own[other] * cells[place] / cells[other] for other, finer in enumerate(self.measured) if margin < finer
            )
            own[place] = max(0.0, needed - sum(free))
        return own

    def _shares(self, shares: Floats) -> Floats:
        """The shares of the cost at which the worst of what is wanted is best, by multiplicative steps.

        Implements: least cost of overlapping answers.
        """
        cells = np.array([self.margins.cells(each) for each in self.measured], dtype=np.float64)
        tells, needs = self.tells, self.needs
        kept = needs.any(axis=0)
        tells, needs = tells[kept] / (self.costs * cells), needs[:, kept]
        urgency = np.full(len(needs), 1 / len(needs))
        for _ in range(ROUNDS):
            noise = 1 / (tells @ shares)
            urgency = urgency * np.sqrt(needs @ noise)
            urgency = urgency / urgency.sum()
            shares = shares * np.sqrt(tells.T @ ((urgency @ needs) * noise**2))
            shares = shares / shares.sum()
        return shares
