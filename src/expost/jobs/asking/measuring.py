"""Measuring: tallies measured step by step on one body of data, and what all steps so far say of each."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from threading import RLock
from typing import Any, ClassVar, TypeAlias, final

import numpy as np

from expost.accounting.claim import Budget, Promise
from expost.accounting.gaussian import SMOOTHING_VARIANCE
from expost.jobs.asking.consistent import consistent_cells
from expost.jobs.asking.estimates import NoisyCells
from expost.jobs.asking.joint import Joint, fold
from expost.jobs.asking.overlap import covers
from expost.jobs.asking.planning import REFINED
from expost.jobs.asking.query import Quantile, Query
from expost.jobs.asking.question import AskRecipe
from expost.jobs.asking.sharing import measurable
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
"""Takes what was measured of all tallies, to be stored with what it cost."""
Keep: TypeAlias = Callable[[AskRecipe, Mapping[Tally, Estimate], float, Sequence[int], bool], None]
"""The same, with what was asked, the width of error bars and the sizes of small groups that it will be told by.

And with whether the run ends there, whatever it sees.
"""
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

    ``most`` is the length, in rows, that persons are weighed down to in each tally. ``fresh`` is what was measured
    since estimates were begun, ``begun`` what they went on from. ``before`` is what earlier answers have released,
    ``keep`` stores what this one does: its own measurements alone, so that nothing is counted twice.
    """

    recipe: AskRecipe
    data: Private[Any]
    odometer: Odometer
    noise: Noise
    most: dict[Tally, int]
    past: Past[object] = field(default_factory=Past)
    fresh: dict[Tally, Estimate] = field(default_factory=dict)
    begun: Mapping[Tally, Estimate] = field(default_factory=dict)
    before: Mapping[Tally, Estimate] = field(default_factory=dict)
    keep: Keep | None = None
    refined: int = 0
    lock: AbstractContextManager[object] = field(default_factory=RLock)

    def __post_init__(self) -> None:
        """Persons are weighed down to the same length in all tallies where that is public."""
        if self.recipe.bounded:
            bound = self.recipe.rows_per_person or 1
            self.most = {**dict.fromkeys(measurable(self.recipe.tallies), bound), **self.most}

    @property
    def spent(self) -> Fraction:
        """The ρ of everything so far; a step that failed counts in full."""
        rho = self.odometer.spent.curve.gaussian
        assert rho is not None  # all steps are Gaussian
        return rho

    @property
    def known(self) -> dict[Tally, Estimate]:
        """What estimates began from and what was measured since."""
        return pool_estimates(self.begun, self.fresh)

    @property
    def share(self) -> float:
        """What the next measurement that refines an answer may miss, of all that error bars may."""
        return REFINED * 0.5**self.refined

    def forget(self, known: Mapping[Tally, Estimate] | None = None) -> None:
        """Begin new estimates, which do not depend on what chose how precise they will be; or go on from some."""
        self.begun, self.fresh = dict(known or {}), {}

    def storing(self, width: float, sizes: Sequence[int], *, last: bool = True) -> Store | None:
        """What stores a measurement that an answer is told by; ``last`` unless another follows if it falls short."""
        keep, recipe = self.keep, self.recipe
        return None if keep is None else lambda known: keep(recipe, known, width, sizes, last)

    def measure(
        self, shares: Mapping[Tally, float], *, to: Fraction, store: Store | None = None, anew: bool = False
    ) -> None:
        """Measure tallies in proportion to their shares, in one step that takes the total there exactly.

        ``store`` is handed what was measured of all tallies, before that is captured. ``anew`` forgets what was known,
        but only once there is something in its place.
        """
        joint = Joint.of(self.recipe, shares, self.most)
        earlier = {} if anew else self.fresh

        def handed(found: Measurement) -> None:
            if store is not None:
                store(_refined(earlier, joint.apart(found)))

        found = joint.apart(self.step(joint.statistic, to=to, store=handed))
        if anew:
            self.forget()
        self.fresh = _refined(earlier, found)

    def step(
        self, statistic: Statistic[Any], *, to: Fraction, store: Callable[[Measurement], None] = lambda found: None
    ) -> Measurement:
        """One release of a statistic that takes the total there exactly.

        Integer noise of variance σ² is stated at Δ²/(2(σ²−3)), which is solved for σ².
        """
        squared = statistic.l2_squared * statistic.spacing**2
        variance = squared / (2 * (to - self.spent)) + SMOOTHING_VARIANCE
        budget = Budget(ALPHA * squared / (2 * variance), ALPHA)
        found = self.odometer.spend(Stored(Gaussian(statistic), store), self.data, budget, Past(), self.noise)
        self.past = self.past.then(found)
        return found.value

    def cells(self, tally: Tally) -> NoisyCells | None:
        """What is known of a tally, in rows: its own measurements and those that it is a sum of, by precision."""
        schema, found = self.recipe.schema, []
        for each, estimate in self.known.items():
            if each == tally or covers(schema, each, tally):
                scale = each.per_row(schema)
                values, folded = fold(self.recipe, each, tally, estimate.values / scale)
                found.append((values, float(estimate.precision) * scale**2 / folded))
        if not found:
            return None
        precision = math.fsum(weight for _, weight in found)
        values = sum((values * (weight / precision) for values, weight in found), np.zeros(tally.cells(schema)))
        # A step of the grid more than the noise of integers: their sums are not quite normal.
        return NoisyCells(tally, values, math.sqrt(1 / precision) + 1 / tally.per_row(schema))

    def consistent_cells(self) -> dict[Query, NoisyCells]:
        """What is known of each question, such that answers agree in what they have in common.

        A quantile is looked up in sums of cells. Their errors are not independent, and no sum of them has more noise
        than if they were as noisy as before.
        """
        told, found = consistent_cells(self.recipe, self.known), dict[Query, NoisyCells]()
        for query in (each.query for each in self.recipe.questions):
            cells = told[Tally.of(query)]
            looked_up = isinstance(query.measure, Quantile)
            found[query] = replace(cells, std=self.known_cells(cells.tally).std) if looked_up else cells
        return found

    def known_cells(self, tally: Tally) -> NoisyCells:
        """The same of a tally that was measured, or follows from one that was."""
        found = self.cells(tally)
        assert found is not None
        return found


def pool_estimates(one: Mapping[Tally, Estimate], other: Mapping[Tally, Estimate]) -> dict[Tally, Estimate]:
    """What two bodies of independent measurements say of each tally, by their precisions."""
    found = dict(one)
    for tally, estimate in other.items():
        earlier = found.get(tally)
        found[tally] = estimate if earlier is None else _mean(earlier, estimate)
    return found


def _mean(one: Estimate, other: Estimate) -> Estimate:
    precision = one.precision + other.precision
    weight = float(other.precision / precision)
    return Estimate((1 - weight) * one.values + weight * other.values, precision)


def _refined(earlier: Mapping[Tally, Estimate], fresh: Mapping[Tally, Measurement]) -> dict[Tally, Estimate]:
    return pool_estimates(earlier, {tally: Estimate(each.values, 1 / each.variance) for tally, each in fresh.items()})
