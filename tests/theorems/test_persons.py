"""Persons with any number of rows: nothing that is computed of them moves further than is claimed.

Counts are f(X) = Σ_p Σ_rows k·(cells of the row) with steps k that follow from p's own rows: ⌊G/m⌋ for each of m rows,
or the most with k²‖v_p‖² ≤ G²Q where v_p are the cells of all rows of p in Q marginals. By brute force over all tables
of up to three persons with up to three rows each.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import isqrt

import numpy as np
import pytest

from expost.checks.question import CentredSum
from expost.noise import Integers, ScriptedNoise, SeededNoise
from expost.private import Neighbours
from expost.statistic import Statistic
from expost.tabular.edges import grid_counts
from expost.tabular.marginals import Marginals
from expost.tabular.misfits import misfits
from expost.tabular.one_row import OneRowEach
from expost.tabular.persons import GRID, Grouped, rows_per_person, steps_within
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.selection import SpanningTree
from expost.tabular.table import Table
from tests.unit.examples import ADD, REPLACE

PERSON = ADD.of_persons
OF_PERSONS = (PERSON, REPLACE.of_persons)
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


EXPECTED = {("a",): [3, 0], ("b",): [3, 0], ("a", "b"): [3, 0, 0, 0]}


STATISTICS: dict[str, Callable[[Neighbours], Statistic[Grouped]]] = {
    "averages": lambda relation: Marginals(SCHEMA.domain, CLIQUES, relation).statistic,
    "weighed": lambda relation: Marginals(SCHEMA.domain, CLIQUES, relation).weighed(CLIQUES),
    "weighed besides": lambda relation: Marginals(SCHEMA.domain, CLIQUES[2:], relation).weighed(CLIQUES[:2]),
    "misfits": lambda relation: misfits(
        SCHEMA.domain, {clique: np.array(counts) for clique, counts in EXPECTED.items()}, relation
    ),
    "edges": lambda relation: grid_counts(SCHEMA.domain, relation).statistic,
    "rows per person": rows_per_person,
}


def neighbours_of(relation: Neighbours) -> Iterator[tuple[tuple[Person, ...], tuple[Person, ...]]]:
    """All tables of one person and its neighbours, and those of up to three persons of a few kinds."""
    bases: list[tuple[Person, ...]] = [(), *((one,) for one in FEW), *product(FEW, repeat=2)]
    for base in bases:
        changed = PERSONS if len(base) == 0 else FEW
        if not relation.replaces:
            yield from ((base, (*base, one)) for one in changed)
        else:
            yield from (((*base, one), (*base, other)) for one in changed for other in changed)


def moved(statistic: Statistic[Grouped], relation: Neighbours) -> Iterator[Integers]:
    for one, other in neighbours_of(relation):
        yield statistic.evaluate(grouped(one)) - statistic.evaluate(grouped(other))


@pytest.mark.parametrize("relation", OF_PERSONS)
@pytest.mark.parametrize("name", STATISTICS)
def test_no_person_moves_a_statistic_further_than_claimed(name: str, relation: Neighbours) -> None:
    statistic = STATISTICS[name](relation)
    differences = [*moved(statistic, relation)]
    farthest = max(int((each**2).sum()) for each in differences)

    assert farthest <= statistic.l2_squared
    assert max(int(np.abs(each).sum()) for each in differences) <= statistic.l1
    assert farthest >= Fraction(9, 10) * statistic.l2_squared


@pytest.mark.parametrize("relation", OF_PERSONS)
@pytest.mark.parametrize("name", sorted({*STATISTICS} - {"rows per person"}))
def test_without_the_weights_a_person_moves_a_statistic_further(
    name: str, relation: Neighbours, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin: all rows at full weight."""
    monkeypatch.setattr(Grouped, "average_steps", lambda self: np.full(len(self.table), GRID))
    monkeypatch.setattr(Grouped, "norm_steps", lambda self, cliques: np.full(len(self), GRID))
    statistic = STATISTICS[name](relation)

    assert max(int((each**2).sum()) for each in moved(statistic, relation)) > statistic.l2_squared


