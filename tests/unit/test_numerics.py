"""Rounding never flatters: bounds go up, budgets go down, sums are exact or above."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from expost.errors import InvalidValue
from expost.numerics import DENOMINATOR_BITS, Real, add_up, down, exact, non_negative, order, positive, probability, up
from tests.unit.examples import one_sentence

numbers = st.fractions()
extremes = st.tuples(st.integers(-(10**400), 10**400), st.integers(1, 10**400)).map(lambda pair: Fraction(*pair))


@given(numbers | extremes)
def test_up_is_the_least_float_not_below(value: Fraction) -> None:
    rounded = up(value)

    assert rounded >= value > math.nextafter(rounded, -math.inf)


@given(numbers | extremes)
def test_down_is_the_largest_float_not_above(value: Fraction) -> None:
    rounded = down(value)

    assert rounded <= value < math.nextafter(rounded, math.inf)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_its_own_rounding(value: float) -> None:
    assert up(Fraction(value)) == value == down(Fraction(value))


def test_beyond_the_floats_up_is_infinite() -> None:
    assert up(Fraction(10) ** 400) == math.inf


def test_beyond_the_floats_down_is_the_largest_float() -> None:
    assert down(Fraction(10) ** 400) == math.nextafter(math.inf, 0)


@given(numbers, numbers)
def test_sums_of_small_denominators_are_exact(left: Fraction, right: Fraction) -> None:
    assert add_up(left, right) == left + right


@given(st.integers(-(10**90), 10**90), st.integers(1, 10**90), st.integers(-(10**90), 10**90), st.integers(1, 10**90))
def test_a_sum_is_never_below_and_hardly_above(a: int, b: int, c: int, d: int) -> None:
    left, right = Fraction(a, b), Fraction(c, d)

    excess = add_up(left, right) - (left + right)

    assert 0 <= excess < Fraction(1, 2**DENOMINATOR_BITS)


def test_a_sum_at_the_limit_is_still_exact() -> None:
    tiny = Fraction(1, 2 ** (DENOMINATOR_BITS - 1))

    assert add_up(tiny, Fraction(0)) == tiny


def test_a_sum_beyond_the_limit_is_rounded_up() -> None:
    tiny = Fraction(1, 2 ** (DENOMINATOR_BITS + 10))

    assert add_up(tiny, Fraction(0)) == Fraction(1, 2**DENOMINATOR_BITS)


def test_the_denominator_of_a_long_sum_stays_small() -> None:
    total = Fraction(0)
    for n in range(1, 2000):
        total = add_up(total, Fraction(1, n))

    assert total.denominator.bit_length() <= DENOMINATOR_BITS + 1


def test_a_float_means_the_binary_fraction_it_stores() -> None:
    assert exact(0.1, "x") == Fraction(3602879701896397, 36028797018963968)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("reader", [exact, positive, non_negative])
def test_what_is_not_finite_is_refused(reader: object, value: float) -> None:
    assert callable(reader)
    with pytest.raises(InvalidValue, match="give a finite number"):
        reader(value, "x")


@pytest.mark.parametrize("value", [0, -1, -0.5, Fraction(-1, 3)])
def test_positive_refuses_zero_and_below(value: Real) -> None:
    with pytest.raises(InvalidValue, match="it must be above 0"):
        positive(value, "x")


def test_non_negative_takes_zero() -> None:
    assert non_negative(0, "x") == 0


def test_non_negative_refuses_what_is_below() -> None:
    with pytest.raises(InvalidValue, match="x is -1; it must be at least 0"):
        non_negative(-1, "x")


@pytest.mark.parametrize("alpha", [1, 1.0, 0, -3, Fraction(1)])
def test_an_order_is_above_one(alpha: Real) -> None:
    with pytest.raises(InvalidValue, match="a Rényi order must be above 1"):
        order(alpha)


@pytest.mark.parametrize("value", [0.0, 1.0, -0.1, 1.5, math.nan, math.inf])
def test_a_probability_lies_strictly_between_zero_and_one(value: float) -> None:
    with pytest.raises(InvalidValue, match="strictly between 0 and 1"):
        probability(value, "delta")


@pytest.mark.parametrize("value", [-(10**400), Fraction(-(10**400), 3)], ids=["integer", "fraction"])
def test_a_number_too_large_for_a_float_is_refused_in_a_sentence(value: Real) -> None:
    with pytest.raises(InvalidValue) as refused:
        positive(value, "x")

    assert one_sentence(refused.value)


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint64])
def test_an_integer_of_an_array_becomes_one_that_cannot_wrap_around(kind: type[np.integer[Any]]) -> None:
    fraction = exact(kind(100), "x")  # type: ignore[arg-type] # a numpy integer

    assert fraction == 100
    assert {type(part) for part in fraction.as_integer_ratio()} == {int}


def test_an_integer_of_an_array_would_wrap_around() -> None:
    """Why it is converted: so many levels of an array would multiply to nonsense."""
    with np.errstate(all="ignore"):
        assert int(np.int8(100) * np.int8(100)) != 10_000


def test_a_large_power_of_an_integer_of_an_array_is_exact() -> None:
    assert exact(np.int64(10**18), "x") ** 3 == 10**54  # type: ignore[arg-type] # a numpy integer


@pytest.mark.parametrize(("denominator", "kept"), [(2**256 - 1, True), (2**256 + 1, False)])
def test_a_denominator_of_256_bits_is_the_largest_that_is_kept(denominator: int, kept: bool) -> None:
    part = Fraction(1, denominator)

    assert add_up(part, Fraction(0)) == (part if kept else Fraction(1, 2**256))
