"""Claim (questions about synthetic tables). One record moves each of these by at most its sensitivity, whatever the
candidate: the balanced sum, the gain over guessing, the rank margin, the worst overlap, and the least of several
questions. Each is at or above 0 just when its measure reaches what is asked for.

All tables of up to four records on two columns are tried, in both neighbour relations.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement

import numpy as np
import pytest

from expost import CentredSum, Neighbours
from expost.checks.least import Least
from expost.checks.question import Question
from expost.errors import InvalidValue, SchemaMismatch
from expost.noise import Integers
from expost.tabular import overlaps, questions
from expost.tabular.model.graphical import Measured, fit
from expost.tabular.model.junction import Junction
from expost.tabular.overlaps import WorstOverlap
from expost.tabular.questions import BalancedSum, GuessingGain, RankMargin
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Boolean, Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.score import Candidate, Lesson, correct
from expost.tabular.table import Table
from tests.unit.examples import OF_RECORDS

SCHEMA = Schema(
    (Integer("a", (0, 1, 2), Missing.FALLBACK), Boolean("y", Missing.FALLBACK)), True, Neighbours.ADD_REMOVE
)
KINDS = [(a, y) for a in range(3) for y in range(2)]
CODES, RANKS = Lesson("y"), Lesson("y", 1)
MOST = 4

Records = tuple[tuple[int, int], ...]
Asked = Question[Table, Candidate]


@cache
def table(records: Records) -> Table:
    a, y = (np.array([record[place] for record in records], dtype=np.uint8) for place in range(2))
    return Table(SCHEMA, {"a": a, "y": y})


def follows(codes: tuple[int, int, int]) -> Callable[[Table], Integers]:
    """Tells of each record what stands here for its first column."""
    known = np.array(codes, dtype=np.int64)
    return lambda records: known[records.codes("a").astype(np.int64)]


ROWS: Records = ((0, 0), (0, 0), (1, 1), (2, 0), (2, 1))


def candidate(predicted: tuple[int, int, int] = (0, 1, 0), counts: tuple[float, float] = (80.0, 20.0)) -> Candidate:
    """A candidate that predicts by the first column, and ranks by it."""
    model = fit(Junction.of((3, 2), [(0, 1)]), [Measured((0, 1), np.ones((3, 2)), 1.0)])
    learnt = {CODES: follows(predicted), RANKS: follows((0, 2, 1))}
    return Candidate(table(ROWS), model, learnt, {"y": (np.array(counts), 1.0)}, held=3.0)


COUNTS = [(80.0, 20.0), (5.0, 70.0), (90.0, -1.0), (0.0, -3.0), (0.0, 0.0), (-2.0, -5.0), (1e12, 5.0)]
"""What noise can make of the counts of a target, none of which may be told from it either."""
CANDIDATES = [*(candidate(counts=each) for each in COUNTS), candidate((1, 0, 1)), candidate((1, 1, 1), (5.0, 70.0))]


def data_sets(most: int) -> Iterator[Records]:
    for size in range(most + 1):
        yield from combinations_with_replacement(KINDS, size)


def largest_move(question: Asked, neighbours: Neighbours, tried: list[Candidate] = CANDIDATES) -> int:
    """How far the value moves at most between two neighbours."""
    found = 0
    for each in tried:
        for rest in data_sets(MOST - 1):
            values = [question.ask(each, table((*rest, kind))) for kind in KINDS]
            if neighbours is Neighbours.ADD_REMOVE:
                values = [value - question.ask(each, table(rest)) for value in values] + [0]
            found = max(found, max(values) - min(values) if neighbours is not Neighbours.ADD_REMOVE else 0)
            found = max(found, max(map(abs, values)) if neighbours is Neighbours.ADD_REMOVE else 0)
    return found


Maker = Callable[[Fraction, Neighbours], Asked]
MAKERS: dict[str, Maker] = {
    "balanced sum": lambda least, neighbours: BalancedSum("y", least, neighbours),
    "gain over guessing": lambda least, neighbours: GuessingGain("y", least, neighbours),
    "rank margin": lambda least, neighbours: RankMargin(RANKS, least, neighbours),
    "worst overlap": lambda least, neighbours: WorstOverlap((("a", "y"),), least, neighbours),
    "least": lambda least, neighbours: Least(
        [
            CentredSum(correct("y"), least, neighbours),
            RankMargin(RANKS, least, neighbours),
            WorstOverlap((("a", "y"),), least, neighbours),
        ]
    ),
}
LEAST = [Fraction(7, 10), Fraction(1, 3), Fraction(19, 20), Fraction(9_999_999, 10_000_000)]
TOO_FINE = [0.1 + 0.2 + 0.4, Fraction("0.7000000000001"), Fraction(1, 2**24 + 1)]


@pytest.mark.parametrize("neighbours", OF_RECORDS)
@pytest.mark.parametrize("least", LEAST, ids=str)
@pytest.mark.parametrize("kind", MAKERS)
def test_no_record_moves_the_value_by_more_than_is_claimed(kind: str, least: Fraction, neighbours: Neighbours) -> None:
    question = MAKERS[kind](least, neighbours)

    assert 0 < largest_move(question, neighbours) <= question.sensitivity


@pytest.mark.parametrize("least", TOO_FINE, ids=str)
@pytest.mark.parametrize("kind", MAKERS)
def test_a_threshold_that_needs_more_digits_than_integers_have_is_refused(kind: str, least: Fraction) -> None:
    """The products of its denominator with weights and records would wrap around, and move by any amount."""
    with pytest.raises(InvalidValue, match="round it"):
        MAKERS[kind](least, Neighbours.ADD_REMOVE)


@pytest.mark.parametrize("count", [2**14, 2**18])
def test_many_records_do_not_wrap_a_balanced_sum_around(count: int) -> None:
    question, many = BalancedSum("y", Fraction(2**24 - 1, 2**24), Neighbours.ADD_REMOVE), table(((1, 0),) * count)
    before = question.ask(candidate(counts=(20.0, 80.0)), many)

    assert 0 <= -before - question.unit * count * (1 - 2.0**-24) <= 1


@pytest.mark.parametrize(
    ("kind", "neighbours"),
    [
        ("balanced sum", Neighbours.ADD_REMOVE),
        ("balanced sum", Neighbours.REPLACE_ONE),
        ("gain over guessing", Neighbours.ADD_REMOVE),
        ("gain over guessing", Neighbours.REPLACE_ONE),
    ],
)
def test_a_sum_attains_its_sensitivity(kind: str, neighbours: Neighbours) -> None:
    """So that any smaller claim would be false; rounding to units may take one of them away."""
    question = MAKERS[kind](Fraction(7, 10), neighbours)

    assert largest_move(question, neighbours) >= question.sensitivity - 1


@pytest.mark.parametrize(("kind", "least"), [("rank margin", Fraction(1, 10)), ("worst overlap", Fraction(7, 10))])
def test_two_thirds_of_the_sensitivity_would_be_too_little(kind: str, least: Fraction) -> None:
    """What few records can show of the bounds that many attain."""
    question = MAKERS[kind](least, Neighbours.ADD_REMOVE)

    assert largest_move(question, Neighbours.ADD_REMOVE) > Fraction(2, 3) * question.sensitivity


@pytest.mark.parametrize("neighbours", OF_RECORDS)
def test_the_least_attains_the_largest_sensitivity_of_its_questions(neighbours: Neighbours) -> None:
    sums = [CentredSum(correct("y"), least, neighbours) for least in (Fraction(7, 10), Fraction(1, 2))]
    question = Least(sums)

    assert (
        largest_move(question, neighbours)
        == question.sensitivity
        == max(1000 * each.sensitivity // each.unit for each in sums)
    )


def test_the_sum_over_all_pairs_moves_with_the_number_of_records() -> None:
    """Why the rank margin is divided by the larger of the two numbers: the sum over pairs itself has no bound."""
    question = RankMargin(RANKS, Fraction(1, 2), Neighbours.ADD_REMOVE)

    def over_pairs(records: Records) -> int:
        positive = sum(y for _, y in records)
        return question.ask(candidate(), table(records)) * max(positive, len(records) - positive)

    lower = ((0, 0),) * 3

    assert over_pairs((*lower, (1, 1))) - over_pairs(lower) > question.sensitivity


@pytest.mark.parametrize("least", LEAST, ids=str)
def test_the_rank_margin_is_at_or_above_zero_just_when_the_area_reaches_the_threshold(least: Fraction) -> None:
    question, ranks = RankMargin(RANKS, least, Neighbours.ADD_REMOVE), (0, 2, 1)
    for records in data_sets(MOST):
        upper, lower = ([ranks[a] for a, y in records if y == kind] for kind in (1, 0))
        won = sum((one > other) + Fraction(one == other, 2) for one in upper for other in lower)

        assert (question.ask(candidate(), table(records)) >= 0) == (won >= least * len(upper) * len(lower))


@pytest.mark.parametrize("least", [Fraction(1, 2), Fraction(2, 3)], ids=str)
def test_the_balanced_sum_weighs_every_value_alike(least: Fraction) -> None:
    """Where the released counts are in the proportion of the records, it is the mean of the values' accuracies."""
    predicted, question = (0, 1, 0), BalancedSum("y", least, Neighbours.ADD_REMOVE)
    for records in data_sets(MOST):
        by_value = [[predicted[a] == y for a, y in records if y == kind] for kind in (0, 1)]
        if not all(by_value):
            continue
        counts = tuple(100.0 * len(each) for each in by_value)
        mean = sum(Fraction(sum(each), len(each)) for each in by_value) / 2
        value = question.ask(candidate(predicted, (counts[0], counts[1])), table(records))

        assert abs(value - question.unit * (mean - least) * 2 * min(map(len, by_value))) <= 2


