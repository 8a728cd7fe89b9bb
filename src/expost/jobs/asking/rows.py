"""Rows of a coded table: their codes as a schema has them, conditions that hold, and weights of whom they belong to."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from expost.jobs.asking.values import coarse_codes
from expost.noise import Integers
from expost.tabular.persons import steps_within
from expost.tabular.schema.conditions import truth_of
from expost.tabular.schema.schema import Schema
from expost.tabular.schema.sentences import Condition
from expost.tabular.table import Table

PER_WEIGHT = 2**10
"""Steps of a person's weight from 0 to 1."""
LONGEST = 2**62 + 1
"""A squared length at which a person has no weight left, whatever they are weighed down to: 2**31 steps at most."""


def schema_codes(schema: Schema, table: Table, name: str) -> Integers:
    """The codes of a column as the schema has them, of a table that may be read more finely."""
    return coarse_codes(schema[name], table.schema[name])[table.codes(name)]


def holding(schema: Schema, table: Table, conditions: Sequence[Condition]) -> NDArray[np.bool_]:
    """The rows for which all conditions hold."""
    found = np.ones(len(table), dtype=np.bool_)
    for each in conditions:
        found &= truth_of(each, schema[each.column]).holds[schema_codes(schema, table, each.column)]
    return found


def failing(schema: Schema, table: Table, conditions: Sequence[Condition]) -> NDArray[np.bool_]:
    """The rows for which at least one condition is known not to hold."""
    found = np.zeros(len(table), dtype=np.bool_)
    for each in conditions:
        found |= truth_of(each, schema[each.column]).fails[schema_codes(schema, table, each.column)]
    return found


def squared_lengths(owners: Integers, steps: Integers, persons: int) -> Integers:
    """For each person the sum of squares of their steps, exactly up to ``LONGEST`` and cut there."""
    rough = np.bincount(owners, steps.astype(np.float64) ** 2, persons)
    short = rough < LONGEST  # to within rounding, so that whole numbers below it do not overflow
    kept = short[owners]
    exact = np.zeros(persons, dtype=np.int64)
    np.add.at(exact, owners[kept], steps[kept] * steps[kept])
    return np.where(short, np.minimum(exact, LONGEST), LONGEST)


def weights_of(owners: Integers, steps: Integers, persons: int, reach: int) -> Integers:
    """The weight of each person, in steps, with which they are at most as long as ``reach``, exactly."""
    squared = squared_lengths(owners, steps, persons)
    return steps_within(squared, (PER_WEIGHT * reach) ** 2, whole=PER_WEIGHT)


def summed_cells(cells: Integers, steps: Integers, size: int) -> Integers:
    """The steps in each cell: sums of whole numbers below 2**53, and so exact."""
    return np.bincount(cells, steps.astype(np.float64), size).astype(np.int64)
