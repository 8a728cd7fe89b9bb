"""Columns: every kind goes round, every cell has a code, and no cell changes another's."""

import math
from collections.abc import Sequence
from datetime import date, datetime

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from expost.errors import ExpostError, SchemaMismatch
from expost.noise import ScriptedNoise, SeededNoise
from expost.persons.canonical import canonical_text
from expost.tabular.schema.binned import Dates, IntegerBins, Numeric
from expost.tabular.schema.bins import Closed
from expost.tabular.schema.cells import Cell, How
from expost.tabular.schema.column import Codes, Column, Missing
from expost.tabular.schema.inside import Inside
from expost.tabular.schema.listed import Boolean, Categorical, Integer
from expost.tabular.schema.private_bins import PrivateBins
from expost.tabular.schema.spelling import DayFormat, Numerals, TruthWords
from expost.tabular.source.texts import cells_of
from tests.unit.examples import one_sentence

INF = math.inf
LEFT, RIGHT = Closed.LEFT, Closed.RIGHT
EVEN, LOG, EDGE = Inside
DAYS = (date(2020, 1, 1), date(2020, 2, 1), date(2021, 1, 1))


def kinds(missing: Missing) -> list[Column]:
    """A column of each kind and shape."""
    return [
        Categorical("c", ("a", "b", "c"), missing=missing),
        Categorical("c", ("a", "b"), other="rest", missing=missing),
        Categorical("c", ("a", "b"), fallback="b", missing=missing),
        Categorical("c", tuple(f"v{place}" for place in range(300)), missing=missing),
        Boolean("b", missing),
        Integer("i", (1, 2, 5, 100), missing),
        Integer("i", tuple(range(-3, 4)), missing),
        IntegerBins("n", (0, 10, 11, 90, INF), LEFT, missing),
        IntegerBins("n", (-INF, 0, INF), RIGHT, missing),
        IntegerBins("n", (-(2**53), 0, 2**53), RIGHT, missing),
        Numeric("x", (0.0, 0.1, 1e-300 + 0.2, 7.5), LEFT, missing),
        Numeric("x", (-INF, -1e300, 1e300, INF), RIGHT, missing),
        Numeric("x", (1.0, math.nextafter(1.0, 2.0), 2.0), LEFT, missing),
        Numeric("x", (-INF, 1e17, INF), RIGHT, missing),
        Dates("d", DAYS, LEFT, missing),
        Dates("d", (-INF, *DAYS, INF), RIGHT, missing),
        Boolean("b", missing, TruthWords(("ja", "1"), ("nein", "2"))),
        Integer("i", (-5, 1, 1000, 2500), missing, Numerals(",", ".")),
        IntegerBins("n", (0, 1000, 10**6, INF), LEFT, missing, Numerals(thousands="'")),
        Numeric("x", (-1e-7, 0.1, 1e3, 1e6, 1e300), LEFT, missing, Numerals(",", ".")),
        Numeric("x", (-INF, 1.5, 1234.5), RIGHT, missing, Numerals(",", " ")),
        Dates("d", DAYS, LEFT, missing, DayFormat("%d.%m.%Y")),
        Dates("d", (-INF, *DAYS, INF), RIGHT, missing, DayFormat("%m/%d/%Y %H:%M")),
        PrivateBins("p", 0.0, 1e6, 10, False, LEFT, missing),
        PrivateBins("p", -5, 120, 8, True, RIGHT, missing, Numerals(thousands="'")),
        PrivateBins("p", 0, 5, 3, True, LEFT, missing).between((0, 1, 4, 5), (9.0, 0.0, 0.0, 0.0, 0.5)),
        PrivateBins("p", -1e300, 1e300, 4, False, RIGHT, missing).between((-1e300, -1e299, 0.0, 1e295, 1e300), ()),
        Categorical("c", ("I1", "I2", "ot", "A"), "other", missing=missing, prefix=2),
        Categorical("c", ("I1", "I2"), fallback="I2", missing=missing, prefix=2),
        Numeric("x", (0.0, 0.01, 1.0, 100.0, INF), LEFT, missing, inside=(EDGE, LOG, LOG, LOG)),
        Numeric("x", (-INF, -1e300, -1e-300, 0.0, 1e-300, 1e300, INF), LEFT, missing, inside=LOG),
        IntegerBins("n", (-INF, -(2**53), -5, 0, 1, 2**53, INF), RIGHT, missing, inside=LOG),
        Dates("d", (*DAYS, INF), LEFT, missing, inside=EDGE),
    ]


