"""Training by person: a person with any number of rows moves sums of gradients and moments by no more than is claimed.

All that the rows of one person add, gradients, class sums, second moments or a mean, is added up and shrunk as one
integer vector to the length that a single record may have. So adding or removing a person moves a sum by that length at
most, replacing one by twice that, whoever else is there. By brute force over tables of up to three persons with up to
three rows each. Left out, the clip of a person lets three rows move a sum three times as far.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from expost.accounting.descent import Descent
from expost.checks.question import CentredSum
from expost.noise import Floats, Integers, ScriptedNoise
from expost.persons.people import People
from expost.private import Neighbours
from expost.statistic import Statistic
from expost.training.head.centre import RADIUS, Centre, first_moment
from expost.training.head.gradient import IntegerSums
from expost.training.head.labelled import Labelled
from expost.training.head.mechanism import Head, Trained, _Run
from expost.training.head.moments import Moments, SecondMoments
from expost.training.head.score import Classifier, classified
from tests.unit.examples import ADD, REPLACE, l1, l2_squared

WIDTH, CLASSES = 2, 2
CENTRE = Centre(np.array([0.1, -0.2]), 5.0)
ENDS = ((0.0, 0.0), (1.0, 0.0), (-0.7, 0.7), (0.3, -0.1))
ROWS = [(*(RADIUS * np.array(end) + CENTRE.mean).tolist(), label) for end in ENDS for label in range(CLASSES)]
"""At the centre, at the radius, and between; in both classes."""
Row = tuple[float, ...]
Person = tuple[Row, ...]
PERSONS: list[Person] = [rows for number in (1, 2, 3) for rows in combinations_with_replacement(ROWS, number)]
FEW = PERSONS[::23]


def records(persons: Sequence[Person]) -> Labelled:
    """The rows of these persons, those of different persons mixed."""
    rows = sorted(((place, row) for place, rows in enumerate(persons) for row in rows), key=lambda each: each[1])
    found = np.array([row for _, row in rows], np.float64).reshape(-1, WIDTH + 1)
    owners = np.array([place for place, _ in rows], np.int64)
    data = Labelled(found[:, :-1].astype(np.float32), found[:, -1].astype(np.int64))
    return data.of_persons(owners, ScriptedNoise([0] * len(persons)))


def as_records(person: Person) -> Labelled:
    """The same rows as if each was a person."""
    return records([(row,) for row in person])


def tables(relation: Neighbours) -> Iterator[tuple[tuple[Person, ...], tuple[Person, ...]]]:
    """Neighbours of up to three persons: all of one person, and those of a few kinds of persons beside others."""
    for base in [(), *((one,) for one in FEW), *product(FEW, repeat=2)]:
        changed = PERSONS if not base else FEW
        if relation.replaces:
            yield from (((*base, one), (*base, other)) for one in changed[::3] for other in changed)
        else:
            yield from ((base, (*base, one)) for one in changed)


STATISTICS: dict[str, Callable[[Neighbours], Statistic[Labelled]]] = {
    "mean": lambda neighbours: first_moment(WIDTH, neighbours),
    "class sums": lambda neighbours: Moments(WIDTH, CLASSES).statistic(CENTRE, neighbours),
    "second moments": lambda neighbours: SecondMoments(Moments(WIDTH, CLASSES)).statistic(CENTRE, neighbours),
}


@pytest.mark.parametrize("relation", [ADD.of_persons, REPLACE.of_persons])
@pytest.mark.parametrize("name", STATISTICS)
def test_no_person_moves_a_statistic_further_than_claimed(name: str, relation: Neighbours) -> None:
    statistic = STATISTICS[name](relation)
    known: dict[tuple[Person, ...], Integers] = {}

    def value(persons: tuple[Person, ...]) -> Integers:
        if persons not in known:
            known[persons] = statistic.evaluate(records(persons))
        return known[persons]

    for here, there in tables(relation):
        moved = value(here) - value(there)
        assert l2_squared(moved) <= statistic.l2_squared
        assert l1(moved) <= statistic.l1


SMALL: list[Person] = [
    rows for number in (1, 2, 3) for rows in combinations_with_replacement([ROWS[2], ROWS[5], ROWS[7]], number)
]
"""All persons of up to three rows, of three kinds."""


def moved(evaluate: Callable[[Labelled], Integers]) -> Iterator[tuple[Neighbours, Integers]]:
    """How far a value moves between any neighbours of up to three of these, many at a time."""
    known = cache(lambda kinds: evaluate(records([SMALL[kind] for kind in kinds])).ravel())
    for number in range(3):
        for base in combinations_with_replacement(range(len(SMALL)), number):
            with_one = np.array([known(tuple(sorted((*base, kind)))) for kind in range(len(SMALL))])
            yield ADD.of_persons, with_one - known(base)
            yield REPLACE.of_persons, (with_one[:, None] - with_one[None, :]).reshape(-1, with_one.shape[1])


@pytest.mark.parametrize("name", STATISTICS)
def test_no_person_moves_a_statistic_further_than_claimed_in_any_table_of_three_kinds_of_rows(name: str) -> None:
    claims = {relation: STATISTICS[name](relation) for relation in (ADD.of_persons, REPLACE.of_persons)}

    for relation, each in moved(claims[ADD.of_persons].evaluate):
        assert (each**2).sum(axis=1).max() <= claims[relation].l2_squared
        assert np.abs(each).sum(axis=1).max() <= claims[relation].l1


@pytest.mark.parametrize("name", STATISTICS)
def test_a_person_adds_the_same_whoever_else_is_there(name: str) -> None:
    statistic = STATISTICS[name](ADD.of_persons)
    alone = {person: statistic.evaluate(records([person])) for person in FEW}

    for persons in product(FEW, repeat=3):
        expected = sum((alone[person] for person in persons), np.zeros(statistic.shape, np.int64))
        assert np.array_equal(statistic.evaluate(records(persons)), expected)


@pytest.mark.parametrize("name", STATISTICS)
def test_without_the_clip_of_a_person_some_move_a_statistic_further(name: str) -> None:
    """The negative twin."""
    statistic = STATISTICS[name](ADD.of_persons)

    farthest = max(l2_squared(statistic.evaluate(as_records(person))) for person in PERSONS)

    assert farthest > 5 * statistic.l2_squared


@pytest.mark.parametrize("name", STATISTICS)
def test_several_rows_reach_nearly_what_one_may_add(name: str) -> None:
    """So that nothing is given away: what is lost to rounding is small."""
    statistic = STATISTICS[name](ADD.of_persons)
    triples = [l2_squared(statistic.evaluate(records([(row, row, row)]))) for row in ROWS]

    assert max(triples) >= 0.95 * statistic.l2_squared


@pytest.mark.parametrize("name", STATISTICS)
def test_a_smaller_claim_is_exceeded(name: str) -> None:
    """The negative twin of the claim."""
    statistic = STATISTICS[name](ADD.of_persons)

    assert max(l2_squared(statistic.evaluate(records([person]))) for person in PERSONS) > 0.98 * statistic.l2_squared


CLIPS = (0.3, 1.0, 5.0)
WEIGHTS = [np.zeros((CLASSES, WIDTH + 1)), np.array([[3.0, -2.0, 0.5], [-4.0, 1.0, 2.0]])]


def gradient_sum(data: Labelled, clip: float, weights: Floats, joined: Integers | None = None) -> Integers:
    """What a step adds up before noise, of all persons or of those who joined."""
    head = Head(
        width=WIDTH, classes=CLASSES, descent=Descent(Fraction(1), Fraction(1)), clip=clip, neighbours=ADD.of_persons
    )
    total = np.zeros((CLASSES, WIDTH + 1))
    run = _Run(head, data, Trained(weights, (weights * 0, weights * 0), 0))
    with np.errstate(all="ignore"):  # as in training: a warning would tell of a record
        run._move(np.arange(len(data)) if joined is None else joined, total)
    assert np.array_equal(total, np.round(total))
    return total.astype(np.int64)


@pytest.mark.parametrize("weights", WEIGHTS, ids=["zero", "some"])
@pytest.mark.parametrize("clip", CLIPS)
def test_no_person_moves_a_sum_of_gradients_further_than_its_reach(clip: float, weights: Floats) -> None:
    for person in PERSONS:
        assert l2_squared(gradient_sum(records([person]), clip, weights)) <= IntegerSums.reach**2


@pytest.mark.parametrize("clip", CLIPS)
def test_no_person_moves_a_sum_of_gradients_further_in_any_table_of_three_kinds_of_rows(clip: float) -> None:
    for relation, each in moved(lambda data: gradient_sum(data, clip, WEIGHTS[1])):
        reach = (2 if relation.replaces else 1) * IntegerSums.reach
        assert (each**2).sum(axis=1).max() <= reach**2


@pytest.mark.parametrize("weights", WEIGHTS, ids=["zero", "some"])
def test_without_the_clip_of_a_person_gradients_reach_further(weights: Floats) -> None:
    """The negative twin."""
    farthest = max(l2_squared(gradient_sum(as_records(person), 0.3, weights)) for person in PERSONS)

    assert farthest > 8 * IntegerSums.reach**2


@pytest.mark.parametrize("weights", WEIGHTS, ids=["zero", "some"])
def test_a_step_adds_up_what_those_add_alone_who_joined(weights: Floats) -> None:
    """A person joins with all rows, and adds the same whoever else joins."""
    alone = {person: gradient_sum(records([person]), 1.0, weights) for person in FEW}

    for persons in product(FEW[::2], repeat=3):
        data = records(persons)
        for coins in product((False, True), repeat=3):
            joined = np.flatnonzero(coins)
            parts = [gradient_sum(data[np.arange(3) == place], 1.0, weights) for place in joined]
            total = sum(parts, np.zeros((CLASSES, WIDTH + 1), np.int64))
            assert np.array_equal(gradient_sum(data, 1.0, weights, joined), total)
        everyone = sum((alone[person] for person in persons), np.zeros((CLASSES, WIDTH + 1), np.int64))
        assert np.array_equal(gradient_sum(data, 1.0, weights), everyone)


def test_a_coin_is_thrown_for_each_person() -> None:
    """Two persons with five rows between them: two coins a step, and no more."""
    data = records([(ROWS[0], ROWS[3], ROWS[5]), (ROWS[1], ROWS[2])])
    head = Head(width=WIDTH, classes=CLASSES, descent=Descent(Fraction(1, 2), Fraction(1)), neighbours=ADD.of_persons)
    script = ScriptedNoise([1, 0, *[0] * (CLASSES * (WIDTH + 1))])

    trained = head.train(data, 1, None, script)

    assert trained.steps == 1
    with pytest.raises(ValueError, match="has 0 left"):
        script.below(2)


HEADS = [
    Classifier(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])),
    Classifier(np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])),
]


@pytest.mark.parametrize("relation", [ADD.of_persons, REPLACE.of_persons])
@pytest.mark.parametrize("head", HEADS, ids=["linear", "constant"])
def test_no_person_moves_a_check_further_than_claimed_whichever_row_is_drawn(
    head: Classifier, relation: Neighbours
) -> None:
    question = CentredSum(classified, Fraction(4, 5), relation)
    margins = set()
    for person in PERSONS:
        data = records([person])
        for place in range(len(person)):
            assert data.people is not None
            drawn = People(data.people.rows, data.people.ends, np.array([place]))
            margins.add(question.ask(head, Labelled(data.features, data.labels, drawn)))
    apart = max(margins) - min(margins) if relation.replaces else max(map(abs, margins))

    assert apart == question.sensitivity


def test_a_check_of_all_rows_is_moved_further() -> None:
    """The negative twin."""
    question = CentredSum(classified, Fraction(4, 5), ADD.of_persons)

    assert max(abs(question.ask(HEADS[0], as_records(person))) for person in PERSONS) > question.sensitivity
