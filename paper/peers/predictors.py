"""Predictors of Adult's income made of noisy counts alone: naive Bayes from few, ridge regression from many."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TypeAlias, final

import numpy as np

from expost import Neighbours, Statistic
from expost.noise import Floats, Integers
from expost.tabular.schema.schema import Schema
from expost.tabular.table import Table

Build: TypeAlias = Callable[[Floats, float], "Predictor"]
"""From noisy counts and the standard deviation of their noise."""


@final
@dataclass(frozen=True, eq=False)
class Predictor:
    """The second of a target's two codes where a constant and a number for each code of each column sum above 0."""

    target: str
    constant: float
    weights: dict[str, Floats]

    def predict(self, table: Table) -> Integers:
        """The code of the target for each record."""
        score = self.constant + sum(weights[table.codes(name)] for name, weights in self.weights.items())
        return np.asarray(score > 0, dtype=np.int64)


def correct(model: Predictor, table: Table) -> Floats:
    """1 for a record whose target is predicted, 0 for another."""
    return np.asarray(model.predict(table) == table.codes(model.target), dtype=np.float64)


@final
@dataclass(frozen=True)
class Marginals:
    """The counts of pairs of columns, all in a row; a record counts once for each pair."""

    schema: Schema
    pairs: tuple[tuple[str, str], ...]

    @classmethod
    def with_target(cls, schema: Schema) -> "Marginals":
        """Each column with the target."""
        names, target = columns(schema)
        return cls(schema, tuple((name, target) for name in names))

    @classmethod
    def all_pairs(cls, schema: Schema) -> "Marginals":
        """Each column with each other and with the target."""
        names, target = columns(schema)
        return cls(schema, (*combinations(names, 2), *((name, target) for name in names)))

    @property
    def statistic(self) -> Statistic[Table]:
        """The counts as what a mechanism measures."""
        moved, cells = Fraction(len(self.pairs)), sum(rows * width for rows, width in self._shapes())
        return Statistic(self._compute, (cells,), moved, moved, Neighbours.ADD_REMOVE, "pairs of columns")

    def tables(self, counts: Floats) -> dict[tuple[str, str], Floats]:
        """The counts by pair, the first column's codes down."""
        ends = np.cumsum([rows * width for rows, width in self._shapes()])
        parts = np.split(counts, ends[:-1])
        shaped = (part.reshape(shape) for part, shape in zip(parts, self._shapes(), strict=True))
        return dict(zip(self.pairs, shaped, strict=True))

    def _shapes(self) -> Iterator[tuple[int, int]]:
        return ((self.schema.domain[first], self.schema.domain[second]) for first, second in self.pairs)

    def _compute(self, table: Table) -> Integers:
        return np.concatenate(
            [
                np.bincount(table.codes(first).astype(np.int64) * width + table.codes(second), minlength=rows * width)
                for (first, second), (rows, width) in zip(self.pairs, self._shapes(), strict=True)
            ]
        )


def columns(schema: Schema) -> tuple[tuple[str, ...], str]:
    """The columns to predict from, and the one to predict, which must have two codes."""
    target = schema.target
    if target is None or schema.domain[target] != 2:
        raise ValueError("these predictors tell two classes apart; name a target of two codes.")
    return tuple(name for name in schema.names if name != target), target


def naive_bayes(marginals: Marginals) -> Build:
    """Log-odds, as if columns were independent given the target; counts below one are raised to it."""
    names, target = columns(marginals.schema)

    def build(counts: Floats, std: float) -> Predictor:
        tables = marginals.tables(counts)
        # Before counts are raised, noise cancels in their sums.
        prior = np.maximum(np.mean([tables[name, target].sum(axis=0) for name in names], axis=0), 1.0)
        raised = {name: np.maximum(tables[name, target], 1.0) for name in names}
        odds = {name: _log_odds(each) - _log_odds(each.sum(axis=0)) for name, each in raised.items()}
        return Predictor(target, float(_log_odds(prior)), odds)

    return build


def ridge(marginals: Marginals) -> Build:
    """Least squares of the target as ±1 on an indicator for each code, penalised by the norm of the noise.

    A symmetric d × d matrix of noise has norm 2·std·√d, about: with that on the diagonal the equations stay definite.
    """
    names, target = columns(marginals.schema)
    sizes = [marginals.schema.domain[name] for name in names]
    places = dict(zip(names, np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1]), strict=True))

    def build(counts: Floats, std: float) -> Predictor:
        tables, width = marginals.tables(counts), sum(sizes)
        gram, right = np.zeros((width, width)), np.zeros(width)
        for first, second in combinations(names, 2):
            gram[np.ix_(places[first], places[second])] = tables[first, second]
            gram[np.ix_(places[second], places[first])] = tables[first, second].T
        for name in names:
            right[places[name]] = tables[name, target] @ (-1.0, 1.0)
            gram[places[name], places[name]] = np.mean(list(_singles(tables, name)), axis=0)
        penalty = 1.0 + 2 * std * np.sqrt(width)
        weights = np.linalg.solve(gram + penalty * np.eye(width), right)
        return Predictor(target, 0.0, {name: weights[place] for name, place in places.items()})

    return build


def _log_odds(counts: Floats) -> Floats:
    return np.asarray(np.log(counts[..., 1]) - np.log(counts[..., 0]))


def _singles(tables: dict[tuple[str, str], Floats], name: str) -> Iterator[Floats]:
    """The counts of one column, as each of its pairs has them."""
    for (first, second), counts in tables.items():
        if name in (first, second):
            yield counts.sum(axis=1 if name == first else 0)
