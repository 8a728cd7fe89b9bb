"""SQL: what can be billed becomes queries, and any other clause is refused by a sentence that names it."""

import logging
import subprocess
import sys
from fractions import Fraction

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import expost
from expost.errors import ExpostError, InvalidValue
from expost.jobs.asking.phrases import queries_in
from expost.jobs.asking.query import Count, Mean, Measure, Persons, Quantile, Query, Share, Sum
from expost.jobs.asking.sql import LONGEST, queries_in_sql
from expost.noise import SeededNoise
from expost.private import Neighbours
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Categorical
from expost.tabular.schema.schema import Schema
from expost.tabular.schema.sentences import Condition, Relation
from tests.unit.examples import one_sentence

MEDIAN = Fraction(1, 2)


def where(column: str, relation: Relation, *values: str) -> Condition:
    return Condition(column, relation, values)


MEASURES: dict[str, Measure] = {
    "count(*)": Count(),
    "COUNT(*) AS n": Count(),
    "count(DISTINCT who)": Persons(),
    "count(DISTINCT t.who)": Persons(),
    "sum(days)": Sum("days"),
    "avg(days)": Mean("days"),
    "Mean(days)": Mean("days"),
    "median(age)": Quantile("age", MEDIAN),
    "quantile_cont(age, 0.9)": Quantile("age", Fraction(9, 10)),
    "percentile_cont(age, .25)": Quantile("age", Fraction(1, 4)),
    "quantile(age, 0.5)": Quantile("age", MEDIAN),
    "approx_quantile(age, 0.5)": Quantile("age", MEDIAN),
    "percentile_cont(0.9) WITHIN GROUP (ORDER BY age)": Quantile("age", Fraction(9, 10)),
    "percentile_cont(0.9) WITHIN GROUP (ORDER BY age ASC)": Quantile("age", Fraction(9, 10)),
    "avg(CASE WHEN readmitted = 'yes' THEN 1 ELSE 0 END) share": Share((where("readmitted", Relation.EQUAL, "yes"),)),
    "avg(CASE WHEN a AND age < 18 THEN 1 ELSE 0 END)": Share(
        (where("a", Relation.EQUAL, "true"), where("age", Relation.BELOW, "18"))
    ),
}


@pytest.mark.parametrize(("aggregate", "measure"), MEASURES.items(), ids=MEASURES)
def test_an_aggregate_is_a_measure(aggregate: str, measure: Measure) -> None:
    assert queries_in_sql(f"SELECT {aggregate} FROM t", unit="who") == (Query(measure),)


TOLD_APART: dict[str, tuple[Condition, ...]] = {
    "ward = 'A'": (where("ward", Relation.EQUAL, "A"), where("ward", Relation.PRESENT)),
    "ward <> 'A' AND age < 18": (
        where("ward", Relation.UNEQUAL, "A"),
        where("age", Relation.BELOW, "18"),
        where("ward", Relation.PRESENT),
    ),
    "ward = 'A' AND ward IS NOT NULL": (where("ward", Relation.EQUAL, "A"), where("ward", Relation.PRESENT)),
    "ward IS NULL": (where("ward", Relation.ABSENT),),
}


@pytest.mark.parametrize(("condition", "meant"), TOLD_APART.items(), ids=TOLD_APART)
def test_a_case_is_known_of_all_rows_where_a_column_may_be_missing(
    condition: str, meant: tuple[Condition, ...]
) -> None:
    text = f"SELECT avg(CASE WHEN {condition} THEN 1 ELSE 0 END) FROM t"

    assert queries_in(text, gaps=frozenset({"ward"})) == (Query(Share(meant)),)


def test_else_takes_the_rows_for_which_when_is_not_known() -> None:
    """The twin is the plain question, which leaves them out."""
    ward = Categorical("ward", ("A", "B"), missing=Missing.CATEGORY)
    schema = Schema((ward,), True, Neighbours.ADD_REMOVE)
    table = pd.DataFrame({"ward": ["A", "B", None, None] * 5_000})

    def told(question: str) -> float:
        answer = expost.ask(table, question, schema=schema, within="2%", max_epsilon=5, noise=SeededNoise(2))
        return answer.told[0].lines[0].estimate

    assert told("SELECT avg(CASE WHEN ward = 'A' THEN 1 ELSE 0 END) FROM t") == pytest.approx(0.25, rel=0.02)
    assert told("share of ward = A") == pytest.approx(0.5, rel=0.02)


