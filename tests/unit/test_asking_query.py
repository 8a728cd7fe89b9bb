"""Queries: what a schema cannot answer is refused in one sentence, before any data is opened."""

from fractions import Fraction

import pytest

from expost.errors import InvalidValue, SchemaMismatch
from expost.jobs.asking.query import Count, Mean, Measure, Persons, Quantile, Query, Share, Sum
from expost.private import Neighbours
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.schema.sentences import Condition, Relation
from tests.unit.examples import one_sentence

VISITS = Schema.load("""
reviewed = true
neighbours = "add-remove"
unit = "patient"

[[column]]
name = "ward"
kind = "categorical"
values = ["A1", "A2"]
missing = true

[[column]]
name = "the sex"
kind = "boolean"
missing = false

[[column]]
name = "days"
kind = "integer"
range = [0, 30]
missing = false

[[column]]
name = "age"
kind = "integer"
edges = [0, 18, 65, 120]
closed = "left"
missing = true

[[column]]
name = "dose"
kind = "numeric"
edges = [0.0, 0.5, 2.0]
closed = "left"
missing = false

[[column]]
name = "cost"
kind = "numeric"
edges = [0, 100, inf]
closed = "left"
missing = false

[[column]]
name = "debt"
kind = "integer"
edges = [-inf, 0, 100]
closed = "left"
missing = false

[[column]]
name = "admitted"
kind = "date"
edges = [2020-01-01, 2021-01-01, 2022-01-01]
closed = "left"
missing = false

[[column]]
name = "income"
kind = "numeric"
edges = "private"
range = [0, 1000]
bins = 4
closed = "left"
missing = false
""")


def where(column: str, relation: Relation, *values: str) -> Condition:
    return Condition(column, relation, values)


ADULTS = where("age", Relation.FROM, "18")
FEMALE = where("the sex", Relation.EQUAL, "true")

ANSWERED = [
    Query(Count()),
    Query(Count(), ("ward", "the sex", "age", "cost", "admitted"), (ADULTS, FEMALE)),
    Query(Persons(), ("ward",), (where("ward", Relation.PRESENT),)),
    *(Query(kind(column), ("ward",)) for kind in (Sum, Mean) for column in ("days", "age", "dose")),
    *(Query(Quantile(column, Fraction(9, 10))) for column in ("days", "age", "dose")),
    Query(Share((FEMALE, where("ward", Relation.AMONG, "A1", "A2"))), ("age",)),
    Query(Count(), where=(where("admitted", Relation.BELOW, "2021-01-01"),)),
]


@pytest.mark.parametrize("query", ANSWERED, ids=str)
def test_what_the_schema_can_answer_is_not_refused(query: Query) -> None:
    query.require(VISITS)


REFUSED: list[tuple[Query, str]] = [
    (Query(Count(), ("Ward",)), "has no column Ward; it has ward, the sex, days"),
    (Query(Mean("beds")), "has no column beds; it has ward"),
    (Query(Count(), (), (where("x", Relation.EQUAL, "1"),)), "has no column x; it has ward"),
    (Query(Share((where("x", Relation.EQUAL, "1"),))), "has no column x; it has ward"),
    (Query(Count(), ("patient",)), "patient says whose row it is, and its values are not public; ask for persons"),
    (Query(Mean("patient")), "patient says whose row it is"),
    (Query(Count(), (), (where("patient", Relation.EQUAL, "P7"),)), "patient says whose row it is"),
    (Query(Share((where("patient", Relation.PRESENT),))), "patient says whose row it is"),
    (Query(Count(), ("income",)), "bins of income are not public yet; declare its edges"),
    (Query(Mean("income")), "bins of income are not public yet"),
    (Query(Count(), (), (where("income", Relation.BELOW, "10"),)), "bins of income are not public yet"),
    (Query(Sum("ward")), "ward is not a number, and has no sum; ask for counts by ward"),
    (Query(Mean("the sex")), "true or false, and has no mean; ask for the share of 'the sex' = true"),
    (Query(Sum("the sex")), "ask for the share of 'the sex' = true"),
    (Query(Mean("cost")), "say where cost begins and ends"),
    (Query(Quantile("debt", Fraction(1, 2))), "say where debt begins and ends"),
    (Query(Sum("admitted")), "admitted has dates, of which no sum is answered"),
    (Query(Quantile("admitted", Fraction(1, 2))), "admitted has dates, of which no quantile is answered"),
    (Query(Count(), (), (where("age", Relation.BELOW, "16"),)), "parts the bin .* say age < 0 or age < 18"),
    (Query(Share((where("age", Relation.BELOW, "16"),))), "parts the bin"),
    (Query(Count(), (), (where("ward", Relation.EQUAL, "a1"),)), "a1 is not a value of ward, which has A1, A2"),
    (Query(Count(), (), (where("ward", Relation.EQUAL, "true"),)), "true is not a value of ward"),
    (Query(Count(), (), (where("days", Relation.ABSENT),)), "days has no category for missing values"),
    (Query(Count(), ("ward", "age", "ward")), "ward stands twice after by"),
    (Query(Quantile("age", Fraction(1, 2)), ("ward", "age")), "age stands after by, and a quantile of it is asked for"),
    (Query(Count(), (), (where("days", Relation.BELOW),)), "does not go with 0 values"),
    (Query(Count(), (), (where("days", Relation.EQUAL, "1", "2"),)), "does not go with 2 values"),
    (Query(Count(), (), (where("ward", Relation.AMONG),)), "does not go with 0 values"),
    (Query(Count(), (), (where("ward", Relation.ABSENT, "A1"),)), "does not go with 1 values"),
]


