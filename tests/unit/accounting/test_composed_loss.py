"""Which numbers a composition is computed from, where there is a claim at all, and the margins for float errors."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from expost.accounting import composed_loss as module
from expost.accounting.composed_loss import (
    MOST_CELLS,
    NEGLIGIBLE,
    TILTS,
    Window,
    composed_epsilon,
    least_epsilon,
    window_of,
)
from expost.accounting.gaussian import gaussian_epsilon
from expost.accounting.kinds import Kinds
from expost.accounting.loss_distribution import LossDistribution, plain_gaussian
from expost.errors import InvalidValue


def steps_of(rate: Fraction, noise: Fraction, count: int, rho: Fraction = Fraction(0)) -> Kinds:
    return Kinds((((rate, noise), count),), rho)


class Noted(Exception):
    """Ends a computation once what it is made from is known."""


@pytest.mark.parametrize("shift", [Fraction(0), Fraction(1, 10**30), Fraction(-1, 10**30)])
def test_a_rate_is_rounded_up_and_noise_down(monkeypatch: pytest.MonkeyPatch, shift: Fraction) -> None:
    rate, noise = Fraction(0.1) + shift, Fraction(3) + shift

    def noting(_width: float, given_rate: float, given_noise: float, _reach: int, *, removing: bool) -> None:
        assert removing
        assert rate <= given_rate <= math.nextafter(0.1, 1)
        assert math.nextafter(3, 0) <= given_noise <= noise
        raise Noted

    monkeypatch.setattr(module, "sampled_gaussian", noting)
    with pytest.raises(Noted):
        composed_epsilon(steps_of(rate, noise, 3), 1e-5)


@pytest.mark.parametrize("shift", [Fraction(0), Fraction(1, 10**30), Fraction(-1, 10**30)])
def test_plain_noise_beside_sampled_steps_is_rounded_up(monkeypatch: pytest.MonkeyPatch, shift: Fraction) -> None:
    def noting(_width: float, rho: float, _reach: int) -> None:
        assert 0.1 + shift <= Fraction(rho) <= math.nextafter(0.1, 1)
        raise Noted

    monkeypatch.setattr(module, "plain_gaussian", noting)
    with pytest.raises(Noted):
        composed_epsilon(steps_of(Fraction(1, 4), Fraction(2), 3, Fraction(0.1) + shift), 1e-5)


def test_a_rate_that_no_float_tells_from_one_is_plain_gaussian_noise() -> None:
    assert composed_epsilon(steps_of(1 - Fraction(1, 2**60), Fraction(4), 32), 1e-5) == gaussian_epsilon(1.0, 1e-5)


@pytest.mark.parametrize("delta", [-0.1, 0.0, 1.0, 2.0, math.nan])
def test_delta_lies_between_0_and_1(delta: float) -> None:
    with pytest.raises(InvalidValue, match="delta"):
        composed_epsilon(steps_of(Fraction(1, 4), Fraction(2), 1), delta)


@pytest.mark.parametrize(
    ("noise", "claimed"),
    [
        (Fraction(1, 16), True),
        (Fraction(1, 16) - Fraction(1, 2**30), False),
        (Fraction(100), True),
        (Fraction(2**20), True),
        (Fraction(2**20 + 1), False),
    ],
)
def test_there_is_a_claim_for_noise_multipliers_from_a_16th_to_two_to_the_20th(noise: Fraction, claimed: bool) -> None:
    assert math.isfinite(composed_epsilon(steps_of(Fraction(1, 2), noise, 1), 0.1)) is claimed


@pytest.mark.parametrize(("rate", "noise"), [(0.01, 1.0), (0.3, 0.5), (0.1, 4.0)])
def test_cells_are_measured_by_the_variance_of_the_loss(rate: float, noise: float) -> None:
    points = np.arange(-12 * noise, 12 * noise + 1, noise / 400)
    null, one = (np.exp(-(((points - centre) / noise) ** 2) / 2) for centre in (0, 1))
    mixed = (1 - rate) * null + rate * one
    losses = np.log(mixed / null)
    mean = np.average(losses, weights=mixed)

    assert module._variance(rate, noise) == pytest.approx(np.average((losses - mean) ** 2, weights=mixed), rel=1e-3)


def test_above_the_window_lies_what_chernoff_leaves_of_delta() -> None:
    """A loss that is certain has every moment; the largest tilt then says most, and is measured in widths."""
    width = 0.25
    certain = LossDistribution(width, 0, np.ones(1), 0.0, 0.0)

    for exponent in range(1, 290, 6):
        delta = 10.0**-exponent
        window = window_of([(certain, 1)], delta)
        assert window is not None
        last = window.start + window.cells - 1
        assert math.exp(-TILTS[-1] * last) <= delta * NEGLIGIBLE * (1 + 1e-12)


NEAR, FAR = np.array([0.1, 0.9]), np.array([0.1, *np.zeros(14), 0.9])


@pytest.mark.parametrize(
    ("width", "start", "masses", "window", "off"),
    [
        (0.5, 799, NEAR, Window(798, 4, 1.0), 0.1),
        (40.0, 0, FAR, Window(0, 16, 0.02), 0.3),
    ],
)
def test_what_exponentials_lose_in_each_step_is_taken_from_delta(
    width: float, start: int, masses: np.ndarray, window: Window, off: float
) -> None:
    """Ten million steps that release nothing add their roundings only: 8(500 + |L| + θ|L|)·2⁻⁵³ each."""
    count, delta, top = 10**7, 0.3, width * (start + len(masses) - 1)
    step = LossDistribution(width, start, masses, 0.0, 0.0)
    nothing = LossDistribution(width, 0, np.ones(1), 0.0, 0.0)

    found = least_epsilon([(step, 1), (nothing, count)], window, delta)

    largest = width * (window.start + window.cells - 1)
    promised = count * 8 * 2.0**-53 * (500 + largest + window.tilt * largest)
    taken = -math.log(0.9 * -math.expm1(found - top) / (delta * (1 - 2 * NEGLIGIBLE)))
    assert promised < taken < (1 + off) * promised


@pytest.mark.parametrize("rho", [10**3, 10**10, 10**400])
def test_plain_noise_that_hides_nothing_gets_no_claim_at_once(rho: int) -> None:
    """Its losses end beyond the floats, and a grid of them beyond any memory."""
    assert composed_epsilon(steps_of(Fraction(1, 10), Fraction(2), 5, Fraction(rho)), 1e-5) == math.inf


def test_plain_noise_beside_very_many_steps_lies_on_few_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = list[int]()

    def counted(*given: Any) -> LossDistribution:
        cells.append(len(plain_gaussian(*given).masses))
        return plain_gaussian(*given)

    monkeypatch.setattr(module, "plain_gaussian", counted)

    assert composed_epsilon(steps_of(Fraction(1, 10**6), Fraction(4, 3), 10**7, Fraction(4, 5)), 1e-5) < 8
    assert max(cells) <= 1.01 * MOST_CELLS


@pytest.mark.filterwarnings("error")
def test_a_window_as_long_as_floats_reach_warns_of_nothing() -> None:
    assert composed_epsilon(steps_of(Fraction(1, 10**6), Fraction(1, 8), 10), 1e-150) > 100