KINDS = [column for missing in Missing for column in kinds(missing)]
NAMES = [f"{type(column).__name__}-{place}" for place, column in enumerate(KINDS)]
each_kind = pytest.mark.parametrize("column", KINDS, ids=NAMES)


def all_codes(column: Column, times: int = 50) -> Codes:
    """Every code of the column, several times."""
    return np.tile(np.arange(column.size, dtype=np.uint16), times)


def cells(values: Sequence[object]) -> list[Cell | None]:
    """The values as a table would hold them."""
    return cells_of(values, frozenset({None, ""}))


def codes(column: Column, *given: Cell | None) -> list[int]:
    return [int(code) for code in column.encode(given)]


@each_kind
def test_every_code_decodes_to_a_value_of_that_code(column: Column) -> None:
    before = all_codes(column)

    after = column.encode(cells(column.decode(before, SeededNoise(1)).tolist()))

    assert after.tolist() == before.tolist()


@each_kind
def test_a_value_that_is_written_as_declared_has_its_code_too(column: Column) -> None:
    before = all_codes(column)

    written = column.spelled(column.decode(before, SeededNoise(1))).tolist()

    assert column.encode(cells([None if value is None else canonical_text(value) for value in written])).tolist() == (
        before.tolist()
    )


HOSTILE = st.none() | st.text(max_size=12) | st.text("0123456789.,'-+eE %/:ja", max_size=12)
VALUES = st.floats() | st.dates() | st.integers() | st.booleans() | st.datetimes() | st.decimals()


@each_kind
@given(given=st.lists(HOSTILE | VALUES, max_size=8))
@settings(max_examples=30)
def test_codes_are_those_of_how_each_cell_is_taken(column: Column, given: list[object]) -> None:
    """What a check of the table tells and what a run reads cannot differ, whatever the cells hold."""
    found = cells(given)
    taken = [column.taken(cell) for cell in found]

    assert codes(column, *found) == [code for _, code in taken]
    assert [how is How.MISSING for how, _ in taken] == [cell is None for cell in found]
    if column.missing is Missing.CATEGORY:
        unknown = [how in (How.MISSING, How.UNRECOGNISED) for how, _ in taken]
        assert unknown == [code == column.size - 1 for _, code in taken]


@each_kind
@pytest.mark.parametrize("draw", [2.0**-53, 1 - 2.0**-53])
def test_the_most_extreme_draws_stay_in_their_bin(column: Column, draw: float) -> None:
    before = all_codes(column, 1)

    after = column.encode(cells(column.decode(before, ScriptedNoise([draw] * 2 * len(before))).tolist()))

    assert after.tolist() == before.tolist()


@each_kind
def test_a_column_has_a_label_for_each_code(column: Column) -> None:
    assert len(set(column.labels)) == column.size


@each_kind
@given(given=st.lists(HOSTILE | st.floats().map(canonical_text) | st.dates().map(canonical_text), max_size=8))
@settings(max_examples=20)
def test_any_cell_has_a_code_that_depends_on_it_alone(column: Column, given: list[str | None]) -> None:
    together = codes(column, *given)

    assert together == [codes(column, cell)[0] for cell in given]
    assert all(code <= column.size - (column.missing is not Missing.DROP) for code in together)


