"""Columns whose edges are found: the grid is public and round, and a cell's bin follows from its place on the grid."""

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from expost.errors import SchemaMismatch
from expost.noise import SeededNoise
from expost.tabular.schema.bins import Closed, Edges
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Boolean
from expost.tabular.schema.private_bins import PrivateBins
from expost.tabular.schema.schema import Schema
from tests.unit.examples import ADD, one_sentence

LEFT = Closed.LEFT
MONEY = PrivateBins("money", 0.0, 1e6, 10, False, LEFT, Missing.CATEGORY)
LATE = Boolean("late", Missing.FALLBACK)
AGE = PrivateBins("age", 0, 120, 8, True, LEFT, Missing.FALLBACK)
RANGES = [(0.0, 1e6), (-5.0, 3e4), (0.1, 0.2), (1e-300, 2e-300), (-1e300, 1e300), (1e17, 1e17 + 2**20), (-9.0, -1.0)]


@pytest.mark.parametrize(("low", "high"), RANGES)
def test_a_grid_has_cells_enough_and_not_too_many(low: float, high: float) -> None:
    grid = PrivateBins("x", low, high, 2, False, LEFT, Missing.DROP).grid

    assert (grid[0], grid[-1]) == (low, high)
    assert all(left < right for left, right in pairwise(grid))
    assert 50 <= len(grid) - 1 <= 512


def test_a_grid_serves_even_and_skewed_values() -> None:
    """No cell is wider than a fiftieth of the range nor, above a millionth of it, than a third of where it begins."""
    cells = [*pairwise(MONEY.grid)]

    assert max(high - low for low, high in cells) <= 1e6 / 50
    assert max(high / low for low, high in cells if low >= 1) <= 4 / 3 * (1 + 1e-12)


def test_the_grid_of_whole_numbers_is_whole() -> None:
    assert AGE.grid == tuple(range(121))
    assert all(edge == int(edge) for edge in PrivateBins("x", 0, 10**9, 9, True, LEFT, Missing.DROP).grid)


def test_a_table_is_read_on_the_grid_and_planned_in_bins() -> None:
    schema = Schema((MONEY, AGE), True, ADD)

    assert schema.domain == {"money": 11, "age": 8}
    assert schema.fine.domain == {"money": len(MONEY.grid), "age": 120}
    assert schema.fine.fine == schema.fine


EDGES: Edges = (0.0, 1.0, 50.0, 120.0, 200.0, 400.0, 600.0, 1000.0, 2000.0, 5000.0, 1e6)
CELLS = st.floats(-10, 2e6) | st.sampled_from([*MONEY.grid]) | st.none()


@given(st.lists(CELLS, min_size=1, max_size=30))
@pytest.mark.parametrize("closed", Closed)
def test_a_bin_follows_from_the_grid_as_if_its_edges_had_been_declared(
    closed: Closed, values: list[float | None]
) -> None:
    """Read on the grid and then put into bins, or into the bins at once: each cell alone, in any company."""
    column = PrivateBins("money", 0.0, 1e6, 10, False, closed, Missing.CATEGORY).between(EDGES, ())
    cells = [None if value is None else repr(value) for value in values]

    together = column.coarser[column.fine.encode(cells)]
    alone = [int(column.coarser[column.fine.encode([cell])[0]]) for cell in cells]

    assert together.tolist() == alone == column.encode(cells).tolist()


def test_once_edges_are_known_a_schema_says_them_as_if_declared() -> None:
    column = MONEY.between(EDGES, ())

    again = Schema.load(Schema((column,), True, ADD).dumps())["money"]

    assert again.settings == column.settings
    assert again.labels == column.labels
    assert "edges" in again.settings and "bins" not in again.settings
    assert MONEY.labels[:2] == ("bin 1 of 10", "bin 2 of 10")


def test_values_are_drawn_by_the_weights_of_the_cells_within_their_bin() -> None:
    weights = np.zeros(120)
    weights[[3, 40]] = 1, 5
    column = AGE.between((0, 30, 40, 50, 60, 70, 80, 100, 120), tuple(weights.tolist()))

    drawn = column.decode(np.repeat(np.arange(3, dtype=np.uint8), 500), SeededNoise(1)).reshape(3, 500)

    assert {*drawn[0].tolist()} == {3}
    assert {*drawn[1].tolist()} == {*range(30, 40)}
    assert {*drawn[2].tolist()} == {40}


@pytest.mark.parametrize(
    ("low", "closed", "whole"),
    [(0.0, LEFT, False), (0.0, LEFT, True), (-5e5, LEFT, False), (-5e5, Closed.RIGHT, False), (-5e5, LEFT, True)],
)
def test_nothing_stays_nothing(low: float, closed: Closed, whole: bool) -> None:
    """0 has a cell that no other round number is in; drawn evenly, it would hardly ever be 0 again."""
    column = PrivateBins("money", low, 1e9, 9, whole, closed, Missing.FALLBACK)

    zeros = column.fine.decode(column.fine.encode(["0"] * 99), SeededNoise(1))

    assert {*np.asarray(zeros).tolist()} == {0}