CONDITIONS: dict[str, list[Condition]] = {
    "a = 1": [where("a", Relation.EQUAL, "1")],
    "a = 'x y'": [where("a", Relation.EQUAL, "x y")],
    "a <> 'it''s'": [where("a", Relation.UNEQUAL, "it's")],
    "a != 1": [where("a", Relation.UNEQUAL, "1")],
    "a < -1.5": [where("a", Relation.BELOW, "-1.5")],
    "a <= 2": [where("a", Relation.UP_TO, "2")],
    "a > 2": [where("a", Relation.ABOVE, "2")],
    "a >= DATE '2024-01-31'": [where("a", Relation.FROM, "2024-01-31")],
    "a = TRUE AND b = false": [where("a", Relation.EQUAL, "true"), where("b", Relation.EQUAL, "false")],
    "a IN ('x', 2)": [where("a", Relation.AMONG, "x", "2")],
    "a NOT IN ('x', 2)": [where("a", Relation.UNEQUAL, "x"), where("a", Relation.UNEQUAL, "2")],
    "a BETWEEN 1 AND 5 AND b": [
        where("a", Relation.FROM, "1"),
        where("a", Relation.UP_TO, "5"),
        where("b", Relation.EQUAL, "true"),
    ],
    "a IS NULL": [where("a", Relation.ABSENT)],
    "a IS NOT NULL": [where("a", Relation.PRESENT)],
    "NOT a IS NULL": [where("a", Relation.PRESENT)],
    "emergency": [where("emergency", Relation.EQUAL, "true")],
    "NOT emergency": [where("emergency", Relation.EQUAL, "false")],
    "(a = 'x' OR a = 'y' OR (a = 'z')) AND (b)": [
        where("a", Relation.AMONG, "x", "y", "z"),
        where("b", Relation.EQUAL, "true"),
    ],
    "t.a = 1": [where("a", Relation.EQUAL, "1")],
    "a = 'x; DROP TABLE t; --'": [where("a", Relation.EQUAL, "x; DROP TABLE t; --")],
    "a = 1 -- AND b = 2": [where("a", Relation.EQUAL, "1")],
}


@pytest.mark.parametrize(("text", "meant"), CONDITIONS.items(), ids=CONDITIONS)
def test_where_is_a_row_of_conditions(text: str, meant: list[Condition]) -> None:
    assert queries_in_sql(f"SELECT count(*) FROM t WHERE {text}") == (Query(Count(), (), tuple(meant)),)


def test_a_count_of_a_column_leaves_out_rows_where_it_is_missing() -> None:
    """As in SQL, and for that aggregate alone."""
    b = where("b", Relation.EQUAL, "true")

    assert queries_in_sql("SELECT count(a), count(*) FROM t WHERE b") == (
        Query(Count(), (), (b, where("a", Relation.PRESENT))),
        Query(Count(), (), (b,)),
    )


GROUPS = {
    "SELECT ward, count(*) FROM t GROUP BY ward": ("ward",),
    "SELECT ward AS w, sex, count(*) FROM t GROUP BY 2, 1": ("sex", "ward"),
    "SELECT count(*) FROM t GROUP BY ward, sex": ("ward", "sex"),
    "SELECT v.ward, count(*) FROM main.visits AS v GROUP BY v.ward": ("ward",),
    "SELECT ward AS ward, count(*) FROM 'visits.parquet' GROUP BY ward": ("ward",),
    'SELECT "the ward", count(*) FROM t GROUP BY "the ward"': ("the ward",),
    'SELECT "limit", "Größe", count(*) FROM t GROUP BY "limit", "Größe"': ("limit", "Größe"),
    "SELECT Ward, ward, WARD, count(*) FROM T GROUP BY Ward, ward, WARD": ("Ward", "ward", "WARD"),
    "SELECT Date, Year, Rows, First, count(*) FROM t GROUP BY 1, 2, 3, 4": ("Date", "Year", "Rows", "First"),
    'SELECT Left, Text, "a""b", count(*) FROM t GROUP BY 1, 2, 3': ("Left", "Text", 'a"b'),
}


@pytest.mark.parametrize(("text", "by"), GROUPS.items(), ids=GROUPS)
def test_groups_keep_the_names_of_their_columns(text: str, by: tuple[str, ...]) -> None:
    assert queries_in_sql(text) == (Query(Count(), by),)


def test_each_aggregate_is_a_query_of_the_same_groups_and_rows() -> None:
    text = "SELECT ward, sex, count(*), avg(days), median(age) FROM t WHERE emergency GROUP BY ward, sex"

    assert queries_in_sql(text) == queries_in("count, mean days, median age by ward, sex where emergency")


