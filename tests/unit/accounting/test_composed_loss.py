"""Which numbers a composition is computed from, where there is a claim at all, and the margins for float errors."""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.special import ndtr

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
from expost.accounting.loss_distribution import LossDistribution, plain_gaussian, sampled_gaussian
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


@pytest.mark.parametrize(("rate", "noise"), [(0.01, 1.0), (0.3, 0.5), (0.1, 4.0), (0.2, 0.125), (0.9, 0.25)])
def test_cells_are_measured_by_the_variance_of_the_loss(rate: float, noise: float) -> None:
    points = np.arange(-12 * noise, 12 * noise + 1, noise / 400)
    null, one = (np.exp(-(((points - centre) / noise) ** 2) / 2) for centre in (0, 1))
    mixed = (1 - rate) * null + rate * one
    losses = np.log(mixed / null)
    mean = np.average(losses, weights=mixed)

    assert module._variance(rate, noise) == pytest.approx(np.average((losses - mean) ** 2, weights=mixed), rel=1e-5)


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


def test_the_dearer_of_adding_and_removing_a_record_is_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Removing costs more wherever both were computed, but that it always does is not proved."""
    for dearer in (True, False):
        monkeypatch.setattr(module, "_one_way", lambda *_, removing, dearer=dearer: 2.0 if removing is dearer else 1.0)
        module._epsilon.cache_clear()
        assert composed_epsilon(steps_of(Fraction(1, 3), Fraction(2), 5), 1e-5) == 2.0
    module._epsilon.cache_clear()


def delta_for(reach: int, count: int) -> float:
    """A δ at which losses of so many steps are followed for this many standard deviations."""
    return float(ndtr(0.5 - reach)) * count / NEGLIGIBLE


@pytest.mark.parametrize("noise", [Fraction(1, 8), Fraction(1), Fraction(4)])
@pytest.mark.parametrize(("beyond", "claimed"), [(0, True), (1, False)])
def test_there_is_a_claim_as_long_as_both_laws_are_within_36_deviations(
    noise: Fraction, beyond: int, claimed: bool
) -> None:
    """Of the noise around a record that joined, which is 1/z deviations away; floats have no smaller tails."""
    reach = math.floor(36 - 1 / noise) + beyond

    found = composed_epsilon(steps_of(Fraction(1, 10**6), noise, 3), delta_for(reach, 3))

    assert math.isfinite(found) is claimed


@pytest.mark.parametrize("first", [True, False])
def test_one_kind_without_a_claim_leaves_none_to_all(first: bool) -> None:
    kinds = [((Fraction(1, 2), Fraction(1)), 1), ((Fraction(1, 2), Fraction(2**20 + 1)), 1)]

    assert composed_epsilon(Kinds(tuple(kinds if first else reversed(kinds)), Fraction(0)), 0.1) == math.inf


@pytest.mark.parametrize(("rho", "claimed"), [(Fraction(200), True), (Fraction(200) + Fraction(1, 2**30), False)])
def test_plain_noise_gets_a_claim_up_to_losses_of_500(rho: Fraction, claimed: bool) -> None:
    """At 15 deviations the loss N(ρ, 2ρ) of ρ = 200 is 200 + 15·20."""
    found = composed_epsilon(steps_of(Fraction(1, 10**6), Fraction(1), 1, rho), delta_for(15, 2))

    assert math.isfinite(found) is claimed


def test_an_epsilon_of_thousands_gets_no_claim() -> None:
    assert composed_epsilon(steps_of(Fraction(1, 2), Fraction(1, 16), 20), 1e-5) == math.inf


@pytest.mark.parametrize(("width", "claimed"), [(499.0, True), (500.0, True), (501.0, False)])
def test_a_window_wider_than_losses_of_500_gets_no_claim(width: float, claimed: bool) -> None:
    """It has room for one cell at least."""
    certain = LossDistribution(width, 0, np.ones(1), 0.0, 0.0)

    assert (window_of([(certain, 1)], 0.5) is not None) is claimed


@pytest.mark.parametrize("rho", [2.0**-12, 2.0**-4, 1.0, 16.0])
@pytest.mark.parametrize("delta", [0.3, 1e-3, 1e-9, 1e-30])
def test_below_the_window_lies_a_negligible_share_of_the_tilted_mass(rho: float, delta: float) -> None:
    """Of Gaussian noise: tilted, its loss is N(ρ + 2ρθ, 2ρ), and Chernoff's bound on that is not missed by much."""
    deviation = math.sqrt(2 * rho)
    step = plain_gaussian(2.0 ** math.floor(math.log2(deviation) - 4), rho, 16)

    window = window_of([(step, 1)], delta)

    assert window is not None
    below = (window.start * step.width - rho - 2 * rho * window.tilt) / deviation
    mildest = min(window.tilt * deviation, math.sqrt(-2 * math.log(NEGLIGIBLE)))
    assert ndtr(below) < NEGLIGIBLE
    assert below > 1.05 * (math.log(NEGLIGIBLE) / mildest - mildest / 2) - 0.2


