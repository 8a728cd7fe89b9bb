"""Tallies move no further than claimed: by one record, or by one person with any number of rows.

A row adds non-negative whole steps to the cells of its group, together no longer than one unit: PER_ROW to one cell of
a count, or v and STEPS − v to the two cells of a value. A record that is added moves a tally by at most one unit, and
one that is replaced by √2 of it. All rows of a person are weighed down to the length of ``most`` rows. By brute force
over all tables of up to three records, and of up to three persons with up to three rows each.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, permutations, product

import numpy as np
import pytest

from expost.jobs.asking import tallies
from expost.jobs.asking.contribution import lengths_of
from expost.jobs.asking.joint import Joint
from expost.jobs.asking.phrases import queries_in
from expost.jobs.asking.question import AskRecipe, Targeted
from expost.jobs.asking.rows import LONGEST, PER_WEIGHT, squared_lengths, weights_of
from expost.jobs.asking.tallies import MOST_ROWS, OfValues, Tally, read_under
from expost.jobs.asking.targets import WithinDistance
from expost.jobs.asking.values import STEPS, bounded_column, full_steps
from expost.noise import Integers
from expost.private import Neighbours
from expost.statistic import Statistic
from expost.tabular.persons import Grouped, Rows
from expost.tabular.schema.binned import IntegerBins, Numeric
from expost.tabular.schema.bins import Closed
from expost.tabular.schema.cells import Cell
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.table import Table
from tests.unit.examples import ADD, REPLACE

PERSON, REPLACED = ADD.of_persons, REPLACE.of_persons
COLUMNS = (
    Integer("g", (0, 1), Missing.FALLBACK),
    Integer("t", (0, 1), Missing.CATEGORY),
    Integer("n", (1, 2, 4), Missing.CATEGORY),
    IntegerBins("b", (0, 3, 9), Closed.RIGHT, Missing.CATEGORY),
    Numeric("r", (-1.0, 0.5, 2.0), Closed.LEFT, Missing.CATEGORY),
)
Kind = tuple[Cell | None, ...]
NUMBERS: tuple[Kind, ...] = (("1", "1", "-1"), ("2", "4", "0.75"), ("4", "9", "2"), (None, None, None))
"""The least values of the columns of numbers, some in between, the greatest, and missing ones."""
KINDS: tuple[Kind, ...] = tuple((g, t, *numbers) for g, t, numbers in product("01", ("0", "1", None), NUMBERS))
FEW: tuple[Kind, ...] = (("0", "1", *NUMBERS[2]), ("1", "1", *NUMBERS[0]), ("0", "0", *NUMBERS[1]))
"""Rows of persons: two in different groups at either end of all values, and one in between."""
Person = tuple[Kind, ...]
PERSONS: tuple[Person, ...] = tuple(rows for number in (1, 2, 3) for rows in combinations_with_replacement(FEW, number))
ALONE = ("count", "sum of n", "share of t = 1", "mean of b where g = 1")
GROUPED = (
    "count by g", "count by t, g", "count by g where t = 1", "count by b", "count by r where g = 1", "median of n by g",
    "share of t = 1 by g", "share of t = 1 and n > 1 by g where b is not missing", "mean of n by g", "sum of b by g, t",
    "mean of r by g where t = 1", "mean of b by b", "sum of b by g where b > 3",
)  # fmt: skip
OF_PERSONS = ("persons", "persons by g", "persons by t, g", "persons by g where t = 1")
TOGETHER = ("count by g", "mean of n by g", "share of t = 1 by t")


def schema_of(relation: Neighbours) -> Schema:
    unit = "id" if relation in (PERSON, REPLACED) else None
    return Schema(COLUMNS, True, relation, unit=unit)


def tally_of(question: str) -> Tally:
    (query,) = queries_in(question)
    return Tally.of(query)


def joint_of(relation: Neighbours, *, most: int = 1) -> Joint:
    """Three tallies with different factors."""
    questions = tuple(Targeted(queries_in(each)[0], WithinDistance(Fraction(100))) for each in TOGETHER)
    recipe = AskRecipe(
        schema=schema_of(relation), questions=questions, confidence=Fraction(19, 20), together=False, delta=1e-5,
        max_epsilon=1.0,
    )  # fmt: skip
    shares = {tally: float(place + 1) for place, tally in enumerate(recipe.tallies)}
    return Joint.of(recipe, shares, dict.fromkeys(recipe.tallies, most))


def coded(schema: Schema, kinds: Sequence[Kind]) -> dict[str, Integers]:
    """The codes of each kind of row, as they are read."""
    names = [column.name for column in COLUMNS]
    return {
        column.name: column.encode([kind[names.index(column.name)] for kind in kinds]).astype(np.int64)
        for column in schema.columns
    }


def records(schema: Schema, codes: dict[str, Integers], chosen: Sequence[int]) -> Table:
    """The table of the chosen kinds of rows."""
    rows = np.array(chosen, dtype=np.int64)
    return Table(schema, {name: each[rows].astype(np.uint16) for name, each in codes.items()})


def of_records(statistic: Statistic[Rows], read: Schema) -> Callable[[tuple[int, ...]], Integers]:
    """What it counts of kinds of records."""
    codes = coded(read, KINDS)
    return lambda chosen: statistic.evaluate(records(read, codes, chosen))


def persons(read: Schema, everybody: Sequence[Person] = PERSONS) -> Callable[[Sequence[int]], Grouped]:
    """The tables of chosen persons, their rows mixed."""
    kinds = sorted({row for person in everybody for row in person}, key=str)
    codes, rows = coded(read, kinds), [[kinds.index(row) for row in person] for person in everybody]

    def table(chosen: Sequence[int]) -> Grouped:
        mixed = sorted((kind, owner) for owner, number in enumerate(chosen) for kind in rows[number])
        owners = np.array([owner for _, owner in mixed], dtype=np.int64)
        return Grouped.of(records(read, codes, [kind for kind, _ in mixed]), owners)

    return table


def of_persons(statistic: Statistic[Rows], read: Schema) -> Callable[[tuple[int, ...]], Integers]:
    """What it counts of kinds of persons."""
    table = persons(read)
    return lambda chosen: statistic.evaluate(table(chosen))


def moved(evaluate: Callable[[tuple[int, ...]], Integers], kinds: int) -> Iterator[tuple[Integers, Integers]]:
    """All differences by a record that is added, and by one that is replaced, of tables of up to three."""
    known = cache(evaluate)
    for number in range(3):
        for base in combinations_with_replacement(range(kinds), number):
            with_one = np.array([known(tuple(sorted((*base, kind)))) for kind in range(kinds)])
            yield with_one - known(base), (with_one[:, None] - with_one[None, :]).reshape(-1, with_one.shape[1])


def farthest(evaluate: Callable[[tuple[int, ...]], Integers], kinds: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """The largest squared Euclidean distance and sum of absolute differences: added, and replaced."""
    found = [(0, 0), (0, 0)]
    for pair in moved(evaluate, kinds):
        for place, each in enumerate(pair):
            squared, along = int((each**2).sum(axis=1).max()), int(np.abs(each).sum(axis=1).max())
            found[place] = max(found[place][0], squared), max(found[place][1], along)
    return found[0], found[1]


@pytest.mark.parametrize("question", [*ALONE, *GROUPED])
def test_no_record_moves_a_tally_further_than_claimed(question: str) -> None:
    """And some record moves it as far, where one that is replaced can leave all cells it was in."""
    tally = tally_of(question)
    statistics = [tally.statistic(schema_of(relation)) for relation in (ADD, REPLACE)]
    read = read_under(schema_of(ADD), [tally])

    found = farthest(of_records(statistics[0], read), len(KINDS))

    for (squared, along), statistic in zip(found, statistics, strict=True):
        assert squared <= statistic.l2_squared
        assert along <= statistic.l1
    used = (
        full_steps(bounded_column(read[tally.kind.column])) if isinstance(tally.kind, OfValues) else tally.unit
    ) ** 2
    assert found[0][0] == used >= Fraction(15, 16) * statistics[0].l2_squared
    assert found[1][0] == 2 * used or question == "count"


@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("question", [*ALONE, *GROUPED, *OF_PERSONS])
def test_no_person_moves_a_tally_further_than_claimed(question: str, most: int) -> None:
    """Whole steps of a weight leave less than a tenth unused, where a person has enough rows to be weighed down."""
    tally = tally_of(question)
    statistics = [tally.statistic(schema_of(relation), most=most) for relation in (PERSON, REPLACED)]
    read = read_under(schema_of(PERSON), [tally])

    found = farthest(of_persons(statistics[0], read), len(PERSONS))

    for (squared, along), statistic in zip(found, statistics, strict=True):
        assert squared <= statistic.l2_squared
        assert along <= statistic.l1
    assert most > 1 or found[0][0] >= Fraction(9, 10) * statistics[0].l2_squared


@pytest.mark.parametrize("relation", [ADD, REPLACE, PERSON, REPLACED])
def test_several_tallies_at_once_move_no_further_than_claimed(relation: Neighbours) -> None:
    joint = joint_of(relation)
    read, alone = read_under(joint.recipe.schema, joint.recipe.tallies), relation in (ADD, REPLACE)
    statistic = joint.statistic

    evaluate = of_records(statistic, read) if alone else of_persons(statistic, read)
    squared, along = farthest(evaluate, len(KINDS) if alone else len(PERSONS))[relation in (REPLACE, REPLACED)]

    assert Fraction(9, 10) * statistic.l2_squared <= squared <= statistic.l2_squared
    assert along <= statistic.l1


def test_the_largest_claim_of_several_tallies_is_not_one_for_all_of_them() -> None:
    """The twin: a record is in every tally at once."""
    joint = joint_of(ADD)
    read = read_under(joint.recipe.schema, joint.recipe.tallies)
    claims = [tally.statistic(joint.recipe.schema).l2_squared * factor**2 for tally, factor, _ in joint.parts]

    assert farthest(of_records(joint.statistic, read), len(KINDS))[0][0] > max(claims)


@pytest.mark.parametrize("relation", [PERSON, REPLACED])
@pytest.mark.parametrize("question", ["count by g", "persons by t, g", "share of t = 1 by g", "mean of r by g"])
def test_without_weights_a_person_moves_a_tally_further(
    question: str, relation: Neighbours, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin: all rows at full weight."""
    monkeypatch.setattr(tallies, "weights_of", lambda owners, steps, count, reach: np.full(count, PER_WEIGHT))
    tally = tally_of(question)
    statistic, read = tally.statistic(schema_of(relation)), read_under(schema_of(PERSON), [tally])

    assert farthest(of_persons(statistic, read), len(PERSONS))[relation is REPLACED][0] > statistic.l2_squared


