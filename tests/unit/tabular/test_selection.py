"""Selection: one record moves a pair's score by what is claimed, and the pairs drawn make a tree that fits."""

import re
from fractions import Fraction

import numpy as np
import pytest

from expost.errors import SchemaMismatch
from expost.mechanisms.exponential import pure_parameter
from expost.noise import Floats, Integers, ScriptedNoise, SeededNoise
from expost.private import Neighbours
from expost.release import Past
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.selection import (
    LARGEST_CLIQUE,
    Edge,
    SpanningTree,
    affordable,
    queries,
    star,
    unpaired,
    why_unpaired,
)
from expost.tabular.table import Table
from tests.unit.examples import ADD, OF_RECORDS, REPLACE, budget, distances, l1, largest, one_sentence

Record = tuple[int, int]
PAIR: tuple[Edge, ...] = (("a", "b"),)
RECORDS: list[Record] = [(a, b) for a in range(2) for b in range(3)]
ALONE: dict[str, Floats] = {"a": np.array([2.0, 1.2]), "b": np.array([1.0, -0.7, 2.0])}
MOVED = {ADD: 1, REPLACE: 2}
SIX = tuple("abcdef")


def form(*sizes: int, neighbours: Neighbours = ADD) -> Schema:
    """Columns a, b, … of these sizes."""
    names = "abcdefghijklmnopqrstuvwxyz"
    columns = tuple(
        Integer(name, tuple(range(size)), Missing.FALLBACK) for name, size in zip(names, sizes, strict=False)
    )
    return Schema(columns, True, neighbours)


def table(records: list[Record]) -> Table:
    """Records of two columns."""
    rows = np.array(records, dtype=np.uint8).reshape(-1, 2)
    return Table(form(2, 3), {"a": rows[:, 0], "b": rows[:, 1]})


def score(records: list[Record], neighbours: Neighbours) -> Integers:
    """The score of the only pair."""
    return np.array(SpanningTree(ALONE, PAIR, neighbours)._scores(table(records)))


@pytest.mark.parametrize("neighbours", OF_RECORDS)
def test_one_record_moves_a_score_by_just_what_is_claimed(neighbours: Neighbours) -> None:
    """Over all pairs of neighbours with at most four records; less than the claim would be violated."""
    moved = largest(distances(lambda data: score(data, neighbours), RECORDS, neighbours), l1)

    assert moved == MOVED[neighbours]


