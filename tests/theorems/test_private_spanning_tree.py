"""Theorem (private spanning tree). Drawing the edges of a spanning tree one by one, each among those that still join
two components with probability ∝ exp(ε·score/(2Δ)), is k·ε²/8-zCDP for k draws when a record moves each score by Δ at
most, and as private as a Gaussian release of π/2 times that ρ.

The law is not restated: every path through the code is followed, and each draw weighed by its chance to be accepted.
"""

import math
from collections import Counter
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from expost.accounting.curve import cover
from expost.noise import SeededNoise
from expost.private import Neighbours
from expost.release import Past
from expost.sampling.bounds import Bounds
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.selection import Edge, SpanningTree
from expost.tabular.table import Table
from expost.verify import FiniteMechanism
from tests.theorems.enumeration import CoinPath
from tests.unit.examples import ADD, OF_RECORDS, REPLACE, budget, neighbouring, small_data

Record = tuple[int, ...]
Tree = tuple[Edge, ...]
Law = dict[tuple[Tree, float], float]

EDGES = (("a", "b"), ("a", "c"), ("b", "c"))
RECORDS: list[Record] = list(product(range(2), repeat=3))
SCHEMA = Schema(tuple(Integer(name, (0, 1), Missing.FALLBACK) for name in "abc"), True, ADD)
ALONE = {"a": np.array([1.0, 1.0]), "b": np.array([1.0, 1.0]), "c": np.array([0.0, 2.0])}
BUDGET = budget(20)
MOST, BITS = 2, 80


class DrawPath(CoinPath):
    """Noise that draws given numbers, then 0, accepts what these propose, and notes the chance of each acceptance."""

    def __init__(self, places: tuple[int, ...]) -> None:
        super().__init__(())
        self.places, self.bounds, self.chances = places, list[int](), list[float]()

    def below(self, bound: int) -> int:
        self.bounds.append(bound)
        self.chances.append(1.0)  # of a pair that is closed: it goes, and nothing is tried again
        return self.places[len(self.bounds) - 1] if len(self.bounds) <= len(self.places) else 0

    def bernoulli_real(self, bounds: Bounds) -> bool:
        self.chances[-1] = sum(bounds(BITS)) / 2 ** (BITS + 1)
        return True


def table(records: list[Record]) -> Table:
    """The records as a coded table."""
    rows = np.array(records, dtype=np.uint8).reshape(-1, 3)
    return Table(SCHEMA, dict(zip("abc", rows.T, strict=True)))


LAWS: dict[tuple[Neighbours, tuple[Edge, ...], tuple[int, ...]], Law] = {}
"""What is drawn follows from the scores: each law is worked out once."""


def law(tree: SpanningTree, data: Table, bill: float) -> Law:
    """The probability of each tree: at each draw, candidates in proportion to their chance to be accepted."""
    known = tree.neighbours, tree.edges, tuple(tree._scores(data))
    if known not in LAWS:
        LAWS[known] = followed(tree, data)
    return {(edges, bill): chance for (edges, _), chance in LAWS[known].items()}


def followed(tree: SpanningTree, data: Table) -> Law:
    """Each path through the code; of numbers that propose the same candidate, one is followed further."""

    def walk(places: tuple[int, ...]) -> tuple[Tree, DrawPath]:
        path = DrawPath(places)
        return tree.sample(data, BUDGET, Past(), path), path

    def follow(places: tuple[int, ...], drawn: int) -> Law:
        edges, path = walk(places)
        depth = len(places)
        if depth == len(path.bounds):
            return {(edges, 0.0): 1.0}
        weights: dict[Edge, float] = {}
        first: dict[Edge, int] = {}
        for place in range(path.bounds[depth]):
            found, noise = walk((*places, place))
            weights[found[drawn]] = weights.get(found[drawn], 0.0) + noise.chances[depth]
            first.setdefault(found[drawn], place)
        law: Law = {}
        for edge, place in first.items():
            share = weights[edge] / math.fsum(weights.values())
            law |= {tree: share * chance for tree, chance in follow((*places, place), drawn + 1).items()}
        return law

    return follow((), 0)


