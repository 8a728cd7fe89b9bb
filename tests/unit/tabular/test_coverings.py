"""Coverings: marginals that are counted together are those that are counted one by one."""

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from expost.noise import Integers, SeededNoise
from expost.tabular import coverings
from expost.tabular.coverings import SMALLEST_JOINT, covering, histograms, joint_cells
from expost.tabular.marginals import Marginals
from expost.tabular.persons import GRID, Grouped
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.table import Table
from tests.unit.examples import ADD

Cliques = tuple[tuple[str, ...], ...]

ADULT = (16, 8, 16, 16, 7, 14, 6, 5, 2, 24, 20, 10, 42)
"""Columns like those of the census table in bins."""


def drawn(sizes: Sequence[int], rows: int, seed: int = 1) -> Table:
    """Random records of columns c0, c1, … of these sizes."""
    noise = SeededNoise(seed)
    columns = (Integer(f"c{place}", tuple(range(size)), Missing.FALLBACK) for place, size in enumerate(sizes))
    codes = {f"c{place}": (noise.uniform(rows) ** 2 * size).astype(np.uint32) for place, size in enumerate(sizes)}
    return Table(Schema(tuple(columns), True, ADD), codes)


def one_by_one(table: Table, cliques: Cliques, weights: Integers | None = None) -> list[int]:
    """Brute force: a cell at a time."""
    found: list[int] = []
    for clique in cliques:
        counts = [0] * math.prod(table.domain[name] for name in clique)
        for row in range(len(table)):
            cell = 0
            for name in clique:
                cell = cell * table.domain[name] + int(table.codes(name)[row])
            counts[cell] += 1 if weights is None else int(weights[row])
        found += counts
    return found


SIZES = st.lists(st.sampled_from([1, 1, 2, 2, 3, 5, 16, 17, 255, 256, 257]), min_size=1, max_size=6)


@given(SIZES, st.integers(0, 40), st.sampled_from([2**4, 2**8, 2**12]), st.integers(1, 50), st.data())
def test_what_is_counted_together_is_what_is_counted_one_by_one(
    sizes: list[int], rows: int, most: int, chunk: int, data: st.DataObject
) -> None:
    """Any columns, sizes of one and sizes too large to go together, in any order, with chunks that end anywhere."""
    table, names = drawn(sizes, rows), [f"c{place}" for place in range(len(sizes))]
    cliques = [clique for size in range(4) for clique in combinations(data.draw(st.permutations(names)), size)]
    cliques = [each for each in cliques if math.prod(table.domain[name] for name in each) <= 2**12] or [()]
    asked = tuple(data.draw(st.lists(st.sampled_from(cliques), unique=True, min_size=1, max_size=8)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coverings, "joint_cells", lambda rows: most)
        patch.setattr(coverings, "CHUNK", chunk)
        found = histograms(table, asked)

    assert found.tolist() == one_by_one(table, asked)
    assert found.dtype == np.int64


@given(st.sampled_from([2**4, 2**8, 2**16]), st.integers(0, 60))
def test_weights_of_persons_are_added_up_exactly(most: int, rows: int) -> None:
    table, cliques = drawn((2, 3, 1, 16), rows), tuple(combinations(["c0", "c1", "c2", "c3"], 2))
    weights = GRID - np.arange(rows, dtype=np.int64)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coverings, "joint_cells", lambda rows: most)
        patch.setattr(coverings, "CHUNK", 7)
        found = histograms(table, cliques, weights.astype(np.float64))

    assert found.tolist() == one_by_one(table, cliques, weights)


def test_rows_of_persons_are_counted_together_too() -> None:
    """Every third person has two rows, each of half a weight."""
    table = drawn((2, 3, 4), 40)
    grouped = Grouped.of(table, np.array([place - (place % 4 == 1) for place in range(40)]))
    marginals = Marginals(table.domain, (("c0", "c1"), ("c2", "c1")), ADD.of_persons)

    found = marginals.statistic.evaluate(grouped)

    assert found.tolist() == one_by_one(grouped.table, marginals.cliques, grouped.average_steps())


@pytest.mark.parametrize("size", [2**7, 2**8, 2**15, 2**16])
def test_cells_at_the_ends_of_their_types_are_counted(size: int) -> None:
    """The cell of a record is a number of the smallest type that holds all cells."""
    columns = (Integer(name, tuple(range(many)), Missing.FALLBACK) for name, many in (("a", size), ("b", 2)))
    codes = {"a": np.array([0, size - 1, size - 1], np.uint32), "b": np.array([0, 1, 1], np.uint32)}

    found = histograms(Table(Schema(tuple(columns), True, ADD), codes), (("a", "b"), ("a",)))

    assert np.flatnonzero(found).tolist() == [0, 2 * size - 1, 2 * size, 3 * size - 1]
    assert found[[0, 2 * size - 1]].tolist() == [1, 2]


def test_a_number_of_sixteen_bits_holds_the_cells_of_what_is_counted_together() -> None:
    table = drawn((2,) * 16, 20)
    cliques = tuple(combinations(table.domain, 2))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coverings, "joint_cells", lambda rows: 2**16)
        found = histograms(table, cliques)

    assert found.tolist() == one_by_one(table, cliques)


@pytest.mark.parametrize("most", [2**8, 2**12, 2**16])
def test_a_covering_has_every_marginal_once_among_columns_that_hold_it_and_fit(most: int) -> None:
    sizes = {f"c{place}": size for place, size in enumerate(ADULT)}
    cliques = (*combinations(sizes, 1), *combinations(sizes, 2), *combinations(sizes, 3))

    found = covering(tuple(sizes.items()), cliques, most)

    assert sorted(place for each in found for place in each.places) == list(range(len(cliques)))
    for each in found:
        assert all({*cliques[place]} <= {*each.columns} for place in each.places)
        assert len(each.places) == 1 or math.prod(sizes[name] for name in each.columns) <= most


def test_all_pairs_of_small_columns_take_few_histograms() -> None:
    sizes = {f"c{place}": size for place, size in enumerate(ADULT)}

    assert len(covering(tuple(sizes.items()), tuple(combinations(sizes, 2)), 2**16)) <= 15


def test_columns_of_one_code_are_no_work() -> None:
    (only,) = covering((("a", 1), ("b", 1)), (("a", "b"), ("b",), ()), 2**8)

    assert only.columns == ()


def test_few_records_are_not_counted_in_many_cells() -> None:
    assert joint_cells(0) == joint_cells(100) == SMALLEST_JOINT
    assert joint_cells(10**4) == 2**12
    assert joint_cells(10**7) == 2**16