def test_a_value_that_noise_could_have_made_has_no_weight() -> None:
    weights = questions.balancing(np.array([900.0, 30.0, 2.0]), 1.0)

    assert weights.tolist() == [30 / 900, 1.0, 0.0]


@pytest.mark.parametrize("counts", [(900.0, 3.9), (900.0, -1.0), (3.9, 3.8), (0.0, -3.0)])
def test_a_common_value_does_not_pass_for_a_rare_one_that_is_lost_in_noise(counts: tuple[float, float]) -> None:
    """Predicting the common value always is right on every record that has a weight; that is no balanced accuracy."""
    question = BalancedSum("y", Fraction(1, 10), Neighbours.ADD_REMOVE)

    assert question.ask(candidate((0, 0, 0), counts), table(((0, 0),) * 9)) < 0


@pytest.mark.parametrize("least", [Fraction(1, 10), Fraction(1, 4)], ids=str)
def test_the_gain_is_over_the_commonest_value_of_the_released_counts(least: Fraction) -> None:
    predicted, question = (0, 1, 0), GuessingGain("y", least, Neighbours.ADD_REMOVE)
    for records in data_sets(MOST):
        gained = sum((predicted[a] == y) - (y == 0) for a, y in records)

        assert (question.ask(candidate(predicted), table(records)) >= 0) == (gained >= least * len(records))


