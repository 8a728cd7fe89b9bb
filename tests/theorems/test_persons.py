"""Marginals of persons: a person with any number of rows moves all weighted counts together by no more than is claimed.

f(X) = Σ_p k_p v_p with v_p the cells of p's rows and k_p the most steps with k_p²‖v_p‖² ≤ G²c²Q: an l2 distance of at
most Gc√Q between data sets that differ in a person, √2 times that where one replaces another. By brute force over all
tables of up to three persons with up to three rows each.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import isqrt

import numpy as np
import pytest

from expost.noise import Integers
from expost.private import Neighbours
from expost.tabular.marginals import Marginals
from expost.tabular.persons import GRID, Contribution, Grouped, row_steps, steps_within
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.table import Table
from tests.unit.examples import ADD, REPLACE

SIZES = {"a": 2, "b": 2}
SCHEMA = Schema(tuple(Integer(name, tuple(range(size)), Missing.FALLBACK) for name, size in SIZES.items()), True, ADD)
ROWS = list(product(range(2), range(2)))
CLIQUES = (("a",), ("b",), ("a", "b"))
Person = tuple[tuple[int, int], ...]
PERSONS: list[Person] = [rows for number in (1, 2, 3) for rows in combinations_with_replacement(ROWS, number)]
FEW = PERSONS[::5]


def grouped(persons: Sequence[Person]) -> Grouped:
    """The rows of these persons, those of different persons mixed."""
    rows = sorted(((place, row) for place, rows in enumerate(persons) for row in rows), key=lambda each: each[1])
    codes = np.array([row for _, row in rows], dtype=np.uint8).reshape(-1, 2)
    table = Table(SCHEMA, {"a": codes[:, 0], "b": codes[:, 1]})
    return Grouped.of(table, np.array([place for place, _ in rows], dtype=np.int64))


def counts(persons: Sequence[Person], rows: Fraction, neighbours: Neighbours) -> Integers:
    return Marginals(SCHEMA.domain, CLIQUES, neighbours, Contribution(rows)).statistic.evaluate(grouped(persons))


def neighbours_of(relation: Neighbours) -> Iterator[tuple[tuple[Person, ...], tuple[Person, ...]]]:
    """All tables of one person and its neighbours, and those of up to three persons of a few kinds."""
    bases: list[tuple[Person, ...]] = [(), *((one,) for one in FEW), *product(FEW, repeat=2)]
    for base in bases:
        changed = PERSONS if len(base) == 0 else FEW
        if relation is ADD:
            yield from ((base, (*base, one)) for one in changed)
        else:
            yield from (((*base, one), (*base, other)) for one in changed for other in changed)


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize("rows", [Fraction(1, 2), Fraction(1), Fraction(7, 5), Fraction(3)])
def test_no_person_moves_the_weighted_counts_further_than_claimed(relation: Neighbours, rows: Fraction) -> None:
    statistic = Marginals(SCHEMA.domain, CLIQUES, relation, Contribution(rows)).statistic
    farthest, sums = 0, 0
    for one, other in neighbours_of(relation):
        moved = counts(one, rows, relation) - counts(other, rows, relation)
        farthest, sums = max(farthest, int((moved**2).sum())), max(sums, int(np.abs(moved).sum()))

    assert farthest <= statistic.l2_squared
    assert sums <= statistic.l1
    assert farthest >= Fraction(9, 10) * statistic.l2_squared or rows == 3


@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_without_the_weights_a_person_moves_the_counts_further(relation: Neighbours) -> None:
    """The twin: all rows at full weight."""
    claimed = Marginals(SCHEMA.domain, CLIQUES, relation, Contribution(Fraction(1))).statistic.l2_squared
    plain = Marginals(SCHEMA.domain, CLIQUES, relation).statistic

    moved = GRID * plain.evaluate(grouped([PERSONS[-1]]).table)

    assert int((moved**2).sum()) > claimed


def test_one_row_each_counts_in_full_and_as_without_persons() -> None:
    persons: list[Person] = [(row,) for row in (ROWS * 3)[:7]]
    plain = Marginals(SCHEMA.domain, CLIQUES, ADD).statistic.evaluate(grouped(persons).table)

    assert np.array_equal(counts(persons, Fraction(1), ADD), GRID * plain)


def test_who_the_others_are_does_not_change_what_a_person_adds() -> None:
    for one in PERSONS:
        alone = counts([one], Fraction(1), ADD)
        for other in FEW:
            assert np.array_equal(counts([one, other], Fraction(1), ADD), alone + counts([other], Fraction(1), ADD))


@pytest.mark.parametrize("rows", [Fraction(1, 2), Fraction(1), Fraction(2)])
def test_rows_weighed_by_their_number_add_up_to_no_more_than_claimed(rows: Fraction) -> None:
    contribution = Contribution(rows)
    for one in PERSONS:
        assert int(row_steps(grouped([one]), contribution).sum()) <= contribution.most <= GRID * rows


def test_weights_are_the_largest_that_fit() -> None:
    squared = np.concatenate([np.arange(1, 5000), 10 ** np.arange(4, 13)]).astype(np.int64)
    for limit in (1, 7, GRID**2, 3 * GRID**2, 5000 * GRID**2):
        due = [min(GRID, isqrt(limit // each)) for each in squared.tolist()]
        assert steps_within(squared, limit).tolist() == due


def test_a_mask_of_persons_keeps_all_rows_of_those() -> None:
    persons = [PERSONS[0], PERSONS[20], PERSONS[9], PERSONS[33]]
    kept = grouped(persons)[np.array([False, True, False, True])]

    assert np.array_equal(kept.sizes, [len(PERSONS[20]), len(PERSONS[33])])
    marginals = Marginals(SCHEMA.domain, CLIQUES, ADD, Contribution(Fraction(2)))
    assert np.array_equal(counts([PERSONS[20], PERSONS[33]], Fraction(2), ADD), marginals.statistic.evaluate(kept))