def test_where_0_is_the_open_end_of_its_cell_or_outside_of_the_range_cells_are_even() -> None:
    for low, closed in ((0.0, Closed.RIGHT), (5.0, LEFT)):
        column = PrivateBins("money", low, 1e6, 9, False, closed, Missing.FALLBACK)

        drawn = np.asarray(column.fine.decode(np.zeros(99, dtype=np.uint32), SeededNoise(1)), dtype=np.float64)

        assert len({*drawn.tolist()}) == 99
        assert drawn.min() >= low


PRIVATE = 'edges = "private"\nclosed = "left"\nmissing = true\n'
SLIPS = {
    "no range": "bins = 10\n",
    "no bins": "range = [0, 10]\n",
    "a range of three": "range = [0, 5, 10]\nbins = 3\n",
    "a range that falls": "range = [10, 0]\nbins = 3\n",
    "an open range": "range = [0, inf]\nbins = 3\n",
    "a range that is not a number": "range = [0, nan]\nbins = 3\n",
    "a range that no float holds": f"range = [0, 1{'0' * 400}]\nbins = 3\n",
    "a range below what floats hold": f"range = [-1{'0' * 400}, 0]\nbins = 3\n",
    "a range beyond what may be added": "range = [0, 1e301]\nbins = 3\n",
    "one bin": "range = [0, 10]\nbins = 1\n",
    "too many bins": "range = [0, 100000]\nbins = 65\n",
    "bins that are not whole": "range = [0, 10]\nbins = 2.5\n",
    "values besides": "range = [0, 10]\nbins = 3\nvalues = [1]\n",
}


@pytest.mark.parametrize("kind", ["numeric", "integer"])
@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_refused_in_one_sentence(slip: str, kind: str) -> None:
    text = f'neighbours = "add-remove"\n[[column]]\nname = "x"\nkind = "{kind}"\n{PRIVATE}{SLIPS[slip]}'

    with pytest.raises(SchemaMismatch) as refusal:
        Schema.load(text)

    assert one_sentence(refusal.value)


@pytest.mark.parametrize("kind", ["numeric", "integer"])
def test_a_word_that_is_not_private_is_refused_with_the_word_that_is(kind: str) -> None:
    text = f'neighbours = "add-remove"\n[[column]]\nname = "x"\nkind = "{kind}"\n{PRIVATE}range = [0, 10]\nbins = 3\n'

    with pytest.raises(SchemaMismatch, match='edges of column x is "privat"; write a list in brackets, or "private"'):
        Schema.load(text.replace("private", "privat"))


def test_more_bins_than_whole_numbers_are_refused() -> None:
    with pytest.raises(SchemaMismatch, match="from 2 to 5 fit"):
        PrivateBins("x", 0, 5, 6, True, LEFT, Missing.DROP)


@pytest.mark.parametrize(
    "changed", [{"edges": (0, 1, 120), "weights": ()}, {"edges": (0.5, *range(1, 8), 120), "weights": ()},
                {"edges": (*range(8), 120), "weights": (1.0,)}, {"edges": (*range(8), 120), "weights": (-1.0,) * 120}],
)  # fmt: skip
def test_edges_and_weights_that_are_not_of_the_grid_are_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(SchemaMismatch):
        AGE.between(**changed)


def test_a_range_that_has_no_two_cells_is_refused_as_too_narrow() -> None:
    with pytest.raises(SchemaMismatch, match="too narrow") as refusal:
        PrivateBins("x", 1.0, math.nextafter(1.0, 2.0), 2, False, LEFT, Missing.DROP)

    assert one_sentence(refusal.value)


def test_a_range_of_fractions_is_not_one_of_whole_numbers() -> None:
    with pytest.raises(SchemaMismatch, match="is not whole"):
        PrivateBins("x", 0.5, 10, 3, True, LEFT, Missing.DROP)
    assert math.isfinite(MONEY.grid[-1])


def test_a_rule_cannot_name_a_column_whose_edges_are_found() -> None:
    with pytest.raises(SchemaMismatch, match="money has private edges") as refusal:
        Schema((MONEY, AGE, LATE), True, ADD, rules=("never money >= 100 and late = true",))

    assert one_sentence(refusal.value)


def test_other_rules_stay_whatever_edges_are_found() -> None:
    schema = Schema((MONEY, LATE, replace(LATE, name="paid")), True, ADD, rules=("never late = true and paid = true",))

    assert schema.fine.rules == schema.rules
    assert len(schema.fine.constraints) == 1
