"""Schemas: TOML goes round exactly, and every slip is refused in one sentence."""

import math
from collections.abc import Callable
from datetime import date
from itertools import product
from pathlib import Path

import pytest

from expost.errors import ExpostError, SchemaMismatch, Unreadable
from expost.private import Neighbours
from expost.tabular.schema.binned import Dates, IntegerBins, Numeric
from expost.tabular.schema.bins import Closed
from expost.tabular.schema.column import Column, Missing
from expost.tabular.schema.inside import Inside
from expost.tabular.schema.listed import Boolean, Categorical, Integer
from expost.tabular.schema.private_bins import PrivateBins
from expost.tabular.schema.schema import Schema
from expost.tabular.schema.spelling import DayFormat, Numerals, TruthWords
from tests.unit.examples import ADD, OF_RECORDS, REPLACE, one_sentence

HEAD = 'neighbours = "add-remove"\n'
COLUMN = '[[column]]\nname = "x"\nmissing = true\n'
UNSAID = '[[column]]\nname = "x"\nkind = "boolean"\n'
BINS = 'kind = "numeric"\nedges = [1, 2]\nclosed = "left"\n'
HUGE_BINS = BINS.replace("2", f"1{'0' * 400}")
DATES = 'kind = "date"\nedges = [2020-01-01, 2021-01-01]\nclosed = "left"\n'
INF = math.inf


def every_kind(missing: Missing) -> tuple[Column, ...]:
    """A column of each kind, with texts and numbers that are hard to write."""
    return (
        Categorical(
            "quotes", ('say "so"', "tab\tand\nline", "\x7f\x01", "back\\slash", "ünï"), "other", None, missing=missing
        ),
        Categorical("spaces and = [signs]", ("true", "1", "inf"), None, "1", missing=missing),
        Boolean("b", missing),
        Boolean("words", missing, TruthWords(("ja", 'say "so"'), ("nein",))),
        Integer("points", (1, 2, 5000), missing, Numerals(",", ".")),
        Numeric("spaces", (0.5, 1.5), Closed.LEFT, missing, Numerals(",", " ")),
        IntegerBins("apostrophes", (0, 10), Closed.LEFT, missing, Numerals(thousands="'")),
        Dates("format", (date(2020, 1, 1), date(2021, 1, 1)), Closed.LEFT, missing, DayFormat('%d."%m"\\%Y')),
        Integer("range", (1, 2, 3), missing),
        Integer("values", (1, 2, 5), missing),
        IntegerBins("bins", (-INF, 0, 10, INF), Closed.LEFT, missing),
        Numeric("x", (0.1, 1e-300 + 0.2, 1e300, INF), Closed.RIGHT, missing),
        Dates("d", (-INF, date(2020, 1, 1), date(2021, 1, 1)), Closed.LEFT, missing),
        PrivateBins("money", 0.0, 1e6, 10, False, Closed.LEFT, missing, Numerals(",", ".")),
        PrivateBins("age", -1, 120, 8, True, Closed.RIGHT, missing),
        Categorical("icd", ("I1", "I2"), "other", missing=missing, prefix=2),
        Numeric("shapes", (0.0, 0.01, 1.0, 2.0), Closed.LEFT, missing, inside=(Inside.EDGE, Inside.EVEN, Inside.LOG)),
        IntegerBins("log", (0, 1, 10), Closed.LEFT, missing, inside=Inside.LOG),
        Dates("edge", (date(2020, 1, 1), date(2021, 1, 1)), Closed.LEFT, missing, inside=Inside.EDGE),
    )


@pytest.mark.parametrize(
    ("missing", "neighbours"), [pair for pair in product(Missing, OF_RECORDS) if pair != (Missing.DROP, REPLACE)]
)
def test_a_schema_goes_round_through_toml_exactly(missing: Missing, neighbours: Neighbours) -> None:
    schema = Schema(every_kind(missing), True, neighbours, "b", ("?", "n/a"))

    assert Schema.load(schema.dumps()) == schema


def test_the_text_of_a_schema_goes_round_too() -> None:
    text = Schema(every_kind(Missing.CATEGORY), False, REPLACE).dumps()

    assert Schema.load(text).dumps() == text


def test_bins_that_are_even_inside_are_not_said_to_be() -> None:
    column = Numeric("x", (0.0, 1.0), Closed.LEFT, Missing.DROP, inside=Inside.EVEN)

    assert "inside" not in column.settings


def test_a_schema_is_loaded_from_a_file(tmp_path: Path) -> None:
    schema = Schema((Boolean("b", Missing.FALLBACK),), True, ADD)
    path = tmp_path / "schema.toml"
    path.write_text(schema.dumps(), encoding="utf-8")

    assert Schema.load(path) == Schema.load(str(path)) == schema


