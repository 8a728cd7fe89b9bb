"""The exact profile of Gaussian noise, and of integer noise under it.

Gaussian noise with ρ = Δ²/(2σ²), μ = √(2ρ), has δ(ε) = Φ(μ/2−ε/μ) − e^ε Φ(−μ/2−ε/μ) exactly (Balle and Wang 2018).
For integer data the discrete Gaussian N_Z(0, σ²), σ² > 4, has at most the profile of ρ' = Δ²/(2(σ²−3)), up to
factors below 1e−18: it is, up to those factors, a rounding of continuous noise of variance σ²−3. The smaller
ρ = Δ²/(2σ²) would be false.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from numpy.typing import NDArray

from expost.accounting.gaussian import (
    DELTA_SLACK,
    EPSILON_SLACK,
    MOST_CHANGES,
    SMOOTHING_VARIANCE,
    gaussian_delta,
    gaussian_epsilon,
    lattice_rho,
)
from expost.errors import InvalidValue

Floats = NDArray[np.float64]


def profile(epsilon: float, rho: float) -> mp.mpf:
    with mp.workdps(60):
        mu = mp.sqrt(2 * mp.mpf(rho))
        e = mp.mpf(epsilon)
        return mp.ncdf(mu / 2 - e / mu) - mp.exp(e) * mp.ncdf(-mu / 2 - e / mu)


def test_the_profile_has_its_known_values() -> None:
    assert gaussian_delta(1, 0.5) == pytest.approx(0.1269367375066, abs=1e-12)
    assert gaussian_epsilon(0.05, 1e-5) == pytest.approx(1.199369574, abs=5e-10)


def test_the_union_over_levels_column_of_the_ladder() -> None:
    claims = [gaussian_epsilon(0.0005 * 100 ** (i / 6), 1e-5 / 7) for i in range(7)]

    assert [round(c, 6) for c in claims] == [0.113159, 0.170770, 0.257604, 0.388593, 0.586515, 0.886398, 1.342714]


@pytest.mark.parametrize("rho", [1e-12, 1e-6, 1e-3, 0.3, 0.4999, 0.5, 2.0, 50.0, 1e4, 1e9])
def test_the_profile_matches_high_precision_from_above(rho: float) -> None:
    mu = math.sqrt(2 * rho)
    for reach in (-6.0, -1.0, 0.0, 1.0, 5.0, 20.0, 35.0):
        epsilon = max(0.0, rho + reach * mu)
        oracle = profile(epsilon, rho)

        assert 0 <= gaussian_delta(epsilon, rho) - oracle <= (3e-12 + 1e-13 * mu) * oracle


@pytest.mark.parametrize("rho", [1e-9, 1e-3, 0.05, 1.0, 40.0])
@pytest.mark.parametrize("delta", [0.2, 1e-5, 1e-12, 1e-100])
def test_epsilon_is_on_the_safe_side_and_tight(rho: float, delta: float) -> None:
    epsilon = gaussian_epsilon(rho, delta)

    assert profile(epsilon, rho) <= delta
    assert epsilon < 2e-12 or profile(epsilon * (1 - 1e-10) - 2e-12, rho) > delta


def integer_noise(variance: float) -> Floats:
    reach = math.ceil(12 * math.sqrt(variance))
    k = np.arange(-reach, reach + 1)
    mass = np.exp(-(k * k) / (2 * variance))
    return np.array(mass / mass.sum())


def lattice_delta(variance: float, coordinates: int, step: int, epsilons: Floats) -> Floats:
    """The exact δ when ``coordinates`` integers move by ``step`` each: the loss depends on the sum of the noise."""
    mass = single = integer_noise(variance)
    for _ in range(coordinates - 1):
        mass = np.convolve(mass, single)
    total = np.arange(mass.size) - mass.size // 2
    loss = (coordinates * step * step - 2 * step * total) / (2 * variance)
    gains: Floats = np.maximum(0, -np.expm1(np.minimum(0, epsilons[:, None] - loss)))
    return np.array(gains @ mass)


def grid(rho: float) -> Floats:
    return np.linspace(0, rho + 6 * math.sqrt(2 * rho), 241)


def excess(deltas: Floats, epsilons: Floats, rho: float) -> float:
    """The largest ratio of the lattice δ to the profile; above 1 the profile is violated."""
    return max(float(d) / gaussian_delta(float(e), rho) for d, e in zip(deltas, epsilons, strict=True))


CASES = [(v, m, s) for v in (6, 10, 50, 400) for m, s in ((1, 1), (2, 1), (3, 1), (5, 1), (1, 2), (2, 3))]


@pytest.mark.parametrize(("variance", "coordinates", "step"), CASES)
def test_integer_noise_is_within_the_profile_of_the_reduced_variance(
    variance: int, coordinates: int, step: int
) -> None:
    l2_squared = Fraction(coordinates * step * step)
    rho = lattice_rho(Fraction(variance), l2_squared)
    assert rho == l2_squared / (2 * (variance - 3))
    epsilons = grid(float(rho))

    worst = excess(lattice_delta(variance, coordinates, step, epsilons), epsilons, float(rho))

    assert worst <= 1


@pytest.mark.parametrize(("variance", "coordinates", "step"), [case for case in CASES if case[2] == 1])
def test_the_uncorrected_variance_would_be_false(variance: int, coordinates: int, step: int) -> None:
    """The loss of integer noise sits on a lattice; at its kinks δ exceeds that of continuous noise."""
    rho = coordinates / (2 * variance)
    epsilons = grid(rho)

    worst = excess(lattice_delta(variance, coordinates, step, epsilons), epsilons, rho)

    assert worst > 1.0005


def test_the_violation_without_correction_is_certain_in_high_precision() -> None:
    variance, epsilon = 6, 1.0
    with mp.workdps(40):
        total = mp.nsum(lambda k: mp.exp(-(k**2) / mp.mpf(12)), [-mp.inf, mp.inf])
        losses = [(k, (1 - 2 * mp.mpf(k)) / 12) for k in range(-60, 61)]
        lattice = mp.fsum(mp.exp(-(mp.mpf(k) ** 2) / 12) / total * max(0, 1 - mp.exp(epsilon - x)) for k, x in losses)

        assert lattice > 1.004 * profile(epsilon, 1 / (2 * variance))
        assert lattice < 0.6 * profile(epsilon, 1 / (2 * (variance - 3)))


def composed_delta(variances: Sequence[int], epsilons: Floats) -> Floats:
    losses, masses = np.zeros(1), np.ones(1)
    for variance in variances:
        mass = integer_noise(variance)
        k = np.arange(mass.size) - mass.size // 2
        losses = (losses[:, None] + (1 - 2 * k) / (2 * variance)).ravel()
        masses = (masses[:, None] * mass).ravel()
    kept = masses > 1e-40
    losses, masses = losses[kept], masses[kept]
    return np.array([float(np.sum(masses * np.maximum(0, -np.expm1(np.minimum(0, e - losses))))) for e in epsilons])


@pytest.mark.parametrize("variances", [(6, 6), (6, 50), (10, 17), (50, 400)])
def test_composed_integer_releases_add_their_reduced_rho(variances: tuple[int, int]) -> None:
    rhos = [lattice_rho(Fraction(v), Fraction(1)) for v in variances]
    rho = float(sum(r for r in rhos if r is not None))
    epsilons = grid(rho)[::4]

    assert excess(composed_delta(variances, epsilons), epsilons, rho) <= 1


def test_the_lattice_slack_is_below_what_epsilon_is_raised_by() -> None:
    with mp.workdps(60):
        eta = 2 * mp.nsum(lambda n: mp.exp(-2 * mp.pi**2 * SMOOTHING_VARIANCE * n**2), [1, mp.inf])
        tau = mp.log((1 + eta) / (1 - eta))

        assert eta < 4e-26
        assert 2 * tau * MOST_CHANGES < 2e-18
        assert 5 * 10**5 * 2 * tau * MOST_CHANGES < EPSILON_SLACK
        assert 5 * 10**5 * tau * MOST_CHANGES < DELTA_SLACK


@pytest.mark.parametrize("z", [0.0, 0.25, 0.5, 0.9])
def test_the_rounding_normaliser_is_flat_only_for_a_wide_kernel(z: float) -> None:
    """Negative twin of the smoothing variance: with s² = 1/10 the normaliser moves by more than half."""

    def theta(s2: float) -> mp.mpf:
        terms = mp.fsum(mp.exp(-((k - mp.mpf(z)) ** 2) / (2 * mp.mpf(s2))) for k in range(-60, 61))
        return terms / mp.sqrt(2 * mp.pi * s2)

    with mp.workdps(60):
        assert abs(theta(4) - 1) < 1.1e-34
        assert z == 0.25 or abs(theta(0.1) - 1) > 0.2


def test_small_variance_and_huge_sensitivity_get_no_claim() -> None:
    assert lattice_rho(Fraction(4), Fraction(1)) is None
    assert lattice_rho(Fraction(10**20), Fraction(10**7 + 1)) is None
    assert lattice_rho(Fraction(10**20), Fraction(10**7 + 1), 10**7 + 1) is None
    assert lattice_rho(Fraction(24000), Fraction(24)) == Fraction(12, 23997)


@pytest.mark.parametrize(
    "refused",
    [
        lambda: gaussian_delta(math.nan, 1),
        lambda: gaussian_delta(-1, 1),
        lambda: gaussian_delta(1, math.inf),
        lambda: gaussian_epsilon(-1, 0.1),
        lambda: gaussian_epsilon(1, 0),
        lambda: gaussian_epsilon(1, 1),
        lambda: lattice_rho(Fraction(0), Fraction(1)),
        lambda: lattice_rho(Fraction(10), Fraction(-1)),
    ],
)
def test_what_is_not_a_bound_is_refused(refused: Callable[[], object]) -> None:
    with pytest.raises(InvalidValue):
        refused()
