"""What goes on record of noisy gradient steps on a module: public numbers alone, so that an audit needs no torch."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

from expost.accounting.claim import Budget, Promise
from expost.accounting.descent import Descent
from expost.ledger import Fact
from expost.private import Neighbours


@final
@dataclass(frozen=True, slots=True)
class ModuleSteps:
    """Steps at one rate and noise, with the clip and the public number of records that the rate rests on."""

    descent: Descent
    clip: Fraction
    records: int
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
