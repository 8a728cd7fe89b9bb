"""Natural ranges, codes and years are told from quantities."""

import math
from importlib import import_module
from itertools import pairwise

import pytest

from expost.tabular.drafts.draft import draft
from expost.tabular.inspection import check_table
from expost.tabular.schema.binned import IntegerBins
from expost.tabular.schema.bins import Closed
from expost.tabular.schema.column import Missing
from expost.tabular.schema.inside import Inside
from expost.tabular.schema.listed import Categorical, Integer
from expost.tabular.schema.schema import Schema
from tests.unit.tabular.drafts.drafted import delays, seen, shares

pl = import_module("polars")
INF = math.inf
LEFT, KEPT = Closed.LEFT, Missing.CATEGORY


@pytest.mark.parametrize(
    ("name", "values", "ends"),
    [
        ("hour", range(6, 22), (0, 23)),
        ("Uhrzeit", range(24), (0, 23)),
        ("n", range(24), (0, 23)),
        ("day_of_week", range(1, 8), (1, 7)),
        ("weekday", range(6), (0, 6)),
        ("month", range(3, 9), (1, 12)),
        ("billingMonth", range(1, 13), (1, 12)),
        ("day", range(2, 30), (1, 31)),
        ("n", range(1, 32), (1, 31)),
        ("pain", range(11), (0, 10)),
    ],
)
def test_the_calendar_and_the_clock_have_natural_ranges(name: str, values: range, ends: tuple[int, int]) -> None:
    assert seen(**{name: [*values] * 5})[name] == Integer(name, tuple(range(ends[0], ends[1] + 1)), KEPT)


def test_years_have_even_bins_however_skewed() -> None:
    years = [2024 - int(value) % 100 for value in delays(1000)]

    column = seen(built_year=years)["built_year"]

    assert isinstance(column, IntegerBins)
    assert {right - left for left, right in pairwise(column.edges)} == {10}
    assert column.inside is Inside.EVEN


def test_few_whole_numbers_with_gaps_are_codes_and_not_quantities() -> None:
    column = seen(status=[1, 2, 9, 99] * 50)["status"]

    assert column == Categorical("status", ("1", "2", "9", "99"), "other", missing=KEPT)


def test_numbers_that_a_name_or_leading_zeros_call_codes_are_listed_as_texts() -> None:
    schema = seen(plz=["10115", "20095"] * 9, ward=["007", "012"] * 9, nace=["62.01", "47.11"] * 9)

    assert schema["plz"] == Categorical("plz", ("10115", "20095"), "other", missing=KEPT)
    assert schema["ward"] == Categorical("ward", ("007", "012"), "other", missing=KEPT)
    assert schema["nace"] == Categorical("nace", ("47.11", "62.01"), "other", missing=KEPT)


def test_many_hierarchical_codes_are_known_by_their_first_characters() -> None:
    icd = [f"{'IJ'[place % 2]}{int(100 * share):02}.{place % 10}" for place, share in enumerate(shares(3, 2000))]
    nace = [f"{1 + int(87 * share):02}.{place % 50:02}" for place, share in enumerate(shares(4, 2000))]

    made = draft(pl.DataFrame({"icd": icd, "nace": nace}))

    schema = Schema.load(made.text)
    assert isinstance(schema["icd"], Categorical)
    assert (schema["icd"].prefix, schema["icd"].size) == (2, 22)
    assert isinstance(schema["nace"], Categorical)
    assert schema["nace"].prefix == 2
    assert made.notes["icd"] == "its codes are declared by their first 2 characters, because there are many."
    assert not check_table(pl.DataFrame({"icd": icd, "nace": nace}), schema).notable


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([f"{1 + n % 28:02}.{1 + n % 12:02}.{n % 80 + 10}" for n in range(400)] * 2, "years of two digits"),
        ([f"{n % 300},50 €" for n in range(400)], "it has € beside its numbers; write the numbers alone."),
        ([f"{n % 150} kg" for n in range(400)], "it has kg beside its numbers; write the numbers alone."),
    ],
    ids=["dates", "money", "weights"],
)
def test_dates_and_numbers_that_cannot_be_read_as_such_are_left_out_and_not_taken_for_codes(
    cells: list[str], said: str
) -> None:
    made = draft(pl.DataFrame({"a": cells, "b": ["x", "y"] * (len(cells) // 2)}))

    assert said in made.left_out["a"]
    assert "a" not in Schema.load(made.text).domain


def test_few_texts_with_a_sign_beside_a_number_are_listed() -> None:
    column = seen(share=[f"{10 * (n % 11)} %" for n in range(400)])["share"]

    assert isinstance(column, Categorical)
    assert "100 %" in column.values


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([f"{1 + n % 90} €" for n in range(400)], "it has € beside its numbers; write the numbers alone."),
        ([f"{1 + n % 28:02}.07.{n % 3 + 10}" for n in range(400)], "years of two digits"),
        ([f"{10 * (n % 11)} %" for n in range(400)], None),
    ],
    ids=["money", "dates", "few"],
)
def test_it_is_told_of_more_than_a_few_that_are_listed_and_were_meant_as_numbers_or_dates(
    cells: list[str], said: str | None
) -> None:
    made = draft(pl.DataFrame({"a": cells}))

    assert isinstance(Schema.load(made.text)["a"], Categorical)
    assert "a" not in made.notes if said is None else said in made.notes["a"]


def test_codes_that_look_like_short_dates_are_codes_by_their_name() -> None:
    column = seen(nace=[f"{1 + n % 28:02}.{1 + n % 12:02}.{n % 80 + 10}" for n in range(400)] * 2)["nace"]

    assert isinstance(column, Categorical)