TAIL = {
    "HAVING count(*) > 3": "HAVING would decide by records which groups are shown; ask for all groups and choose",
    "QUALIFY a = 1": "QUALIFY would decide",
    "ORDER BY 1": "ORDER BY is not answered, .*; sort them afterwards",
    "LIMIT 3": "LIMIT would show some of the groups; ask for all groups",
    "OFFSET 3": "OFFSET would show",
    "FETCH FIRST 3 ROWS ONLY": "FETCH would show",
    "JOIN u ON t.a = u.a": "JOIN reads a second table.*; join them into one table beforehand",
    "LEFT JOIN u USING (a)": "JOIN reads a second table",
    "NATURAL JOIN u": "JOIN reads a second table",
    ", u": "several tables are named after FROM",
    ", LATERAL u": "LATERAL reads a second table",
    "UNION SELECT count(*) FROM t": "UNION asks two questions in one",
    "INTERSECT SELECT 1": "INTERSECT asks",
    "EXCEPT SELECT 1": "EXCEPT asks",
    "TABLESAMPLE 10 PERCENT": "TABLESAMPLE would read some of the records",
    "PIVOT (sum(x) FOR y IN ('a'))": "PIVOT makes a table",
    "WINDOW w AS (PARTITION BY a)": "WINDOW sets records beside each other",
    "AS u(a, b)": "COLUMNS is not answered in .*; leave it out",
    "FOR UPDATE": "FOR has no place",
    "; DROP TABLE t": "a semicolon parts two statements; ask one SELECT at a time",
    ";;": "a semicolon",
    "GROUP BY ALL": "ALL does not say which columns",
    "GROUP BY ROLLUP (a)": "ROLLUP asks for groups of several kinds",
    "GROUP BY CUBE (a)": "CUBE asks for groups",
    "GROUP BY GROUPING SETS ((a), ())": "GROUPING SETS asks for groups",
    "GROUP BY upper(a)": "UPPER\\(a\\) is not a column; name columns as the schema does",
    "GROUP BY 0": "GROUP BY 0 is not the place of a selected column",
    "GROUP BY 2": "GROUP BY 2 is not the place",
    "GROUP BY 'a'": "GROUP BY 'a' is not the place",
    "GROUP BY 1": r"COUNT\(\*\) is not a column",
    "GROUP BY u.a": "u.a is of another table than the one after FROM",
    "t2 t3": "the SQL cannot be read; ask, for example, SELECT ward",
    "WHERE": "the SQL cannot be read",
    "WHERE a LIKE 'x%'": "LIKE looks inside values; name them",
    "WHERE a = 1 OR b = 2": "OR joins a with another column",
    "WHERE a = 1 OR a > 3": "OR is answered only between equalities of one column",
    "WHERE (a = 1 AND b) OR a = 2": "OR is answered only between equalities",
    "WHERE a = b": "b is not a value; compare a column with a value",
    "WHERE 5 < a": "5 is not a column",
    "WHERE a = NULL": "a comparison with NULL never holds; say IS NULL",
    "WHERE NOT a = 3": "NOT a = 3 is not answered; turn it round",
    "WHERE NOT (a = 3 AND b)": "NOT .* is not answered",
    "WHERE a NOT BETWEEN 1 AND 2": "NOT a BETWEEN 1 AND 2 is not answered",
    "WHERE a IS TRUE": "a IS TRUE is not a condition that is answered; compare columns with values",
    "WHERE TRUE": "TRUE is not a condition",
    "WHERE lower(a) = 'x'": "LOWER\\(a\\) is not a column",
    "WHERE a - 1 = 3": "a - 1 is not a column",
    "WHERE a = 1 + 1": "\\+ has no place in what can be answered",
    "WHERE a::int = 1": ":: has no place",
    "WHERE CAST(a AS int) = 1": "is not a column",
    "WHERE a = CAST('1' AS int)": "is not a value",
    "WHERE a = 'x' 'y'": "is not a value",
    "WHERE a = $1": r"\$ has no place",
    "WHERE a IN (SELECT 1)": "a second SELECT, a subquery, asks a question inside the first",
    "WHERE EXISTS (SELECT 1)": "EXISTS asks a second question",
    "WHERE s.a = 1": "s.a is of another table",
    "WHERE a BETWEEN SYMMETRIC 2 AND 1": "SYMMETRIC is not answered",
    "WHERE 'open": "the SQL cannot be read",
}