@pytest.mark.parametrize(("query", "said"), REFUSED, ids=[f"{query!r}" for query, _ in REFUSED])
def test_what_the_schema_cannot_answer_is_refused_in_one_sentence(query: Query, said: str) -> None:
    with pytest.raises((SchemaMismatch, InvalidValue), match=said) as refusal:
        query.require(VISITS)

    assert one_sentence(refusal.value)


def listed(*sizes: int, unit: str | None = None) -> Schema:
    columns = [Integer(f"c{place}", tuple(range(size)), Missing.FALLBACK) for place, size in enumerate(sizes)]
    neighbours = Neighbours.ADD_REMOVE if unit is None else Neighbours.ADD_REMOVE.of_persons
    return Schema(tuple(columns), reviewed=True, neighbours=neighbours, unit=unit)


def test_persons_are_counted_only_where_the_schema_says_whose_row_it_is() -> None:
    """Without a unit every row is a record of its own, and nobody is counted."""
    Query(Persons()).require(listed(2, unit="who"))

    with pytest.raises(SchemaMismatch, match=r"persons cannot be counted.* as its unit") as refusal:
        Query(Persons()).require(listed(2))

    assert one_sentence(refusal.value)


def test_a_million_groups_are_answered_and_no_more() -> None:
    Query(Count(), ("c0", "c1")).require(listed(2**10, 2**10))

    with pytest.raises(InvalidValue, match="1,049,600 groups, and at most 1,048,576 are answered; ask by fewer"):
        Query(Count(), ("c0", "c1")).require(listed(2**10, 2**10 + 1))


def test_bins_between_finite_edges_have_a_sum_whichever_end_is_closed() -> None:
    """Only the outer edges matter."""
    closed_right = Schema.load(VISITS.dumps().replace('closed = "left"', 'closed = "right"'))

    Query(Sum("age")).require(closed_right)


@pytest.mark.parametrize("level", [Fraction(0), Fraction(1), Fraction(-1, 2), Fraction(3, 2), Fraction(1, 10**6 + 1)])
def test_a_level_outside_0_and_1_or_too_fine_is_refused(level: Fraction) -> None:
    with pytest.raises(InvalidValue, match="level of a quantile of age is not between 0 and 1") as refusal:
        Quantile("age", level)

    assert one_sentence(refusal.value)


def test_a_share_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidValue, match="a share has no condition; say of what"):
        Share(())


@pytest.mark.parametrize(
    ("measure", "columns"),
    [
        (Count(), ("b", "a", "c")),
        (Persons(), ("b", "a", "c")),
        (Sum("c"), ("c", "b", "a")),
        (Mean("d"), ("d", "b", "a", "c")),
        (Quantile("a", Fraction(1, 3)), ("a", "b", "c")),
        (Share((where("d", Relation.ABSENT), where("a", Relation.ABSENT))), ("d", "a", "b", "c")),
    ],
)
def test_the_columns_are_those_of_measure_groups_and_conditions_each_once(
    measure: Measure, columns: tuple[str, ...]
) -> None:
    query = Query(measure, ("b", "a"), (where("c", Relation.PRESENT), where("b", Relation.EQUAL, "a")))

    assert query.columns == columns


@pytest.mark.parametrize(
    ("query", "text"),
    [
        (Query(Mean("days"), ("ward", "sex"), (FEMALE,)), "mean of days by ward, sex where 'the sex' = true"),
        (Query(Share((FEMALE, ADULTS))), "share of 'the sex' = true and age >= 18"),
        (Query(Quantile("by", Fraction(1, 2))), "median of 'by'"),
        (Query(Quantile("mean", Fraction(9, 10))), "quantile 0.9 of 'mean'"),
        (Query(Quantile("a", Fraction(1, 10**6))), "quantile 0.000001 of a"),
        (Query(Quantile("a", Fraction(1, 2**7))), "quantile 1/128 of a"),
        (Query(Persons(), (), (where("a", Relation.AMONG, "x", "it's"),)), "persons where a in (x, 'it''s')"),
        (Query(Count(), (), (where("a", Relation.PRESENT),)), "count where a is not missing"),
        (Query(Sum("Count")), "sum of Count"),
    ],
)
def test_a_query_is_told_as_a_plain_question(query: Query, text: str) -> None:
    assert str(query) == text