def test_a_signed_value_would_move_further_than_its_two_cells_when_it_is_replaced() -> None:
    """The twin: one cell with v − (1 − v) moves by twice its length, and two cells by √2 of it."""
    tally = tally_of("sum of n")
    statistic, read = tally.statistic(schema_of(REPLACE)), read_under(schema_of(REPLACE), [tally])
    signed = farthest(lambda chosen: -np.diff(of_records(statistic, read)(chosen)), len(KINDS))

    steps = full_steps(bounded_column(schema_of(REPLACE)["n"]))
    assert signed[0][0] == steps**2
    assert signed[1][0] == (2 * steps) ** 2 > statistic.l2_squared == 2 * STEPS**2


@pytest.mark.parametrize("question", [*ALONE, *GROUPED])
def test_a_record_adds_the_same_whoever_else_is_there_and_in_any_order(question: str) -> None:
    tally = tally_of(question)
    read = read_under(schema_of(ADD), [tally])
    evaluate = of_records(tally.statistic(schema_of(ADD)), read)
    own = [evaluate((kind,)) for kind in range(len(KINDS))]

    for chosen in [(0, 7, 7), (23, 1, 12), (5, 16, 9)]:
        for order in permutations(chosen):
            assert np.array_equal(evaluate(order), sum(own[kind] for kind in chosen))