@pytest.mark.parametrize(("tail", "said"), TAIL.items(), ids=TAIL)
def test_a_clause_that_cannot_be_answered_is_named(tail: str, said: str) -> None:
    with pytest.raises(InvalidValue, match=said) as refusal:
        queries_in_sql(f"SELECT count(*) FROM t {tail}")

    assert one_sentence(refusal.value)


SELECTED = {
    "*": r"SELECT \* would show records; ask for aggregates",
    "t.*": r"SELECT \* would show records",
    "ward": "ward is selected, but is not after GROUP BY; add it there",
    "DISTINCT ward": "SELECT DISTINCT would show which values occur",
    "DISTINCT ON (ward) ward": "ON has no place",
    "1": "1 is not answered; ask for count",
    "min(age)": r"MIN\(age\) is not answered; ask for count",
    "stddev(age)": "is not answered; ask for count",
    "my_function(age)": "is not answered; ask for count",
    "mean(age, 2)": "is not answered; ask for count",
    "quantile_disc(age, 0.5)": "is not answered; ask for count",
    "percentile_disc(0.5) WITHIN GROUP (ORDER BY age)": "is not answered; ask for count",
    "percentile_cont(0.5) WITHIN GROUP (ORDER BY age DESC)": "one column in rising order",
    "percentile_cont(0.5) WITHIN GROUP (ORDER BY age, sex)": "one column in rising order",
    "percentile_cont(0.5)": "is not answered; ask for count",
    "quantile_cont(age, sex)": "is not answered; ask for count",
    "quantile_cont(age, 1.5)": "level of a quantile of age is not between 0 and 1",
    "quantile_cont(age, 1e-9)": "1e-9 is not the level of a quantile",
    "quantile_cont(age, [0.1, 0.9])": r"\[ has no place",
    "sum(days * 2)": r"days \* 2 is not a column",
    "sum(abs(days))": r"ABS\(days\) is not a column",
    "sum(count(*))": "is not a column",
    "sum(DISTINCT days)": "DISTINCT is answered only as count",
    "avg(CASE WHEN a THEN 1 END)": "is not a share; say avg",
    "avg(CASE WHEN a THEN 2 ELSE 0 END)": "is not a share",
    "avg(CASE WHEN a THEN 0 ELSE 1 END)": "is not a share",
    "avg(CASE a WHEN 1 THEN 1 ELSE 0 END)": "is not a share",
    "avg(CASE WHEN a THEN 1 WHEN b THEN 1 ELSE 0 END)": "is not a share",
    "avg(CASE WHEN a = b THEN 1 ELSE 0 END)": "b is not a value",
    "sum(CASE WHEN a THEN 1 ELSE 0 END)": "is not a column",
    "count(1)": r"count\(1\) is not answered; ask for count\(\*\)",
    "count()": r"count\(\) is not answered",
    "count(a, b)": "is not answered",
    "count(DISTINCT ward)": r"counts persons, whom who tells apart; say count\(DISTINCT who\)",
    "count(DISTINCT Who)": "counts persons, whom who tells apart",
    "count(DISTINCT who, ward)": "counts persons, whom who tells apart",
    "count(* EXCLUDE (a))": "is not answered in",
    "count(*) OVER ()": "OVER, a window",
    "count(*) FILTER (WHERE a)": "FILTER is for one aggregate alone; put its condition into WHERE",
    "count(*) + 1": r"\+ has no place",
    "-count(*)": r"-COUNT\(\*\) is not answered",
    "(SELECT 1)": "a second SELECT, a subquery",
    "": "asks for no number|is not answered|cannot be read",
}


@pytest.mark.parametrize(("selected", "said"), SELECTED.items(), ids=SELECTED)
def test_what_is_not_an_aggregate_that_can_be_answered_is_named(selected: str, said: str) -> None:
    with pytest.raises(InvalidValue, match=said) as refusal:
        queries_in_sql(f"SELECT {selected} FROM t", unit="who")

    assert one_sentence(refusal.value)


WHOLE = {
    "SELECT count(*)": "the SELECT has no FROM",
    "SELECT": "has no FROM|asks for no number",
    "SELECT ward FROM t GROUP BY ward": "asks for no number; add an aggregate",
    "SELECT ward AS w, count(*) FROM t GROUP BY w": "GROUP BY w is a name given to ward; group by the column itself",
    "SELECT ward AS sex, count(*) FROM t GROUP BY sex": "GROUP BY sex is a name given to ward",
    "SELECT count(*) FROM (SELECT * FROM t)": "a second SELECT, a subquery",
    "SELECT count(*) FROM read_parquet('x')": "after FROM is not a table",
    "SELECT count(*) INTO u FROM t": "INTO would write a table",
    "SELECT count(*) FROM (VALUES (1))": "VALUES makes a table of its own",
    "WITH u AS (SELECT * FROM t) SELECT count(*) FROM u": "WITH makes a table of its own",
    "DROP TABLE t": "DROP has no place|not one SELECT",
    "": "cannot be read|not one SELECT",
}