@each_kind
def test_a_missing_cell_is_the_last_category_or_marked_or_a_known_value(column: Column) -> None:
    (code,) = codes(column, None)

    expected = {Missing.CATEGORY: column.size - 1, Missing.DROP: column.size}
    assert code == expected.get(column.missing, code)
    assert column.missing is not Missing.FALLBACK or code < column.size


@pytest.mark.parametrize(("size", "kind"), [(256, np.uint8), (257, np.uint16)])
def test_codes_are_the_smallest_unsigned_integers(size: int, kind: type[np.unsignedinteger]) -> None:
    column = Categorical("c", tuple(map(str, range(size))), missing=Missing.FALLBACK)

    assert column.encode(["0"]).dtype == kind


def test_an_unknown_text_is_the_first_value_unless_a_fallback_is_declared() -> None:
    assert codes(Categorical("c", ("a", "b"), missing=Missing.FALLBACK), "z") == [0]
    assert codes(Categorical("c", ("a", "b"), fallback="b", missing=Missing.FALLBACK), "z") == [1]


def test_an_unknown_text_goes_to_other_where_there_is_one() -> None:
    assert codes(Categorical("c", ("a", "b"), other="rest", missing=Missing.FALLBACK), "z") == [2]


def test_a_left_closed_bin_starts_with_its_edge() -> None:
    assert codes(Numeric("x", (0.0, 10.0, 20.0), LEFT, Missing.FALLBACK), "0", "9.99", "10", "19") == [0, 0, 1, 1]


def test_a_right_closed_bin_ends_with_its_edge() -> None:
    assert codes(Numeric("x", (0.0, 10.0, 20.0), RIGHT, Missing.FALLBACK), "0.1", "10", "10.1", "20") == [0, 0, 1, 1]


def test_a_number_outside_all_bins_goes_to_the_nearest() -> None:
    assert codes(Numeric("x", (0.0, 10.0, 20.0), LEFT, Missing.FALLBACK), "-5", "20", "1e999", "-inf") == [0, 1, 1, 0]


def test_an_integer_outside_the_list_goes_to_the_nearest_and_to_the_lower_of_two() -> None:
    assert codes(Integer("i", (0, 10, 20), Missing.FALLBACK), "-7", "4", "5", "6", "9.5", "99") == [0, 0, 0, 1, 1, 2]


def test_a_whole_number_beyond_the_floats_is_compared_exactly() -> None:
    assert codes(IntegerBins("i", (0, 2**53, INF), LEFT, Missing.FALLBACK), str(2**53 - 1), str(10**400)) == [0, 1]


def test_a_day_goes_by_its_date_whatever_the_time() -> None:
    assert codes(
        Dates("d", DAYS, LEFT, Missing.FALLBACK), "2020-01-31T23:59:59", "2020-02-01 00:00:00", "1999-01-01"
    ) == [0, 1, 0]


@pytest.mark.parametrize("column", [Boolean("b", Missing.CATEGORY), Numeric("x", (0.0, 1.0), LEFT, Missing.CATEGORY)])
def test_what_is_no_value_of_the_kind_counts_as_missing(column: Column) -> None:
    assert codes(column, "n/a", "maybe") == [column.size - 1] * 2


def test_truth_values_are_read_in_their_usual_spellings() -> None:
    assert codes(Boolean("b", Missing.FALLBACK), "TRUE", "yes", "1", "False", "n", "0") == [1, 1, 1, 0, 0, 0]


def test_a_truth_value_written_as_a_number_is_taken_by_its_value() -> None:
    spelled = ("1.0", "0.0", "1e0", "-0", "2.0", "0.5", "nan", "inf")

    assert codes(Boolean("b", Missing.CATEGORY), *spelled) == [1, 0, 1, 0, 2, 2, 2, 2]


def test_a_time_with_a_zone_is_taken_in_utc() -> None:
    times = ("2020-02-01T00:30:00+02:00", "2020-02-01 00:30:00+00", "2020-01-31T23:30:00-01:00", "2020-02-01T00:00:00Z")

    assert codes(Dates("d", DAYS, LEFT, Missing.FALLBACK), *times) == [0, 1, 1, 1]


