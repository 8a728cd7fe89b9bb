"""Values on their grid: whole numbers are exact where they can be, and error bars know of the rest."""

import numpy as np
import polars as pl
import pytest

from expost.errors import InvalidValue
from expost.jobs.asking.run import ask
from expost.jobs.asking.values import STEPS, Bounded, ends_of, fine_column, full_steps, rounding_of, spans_of, steps_of
from expost.noise import SeededNoise
from expost.private import Neighbours
from expost.tabular.schema.binned import IntegerBins, Numeric
from expost.tabular.schema.bins import Closed
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema

AGE = IntegerBins("age", (17, 30, 50, 91), Closed.LEFT, Missing.FALLBACK)
DAYS = Integer("days", tuple(range(8)), Missing.FALLBACK)
YEARS = IntegerBins("years", (0, 1000, 2101), Closed.LEFT, Missing.FALLBACK)
COST = Numeric("cost", (0.0, 1000.0, 1e6), Closed.LEFT, Missing.FALLBACK)


@pytest.mark.parametrize("column", [AGE, DAYS], ids=lambda each: each.name)
def test_whole_numbers_are_counted_as_they_are(column: Bounded) -> None:
    assert rounding_of(column) == 0
    assert STEPS * 31 // 32 <= full_steps(column) <= STEPS


def test_steps_are_not_given_up_for_many_whole_numbers() -> None:
    """Half of them would be, and noise be twice as wide."""
    assert full_steps(YEARS) == STEPS
    assert 0 < rounding_of(YEARS) <= 2100 / STEPS


@pytest.mark.parametrize("column", [AGE, DAYS, YEARS, COST], ids=lambda each: each.name)
def test_no_value_is_further_from_that_of_its_step_than_is_said(column: Bounded) -> None:
    low, high = ends_of(column)
    least, greatest = spans_of(fine_column(column))
    for value in np.linspace(low, high, 3001) if isinstance(column, Numeric) else range(int(low), int(high) + 1):
        code = int(np.flatnonzero((least <= value) & (value <= greatest))[0])
        counted = low + (high - low) * steps_of(column)[code] / full_steps(column)
        assert abs(counted - value) <= rounding_of(column) + 1e-9


def test_error_bars_of_many_small_values_hold() -> None:
    """A value of 110 is nearest to 0 on a grid of a million: what is lost by that is told."""
    table = pl.DataFrame({"cost": np.full(300_000, 110.0)})
    schema = Schema((COST,), True, Neighbours.ADD_REMOVE)

    found = ask(
        table, "mean of cost", "sum of cost", schema=schema, within="30%", noise=SeededNoise(1), fewer_than=1,
        max_epsilon=20.0,
    )  # fmt: skip

    for told, truth in zip(found.told, (110.0, 110.0 * 300_000), strict=True):
        assert told.lines[0].low <= truth <= told.lines[0].high


def test_a_mean_that_is_asked_for_more_finely_than_values_are_read_is_refused() -> None:
    schema = Schema((COST,), True, Neighbours.ADD_REMOVE)

    with pytest.raises(InvalidValue, match="finer than cost is read"):
        ask("gone.csv", "mean of cost", schema=schema, within=5)
