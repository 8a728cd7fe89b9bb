"""Junction trees: every clique has a home, every column one place where it comes in, and nothing large is made."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expost.errors import InvalidValue
from expost.tabular.model.junction import Clique, Junction

COLUMNS = 7
cliques = st.lists(st.sets(st.integers(0, COLUMNS - 1), min_size=1, max_size=3).map(lambda s: tuple(sorted(s))))
domains = st.lists(st.integers(1, 9), min_size=COLUMNS, max_size=COLUMNS)


@given(domains, cliques)
def test_every_clique_lies_inside_a_node(domain: list[int], asked: list[Clique]) -> None:
    junction = Junction.of(domain, asked)

    assert all(junction.home(clique) is not None for clique in asked)


@given(domains, cliques)
def test_every_column_comes_in_at_one_node(domain: list[int], asked: list[Clique]) -> None:
    junction = Junction.of(domain, asked)

    assert sorted(column for node in junction.nodes for column in node.residual) == list(range(COLUMNS))


@given(domains, cliques)
def test_a_separator_lies_inside_the_parent_one_level_up(domain: list[int], asked: list[Clique]) -> None:
    root, *others = Junction.of(domain, asked).nodes
    nodes = (root, *others)

    assert (root.separator, root.parent, root.level) == ((), -1, 0)
    assert all(set(node.separator) <= set(nodes[node.parent].columns) for node in others)
    assert all(node.level == nodes[node.parent].level + 1 for node in others)


@given(domains, cliques)
def test_no_node_lies_inside_another(domain: list[int], asked: list[Clique]) -> None:
    sets = [set(node.columns) for node in Junction.of(domain, asked).nodes]

    assert not any(a <= b for i, a in enumerate(sets) for j, b in enumerate(sets) if i != j)


def test_a_tree_with_a_target_becomes_triples_with_the_target() -> None:
    tree, target = [(0, 1), (1, 2), (1, 3), (3, 4)], 5

    junction = Junction.of([9, 8, 7, 6, 5, 2], [*tree, *((column, target) for column in range(5))])

    assert sorted(tuple(sorted(node.columns)) for node in junction.nodes) == [(*edge, target) for edge in tree]
    assert junction.cells == 2 * (9 * 8 + 8 * 7 + 8 * 6 + 6 * 5)


def test_a_cycle_gets_the_cheaper_chord() -> None:
    junction = Junction.of([2, 9, 2, 9], [(0, 1), (1, 2), (2, 3), (0, 3)])

    assert sorted(tuple(sorted(node.columns)) for node in junction.nodes) == [(0, 1, 2), (0, 2, 3)]


def test_a_chain_hangs_from_its_middle() -> None:
    junction = Junction.of([2] * 8, [(column, column + 1) for column in range(7)])

    assert max(node.level for node in junction.nodes) == 3


def test_cliques_that_share_a_separator_hang_side_by_side() -> None:
    junction = Junction.of([2] * 9, [(0, column) for column in range(1, 9)])

    assert max(node.level for node in junction.nodes) == 1


def test_a_clique_too_large_for_any_table_is_counted_and_named() -> None:
    junction = Junction.of([10] * 42, [tuple(range(1, 41)), (0, 1)])

    assert junction.cells == 10**40 + 10**2 + 10
    assert junction.widest == tuple(range(1, 41))


@pytest.mark.parametrize("clique", [(1, 0), (0, 0), (0, 3), (-1, 0), ()])
def test_columns_out_of_order_or_out_of_range_are_refused(clique: Clique) -> None:
    with pytest.raises(InvalidValue, match="increasing column numbers from 0 to 2"):
        Junction.of([2, 2, 2], [clique])


@pytest.mark.parametrize("domain", [[], [2, 0]])
def test_a_domain_without_columns_or_values_is_refused(domain: list[int]) -> None:
    with pytest.raises(InvalidValue, match="at least one"):
        Junction.of(domain, [])