@pytest.mark.parametrize(("text", "said"), WHOLE.items(), ids=WHOLE)
def test_what_is_not_one_select_of_one_table_is_refused(text: str, said: str) -> None:
    with pytest.raises(InvalidValue, match=said) as refusal:
        queries_in_sql(text)

    assert one_sentence(refusal.value)


def test_persons_cannot_be_counted_without_a_unit() -> None:
    with pytest.raises(InvalidValue, match="the schema does not say whose row it is; name a unit in it"):
        queries_in_sql("SELECT count(DISTINCT who) FROM t")


HOSTILE = {
    "joins": "SELECT a FROM t " + "JOIN t " * 1000,
    "commas": "SELECT count(*) FROM t" + ", t" * 3000,
    "parentheses": "SELECT " + "(" * 4000 + "1" + ")" * 4000 + " FROM t",
    "parentheses around a table": "SELECT count(*) FROM " + "(" * 4000 + "t" + ")" * 4000,
    "negations": "SELECT count(*) FROM t WHERE " + "NOT " * 2400 + "a",
    "signs": "SELECT count(*) FROM t WHERE a = " + "- " * 4000 + "1",
    "cases": "SELECT " + "CASE WHEN " * 900 + "1",
    "functions": "SELECT " + "f(" * 4000,
    "queries": "SELECT (" * 1200,
    "quotes": "SELECT '" + "''" * 4900,
    "comments": "SELECT " + "/*" * 4900,
    "too many characters": "SELECT count(*) FROM t WHERE a = '" + "x" * LONGEST + "'",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_would_keep_a_parser_busy_is_refused(text: str) -> None:
    """A thousand joins, parsed, would take longer than anybody lives."""
    with pytest.raises(InvalidValue) as refusal:
        queries_in_sql(text)

    assert one_sentence(refusal.value)
    assert len(str(refusal.value)) < 300


def test_a_long_but_plain_row_of_conditions_is_read() -> None:
    text = " AND ".join(["a = 1"] * 900)

    (query,) = queries_in_sql(f"SELECT count(*) FROM t WHERE {text}")

    assert len(query.where) == 900


def test_a_refusal_shows_nothing_of_the_parser(caplog: pytest.LogCaptureFixture) -> None:
    """Neither as its cause nor in a log, whose state is left as it was."""
    with caplog.at_level(logging.DEBUG), pytest.raises(InvalidValue) as refusal:
        queries_in_sql("SELECT count(*) FROM t WHERE WHERE")

    assert refusal.value.__suppress_context__
    assert caplog.records == []
    assert not logging.getLogger("sqlglot").disabled


def test_the_parser_is_loaded_only_for_sql() -> None:
    """A plain question is not to wait for it."""
    program = (
        "import sys; from expost.jobs.asking.phrases import queries_in; queries_in('count by ward'); "
        "assert 'sqlglot' not in sys.modules; queries_in('SELECT count(*) FROM t'); assert 'sqlglot' in sys.modules"
    )

    subprocess.run([sys.executable, "-c", program], check=True)


VOCABULARY = (
    "SELECT FROM WHERE GROUP BY ORDER HAVING LIMIT JOIN UNION AND OR NOT IN BETWEEN IS NULL TRUE CASE WHEN THEN ELSE "
    "END DISTINCT AS WITHIN OVER count sum avg median quantile_cont CAST TRIM DATE INTERVAL secret a b \"q\" 's' 1 0.5 "
    "( ) * , . ; - = <> < [ ] { } :: -> $1 ? ' \" /* --"
)


@given(st.one_of(st.text(max_size=30), st.lists(st.sampled_from(VOCABULARY.split()), max_size=15).map(" ".join)))
def test_any_text_is_read_or_refused_by_an_error_of_ours(text: str) -> None:
    try:
        asked = queries_in_sql(f"SELECT {text}", unit="a")
    except ExpostError as refusal:
        assert str(refusal).endswith(".")
    else:
        assert asked == tuple(query for each in asked for query in queries_in(str(each)))
