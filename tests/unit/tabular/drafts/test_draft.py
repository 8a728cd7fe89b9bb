"""A draft proposes what suits the data, is marked as private, and says in its comments nothing of the records."""

import csv
import math
from datetime import date, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from expost.errors import Unreadable
from expost.tabular.drafts import seen as kept
from expost.tabular.drafts.draft import draft
from expost.tabular.inspection import check_table
from expost.tabular.schema.binned import Dates, IntegerBins, Numeric
from expost.tabular.schema.bins import Closed
from expost.tabular.schema.cells import How
from expost.tabular.schema.column import Missing
from expost.tabular.schema.inside import Inside
from expost.tabular.schema.listed import Boolean, Categorical, Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.schema.spelling import DayFormat, Numerals, TruthWords
from tests.unit.examples import one_sentence
from tests.unit.tabular.drafts.drafted import log_normal, seen

pl = import_module("polars")
INF = math.inf
LEFT, KEPT = Closed.LEFT, Missing.CATEGORY


def test_a_draft_is_not_reviewed_and_says_that_it_is_private() -> None:
    text = draft(pl.DataFrame({"a": [1, 2]})).text

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
    return draft(
        pl.DataFrame({"x": texts, "kept": [True] * len(values)}, schema={"x": pl.String, "kept": pl.Boolean})
    ).text


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
    first, second = draft(pl.DataFrame({"a": [1, 2]})).text.splitlines()[:2]

    assert first.startswith("# DRAFT, PRIVATE: for the eyes of the data's owner only.")
    assert "were all read from the records" in second


def test_a_draft_names_the_columns_that_it_leaves_out_among_all_others() -> None:
    text = draft(pl.DataFrame({"id": [1, 2], "a": [1, 2]})).text

    assert '# The table has these columns; what is not declared is not read: "id", "a".\n' in text


def test_a_draft_does_not_tell_whether_a_value_was_missing() -> None:
    full, lacking = (draft(pl.DataFrame({"a": ["u", "v", last], "b": [1, 2, 2]})).text for last in ("u", None))

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

    names = Schema.load(draft(pl.DataFrame({"a": [hostile, "x"], hostile: [1, 2]})).text).names

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


EUROPEAN = """\
patient_id;geboren;kosten;tage;raucher;aufnahme
1;31.12.1950;0,00;3;ja;01.02.2024 10:30
2;01.02.1960;1.234,50;0;nein;28.02.2024 08:00
2;15.07.1999;70,5;12;Nein;30.03.2024 23:59
"""


def test_a_european_file_gives_a_draft_that_reads_every_cell(tmp_path: Path) -> None:
    path = tmp_path / "patienten.csv"
    path.write_text(EUROPEAN, encoding="utf-8")

    made = draft(path)

    schema = Schema.load(made.text)
    assert schema.names == ("geboren", "kosten", "tage", "raucher", "aufnahme")
    assert isinstance(schema["geboren"], Dates)
    assert schema["geboren"].format == DayFormat("%d.%m.%Y")
    assert isinstance(schema["aufnahme"], Dates)
    assert schema["aufnahme"].format == DayFormat("%d.%m.%Y %H:%M")
    assert isinstance(schema["kosten"], Numeric)
    assert schema["kosten"].numerals == Numerals(",", ".")
    assert schema["raucher"] == Boolean("raucher", KEPT, TruthWords(("ja",), ("Nein",)))
    assert not check_table(path, schema).notable


def test_the_reasons_for_what_is_left_out_are_told_and_not_written() -> None:
    table = {
        "hospital_id": [1, 1, 2] * 50,
        "kunden_nr": [*range(150)],
        "serial": [f"x{place}" for place in range(150)],
        "note": [f"note {place // 2}, {place % 2}" for place in range(148)] + ["note 0, 0"] * 2,
        "empty": [None] * 150,
        "kept": [True] * 150,
    }

    made = draft(pl.DataFrame(table))

    assert set(made.left_out) == {"hospital_id", "kunden_nr", "serial", "note", "empty"}
    assert made.left_out["hospital_id"].endswith(
        " Its values repeat: if it says whose row it is, declare it as the unit."
    )
    assert made.left_out["kunden_nr"].endswith(
        " If a person may ever have several rows, and it says whose row it is, declare it as the unit."
    )
    assert not any(reason in made.text for reason in made.left_out.values())