@pytest.mark.parametrize("times", [2, 8, 64])
def test_cells_are_widened_until_they_are_few_enough(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    cells, width_of, solve = list[int](), module._width, least_epsilon

    def noting(steps: Any, window: Window, delta: float) -> float:
        cells.append(window.cells)
        return solve(steps, window, delta)

    kinds, delta = steps_of(Fraction(1, 7), Fraction(3), 40), 1e-5
    as_wide_as_needed = composed_epsilon(kinds, delta)
    monkeypatch.setattr(module, "MOST_CELLS", 2**11)
    monkeypatch.setattr(module, "_width", lambda *given: width_of(*given) / times)
    monkeypatch.setattr(module, "least_epsilon", noting)
    module._epsilon.cache_clear()

    assert composed_epsilon(kinds, delta) == pytest.approx(as_wide_as_needed, rel=1e-2)
    assert all(2**9 <= each <= 2**11 for each in cells)
    module._epsilon.cache_clear()


@pytest.mark.parametrize("noise", [Fraction(1, 2), Fraction(3, 4)])
def test_one_step_has_at_most_65536_cells_and_uses_them(monkeypatch: pytest.MonkeyPatch, noise: Fraction) -> None:
    """At small rates, where the losses of most records are much finer than the largest."""
    cells = list[int]()

    def counted(*given: Any, removing: bool) -> LossDistribution:
        step = sampled_gaussian(*given, removing=removing)
        cells.append(len(step.masses))
        return step

    monkeypatch.setattr(module, "sampled_gaussian", counted)
    small = Fraction(1, 10**7)

    composed_epsilon(Kinds((((small, noise), 3), ((small, Fraction(20)), 3)), Fraction(0)), 1e-5)

    assert 0.95 * 2**16 < max(cells) < 1.01 * 2**16


@pytest.fixture
def many_digits() -> Iterator[None]:
    with mpmath.workdps(40):
        yield


NOTHING = LossDistribution(0.5, 0, np.ones(1), 0.0, 0.0)
UNIT = 2.0**-53


def given_composition(
    monkeypatch: pytest.MonkeyPatch, masses: dict[int, float], window: Window, width: float, error: float = 0.0
) -> None:
    """Let a composition have these masses at these multiples of the width, known up to an error."""
    tilted = np.zeros(window.cells)
    for place, mass in masses.items():
        tilted[place - window.start] = mass * math.exp(window.tilt * width * place)
    monkeypatch.setattr(module, "_composed", lambda *_: (tilted, error, 0.0))


def delta_of(masses: dict[int, float], width: float, epsilon: float) -> mpmath.mpf:
    """The δ of these masses, in many digits."""
    over = [(mass, mpmath.mpf(width) * place - epsilon) for place, mass in masses.items()]
    return mpmath.fsum(mpmath.mpf(mass) * -mpmath.expm1(-loss) for mass, loss in over if loss > 0)


def taken_from(delta: float, reached: mpmath.mpf) -> float:
    """The share of δ that is kept for errors, beyond what may lie above the window."""
    return float(1 - reached / (mpmath.mpf(delta) * (1 - 2 * NEGLIGIBLE)))


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.usefixtures("many_digits")
def test_what_floats_lose_is_taken_from_delta(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """A part in 10¹², and the roundings of each step and of the way back from the tilt."""
    window, masses = Window(0, 32, 1.0), {0: 0.5, 20: 0.5}
    given_composition(monkeypatch, masses, window, 0.5)

    found = least_epsilon([(NOTHING, count)], window, 0.495)

    rounding = 8 * UNIT * (500 + 2 * 15.5)
    taken = taken_from(0.495, delta_of(masses, 0.5, found))
    assert 1e-12 + (count + 1) * rounding < taken < 1e-12 + (count + 3) * rounding


@pytest.mark.parametrize("off", np.linspace(-40, 40, 17))
@pytest.mark.usefixtures("many_digits")
def test_what_sums_of_many_cells_lose_is_taken_from_delta(monkeypatch: pytest.MonkeyPatch, off: float) -> None:
    """Also if ε is at a multiple of the width, or just beside it: a sum of N numbers loses N·2⁻⁵³ at most."""
    width, window, masses = 2.0**-10, Window(0, 2**16, 1.0), {0: 0.1, 2000: 0.9}
    nothing = LossDistribution(width, 0, np.ones(1), 0.0, 0.0)
    given_composition(monkeypatch, masses, window, width)
    half = float(delta_of(masses, width, 1300 * width))
    delta = half / (1 - 2 * NEGLIGIBLE) * (1 + off * 2**16 * UNIT)

    found = least_epsilon([(nothing, 1)], window, delta)

    both_sums = 0.9 + 0.9 * math.exp(found - 2000 * width)
    lost = 2**16 * UNIT * both_sums / half
    assert 4 * lost < taken_from(delta, delta_of(masses, width, found)) < 12 * lost


@pytest.mark.usefixtures("many_digits")
def test_what_one_exponential_loses_is_taken_from_both_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    """Losses of ten million, which cancel: what is rounded is as large as they are."""
    window, masses, far = Window(0, 8, 1.0), {0: 0.1, 4: 0.9}, 2 * 10**7
    steps = [(LossDistribution(0.5, start, np.ones(1), 0.0, 0.0), 1) for start in (far, -far)]
    given_composition(monkeypatch, masses, window, 0.5)

    found = least_epsilon(steps, window, 0.3)

    rounding, left = 8 * UNIT * 2 * 10**7, math.exp(found - 2)
    promised = rounding * (3 + (1 + left) / (1 - left))
    assert taken_from(0.3, delta_of(masses, 0.5, found)) == pytest.approx(promised, rel=1e-3)


@pytest.mark.parametrize(("place", "cells"), [(1, 4), (2, 4), (400, 512)])
@pytest.mark.usefixtures("many_digits")
def test_epsilon_is_raised_by_a_part_in_10_to_the_12_and_as_much(
    monkeypatch: pytest.MonkeyPatch, place: int, cells: int
) -> None:
    delta, window, masses = 1e-3, Window(0, cells, 1.0), {0: 0.1, place: 0.9}
    given_composition(monkeypatch, masses, window, 0.5)

    found = least_epsilon([(NOTHING, 1)], window, delta)

    exact = mpmath.mpf(0.5) * place + mpmath.log1p(-delta * (1 - 2 * NEGLIGIBLE) / mpmath.mpf(0.9))
    assert 1e-12 * (1 + exact) < found - exact < 1e-11 * (1 + exact)


@pytest.mark.parametrize(
    ("excess", "count", "least", "most"), [(0.0, 10**9, 1.6e-9, 2.1e-9), (1e-3, 2, 2e-3, 2.0001e-3)]
)
@pytest.mark.usefixtures("many_digits")
def test_what_integer_noise_and_the_ends_of_cells_add_is_added_to_epsilon(
    monkeypatch: pytest.MonkeyPatch, excess: float, count: int, least: float, most: float
) -> None:
    """Integer noise adds 8e−19 twice in each step, and a loss may lie above its mass by the excess."""
    delta, window, masses = 1e-8, Window(0, 8, 1.0), {0: 0.1, 4: 0.9}
    given_composition(monkeypatch, masses, window, 0.5)

    found = least_epsilon([(LossDistribution(0.5, 0, np.ones(1), 0.0, excess), count)], window, delta)

    exact = 2 + mpmath.log1p(-delta * (1 - 2 * NEGLIGIBLE) / mpmath.mpf(0.9))
    assert least < found - exact < most


@pytest.mark.parametrize("error", [1e-3, 1e-2, 3e-2])
@pytest.mark.parametrize("tilt", [0.01, 0.03])
def test_the_worst_masses_within_the_error_keep_delta(
    monkeypatch: pytest.MonkeyPatch, error: float, tilt: float
) -> None:
    """Those that differ most where a mass, tilted back, weighs most in δ; not much more is added."""
    width, window, masses, delta = 4.0, Window(0, 64, tilt), {0: 0.5, 16: 0.5}, 0.49
    nothing = LossDistribution(width, 0, np.ones(1), 0.0, 0.0)
    given_composition(monkeypatch, masses, window, width, error)

    found = least_epsilon([(nothing, 1)], window, delta)

    losses = width * np.arange(window.cells)
    weights = np.exp(-tilt * losses) * np.maximum(0, -np.expm1(np.minimum(found - losses, 0)))
    added = error * float(np.linalg.norm(weights))
    worst = float(delta_of(masses, width, found)) + added
    assert delta - 0.25 * added < worst <= delta


def test_masses_that_are_not_known_at_all_get_no_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    window = Window(0, 8, 1.0)
    given_composition(monkeypatch, {0: 0.5, 4: 0.5}, window, 0.5, error=100.0)

    assert least_epsilon([(NOTHING, 1)], window, 0.3) == math.inf


@pytest.mark.parametrize(("share", "expected"), [(0.1, math.inf), (0.01, 10 + math.log1p(-0.04 / 0.4))])
def test_where_a_discount_leaves_the_floats_nothing_is_claimed(
    monkeypatch: pytest.MonkeyPatch, share: float, expected: float
) -> None:
    """e^710 is not a float: what is left of a loss of 730 there seems to be less than nothing."""
    delta, window = 0.05, Window(0, 1024, 1e-3)
    nothing = LossDistribution(1.0, 0, np.ones(1), 0.0, 0.0)
    given_composition(monkeypatch, {0: 0.5, 10: 0.4, 730: share}, window, 1.0)

    assert least_epsilon([(nothing, 1)], window, delta) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("delta", "expected"), [(0.6, 5.0), (0.5, 6 + math.log(1 - 0.5 / 0.9))])
def test_nothing_is_claimed_below_the_window_and_the_first_cell_is_divided_as_all_are(
    monkeypatch: pytest.MonkeyPatch, delta: float, expected: float
) -> None:
    """All of .9·(1 − e^{ε−6}) lies above ε, also below 5, but what else lies below 5 is not known."""
    window = Window(5, 8, 1.0)
    nothing = LossDistribution(1.0, 0, np.ones(1), 0.0, 0.0)
    given_composition(monkeypatch, {6: 0.9}, window, 1.0)

    assert least_epsilon([(nothing, 1)], window, delta) == pytest.approx(expected, rel=1e-6)


def test_what_steps_lose_is_added_to_delta_whatever_their_masses_add_up_to() -> None:
    """Ten steps whose masses grew to e^.49 together, one of which loses its bound with chance (s + l)¹⁰ − s¹⁰."""
    delta, window, total, lost = 0.2, Window(0, 8, 1.0), math.exp(0.049), 1e-3
    step = LossDistribution(0.5, 0, np.array([0.1, 0, 0, 0, 0.9]), 0.0, 0.0)
    grown = LossDistribution(0.5, 0, np.array([total]), lost, 0.0)

    found = least_epsilon([(step, 1), (grown, 10)], window, delta)

    without_bound = (total + lost) ** 10 - total**10
    reached = without_bound + total**10 * 0.9 * -math.expm1(found - 2)
    assert delta - 0.6 * 10 * lost < reached <= delta


@pytest.mark.parametrize(("logarithm", "claimed"), [(0.49, True), (0.51, False)])
def test_masses_that_grew_by_more_than_the_root_of_e_get_no_claim(logarithm: float, claimed: bool) -> None:
    grown = LossDistribution(0.5, 0, np.array([math.exp(logarithm / 10)]), 0.0, 0.0)

    assert math.isfinite(least_epsilon([(grown, 10)], Window(-4, 8, 1.0), 0.99)) is claimed


@pytest.mark.parametrize("exponent", [2, 6, 10])
@pytest.mark.parametrize("count", [1, 10**3, 10**12])
def test_the_error_of_a_power_of_one_atom_is_bounded_as_promised(exponent: int, count: int) -> None:
    """T·e·(1 + 2e)^{T−1} with e = 16k·2⁻⁵³·√N at each of N = 2^k frequencies, T products, and one transform back."""
    cells = 2**exponent
    _, error, _ = module._composed([(NOTHING, count)], Window(0, cells, 1.0))

    transform = 16 * exponent * UNIT
    each = transform * math.sqrt(cells)
    grown = math.exp((count - 1) * math.log1p(2 * each))
    least = count * (each + math.sqrt(5) * UNIT) * grown + transform
    assert least < error < 1.03 * math.sqrt(1 + 2 / cells) * least


@pytest.mark.parametrize("exponent", [4, 8])
def test_the_error_of_one_step_is_in_proportion_to_the_norm_of_its_masses(exponent: int) -> None:
    cells = 2**exponent
    flat = LossDistribution(2.0**-30, 0, np.full(cells, 1 / cells), 0.0, 0.0)

    _, error, _ = module._composed([(flat, 1)], Window(0, cells, 1e-9))

    transform = 16 * exponent * UNIT
    least = transform * (1 + 1 / math.sqrt(cells))  # the masses have the norm 1/√N
    assert least < error < 1.2 * least
