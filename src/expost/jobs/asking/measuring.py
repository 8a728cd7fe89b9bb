"""Measuring: blocks measured step by step on one body of data, and what all steps so far say of each."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias, final

import numpy as np

from expost.accounting.claim import Budget
from expost.accounting.gaussian import SMOOTHING_VARIANCE
from expost.jobs.asking.blocks import Block
from expost.jobs.asking.estimates import NoisyCells
from expost.jobs.asking.planning import covers
from expost.jobs.asking.question import AskRecipe
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
"""What the block that needs the least noise is multiplied by, where there are several."""
ALPHA = Fraction(2)
"""The order that budgets are written at; the noise depends on ρ alone."""


@final
@dataclass(frozen=True, slots=True)
class Joint:
    """Several blocks as one statistic, each multiplied by a whole number: the larger, the less noise it has."""

    recipe: AskRecipe
    parts: tuple[tuple[Block, int, int], ...]
    """Block, factor, and the length in rows that persons are weighed down to."""

    @classmethod
    def of(cls, recipe: AskRecipe, shares: Mapping[Block, float], most: Mapping[Block, int]) -> "Joint":
        """Such that each block costs its share of the whole, nearly."""
        wanted = {block: share for block, share in shares.items() if share > 0}
        ratios = {
            block: math.sqrt(share) / block.scale(recipe.schema, most=most[block]) for block, share in wanted.items()
        }
        largest = max(ratios.values())
        finest = FACTOR if len(ratios) > 1 else 1
        factors = {block: max(1, round(finest * ratio / largest)) for block, ratio in ratios.items()}
        return cls(recipe, tuple((block, factor, most[block]) for block, factor in factors.items()))

    @property
    def statistic(self) -> Statistic[Any]:
        """All cells, one block after the other.

        Implements: several blocks at once.
        """
        schema = self.recipe.schema
        each = [(block.statistic(schema, most=most), factor) for block, factor, most in self.parts]
        l2_squared = sum((one.l2_squared * factor**2 for one, factor in each), Fraction(0))
        l1 = sum((one.l1 * factor for one, factor in each), Fraction(0))
        size = sum(math.prod(one.shape) for one, _ in each)
        name = "; ".join(one.name for one, _ in each)

        def compute(rows: Rows) -> Integers:
            return np.concatenate([one.evaluate(rows) * factor for one, factor in each])

        return Statistic(compute, (size,), l2_squared, l1, schema.neighbours, name)

    def apart(self, found: Measurement) -> dict[Block, Measurement]:
        """What was measured of each block, in its own steps."""
        ends = np.cumsum([block.cells(self.recipe.schema) for block, _, _ in self.parts])[:-1]
        values = np.split(found.values, ends)
        return {
            block: Measurement(each / factor, found.variance / factor**2)
            for (block, factor, _), each in zip(self.parts, values, strict=True)
        }


@final
@dataclass
class Measuring:
    """What has been measured of each block since it was last forgotten; all of it stays on the bill.

    ``most`` is the length, in rows, that persons are weighed down to in each block. ``spent`` is the ρ of the Gaussian
    profile of everything so far.
    """

    recipe: AskRecipe
    data: Private[Any]
    odometer: Odometer
    noise: Noise
    most: dict[Block, int]
    spent: Fraction = Fraction(0)
    past: Past[object] = field(default_factory=Past)
    known: dict[Block, Estimate] = field(default_factory=dict)

    def forget(self) -> None:
        """Begin new estimates, which do not depend on what chose how precise they will be."""
        self.known.clear()

    def measure(self, shares: Mapping[Block, float], *, to: Fraction) -> None:
        """Measure blocks in proportion to their shares, in one step that takes the total there exactly."""
        joint = Joint.of(self.recipe, shares, self.most)
        found = self.step(joint.statistic, to=to)
        for block, fresh in joint.apart(found).items():
            before = self.known.get(block)
            self.known[block] = Estimate(fresh.values, 1 / fresh.variance) if before is None else before.refine(fresh)

    def step(self, statistic: Statistic[Any], *, to: Fraction) -> Measurement:
        """One release of a statistic that takes the total there exactly.

        Integer noise of variance σ² is stated at Δ²/(2(σ²−3)), which is solved for σ².
        """
        variance = statistic.l2_squared / (2 * (to - self.spent)) + SMOOTHING_VARIANCE
        budget = Budget(ALPHA * statistic.l2_squared / (2 * variance), ALPHA)
        found = self.odometer.spend(Gaussian(statistic), self.data, budget, Past(), self.noise)
        self.past, self.spent = self.past.then(found), to
        return found.value

    def cells(self, block: Block) -> NoisyCells | None:
        """What is known of a block, in rows: its own measurements and those that it is a sum of, by precision."""
        schema, found = self.recipe.schema, []
        for each, estimate in self.known.items():
            if each == block or covers(each, block):
                scale = each.per_row(schema)
                values, folded = fold(self.recipe, each, block, estimate.values / scale)
                found.append((values, float(estimate.precision) * scale**2 / folded))
        if not found:
            return None
        precision = math.fsum(weight for _, weight in found)
        values = sum((values * (weight / precision) for values, weight in found), np.zeros(block.cells(schema)))
        # A step of the grid more than the noise of integers: their sums are not quite normal.
        return NoisyCells(block, values, math.sqrt(1 / precision) + 1 / block.per_row(schema))

    def known_cells(self, block: Block) -> NoisyCells:
        """The same of a block that was measured, or follows from one that was."""
        found = self.cells(block)
        assert found is not None
        return found


def fold(recipe: AskRecipe, finer: Block, block: Block, values: Floats) -> tuple[Floats, int]:
    """The cells of a block as sums of those of a finer one, and how many make one."""
    if finer == block:
        return values, 1
    sizes = [recipe.schema[name].size for name in finer.by]
    gone = tuple(place for place, name in enumerate(finer.by) if name not in block.by)
    kept = [name for name in finer.by if name in block.by]
    summed = values.reshape(sizes).sum(axis=gone).transpose([kept.index(name) for name in block.by])
    return summed.ravel(), math.prod(sizes[place] for place in gone)
