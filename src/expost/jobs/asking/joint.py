"""Several tallies at once: as one statistic, and as sums of each other."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np

from expost.jobs.asking.overlap import axes_in_order, axis_size, codes_picked
from expost.jobs.asking.question import AskRecipe
from expost.jobs.asking.tallies import Tally
from expost.mechanisms.gaussian import Measurement
from expost.noise import Floats, Integers
from expost.statistic import Statistic
from expost.tabular.persons import Rows

FACTOR = 2**10
"""What the tally that needs the least noise is multiplied by, where there are several."""


@final
@dataclass(frozen=True, slots=True)
class Joint:
    """Several tallies as one statistic, each multiplied by a whole number: the larger, the less noise it has."""

    recipe: AskRecipe
    parts: tuple[tuple[Tally, int, int], ...]
    """Tally, factor, and the length in rows that persons are weighed down to."""

    @classmethod
    def of(cls, recipe: AskRecipe, shares: Mapping[Tally, float], most: Mapping[Tally, int]) -> "Joint":
        """Such that each tally costs its share of the whole, or the one that costs most a little less."""
        wanted = {tally: share for tally, share in shares.items() if share > 0}
        ratios = {
            tally: math.sqrt(share) / tally.scale(recipe.schema, most=most[tally]) for tally, share in wanted.items()
        }
        largest = max(ratios.values())
        finest = FACTOR if len(ratios) > 1 else 1
        factors = {tally: math.ceil(finest * ratio / largest) for tally, ratio in ratios.items()}
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

        (spacing,) = {one.spacing for one, _ in each}
        return Statistic(compute, (size,), l2_squared, l1, schema.neighbours, name, spacing, additive=True)

    def rounded(self, shares: Mapping[Tally, float]) -> float:
        """What the whole must be raised by, so that whole factors leave no tally less than its share."""
        costs = {
            tally: (factor * tally.scale(self.recipe.schema, most=most)) ** 2 for tally, factor, most in self.parts
        }
        wanted, whole = math.fsum(shares[tally] for tally in costs), sum(costs.values())
        return max(shares[tally] / wanted * (whole / cost) for tally, cost in costs.items())

    def apart(self, found: Measurement) -> dict[Tally, Measurement]:
        """What was measured of each tally, in its own steps."""
        ends = np.cumsum([tally.cells(self.recipe.schema) for tally, _, _ in self.parts])[:-1]
        values = np.split(found.values, ends)
        return {
            tally: Measurement(each / factor, found.variance / factor**2)
            for (tally, factor, _), each in zip(self.parts, values, strict=True)
        }


def fold(recipe: AskRecipe, finer: Tally, tally: Tally, values: Floats) -> tuple[Floats, int]:
    """The cells of a tally as sums of those of a finer one, and how many make one."""
    if finer == tally:
        return values, 1
    schema, codes = recipe.schema, codes_picked(recipe.schema, finer, tally) or {}
    axes = axes_in_order(finer)
    table = values.reshape([axis_size(schema, axis) for axis in axes])
    picked = table[tuple(codes.get(axis, slice(None)) if isinstance(axis, str) else slice(None) for axis in axes)]
    left, wanted = [axis for axis in axes if axis not in codes], axes_in_order(tally)
    gone = tuple(place for place, axis in enumerate(left) if axis not in wanted)
    kept = [axis for axis in left if axis in wanted]
    summed = picked.sum(axis=gone).transpose([kept.index(axis) for axis in wanted])
    return summed.ravel(), math.prod(axis_size(schema, left[place]) for place in gone)
