"""Rules: what they allow is what they say of the values, a missing one breaks none, and a code is never parted."""

import itertools
from collections.abc import Callable
from datetime import date

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from expost.errors import SchemaMismatch
from expost.private import Private, Split
from expost.tabular.schema.binned import Dates, IntegerBins, Numeric
from expost.tabular.schema.bins import Closed
from expost.tabular.schema.cells import Plain
from expost.tabular.schema.column import Column, Missing
from expost.tabular.schema.listed import Boolean, Categorical, Integer
from expost.tabular.schema.rules import Rule, rule_in
from expost.tabular.schema.schema import Schema
from expost.tabular.schema.spelling import DayFormat, Numerals, TruthWords
from expost.tabular.table import Table
from tests.unit.examples import ADD, one_sentence

KEPT, LEFT, RIGHT, INF = Missing.CATEGORY, Closed.LEFT, Closed.RIGHT, float("inf")
DAYS = (date(1900, 1, 1), date(1950, 1, 1), date(1950, 1, 2), date(2000, 1, 1))
COLUMNS: tuple[Column, ...] = (
    Categorical("sex", ("F", "M"), missing=KEPT),
    Boolean("pregnant", Missing.FALLBACK, TruthWords(("ja",), ("nein",))),
    IntegerBins("age", (-INF, 0, 15, 16, 65, INF), LEFT, KEPT, Numerals(",", ".")),
    IntegerBins("visits", (0, 1, 3, 8), RIGHT, Missing.FALLBACK),
    Numeric("weight", (0.0, 2.5, 40.0), LEFT, KEPT),
    Numeric("height", (0.5, 1.5, INF), RIGHT, Missing.FALLBACK),
    Dates("born", (-INF, *DAYS, INF), LEFT, KEPT, DayFormat("%d.%m.%Y")),
    Dates("died", DAYS, RIGHT, Missing.FALLBACK),
    Integer("pain", (0, 2, 5), KEPT),
    Categorical("marital status", ("never married", "and", "it's"), "rest", missing=Missing.FALLBACK),
)
KNOWN = {each.name: each for each in COLUMNS}


def rule(sentence: str) -> Rule:
    return rule_in(sentence, COLUMNS)


def allows(sentence: str, **cells: str | None) -> bool:
    """Whether a record with these cells keeps the rule."""
    found = rule(sentence)
    return bool(found.allowed[tuple(KNOWN[name].encode([cells[name]]).item() for name in found.columns)])


@pytest.mark.parametrize("sentence", ["pregnant implies sex = F", "never pregnant and sex = M"])
def test_a_boolean_column_alone_means_that_it_is_true(sentence: str) -> None:
    assert rule(sentence).allowed.tolist() == rule("pregnant = yes implies sex = F").allowed.tolist()
    assert rule(f"{sentence}").flags != rule(sentence.replace("pregnant", "not pregnant")).flags


def test_not_before_a_boolean_column_means_that_it_is_false() -> None:
    assert rule("sex = M implies not pregnant").flags == rule("sex = M implies pregnant = no").flags


@pytest.mark.parametrize("sentence", ["sex implies pregnant", "never not sex", "never age and pregnant"])
def test_a_column_alone_that_is_not_boolean_is_refused_with_what_to_write(sentence: str) -> None:
    with pytest.raises(SchemaMismatch, match="alone would mean that it is true, and it is not boolean; say") as refusal:
        rule(sentence)

    assert one_sentence(refusal.value)


@pytest.mark.parametrize(
    ("pregnant", "sex", "kept"),
    [("ja", "F", True), ("ja", "M", False), ("nein", "M", True), ("ja", None, True), (None, "M", True)],
)
def test_what_a_value_implies_must_be_unless_it_is_missing(pregnant: str | None, sex: str | None, kept: bool) -> None:
    assert allows("pregnant = yes implies sex = F", pregnant=pregnant, sex=sex) is kept


@pytest.mark.parametrize(
    ("age", "sex", "kept"), [("14", "M", False), ("15", "M", True), ("14", "F", True), (None, "M", True)]
)
def test_what_never_is_may_be_where_a_value_is_missing(age: str | None, sex: str, kept: bool) -> None:
    assert allows("never age < 15 and sex = M", age=age, sex=sex) is kept


def test_missing_values_are_named_by_a_condition_of_their_own() -> None:
    skipped, asked = "pregnant = yes implies age is missing", "sex is not missing implies age is not missing"

    assert allows(skipped, pregnant="ja", age=None)
    assert not allows(skipped, pregnant="ja", age="3")
    assert not allows(asked, sex="F", age=None)
    assert allows(asked, sex=None, age=None)