def test_a_time_with_a_zone_at_the_end_of_the_calendar_is_its_own_day() -> None:
    assert codes(
        Dates("d", DAYS, LEFT, Missing.FALLBACK), "0001-01-01T00:30:00+02:00", "9999-12-31T23:30:00-02:00"
    ) == [0, 1]


def test_whole_numbers_are_decoded_as_whole_numbers_from_all_over_their_bin() -> None:
    column = IntegerBins("age", (10, 20), RIGHT, Missing.FALLBACK)

    drawn = column.decode(np.zeros(1000, dtype=np.uint8), SeededNoise(1))

    assert drawn.dtype == np.int64
    assert set(drawn.tolist()) == set(range(11, 21))


def test_an_open_bin_is_decoded_as_wide_as_its_neighbour() -> None:
    column = IntegerBins("hours", (0, 80, 90, INF), LEFT, Missing.FALLBACK)

    drawn = column.decode(np.full(1000, 2, dtype=np.uint8), SeededNoise(1))

    assert set(drawn.tolist()) == set(range(90, 100))


def test_whether_there_is_any_is_decoded_as_0_or_1() -> None:
    column = IntegerBins("gain", (-INF, 0, INF), RIGHT, Missing.FALLBACK)

    drawn = column.decode(np.array([0, 1, 1], dtype=np.uint8), SeededNoise(1))

    assert drawn.tolist() == [0, 1, 1]


FINITE = st.floats(-1e300, 1e300) | st.integers(-100, 100).map(float) | st.sampled_from([0.0, 5e-324, 1e-300, 0.01])
WHOLE = st.integers(-(2**53), 2**53) | st.integers(-10, 10)
DAY = st.dates(date(1, 1, 2), date(9999, 12, 30)).map(date.toordinal)


@st.composite
def edges_of(draw: st.DrawFn, inner: st.SearchStrategy[float]) -> tuple[float, ...]:
    """Edges, some of them next to each other, with open ends or without."""
    found = set(draw(st.lists(inner, min_size=1, max_size=5)))
    below, above = draw(st.booleans()), draw(st.booleans())
    ends = [*([-INF] if below else []), *sorted(found), *([INF] if above else [])]
    return tuple(ends) if len(ends) > 1 else (*ends, INF)


def with_neighbours(values: st.SearchStrategy[float]) -> st.SearchStrategy[float]:
    return values | values.map(lambda value: math.nextafter(value, INF)) | values.map(lambda v: math.nextafter(v, -INF))


def made(kind: str, edges: tuple[float, ...], closed: Closed, inside: Inside | tuple[Inside, ...]) -> Column | None:
    """The column, or None where it is refused."""
    try:
        if kind == "numeric":
            return Numeric("x", edges, closed, Missing.CATEGORY, inside=inside)
        if kind == "integer":
            return IntegerBins("x", edges, closed, Missing.CATEGORY, inside=inside)
        days = tuple(date.fromordinal(int(edge)) if math.isfinite(edge) else edge for edge in edges)
        return Dates("x", days, closed, Missing.CATEGORY, inside=inside)
    except SchemaMismatch:
        return None


EDGES = {"numeric": edges_of(with_neighbours(FINITE)), "integer": edges_of(WHOLE), "date": edges_of(DAY)}


@pytest.mark.parametrize("kind", EDGES)
@given(data=st.data())
@settings(max_examples=200)
def test_every_shape_inside_a_bin_keeps_to_its_bin(kind: str, data: st.DataObject) -> None:
    edges, closed = data.draw(EDGES[kind]), data.draw(st.sampled_from(Closed))
    word = st.sampled_from(Inside)
    inside = data.draw(word | st.tuples(*[word] * (len(edges) - 1)))
    column = made(kind, edges, closed, inside)
    assume(column is not None)
    assert column is not None
    shares = data.draw(st.lists(st.floats(2.0**-53, 1 - 2.0**-53), min_size=column.size, max_size=column.size))
    before = all_codes(column, 1)

    values = column.decode(before, ScriptedNoise(shares))

    assert column.encode(cells(values.tolist())).tolist() == before.tolist()
    written = column.spelled(values).tolist()
    assert column.encode(cells([None if each is None else canonical_text(each) for each in written])).tolist() == (
        before.tolist()
    )


