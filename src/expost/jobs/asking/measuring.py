"""Measuring: tallies measured step by step on one body of data, and what all steps so far say of each."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias, final

import numpy as np

from expost.accounting.claim import Budget
from expost.accounting.gaussian import SMOOTHING_VARIANCE
from expost.jobs.asking.estimates import NoisyCells
from expost.jobs.asking.planning import FIRST, covers
from expost.jobs.asking.question import AskRecipe
from expost.jobs.asking.tallies import Tally
from expost.mechanisms.brownian import Estimate
from expost.mechanisms.gaussian import Gaussian, Measurement
from expost.noise import Floats, Integers, Noise
from expost.odometer import Odometer
from expost.private import Private
from expost.release import Past
from expost.statistic import Statistic
from expost.tabular.persons import Rows

Progress: TypeAlias = Callable[[str], None]
"""Hears what is being done."""
FACTOR = 2**10
"""What the tally that needs the least noise is multiplied by, where there are several."""
ALPHA = Fraction(2)
"""The order that budgets are written at; the noise depends on ρ alone."""


@final
@dataclass(frozen=True, slots=True)
class Joint:
    """Several tallies as one statistic, each multiplied by a whole number: the larger, the less noise it has."""

    recipe: AskRecipe
    parts: tuple[tuple[Tally, int, int], ...]
    """Tally, factor, and the length in rows that persons are weighed down to."""

    @classmethod
    def of(cls, recipe: AskRecipe, shares: Mapping[Tally, float], most: Mapping[Tally, int]) -> "Joint":
        """Such that each tally costs its share of the whole, nearly."""
        wanted = {tally: share for tally, share in shares.items() if share > 0}
        ratios = {
            tally: math.sqrt(share) / tally.scale(recipe.schema, most=most[tally]) for tally, share in wanted.items()
        }
        largest = max(ratios.values())
        finest = FACTOR if len(ratios) > 1 else 1
        factors = {tally: max(1, round(finest * ratio / largest)) for tally, ratio in ratios.items()}
        return cls(recipe, tuple((tally, factor, most[tally]) for tally, factor in factors.items()))

    @property
    def statistic(self) -> Statistic[Any]:
        """All cells, one tally after the other.

        Implements: several tallies at once.
        """
        schema = self.recipe.schema
        each = [(tally.statistic(schema, most=most), factor) for tally, factor, most in self.parts]
        l2_squared = sum((one.l2_squared * factor**2 for one, factor in each), Fraction(0))
        l1 = sum((one.l1 * factor for one, factor in each), Fraction(0))
        size = sum(math.prod(one.shape) for one, _ in each)
        name = "; ".join(one.name for one, _ in each)

        def compute(rows: Rows) -> Integers:
            return np.concatenate([one.evaluate(rows) * factor for one, factor in each])

        return Statistic(compute, (size,), l2_squared, l1, schema.neighbours, name)

    def apart(self, found: Measurement) -> dict[Tally, Measurement]:
        """What was measured of each tally, in its own steps."""
        ends = np.cumsum([tally.cells(self.recipe.schema) for tally, _, _ in self.parts])[:-1]
        values = np.split(found.values, ends)
        return {
            tally: Measurement(each / factor, found.variance / factor**2)
            for (tally, factor, _), each in zip(self.parts, values, strict=True)
        }


@final
@dataclass
class Measuring:
    """What has been measured of each tally since it was last forgotten; all of it stays on the bill.

    ``most`` is the length, in rows, that persons are weighed down to in each tally. ``spent`` is the ρ of the Gaussian
    profile of everything so far.
    """

    recipe: AskRecipe
    data: Private[Any]
    odometer: Odometer
    noise: Noise
    most: dict[Tally, int]
    spent: Fraction = Fraction(0)
    past: Past[object] = field(default_factory=Past)
    known: dict[Tally, Estimate] = field(default_factory=dict)
    refined: int = 0

    @property
    def share(self) -> float:
        """What the next measurement that refines an answer may miss, of all that error bars may."""
        return (1 - FIRST) / 2 ** (self.refined + 2)

    def forget(self) -> None:
        """Begin new estimates, which do not depend on what chose how precise they will be."""
        self.known.clear()

    def measure(self, shares: Mapping[Tally, float], *, to: Fraction) -> None:
        """Measure tallies in proportion to their shares, in one step that takes the total there exactly."""
        joint = Joint.of(self.recipe, shares, self.most)
        found = self.step(joint.statistic, to=to)
        for tally, fresh in joint.apart(found).items():
            before = self.known.get(tally)
            self.known[tally] = Estimate(fresh.values, 1 / fresh.variance) if before is None else before.refine(fresh)

    def step(self, statistic: Statistic[Any], *, to: Fraction) -> Measurement:
        """One release of a statistic that takes the total there exactly.

        Integer noise of variance σ² is stated at Δ²/(2(σ²−3)), which is solved for σ².
        """
        variance = statistic.l2_squared / (2 * (to - self.spent)) + SMOOTHING_VARIANCE
        budget = Budget(ALPHA * statistic.l2_squared / (2 * variance), ALPHA)
        found = self.odometer.spend(Gaussian(statistic), self.data, budget, Past(), self.noise)
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

    def known_cells(self, tally: Tally) -> NoisyCells:
        """The same of a tally that was measured, or follows from one that was."""
        found = self.cells(tally)
        assert found is not None
        return found


def fold(recipe: AskRecipe, finer: Tally, tally: Tally, values: Floats) -> tuple[Floats, int]:
    """The cells of a tally as sums of those of a finer one, and how many make one."""
    if finer == tally:
        return values, 1
    sizes = [recipe.schema[name].size for name in finer.by]
    gone = tuple(place for place, name in enumerate(finer.by) if name not in tally.by)
    kept = [name for name in finer.by if name in tally.by]
    summed = values.reshape(sizes).sum(axis=gone).transpose([kept.index(name) for name in tally.by])
    return summed.ravel(), math.prod(sizes[place] for place in gone)