@pytest.mark.parametrize(
    ("status", "pain", "kept"),
    [("and", "2", True), ("and", "0", False), ("it's", "0", True), ("and", None, True), ("anything", "5", True)],
)
def test_a_column_that_determines_another_leaves_open_what_is_not_listed(
    status: str, pain: str | None, kept: bool
) -> None:
    sentence = "'marital status' determines pain: 'never married' -> 0, 'and' -> 2, 'it''s' -> 0"

    assert allows(sentence, pain=pain, **{"marital status": status}) is kept


def test_a_rule_knows_its_sentence_and_its_columns_in_the_order_of_the_schema() -> None:
    found = rule("pregnant=yes   implies sex = F and age>=15")

    assert found.sentence == "pregnant = yes implies sex = F and age >= 15"
    assert found.columns == ("sex", "pregnant", "age")
    assert found.allowed.shape == (3, 2, 6)
    with pytest.raises(ValueError, match="read-only"):
        found.allowed[0] = True


def test_rules_are_equal_by_what_they_say() -> None:
    assert rule("never sex=M") == rule("never sex = M") != rule("never sex = F")
    assert len({rule("never sex=M"), rule("never sex = M")}) == 1


LIMITS = {
    "age": ("-1", "0", "14", "15", "16", "17", "64", "65"),
    "visits": ("0", "1", "2", "3", "4", "8"),
    "weight": ("0", "2.5", "3", "40"),
    "height": ("0.5", "1.5", "2"),
    "born": ("1899-12-31", "1900-01-01", "1949-12-31", "1950-01-01", "1950-01-02", "1960-01-01"),
    "died": ("1900-01-01", "1900-01-02", "1950-01-01", "1950-01-02", "1950-01-03", "2000-01-01"),
    "pain": ("-1", "0", "1", "2", "5", "9"),
}
COMPARED: dict[str, Callable[[float, float], bool]] = {
    "<": lambda value, limit: value < limit,
    "<=": lambda value, limit: value <= limit,
    ">": lambda value, limit: value > limit,
    ">=": lambda value, limit: value >= limit,
    "=": lambda value, limit: value == limit,
    "!=": lambda value, limit: value != limit,
}


def number(text: str) -> float:
    return date.fromisoformat(text).toordinal() if text.count("-") == 2 else float(text)


def values(column: Column) -> dict[int, list[float]]:
    """For each code, values near all limits and edges that become it; those outside all bins are nobody's."""
    if isinstance(column, Integer):
        return {code: [float(value)] for code, value in enumerate(column.values)}
    assert isinstance(column, Numeric | IntegerBins | Dates)
    edges = [edge.toordinal() if isinstance(edge, date) else edge for edge in column.edges]
    step = 0.25 if isinstance(column, Numeric) else 1
    near = {around + move for around in (*map(number, LIMITS[column.name]), *edges) for move in (-step, 0, step)}
    found: dict[int, list[float]] = {}
    for value in sorted(each for each in near if np.isfinite(each)):
        if edges[0] <= value < edges[-1] if column.closed is LEFT else edges[0] < value <= edges[-1]:
            text = date.fromordinal(int(value)).isoformat() if isinstance(column, Dates) else str(value)
            found.setdefault(column.encode([Plain(text)]).item(), []).append(value)
    return found


@pytest.mark.parametrize("sign", COMPARED)
@pytest.mark.parametrize("name", LIMITS)
def test_a_comparison_holds_for_all_values_of_a_code_or_none_and_is_refused_otherwise(name: str, sign: str) -> None:
    column = KNOWN[name]
    count = column.size - (column.missing is KEPT)

    for limit in LIMITS[name]:
        inside = values(column)
        found = [{COMPARED[sign](each, number(limit)) for each in inside[code]} for code in range(count)]
        parted = any(len(each) > 1 for each in found)
        unknown = sign in ("=", "!=") and all(each == {sign == "!="} for each in found)
        if parted or unknown:
            with pytest.raises(SchemaMismatch) as refusal:
                rule(f"never {name} {sign} {limit}")
            assert one_sentence(refusal.value)
        else:
            expected = [each == {False} for each in found] + [True] * (column.size - count)
            assert rule(f"never {name} {sign} {limit}").allowed.tolist() == expected