def test_the_overlap_is_that_of_the_worst_table_with_what_chance_takes_added_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(overlaps, "chance_taken", lambda shares, records: 0.0)
    cliques, least, rows = (("a",), ("y",), ("a", "y")), Fraction(3, 5), candidate().table
    question = WorstOverlap(cliques, least, Neighbours.ADD_REMOVE)
    for records in data_sets(MOST):
        if not records:
            continue
        apart = max(_distance(records, rows, [("a", "y").index(name) for name in clique]) for clique in cliques)

        assert (question.ask(candidate(), table(records)) >= 0) == (1 - apart >= least)


def _distance(records: Records, rows: Table, places: list[int]) -> Fraction:
    ours = [tuple(record[place] for place in places) for record in records]
    drawn = [
        tuple(pair[place] for place in places)
        for pair in zip(rows.codes("a").tolist(), rows.codes("y").tolist(), strict=True)
    ]
    cells = {*ours, *drawn}
    shares = (abs(Fraction(ours.count(cell), len(ours)) - Fraction(drawn.count(cell), len(drawn))) for cell in cells)
    return sum(shares, Fraction(0)) / 2


@pytest.mark.parametrize(
    ("shares", "count"),
    [([0.5, 0.3, 0.15, 0.05], 2000), ([1 / 3600] * 3600, 500), ([0.9, *[0.1 / 400] * 400], 300), ([0.4, 0.6, 0.0], 1)],
    ids=["common", "sparse", "mixed", "one"],
)
def test_what_chance_takes_from_an_overlap_is_what_it_takes_on_average(shares: list[float], count: int) -> None:
    """A table that is right does not answer for which records happened to be held out, and no more is given back.

    A normal approximation would give back twice the records of the sparse table, so that any table passed.
    """
    drawn = np.random.default_rng(5).multinomial(count, shares, size=2000)
    mean = float(np.abs(drawn - count * np.array(shares)).sum(axis=1).mean()) / 2

    assert overlaps.chance_taken(np.array(shares), count) == pytest.approx(mean, rel=0.02)


