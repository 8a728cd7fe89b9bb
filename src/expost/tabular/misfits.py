"""Misfits: how far the counts of marginals are from those that somebody expected, as one integer statistic."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from expost.noise import Integers
from expost.private import Neighbours
from expost.statistic import Statistic
from expost.tabular.marginals import Clique, counted_apart
from expost.tabular.persons import GRID, Rows


def misfits(domain: Mapping[str, int], expected: Mapping[Clique, Integers], neighbours: Neighbours) -> Statistic[Any]:
    """For each marginal the l1 distance between its counts and the expected ones, which do not come from the records.

    A record counts in one cell of each marginal, so it moves each distance by 1 at most, by 2 if it is replaced. All
    rows of a person count as much together.
    """
    steps = 1 if neighbours.unit == "record" else GRID

    def compute(data: Rows) -> Integers:
        counted = counted_apart(domain, expected, neighbours, data)
        found = (np.abs(counts - steps * expected[clique]).sum() for clique, counts in counted)
        return np.fromiter(found, dtype=np.int64, count=len(expected))

    size, reach = len(expected), misfit_reach(len(expected), neighbours)
    moved = Fraction(2 * size if neighbours.replaces else size)
    return Statistic(compute, (size,), steps**2 * reach, steps * moved, neighbours, "misfits", Fraction(1, steps))


def misfit_reach(size: int, neighbours: Neighbours) -> Fraction:
    """How far one record moves this many distances, in squared Euclidean distance."""
    return Fraction(4 * size if neighbours.replaces else size)
