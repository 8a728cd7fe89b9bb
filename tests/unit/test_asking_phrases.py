"""Plain questions: each form says what it says, and what cannot be read is named in one sentence."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expost.errors import ExpostError, InvalidValue, SchemaMismatch
from expost.jobs.asking.levels import level_in
from expost.jobs.asking.phrases import queries_in
from expost.jobs.asking.query import FINEST, WORDS, Count, Mean, Persons, Quantile, Query, Share, Sum
from expost.tabular.schema.sentences import COMPARED, Condition, Relation
from tests.unit.examples import one_sentence

MEDIAN = Fraction(1, 2)
EMERGENCY = Condition("emergency", Relation.EQUAL, ("true",))
YES = Condition("readmitted", Relation.EQUAL, ("yes",))
YOUNG = Condition("age", Relation.BELOW, ("18",))

MEANT: dict[str, list[Query]] = {
    "count": [Query(Count())],
    "  Count by ward ": [Query(Count(), ("ward",))],
    "rows by ward": [Query(Count(), ("ward",))],
    "count by ward, sex and age": [Query(Count(), ("ward", "sex", "age"))],
    "persons by ward": [Query(Persons(), ("ward",))],
    "distinct persons by ward": [Query(Persons(), ("ward",))],
    "sum of days by ward": [Query(Sum("days"), ("ward",))],
    "sum days": [Query(Sum("days"))],
    "mean days by ward": [Query(Mean("days"), ("ward",))],
    "mean of days": [Query(Mean("days"))],
    "Average days": [Query(Mean("days"))],
    "average of days": [Query(Mean("days"))],
    "median age by ward, sex": [Query(Quantile("age", MEDIAN), ("ward", "sex"))],
    "median of age": [Query(Quantile("age", MEDIAN))],
    "quantile 0.9 of age": [Query(Quantile("age", Fraction(9, 10)))],
    "quantile 90% of age": [Query(Quantile("age", Fraction(9, 10)))],
    "90% quantile of age": [Query(Quantile("age", Fraction(9, 10)))],
    ".25 quantile age": [Query(Quantile("age", Fraction(1, 4)))],
    "quantile 1/3 of age": [Query(Quantile("age", Fraction(1, 3)))],
    "99.9% quantile of age": [Query(Quantile("age", Fraction(999, 1000)))],
    "share of readmitted = yes by ward": [Query(Share((YES,)), ("ward",))],
    "share of emergency": [Query(Share((EMERGENCY,)))],
    "share of readmitted = yes and age < 18 by ward": [Query(Share((YES, YOUNG)), ("ward",))],
    "histogram of age": [Query(Count(), ("age",))],
    "histogram age by ward": [Query(Count(), ("age", "ward"))],
    "cross-tab of ward and sex": [Query(Count(), ("ward", "sex"))],
    "crosstab of ward, sex": [Query(Count(), ("ward", "sex"))],
    "Cross-tab of ward, sex, and age": [Query(Count(), ("ward", "sex", "age"))],
    "count where emergency": [Query(Count(), (), (EMERGENCY,))],
    "count by ward where emergency and age<18": [Query(Count(), ("ward",), (EMERGENCY, YOUNG))],
    "count where age < 18 by ward": [Query(Count(), ("ward",), (YOUNG,))],
    "count where ward in (A1, 'B 2') and sex is not missing and town is missing": [
        Query(
            Count(),
            (),
            (
                Condition("ward", Relation.AMONG, ("A1", "B 2")),
                Condition("sex", Relation.PRESENT),
                Condition("town", Relation.ABSENT),
            ),
        )
    ],
    "count, mean days and median age by ward": [
        Query(Count(), ("ward",)),
        Query(Mean("days"), ("ward",)),
        Query(Quantile("age", MEDIAN), ("ward",)),
    ],
    "count, and 90% quantile of age where emergency": [
        Query(Count(), (), (EMERGENCY,)),
        Query(Quantile("age", Fraction(9, 10)), (), (EMERGENCY,)),
    ],
    "share of emergency and readmitted = yes, count by ward": [
        Query(Share((EMERGENCY, YES)), ("ward",)),
        Query(Count(), ("ward",)),
    ],
    "share of readmitted = yes and mean days": [Query(Share((YES,))), Query(Mean("days"))],
    "crosstab of ward, sex, count by age": [Query(Count(), ("ward", "sex", "age")), Query(Count(), ("age",))],
    "crosstab of ward and 'count'": [Query(Count(), ("ward", "count"))],
}


@pytest.mark.parametrize(("text", "meant"), MEANT.items(), ids=MEANT)
def test_a_question_says_what_it_says(text: str, meant: list[Query]) -> None:
    assert queries_in(text) == tuple(meant)


def test_words_of_a_question_are_names_where_only_a_name_can_stand() -> None:
    """A column named rows need not be quoted unless it could be read as something else."""
    assert queries_in("mean count by rows where share = sum and mean > 3") == (
        Query(
            Mean("count"),
            ("rows",),
            (Condition("share", Relation.EQUAL, ("sum",)), Condition("mean", Relation.ABOVE, ("3",))),
        ),
    )
    assert queries_in("share of emergency and count = 3") == (
        Query(Share((EMERGENCY, Condition("count", Relation.EQUAL, ("3",))))),
    )


def test_names_keep_their_case_and_their_letters() -> None:
    """Ward, ward and WARD are three columns, and By is not by."""
    assert queries_in("mean Mean by Ward, ward, WARD, By, Größe, 病棟 where 'a b' = 'Zürich; DROP TABLE t --'") == (
        Query(
            Mean("Mean"),
            ("Ward", "ward", "WARD", "By", "Größe", "病棟"),
            (Condition("a b", Relation.EQUAL, ("Zürich; DROP TABLE t --",)),),
        ),
    )


REFUSED = {
    "": "ends too early; ask, for example, mean days by ward",
    "   ": "ends too early",
    "counts by ward": "counts has no meaning there in a question; ask, for example, mean days by ward",
    "'count' by ward": "count has no meaning there",
    "count per ward": "per has no meaning there",
    "count COUNT": "COUNT has no meaning there",
    "count BY ward": "BY has no meaning there",
    "maximum of age": "maximum has no meaning",
    "count by": "a column should follow by, where it ends; name one",
    "count by ward,": "a column should follow ,, where it ends",
    "count by of": "put of in quotes if it is one",
    "count by ward by sex": "by has no meaning there",
    "count where a where b": "where has no meaning there",
    "count by ward or sex": "or has no meaning there",
    "count where a = 1 or b = 2": "or has no meaning there",
    "count where": "a column should follow where",
    "count where a =": "a value should follow =",
    "count where a in 3": r"\( should follow in",
    "count,": "ends too early",
    "count and": "ends too early",
    "count, by ward": "by has no meaning there",
    "mean": "a column should follow mean",
    "mean of": "a column should follow of",
    "share emergency": "emergency has no meaning there",
    "share of": "a column should follow of",
    "distinct ward": "ward has no meaning there",
    "quantile of age": "a quantile has no level; say, for example, quantile 0.9 of age",
    "quantile": "a quantile has no level",
    "quantile high of age": "high is not the level of a quantile",
    "quantile 1e-1 of age": "1e-1 is not the level",
    "quantile 1/0 of age": "1/0 is not the level",
    "quantile ٠.٩ of age": "is not the level",
    "quantile % of age": "% is not the level",
    "quantile 1.5 of age": "level of a quantile of age is not between 0 and 1",
    "0% quantile of age": "level of a quantile of age is not between 0 and 1",
    "quantile 0.1234567 of age": "in at most six decimals",
    "histogram": "a column should follow histogram",
    "count by 'ward": "'ward cannot be read",
    "count ! ward": "! cannot be read",
    "count; DROP TABLE visits": "count; has no meaning there",
    "count by ward) OR (1=1": r"\) has no meaning there",
    "count by a" + ", a" * 5000: "more than 10,000 characters; ask several shorter ones",
}


@pytest.mark.parametrize(("text", "said"), REFUSED.items(), ids=[text[:30] for text in REFUSED])
def test_what_cannot_be_read_is_named(text: str, said: str) -> None:
    with pytest.raises((InvalidValue, SchemaMismatch), match=said) as refusal:
        queries_in(text)

    assert one_sentence(refusal.value)


@pytest.mark.parametrize("text", ["SELECT count(*) FROM t", " select count(*) from t", "\nSeLeCt COUNT(*) FROM t;"])
def test_a_text_that_begins_with_select_is_sql(text: str) -> None:
    assert queries_in(text) == (Query(Count()),)


def test_a_text_that_begins_with_with_is_sql_too() -> None:
    """It is refused as SQL, and not for the word."""
    with pytest.raises(InvalidValue, match="WITH makes a table of its own"):
        queries_in("with x as (select 1) select count(*) from x")


def test_the_unit_is_passed_on_to_sql() -> None:
    assert queries_in("SELECT count(DISTINCT who) FROM t", unit="who") == (Query(Persons()),)


@pytest.mark.parametrize(
    ("text", "level"),
    [("0.5", Fraction(1, 2)), ("12.5%", Fraction(1, 8)), ("2/3", Fraction(2, 3)), (".5%", Fraction(1, 200))],
)
def test_a_level_is_read_exactly(text: str, level: Fraction) -> None:
    assert level_in(text) == level


NAMES = st.one_of(
    st.text(max_size=6),
    st.text("ab '\"=<>!->(),:%", max_size=6),
    st.sampled_from([*sorted(WORDS), "or", "By", "90%", "it's", "a b", "SELECT", "with", "(missing)", "-> x"]),
)
CONDITIONS = st.one_of(
    st.builds(lambda name, how, value: Condition(name, how, (value,)), NAMES, st.sampled_from(COMPARED), NAMES),
    st.builds(
        lambda name, values: Condition(name, Relation.AMONG, tuple(values)),
        NAMES,
        st.lists(NAMES, min_size=1, max_size=3),
    ),
    st.builds(Condition, NAMES, st.sampled_from([Relation.ABSENT, Relation.PRESENT])),
)
LEVELS = st.one_of(
    st.fractions(0, 1, max_denominator=FINEST), st.integers(1, FINEST - 1).map(lambda each: Fraction(each, FINEST))
).filter(lambda level: 0 < level < 1)
MEASURES = st.one_of(
    st.just(Count()),
    st.just(Persons()),
    st.builds(Sum, NAMES),
    st.builds(Mean, NAMES),
    st.builds(Quantile, NAMES, LEVELS),
    st.builds(Share, st.lists(CONDITIONS, min_size=1, max_size=3).map(tuple)),
)
QUERIES = st.builds(
    Query, MEASURES, st.lists(NAMES, max_size=3).map(tuple), st.lists(CONDITIONS, max_size=3).map(tuple)
)


@given(QUERIES)
def test_a_query_goes_round_through_its_text(query: Query) -> None:
    assert queries_in(str(query)) == (query,)


@given(
    st.one_of(
        st.text(max_size=30),
        st.text("ab '\"=<>!->(),:%./19", max_size=20),
        st.lists(st.sampled_from([*sorted(WORDS), ",", "(", ")", "=", "<", "a", "0.9", "90%", "'x'"]), max_size=12).map(
            " ".join
        ),
    )
)
def test_any_text_is_read_or_refused_by_an_error_of_ours(text: str) -> None:
    try:
        asked = queries_in(text)
    except ExpostError as refusal:
        assert str(refusal).endswith(".")
    else:
        assert asked == tuple(query for each in asked for query in queries_in(str(each)))
