"""Schemas: TOML goes round exactly, every slip is refused in one sentence, and a draft is marked as one."""

import math
from collections.abc import Callable
from datetime import date, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from expost.errors import ExpostError, SchemaMismatch, Unreadable
from expost.private import Neighbours
from expost.tabular.draft import draft
from expost.tabular.schema.binned import Dates, IntegerBins, Numeric
from expost.tabular.schema.bins import Closed
from expost.tabular.schema.column import Column, Missing
from expost.tabular.schema.inside import Inside
from expost.tabular.schema.listed import Boolean, Categorical, Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.schema.spelling import DayFormat, Numerals, TruthWords
from tests.unit.examples import ADD, REPLACE, one_sentence

pl = import_module("polars")
HEAD = 'neighbours = "add-remove"\n'
COLUMN = '[[column]]\nname = "x"\nmissing = true\n'
UNSAID = '[[column]]\nname = "x"\nkind = "boolean"\n'
BINS = 'kind = "numeric"\nedges = [1, 2]\nclosed = "left"\n'
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
        Categorical("icd", ("I1", "I2"), "other", missing=missing, prefix=2),
        Numeric("shapes", (0.0, 0.01, 1.0, 2.0), Closed.LEFT, missing, inside=(Inside.EDGE, Inside.EVEN, Inside.LOG)),
        IntegerBins("log", (0, 1, 10), Closed.LEFT, missing, inside=Inside.LOG),
        Dates("edge", (date(2020, 1, 1), date(2021, 1, 1)), Closed.LEFT, missing, inside=Inside.EDGE),
    )


def seen(**columns: list[object]) -> Schema:
    """The schema that is drafted for a small table."""
    return Schema.load(draft(pl.DataFrame(columns, strict=False)))


@pytest.mark.parametrize("missing", Missing)
@pytest.mark.parametrize("neighbours", Neighbours)
def test_a_schema_goes_round_through_toml_exactly(missing: Missing, neighbours: Neighbours) -> None:
    schema = Schema(every_kind(missing), True, neighbours, "b", ("?", "n/a"))

    assert Schema.load(schema.dumps()) == schema


def test_the_text_of_a_schema_goes_round_too() -> None:
    text = Schema(every_kind(Missing.DROP), False, REPLACE).dumps()

    assert Schema.load(text).dumps() == text


def test_bins_that_are_even_inside_are_not_said_to_be() -> None:
    column = Numeric("x", (0.0, 1.0), Closed.LEFT, Missing.DROP, inside=Inside.EVEN)

    assert "inside" not in column.settings


def test_a_schema_is_loaded_from_a_file(tmp_path: Path) -> None:
    schema = Schema((Boolean("b", Missing.FALLBACK),), True, ADD)
    path = tmp_path / "schema.toml"
    path.write_text(schema.dumps(), encoding="utf-8")

    assert Schema.load(path) == Schema.load(str(path)) == schema


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


def test_a_draft_is_not_reviewed_and_says_that_it_is_private() -> None:
    text = draft(pl.DataFrame({"a": [1, 2]}))

    assert not Schema.load(text).reviewed
    assert "PRIVATE" in text


NEIGHBOURS: dict[str, tuple[list[Any], Any]] = {
    "a text among numbers": ([17, 90, 44], "x"),
    "a number beyond a range": ([1, 2, 3], 400),
    "a fraction among whole numbers": ([1, 2, 3], 0.5),
    "a text among dates": (["2020-01-31", "2024-01-31"], "soon"),
    "a word among yes and no": (["yes", "no"], "maybe"),
    "a text too many": ([f"text {place}" for place in range(100)], "text 100"),
    "the record that makes them unique no more": ([f"{place:06}" for place in range(150)], "000000"),
    "a value where there was none": ([None, None], "x"),
}


def drafted(values: list[Any]) -> str:
    """A draft for a column with these values beside another one."""
    texts = [None if value is None else str(value) for value in values]
    return draft(pl.DataFrame({"x": texts, "kept": [True] * len(values)}, schema={"x": pl.String, "kept": pl.Boolean}))


def comments(text: str) -> list[str]:
    """The comments of a draft."""
    return [line for line in text.splitlines() if line.startswith("#")]


@pytest.mark.parametrize(("values", "more"), NEIGHBOURS.values(), ids=NEIGHBOURS)
def test_a_record_may_change_a_draft_but_none_of_its_comments(values: list[Any], more: object) -> None:
    """A comment survives a review that looks at the settings only."""
    before, after = drafted(values), drafted([*values, more])

    assert before != after
    assert comments(before) == comments(after)


def test_a_draft_says_at_its_top_that_it_is_private_and_why() -> None:
    first, second = draft(pl.DataFrame({"a": [1, 2]})).splitlines()[:2]

    assert first.startswith("# DRAFT, PRIVATE: for the eyes of the data's owner only.")
    assert "were all read from the records" in second


def test_a_draft_names_the_columns_that_it_leaves_out_among_all_others() -> None:
    text = draft(pl.DataFrame({"id": [1, 2], "a": [1, 2]}))

    assert '# The table has these columns; what is not declared is not read: "id", "a".\n' in text


def test_a_draft_does_not_tell_whether_a_value_was_missing() -> None:
    full, lacking = (draft(pl.DataFrame({"a": ["u", "v", last], "b": [1, 2, 2]})) for last in ("u", None))

    assert full == lacking