def mechanism(
    neighbours: Neighbours, share: float = 1.0, scaled_for: Neighbours | None = None, *, by_profile: bool = False
) -> FiniteMechanism[tuple[Record, ...], Tree]:
    """The tree on all data sets of a few records, billed with a share of its promise: its ρ, or the μ of its profile.

    ``scaled_for`` draws as if the neighbours were others.
    """
    tree = SpanningTree(ALONE, EDGES, neighbours if scaled_for is None else scaled_for)
    promise = cover(tree.promise(BUDGET).curve)
    assert promise is not None
    assert promise.gaussian is not None
    bill = math.sqrt(2 * share * promise.gaussian) if by_profile else share * float(promise.rho)
    sizes = (MOST, MOST + 1) if neighbours is ADD else (MOST, MOST)
    sets = [tuple(sorted(data)) for data in small_data(RECORDS, sizes[1]) if len(data) >= sizes[0]]
    pairs = [
        (data, tuple(sorted(other)))
        for data in sets
        if len(data) == MOST
        for other in neighbouring(list(data), RECORDS, neighbours)
    ]
    return FiniteMechanism({data: law(tree, table(list(data)), bill) for data in sets}, pairs)


@pytest.mark.parametrize("neighbours", OF_RECORDS)
def test_the_tree_has_the_promised_curve(neighbours: Neighbours) -> None:
    assert mechanism(neighbours).is_zcdp(0)


@pytest.mark.parametrize("neighbours", OF_RECORDS)
def test_a_third_of_the_promised_curve_would_be_too_little(neighbours: Neighbours) -> None:
    assert not mechanism(neighbours, share=1 / 3).is_zcdp(0)


@pytest.mark.parametrize("neighbours", OF_RECORDS)
def test_the_tree_has_the_promised_gaussian_profile(neighbours: Neighbours) -> None:
    assert mechanism(neighbours, by_profile=True).is_gaussian()


@pytest.mark.parametrize("neighbours", OF_RECORDS)
def test_a_third_of_the_promised_profile_would_be_too_little(neighbours: Neighbours) -> None:
    assert not mechanism(neighbours, share=1 / 3, by_profile=True).is_gaussian()


def test_scores_scaled_for_one_record_more_break_the_promise_when_one_is_replaced() -> None:
    assert not mechanism(REPLACE, scaled_for=ADD).is_zcdp(0)
    assert not mechanism(REPLACE, scaled_for=ADD, by_profile=True).is_gaussian()


def test_every_tree_over_three_columns_can_be_drawn() -> None:
    tree = SpanningTree(ALONE, EDGES, ADD)

    trees = {frozenset(edges) for edges, _ in law(tree, table(RECORDS), 0.0)}

    assert trees == {frozenset(EDGES) - {edge} for edge in EDGES}


def test_a_larger_budget_is_spent_from_below() -> None:
    tree = SpanningTree(ALONE, EDGES, ADD)

    assert BUDGET.epsilon * (1 - Fraction(1, 10**9)) <= Fraction(tree.promise(BUDGET).at(20)) <= BUDGET.epsilon


def test_the_law_is_that_of_an_exponential_mechanism_for_each_edge() -> None:
    """Drawn one by one, each among all pairs that still join two parts."""
    tree = SpanningTree(ALONE, EDGES, ADD)
    tried: list[list[Record]] = [[], [(0, 0, 1), (0, 0, 1), (1, 1, 1)], [(0, 1, 1)] * 4, RECORDS]
    for records in tried:
        scores = dict(zip(EDGES, tree._scores(table(records)), strict=True))
        weights = {edge: math.exp(float(tree.epsilon(BUDGET)) * score / 2) for edge, score in scores.items()}
        expected = {
            (one, other): weights[one] / sum(weights.values()) * weights[other] / (sum(weights.values()) - weights[one])
            for one, other in permutations(EDGES, 2)
        }

        found = {edges: chance for (edges, _), chance in law(tree, table(records), 0.0).items()}

        assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.statistical
def test_the_sampler_follows_the_law() -> None:
    """5000 trees in six orders, chi-square with 5 degrees of freedom; 35.9 has a false-alarm rate of 1e-6."""
    draws, noise = 5_000, SeededNoise(5)
    tree, data = SpanningTree(ALONE, EDGES, ADD), table([(0, 0, 1), (0, 0, 1), (1, 1, 1)])

    seen = Counter(tree.sample(data, BUDGET, Past(), noise) for _ in range(draws))

    def distance(supposed: SpanningTree) -> float:
        expected = {edges: draws * chance for (edges, _), chance in law(supposed, data, 0.0).items()}
        return sum((seen[edges] - count) ** 2 / count for edges, count in expected.items())

    assert distance(tree) < 35.9
    assert distance(SpanningTree(ALONE, EDGES, REPLACE)) > 35.9