@pytest.mark.parametrize(
    ("sentence", "said"),
    {
        "never age < 20": "age < 20 parts the bin [16, 65); say age < 16 or age < 65.",
        "never age <= 20": "say age <= 15 or age <= 64.",
        "never age > 70": "age > 70 parts the bin [65, ∞); say age > 64.",
        "never weight <= 2.5": "weight <= 2.5 parts the bin [2.5, 40); say weight < 2.5 or weight < 40.",
        "never height >= 1.5": "height >= 1.5 parts the bin (0.5, 1.5]; say height > 0.5 or height > 1.5.",
        "never born < 1960-01-01": "say born < 1950-01-02 or born < 2000-01-01.",
        "never died > 1940-01-01": "say died > 1900-01-01 or died > 1950-01-01.",
        "never age = 30": "30 is one of several values in the bin [16, 65) of age",
        "never visits = 9": "9 is outside all bins of visits",
        "never weight < heavy": "heavy is not a number",
        "never weight < nan": "nan is not a number",
        "never age < inf": "inf is not a number",
        "never born < 31.12.1950": "31.12.1950 is not a date such as 2024-01-31",
        "never sex = W": "W is not a value of sex, which has F, M;",
        "never pregnant = oui": "oui is not a value of pregnant",
        "never pain in (0, 3)": "3 is not a value of pain, which has 0, 2, 5;",
        "never sex < M": "the values of sex have no order",
        "never pregnant is missing": "pregnant has no category for missing values",
        "never name = F": "name is not a column of the schema; it has sex,",
        "sex determines sex: F -> F, M -> M": "sex determines itself",
        "sex determines pain: F -> 0": "nothing follows from M of sex",
        "sex determines pain: F -> 0, F -> 2": "sex has F twice",
        "sex determines pain: F -> 0, M -> 1": "1 is not a value of pain",
    }.items(),
)
def test_what_has_no_meaning_is_refused_with_what_to_say(sentence: str, said: str) -> None:
    with pytest.raises(SchemaMismatch) as refusal:
        rule(sentence)

    assert said in str(refusal.value)
    assert str(refusal.value).startswith(f'in the rule "{sentence}", ')
    assert one_sentence(refusal.value)


def test_what_is_said_of_a_limit_can_be_said() -> None:
    """The limits that a refusal proposes are taken."""
    for name, sign in itertools.product(LIMITS, ("<", "<=", ">", ">=")):
        for limit in LIMITS[name]:
            try:
                rule(f"never {name} {sign} {limit}")
            except SchemaMismatch as refusal:
                proposed = str(refusal).split("; say ")[1].rstrip(".").split(" or ")
                assert proposed
                assert all(rule(f"never {each}") for each in proposed)


def test_a_rule_of_too_many_combinations_is_refused() -> None:
    wide = tuple(Integer(name, tuple(range(200)), Missing.FALLBACK) for name in "abc")

    with pytest.raises(SchemaMismatch, match="a, b, c have 8,000,000 combinations"):
        rule_in("a = 1 implies b = 2 and c = 3", wide)


def test_a_long_or_broken_sentence_is_shown_on_one_line() -> None:
    with pytest.raises(SchemaMismatch) as refusal:
        rule("never sex =\nW" + " and sex = F" * 30)

    assert one_sentence(refusal.value)
    assert len(str(refusal.value)) < 200


CONDITIONS = st.one_of(
    st.builds(
        "{} {} {}".format,
        st.sampled_from(["sex"]),
        st.sampled_from(["=", "!="]),
        st.sampled_from(["F", "M"]),
    ),
    st.sampled_from(["pregnant = ja", "pregnant != true", "sex is missing", "age is not missing", "pain in (0, 5)"]),
    st.sampled_from(
        ["'marital status' = 'and'", "'marital status' in ('it''s', rest)", "age < 15", "born >= 1950-01-01"]
    ),
)
TRUE: dict[str, Callable[[dict[str, str]], bool | None]] = {
    "sex = F": lambda r: None if r["sex"] == "(missing)" else r["sex"] == "F",
    "sex = M": lambda r: None if r["sex"] == "(missing)" else r["sex"] == "M",
    "sex != F": lambda r: None if r["sex"] == "(missing)" else r["sex"] != "F",
    "sex != M": lambda r: None if r["sex"] == "(missing)" else r["sex"] != "M",
    "pregnant = ja": lambda r: r["pregnant"] == "true",
    "pregnant != true": lambda r: r["pregnant"] != "true",
    "sex is missing": lambda r: r["sex"] == "(missing)",
    "age is not missing": lambda r: r["age"] != "(missing)",
    "pain in (0, 5)": lambda r: None if r["pain"] == "(missing)" else r["pain"] in ("0", "5"),
    "'marital status' = 'and'": lambda r: r["marital status"] == "and",
    "'marital status' in ('it''s', rest)": lambda r: r["marital status"] in ("it's", "rest"),
    "age < 15": lambda r: None if r["age"] == "(missing)" else r["age"] in ("(-∞, 0)", "[0, 15)"),
    "born >= 1950-01-01": lambda r: None if r["born"] == "(missing)" else r["born"] > "[1950",
}
"""What each condition says of a record of labels; None where nobody knows."""


