"""A linear head by a few full-batch gradient steps on centred features: no sampling, no learning rate to find.

The first step from zero weights moves along the noisy sum of each class, which is the head of class means; each later
one corrects it where it is wrong.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from math import ceil, hypot, isqrt
from typing import ClassVar, final

from expost.accounting.claim import Budget, Promise
from expost.accounting.descent import Descent
from expost.errors import InvalidValue
from expost.ledger import Fact
from expost.noise import Floats, Noise
from expost.private import Neighbours
from expost.release import Past
from expost.rules import Due, Recorded
from expost.training.head.arrays import Arrays, InNumpy
from expost.training.head.centre import RADIUS, Centre
from expost.training.head.gradient import IntegerSums, Summation
from expost.training.head.labelled import Labelled
from expost.training.head.mechanism import Head, Told, Trained
from expost.training.head.optimizer import Momentum
from expost.training.schedule import steps_due

STEPS = 4
"""Gradient steps per release: fewer leave the head at its class means, more divide the budget too finely."""
KEPT = 0.8
"""What a release keeps of the weights of the one before, whose noise was larger."""
BIAS = 0.3
"""The constant feature that makes the bias, beside centred features of length RADIUS at most."""
LEARNING_RATE = 40 * BIAS**2
"""Of softmax regression on features in units of BIAS, per record."""
REACH = hypot(RADIUS / BIAS, 1)
"""The length of a record in these units, which its gradient is clipped to."""
FINENESS = 2**32
"""Steps to 1 of a noise multiplier."""


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class FullBatch:
    """Noisy gradient steps in which every record takes part, on features measured from a released centre.

    A budget buys ``steps`` of them, each with the noise that an even share of it calls for: plain Gaussian releases,
    so a run of any number of budgets has the exact Gaussian profile. Without a ``centre`` it has a price only.

    Uses: integer noise under the Gaussian profile; noisy gradient descent.
    """

    width: int
    classes: int
    centre: Centre | None
    steps: int = STEPS
    summation: Summation = field(default_factory=IntegerSums)
    arrays: Arrays = field(default_factory=InNumpy)
    told: Told | None = None
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    name: ClassVar[str] = "FullBatch"

    def __post_init__(self) -> None:
        self._head(Fraction(1))  # refuses what is too large

    @property
    def floating(self) -> bool:
        """Whether the noise is drawn in floating point."""
        return self.summation.floating

    def promise(self, budget: Budget) -> Promise:
        """What the steps cost, which is the budget but for the rounding of the noise multiplier."""
        return self._descent(budget).promise(self.steps)

    def facts(self, budget: Budget) -> Mapping[str, Fact]:
        """Steps and noise: enough to recompute the cost."""
        return {
            "steps": self.steps,
            "rate": "1",
            "noise multiplier": str(self._descent(budget).noise_multiplier),
            "noise": "floating-point Gaussian" if self.floating else "exact discrete Gaussian",
        }

    @staticmethod
    def rule(line: Recorded) -> Due:
        """Steps and noise give the curve."""
        due, steps, noise = steps_due(line), line.whole("steps"), line.fraction("noise multiplier")
        return Due(due.curve, due.floating, lambda budget: multiplier(budget.rho, steps) == noise)

    def sample(self, data: Labelled, budget: Budget, past: Past[Trained], noise: Noise) -> Trained:
        """Go on from most of the last release."""
        assert self.centre is not None  # a price alone is never run
        head, before = self._head(self._descent(budget).noise_multiplier), None
        if past.newest is not None:
            last = past.newest.value
            before = Trained(KEPT * last.weights, last.moments, last.steps)
        return head.train(data, self.steps, before, noise, seen=partial(self.centre.seen, unit=BIAS))

    def weights(self, trained: Trained) -> Floats:
        """A row for each class on features as they were before centring, the bias last, at a scale of its own."""
        assert self.centre is not None
        return self.centre.undone(trained.weights[:, :-1] / BIAS, trained.weights[:, -1])

    def _descent(self, budget: Budget) -> Descent:
        return Descent(Fraction(1), multiplier(budget.rho, self.steps))

    def _head(self, noise: Fraction) -> Head:
        return Head(
            width=self.width,
            classes=self.classes,
            descent=Descent(Fraction(1), noise),
            clip=REACH,
            batch=1.0 if self.centre is None else self.centre.records,
            optimizer=Momentum(LEARNING_RATE, 0.0),
            summation=self.summation,
            arrays=self.arrays,
            told=self.told,
            neighbours=self.neighbours,
        )


def multiplier(rho: Fraction, steps: int) -> Fraction:
    """The noise over the clipping norm at which this many steps cost ρ together, rounded up to a multiple of 1/2³²."""
    if steps < 1:
        raise InvalidValue(f"steps is {steps}; take at least one.")
    return Fraction(isqrt(ceil(steps * FINENESS**2 / (2 * rho)) - 1) + 1, FINENESS)