def drawn(column: Column, code: int, count: int = 40000) -> list[float]:
    return [float(value) for value in column.decode(np.full(count, code, dtype=np.uint8), SeededNoise(1)).tolist()]


def test_at_the_edge_every_value_is_the_closed_edge() -> None:
    edges = (0.0, 0.01, 1.0)

    assert set(drawn(Numeric("x", edges, LEFT, Missing.FALLBACK, inside=EDGE), 0)) == {0.0}
    assert set(drawn(Numeric("x", edges, RIGHT, Missing.FALLBACK, inside=EDGE), 0)) == {0.01}
    assert set(drawn(IntegerBins("n", (0, 5, 9), RIGHT, Missing.FALLBACK, inside=(EDGE, EVEN)), 0)) == {5}
    day = Dates("d", DAYS, LEFT, Missing.FALLBACK, inside=EDGE).decode(np.array([1], dtype=np.uint8), SeededNoise(1))
    assert day.tolist() == [DAYS[1]]


@pytest.mark.parametrize("sign", [1, -1])
def test_log_even_reals_have_even_logarithms(sign: int) -> None:
    """Half of them lie below the geometric mean; of 40,000 draws the share is within .0125 but for 1e-6."""
    edges = tuple(sorted((sign * 1.0, sign * 100.0)))

    values = drawn(Numeric("x", edges, LEFT, Missing.FALLBACK, inside=LOG), 0)

    assert abs(sum(abs(value) < 10 for value in values) / len(values) - 0.5) < 0.0125
    assert abs(sum(abs(value) < 10**0.2 for value in values) / len(values) - 0.1) < 0.0125


@pytest.mark.parametrize(
    ("edges", "closed", "numbers"),
    [((1, 10), LEFT, range(1, 10)), ((0, 9), RIGHT, range(1, 10)), ((-9, 0), LEFT, range(-9, 0))],
)
def test_log_even_whole_numbers_have_the_frequencies_of_first_digits(
    edges: tuple[int, ...], closed: Closed, numbers: range
) -> None:
    """Of 1 to 9 each has the share log10(1 + 1/n), within .0125 but for 1e-6."""
    values = drawn(IntegerBins("n", edges, closed, Missing.FALLBACK, inside=LOG), 0)

    for number in numbers:
        assert abs(values.count(number) / len(values) - math.log10(1 + 1 / abs(number))) < 0.0125


def test_a_bin_that_begins_at_0_is_even_where_all_are_log_even() -> None:
    values = drawn(Numeric("x", (0.0, 10.0, 100.0), LEFT, Missing.FALLBACK, inside=LOG), 0)

    assert abs(sum(value < 1 for value in values) / len(values) - 0.1) < 0.0125


def test_an_open_log_even_bin_is_as_wide_as_its_neighbour_in_logarithms() -> None:
    values = drawn(Numeric("x", (10.0, 50.0, INF), LEFT, Missing.FALLBACK, inside=LOG), 1)

    assert 249 < max(values) < 250
    assert 50 <= min(values) < 51


def test_a_text_is_known_by_its_prefix() -> None:
    column = Categorical("icd", ("I1", "I2", "ot", "A"), "other", missing=Missing.CATEGORY, prefix=2)

    assert codes(column, "I10.9", "I2", "other", "otitis", "A 1", "A", "i10", "I") == [0, 1, 4, 2, 3, 3, 4, 4]
    assert hows(column, "I10.9", "J10", "other") == [IN, OUT, IN]
    assert column.decode(np.array([0, 4, 5], dtype=np.uint8), SeededNoise(1)).tolist() == ["I1", "other", None]