def test_independent_columns_have_the_lowest_score() -> None:
    codes = np.arange(4, dtype=np.uint8)
    pair = SpanningTree({"a": np.array([2.0, 2.0]), "b": np.array([2.0, 2.0])}, PAIR, ADD)

    same = pair._scores(Table(form(2, 2), {"a": codes % 2, "b": codes % 2}))
    apart = pair._scores(Table(form(2, 2), {"a": codes % 2, "b": codes // 2}))

    assert (apart, same) == ([0], [4])


@pytest.mark.parametrize("alone", [[0.0, 0.0], [-5.0, -3.0], [1e12, 0.0], [-1e12, 1e12]])
def test_any_noise_in_the_columns_leaves_a_score(alone: list[float]) -> None:
    tree = SpanningTree({"a": np.array(alone), "b": np.array([*alone, 1.0])}, PAIR, ADD)

    assert tree._scores(table(RECORDS))[0] >= 0


EXPLAINED: dict[str, tuple[list[float], list[float], list[Record], int]] = {
    "negative counts are zeros": ([3.0, -1.0], [3.0, 0.0, -0.5], [(0, 0)] * 3, 0),
    "one record is explained by its own columns": ([1.0, 0.0], [1.0, 0.0, 0.0], [(0, 0)], 0),
    "columns that disagree on the total are taken at their mean": ([2.0, 0.0], [4.0, 0.0, 0.0], [(0, 0)] * 3, 0),
    "most of a record is rounded to one": ([0.75, 0.0], [0.75, 0.0, 0.0], [(0, 0)], 0),
    "little of a record is rounded to none": ([0.6, 0.0], [0.6, 0.0, 0.0], [(0, 0)], 1),
    "empty columns explain no record": ([0.0, 0.0], [0.0, 0.0, 0.0], [(0, 0), (1, 2)], 2),
}
"""The noisy counts of both columns, the records, and how many of these independent columns leave unexplained."""


@pytest.mark.parametrize(("a", "b", "records", "left"), EXPLAINED.values(), ids=EXPLAINED)
def test_what_independent_columns_explain_is_told_from_their_noisy_counts(
    a: list[float], b: list[float], records: list[Record], left: int
) -> None:
    """Below one record, a cell is expected to hold the product of its columns' counts."""
    tree = SpanningTree({"a": np.array(a), "b": np.array(b)}, PAIR, ADD)

    assert tree._scores(table(records)) == [left]


def drawn(edges: tuple[Edge, ...], seed: int, names: tuple[str, ...] = SIX) -> tuple[Edge, ...]:
    """A tree over binary columns of random records."""
    noise = SeededNoise(seed)
    schema = form(*[2] * len(names))
    columns = {name: noise.coins(Fraction(1, 2), 50).astype(np.uint8) for name in names}
    alone = {name: np.array([25.0, 25.0]) for name in names}
    return SpanningTree(alone, edges, ADD).sample(Table(schema, columns), budget(1), Past(), noise)


def components(names: tuple[str, ...], edges: tuple[Edge, ...]) -> int:
    """How many pieces the columns are in; each edge of a forest joins two."""
    part = {name: name for name in names}
    for left, right in edges:
        part = {name: part[left] if each == part[right] else each for name, each in part.items()}
    return len(set(part.values()))


ALL_PAIRS = affordable(dict.fromkeys([*SIX, "target"], 2), ("target",))


@pytest.mark.parametrize("seed", range(10))
def test_the_edges_drawn_make_a_tree_over_all_columns(seed: int) -> None:
    edges = drawn(ALL_PAIRS, seed)

    assert (len(edges), components(SIX, edges)) == (5, 1)


def test_a_cycle_would_be_noticed() -> None:
    assert components(SIX, (("a", "b"), ("b", "c"), ("a", "c"))) != 6 - 3


@pytest.mark.parametrize("seed", range(10))
def test_only_pairs_that_are_affordable_are_drawn(seed: int) -> None:
    allowed = (("a", "b"), ("b", "c"), ("a", "c"), ("e", "f"))

    edges = drawn(allowed, seed)

    assert set(edges) <= set(allowed)
    assert len(edges) == 6 - components(SIX, edges) == 3


def test_the_bill_counts_every_edge_that_can_be_drawn() -> None:
    tree = SpanningTree(dict.fromkeys(SIX, np.zeros(2)), ALL_PAIRS, ADD)

    assert tree.draws == 5
    assert tree.promise(budget(1)).curve.at(20) == pytest.approx(1, rel=1e-9)
    assert tree.promise(budget(1)).at(20) <= 1


def test_a_single_pair_is_drawn_with_the_whole_budget() -> None:
    assert SpanningTree(ALONE, PAIR, ADD).epsilon(budget(1)) == pure_parameter(budget(1).rho)


@pytest.mark.parametrize(
    "sizes", [(2, 2, 2), (2**8, 2**10, 2**11, 2), (2**11, 2**11, 2**8), (2**12, 2**12, 2**12), (3,)]
)
def test_the_star_of_the_smallest_column_has_as_many_pairs_as_any_tree(sizes: tuple[int, ...]) -> None:
    domain = {"target": 2} | dict(zip("abcd", sizes, strict=False))
    edges = affordable(domain, ("target",))

    paired = {name for edge in edges for name in edge}

    assert set(star(domain, ("target",))) <= set(edges)
    assert {name for edge in star(domain, ("target",)) for name in edge} == paired
    assert len(star(domain, ("target",))) == max(0, len(paired) - 1)


def test_two_columns_leave_nothing_to_draw() -> None:
    domain = {"a": 2, "target": 2}

    assert affordable(domain, ("target",)) == ()
    assert SpanningTree({"a": np.zeros(2)}, (), ADD).sample(table([]), budget(1), Past(), ScriptedNoise([])) == ()


def test_the_strongest_pair_is_drawn_first_when_the_budget_is_large() -> None:
    codes = np.arange(400, dtype=np.int64)
    columns = {"a": codes % 2, "b": codes // 2 % 2, "c": codes % 2}
    data = Table(form(2, 2, 2), {name: each.astype(np.uint8) for name, each in columns.items()})
    tree = SpanningTree(dict.fromkeys("abc", np.array([200.0, 200.0])), (("a", "b"), ("a", "c"), ("b", "c")), ADD)

    firsts = {tree.sample(data, budget(20), Past(), SeededNoise(seed))[0] for seed in range(20)}

    assert firsts == {("a", "c")}


def test_what_goes_on_record_is_known_without_data() -> None:
    tree = SpanningTree(dict.fromkeys(SIX, np.zeros(2)), ALL_PAIRS, ADD)

    assert tree.facts(budget(1)) == {"candidates": 15, "draws": 5, "epsilon": str(tree.epsilon(budget(1)))}
    assert not tree.floating


def test_pairs_that_do_not_fit_the_model_with_the_target_are_left_out() -> None:
    domain = {"a": 2**10, "b": 2**9, "c": 2**9, "target": 2}

    assert affordable(domain, ("target",)) == (("a", "b"), ("a", "c"), ("b", "c"))
    assert affordable(domain | {"target": 4}, ("target",)) == (("b", "c"),)


UNPAIRED: dict[str, tuple[dict[str, int], tuple[str, ...], str]] = {
    "none": ({"a": 724, "b": 724, "target": 2}, (), "$"),
    "all": ({"a": 725, "b": 725, "target": 2}, ("a", "b"), "Each column is measured with target only: any two "),
    "one": ({"a": 2**19, "b": 2, "c": 2, "target": 2}, ("a",), "a is measured with target only: "),
    "two": ({"a": 2**19, "b": 2, "c": 2, "d": 2**19, "target": 2}, ("a", "d"), "a and d are measured with target "),
    "three": ({**dict.fromkeys("abc", 2**19), "d": 2, "e": 2, "target": 2}, ("a", "b", "c"), "a, b and c are "),
    "one column alone": ({"a": 2**19, "target": 2}, (), "$"),
}


@pytest.mark.parametrize(("domain", "names", "words"), UNPAIRED.values(), ids=UNPAIRED)
def test_columns_that_are_measured_with_the_target_only_are_told(
    domain: dict[str, int], names: tuple[str, ...], words: str
) -> None:
    assert unpaired(domain, ("target",)) == names
    assert re.match(words, why_unpaired(domain, ("target",)))


def test_columns_that_do_not_fit_with_the_target_are_refused_by_name() -> None:
    domain = {"a": 2**11, "b": 2, "c": 2**12, "target": 2**10}
    assert domain["a"] * domain["target"] > LARGEST_CLIQUE

    with pytest.raises(SchemaMismatch, match=r"^a, c with target ") as refusal:
        affordable(domain, ("target",))

    assert one_sentence(refusal.value)


def test_columns_that_just_fit_are_taken() -> None:
    assert affordable({"a": 2**10, "target": 2**10}, ("target",)) == ()


@pytest.mark.parametrize(("domain", "words"), [({"a": 2}, "not a column"), ({"target": 2}, "no column besides")])
def test_a_target_without_columns_or_columns_without_the_target_are_refused(domain: dict[str, int], words: str) -> None:
    with pytest.raises(SchemaMismatch, match=words) as refusal:
        affordable(domain, ("target",))

    assert one_sentence(refusal.value)


def test_what_is_measured_is_the_tree_and_the_target_with_every_column() -> None:
    domain = dict.fromkeys(["b", "target", "a", "c"], 2)

    cliques = queries(domain, ("target",), (("c", "a"), ("a", "b")))

    assert cliques == (("b", "target"), ("b", "a"), ("target", "a"), ("target", "c"), ("a", "c"))


def test_the_order_of_the_draws_does_not_change_what_is_measured() -> None:
    domain = dict.fromkeys("abct", 2)

    assert queries(domain, ("t",), (("a", "b"), ("b", "c"))) == queries(domain, ("t",), (("c", "b"), ("a", "b")))