def test_a_file_that_an_editor_of_windows_has_marked_as_utf_8_is_loaded(tmp_path: Path) -> None:
    schema = Schema((Boolean("b", Missing.FALLBACK),), True, ADD)
    path = tmp_path / "schema.toml"
    path.write_text(schema.dumps(), encoding="utf-8-sig")

    assert Schema.load(path) == schema


def test_a_schema_knows_its_domain_and_its_columns() -> None:
    schema = Schema((Boolean("b", Missing.CATEGORY), Integer("i", (1, 2), Missing.FALLBACK)), True, ADD)

    assert schema.domain == {"b": 3, "i": 2}
    assert schema["i"] == Integer("i", (1, 2), Missing.FALLBACK)


def test_a_column_that_is_not_there_is_refused_by_name() -> None:
    with pytest.raises(SchemaMismatch, match="no column z; it has b"):
        Schema((Boolean("b", Missing.FALLBACK),), True, ADD)["z"]


def test_a_schema_that_says_nothing_of_a_review_is_not_reviewed() -> None:
    assert not Schema.load(HEAD + COLUMN + 'kind = "boolean"').reviewed


def test_numbers_among_the_categories_are_taken_as_a_table_spells_them() -> None:
    schema = Schema.load(HEAD + COLUMN + 'kind = "categorical"\nvalues = [1, true, "a"]')

    assert schema["x"].labels == ("1", "true", "a", "(missing)")


BAD = {
    "no TOML": (HEAD + "column = [", Unreadable),
    "no columns": (HEAD, SchemaMismatch),
    "an empty list of columns": (HEAD + "column = []", SchemaMismatch),
    "a column that is not a table": (HEAD + "column = [1]", SchemaMismatch),
    "no neighbours": ("\n" + COLUMN + 'kind = "boolean"', SchemaMismatch),
    "unknown neighbours": ('neighbours = "close"\n' + COLUMN + 'kind = "boolean"', SchemaMismatch),
    "an unknown setting": ("colour = 1\n" + HEAD + COLUMN + 'kind = "boolean"', SchemaMismatch),
    "an unknown setting of a column": (HEAD + COLUMN + 'kind = "boolean"\nedges = [1]', SchemaMismatch),
    "a format that is no text": (HEAD + COLUMN + DATES + "format = 1", SchemaMismatch),
    "a format without a year": (HEAD + COLUMN + DATES + 'format = "%d.%m."', SchemaMismatch),
    "an unknown directive": (HEAD + COLUMN + DATES + 'format = "%d %b %Y"', SchemaMismatch),
    "a format of a number": (HEAD + COLUMN + 'kind = "integer"\nrange = [1, 2]\nformat = "%d"', SchemaMismatch),
    "one sign twice": (HEAD + COLUMN + 'kind = "integer"\nrange = [1, 2]\nthousands = "."', SchemaMismatch),
    "a sign that is none": (HEAD + COLUMN + 'kind = "integer"\nrange = [1, 2]\ndecimal = ""', SchemaMismatch),
    "one word on both sides": (HEAD + COLUMN + 'kind = "boolean"\ntrue = ["x"]\nfalse = ["X"]', SchemaMismatch),
    "a word that is no list": (HEAD + COLUMN + 'kind = "boolean"\ntrue = "ja"', SchemaMismatch),
    "an unknown kind": (HEAD + COLUMN + 'kind = "number"', SchemaMismatch),
    "no kind": (HEAD + COLUMN, SchemaMismatch),
    "no name": (HEAD + '[[column]]\nkind = "boolean"', SchemaMismatch),
    "a blank name": (HEAD + '[[column]]\nname = ""\nkind = "boolean"', SchemaMismatch),
    "a name twice": (HEAD + 2 * (COLUMN + 'kind = "boolean"\n'), SchemaMismatch),
    "a target that is not there": ('target = "y"\n' + HEAD + COLUMN + 'kind = "boolean"', SchemaMismatch),
    "an unknown way with missing values": (HEAD + UNSAID + 'missing = "keep"', SchemaMismatch),
    "review that is no truth value": ('reviewed = "yes"\n' + HEAD + COLUMN + 'kind = "boolean"', SchemaMismatch),
    "no values": (HEAD + COLUMN + 'kind = "categorical"\nvalues = []', SchemaMismatch),
    "values that are no texts": (HEAD + COLUMN + 'kind = "categorical"\nvalues = [[1]]', SchemaMismatch),
    "edges that do not increase": (HEAD + COLUMN + 'kind = "numeric"\nedges = [2, 1]\nclosed = "left"', SchemaMismatch),
    "edges that are no numbers": (HEAD + COLUMN + 'kind = "numeric"\nedges = ["1"]\nclosed = "left"', SchemaMismatch),
    "an edge that no float holds": (HEAD + COLUMN + HUGE_BINS, SchemaMismatch),
    "a whole edge that no float holds": (HEAD + COLUMN + HUGE_BINS.replace("numeric", "integer"), SchemaMismatch),
    "no closed end": (HEAD + COLUMN + 'kind = "numeric"\nedges = [1, 2]', SchemaMismatch),
    "an unknown closed end": (HEAD + COLUMN + 'kind = "numeric"\nedges = [1, 2]\nclosed = "both"', SchemaMismatch),
    "a range upside down": (HEAD + COLUMN + 'kind = "integer"\nrange = [2, 1]', SchemaMismatch),
    "a range without end": (HEAD + COLUMN + 'kind = "integer"\nrange = [0, 1000000000000]', SchemaMismatch),
    "a range of fractions": (HEAD + COLUMN + 'kind = "integer"\nrange = [0.5, 1]', SchemaMismatch),
    "an unknown shape": (HEAD + COLUMN + BINS + 'inside = "flat"', SchemaMismatch),
    "a shape that is no word": (HEAD + COLUMN + BINS + "inside = [1]", SchemaMismatch),
    "no shape": (HEAD + COLUMN + BINS + "inside = []", SchemaMismatch),
    "a shape of a list": (HEAD + COLUMN + 'kind = "integer"\nrange = [1, 2]\ninside = "log"', SchemaMismatch),
    "a prefix of half a letter": (HEAD + COLUMN + 'kind = "categorical"\nvalues = ["a"]\nprefix = 0.5', SchemaMismatch),
    "dates that are none": (HEAD + COLUMN + 'kind = "date"\nedges = ["May", "June"]\nclosed = "left"', SchemaMismatch),
}


