"""Sensitivities by brute force over all small neighbours, and what a statistic does with odd values."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any, TypeVar

import numpy as np
import pytest

from expost.errors import InvalidValue
from expost.noise import Floats, Integers, SeededNoise
from expost.private import Neighbours
from expost.statistic import Statistic, bounded_sum, histogram
from tests.unit.examples import ADD, REPLACE, as_is, counts, distances, l1, l2_squared, largest

CODES = (-1, 0, 1, 2, 3)
GRID = [(x / 2, y / 2) for x, y in product(range(-9, 10, 3), repeat=2)]
ODD = [(math.nan, 1.0), (math.inf, 0.0), (-math.inf, math.inf), (1e300, -1e300), (2.0, 0.0), (3.0, 4.0)]
Pair = tuple[float, float]
T = TypeVar("T")


def table(data: Sequence[Pair]) -> Floats:
    """Records with two real columns."""
    return np.array(data, dtype=np.float64).reshape(-1, 2)


def sums(neighbours: Neighbours) -> Statistic[Sequence[Pair]]:
    """Sums of two columns, clipped to norm 2.5 on a grid of halves: five units."""
    return bounded_sum(table, 2, neighbours, clip=2.5, spacing=0.5)


def claimed(statistic: Statistic[T], norm: Callable[[Integers], int]) -> Fraction:
    """The sensitivity that the statistic claims in this norm."""
    return statistic.l1 if norm is l1 else statistic.l2_squared


def evaluated(statistic: Statistic[Integers], data: list[int]) -> Integers:
    """The counts of a list of codes."""
    return statistic.evaluate(np.array(data, dtype=np.int64))


@pytest.mark.parametrize("neighbours", [ADD, REPLACE])
@pytest.mark.parametrize("norm", [l1, l2_squared])
def test_no_neighbour_moves_a_histogram_further_than_claimed(
    neighbours: Neighbours, norm: Callable[[Integers], int]
) -> None:
    statistic = counts(3, neighbours)

    moved = largest(distances(partial(evaluated, statistic), CODES, neighbours), norm)

    assert moved <= claimed(statistic, norm)


@pytest.mark.parametrize("neighbours", [ADD, REPLACE])
@pytest.mark.parametrize("norm", [l1, l2_squared])
def test_some_neighbour_moves_a_histogram_further_than_any_smaller_claim(
    neighbours: Neighbours, norm: Callable[[Integers], int]
) -> None:
    statistic = counts(3, neighbours)
    claim = claimed(statistic, norm)

    moved = largest(distances(partial(evaluated, statistic), CODES, neighbours), norm)

    assert moved > claim - 1


def test_the_claim_for_added_records_is_false_for_replaced_ones() -> None:
    statistic = counts(3, ADD)

    assert largest(distances(partial(evaluated, statistic), CODES, REPLACE), l1) > statistic.l1


@pytest.mark.parametrize("neighbours", [ADD, REPLACE])
@pytest.mark.parametrize("norm", [l1, l2_squared])
def test_no_neighbour_moves_a_bounded_sum_further_than_claimed(
    neighbours: Neighbours, norm: Callable[[Integers], int]
) -> None:
    statistic = sums(neighbours)

    moved = largest(distances(statistic.evaluate, GRID + ODD, neighbours, most=1), norm)

    assert moved <= claimed(statistic, norm)


@pytest.mark.parametrize("neighbours", [ADD, REPLACE])
@pytest.mark.parametrize("norm", [l1, l2_squared])
def test_some_neighbour_moves_a_bounded_sum_further_than_any_smaller_claim(
    neighbours: Neighbours, norm: Callable[[Integers], int]
) -> None:
    statistic = sums(neighbours)
    claim = claimed(statistic, norm)

    moved = largest(distances(statistic.evaluate, [*GRID, (1.5, 2.0), (-1.5, -2.0)], neighbours, most=1), norm)

    assert moved > claim - 1


def test_codes_outside_are_counted_nowhere() -> None:
    assert counts(2).evaluate(np.array([-1, 0, 1, 1, 2, 10**9])).tolist() == [1, 2]


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.uint64, np.bool_, np.float64])
def test_codes_of_every_type_are_counted(kind: type[np.generic]) -> None:
    assert counts(2).evaluate(np.array([0, 1, 1], dtype=kind)).tolist() == [1, 2]


def test_no_records_count_as_zeros() -> None:
    assert counts(2).evaluate(np.array([], dtype=np.int64)).tolist() == [0, 0]


def test_a_code_that_is_not_a_number_is_counted_nowhere() -> None:
    statistic: Statistic[Floats] = histogram(lambda data: data, 2, ADD)  # type: ignore[arg-type,return-value] # floats for codes

    assert statistic.evaluate(np.array([0.0, math.nan, math.inf])).tolist() == [1, 0]


def test_several_codes_to_a_record_are_refused() -> None:
    """Each record would count twice, which the claimed sensitivity does not cover."""
    with pytest.raises(InvalidValue):
        counts(2).evaluate(np.zeros((4, 2), dtype=np.int64))


def test_codes_of_several_columns_laid_end_to_end_are_refused() -> None:
    """Raveling hides that a record has two codes; the number of records does not."""
    statistic: Statistic[Integers] = histogram(lambda data: data.ravel(), 2, ADD)

    with pytest.raises(InvalidValue, match="needs one code per record"):
        statistic.evaluate(np.zeros((4, 2), dtype=np.int64))


def test_one_column_laid_end_to_end_is_counted() -> None:
    statistic: Statistic[Integers] = histogram(lambda data: data.ravel(), 2, ADD)

    assert statistic.evaluate(np.zeros((4, 1), dtype=np.int64)).tolist() == [4, 0]


@pytest.mark.parametrize("codes", [np.zeros(3), np.zeros(5), np.zeros(0)])
def test_fewer_or_more_codes_than_records_are_refused(codes: Integers) -> None:
    """Codes that were counted or left out beforehand may move by more than one with a record."""
    statistic: Statistic[Integers] = histogram(lambda data: codes, 2, ADD)

    with pytest.raises(InvalidValue, match="needs one code per record"):
        statistic.evaluate(np.zeros(4, dtype=np.int64))


@pytest.mark.parametrize("rows", [lambda data: data.sum(axis=0, keepdims=True), lambda data: data.ravel()])
def test_rows_that_were_summed_or_laid_end_to_end_are_refused(rows: Callable[[Floats], Floats]) -> None:
    """One sum, clipped, is no sum of clipped records."""
    statistic = bounded_sum(rows, 2, ADD, clip=4, spacing=1)

    with pytest.raises(InvalidValue, match="needs one row of width 2 per record"):
        statistic.evaluate(np.ones((3, 2)))


def test_a_column_that_was_summed_is_refused() -> None:
    statistic: Statistic[Floats] = bounded_sum(lambda data: data.sum(keepdims=True), 1, ADD, clip=4, spacing=1)

    with pytest.raises(InvalidValue, match="needs one row of width 1 per record"):
        statistic.evaluate(np.ones(3))


def test_several_rows_to_a_record_are_refused() -> None:
    """Four columns are not two records of two columns."""
    statistic = bounded_sum(lambda data: data, 2, ADD, clip=4, spacing=1)

    with pytest.raises(InvalidValue):
        statistic.evaluate(np.ones((3, 4)))


def test_a_row_is_rounded_towards_zero_on_the_grid() -> None:
    assert sums(ADD).evaluate([(0.99, -0.99)]).tolist() == [1, -1]


@pytest.mark.parametrize("row", [(3.0, -4.0), (30.0, -40.0), (3e9, -4e9)])
def test_a_row_that_is_too_long_keeps_its_direction(row: Pair) -> None:
    assert sums(ADD).evaluate([row]).tolist() == [3, -4]


@pytest.mark.parametrize("width", [2, 7])
def test_no_long_row_contributes_more_than_the_bound(width: int) -> None:
    """Random rows that all must be shortened: float error may lose a unit, never gain one."""
    statistic: Statistic[Floats] = bounded_sum(lambda data: data, width, ADD, clip=1000, spacing=1)
    rows = SeededNoise(1).gaussian(1e6, (2000, width))

    lengths = [l2_squared(statistic.evaluate(row.reshape(1, width))) for row in rows]

    assert max(lengths) <= 1000**2
    assert min(lengths) > 990**2


@pytest.mark.parametrize(
    ("row", "contribution"),
    [
        ((math.nan, math.nan), [0, 0]),
        ((math.nan, 1.0), [0, 2]),
        ((math.inf, 0.0), [5, 0]),
        ((0.0, -math.inf), [0, -5]),
        ((1e308, 0.0), [5, 0]),
    ],
)
def test_an_odd_row_contributes_within_the_bound(row: Pair, contribution: list[int]) -> None:
    assert sums(ADD).evaluate([row]).tolist() == contribution


def test_a_sum_of_one_column_takes_plain_numbers() -> None:
    statistic = bounded_sum(lambda data: data, 1, ADD, clip=10, spacing=1)

    assert statistic.evaluate(np.array([1.0, 2.0, 3.0])).tolist() == [6]


@pytest.mark.parametrize("values", [np.zeros(2, dtype=np.int64), np.zeros(3), np.zeros((3, 1), dtype=np.int64)])
def test_a_result_of_another_shape_or_type_is_refused(values: Integers) -> None:
    statistic: Statistic[None] = Statistic(lambda data: values, (3,), Fraction(1), Fraction(1), ADD)

    with pytest.raises(InvalidValue, match="did not return integers of its shape"):
        statistic.evaluate(None)


@pytest.mark.parametrize(("l2", "one"), [(0, 1), (1, 0), (-1, 1)])
def test_a_sensitivity_must_be_above_zero(l2: int, one: int) -> None:
    with pytest.raises(InvalidValue, match="it must be above 0"):
        Statistic(lambda data: data, (1,), Fraction(l2), Fraction(one), ADD)


@pytest.mark.parametrize("cells", [0, -1])
def test_a_histogram_needs_a_cell(cells: int) -> None:
    with pytest.raises(InvalidValue, match="at least one cell"):
        counts(cells)


@pytest.mark.parametrize(("clip", "spacing"), [(1, 2), (2**21, 1), (0, 1), (1, 0), (math.nan, 1), (1, math.inf)])
def test_a_grid_that_cannot_hold_the_sum_is_refused(clip: float, spacing: float) -> None:
    with pytest.raises(InvalidValue):
        bounded_sum(table, 2, ADD, clip=clip, spacing=spacing)


@pytest.mark.parametrize("sensitivity", [2, 0.1, np.int8(100), np.int32(2), np.float64(0.1)])
def test_plain_sensitivities_are_read_exactly(sensitivity: float) -> None:
    statistic: Statistic[Integers] = Statistic(lambda data: data, (1,), sensitivity, sensitivity, ADD)  # type: ignore[arg-type] # a caller without a type checker

    assert statistic.l1 == statistic.l2_squared == Fraction(float(sensitivity))
    assert all(type(part) is int for part in statistic.l1.as_integer_ratio())


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64])
def test_the_sensitivity_of_a_sum_does_not_wrap_around(kind: type[np.integer[Any]]) -> None:
    """3·70000² is beyond 32 bits: the sensitivity of a count of columns from an array would be a third."""
    wide = bounded_sum(table, kind(3), ADD, clip=70_000, spacing=1)  # type: ignore[arg-type] # a numpy integer

    assert wide.l1 == bounded_sum(table, 3, ADD, clip=70_000, spacing=1).l1


def test_a_statistic_under_a_relation_in_words_is_refused() -> None:
    with pytest.raises(InvalidValue, match="neighbour relation"):
        Statistic(as_is, (1,), Fraction(1), Fraction(1), "replace one record")  # type: ignore[arg-type] # untyped caller


@pytest.mark.parametrize(("clip", "allowed"), [(Fraction(1, 2), False), (1, True), (2**20, True), (2**20 + 1, False)])
def test_a_clip_is_one_to_a_million_grid_units(clip: Fraction, allowed: bool) -> None:
    """Less than a unit would leave nothing of any record, and the square of more would not be exact."""

    def made() -> Statistic[Floats]:
        return bounded_sum(lambda data: data, 1, ADD, clip=clip, spacing=1)

    if allowed:
        assert made().l2_squared == clip**2
    else:
        with pytest.raises(InvalidValue, match="choose a spacing"):
            made()


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 2)])
def test_a_statistic_without_cells_along_an_axis_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(InvalidValue, match="at least one cell along each axis"):
        Statistic(as_is, shape, Fraction(1), Fraction(1), ADD)


def test_codes_far_below_and_above_the_cells_are_counted_nowhere() -> None:
    assert counts(2).evaluate(np.array([-5, -1, 0, 1, 1, 2, 7])).tolist() == [1, 2]


def test_an_entry_is_cut_at_forty_bits_of_grid_units() -> None:
    """Beside it an entry of half that is then half as large, however far beyond the cut the first one lies."""
    statistic = bounded_sum(table, 2, ADD, clip=2**20, spacing=1)
    cut = statistic.evaluate([(2.0**40, 2.0**39)]).tolist()

    assert statistic.evaluate([(2.0**90, 2.0**39)]).tolist() == cut
    assert statistic.evaluate([(2.0**39, 2.0**39)]).tolist() != cut


def test_a_row_that_a_wrong_norm_leaves_too_long_counts_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound is checked in integers, whatever the floats before it say."""
    monkeypatch.setattr("expost.statistic.row_norms", lambda rows: np.zeros(len(rows)))

    assert sums(ADD).evaluate([(9.0, 9.0), (0.5, 0.0)]).tolist() == [1, 0]
