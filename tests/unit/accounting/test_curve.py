"""Curves add and compare like the bounds they stand for, and rounding only ever raises them."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from expost.accounting.curve import ORDERS as TABULATED
from expost.accounting.curve import (
    ZERO,
    Curve,
    Highest,
    Linear,
    Tabulated,
    cover,
    exceeds,
    highest,
    largest_rho,
    repeat,
    total,
)
from expost.accounting.textbook import laplace_rdp
from expost.errors import InvalidValue
from expost.numerics import up
from tests.unit.examples import line

ORDERS = (1.5, 2.0, 5.0, 20.0, 64.0)
PROBES = (1.01, 1.5, 1.7, 2.0, 3.0, 20.0, 63.0, 64.0)
ULPS = 4
"""A law up to rounding: a few roundings of one ulp each."""


def combined(combine: Callable[[Curve, Curve], Curve], curves: Sequence[Curve]) -> Curve:
    """All curves taken together, one after another."""
    return reduce(combine, curves)


weights = st.fractions(0, 100, max_denominator=10**6)
lines = st.builds(line, weights, weights)
gaussians = st.builds(lambda rho, wider: line(0, rho, rho + wider), weights, weights)
envelopes = st.lists(lines, min_size=1, max_size=4).map(lambda several: combined(highest, several))
tables = st.lists(st.floats(0, 1e6), min_size=len(ORDERS), max_size=len(ORDERS)).map(
    lambda values: Tabulated.of(ORDERS, sorted(values))
)
curves = lines | gaussians | envelopes | tables


def exact_at(curve: Curve, alpha: float) -> Fraction | float:
    """The value of a curve before any rounding."""
    if isinstance(curve, Tabulated):
        value = float(curve.at(alpha))
        return Fraction(value) if math.isfinite(value) else value
    return max(each.xi + each.rho * Fraction(alpha) for each in curve.lines)


def near(one: float, other: float) -> bool:
    """Whether two bounds differ by roundings only."""
    return one == other or abs(one - other) <= ULPS * math.ulp(max(one, other)) < math.inf


@given(curves, curves)
def test_a_total_is_never_below_the_exact_sum(left: Curve, right: Curve) -> None:
    together = total(left, right)

    assert all(together.at(alpha) >= exact_at(left, alpha) + exact_at(right, alpha) for alpha in PROBES)


@given(lines | envelopes, lines | envelopes)
def test_a_total_without_tables_is_the_exact_sum_rounded_once(left: Curve, right: Curve) -> None:
    together = total(left, right)

    for alpha in PROBES:
        assert together.at(alpha) == up(Fraction(exact_at(left, alpha)) + Fraction(exact_at(right, alpha)))


@given(curves, curves)
def test_a_total_does_not_depend_on_the_order_of_the_steps(left: Curve, right: Curve) -> None:
    assert all(total(left, right).at(alpha) == total(right, left).at(alpha) for alpha in PROBES)


@given(curves, curves, curves)
def test_a_total_does_not_depend_on_the_grouping_beyond_rounding(one: Curve, two: Curve, three: Curve) -> None:
    left, right = total(total(one, two), three), total(one, total(two, three))

    assert all(near(left.at(alpha), right.at(alpha)) for alpha in PROBES)


@given(curves)
def test_adding_nothing_changes_nothing(curve: Curve) -> None:
    assert all(total(curve, ZERO).at(alpha) == curve.at(alpha) for alpha in PROBES)


@given(curves, curves)
def test_the_highest_is_at_least_both(left: Curve, right: Curve) -> None:
    above = highest(left, right)

    assert all(above.at(alpha) >= max(left.at(alpha), right.at(alpha)) for alpha in ORDERS)


@given(lines | envelopes, lines | envelopes)
def test_the_highest_of_lines_is_their_maximum_everywhere(left: Curve, right: Curve) -> None:
    above = highest(left, right)

    assert all(above.at(alpha) == max(left.at(alpha), right.at(alpha)) for alpha in PROBES)


@given(curves, curves)
def test_the_highest_does_not_depend_on_the_order_of_the_parts(left: Curve, right: Curve) -> None:
    assert all(highest(left, right).at(alpha) == highest(right, left).at(alpha) for alpha in PROBES)


def test_crossing_lines_are_both_kept() -> None:
    flat, steep = line(2, 0), line(0, 1)

    above = highest(flat, steep)

    assert isinstance(above, Highest)
    assert [above.at(alpha) for alpha in (1.5, 2, 3)] == [2.0, 2.0, 3.0]


def test_crossing_lines_are_asked_at_the_usual_orders() -> None:
    crossing = highest(line(2, 0), line(0, 1))

    assert isinstance(crossing, Highest)
    assert crossing.orders == TABULATED


def test_a_table_beside_crossing_lines_takes_the_higher_line_at_every_order() -> None:
    crossing, table = highest(line(3, 0), line(0, 1)), Tabulated.of(ORDERS, [0.5] * len(ORDERS))

    together = total(crossing, table)

    assert [float(together.at(alpha)) for alpha in ORDERS] == pytest.approx([3.5, 3.5, 5.5, 20.5, 64.5], rel=1e-12)


def test_lines_that_cross_at_or_below_order_one_are_one_line() -> None:
    assert highest(line(1, 0), line(0, 1)) == line(0, 1)


def test_a_line_below_another_everywhere_is_dropped() -> None:
    assert highest(line(1, 1), line(Fraction(1, 2), 1)) == line(1, 1)


def test_a_long_sum_of_maxima_keeps_only_the_lines_that_can_be_seen() -> None:
    step = highest(line(2, 0), line(0, 1))

    curve = combined(total, [step] * 50)

    assert isinstance(curve, Highest)
    assert curve.lines == repeat(step, 50).lines  # type: ignore[union-attr] # a maximum of lines, no table


TANGENTS = tuple(line(100 - t * t, 2 * t) for t in (2, 3, 5, 6, 9))
"""The tangents of α² + 100: each is the highest somewhere."""
HIDDEN = (line(90, 5), line(83, 8), line(Fraction(139, 2), 11), line(60, 12), line(95, 4), line(10, 17))
"""Below one of the tangents at every order, or through the point where two of them cross."""


def seen(among: Sequence[Linear]) -> set[Linear]:
    """The lines that are above all others at some order above 1: halfway between crossings, or beyond them."""
    crossings = {(a.xi - b.xi) / (b.rho - a.rho) for a in among for b in among if a.rho < b.rho}
    points = sorted({Fraction(1), *(each for each in crossings if each > 1)})
    probes = [*((low + high) / 2 for low, high in pairwise(points)), points[-1] + 1]
    return {max(among, key=lambda each: each.xi + each.rho * alpha) for alpha in probes}


@pytest.mark.parametrize("start", range(11))
@pytest.mark.parametrize("among", [TANGENTS, (*TANGENTS, *HIDDEN)])
def test_the_highest_of_many_lines_keeps_those_that_are_highest_somewhere(
    among: tuple[Linear, ...], start: int
) -> None:
    """Whichever of them comes first, found by looking between all crossings."""
    turned = among[start:] + among[:start]

    above = combined(highest, turned)

    assert set(above.lines) == seen(among) == set(TANGENTS)  # type: ignore[union-attr] # lines, no table


def test_a_curve_exceeds_a_cap_if_any_of_its_lines_does() -> None:
    above = highest(line(2, 0), line(0, 1))

    assert not exceeds(above, Fraction(3, 2), Fraction(2))
    assert exceeds(above, Fraction(3, 2), 2 - Fraction(1, 2**200))
    assert not exceeds(above, Fraction(3), Fraction(3))
    assert exceeds(above, Fraction(3), 3 - Fraction(1, 2**200))


def test_a_table_exceeds_a_cap_by_the_next_tabulated_order() -> None:
    table = Tabulated.of([2, 5], [0.1, 0.7])

    assert not exceeds(table, Fraction(3), Fraction(0.7))
    assert exceeds(table, Fraction(3), Fraction(0.7) - Fraction(1, 2**200))
    assert exceeds(table, Fraction(6), Fraction(10**300))


@pytest.mark.parametrize("alpha", [1.1, 1.5, 2.0, 9.9, 10.9, 11.0, 20.0, 63.0, 64.0, 256.0])
def test_a_curve_without_a_closed_form_is_tabulated_at_the_orders_in_use(alpha: float) -> None:
    """At these nothing is lost to the next tabulated order."""
    table = Tabulated.of(TABULATED, [laplace_rdp(1, each) for each in TABULATED])

    assert table.at(alpha) == laplace_rdp(1, alpha)


def test_a_table_between_orders_takes_the_upper_one() -> None:
    assert Tabulated.of([2, 5], [0.1, 0.7]).at(3) == 0.7


def test_a_table_at_an_order_takes_it() -> None:
    assert Tabulated.of([2, 5], [0.1, 0.7]).at(2) == 0.1


def test_a_table_beyond_its_last_order_makes_no_claim() -> None:
    assert Tabulated.of([2, 5], [0.1, 0.7]).at(5.0000001) == math.inf


def test_a_table_speaks_below_its_first_order() -> None:
    assert Tabulated.of([2, 5], [0.1, 0.7]).at(1.1) == 0.1


def test_two_tables_together_end_where_the_shorter_one_ends() -> None:
    long, short = Tabulated.of([2, 5, 9], [1, 1, 1]), Tabulated.of([3, 5], [1, 1])

    assert total(long, short).at(6) == math.inf


@pytest.mark.parametrize("combine", [total, highest])
def test_two_tables_together_speak_up_to_the_last_order_of_both(combine: Callable[[Curve, Curve], Curve]) -> None:
    long, short = Tabulated.of([2, 4, 5, 9], [1, 2, 3, 4]), Tabulated.of([3, 4.5, 5], [10, 20, 30])

    together = combine(long, short)

    for alpha in (1.5, 2, 2.5, 3, 3.5, 4, 4.2, 4.5, 4.7, 5):
        expected = exact_at(long, alpha) + exact_at(short, alpha) if combine is total else exact_at(short, alpha)
        assert near(together.at(alpha), float(expected))
    assert together.at(5.1) == math.inf


def test_a_table_keeps_the_orders_at_which_a_line_is_added() -> None:
    together = total(Tabulated.of([2, 5], [0, 0]), line(1, 1))

    assert [round(together.at(alpha), 12) for alpha in (2, 4, 5)] == [3, 6, 6]


@given(curves, st.integers(1, 40))
def test_repeating_is_adding_so_many_times(curve: Curve, steps: int) -> None:
    added = combined(total, [curve] * steps)

    for alpha in PROBES:
        at_once, one_by_one = repeat(curve, steps).at(alpha), added.at(alpha)
        assert at_once == one_by_one or abs(at_once - one_by_one) <= 2 * steps * math.ulp(one_by_one)


@given(curves, st.integers(1, 10**12))
def test_repeating_is_never_below_the_exact_multiple(curve: Curve, steps: int) -> None:
    assert all(repeat(curve, steps).at(alpha) >= steps * exact_at(curve, alpha) for alpha in PROBES)


@given(curves)
def test_repeating_no_times_costs_nothing(curve: Curve) -> None:
    assert repeat(curve, 0) == ZERO
    assert repeat(curve, 0).gaussian == 0


def test_two_gaussian_releases_are_one_with_the_sum() -> None:
    assert total(line(0, 1, 2), line(0, 3, 5)).gaussian == 7


def test_repeated_gaussian_releases_are_one_with_the_multiple() -> None:
    assert repeat(line(0, 1, 2), 5).gaussian == 10


def test_a_gaussian_release_beside_another_is_the_wider_one() -> None:
    assert highest(line(0, 1, 5), line(0, 3, 4)).gaussian == 5


@pytest.mark.parametrize("combine", [total, highest])
@pytest.mark.parametrize("other", [line(0, 1), line(1, 0), Tabulated.of([2], [1])])
def test_beside_or_after_something_else_the_gaussian_is_lost(combine: object, other: Curve) -> None:
    assert callable(combine)
    assert combine(line(0, 1, 1), other).gaussian is None


def test_nothing_keeps_the_gaussian_of_the_other() -> None:
    assert total(ZERO, line(0, 1, 2)).gaussian == 2
    assert highest(ZERO, line(0, 1, 2)).gaussian == 2


def test_a_line_with_a_constant_is_no_gaussian() -> None:
    with pytest.raises(InvalidValue, match="a Gaussian release has xi = 0"):
        line(1, 1, 1)


def test_a_profile_narrower_than_its_curve_is_refused() -> None:
    with pytest.raises(InvalidValue, match="at least as wide as its curve"):
        line(0, 2, 1)


@given(lines | gaussians | envelopes)
def test_a_cover_lies_above_the_curve(curve: Curve) -> None:
    above = cover(curve)

    assert above is not None
    assert all(above.at(alpha) >= curve.at(alpha) for alpha in PROBES)


def test_no_line_covers_a_table() -> None:
    assert cover(Tabulated.of([2], [1])) is None


@given(curves)
def test_the_largest_rho_stays_below_the_curve(curve: Curve) -> None:
    rho = largest_rho(curve)

    assert all(rho * Fraction(alpha) <= exact_at(curve, alpha) for alpha in (*PROBES, 1e6))


def test_the_largest_rho_of_a_line_is_its_own() -> None:
    assert largest_rho(line(3, Fraction(1, 7))) == Fraction(1, 7)


def test_the_largest_rho_of_crossing_lines_is_the_steepest() -> None:
    assert largest_rho(highest(line(2, 0), line(0, 1))) == 1


def test_the_largest_rho_of_a_table_touches_it() -> None:
    assert largest_rho(Tabulated.of([2, 4], [1, 1])) == Fraction(1, 4)


def test_a_table_without_a_finite_value_leaves_no_rho() -> None:
    assert largest_rho(Tabulated.of([2], [math.inf])) == 0


def test_the_numbers_of_many_sums_stay_small() -> None:
    step = Linear(Fraction(0), Fraction(1, 3 * 10**4))
    curve = line(0, 0)

    for _ in range(10**4):
        curve = total(curve, step)  # type: ignore[assignment] # two lines make a line

    assert curve.rho == Fraction(1, 3)


def test_a_table_may_not_change_with_the_numbers_it_was_made_from() -> None:
    values = np.array([1.0, 2.0])
    table = Tabulated.of([2, 5], values)  # type: ignore[arg-type] # an array passes for a sequence at run time

    values[:] = 0

    assert table.at(2) == 1.0


@pytest.mark.parametrize(
    ("orders", "values", "message"),
    [
        ([], [], "there are 0 orders and 0 values; give one value per order."),
        ([2], [1, 2], "there are 1 orders and 2 values; give one value per order."),
        ([3, 2], [1, 2], "the orders are not increasing; sort them."),
        ([2, 2], [1, 2], "the orders are not increasing; sort them."),
        ([1, 2], [1, 2], "alpha is 1; a Rényi order must be above 1."),
        ([2, math.nan], [1, 2], "alpha is nan; give a finite number."),
        ([2, 3], [1, -1], "a value is negative or NaN; a Rényi bound is at least 0."),
        ([2, 3], [math.nan, 1], "a value is negative or NaN; a Rényi bound is at least 0."),
        ([2], [-1], "a value is negative or NaN; a Rényi bound is at least 0."),
        ([2], [math.nan], "a value is negative or NaN; a Rényi bound is at least 0."),
    ],
)
def test_a_table_of_bad_numbers_is_refused_in_a_sentence(
    orders: list[float], values: list[float], message: str
) -> None:
    with pytest.raises(InvalidValue) as refused:
        Tabulated.of(orders, values)

    assert str(refused.value) == message


def test_a_line_of_floats_is_held_exactly() -> None:
    """In floating point 0.1 + 0.2·2 falls below the number that it stands for."""
    floats = Linear(0.1, 0.2)  # type: ignore[arg-type] # a caller without a type checker

    assert floats.at(2) >= Fraction(0.1) + Fraction(0.2) * 2
    assert (type(floats.xi), type(floats.rho)) == (Fraction, Fraction)


def test_a_profile_that_is_a_float_is_held_exactly() -> None:
    floats = Linear(0, 0.1, 0.2)  # type: ignore[arg-type] # a caller without a type checker

    assert total(floats, line(0, 0, Fraction(1, 3))).gaussian == Fraction(0.2) + Fraction(1, 3)


@pytest.mark.parametrize("profile", [math.nan, math.inf])
def test_a_profile_that_is_no_number_is_refused(profile: float) -> None:
    with pytest.raises(InvalidValue, match="gaussian is"):
        Linear(Fraction(0), Fraction(1), profile)  # type: ignore[arg-type] # a caller without a type checker


@pytest.mark.parametrize(("xi", "rho"), [(-1, 0), (0, -1)])
def test_a_line_below_zero_is_refused(xi: int, rho: int) -> None:
    with pytest.raises(InvalidValue, match="it must be at least 0"):
        line(xi, rho)


@pytest.mark.parametrize("curve", [line(0, 1), Tabulated.of([2], [1])])
def test_a_negative_number_of_steps_is_refused(curve: Curve) -> None:
    with pytest.raises(InvalidValue, match="steps is -1; it must be at least 0"):
        repeat(curve, -1)


@pytest.mark.parametrize("curve", [line(0, 1), highest(line(2, 0), line(0, 1)), Tabulated.of([2], [1])])
def test_a_curve_has_no_value_at_order_one(curve: Curve) -> None:
    with pytest.raises(InvalidValue, match="a Rényi order must be above 1"):
        curve.at(1)


MADE = {
    "of": Tabulated.of([2, 5], [0.1, 0.7]),
    "total of tables": total(Tabulated.of([2, 5], [0.1, 0.7]), Tabulated.of([2, 5], [1, 2])),
    "total of tables at other orders": total(Tabulated.of([2, 5], [0.1, 0.7]), Tabulated.of([3, 5], [1, 2])),
    "total with a line": total(Tabulated.of([2, 5], [0.1, 0.7]), line(1, 1)),
    "repeat": repeat(Tabulated.of([2, 5], [0.1, 0.7]), 3),
    "repeat once": repeat(Tabulated.of([2, 5], [0.1, 0.7]), 1),
    "highest of tables": highest(Tabulated.of([2, 5], [0.1, 0.7]), Tabulated.of([2, 5], [1, 0.2])),
    "highest with a line": highest(Tabulated.of([2, 5], [0.1, 0.7]), line(1, 1)),
    "total with nothing": total(Tabulated.of([2, 5], [0.1, 0.7]), ZERO),
}


@pytest.mark.parametrize("table", MADE.values(), ids=MADE)
def test_a_table_is_read_only_however_it_was_made(table: Curve) -> None:
    assert isinstance(table, Tabulated)

    with pytest.raises(ValueError, match="read-only"):
        table.values[0] = 0