@pytest.mark.parametrize("question", [*GROUPED, *OF_PERSONS])
def test_a_person_adds_the_same_whoever_else_is_there(question: str) -> None:
    """With missing values too, and beside persons with many more rows."""
    everybody = (*PERSONS, KINDS[:3], KINDS[9:12] * 4, (KINDS[-1],), KINDS)
    tally = tally_of(question)
    statistic, read = tally.statistic(schema_of(PERSON)), read_under(schema_of(PERSON), [tally])

    table = persons(read, everybody)

    def evaluate(*chosen: int) -> Integers:
        return statistic.evaluate(table(chosen))

    own = [evaluate(person) for person in range(len(everybody))]

    assert max(int((each**2).sum()) for each in own) <= statistic.l2_squared
    for one, other in combinations_with_replacement(range(len(everybody)), 2):
        assert np.array_equal(evaluate(one, other), own[one] + own[other])


def test_values_of_a_column_make_a_whole_row_together() -> None:
    """From the least value to the greatest, so that the number of values follows from both cells."""
    for question in ("mean of n", "mean of b", "mean of r"):
        tally = tally_of(question)
        steps = full_steps(bounded_column(schema_of(ADD)[question[-1]]))
        read = read_under(schema_of(ADD), [tally])
        least, between, greatest, missing = (
            of_records(tally.statistic(schema_of(ADD)), read)((kind,)).tolist() for kind in range(4)
        )

        assert (least[0], greatest[1], missing) == (0, 0, [0, 0]) or question == "mean of r"
        assert sum(least) == sum(between) == sum(greatest) == steps
        assert least[0] <= 1 and greatest[1] <= 1 < between[0] < steps - 1


