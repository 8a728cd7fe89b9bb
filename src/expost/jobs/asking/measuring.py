"""Measuring: tallies measured step by step on one body of data, and what all steps so far say of each."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias, final

import numpy as np

from expost.accounting.claim import Budget, Promise
from expost.accounting.gaussian import SMOOTHING_VARIANCE
from expost.jobs.asking.estimates import NoisyCells
from expost.jobs.asking.joint import Joint, fold, unfold
from expost.jobs.asking.planning import FIRST, covers
from expost.jobs.asking.question import AskRecipe
from expost.jobs.asking.tallies import Tally
from expost.ledger import Fact
from expost.mechanisms.brownian import Estimate
from expost.mechanisms.gaussian import Gaussian, Measurement
from expost.noise import Noise
from expost.odometer import Odometer
from expost.private import Neighbours, Private
from expost.release import Past
from expost.statistic import Statistic

Store: TypeAlias = Callable[[Mapping[Tally, Estimate]], None]
"""Takes what is known of all tallies, to be stored with what it cost."""
Keep: TypeAlias = Callable[[Mapping[Tally, Estimate], float, Sequence[int]], None]
"""The same, with the width of error bars and the sizes of small groups that the answer will be told by."""
Progress: TypeAlias = Callable[[str], None]
"""Hears what is being done."""
ALPHA = Fraction(2)
"""The order that budgets are written at; the noise depends on ρ alone."""


@final
@dataclass(frozen=True)
class Stored:
    """A measurement that is handed on before its bill is captured, so that both are stored together."""

    measure: Gaussian[Any]
    store: Callable[[Measurement], None]
    name: ClassVar[str] = Gaussian.name
    floating: ClassVar[bool] = Gaussian.floating

    @property
    def neighbours(self) -> Neighbours:
        """The measurement's."""
        return self.measure.neighbours

    def promise(self, budget: Budget) -> Promise:
        """The measurement's."""
        return self.measure.promise(budget)

    def facts(self, budget: Budget) -> Mapping[str, Fact]:
        """The measurement's."""
        return self.measure.facts(budget)

    def sample(self, data: Any, budget: Budget, past: Past[Measurement], noise: Noise) -> Measurement:
        """The measurement, once it is handed on."""
        found = self.measure.sample(data, budget, past, noise)
        self.store(found)
        return found


@final
@dataclass
class Measuring:
    """What has been measured of each tally since it was last forgotten; all of it stays on the bill.

    ``most`` is the length, in rows, that persons are weighed down to in each tally. ``spent`` is the ρ of the Gaussian
    profile of everything so far. ``before`` is what earlier answers have released, ``keep`` stores what this one does.
    """

    recipe: AskRecipe
    data: Private[Any]
    odometer: Odometer
    noise: Noise
    most: dict[Tally, int]
    spent: Fraction = Fraction(0)
    past: Past[object] = field(default_factory=Past)
    known: dict[Tally, Estimate] = field(default_factory=dict)
    before: Mapping[Tally, Estimate] = field(default_factory=dict)
    keep: Keep | None = None
    refined: int = 0

    @property
    def share(self) -> float:
        """What the next measurement that refines an answer may miss, of all that error bars may."""
        return (1 - FIRST) * 0.5 ** (self.refined + 2)

    def forget(self, known: Mapping[Tally, Estimate] | None = None) -> None:
        """Begin new estimates, which do not depend on what chose how precise they will be; or go on from some."""
        self.known = dict(known or {})

    def storing(self, width: float, sizes: Sequence[int]) -> Store | None:
        """What stores a measurement that an answer is told by."""
        keep = self.keep
        return None if keep is None else lambda known: keep(known, width, sizes)

    def measure(self, shares: Mapping[Tally, float], *, to: Fraction, store: Store | None = None) -> None:
        """Measure tallies in proportion to their shares, in one step that takes the total there exactly.

        ``store`` is handed what is then known of all tallies, before that is captured.
        """
        joint = Joint.of(self.recipe, shares, self.most)

        def handed(found: Measurement) -> None:
            if store is not None:
                store(self._with(joint.apart(found)))

        self.known = self._with(joint.apart(self.step(joint.statistic, to=to, store=handed)))

    def _with(self, fresh: Mapping[Tally, Measurement]) -> dict[Tally, Estimate]:
        """What is known once these are measured too."""
        known = dict(self.known)
        for tally, found in fresh.items():
            before = known.get(tally)
            known[tally] = Estimate(found.values, 1 / found.variance) if before is None else before.refine(found)
        return known

    def step(
        self, statistic: Statistic[Any], *, to: Fraction, store: Callable[[Measurement], None] = lambda found: None
    ) -> Measurement:
        """One release of a statistic that takes the total there exactly.

        Integer noise of variance σ² is stated at Δ²/(2(σ²−3)), which is solved for σ².
        """
        variance = statistic.l2_squared / (2 * (to - self.spent)) + SMOOTHING_VARIANCE
        budget = Budget(ALPHA * statistic.l2_squared / (2 * variance), ALPHA)
        found = self.odometer.spend(Stored(Gaussian(statistic), store), self.data, budget, Past(), self.noise)
        self.past, self.spent = self.past.then(found), to
        return found.value

    def cells(self, tally: Tally) -> NoisyCells | None:
        """What is known of a tally, in rows: its own measurements and those that it is a sum of, by precision."""
        schema, found = self.recipe.schema, []
        for each, estimate in self.known.items():
            if each == tally or covers(each, tally):
                scale = each.per_row(schema)
                values, folded = fold(self.recipe, each, tally, estimate.values / scale)
                found.append((values, float(estimate.precision) * scale**2 / folded))
        if not found:
            return None
        precision = math.fsum(weight for _, weight in found)
        values = sum((values * (weight / precision) for values, weight in found), np.zeros(tally.cells(schema)))
        # A step of the grid more than the noise of integers: their sums are not quite normal.
        return NoisyCells(tally, values, math.sqrt(1 / precision) + 1 / tally.per_row(schema))

    def consistent_cells(self, tally: Tally) -> NoisyCells:
        """The same, with sums that agree with every coarser count that was asked for beside it.

        What these know better is spread evenly, which makes no error larger than its noise was.
        """
        found = self.known_cells(tally)
        values = found.values
        for coarser in reversed(self.recipe.tallies):  # the fewest groups first
            if covers(tally, coarser):
                sums, folded = fold(self.recipe, tally, coarser, values)
                lacking = (self.consistent_cells(coarser).values - sums) / folded
                values = values + unfold(self.recipe, coarser, tally, lacking)
        return replace(found, values=values)

    def known_cells(self, tally: Tally) -> NoisyCells:
        """The same of a tally that was measured, or follows from one that was."""
        found = self.cells(tally)
        assert found is not None
        return found
