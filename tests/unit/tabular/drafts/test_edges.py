"""Bins suit skewed numbers: round edges that grow, heavy values in bins of their own, shapes that keep the mean."""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest

from expost.noise import SeededNoise
from expost.tabular.schema.binned import Numeric
from expost.tabular.schema.bins import Closed
from expost.tabular.schema.column import Column, Missing
from expost.tabular.schema.inside import Inside
from expost.tabular.source.texts import cells_of
from tests.unit.tabular.drafts.drafted import ROWS, amounts, delays, log_normal, seen, shares

INF = math.inf
LEFT, KEPT = Closed.LEFT, Missing.CATEGORY


def redrawn(column: Column, values: Sequence[float]) -> list[float]:
    """What a synthetic table without noise would hold instead."""
    codes = column.encode(cells_of(values, frozenset({None})))
    return [float(value) for value in column.decode(codes, SeededNoise(1)).tolist()]


def equal_widths(column: Column, values: Sequence[float]) -> Column:
    """The same column with as many bins, all of one width."""
    edges = np.linspace(min(values), max(values) + 1, column.size).tolist()
    return Numeric(column.name, tuple(edges), LEFT, KEPT)


@pytest.mark.parametrize(
    ("values", "even"),
    [(amounts(), 3.0), (log_normal(4, 1, 5), 0.3), (delays(), 0.08)],
    ids=["money", "amounts", "delays"],
)
def test_skewed_numbers_keep_their_mean_within_six_per_cent_where_bins_of_one_width_do_not(
    values: list[float], even: float
) -> None:
    mean, column = float(np.mean(values)), seen(x=values)["x"]

    assert abs(np.mean(redrawn(column, values)) / mean - 1) < 0.06
    assert abs(np.mean(redrawn(equal_widths(column, values), values)) / mean - 1) > even


def test_zeros_stay_zeros_in_their_number_where_bins_of_one_width_lose_them_all() -> None:
    values = amounts()
    column = seen(x=values)["x"]

    assert redrawn(column, values).count(0) == values.count(0)
    assert redrawn(equal_widths(column, values), values).count(0) == 0


def test_a_skewed_column_has_round_edges_that_grow_and_an_open_end() -> None:
    column = seen(x=amounts())["x"]

    assert isinstance(column, Numeric)
    assert column.edges[0] == 0.0
    assert column.edges[-1] == INF
    assert {f"{edge:e}"[0] for edge in column.edges[1:-1]} <= {"1", "2", "5"}
    assert column.inside == (Inside.EDGE, *[Inside.LOG] * (len(column.edges) - 2))
    assert 8 <= len(column.edges) - 1 <= 12


def test_losses_and_gains_are_scaled_on_both_sides_of_0() -> None:
    values = (np.where(shares(7) < 0.5, -1, 1) * log_normal(6, 1.2, 8)).tolist()

    column = seen(x=values)["x"]

    assert isinstance(column, Numeric)
    assert column.edges == tuple(-edge for edge in reversed(column.edges))
    assert column.inside is Inside.LOG


def test_a_heavy_value_has_a_bin_of_its_own_and_no_sliver_beside_it() -> None:
    usual = np.clip(np.round(38 + SeededNoise(8).gaussian(12, ROWS)), 1, 99).astype(int)
    hours = np.where(shares(9) < 0.5, 40, usual).tolist()
    prices = np.where(shares(10) < 0.2, 9.99, np.round(1 + 99 * shares(11), 2)).tolist()

    schema = seen(hours=hours, price=prices)

    assert schema["hours"].labels[:6] == ("[0, 10)", "[10, 20)", "[20, 30)", "[30, 40)", "[40, 41)", "[41, 50)")
    assert isinstance(schema["price"], Numeric)
    assert schema["price"].edges[:4] == (0.0, 9.99, 10.0, 20.0)
    assert redrawn(schema["price"], prices).count(9.99) == prices.count(9.99)


def test_a_cap_that_many_reach_is_the_last_bin() -> None:
    values = [min(5000.0, value) for value in log_normal(7, 1.2, 9)]

    column = seen(x=values)["x"]

    assert isinstance(column, Numeric)
    assert column.edges[-2:] == (5000.0, INF)
    assert redrawn(column, values).count(5000.0) == values.count(5000.0)


def test_values_of_a_smooth_law_are_not_heavy_however_coarsely_they_are_rounded() -> None:
    column = seen(x=np.round(37 + SeededNoise(10).gaussian(0.6, ROWS), 1).tolist())["x"]

    assert isinstance(column, Numeric)
    assert column.inside is Inside.EVEN
    assert {right - left for left, right in pairwise(column.edges)} == {0.5}


def test_every_bin_of_a_skewed_draft_is_used() -> None:
    for values in (amounts(), log_normal(4, 1, 5), delays()):
        column = seen(x=values)["x"]
        codes = column.encode(cells_of(values, frozenset({None})))

        assert set(codes.tolist()) == set(range(column.size - 1))
