"""A check of a table tells its owner how a run will take every cell, and what to declare where that is not as meant."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from expost.errors import Unreadable
from expost.tabular.advice import advice
from expost.tabular.headcount import Headcount
from expost.tabular.inspection import PRIVATE, ColumnCheck, check_table, percent
from expost.tabular.persons import Grouped
from expost.tabular.schema.binned import Dates, IntegerBins, Numeric
from expost.tabular.schema.bins import Closed
from expost.tabular.schema.cells import How
from expost.tabular.schema.column import Column, Missing
from expost.tabular.schema.listed import Boolean, Categorical, Integer
from expost.tabular.schema.private_bins import PrivateBins
from expost.tabular.schema.schema import Schema
from expost.tabular.schema.spelling import DayFormat, Numerals
from expost.tabular.source.reading import read_records, read_table
from tests.unit.examples import ADD

pl = import_module("polars")
KEPT = Missing.CATEGORY
DAYS = (date(1900, 1, 1), date(2000, 1, 1), date(2100, 1, 1))
COLUMNS = (
    Numeric("a", (0.0, 10.0, 20.0), Closed.LEFT, KEPT),
    Dates("a", DAYS, Closed.LEFT, KEPT, DayFormat("%d.%m.%Y")),
    Boolean("a", KEPT),
    Integer("a", (1, 2, 3), KEPT, Numerals(",")),
    Categorical("a", ("x", "y"), "rest", missing=KEPT),
)


def form(column: Column, *, reviewed: bool = True) -> Schema:
    return Schema((column,), reviewed, ADD, missing_marks=("?",))


def checked(column: Column, *cells: object) -> ColumnCheck:
    (found,) = check_table(pl.DataFrame({column.name: cells}, strict=False), form(column)).columns
    return found


def advised(column: Column, *cells: str, how: How = How.UNRECOGNISED) -> str:
    seen: Mapping[str, int] = dict.fromkeys(cells, 1)
    return advice(column, how, seen)


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: type(column).__name__)
@given(cells=st.lists(st.none() | st.text(max_size=8) | st.text("0123456789.,-?xy", max_size=8), min_size=1))
@settings(max_examples=40)
def test_a_check_and_a_run_agree_about_every_cell(column: Column, cells: list[str | None]) -> None:
    table = pl.DataFrame({"a": cells}, schema={"a": pl.String})

    found, codes = check_table(table, form(column)).columns[0], read_table(table, form(column)).codes("a")

    assert sum(found.counts.values()) == len(cells)
    absent = found.counts.get(How.MISSING, 0) + found.counts.get(How.UNRECOGNISED, 0)
    assert (codes == column.size - 1).sum() == absent


def test_shares_and_examples_are_told_of_every_column() -> None:
    found = checked(COLUMNS[0], *["5"] * 6, "70,5", "70,5", "31", None)

    assert [found.share(how) for how in How] == [0.6, 0.1, 0.2, 0.1]
    assert found.examples(How.UNRECOGNISED) == ("70,5",)
    assert found.examples(How.MISSING) == ()


def test_the_commonest_three_cells_are_shown() -> None:
    assert checked(COLUMNS[0], "a", "b", "c", "c", "d", "d", "d", "b").examples(How.UNRECOGNISED) == ("d", "b", "c")


MONEY = Numeric("a", (0.0, 1e3, 1e6), Closed.LEFT, KEPT)
WITH_COMMA = Numeric("a", (0.0, 1e3, 1e6), Closed.LEFT, KEPT, Numerals(","))


@pytest.mark.parametrize(
    ("column", "cells", "declare"),
    [
        (MONEY, ["45.000", "900"], 'decimal = "," and thousands = "."'),
        (WITH_COMMA, ["45,000", "-1,250"], 'thousands = "," instead of decimal'),
        (IntegerBins("a", (0, 9, 99), Closed.LEFT, KEPT), ["45.000"], 'decimal = "," and thousands = "."'),
        (Integer("a", (1, 2, 3), KEPT), ["2.000"], 'decimal = "," and thousands = "."'),
        (PrivateBins("a", 0, 99, 3, True, Closed.LEFT, KEPT), ["45.000"], 'decimal = "," and thousands = "."'),
    ],
)
def test_a_sign_that_may_part_thousands_is_notable(column: Column, cells: list[str], declare: str) -> None:
    """Every such cell is a value, so that nothing else of a check would tell that 45.000 is read as 45."""
    found = check_table(pl.DataFrame({"a": cells}), form(column))

    assert found.notable
    assert f"if {'comma' if ',' in cells[0] else 'point'}s part thousands, declare {declare}" in str(found)


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        (MONEY, ["45.000", "0.500"]),
        (MONEY, ["45.000", "1234.500"]),
        (MONEY, ["45.000", "4.5"]),
        (MONEY, ["45.000"] + ["7"] * 99),
        (MONEY, [45.125, 1.25]),
        (MONEY, ["900", "n/a.x"]),
        (replace(MONEY, numerals=Numerals(thousands=",")), ["45.000", "900"]),
        (replace(MONEY, numerals=Numerals(",", ".")), ["45.000", "900"]),
    ],
)
def test_decimals_that_cannot_be_thousands_are_not(column: Column, cells: list[object]) -> None:
    """Nor where another sign between thousands is declared, which settles it, or where they are rare."""
    assert not checked(column, *cells).doubt


@pytest.mark.parametrize(
    ("column", "cells", "notable"),
    [
        (COLUMNS[0], ["5"] * 99 + ["x"], False),
        (COLUMNS[0], ["5"] * 98 + ["x"] * 2, True),
        (COLUMNS[0], ["5"] * 95 + ["21"] * 5, False),
        (COLUMNS[0], ["5"] * 94 + ["21"] * 6, True),
        (COLUMNS[0], ["5"] * 10 + [None] * 90, False),
        (Numeric("a", (0.0, 9.0), Closed.LEFT, Missing.FALLBACK), ["5"] * 98 + [None] * 2, True),
        (Numeric("a", (0.0, 9.0), Closed.LEFT, Missing.DROP), ["5"] * 90 + ["?"] * 10, False),
        (Numeric("a", (0.0, 9.0), Closed.LEFT, Missing.DROP), ["5"] * 89 + ["?"] * 11, True),
        (COLUMNS[4], ["x"] * 80 + ["z"] * 20, False),
        (COLUMNS[4], ["x"] * 79 + ["z"] * 21, True),
    ],
)
def test_a_share_is_notable_above_its_limit(column: Column, cells: list[str | None], notable: bool) -> None:
    assert bool(checked(column, *cells).advice()) is notable


ADVICE = {
    "days first": (COLUMNS[1], ("31/12/1950", "01/02/1960"), 'format = "%d/%m/%Y".'),
    "months first": (Dates("a", DAYS, Closed.LEFT, KEPT), ("12/31/1950", "01/02/1960"), 'format = "%m/%d/%Y".'),
    "days or months first": (COLUMNS[1], ("01/02/1960",), '"%d/%m/%Y", or "%m/%d/%Y" if the month comes first.'),
    "with a time": (COLUMNS[1], ("31.12.1950 09:30",), 'format = "%d.%m.%Y %H:%M".'),
    "ISO where another format is declared": (COLUMNS[1], ("1950-12-31",), "leave out format."),
    "two digits": (COLUMNS[1], ("31.12.50", "1.2.61"), "leave the century open"),
    "decimal commas": (COLUMNS[0], ("70,5", "1,25"), 'decimal = ",".'),
    "Swiss": (COLUMNS[0], ("1'234.5", "70.5"), 'thousands = "\'".'),
    "French": (COLUMNS[0], ("1 234,5", "70,5"), 'decimal = "," and thousands = " ".'),
    "a comma that may be either": (COLUMNS[0], ("1,234",), 'or thousands = "," if its comma parts thousands.'),
    "points where commas are declared": (COLUMNS[3], ("70.5",), "leave out decimal and thousands."),
    "a mark": (COLUMNS[0], ("n/a",), 'If "n/a" stands for a missing value, add it to missing_marks'),
    "amounts of money": (COLUMNS[0], ("1.234,50 €", "0,00 €", "7,10 €", "8 €"), "These have € beside the number;"),
    "shares": (COLUMNS[3], ("44 %", "70 %", "54%", "0 %"), "These have % beside the number; write the number alone."),
    "weights": (COLUMNS[0], ("70 kg", "81 kg", "59,5 kg", "60 kg"), "These have kg beside the number;"),
    "a currency ahead": (COLUMNS[0], ("EUR 70", "EUR 81", "EUR 9", "EUR 0"), "These have EUR beside the number;"),
    "several units": (COLUMNS[0], ("70 kg", "81 lb", "59 g", "60 t"), "What is not a number counts as missing;"),
    "no number": (COLUMNS[3], ("red", "blue", "green", "grey"), "What is not a number counts as missing; correct"),
    "no date": (COLUMNS[1], ("red", "blue", "green", "grey"), "What is not a date counts as missing; correct the"),
    "words": (COLUMNS[2], ("hit", "miss"), 'true or to false, or to missing_marks: "hit", "miss".'),
    "known words": (COLUMNS[2], ("Nein", "ja"), 'declare true = ["ja"] and false = ["Nein"].'),
    "a known word": (COLUMNS[2], ("non",), 'declare true = ["oui"] and false = ["non"].'),
    "too many words": (COLUMNS[2], tuple("abcdeghijklmopq"), "declare the column as categorical."),
}


@pytest.mark.parametrize(("column", "cells", "said"), ADVICE.values(), ids=ADVICE)
def test_advice_names_what_to_declare(column: Column, cells: tuple[str, ...], said: str) -> None:
    found = advised(column, *cells)

    assert said in found
    assert found.endswith(".")
    assert "\n" not in found


def test_advice_on_values_outside_says_where_they_go() -> None:
    assert "differs from" in advised(Categorical("a", ("F",), missing=KEPT), "f", how=How.OUTSIDE)
    assert 'counted as "rest"' in advised(COLUMNS[4], "z", how=How.OUTSIDE)
    assert "nearest number" in advised(COLUMNS[3], "9", how=How.OUTSIDE)
    assert "-inf and inf" in advised(COLUMNS[0], "99", how=How.OUTSIDE)
    assert "widen the range" in advised(PrivateBins("a", 0, 9, 3, True, Closed.LEFT, KEPT), "99", how=How.OUTSIDE)


def test_codes_are_checked_by_their_prefix() -> None:
    column = Categorical("a", ("I1", "I2"), "other", missing=KEPT, prefix=2)

    found = checked(column, *["I10.9", "I25"] * 3, "J45.0", "J45.0", "i10")

    assert found.share(How.OUTSIDE) == pytest.approx(3 / 9)
    assert found.examples(How.OUTSIDE) == ("J45.0", "i10")
    assert 'add to values the first 2 characters, such as "J4"' in advised(column, "J45.0", how=How.OUTSIDE)
    assert '"i1" differs from "I1" in case only' in advised(column, "i10", how=How.OUTSIDE)


def test_columns_that_the_table_lacks_are_named_and_the_others_are_checked() -> None:
    schema = Schema((*form(COLUMNS[0]).columns, Boolean("b", KEPT)), False, ADD)

    found = check_table(pl.DataFrame({"a": ["1"]}), schema)

    assert found.lacking == ("b",)
    assert found.notable
    assert [each.column.name for each in found.columns] == ["a"]
    assert "b: the table does not have exactly one column of this name" in str(found)


def test_a_draft_is_checked() -> None:
    assert not check_table(pl.DataFrame({"a": ["1"]}), form(COLUMNS[0], reviewed=False)).notable


def test_a_page_says_first_that_it_is_private_and_draws_nothing_on_a_terminal() -> None:
    page = str(check_table(pl.DataFrame({"a": ["\x1b[2J"] * 9}), form(COLUMNS[0])))

    assert page.startswith(PRIVATE)
    assert all(letter.isprintable() or letter == "\n" for letter in page)


def test_a_table_without_rows_or_a_file_that_is_malformed_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("a\n1,2\n", encoding="utf-8")

    with pytest.raises(Unreadable, match="no rows"):
        check_table(pl.DataFrame({"a": []}), form(COLUMNS[0]))
    with pytest.raises(Unreadable, match="refused as a whole"):
        check_table(tmp_path / "bad.csv", form(COLUMNS[0]))


def test_a_share_that_is_not_none_or_all_does_not_look_so() -> None:
    assert [percent(share) for share in (0, 1e-9, 0.123, 1 - 1e-9, 1)] == [
        "none",
        "< 0.1 %",
        "12.3 %",
        "> 99.9 %",
        "all",
    ]


VISITS = Schema(
    (Boolean("sick", Missing.DROP), Boolean("b", KEPT)), False, ADD.of_persons, missing_marks=("?",), unit="who"
)


def visits(who: list[object], sick: list[bool | None] | None = None) -> object:
    return pl.DataFrame({"who": who, "sick": sick or [True] * len(who), "b": [True] * len(who)}, strict=False)


def test_with_a_unit_the_owner_is_told_how_many_persons_and_rows_there_are() -> None:
    found = check_table(visits([1, 2, 2, 3, 3, 3, 4]), VISITS)

    assert found.persons == Headcount("who", rows=7, persons=4, alone=2, most=3, missing=0)
    assert "7 rows.\n\nunit who: 4 persons, of whom 50.0 % have one row; the most rows of one are 3.\n\n" in str(found)
    assert not found.notable


@pytest.mark.parametrize(("rows", "told"), [(1, "1 person, with one row."), (3, "1 person, with 3 rows.")])
def test_a_single_person_is_told_as_one(rows: int, told: str) -> None:
    assert f"unit who: {told}\n" in str(check_table(visits([7] * rows), VISITS))


def test_with_a_unit_a_check_speaks_of_rows_and_not_of_records() -> None:
    column = Integer("a", (1, 2, 3), Missing.DROP)
    rules = ("a = 1 implies b = true",)
    schema = Schema((column, Boolean("b", KEPT)), True, ADD.of_persons, rules=rules, unit="who")

    page = str(check_table(pl.DataFrame({"who": [1, 1, 2], "a": [1, 2, None], "b": [False, True, True]}), schema))

    assert "50.0 % of the rows break it" in page
    assert "Rows without a value are left out" in page
    assert "record" not in page


def test_rows_that_a_run_would_drop_are_nobodys_in_a_check_too() -> None:
    found = check_table(visits([1, 1, 2, None], [None, True, None, None]), VISITS).persons

    assert found == Headcount("who", rows=1, persons=1, alone=1, most=1, missing=0)


def test_rows_without_an_identifier_are_told_and_notable_above_one_in_a_hundred() -> None:
    few, many = (check_table(visits([*range(99 * 9), *["?"] * count]), VISITS) for count in (9, 10))

    assert (few.notable, many.notable) == (False, True)
    assert "1.0 % of the rows have no identifier, and are a person each\n" in str(few)
    assert "complete or remove them." in str(many)


def test_a_person_with_more_than_a_tenth_of_the_rows_is_notable_and_not_named() -> None:
    some, most = (
        check_table(visits([*[f"n{place}" for place in range(108)], *["CANARY"] * count]), VISITS) for count in (12, 13)
    )

    assert (some.notable, most.notable) == (False, True)
    assert "add it to missing_marks" in str(most)
    assert "CANARY" not in repr(most) + str(most)


def test_where_the_table_has_no_column_of_the_schema_no_records_are_told() -> None:
    found = check_table(pl.DataFrame({"other": [True]}), VISITS)

    assert found.columns == ()
    assert "0 rows." not in str(found)
    assert "0 records." not in str(found)


def test_a_unit_that_the_table_lacks_is_named_and_the_columns_are_checked() -> None:
    found = check_table(pl.DataFrame({"sick": [True], "b": [True]}), VISITS)

    assert found.lacking == ("who (the unit)",)
    assert found.notable
    assert found.persons is None
    assert [each.column.name for each in found.columns] == ["sick", "b"]


@given(st.lists(st.none() | st.sampled_from(["a", "b", " a", "?", "1", "01"]), min_size=1, max_size=12))
@settings(max_examples=40)
def test_a_check_and_a_run_agree_about_every_person(who: list[object]) -> None:
    found = check_table(visits(who), VISITS).persons
    grouped = read_records(visits(who), replace(VISITS, reviewed=True))

    assert found is not None
    assert isinstance(grouped, Grouped)
    assert (found.rows, found.persons, found.most) == (len(grouped.table), len(grouped), max(grouped.sizes))