def test_what_is_in_doubt_is_told() -> None:
    table = {
        "either": ["01/02/2020", "03/04/2021"] * 20,
        "weight": [f"{place},5" for place in range(39)] + ["k.A."],
        "money": ["1,234", "2,500"] * 20,
        "salary": ["45.000", "900", "1.250", "52.300"] * 10,
        "dose": ["0.125", "1.250", "2.500", "5.000"] * 10,
    }

    made = draft(pl.DataFrame(table))

    assert made.notes == {
        "either": 'if the month comes first, say format = "%m/%d/%Y".',
        "weight": '"k.A." is not a number and counts as missing; if it stands for that, draft again with --missing '
        '"k.A.".',
        "money": 'its commas are taken for decimal ones; if they part thousands, say thousands = "," instead of '
        "decimal.",
        "salary": 'its points are taken for decimal ones; if they part thousands, say decimal = "," and thousands = '
        '".".',
    }


def test_a_draft_of_more_values_than_are_kept_is_that_of_all_of_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Also where the common values come last, and the least and the greatest when others are forgotten."""
    path = tmp_path / "many.csv"
    days = [date(2000, 1, 1) + timedelta(days=place) for place in range(3000)]
    with path.open("w", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["x", "d"])
        rows.writerows(
            zip(sorted(log_normal(4, 1, 5, 3000), reverse=True) + [0.0] * 500, days + [days[0]] * 500, strict=True)
        )
    whole = draft(path).text
    monkeypatch.setattr(kept, "MOST_KEPT", 40)

    assert draft(path).text == whole
    assert "inside" in whole


def test_eight_digits_are_dates_only_if_all_of_them_are() -> None:
    days = [f"{2000 + place % 20}{1 + place % 12:02}{1 + place % 28:02}" for place in range(400)]

    schema = seen(d=days, n=["20201231", "99999999", "50505050", "7"] * 100)

    assert isinstance(schema["d"], Dates)
    assert not isinstance(schema["n"], Dates)


def test_equal_numbers_are_one_value_however_they_are_written() -> None:
    written = ["0", "0,0", "0,00"] * 40 + [f"{place + 10},5" for place in range(200)]

    column = seen(x=written)["x"]

    assert isinstance(column, Numeric)
    assert column.inside == (Inside.EDGE, *[Inside.EVEN] * (len(column.edges) - 2))
    assert column.edges[:2] == (0.0, 10.0)


def test_a_number_beyond_the_floats_does_not_keep_a_table_from_being_drafted() -> None:
    column = seen(x=["1", "40", "1" + "0" * 400])["x"]

    assert isinstance(column, IntegerBins)


NUMBERS = st.one_of(
    st.floats(allow_nan=False), st.integers(), st.integers(-30, 300), st.sampled_from([0, 0.01, 1, 40, 9.99, 1e-300])
)


@given(
    st.lists(NUMBERS, min_size=1, max_size=60),
    st.lists(st.tuples(NUMBERS, st.integers(30, 60)), max_size=3),
    st.sampled_from([".", ","]),
)
@settings(max_examples=150)
def test_a_draft_takes_all_numbers_of_its_table_inside_its_bins(
    numbers: list[float], heavy: list[tuple[float, int]], sign: str
) -> None:
    """Whatever they are, and however often some of them are there."""
    values = [*numbers, *(value for value, times in heavy for _ in range(times))]
    texts = [str(value).replace(".", sign) for value in values]
    table = pl.DataFrame({"x": texts, "kept": ["a", *["b"] * (len(texts) - 1)]})

    schema = Schema.load(draft(table).text)

    (found, *_) = check_table(table, schema).columns
    if "x" in schema.names and math.inf not in map(abs, values):
        assert found.share(How.VALUE) == 1


def test_a_column_without_a_name_is_left_out_so_that_the_draft_can_be_read(tmp_path: Path) -> None:
    """As the index of a frame is, where it was written to the file with its records."""
    path = tmp_path / "indexed.csv"
    path.write_text(",size\n" + "".join(f"{place % 3},{place % 5}\n" for place in range(60)), encoding="utf-8")

    made = draft(path)

    assert Schema.load(made.text).names == ("size",)
    assert "give it one if it is needed" in made.left_out[""]
