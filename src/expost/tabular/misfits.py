"""Misfits: how far the counts of marginals are from those that somebody expected, as one integer statistic."""

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from expost.noise import Integers
from expost.private import Neighbours
from expost.statistic import Statistic
from expost.tabular.marginals import Clique, Marginals
from expost.tabular.table import Table


def misfits(domain: Mapping[str, int], expected: Mapping[Clique, Integers], neighbours: Neighbours) -> Statistic[Table]:
    """For each marginal the l1 distance between its counts and the expected ones, which do not come from the records.

    A record counts in one cell of each marginal, so it moves each distance by 1 at most, by 2 if it is replaced.
    """

    def compute(table: Table) -> Integers:
        found = (
            np.abs(Marginals(domain, (clique,), neighbours).statistic.evaluate(table) - counts).sum()
            for clique, counts in expected.items()
        )
        return np.fromiter(found, dtype=np.int64, count=len(expected))

    size, reach = len(expected), misfit_reach(len(expected), neighbours)
    moved = Fraction(2 * size if neighbours.replaces else size)
    return Statistic(compute, (size,), reach, moved, neighbours, "misfits")


def misfit_reach(size: int, neighbours: Neighbours) -> Fraction:
    """How far one record moves this many distances, in squared Euclidean distance."""
    return Fraction(4 * size if neighbours.replaces else size)
