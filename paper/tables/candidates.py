"""Candidates of a climb on the Adult table: select marginals once, refine them by the ladder, learn from each rung."""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import final

import numpy as np

from expost import Budget, Gaussian, Odometer, Past, Private
from expost.datasets import adult
from expost.mechanisms import Measurement
from expost.noise import Floats, Noise
from expost.tabular.marginals import Clique, Marginals
from expost.tabular.schema.schema import Schema
from expost.tabular.selection import SpanningTree, queries
from expost.tabular.table import Table

TARGET = "income"


class Alone(StrEnum):
    """What a fit is told of single columns: the selection's counts, nothing, or counts that climb with the pairs."""

    KEPT = "kept from the selection"
    DROPPED = "not used"
    AGAIN = "measured again on every rung"


@final
@dataclass(frozen=True)
class Making:
    """How candidates are made, as far as the paper leaves it open."""

    classifier: str = "sklearn.ensemble.HistGradientBoostingClassifier"
    first: str = "1/2"
    """The share of the selection's budget that measures single columns; the tree gets the rest."""
    alone: Alone = Alone.KEPT
    redrawn: bool = False
    """Whether every repeat selects its own pairs."""


@final
@dataclass(frozen=True, eq=False)
class Parts:
    """The records to train on, to check on, and to test on."""

    train: Table
    held: Table
    test: Table


@final
@dataclass(frozen=True, eq=False)
class Selected:
    """What the selection released: every column alone, and the pairs to measure."""

    alone: Measurement
    pairs: tuple[Clique, ...]


@cache
def records(count: int | None) -> Table:
    """The Adult table, or so many of its first records."""
    table = adult.load()
    return table if count is None else table[np.arange(len(table)) < count]


def by_index(table: Table, held: Fraction, test: Fraction, noise: Noise) -> Parts:
    """A cut of the shuffled records, and of those not trained on one that is alike in every class: as in the paper."""
    count = len(table)
    rest = np.argsort(noise.uniform(count))[round((1 - held - test) * count) :]
    rest = rest[np.argsort(table.codes(TARGET)[rest], kind="stable")]
    checked = np.diff(np.arange(len(rest) + 1) * round(held * count) // len(rest))
    side = np.zeros(count, dtype=np.int64)
    side[rest] = 2 - checked
    return Parts(table[side == 0], table[side == 1], table[side == 2])


def by_coin(table: Table, held: Fraction, test: Table, noise: Noise) -> Parts:
    """A coin for each record, as ``expost.split`` throws it: neighbouring tables differ in one part only."""
    coins = noise.coins(held, len(table))
    return Parts(table[~coins], table[coins], test)


def joined(parts: Parts) -> Table:
    """The records to train and to check on, together again."""
    pairs = {name: (parts.train.codes(name), parts.held.codes(name)) for name in parts.train.schema.names}
    return Table(parts.train.schema, {name: np.concatenate(pair) for name, pair in pairs.items()})


def shares(query: Budget, making: Making) -> tuple[Budget, Budget]:
    """What the two steps of the selection may spend: on single columns, and on the tree."""
    first = query.epsilon * Fraction(making.first)
    return Budget(first, query.alpha), Budget(query.epsilon - first, query.alpha)


def singles(schema: Schema) -> Marginals:
    """Every column alone."""
    return Marginals(schema.domain, tuple((name,) for name in schema.names), schema.neighbours)


def tree(schema: Schema, alone: dict[str, Floats]) -> SpanningTree:
    """A tree over all columns, the target among them, as in the paper."""
    return SpanningTree(alone, tuple(combinations(schema.names, 2)), schema.neighbours)


def select(train: Table, query: Budget, making: Making, noise: Noise) -> Selected:
    """Measure every column alone, then draw the tree; the target is paired with every column besides."""
    odometer, data, single = Odometer(rehearsal=True), Private(train, train.schema.neighbours), singles(train.schema)
    first, second = shares(query, making)
    alone = odometer.spend(Gaussian(single.statistic), data, first, Past(), noise).value
    counts = {name: values for (name,), values in single.apart(alone.values).items()}
    edges = odometer.spend(tree(train.schema, counts), data, second, Past(), noise).value
    return Selected(alone, queries(train.domain, (TARGET,), edges))
