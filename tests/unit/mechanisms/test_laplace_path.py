"""Laplace noise from one rate to another: every case has the chance and the law that the joint law gives it."""

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from expost.mechanisms.laplace_path import IntegerPath, RealPath, _case_chances, _stay_chance, _truncated
from expost.noise import ScriptedNoise, SeededNoise

LOW, HIGH = Fraction(3, 10), Fraction(4, 5)
TINY = Fraction(1, 2**51)
"""The rate of the largest scale that is drawn."""
RATES = [
    (LOW, HIGH),
    (Fraction(1), Fraction(4)),
    (Fraction(1, 20), Fraction(3, 50)),
    (Fraction(1, 1000), Fraction(1000)),
    (Fraction(50), Fraction(100)),
    (Fraction(100), 100 + Fraction(1, 2**40)),
    (TINY, Fraction(1)),
    (TINY, 2 * TINY),
    (TINY, TINY * (1 + Fraction(1, 2**63))),
    (Fraction(1), 1 + Fraction(1, 2**200)),
]


def real(fraction: Fraction) -> mp.mpf:
    """The fraction to the precision that is set."""
    return mp.mpf(fraction.numerator) / fraction.denominator


def staying(low: mp.mpf, high: mp.mpf) -> mp.mpf:
    """π, in hyperbolic functions."""
    return (mp.sinh(low / 2) / mp.sinh(high / 2)) ** 2


def series(first: mp.mpf, rate: mp.mpf) -> mp.mpf:
    """The sum of first·exp(−rate·k) over all k ≥ 0."""
    return first / -mp.expm1(-rate)


def masses(size: int, low: mp.mpf, high: mp.mpf) -> list[mp.mpf]:
    """The joint law of ``size`` at the low rate and, at the high one: itself unmoved, −1 and below, 0 to it, and above.

    Each divided by the chances of 0 at both rates; a move is one by Laplace noise of the low rate.
    """
    pi, at_zero = staying(low, high), mp.tanh(low / 2)
    cross = series(mp.exp(-high - low * (size + 1)), high + low)
    beyond = series(mp.exp(-high * (size + 1) - low), high + low)
    fall = series(mp.exp(-low * size), high - low) - series(mp.exp(-high * (size + 1) + low), high - low)
    return [pi * mp.exp(-high * size), *((1 - pi) * at_zero * each for each in (cross, fall, beyond))]


@pytest.mark.parametrize("bits", [0, 64, 128])
@pytest.mark.parametrize(("low", "high"), RATES)
def test_the_chance_to_stay_is_enclosed_as_tightly_as_bits_allow(low: Fraction, high: Fraction, bits: int) -> None:
    with mp.workdps(400):
        chance = staying(real(low), real(high)) * 2**bits

        below, above = _stay_chance(low, high, bits)

        assert below <= chance <= above <= below + 2


@pytest.mark.parametrize("bits", [0, 64, 128])
@pytest.mark.parametrize("size", [0, 1, 7, 3000, 2**51, 2**61])
@pytest.mark.parametrize(("low", "high"), RATES)
def test_the_chances_of_the_cases_are_enclosed_as_tightly_as_bits_allow(
    low: Fraction, high: Fraction, size: int, bits: int
) -> None:
    with mp.workdps(400):
        weights = masses(size, real(low), real(high))
        chances = [weights[case] / mp.fsum(weights[case:]) * 2**bits for case in range(3)]

        bounds = _case_chances(size, low, high, bits)

        assert all(
            below <= chance <= above <= below + 2 for (below, above), chance in zip(bounds, chances, strict=True)
        )


@pytest.mark.parametrize(
    ("value", "draws", "reduced"),
    [
        (-1, [1], -1),
        (-1, [0, 1, -1, 4], 5),
        (-1, [0, 0, 1, 1, 1], -1),
        (-1, [0, 0, 0, -3, 2], -4),
        (0, [1], 0),
        (0, [0, 0, 1, 0, 1], 0),
        (1, [0, 1, 4], -5),
        (1, [0, 0, 1, 1, 0, 0, 1], 0),
        (1, [0, 0, 0, 2], 4),
    ],
)
def test_exact_noise_next_to_zero_is_reduced_on_its_own_side(value: int, draws: list[int], reduced: int) -> None:
    """Coins for the cases, then draws for the distance, of which negative ones do not count."""
    assert IntegerPath().descend(np.array([value]), LOW, HIGH, ScriptedNoise(draws)).tolist() == [reduced]