def test_bins_are_labelled_as_intervals() -> None:
    assert IntegerBins("n", (-INF, 0, 10, INF), LEFT, Missing.FALLBACK).labels == ("(-∞, 0)", "[0, 10)", "[10, ∞)")
    assert Numeric("n", (-INF, 0.5, 10.0), RIGHT, Missing.CATEGORY).labels == ("(-∞, 0.5]", "(0.5, 10]", "(missing)")
    assert Dates("d", DAYS[:2], LEFT, Missing.FALLBACK).labels == ("[2020-01-01, 2020-02-01)",)


def hows(column: Column, *given: object) -> list[How]:
    return [column.taken(cell)[0] for cell in cells(given)]


IN, OUT, ODD, NONE = How.VALUE, How.OUTSIDE, How.UNRECOGNISED, How.MISSING


def test_a_number_is_inside_the_bins_up_to_both_outermost_edges() -> None:
    column = Numeric("x", (0.0, 10.0, 20.0), LEFT, Missing.DROP)

    assert hows(column, "0", 20, "20.1", -1, "70,5", "", None) == [IN, IN, OUT, OUT, ODD, NONE, NONE]


def test_a_value_that_is_not_listed_is_outside_even_where_it_has_a_place() -> None:
    assert hows(Integer("i", (1, 2, 4), Missing.FALLBACK), "2", "3", "2.5", "two") == [IN, OUT, OUT, ODD]
    assert hows(Categorical("c", ("a",), "rest", missing=Missing.FALLBACK), "a", "rest", "z", 3) == [IN, IN, OUT, OUT]


@pytest.mark.parametrize(
    ("numerals", "given", "numbers"),
    [
        (Numerals(","), ("70,5", "-0,5", ",5", "7,", "1,5e3", "70.5", "1.234", "inf", "1_0"),
         (70.5, -0.5, 0.5, 7, 1500, None, None, None, None)),
        (Numerals(",", "."), ("1.234,5", "1234,5", "1.234.567", "1.23,5", "12.34", "+1.000", "70.5", ",", "e5"),
         (1234.5, 1234.5, 1234567, None, None, 1000, None, None, None)),
        (Numerals(",", " "), ("1 234,5", "1\u00a0234", "1\u202f234", "1\t234"), (1234.5, 1234, 1234, None)),
        (Numerals(thousands="'"), ("1'234.5", "1\u2019234", "1,234", "\uff11"), (1234.5, 1234, None, None)),
        (Numerals(thousands=","), ("1,234.5", "1,5", "9007199254740993"), (1234.5, None, 2**53 + 1)),
    ],
    ids=str,
)  # fmt: skip
def test_numbers_are_read_as_they_are_declared_to_be_written(
    numerals: Numerals, given: tuple[str, ...], numbers: tuple[float | None, ...]
) -> None:
    assert tuple(map(numerals.number, given)) == numbers


@pytest.mark.parametrize(
    ("text", "cell", "day"),
    [
        ("%d.%m.%Y", "31.12.1950", date(1950, 12, 31)),
        ("%d.%m.%Y", "1.2.1950", date(1950, 2, 1)),
        ("%d.%m.%Y", "31.12.50", None),
        ("%d.%m.%Y", "1950-12-31", None),
        ("%d.%m.%Y", "31.02.1950", None),
        ("%d.%m.%Y", "31.12.1950 12:00", None),
        ("%d.%m.%Y", "\u0663\u0661.12.1950", None),
        ("%m/%d/%Y", "12/31/1950", date(1950, 12, 31)),
        ("%d%m%Y", "01121950", date(1950, 12, 1)),
        ("%d%m%Y", "1121950", None),
        ("%d.%m.%Y %H:%M:%S", "31.12.1950 23:59:59", date(1950, 12, 31)),
        ("%d.%m.%Y %H:%M", "31.12.1950 24:00", None),
        ("%Y\u5e74%m\u6708%d\u65e5 100%%", "1950\u5e7412\u670831\u65e5 100%", date(1950, 12, 31)),
        ("(%d+%m*%Y", "(31+12*1950", date(1950, 12, 31)),
    ],
)
def test_dates_are_read_as_they_are_declared_to_be_written(text: str, cell: str, day: date | None) -> None:
    assert DayFormat(text).day(cell) == (None if day is None else day.toordinal())