@given(when=st.lists(CONDITIONS, min_size=1, max_size=3), then=st.lists(CONDITIONS, max_size=2))
@settings(max_examples=100, deadline=None)
def test_a_rule_is_broken_just_where_it_is_known_to_be(when: list[str], then: list[str]) -> None:
    """Every combination, one by one: all of the first conditions hold, and one of the others is known to fail."""
    sentence = f"{' and '.join(when)} implies {' and '.join(then)}" if then else f"never {' and '.join(when)}"

    found = rule(sentence)

    assert rule(found.sentence).allowed.tolist() == found.allowed.tolist()
    for codes in np.ndindex(found.allowed.shape):
        record = {name: KNOWN[name].labels[code] for name, code in zip(found.columns, codes, strict=True)}
        applies = all(TRUE[each](record) is True for each in when)
        fails = any(TRUE[each](record) is False for each in then) if then else True
        assert found.allowed[codes] == (not (applies and fails))


def test_a_schema_with_rules_goes_round_through_toml_exactly() -> None:
    rules = (
        "pregnant = yes implies sex=F",
        "never age < 15 and 'marital status' = 'it''s'",
        'sex determines pain: F -> 0, "M" -> 2',
    )
    schema = Schema(COLUMNS, True, ADD, "pregnant", ("?",), rules)

    again = Schema.load(schema.dumps())

    assert again == schema != Schema(COLUMNS, True, ADD, "pregnant", ("?",))
    assert again.dumps() == schema.dumps()
    assert [each.allowed.tolist() for each in again.constraints] == [
        each.allowed.tolist() for each in schema.constraints
    ]
    assert again.rules[2] == "sex determines pain: F -> 0, M -> 2"
    assert schema.tied == (("sex", "pregnant"), ("age", "marital status"), ("sex", "pain"))


@pytest.mark.parametrize("rules", ['"never sex = M"', "[[1]]", '["sex"]', "[1]"])
def test_rules_that_are_not_sentences_are_refused(rules: str) -> None:
    text = Schema(COLUMNS, True, ADD).dumps()

    with pytest.raises(SchemaMismatch) as refusal:
        Schema.load(f"rules = {rules}\n{text}")

    assert one_sentence(refusal.value)


@pytest.mark.parametrize("value", ["A10", "A1x", "A"])
def test_a_code_that_is_longer_than_its_column_knows_is_refused(value: str) -> None:
    """The prefix would stand for all codes that begin alike, of which the rule says nothing."""
    columns = (Categorical("code", ("A1", "B2"), missing=Missing.FALLBACK, prefix=2), COLUMNS[0])

    with pytest.raises(SchemaMismatch, match=f"{value} is not a value of code"):
        rule_in(f"never code = {value} and sex = F", columns)
    assert rule_in("never code = A1 and sex = F", columns).allowed.sum() == 5


def test_rules_with_too_many_combinations_together_are_refused() -> None:
    wide = tuple(Integer(name, tuple(range(1024)), Missing.FALLBACK) for name in "ab")
    rules = tuple(f"never a = {value} and b = 2" for value in range(17))

    assert len(Schema(wide, True, ADD, rules=rules[:16]).constraints) == 16
    with pytest.raises(SchemaMismatch, match="combinations of values together") as refused:
        Schema(wide, True, ADD, rules=rules)
    assert one_sentence(refused.value)


def test_tables_of_one_schema_with_rules_can_be_two_sources() -> None:
    """What rules allow is public, and is not taken for records that both tables have."""
    form = Schema(COLUMNS[:1], True, ADD, rules=("never sex = F",))
    hospitals = (Private(Table(form, {"sex": np.array([code])}), ADD) for code in (1, 2))

    assert Split.from_parts(*hospitals, because="two hospitals").held is not None


def test_what_a_rule_allows_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        rule("never sex = F").allowed[0] = True