@pytest.mark.parametrize("records", [-3.0, 0.0, 0.4])
def test_chance_takes_nothing_where_no_record_is_drawn(records: float) -> None:
    assert overlaps.chance_taken(np.array([0.5, 0.5]), records) == 0


@pytest.mark.parametrize("copies", [1, 7])
def test_what_chance_takes_is_by_the_released_number_of_records(copies: int) -> None:
    """By the number that is held out it would move with every record, besides what the sensitivity covers."""
    judged = candidate()
    question, held = WorstOverlap((("a", "y"),), Fraction(1, 2), Neighbours.ADD_REMOVE), table(ROWS * copies)
    chance = overlaps.chance_taken(np.array([2.0, 1.0, 1.0, 1.0]) / 5, judged.held)

    assert question.ask(judged, held) == int(question.unit * chance) + question.unit * len(held) // 2


def test_a_worst_overlap_attains_its_sensitivity() -> None:
    """So that not even its rounding may be left out: a record in a rare cell that lacks one, where many are held."""
    question = WorstOverlap((("a", "y"),), Fraction(1, 3), Neighbours.ADD_REMOVE)
    judged = replace(candidate(), table=table(((0, 0),) * 3999 + ((1, 1),)))
    moved = {
        question.ask(judged, table((*common, (1, 1)))) - question.ask(judged, table(common))
        for common in (((0, 0),) * count for count in range(4000, 4012))
    }

    assert max(moved) == question.sensitivity


def test_large_tables_are_compared_without_their_empty_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    question = WorstOverlap((("a", "y"),), Fraction(1, 2), Neighbours.ADD_REMOVE)
    records = table(((0, 0), (1, 0), (2, 1)))
    dense = question.ask(candidate(), records)
    monkeypatch.setattr(overlaps, "DENSE", 1)

    assert question.ask(candidate(), records) == dense


def test_of_large_tables_no_more_comes_than_which_cells_are_filled_and_how_often() -> None:
    records = table(((2, 1), (0, 0), (2, 1), (2, 1)))

    assert overlaps._filled(("a", "y"), [3, 2], records).tolist() == [[0, 1], [5, 3]]


def test_a_record_that_is_dropped_would_move_the_overlap_farther_than_one_that_is_replaced() -> None:
    """Why a schema by which one record replaces another must not drop any: the number of records would change."""
    question = MAKERS["worst overlap"](Fraction(1, 10), Neighbours.REPLACE_ONE)

    assert largest_move(question, Neighbours.ADD_REMOVE) > question.sensitivity
    with pytest.raises(SchemaMismatch, match="column y drops records, whose number counts as public"):
        Schema((Boolean("y", Missing.DROP),), True, Neighbours.REPLACE_ONE)


def test_the_least_is_below_zero_just_when_some_question_is() -> None:
    several: list[Asked] = [
        CentredSum(correct("y"), Fraction(2, 3), Neighbours.ADD_REMOVE),
        GuessingGain("y", Fraction(1, 10), Neighbours.ADD_REMOVE),
        RankMargin(RANKS, Fraction(4, 5), Neighbours.ADD_REMOVE),
    ]
    for records in data_sets(MOST):
        asked = table(records)

        assert (Least(several).ask(candidate(), asked) >= 0) == all(
            each.ask(candidate(), asked) >= 0 for each in several
        )