@pytest.mark.parametrize("value", [10, -10])
def test_exact_noise_may_fall_as_far_as_to_where_it_was_and_no_farther(value: int) -> None:
    """By draws of which those below 0 and above 10 do not count."""
    assert IntegerPath().descend(np.array([value]), LOW, HIGH, ScriptedNoise([0, 0, 1, -1, 11, 10])).tolist() == [value]


@pytest.mark.parametrize("size", [0, 3])
def test_exact_noise_at_zero_goes_either_way_alike(size: int) -> None:
    """Why it does not matter which sign zero has: crossing and going beyond are equally likely, from zero only."""
    with mp.workdps(50):
        _, cross, _, beyond = masses(size, real(LOW), real(HIGH))

        assert mp.almosteq(cross, beyond) == (size == 0)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("rate", "last"),
    [
        (Fraction(1, 10), 10),
        (Fraction(1, 10), 40),
        (TINY * 3 / 4, 2**53),
        (TINY / 8, 2**55),
    ],
)
def test_noise_that_falls_back_is_geometric_up_to_where_it_was(rate: Fraction, last: int) -> None:
    """1e3 draws; the mean is within 5 standard errors (1e-6), and that of even chances is rejected.

    The last rates are below those of which noise is drawn at once.
    """
    noise = SeededNoise(5)

    drawn = [_truncated(rate, last, noise) for _ in range(1000)]

    with mp.workdps(50):
        mean = 1 / mp.expm1(real(rate)) - (last + 1) / mp.expm1(real(rate * (last + 1)))
        error = (last + 2) / mp.sqrt(12 * 1000)  # at even chances, the largest there is
        assert abs(mp.fsum(drawn) / 1000 - mean) < 5 * error < abs(mp.fsum(drawn) / 1000 - mp.mpf(last) / 2)
    assert min(drawn) >= 0
    assert max(drawn) <= last


SIDES = [-2.5, -0.7, -0.01, 0.7, 2.5]


def within(value: float, start: mp.mpf, end: mp.mpf) -> mp.mpf:
    """What the joint density of ``value`` at the low rate and a moved one at the high rate integrates to."""
    low, high = real(LOW), real(HIGH)
    return mp.quad(lambda x: mp.exp(-high * abs(x) - low * abs(value - x)), [start, (start + end) / 2, end])


@pytest.mark.parametrize("value", SIDES)
@pytest.mark.parametrize("place", [0.01, 0.3, 0.9])
def test_floating_noise_lies_in_its_case_by_the_inverse_of_the_conditional_law(value: float, place: float) -> None:
    """The share ``place`` of a case's mass lies farther from the old value's side of zero, or nearer if it falls."""
    sign, size, far = np.sign(value), abs(value), mp.mpf(60)
    stay = 0.375 * np.exp(-0.5 * size)
    chosen = [stay / 2, stay + 0.1, stay + 0.3125 + 1e-9, 1 - 1e-9]
    noise = ScriptedNoise([*chosen, *[place] * 4])

    drawn = sign * RealPath().descend(np.full(4, value), LOW, HIGH, noise)

    stayed, crossed, fell, went = drawn
    assert stayed == size
    assert crossed < 0 < fell < size < went
    assert within(size, -far, crossed) / within(size, -far, mp.mpf(0)) == pytest.approx(place, rel=1e-9)
    assert within(size, mp.mpf(0), fell) / within(size, mp.mpf(0), mp.mpf(size)) == pytest.approx(place, rel=1e-9)
    assert within(size, went, size + far) / within(size, mp.mpf(size), size + far) == pytest.approx(place, rel=1e-9)


@pytest.mark.parametrize(("choice", "reduced"), [(0.5, -1.0), (0.75, 1.0)])
def test_a_choice_on_the_border_of_two_cases_is_the_next_one(choice: float, reduced: float) -> None:
    """Zero stays with chance 1/2, crosses with 1/4 and goes beyond with 1/4; it never falls, not even on the border."""
    noise = ScriptedNoise([choice, np.exp(-3)])

    assert RealPath().descend(np.zeros(1), Fraction(1), Fraction(2), noise) == pytest.approx([reduced])


@pytest.mark.parametrize(("choice", "risen"), [(0.2499, 3.0), (0.25, 8.0)])
def test_noise_that_rises_stays_below_the_square_of_the_ratio_and_not_at_it(choice: float, risen: float) -> None:
    noise = ScriptedNoise([choice, 5.0])

    assert RealPath().rise(np.array([3.0]), Fraction(1), Fraction(2), noise).tolist() == [risen]
