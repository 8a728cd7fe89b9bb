"""Interval arithmetic that coins lean on: it encloses, is never wide, and decides like infinitely many bits."""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import TypeAlias

import mpmath
import pytest

from expost.sampling import Bytes
from expost.sampling.bounds import _alternating, bernoulli_real, exp_bounds, less

Script: TypeAlias = Callable[[bytes], Bytes]

EXPONENTS = [
    Fraction(0),
    Fraction(1, 2**400),
    Fraction(1, 10**9),
    Fraction(1, 3),
    Fraction(1, 2),
    Fraction(999, 1000),
    Fraction(1),
    Fraction(22, 7),
    Fraction(40),
    Fraction(12345, 67),
    Fraction(10**6),
    Fraction(10**400, 3),
]
PRECISIONS = [0, 1, 16, 64, 128, 500]


def true_value(exponent: Fraction, bits: int) -> mpmath.mpf:
    return mpmath.ldexp(mpmath.exp(-mpmath.mpf(exponent.numerator) / exponent.denominator), bits)


def third(bits: int) -> tuple[int, int]:
    """Bounds on one third."""
    return (1 << bits) // 3, (1 << bits) // 3 + 1


@pytest.mark.parametrize("bits", PRECISIONS)
@pytest.mark.parametrize("exponent", EXPONENTS)
def test_exp_bounds_enclose_the_exponential(exponent: Fraction, bits: int) -> None:
    lo, hi = exp_bounds(exponent, bits)

    with mpmath.workdps(400):
        assert lo <= true_value(exponent, bits) <= hi


@pytest.mark.parametrize("bits", PRECISIONS)
@pytest.mark.parametrize("exponent", EXPONENTS)
def test_exp_bounds_are_at_most_two_apart(exponent: Fraction, bits: int) -> None:
    lo, hi = exp_bounds(exponent, bits)

    assert 0 <= lo <= hi <= min(lo + 2, 1 << bits)


def test_exp_bounds_enclose_on_a_dense_grid() -> None:
    for numerator in range(3000):
        exponent = Fraction(numerator, 61)

        lo, hi = exp_bounds(exponent, 90)

        with mpmath.workdps(80):
            assert lo <= true_value(exponent, 90) <= hi


def test_bounds_one_unit_too_low_do_not_enclose() -> None:
    """The twin: the enclosing test would see an error of two units of the last place."""
    lo, hi = exp_bounds(Fraction(22, 7), 90)

    with mpmath.workdps(80):
        assert not lo - 2 <= true_value(Fraction(22, 7), 90) <= hi - 2


@pytest.mark.parametrize("bits", [0, 1, 70])
def test_exp_of_zero_is_one_exactly(bits: int) -> None:
    """So that a coin of this probability draws nothing, even before its first bit."""
    assert exp_bounds(Fraction(0), bits) == (1 << bits, 1 << bits)


@pytest.mark.parametrize("work", [3, 6, 24])
def test_the_series_encloses_the_exponential_of_every_number_in_its_interval(work: int) -> None:
    """Wide intervals, and few bits, so that a single rounding or a single end taken the wrong way shows."""
    half = 1 << (work - 1)
    grid = range(0, half + 1, max(1, half // 32))

    for low, high in combinations_with_replacement(grid, 2):
        lo, hi = _alternating((low, high), work)

        assert lo <= true_value(Fraction(high, 1 << work), work)
        assert true_value(Fraction(low, 1 << work), work) <= hi


def test_a_prefix_below_the_number_is_less_without_more_bits(script: Script) -> None:
    assert less(script(b""), 84, 8, third)


def test_a_prefix_above_the_number_is_not_less_without_more_bits(script: Script) -> None:
    assert not less(script(b""), 86, 8, third)


@pytest.mark.parametrize(("following", "expected"), [(b"\x00" * 8, True), (b"\xff" * 8, False)])
def test_a_prefix_that_meets_the_number_is_settled_by_the_following_bits(
    script: Script, following: bytes, expected: bool
) -> None:
    assert less(script(following), 85, 8, third) is expected


def test_bits_are_added_until_the_two_differ(script: Script) -> None:
    exactly_a_third = (((1 << 64) - 1) // 3).to_bytes(8, "little")

    assert bernoulli_real(script(exactly_a_third * 3 + b"\x00" * 8), third)


@pytest.mark.parametrize("certain", [0, 1])
def test_a_certain_coin_draws_nothing(script: Script, certain: int) -> None:
    def bounds(bits: int) -> tuple[int, int]:
        return certain << bits, certain << bits

    assert bernoulli_real(script(b""), bounds) is bool(certain)