@given(st.dates(), st.sampled_from(["%d.%m.%Y", "%m/%d/%Y", "%Y%m%d", "%d%m%Y", "%Y-%d-%m", "%d.%m.%Y %H:%M:%S"]))
def test_a_date_goes_round_through_its_format_which_means_what_strptime_has_it_mean(day: date, text: str) -> None:
    written = DayFormat(text).spelled(day)

    assert DayFormat(text).day(written) == day.toordinal()
    assert datetime.strptime(written, text).date() == day


def test_a_value_that_is_not_text_has_no_spelling() -> None:
    numeric = Numeric("x", (0.0, 100.0, 1000.0), LEFT, Missing.CATEGORY, Numerals(",", "."))
    days = Dates("d", DAYS, LEFT, Missing.CATEGORY, DayFormat("%d.%m.%Y"))

    assert hows(numeric, 70.5, "70.5") == [IN, ODD]
    assert codes(numeric, *cells([1.234, "1.234"])) == [0, 1]
    assert hows(days, DAYS[1], datetime(2020, 2, 1, 9), "2020-02-01") == [IN, IN, ODD]


def test_declared_words_are_true_and_false_beside_the_usual_ones() -> None:
    column = Boolean("b", Missing.CATEGORY, TruthWords(("ja", "1"), ("Nein", "2")))

    assert codes(column, "JA", "nein", "yes", "f", "1", "2", "2.0", "vielleicht") == [1, 0, 1, 0, 1, 0, 0, 2]
    assert codes(column, *cells([True, False, 1, 2, 0])) == [1, 0, 1, 0, 0]


def test_a_word_that_is_declared_means_what_was_declared() -> None:
    column = Boolean("b", Missing.CATEGORY, TruthWords(("2",), ("1",)))

    assert codes(column, "1", "2", "1.0", "true") == [0, 1, 0, 1]


