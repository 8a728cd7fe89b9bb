"""The profile's edges: nothing spent, the slack that integer noise needs, and where float error is largest."""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from expost.accounting.curve import ZERO, Linear, Tabulated
from expost.accounting.gaussian import gaussian_delta, gaussian_epsilon, gaussian_mu, gaussian_tail, lattice_rho

LATTICE = 1e-12
"""What the theorem on integer noise is given: this much of δ, and this much of ε, relative and absolute."""


def profile(epsilon: mp.mpf, rho: float) -> mp.mpf:
    mu = mp.sqrt(2 * mp.mpf(rho))
    return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)


def tail(rho: float, delta: mp.mpf) -> mp.mpf:
    point = -mp.sqrt(2) * mp.erfinv(1 - 2 * delta)
    return mp.log(delta) - mp.log(mp.ncdf(point - mp.sqrt(2 * mp.mpf(rho))))


def without_slack(epsilon: float) -> mp.mpf:
    """What an ε was raised from, if all the slack is there."""
    return (mp.mpf(epsilon) - LATTICE) / (1 + mp.mpf(LATTICE))


def test_what_spends_nothing_loses_nothing() -> None:
    assert gaussian_delta(0, 0) == gaussian_delta(1, 0) == 0
    assert gaussian_epsilon(0, 1e-5) == 0
    assert gaussian_tail(0, 1e-5) == 0


def test_what_spends_next_to_nothing_still_has_the_slack_of_integer_noise() -> None:
    assert gaussian_epsilon(1e-30, 0.1) >= LATTICE
    assert gaussian_tail(1e-30, 0.1) >= LATTICE


@pytest.mark.parametrize("rho", [1e-3, 0.5, 1.0, 8.0, 50.0, 1e4])
@pytest.mark.parametrize("delta", [0.95, 1 - 6e-7, 0.1, 1e-5, 1e-100])
def test_epsilon_has_room_for_integer_noise(rho: float, delta: float) -> None:
    """The profile is at most δ(1−1e−12), less float error, already where ε has not been raised yet."""
    epsilon = gaussian_epsilon(rho, delta)

    with mp.workdps(150):
        assert profile(max(mp.mpf(0), without_slack(epsilon)), rho) <= delta * (1 - mp.mpf(8e-13))


@pytest.mark.parametrize("rho", [1e-3, 0.5, 1.0, 8.0, 50.0, 1e4])
@pytest.mark.parametrize("delta", [0.95, 0.1, 1e-5, 1e-30])
def test_a_tail_is_the_exact_one_with_room_for_integer_noise(rho: float, delta: float) -> None:
    bound = gaussian_tail(rho, delta)

    with mp.workdps(80):
        exact = tail(rho, mp.mpf(delta))
        assert without_slack(bound) >= tail(rho, mp.mpf(delta) * (1 - mp.mpf(5e-13)))
        assert bound <= exact * (1 + 1e-11) + 1e-11


@pytest.mark.parametrize("rho", [0.5, 0.55, 1.0, 1.9, 2.0, 3.0])
@pytest.mark.parametrize("place", [-0.99, -0.5, -1e-9, 0.0, 1e-9, 0.5, 0.99, 1.01])
def test_the_profile_keeps_its_digits_where_one_form_gives_way_to_another(rho: float, place: float) -> None:
    shift = math.sqrt(2 * rho)
    epsilon = max(0.0, shift * (place + shift / 2))

    with mp.workdps(50):
        exact = profile(mp.mpf(epsilon), rho)
        assert exact <= gaussian_delta(epsilon, rho) <= exact * (1 + 3e-12)


@pytest.mark.parametrize("rho", [1e6, 1e9, 1e12])
@pytest.mark.parametrize("place", [-1.0, 0.0, 1.0, 10.0, 30.0])
def test_float_error_at_a_large_rho_does_not_lower_delta(rho: float, place: float) -> None:
    """The argument of Φ is a difference of numbers as large as √ρ."""
    shift = math.sqrt(2 * rho)
    for nudge in np.random.default_rng(1).random(20):
        epsilon = max(0.0, shift * (place + nudge + shift / 2))
        with mp.workdps(60):
            assert gaussian_delta(epsilon, rho) >= profile(mp.mpf(epsilon), rho)


@pytest.mark.parametrize("rho", [1e-300, 50.0, 1e9, 1e300])
def test_a_delta_is_a_probability(rho: float) -> None:
    assert 0 < gaussian_delta(0, rho) <= 1


def test_integer_noise_is_claimed_from_a_variance_of_four_and_up_to_ten_million_changes() -> None:
    above = 4 + Fraction(1, 1000)

    assert lattice_rho(Fraction(4), Fraction(1)) is None
    assert lattice_rho(above, Fraction(1)) == Fraction(1, 2) / (above - 3)
    assert lattice_rho(Fraction(10), Fraction(10**7)) == Fraction(10**7, 14)
    assert lattice_rho(Fraction(10), Fraction(10**7 + 1)) is None


def test_no_more_coordinates_change_than_there_are() -> None:
    reach = Fraction(2**46)

    assert lattice_rho(Fraction(10), reach, 10**7) == reach / 14
    assert lattice_rho(Fraction(10), reach, 10**7 + 1) is None
    assert lattice_rho(Fraction(10), Fraction(9), 10**9) == Fraction(9, 14)


@pytest.mark.parametrize("rho", [Fraction(1, 3), Fraction(1, 2), Fraction(2), Fraction(1, 10**40), Fraction(10**30, 7)])
def test_mu_is_the_root_of_twice_the_profile_from_above(rho: Fraction) -> None:
    mu = gaussian_mu(Linear(Fraction(0), Fraction(0), rho))

    with mp.workdps(60):
        oracle = mp.sqrt(2 * mp.mpf(rho.numerator) / rho.denominator)
        assert mu is not None
        assert oracle <= mu <= oracle * (1 + mp.mpf(2) ** -50)


def test_a_curve_without_a_profile_has_no_mu_and_one_that_spends_nothing_has_none_to_speak_of() -> None:
    assert gaussian_mu(ZERO) == 0
    assert gaussian_mu(Linear(Fraction(0), Fraction(1))) is None
    assert gaussian_mu(Tabulated.of([2.0], [1.0])) is None
