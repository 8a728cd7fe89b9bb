"""Noisy gradient steps in public numbers alone: what they cost, and what goes on record of them, without torch."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

from expost.accounting.claim import Budget, Promise
from expost.accounting.descent import Descent
from expost.ledger import Fact
from expost.private import Neighbours
from expost.rules import Due, Recorded

CARRIED = "Carried"
"""The name by which a process puts on its record what earlier ones spent; the class itself needs torch."""


@final
@dataclass(frozen=True, slots=True)
class Steps:
    """Steps at one rate and noise, as far as their price goes."""

    descent: Descent

    def promise(self, budget: Budget) -> Promise:
        """What the steps cost that the budget pays for."""
        return self.descent.promise(self.descent.steps(budget))


@final
@dataclass(frozen=True, slots=True)
class ModuleSteps:
    """Steps at one rate and noise, with the clip and the public number of records that the rate rests on."""

    descent: Descent
    clip: Fraction
    records: int
    name: ClassVar[str] = "ModuleDescent"
    neighbours: ClassVar[Neighbours] = Neighbours.ADD_REMOVE
    floating: ClassVar[bool] = True

    def promise(self, budget: Budget) -> Promise:
        """What the steps cost that the budget pays for."""
        return self.descent.promise(self.descent.steps(budget))

    def facts(self, budget: Budget) -> Mapping[str, Fact]:
        """Steps, rate and noise: enough to recompute the cost; the rate rests on a public number of records."""
        return {
            "steps": self.descent.steps(budget),
            "rate": str(self.descent.rate),
            "noise multiplier": str(self.descent.noise_multiplier),
            "clip": str(self.clip),
            "public number of records": self.records,
            "noise": "floating-point Gaussian",
        }

    @staticmethod
    def rule(line: Recorded) -> Due:
        """Steps, rate and noise give the curve."""
        return steps_due(line)


def steps_due(line: Recorded) -> Due:
    """What steps of noisy gradient descent cost at every order, by their number, their rate and their noise.

    Uses: Poisson-subsampled Gaussian.
    """
    descent, steps = Descent(line.fraction("rate"), line.fraction("noise multiplier")), line.whole("steps")
    floating = str(line.facts["noise"]).startswith("floating")
    return Due(descent.promise(steps).curve, floating, lambda budget: descent.steps(budget) == steps)