@pytest.mark.parametrize("relation", OF_PERSONS)
def test_no_person_moves_the_score_of_a_pair_by_more_than_one_record(relation: Neighbours) -> None:
    tree = SpanningTree({"a": np.array([3.0, 1.0]), "b": np.array([1.0, 2.0])}, (("a", "b"),), relation)
    apart = [
        abs(tree._score(grouped(one), ("a", "b")) - tree._score(grouped(other), ("a", "b")))
        for one, other in neighbours_of(relation)
    ]

    assert max(apart) == (2 if relation.replaces else 1) * GRID


@pytest.mark.parametrize("relation", OF_PERSONS)
@pytest.mark.parametrize("threshold", [Fraction(1, 2), Fraction(4, 5)])
def test_no_person_moves_what_is_asked_of_one_row_each_by_more_than_claimed(
    relation: Neighbours, threshold: Fraction
) -> None:
    """Whichever rows were drawn, as long as a person has the same one on both sides."""
    right: CentredSum[Table, None] = CentredSum(lambda _, held: held.codes("a").astype(float), threshold, relation)
    question = OneRowEach(right)

    def asked(persons: Sequence[Person], draw: int) -> int:
        rows = grouped(persons)
        people = replace(rows.people, chosen=np.minimum(draw, rows.sizes - 1))
        return question.ask(None, Grouped(rows.table, people))

    apart = [abs(asked(one, draw) - asked(other, draw)) for one, other in neighbours_of(relation) for draw in range(3)]
    assert max(apart) == question.sensitivity


def test_one_row_each_counts_in_full_and_as_without_persons() -> None:
    rows = grouped([(row,) for row in (ROWS * 3)[:7]])
    plain = Marginals(SCHEMA.domain, CLIQUES, ADD).statistic.evaluate(rows.table)

    for name in ("averages", "weighed"):
        assert np.array_equal(STATISTICS[name](PERSON).evaluate(rows), GRID * plain)


@pytest.mark.parametrize("name", sorted({*STATISTICS} - {"misfits"}))
def test_who_the_others_are_does_not_change_what_a_person_adds(name: str) -> None:
    evaluate = STATISTICS[name](PERSON).evaluate
    for one in PERSONS:
        own = evaluate(grouped([one]))
        for other in FEW:
            assert np.array_equal(evaluate(grouped([one, other])), own + evaluate(grouped([other])))


def test_rows_that_differ_weigh_more_than_rows_that_are_alike() -> None:
    alike, differing = (grouped([rows]) for rows in (((0, 0),) * 3, ((0, 0), (0, 1), (1, 0))))
    one = grouped([((0, 0),)]).norm_steps(CLIQUES)

    assert alike.norm_steps(CLIQUES)[0] == GRID // 3 < differing.norm_steps(CLIQUES)[0] < one[0] == GRID


def test_weights_are_the_largest_that_fit() -> None:
    squared = np.concatenate([np.arange(1, 5000), 10 ** np.arange(4, 13)]).astype(np.int64)
    for limit in (1, 7, GRID**2, 3 * GRID**2, 5000 * GRID**2):
        due = [min(GRID, isqrt(limit // each)) for each in squared.tolist()]
        assert steps_within(squared, limit).tolist() == due


def test_a_mask_of_persons_keeps_all_rows_of_those() -> None:
    persons = [PERSONS[0], PERSONS[20], PERSONS[9], PERSONS[33]]
    kept = grouped(persons)[np.array([False, True, False, True])]

    assert np.array_equal(kept.sizes, [len(PERSONS[20]), len(PERSONS[33])])
    evaluate = STATISTICS["weighed"](PERSON).evaluate
    assert np.array_equal(evaluate(grouped([PERSONS[20], PERSONS[33]])), evaluate(kept))


def test_every_row_of_a_person_is_drawn_alike_and_nothing_is_drawn_where_there_is_one() -> None:
    persons = grouped([PERSONS[-1]] * 300 + [PERSONS[0]] * 20)
    drawn = persons.drawn(SeededNoise(3))
    several = drawn.sizes > 1
    assert set(drawn.people.chosen[several].tolist()) == {0, 1, 2}
    assert np.bincount(drawn.people.chosen[several]).min() > 60
    assert not drawn.people.chosen[~several].any()
    assert len(drawn.one_row_each()) == 320
    still = grouped([PERSONS[0]] * 20).drawn(ScriptedNoise([]))
    assert np.array_equal(still.one_row_each().codes("a"), still.table.codes("a"))