@pytest.mark.parametrize(("text", "kind"), BAD.values(), ids=BAD)
def test_a_slip_in_the_schema_is_refused_in_one_sentence(text: str, kind: type[ExpostError]) -> None:
    with pytest.raises(kind) as refused:
        Schema.load(text)

    assert one_sentence(refused.value)


@pytest.mark.parametrize(
    ("slip", "said"),
    {
        'kind = "categorical"\nvalues = "a"': "values of column x is not a list in brackets",
        'kind = "categorical"\nvalues = ["a"]\nprefix = 0.5': "prefix of column x is not a whole number",
        'kind = "categorical"\nvalues = ["a"]\nother = 1': "other of column x is not a text in quotes",
    }.items(),
)
def test_a_setting_of_the_wrong_kind_is_refused_with_what_to_write(slip: str, said: str) -> None:
    with pytest.raises(SchemaMismatch, match=said):
        Schema.load(HEAD + COLUMN + slip)


def test_a_rule_that_is_declared_alone_is_pointed_to_the_list_of_rules() -> None:
    with pytest.raises(
        SchemaMismatch, match="the schema says rule, which has no meaning there; list rules at the head"
    ):
        Schema.load('rule = "a implies b = 1"\n' + HEAD + COLUMN + 'kind = "boolean"')


def test_a_file_that_is_not_there_is_told_from_one_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "there.toml").write_bytes(b"\xff\xfe")

    with pytest.raises(Unreadable, match=r"there is no schema .*nowhere\.toml; check its name\."):
        Schema.load(tmp_path / "nowhere.toml")
    with pytest.raises(Unreadable, match=r"the schema .*there\.toml is not a readable UTF-8 file"):
        Schema.load(tmp_path / "there.toml")


def test_a_column_that_does_not_say_what_becomes_of_a_missing_value_is_refused_with_the_choices() -> None:
    with pytest.raises(SchemaMismatch, match="does not say what becomes of a missing value") as refused:
        Schema.load(HEAD + UNSAID)

    assert one_sentence(refused.value)
    assert [word in str(refused.value) for word in ("true", '"drop"', "false")] == [True] * 3


@pytest.mark.parametrize(
    "make",
    [
        lambda: Boolean("b"),  # type: ignore[call-arg]  # that it is refused is the point
        lambda: Categorical("c", ("a",)),  # type: ignore[call-arg]  # likewise
        lambda: Integer("i", (1,)),  # type: ignore[call-arg]  # likewise
        lambda: IntegerBins("i", (1, 2), Closed.LEFT),  # type: ignore[call-arg]  # likewise
        lambda: Numeric("x", (1.0, 2.0), Closed.LEFT),  # type: ignore[call-arg]  # likewise
        lambda: Dates("d", (date(2020, 1, 1), date(2021, 1, 1)), Closed.LEFT),  # type: ignore[call-arg]  # likewise
    ],
)
def test_a_column_of_python_has_no_default_for_missing_values_either(make: Callable[[], Column]) -> None:
    with pytest.raises(TypeError, match="missing"):
        make()


def test_a_schema_that_is_not_there_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(Unreadable) as refused:
        Schema.load(tmp_path / "none.toml")

    assert one_sentence(refused.value)