@pytest.mark.parametrize("relation", [PERSON, REPLACED])
def test_no_person_moves_the_lengths_of_persons_further_than_claimed(relation: Neighbours) -> None:
    chosen = tuple(tally_of(each) for each in TOGETHER)
    statistic, read = lengths_of(chosen, schema_of(relation)), read_under(schema_of(relation), chosen)

    squared, along = farthest(of_persons(statistic, read), len(PERSONS))[relation is REPLACED]

    assert squared <= statistic.l2_squared
    assert along <= statistic.l1
    assert squared == statistic.l2_squared
    single = lengths_of(chosen[:1], schema_of(relation))
    assert squared > single.l2_squared  # the twin: one tally's claim for the lengths in three


def test_a_person_with_more_rows_than_can_be_squared_is_weighed_down_all_the_same() -> None:
    """At the largest bound, where a single step of weight would be too long for half a million equal values."""
    reach = STEPS * MOST_ROWS
    for length in (PER_WEIGHT * reach - 1, PER_WEIGHT * reach, PER_WEIGHT * reach + 1, 2**33, 2**40):
        owners, steps = np.zeros(1, dtype=np.int64), np.array([length], dtype=np.int64)

        assert int(weights_of(owners, steps, 1, reach)[0]) * length <= PER_WEIGHT * reach


def test_squared_lengths_are_exact_below_their_end_and_cut_there() -> None:
    owners = np.array([0, 0, 1, 2, 2], dtype=np.int64)
    steps = np.array([3, 2**31 - 1, 5, 2**31, 2**31], dtype=np.int64)

    assert squared_lengths(owners, steps, 4).tolist() == [9 + (2**31 - 1) ** 2, 25, LONGEST, 0]


def test_a_person_is_there_once_however_many_rows_say_so() -> None:
    """The twin: rows are counted as often as they are, up to the bound."""
    for question, times in (("persons by g", 1), ("count by g", 2)):
        tally = tally_of(question)
        read = read_under(schema_of(PERSON), [tally])
        evaluate = tally.statistic(schema_of(PERSON), most=2).evaluate
        once, twice = (evaluate(persons(read, ((KINDS[0],) * rows,))((0,))) for rows in (1, 2))

        assert np.array_equal(twice, times * once)


@pytest.mark.parametrize("question", ["persons", "persons by g", "persons by t, g", "count by g"])
def test_a_person_is_said_to_count_in_full_wherever_they_are_just_where_they_do(question: str) -> None:
    """Somebody who has a row of every kind is in every group: as long as the root of their number, and no longer."""
    tally, schema = tally_of(question), schema_of(PERSON)
    everywhere = persons(read_under(schema, [tally]), (tuple(KINDS),))((0,))
    whole = np.full(tally.cells(schema), tally.unit * PER_WEIGHT)

    for most in (1, 2, 3, 4):
        found = tally.statistic(schema, most=most).evaluate(everywhere)
        assert tally.cuts_nobody(schema, most) is (question != "count by g" and np.array_equal(found, whole))


@pytest.mark.parametrize("question", ["count by g", "mean of b by g", "persons by g"])
def test_one_row_each_is_counted_as_records_are(question: str) -> None:
    """At full weight, in finer steps."""
    tally = tally_of(question)
    grouped = persons(read_under(schema_of(PERSON), [tally]))([0, 0, 1, 2])
    as_rows = tally if question != "persons by g" else tally_of("count by g")
    table = replace(grouped.table, schema=read_under(schema_of(ADD), [tally]))

    found = tally.statistic(schema_of(PERSON)).evaluate(grouped)

    assert np.array_equal(found, PER_WEIGHT * as_rows.statistic(schema_of(ADD)).evaluate(table))