def test_the_sum_of_questions_would_move_farther_than_the_least() -> None:
    """Why not ask for the sum: a record moves it by what it moves them all, and it may hide one that is missed."""
    several: list[Asked] = [
        CentredSum(correct("y"), Fraction(2, 3), Neighbours.ADD_REMOVE),
        RankMargin(RANKS, Fraction(1, 10), Neighbours.ADD_REMOVE),
    ]
    both = Least(several)
    rest: Records = ((0, 0), (0, 0))
    moved = [
        each.ask(candidate(), table((*rest, (1, 1)))) * both.unit // each.unit
        - each.ask(candidate(), table(rest)) * both.unit // each.unit
        for each in several
    ]

    assert sum(moved) > both.sensitivity


@pytest.mark.parametrize("kind", MAKERS)
def test_no_question_is_taken_for_monotone(kind: str) -> None:
    """A sparse vector would cost half; a record may raise one candidate's value and lower another's."""
    question = MAKERS[kind](Fraction(7, 10), Neighbours.ADD_REMOVE)
    moved = {
        np.sign(question.ask(each, table((*rest, kind))) - question.ask(each, table(rest)))
        for each in CANDIDATES
        for rest in data_sets(1)
        for kind in KINDS
    }

    assert {-1, 1} <= moved
    assert not question.monotone


@pytest.mark.parametrize(("neighbours", "records"), [(Neighbours.ADD_REMOVE, 1), (Neighbours.REPLACE_ONE, 2)])
def test_a_rank_margin_claims_as_many_records_as_may_change(neighbours: Neighbours, records: int) -> None:
    question = RankMargin(RANKS, Fraction(1, 2), neighbours)

    assert question.sensitivity == records * question.unit


def test_a_guess_is_the_value_with_the_largest_released_count() -> None:
    question = GuessingGain("y", Fraction(1, 10), Neighbours.ADD_REMOVE)
    everybody = table(((0, 1),) * 10)

    assert question.ask(candidate((0, 0, 0), (20.0, 80.0)), everybody) == -110
    assert question.ask(candidate((0, 0, 0), (80.0, 20.0)), everybody) == -10


def test_nothing_counts_as_right_while_noise_hides_all_values_but_one() -> None:
    question = BalancedSum("y", Fraction(1, 2), Neighbours.ADD_REMOVE)
    records = table(((0, 0),) * 4)

    assert question.ask(candidate((0, 0, 0), (90.0, -1.0)), records) < 0
    assert question.ask(candidate((0, 0, 0), (80.0, 20.0)), records) > 0


@pytest.mark.parametrize(
    ("count", "std", "known"), [(4.0, 1.0, True), (3.99, 1.0, False), (1.0, 0.1, True), (0.9, 0.1, False)]
)
def test_a_value_is_known_from_four_standard_errors_and_one_record_on(count: float, std: float, known: bool) -> None:
    assert questions.known_values(np.array([900.0, count]), std).tolist() == [True, known]


def test_all_pairs_are_asked_about_once() -> None:
    assert [*overlaps.crosstabs(("a", "b", "c"))] == [("a", "b"), ("a", "c"), ("b", "c")]


def test_what_is_given_back_to_chance_is_told_as_a_share_of_those_held_out() -> None:
    judged = candidate()
    shares = np.array([2.0, 1.0, 1.0, 1.0]) / 5

    assert overlaps.chance_share(judged, ("a", "y")) == pytest.approx(overlaps.chance_taken(shares, 3.0) / 3)


def test_questions_for_different_neighbours_have_no_least() -> None:
    sums = [CentredSum(correct("y"), Fraction(1, 2), each) for each in OF_RECORDS]

    for refused in (sums, []):
        with pytest.raises(InvalidValue, match="different neighbours, or there are none"):
            Least(refused)


def test_a_least_has_the_neighbours_of_its_questions_and_keeps_them() -> None:
    several: list[Asked] = [CentredSum(correct("y"), Fraction(1, 2), Neighbours.REPLACE_ONE)]
    least = Least(several)
    several.clear()

    assert least.neighbours is Neighbours.REPLACE_ONE
    assert len(least.questions) == 1