def test_a_draft_makes_a_missing_value_a_category_of_its_own() -> None:
    days = [date(2020, 1, 1), date(2024, 1, 1)]

    schema = seen(t=["a", "b"], b=["yes", "no"], i=[1, 2], n=[17, 90], x=[0.5, 9.5], d=[*days])

    assert [column.missing for column in schema.columns] == [Missing.CATEGORY] * 6


def test_a_draft_rounds_the_range_outwards() -> None:
    edges = (10, 20, 30, 40, 50, 60, 70, 80, 90)

    assert seen(age=[17, 88, 44])["age"] == IntegerBins("age", edges, Closed.LEFT, Missing.CATEGORY)


def test_a_draft_of_one_real_value_does_not_pin_it_down() -> None:
    assert seen(x=[5.5, 5.5])["x"] == Numeric("x", (5.0, 6.0), Closed.LEFT, Missing.CATEGORY)


def test_a_value_called_other_is_where_a_draft_puts_other_texts() -> None:
    column = seen(race=["White", "Other", "Black"])["race"]

    assert column == Categorical("race", ("Black", "Other", "White"), None, "Other", missing=Missing.CATEGORY)


def firsts(*months: tuple[int, int]) -> tuple[date, ...]:
    """The first day of each month."""
    return tuple(date(year, month, 1) for year, month in months)


@pytest.mark.parametrize(
    ("low", "high", "edges"),
    [
        ("2024-05-17", "2024-05-17", firsts((2024, 5), (2024, 6))),
        ("2023-11-02", "2024-01-30", firsts((2023, 11), (2023, 12), (2024, 1), (2024, 2))),
        ("2024-01-03", "2024-12-30", firsts((2024, 1), (2024, 4), (2024, 7), (2024, 10), (2025, 1))),
        ("2021-06-08", "2024-02-29", firsts((2021, 1), (2022, 1), (2023, 1), (2024, 1), (2025, 1))),
        ("1931-06-08", "1999-02-28", firsts(*((year, 1) for year in range(1930, 2001, 10)))),
    ],
    ids=["a day", "months", "quarters", "years", "decades"],
)
def test_a_draft_cuts_dates_where_the_calendar_does(low: str, high: str, edges: tuple[date, ...]) -> None:
    assert seen(d=[low, high])["d"] == Dates("d", edges, Closed.LEFT, Missing.CATEGORY)


@pytest.mark.parametrize(("low", "high"), [("0001-01-01", "9999-12-31"), ("9999-12-31",) * 2, ("0001-01-01",) * 2])
def test_a_draft_covers_dates_at_the_ends_of_the_calendar(low: str, high: str) -> None:
    column = seen(d=[low, high])["d"]

    assert isinstance(column, Dates)
    assert column.edges[0] <= date.fromisoformat(low)  # type: ignore[operator]  # drafted edges are dates
    assert column.edges[-1] >= date.fromisoformat(high)  # type: ignore[operator]  # drafted edges are dates


@pytest.mark.parametrize("scale", [1e-200, 1e-3, 1.0, 1e6, 1e200])
def test_a_draft_has_about_ten_bins_that_cover_all_numbers(scale: float) -> None:
    values = [0.37 * scale, 1.1 * scale, 9.3 * scale]

    column = seen(x=[*values])["x"]

    assert isinstance(column, Numeric | IntegerBins)
    assert 5 <= column.size <= 12
    assert column.edges[0] <= min(values) < max(values) < column.edges[-1]


def test_a_draft_tells_the_kinds_apart() -> None:
    days = [date(2000, 1, 1) + timedelta(days=900 * place) for place in range(4)]

    schema = seen(t=["a", "b", None, "a"], b=["yes", "no", "no", "yes"], i=[1, 2, 3, 3], d=[*days])

    assert schema["t"] == Categorical("t", ("a", "b"), "other", None, missing=Missing.CATEGORY)
    assert [type(schema[name]) for name in ("b", "i", "d")] == [Boolean, Integer, Dates]


@pytest.mark.parametrize(
    "dropped",
    [
        {"patient_id": [1, 1, 2] * 50},
        {"code": [f"{place:06}" for place in range(150)]},
        {"note": [f"note {place // 2}, {place % 2}" for place in range(120)] + ["note 0, 0"] * 30},
        {"empty": [None] * 150},
    ],
    ids=["an id by name", "an id by value", "texts", "nothing"],
)
def test_a_draft_drops_what_has_no_small_domain(dropped: dict[str, list[object]]) -> None:
    schema = seen(kept=[True] * 150, **dropped)

    assert schema.names == ("kept",)


def test_a_value_in_a_draft_cannot_break_out_of_its_comment() -> None:
    hostile = '"\n[[column]]\nname = "new"\nkind = "boolean"\n#'

    names = Schema.load(draft(pl.DataFrame({"a": [hostile, "x"], hostile: [1, 2]}))).names

    assert names == ("a", hostile)


def test_a_column_named_twice_cannot_be_drafted(tmp_path: Path) -> None:
    path = tmp_path / "twice.csv"
    path.write_text("a,a\n1,2\n", encoding="utf-8")

    with pytest.raises(Unreadable) as refused:
        draft(path)

    assert one_sentence(refused.value)


def test_a_draft_of_no_rows_is_refused_in_one_sentence() -> None:
    with pytest.raises(Unreadable, match="no rows"):
        draft(pl.DataFrame({"a": []}))
