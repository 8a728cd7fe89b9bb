"""One division of a table: what every way of choosing pairs starts from, and what becomes of its choice."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TypeAlias, final

import numpy as np

from benchmarks.selection.tables import TARGET
from benchmarks.selection.trees import Floats, Way
from expost import Budget, Gaussian
from expost.accounting.claim import Promise
from expost.jobs.synthesis.choice import PairSelection
from expost.jobs.synthesis.recipe import QUERY
from expost.mechanisms.gaussian import Measurement
from expost.noise import Noise
from expost.numerics import up
from expost.release import Past
from expost.tabular.marginals import Marginals
from expost.tabular.model.graphical import Measured, fit
from expost.tabular.model.junction import Junction
from expost.tabular.score import Sklearn
from expost.tabular.selection import Edge, SpanningTree, queries, star
from expost.tabular.table import Table

State: TypeAlias = Callable[[Promise, float], tuple[float, float | None]]
"""The ε at δ of a promise, and the order that gives it."""

STOPS, DELTA, TRAINED = 7, 1e-5, 0.8


@final
@dataclass(frozen=True, eq=False)
class Case:
    """One division of a table, and what every way starts from: the selection's noisy counts of every column."""

    train: Table
    test: Table
    selection: PairSelection
    ones: Measurement
    tree: SpanningTree

    @classmethod
    def of(cls, table: Table, noise: Noise) -> "Case":
        """A division by a coin for each record."""
        mask = noise.uniform(len(table)) < TRAINED
        selection = PairSelection(table.schema, (TARGET,), QUERY)
        alone = selection.alone()
        ones = Gaussian(alone.statistic).sample(table[mask], selection.half, Past(), noise)
        counts = {clique[0]: values for clique, values in alone.apart(ones.values).items()}
        return cls(table[mask], table[~mask], selection, ones, selection.tree(counts))

    def level(self, way: Way, state: State, epsilon: float) -> Budget:
        """What may be spent on pairs so that the whole is stated as ε."""
        prior = Gaussian(self.selection.alone().statistic).promise(self.selection.half)
        prior += way.cost(self.tree, self.selection.half)
        pairs = Gaussian(self._pairs(star(self.train.domain, (TARGET,))).statistic)
        low, high = Fraction(0), Fraction(epsilon)
        for _ in range(30):
            middle = (low + high) / 2
            stated = state(prior + pairs.promise(Budget.of(middle, alpha=2)), DELTA / STOPS)[0]
            low, high = (middle, high) if stated <= epsilon else (low, middle)
        return Budget.of(low, alpha=2)

    def judge(self, way: Way, state: State, epsilon: float, noise: Noise) -> tuple[float, float]:
        """The accuracy on the test rows, and the mean distance of all pairs from the rows measured."""
        marginals = self._pairs(way.choose(self.tree, self.train, self.selection.half, noise))
        budget = self.level(way, state, epsilon)
        twos = Gaussian(marginals.statistic).sample(self.train, budget, Past(), noise)
        places = {name: place for place, name in enumerate(self.train.domain)}
        measured = [
            Measured(tuple(places[name] for name in clique), values, up(each.variance))
            for counted, each in ((self.selection.alone(), self.ones), (marginals, twos))
            for clique, values in counted.apart(each.values).items()
        ]
        model = fit(Junction.of(tuple(self.train.domain.values()), [each.clique for each in measured]), measured)
        codes = dict(zip(places, model.round(len(self.train), noise), strict=True))
        made = Table(self.train.schema, codes)
        right = Sklearn()(made, model, TARGET, noise)(self.test) == self.test.codes(TARGET)
        return float(np.mean(right)), _distance(self.train, made)

    def _pairs(self, tree: tuple[Edge, ...]) -> Marginals:
        return self.selection.marginals(queries(self.train.domain, (TARGET,), tree))


def _distance(real: Table, made: Table) -> float:
    """The mean over all pairs of columns of the total variation distance between two tables."""
    pairs = list(combinations(real.domain, 2))
    distances = [np.abs(_shares(real, *pair) - _shares(made, *pair)).sum() / 2 for pair in pairs]
    return float(np.mean(distances))


def _shares(table: Table, left: str, right: str) -> Floats:
    size = table.domain[right]
    cells = table.codes(left).astype(np.int64) * size + table.codes(right)
    return np.bincount(cells, minlength=table.domain[left] * size) / len(table)
