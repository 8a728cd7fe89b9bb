"""Persons with any number of rows: nothing that is computed of them moves further than is claimed.

Counts are f(X) = Σ_p Σ_rows k·(cells of the row) with steps k that follow from p's own rows: ⌊G/m⌋ for each of m rows,
or the most with k²‖v_p‖² ≤ G²Q where v_p are the cells of all rows of p in Q marginals. By brute force over all tables
of up to three persons with up to three rows each.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from math import isqrt

import numpy as np
import pytest

from expost.accounting.claim import Budget
from expost.checks.least import Least
from expost.checks.question import CentredSum, Question
from expost.mechanisms.urn import Urn
from expost.noise import Integers, ScriptedNoise, SeededNoise
from expost.private import Neighbours
from expost.release import Past
from expost.statistic import Statistic
from expost.tabular import selection
from expost.tabular.allowance import allowance_of
from expost.tabular.edges import grid_counts
from expost.tabular.growth import Growing
from expost.tabular.marginals import Marginals
from expost.tabular.misfits import misfits
from expost.tabular.model.graphical import Measured, fit
from expost.tabular.model.junction import Junction
from expost.tabular.one_row import OneRowEach
from expost.tabular.overlaps import WorstOverlap
from expost.tabular.persons import GRID, Grouped, rows_per_person, steps_within
from expost.tabular.questions import BalancedSum, GuessingGain, RankMargin
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.score import Candidate, Lesson, correct
from expost.tabular.selection import SpanningTree
from expost.tabular.table import Table
from tests.unit.examples import ADD, REPLACE

PERSON = ADD.of_persons
REPLACED = REPLACE.of_persons
OF_PERSONS = (PERSON, REPLACED)
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
    "weighed beside finer ones": lambda relation: Marginals(SCHEMA.domain, CLIQUES[:1], relation).weighed(CLIQUES[2:]),
    "misfits": lambda relation: misfits(
        SCHEMA.domain, {clique: np.array(counts) for clique, counts in EXPECTED.items()}, relation
    ),
    "weighed, two in full": lambda relation: Marginals(SCHEMA.domain, CLIQUES, relation).weighed(CLIQUES, 2),
    "weighed besides, two in full": lambda relation: Marginals(SCHEMA.domain, CLIQUES[2:], relation).weighed(
        CLIQUES[:2], 2
    ),
    "edges": lambda relation: grid_counts(SCHEMA.domain, relation).statistic,
    "rows per person": rows_per_person,
}


BASES = [base for number in range(3) for base in combinations_with_replacement(range(len(PERSONS)), number)]
"""All tables of up to two persons, by the numbers of these; a third is added or replaced."""


@cache
def made(kinds: tuple[int, ...]) -> Grouped:
    """The table of these persons."""
    return grouped([PERSONS[kind] for kind in kinds])


def moved(evaluate: Callable[[Grouped], Integers]) -> Iterator[tuple[Neighbours, Integers]]:
    """How far a value moves between any neighbours of up to three persons with up to three rows, many at a time."""
    known = cache(lambda kinds: np.atleast_1d(evaluate(made(kinds))))
    for base in BASES:
        with_one = np.array([known(tuple(sorted((*base, kind)))) for kind in range(len(PERSONS))])
        yield PERSON, with_one - known(base)
        yield REPLACED, (with_one[:, None] - with_one[None, :]).reshape(-1, with_one.shape[1])


def farthest(evaluate: Callable[[Grouped], Integers]) -> dict[Neighbours, tuple[int, int, int]]:
    """The largest squared Euclidean distance, sum of absolute differences and single difference, by the relation."""
    found = dict.fromkeys(OF_PERSONS, (0, 0, 0))
    for relation, each in moved(evaluate):
        here = int((each**2).sum(axis=1).max()), int(np.abs(each).sum(axis=1).max()), int(np.abs(each).max())
        before = found[relation]
        found[relation] = max(before[0], here[0]), max(before[1], here[1]), max(before[2], here[2])
    return found


@pytest.mark.parametrize("name", STATISTICS)
def test_no_person_moves_a_statistic_further_than_claimed(name: str) -> None:
    """Its value does not depend on the relation, and its claims do."""
    for relation, (squared, along, _) in farthest(STATISTICS[name](PERSON).evaluate).items():
        statistic = STATISTICS[name](relation)
        assert Fraction(9, 10) * statistic.l2_squared <= squared <= statistic.l2_squared
        assert along <= statistic.l1


@pytest.mark.parametrize("relation", OF_PERSONS)
@pytest.mark.parametrize("name", sorted({*STATISTICS} - {"rows per person"}))
def test_without_the_weights_a_person_moves_a_statistic_further(
    name: str, relation: Neighbours, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin: all rows at full weight."""
    monkeypatch.setattr(Grouped, "average_steps", lambda self: np.full(len(self.table), GRID))
    monkeypatch.setattr(Grouped, "norm_steps", lambda self, cliques, each=1: np.full(len(self), GRID // each))
    statistic = STATISTICS[name](relation)

    assert any(
        ((each**2).sum(axis=1) > statistic.l2_squared).any() for of, each in moved(statistic.evaluate) if of is relation
    )


@pytest.mark.parametrize("histogram", [[90.0, 30, 0, 0, 0, 0, 0, 0], [3e5, 1e5, 5e4, 2e4, 9e3, 3e3, 2e3, 2e3]], ids=str)
@pytest.mark.parametrize("relation", OF_PERSONS)
def test_whichever_allowance_follows_from_a_release_no_claim_is_another(
    histogram: list[float], relation: Neighbours
) -> None:
    """What a step claims, costs and has on record are settled before the allowance is known, and hold with each."""
    whole, first = Marginals(SCHEMA.domain, CLIQUES, relation), Growing(SCHEMA.domain, CLIQUES, (), relation)
    chosen = allowance_of(histogram, 1.0, whole, [Budget.of(2, alpha=2)])
    growing, statistic = replace(first, allowance=chosen), whole.weighed(CLIQUES, chosen)

    squared, along, _ = farthest(statistic.evaluate)[relation]

    assert (chosen > 1) is (histogram[0] > 1000)
    assert squared <= statistic.l2_squared == whole.weighed(CLIQUES).l2_squared
    assert along <= statistic.l1 == whole.weighed(CLIQUES).l1
    assert statistic.spacing == whole.weighed(CLIQUES).spacing
    for budget in (Budget.of(Fraction(1, 3), alpha=20), Budget.of(7, alpha=2)):
        assert (growing.promise(budget), growing.facts(budget)) == (first.promise(budget), first.facts(budget))


@pytest.mark.parametrize("relation", OF_PERSONS)
@pytest.mark.parametrize("name", ["weighed, two in full", "weighed besides, two in full"])
def test_an_allowance_that_weights_are_not_divided_by_moves_a_statistic_further(
    name: str, relation: Neighbours, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin: weights up to 1 where the claim stays."""
    divided = Grouped.norm_steps

    def whole(self: Grouped, cliques: tuple[tuple[str, ...], ...], allowance: int = 1) -> Integers:
        return allowance * divided(self, cliques, allowance)

    monkeypatch.setattr(Grouped, "norm_steps", whole)
    statistic = STATISTICS[name](relation)

    assert farthest(statistic.evaluate)[relation][0] > statistic.l2_squared


@pytest.mark.parametrize("relation", OF_PERSONS)
def test_no_person_moves_the_log_weight_of_a_pair_by_more_than_half_of_epsilon(
    relation: Neighbours, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A draw is ∝ exp(rate·score): moved by ε/2 at most, and by as much in the worst case."""
    tree = SpanningTree({"a": np.array([3.0, 1.0]), "b": np.array([1.0, 2.0])}, (("a", "b"),), relation)
    budget, seen = Budget.of(Fraction(1, 3), alpha=20), list[tuple[int, Fraction]]()

    def filled(scores: Sequence[int], rate: Fraction) -> Urn:
        seen.append((scores[0], rate))
        return Urn(scores, rate)

    def score(persons: Grouped) -> Integers:
        tree.sample(persons, budget, Past(), ScriptedNoise([0, True]))
        return np.array(seen[-1][0])

    monkeypatch.setattr(selection, "Urn", filled)
    _, along, _ = farthest(score)[relation]

    assert along * seen[-1][1] == tree.epsilon(budget) / 2


@pytest.mark.parametrize("threshold", [Fraction(1, 2), Fraction(4, 5)])
def test_no_person_moves_what_is_asked_of_one_row_each_by_more_than_claimed(threshold: Fraction) -> None:
    """Whichever rows were drawn, as long as a person has the same one on both sides."""

    def question(relation: Neighbours) -> OneRowEach[None]:
        return OneRowEach(CentredSum(lambda _, held: held.codes("a").astype(float), threshold, relation))

    def asked(persons: Grouped) -> Integers:
        draws = (replace(persons.people, chosen=np.minimum(draw, persons.sizes - 1)) for draw in range(3))
        return np.array([question(PERSON).ask(None, Grouped(persons.table, people)) for people in draws])

    for relation, (_, _, apart) in farthest(asked).items():
        assert apart == question(relation).sensitivity


QUESTIONS: dict[str, Callable[[Neighbours], Question[Table, Candidate]]] = {
    "sum of correct rows": lambda relation: CentredSum(correct("b"), Fraction(4, 5), relation),
    "balanced sum": lambda relation: BalancedSum("b", Fraction(7, 10), relation),
    "gain over guessing": lambda relation: GuessingGain("b", Fraction(1, 10), relation),
    "rank margin": lambda relation: RankMargin(Lesson("b", 1), Fraction(3, 10), relation),
    "worst overlap": lambda relation: WorstOverlap((("a", "b"),), Fraction(7, 10), relation),
    "least": lambda relation: Least(
        [CentredSum(correct("b"), Fraction(4, 5), relation), RankMargin(Lesson("b", 1), Fraction(3, 10), relation)]
    ),
}


def by_the_other_column(rows: Table) -> Integers:
    return rows.codes("a").astype(np.int64)


@cache
def judged() -> Candidate:
    """A candidate that predicts one column by the other, and ranks by it."""
    model = fit(Junction.of((2, 2), [(0, 1)]), [Measured((0, 1), np.ones((2, 2)), 1.0)])
    learnt = {Lesson("b"): by_the_other_column, Lesson("b", 1): by_the_other_column}
    rows = grouped([((0, 0),), ((0, 0),), ((0, 1),), ((1, 1),)]).table
    return Candidate(rows, model, learnt, {"b": (np.array([60.0, 40.0]), 1.0)}, held=3.0)


@pytest.mark.parametrize("name", QUESTIONS)
def test_no_person_moves_any_question_about_a_table_by_more_than_claimed_when_asked_of_one_row_each(name: str) -> None:
    """Whichever rows were drawn; and by more than two thirds of what is claimed where the number of persons changes."""

    def asked(persons: Grouped) -> Integers:
        draws = (replace(persons.people, chosen=np.minimum(draw, persons.sizes - 1)) for draw in range(3))
        question = OneRowEach(QUESTIONS[name](PERSON))
        return np.array([question.ask(judged(), Grouped(persons.table, people)) for people in draws])

    found = farthest(asked)

    for relation, (_, _, apart) in found.items():
        assert 0 < apart <= OneRowEach(QUESTIONS[name](relation)).sensitivity
    assert 3 * found[PERSON][2] > OneRowEach(QUESTIONS[name](PERSON)).sensitivity


@pytest.mark.parametrize("name", QUESTIONS)
def test_asked_of_all_rows_a_person_moves_the_same_questions_further(name: str) -> None:
    """The twin."""
    question = QUESTIONS[name](PERSON)

    found = farthest(lambda persons: np.array([question.ask(judged(), persons.table)]))

    assert found[PERSON][2] > question.sensitivity


@pytest.mark.parametrize("name", sorted({*STATISTICS} - {"rows per person"}))
@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_with_one_row_each_what_is_released_and_claimed_is_as_without_persons(name: str, relation: Neighbours) -> None:
    rows = grouped([(row,) for row in (ROWS * 3)[:7]])
    plain, of_persons = STATISTICS[name](relation), STATISTICS[name](relation.of_persons)

    times = (2 if "two in full" in name else 1) * float(of_persons.spacing)
    assert np.array_equal(of_persons.evaluate(rows) * times, plain.evaluate(rows.table))  # type: ignore[arg-type]  # rows, where these are records
    assert of_persons.l2_squared * of_persons.spacing**2 == plain.l2_squared * plain.spacing**2


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


def test_as_many_rows_that_are_alike_as_are_allowed_count_in_full() -> None:
    for number, due in ((1, 1), (2, 1), (3, Fraction(2, 3))):
        weight = grouped([((0, 0),) * number]).norm_steps(CLIQUES, 2)[0]
        assert 2 * weight == int(due * GRID)


def test_marginals_that_are_added_are_of_no_larger_weights_than_the_first() -> None:
    """Two rows that are alike in the first marginal and differ in the one that is added, and the other way round."""
    for rows, cells in ((((0, 0), (0, 1)), [1, 1, 0, 0]), (((0, 0), (1, 0)), [1, 0, 1, 0])):
        one = grouped([rows])
        first = one.norm_steps((("a",),))[0]
        added = Marginals(SCHEMA.domain, (("a", "b"),), PERSON)

        assert added.weighed((("a",),)).evaluate(one).tolist() == [first * cell for cell in cells]
        assert added.weighed(added.cliques).evaluate(one).max() == one.norm_steps(added.cliques)[0] >= first


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