BAD = {
    "an unknown sign before decimals": (lambda: Numerals(";"), SchemaMismatch),
    "an unknown sign between thousands": (lambda: Numerals(",", "_"), SchemaMismatch),
    "no sign between thousands": (lambda: Numerals(",", ""), SchemaMismatch),
    "one sign for both": (lambda: Numerals(",", ","), SchemaMismatch),
    "a point between thousands before decimals with one": (lambda: Numerals(thousands="."), SchemaMismatch),
    "a format without a day": (lambda: DayFormat("%m.%Y"), SchemaMismatch),
    "a format with two days": (lambda: DayFormat("%d.%d.%m.%Y"), SchemaMismatch),
    "a year of two digits": (lambda: DayFormat("%d.%m.%y"), SchemaMismatch),
    "a month by its name": (lambda: DayFormat("%d %B %Y"), SchemaMismatch),
    "a format that ends in a percent sign": (lambda: DayFormat("%d.%m.%Y%"), SchemaMismatch),
    "a format with a space at its end": (lambda: DayFormat("%d.%m.%Y "), SchemaMismatch),
    "a word that is true and false": (lambda: TruthWords(("Ja",), ("ja",)), SchemaMismatch),
    "true as false": (lambda: TruthWords(false=("True",)), SchemaMismatch),
    "false as true": (lambda: TruthWords(true=("false",)), SchemaMismatch),
    "a blank word": (lambda: TruthWords(true=("",)), SchemaMismatch),
    "a word with space around it": (lambda: TruthWords(true=(" ja",)), SchemaMismatch),
    "no values": (lambda: Categorical("c", (), missing=Missing.FALLBACK), SchemaMismatch),
    "too many values": (lambda: Integer("i", tuple(range(2**16 + 1)), Missing.FALLBACK), SchemaMismatch),
    "a value twice": (lambda: Categorical("c", ("a", "a"), missing=Missing.FALLBACK), SchemaMismatch),
    "what missing values are called": (
        lambda: Categorical("c", ("a", "(missing)"), missing=Missing.CATEGORY),
        SchemaMismatch,
    ),
    "other among the values": (lambda: Categorical("c", ("a",), other="a", missing=Missing.FALLBACK), SchemaMismatch),
    "a value with space around it": (lambda: Categorical("c", (" a",), missing=Missing.FALLBACK), SchemaMismatch),
    "an unknown fallback": (lambda: Categorical("c", ("a",), fallback="z", missing=Missing.FALLBACK), SchemaMismatch),
    "fallback and other": (
        lambda: Categorical("c", ("a",), other="o", fallback="a", missing=Missing.FALLBACK),
        SchemaMismatch,
    ),
    "integers that do not increase": (lambda: Integer("i", (1, 1), Missing.FALLBACK), SchemaMismatch),
    "integers beyond the floats": (lambda: Integer("i", (2**60,), Missing.FALLBACK), SchemaMismatch),
    "one edge": (lambda: Numeric("x", (1.0,), LEFT, Missing.FALLBACK), SchemaMismatch),
    "edges that do not increase": (lambda: Numeric("x", (1.0, 1.0), LEFT, Missing.FALLBACK), SchemaMismatch),
    "an edge that is no number": (lambda: Numeric("x", (0.0, math.nan), LEFT, Missing.FALLBACK), SchemaMismatch),
    "no finite edge": (lambda: Numeric("x", (-INF, INF), LEFT, Missing.FALLBACK), SchemaMismatch),
    "an edge too large to add": (lambda: Numeric("x", (0.0, 1e308), LEFT, Missing.FALLBACK), SchemaMismatch),
    "an edge between whole numbers": (lambda: IntegerBins("x", (0, 0.5), LEFT, Missing.FALLBACK), SchemaMismatch),
    "a prefix of no letters": (lambda: Categorical("c", ("a",), missing=Missing.DROP, prefix=0), SchemaMismatch),
    "a value beyond its prefix": (lambda: Categorical("c", ("abc",), missing=Missing.DROP, prefix=2), SchemaMismatch),
    "too few shapes": (lambda: Numeric("x", (0.0, 1.0, 2.0), LEFT, Missing.DROP, inside=(EVEN,)), SchemaMismatch),
    "log at 0": (lambda: Numeric("x", (0.0, 1.0, 2.0), LEFT, Missing.DROP, inside=(LOG, LOG)), SchemaMismatch),
    "log of whole numbers from 0": (
        lambda: IntegerBins("x", (0, 5), LEFT, Missing.DROP, inside=(LOG,)),
        SchemaMismatch,
    ),
    "log with nothing beside 0": (
        lambda: Numeric("x", (-1.0, 0.0, 1.0), LEFT, Missing.DROP, inside=LOG),
        SchemaMismatch,
    ),
    "log of dates": (lambda: Dates("d", DAYS, LEFT, Missing.DROP, inside=LOG), SchemaMismatch),
    "log of some dates": (lambda: Dates("d", DAYS, LEFT, Missing.DROP, inside=(EVEN, LOG)), SchemaMismatch),
    "no edge that is closed": (lambda: Numeric("x", (0.0, 1.0, INF), RIGHT, Missing.DROP, inside=EDGE), SchemaMismatch),
    "dates that do not increase": (lambda: Dates("d", DAYS[::-1], LEFT, Missing.FALLBACK), SchemaMismatch),
}


@pytest.mark.parametrize(("make", "kind"), BAD.values(), ids=BAD)
def test_a_domain_that_is_none_is_refused_in_one_sentence(make: object, kind: type[ExpostError]) -> None:
    assert callable(make)

    with pytest.raises(kind) as refused:
        make()

    assert one_sentence(refused.value)
