"""Edges that are found: always as many as declared, as even as the grid lets them be, and not by noise alone."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from expost.errors import InvalidValue
from expost.noise import SeededNoise
from expost.private import Neighbours
from expost.tabular.edges import (
    FAINT,
    coarsened,
    even_edges,
    grid_counts,
    grids,
    overlooked,
    require_declared,
    settled_schema,
    smoothed,
)
from expost.tabular.schema.bins import Closed
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Boolean
from expost.tabular.schema.private_bins import PrivateBins
from expost.tabular.schema.schema import Schema
from expost.tabular.table import Table
from tests.unit.examples import ADD, OF_RECORDS, one_sentence

MONEY = PrivateBins("money", 0.0, 1e6, 10, False, Closed.LEFT, Missing.CATEGORY)
AGE = PrivateBins("age", 0, 12, 3, True, Closed.LEFT, Missing.FALLBACK)
CELLS = len(MONEY.grid) - 1
SCHEMA = Schema((AGE, MONEY, Boolean("late", Missing.FALLBACK)), True, ADD)


def weights(edges: tuple[float, ...], grid: tuple[float, ...], counts: list[float]) -> list[float]:
    """What lies between each two edges."""
    place = {edge: index for index, edge in enumerate(grid)}
    return [sum(counts[place[low] : place[high]]) for low, high in pairwise(edges)]


@given(st.lists(st.integers(0, 20), min_size=4, max_size=8), st.integers(2, 4))
def test_no_other_edges_of_the_grid_are_more_even(counts: list[int], bins: int) -> None:
    grid = tuple(float(place) for place in range(len(counts) + 1))

    found = even_edges(grid, np.array(counts, dtype=np.float64), bins)

    others = ((0.0, *inner, grid[-1]) for inner in combinations(grid[1:-1], bins - 1))
    faint = [each + FAINT * max(1.0, sum(counts)) / len(counts) for each in counts]
    least = min(sum(each**2 for each in weights(edges, grid, faint)) for edges in others)
    assert len(found) == bins + 1
    assert (found[0], found[-1]) == (0.0, grid[-1])
    assert sum(each**2 for each in weights(found, grid, faint)) == pytest.approx(least)


@given(st.integers(0, 2**32), st.floats(0, 1e4), st.integers(2, 64))
def test_as_many_bins_come_out_as_were_declared_whatever_the_counts(seed: int, std: float, bins: int) -> None:
    noise = SeededNoise(seed).gaussian(max(std, 1e-9), (len(MONEY.grid) - 1,))

    found = even_edges(MONEY.grid, smoothed(noise, std), bins)

    assert len({*found}) == bins + 1
    assert {*found} <= {*MONEY.grid}


def test_a_value_that_half_of_the_records_have_is_a_bin_of_its_own() -> None:
    counts = np.zeros(len(MONEY.grid) - 1)
    counts[0], counts[20:60] = 10_000, 250

    found = even_edges(MONEY.grid, counts, 10)

    assert found[1] == MONEY.grid[1]
    assert max(weights(found, MONEY.grid, counts.tolist())[1:]) < 2000


def test_noise_alone_is_spread_evenly() -> None:
    flat = smoothed(SeededNoise(3).gaussian(50.0, (144,)) + 20, 50.0)

    assert len({*flat.tolist()}) == 1
    assert flat[0] == pytest.approx(20, abs=4 * 50 / 12)


def test_a_stretch_with_no_more_than_noise_counts_as_empty_and_is_divided_evenly() -> None:
    empty = smoothed(SeededNoise(3).gaussian(50.0, (144,)), 50.0)
    grid = tuple(range(145))

    assert not empty.any()
    assert even_edges(grid, empty, 12) == tuple(range(0, 145, 12))


def test_a_stretch_is_seen_where_more_is_in_it_than_may_be_overlooked() -> None:
    counts = np.full(144, overlooked(50.0, 144) / 144)

    assert not smoothed(0.99 * counts, 50.0).any()
    assert smoothed(1.01 * counts, 50.0).all()


def test_what_is_more_than_noise_stays_where_it_is() -> None:
    counts = SeededNoise(3).gaussian(50.0, (144,))
    counts[100] += 5000

    found = smoothed(counts, 50.0)

    assert found[100] == pytest.approx(5000, abs=250)
    assert np.delete(found, 100).max() < 200
    assert found.min() >= 0


def table(*rows: tuple[int, int, int]) -> Table:
    """Records by their codes on the grids."""
    codes = np.array(rows, dtype=np.uint16).reshape(len(rows), 3)
    return Table(SCHEMA.fine, dict(zip(SCHEMA.names, codes.T, strict=True)))


ROWS = [(age, money, late) for age in (0, 5, 11) for money in (0, 7, CELLS - 1, CELLS) for late in (0, 1)]


@pytest.mark.parametrize("neighbours", OF_RECORDS)
def test_one_record_moves_the_counts_on_the_grids_by_no_more_than_is_billed(neighbours: Neighbours) -> None:
    """By brute force over neighbours; two columns, so that one record moves two cells and a replacement four."""
    counts = grid_counts(grids(SCHEMA), neighbours).statistic
    base = [ROWS[3], ROWS[9]]
    if neighbours is ADD:
        pairs = [(table(*base), table(*base, row)) for row in ROWS]
    else:
        pairs = [(table(*base, one), table(*base, other)) for one in ROWS for other in ROWS]

    moved = [counts.evaluate(one) - counts.evaluate(other) for one, other in pairs]

    assert max(float((each**2).sum()) for each in moved) == counts.l2_squared == (2 if neighbours is ADD else 4)


def test_a_table_in_bins_has_each_record_where_it_would_be_alone() -> None:
    counts = {"age": np.arange(12.0), "money": np.full(CELLS + 1, 3.0)}
    schema = settled_schema(SCHEMA, counts, 1.0)
    whole = coarsened(table(*ROWS), schema)

    alone = [coarsened(table(row), schema) for row in ROWS]

    assert schema.domain == SCHEMA.domain == whole.domain
    for name in SCHEMA.names:
        assert whole.codes(name).tolist() == [int(each.codes(name)[0]) for each in alone]
    assert whole.codes("late").tolist() == [late for _, _, late in ROWS]
    assert {code for (_, money, _), code in zip(ROWS, whole.codes("money"), strict=True) if money == CELLS} == {10}


def test_edges_depend_on_released_counts_and_not_on_the_missing() -> None:
    counts = {"age": np.arange(12.0), "money": np.append(np.full(CELLS, 3.0), 1e6)}

    without = settled_schema(SCHEMA, counts | {"money": np.append(np.full(CELLS, 3.0), 0.0)}, 1.0)

    assert settled_schema(SCHEMA, counts, 1.0) == without


def test_values_are_to_be_drawn_by_the_counts_that_the_edges_were_chosen_by() -> None:
    counts = {"age": np.arange(12.0), "money": np.full(CELLS + 1, 3.0)}

    found = settled_schema(SCHEMA, counts, 1.0)["age"]

    assert isinstance(found, PrivateBins)
    assert found.weights == tuple(smoothed(counts["age"], 1.0).tolist())


@pytest.mark.parametrize(("targets", "public"), [(("money",), False), (("late",), True)])
def test_edges_that_must_be_known_beforehand_are_asked_for(targets: tuple[str, ...], public: bool) -> None:
    with pytest.raises(InvalidValue) as refusal:
        require_declared(SCHEMA, targets, public=public)

    assert one_sentence(refusal.value)
    require_declared(SCHEMA, ("late",), public=False)
    require_declared(SCHEMA.fine, ("money",), public=True)
