"""Measuring: blocks measured step by step on one body of data, and what all steps so far say of each."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias, final

import numpy as np

from expost.accounting.claim import Budget
from expost.jobs.asking.blocks import Block
from expost.jobs.asking.estimates import NoisyCells
from expost.jobs.asking.levels import covers, level
from expost.jobs.asking.question import AskRecipe
from expost.mechanisms.brownian import Estimate
from expost.mechanisms.gaussian import Gaussian
from expost.noise import Floats, Noise
from expost.odometer import Odometer
from expost.private import Private
from expost.release import Past, Release

Progress: TypeAlias = Callable[[str], None]
"""Hears what is being done."""
ALPHA = Fraction(2)
"""The order that budgets are written at; the noise depends on ρ alone."""


@final
@dataclass
class Measuring:
    """What has been measured of each block since it was last forgotten; all of it stays on the bill.

    ``most`` is the length, in rows, that persons are weighed down to in each block.
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

    def measure(self, amounts: Mapping[Block, Fraction]) -> None:
        """Measure each block once more, for as much ρ as is said."""
        for block, rho in amounts.items():
            if rho <= 0:
                continue
            mechanism = Gaussian(block.statistic(self.recipe.schema, most=self.most[block]))
            found = self.odometer.spend(mechanism, self.data, Budget(rho * ALPHA, ALPHA), Past(), self.noise)
            self.keep(found)
            self.spent += rho
            fresh, before = found.value, self.known.get(block)
            self.known[block] = (
                Estimate(fresh.values, 1 / fresh.variance) if before is None else before.refine(fresh)
            )

    def keep(self, found: Release[Any]) -> None:
        """Let a release lead to the answer too."""
        self.past = self.past.then(found)

    def cells(self, block: Block) -> NoisyCells | None:
        """What is known of a block, in rows: its own measurements and those that it is a sum of, by their precisions."""
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


def fold(recipe: AskRecipe, finer: Block, block: Block, values: Floats) -> tuple[Floats, int]:
    """The cells of a block as sums of those of a finer one, and how many make one."""
    if finer == block:
        return values, 1
    sizes = [recipe.schema[name].size for name in finer.by]
    gone = tuple(place for place, name in enumerate(finer.by) if name not in block.by)
    kept = [name for name in finer.by if name in block.by]
    summed = values.reshape(sizes).sum(axis=gone).transpose([kept.index(name) for name in block.by])
    return summed.ravel(), math.prod(sizes[place] for place in gone)


def parts(total: Fraction, shares: Mapping[Block, float]) -> dict[Block, Fraction]:
    """An amount divided in proportion to the shares, never above it in all."""
    whole = math.fsum(shares.values())
    return {block: level(float(total) * (1 - 1e-12) * share / whole) for block, share in shares.items() if share > 0}
