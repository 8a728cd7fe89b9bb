"""Every bound on a float error against mpmath: it is the one in theory.md, and several times the true error."""

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import mpmath as mp
import numpy as np
import pytest

from expost.accounting import loss_distribution as module
from expost.accounting.curve import Floats
from expost.accounting.loss_distribution import (
    ROUNDING,
    LossDistribution,
    Masses,
    connect_the_dots,
    log_ratio,
    multiples,
    plain_gaussian,
    sampled_gaussian,
)

UNIT = 2.0**-49
STEPS = [
    (2.0**-4, 0.5, 1.0, 2),
    (2.0**-3, 0.9, 0.5, 4),
    (0.5, 0.75, 0.25, 3),
    (2.0**-10, 0.02, 3.0, 6),
    (2.0**-5, 0.999, 1.5, 9),
    (2.0**-34, 1e-9, 4.0, 3),
]
"""Widths, rates, noise multipliers and how many standard deviations the grid reaches."""
NOISES = [(2.0**-3, 0.5, 3), (2.0**-4, 0.02, 7), (1.0, 12.5, 5)]
"""Widths, ρ and reaches of plain Gaussian noise."""


@pytest.fixture(autouse=True)
def many_digits() -> Iterator[None]:
    with mp.workdps(50):
        yield


class Given(NamedTuple):
    """What the dots are connected of."""

    start: int
    first: Masses
    second: Masses
    below: float
    lost: float
    excess: float


@pytest.fixture
def given_to(monkeypatch: pytest.MonkeyPatch) -> list[Given]:
    """What each call of `connect_the_dots` is given."""
    calls = list[Given]()

    def noting(width: float, start: int, first: Masses, second: Masses, **rest: float) -> LossDistribution:
        calls.append(Given(start, first, second, **rest))
        return connect_the_dots(width, start, first, second, **rest)

    monkeypatch.setattr(module, "connect_the_dots", noting)
    return calls


def exact_cell(low: mp.mpf, high: mp.mpf) -> mp.mpf:
    return mp.ncdf(high) - mp.ncdf(low) if high < 0 else mp.ncdf(-low) - mp.ncdf(-high)


def tail_bound(point: mp.mpf, spread: float) -> mp.mpf:
    return UNIT * mp.ncdf(-abs(point)) * (1 + spread + point**2) if mp.isfinite(point) else mp.mpf(0)


def cell_bound(low: mp.mpf, high: mp.mpf, spread: float) -> mp.mpf:
    """Of both ends, and of the 1 that two tails are taken from."""
    return tail_bound(low, spread) + tail_bound(high, spread) + (UNIT if low < 0 <= high else 0)


def is_bounded(found: Masses, exact: list[mp.mpf], bounds: list[mp.mpf]) -> bool:
    """Whether true errors are small beside the bounds, and the bounds are these."""
    return all(
        3 * abs(mass - true) <= bound and 0.999 * bound <= claimed <= 1.001 * bound
        for mass, claimed, true, bound in zip(*found, exact, bounds, strict=True)
    )


def is_tail(found: float, exact: mp.mpf, bound: mp.mpf) -> bool:
    """Whether a tail is rounded up by a bound on its error, give or take that error."""
    return bool(exact + 0.7 * bound <= found <= exact + 1.3 * bound)


def mixture(rate: float, null: list[mp.mpf], one: list[mp.mpf]) -> list[mp.mpf]:
    return [(1 - mp.mpf(rate)) * each + mp.mpf(rate) * other for each, other in zip(null, one, strict=True)]


def exact_loss(rate: float, noise: float, point: float) -> mp.mpf:
    return mp.log(1 - mp.mpf(rate) + mp.mpf(rate) * mp.exp((2 * mp.mpf(point) - 1) / (2 * mp.mpf(noise) ** 2)))


@pytest.mark.parametrize("removing", [True, False])
@pytest.mark.parametrize(("width", "rate", "noise", "reach"), STEPS)
def test_a_sampled_step_is_bounded_as_promised(  # noqa: PLR0917
    given_to: list[Given], width: float, rate: float, noise: float, reach: int, removing: bool
) -> None:
    step = sampled_gaussian.__wrapped__(width, rate, noise, reach, removing=removing)
    (given,) = given_to
    low = given.start if removing else -given.start - len(given.first[0])
    points, spread = module._points(rate, noise, multiples(width, low, len(step.masses))), 1 / noise**2
    standard = [[(mp.mpf(each) - shift) / mp.mpf(noise) for each in points] for shift in (0, 1)]
    ends = [list(pairwise(each)) for each in standard]
    null, one = ([exact_cell(*each) for each in cells] for cells in ends)
    null_bound, one_bound = ([cell_bound(*each, spread) for each in cells] for cells in ends)
    mixed, mixed_bound = mixture(rate, null, one), mixture(rate, null_bound, one_bound)
    outside = [(each[0], -each[-1]) for each in standard]
    tails, tail_bounds = [], []
    for left, right in zip(*outside, strict=True):
        both, bounds = [mp.ncdf(left), mp.ncdf(right)], [tail_bound(left, 0), tail_bound(right, 0)]
        tails.append(mixture(rate, both[:1], both[1:])[0] if removing else both[0])
        tail_bounds.append(mixture(rate, bounds[:1], bounds[1:])[0] if removing else bounds[0])

    way = 1 if removing else -1
    first, second = ((mixed, mixed_bound), (null, null_bound))[::way]
    assert is_bounded(given.first, first[0][::way], first[1][::way])
    assert is_bounded(given.second, second[0][::way], second[1][::way])
    assert all(map(is_tail, (given.below, given.lost)[::way], tails, tail_bounds))
    assert step.lost == given.lost
    assert step.excess == pytest.approx(
        UNIT * (1 + spread + np.max(np.abs(step.losses)) - math.log(rate)), rel=1e-12, abs=0
    )
    assert np.all(np.isfinite(points[1:]))
    for point, loss in zip(points, multiples(width, low, len(points)), strict=True):
        assert not np.isfinite(point) or 3 * abs(exact_loss(rate, noise, point) - loss) <= step.excess


@pytest.mark.parametrize(("width", "rho", "reach"), NOISES)
def test_plain_noise_is_bounded_as_promised(given_to: list[Given], width: float, rho: float, reach: int) -> None:
    step = plain_gaussian.__wrapped__(width, rho, reach)
    (given,) = given_to
    deviation, spread = mp.sqrt(2 * mp.mpf(rho)), 2 * rho
    for found, sign in ((given.first, -1), (given.second, 1)):
        standard = [(mp.mpf(each) + sign * mp.mpf(rho)) / deviation for each in step.losses]
        ends = list(pairwise(standard))
        assert is_bounded(found, [exact_cell(*each) for each in ends], [cell_bound(*each, spread) for each in ends])
    left, right = ((mp.mpf(step.losses[0]) - rho) / deviation, (rho - mp.mpf(step.losses[-1])) / deviation)

    assert is_tail(given.below, mp.ncdf(left), tail_bound(left, 0))
    assert is_tail(given.lost, mp.ncdf(right), tail_bound(right, 0))
    assert step.lost == given.lost
    assert step.excess == pytest.approx(UNIT * (1 + spread + np.max(np.abs(step.losses))), rel=1e-12, abs=0)


@pytest.mark.parametrize(("width", "rho", "reach"), NOISES)
def test_plain_noise_is_followed_as_far_as_asked_and_to_the_next_multiple(width: float, rho: float, reach: int) -> None:
    losses, far = plain_gaussian(width, rho, reach).losses, reach * math.sqrt(2 * rho)

    assert rho - far - width < losses[0] <= rho - far
    assert rho + far <= losses[-1] < rho + far + width


@pytest.mark.parametrize(("width", "rate", "noise", "reach"), STEPS)
def test_a_sampled_step_is_followed_as_far_as_asked(width: float, rate: float, noise: float, reach: int) -> None:
    """Whichever of its two Gaussians the noise is of."""
    ends = [float(exact_loss(rate, noise, point)) for point in (-reach * noise, reach * noise + 1)]

    losses = sampled_gaussian(width, rate, noise, reach, removing=True).losses

    assert ends[0] - width < losses[0] <= ends[0] + 1e-15
    assert ends[1] - 1e-13 <= losses[-1] < ends[1] + width
    assert [log_ratio(rate, noise, point) for point in (-reach * noise, reach * noise + 1)] == pytest.approx(
        ends, rel=1e-9, abs=1e-15
    )


@pytest.mark.parametrize("point", [-36.0, -30.0, -21.0, -8.0, -1.0, 0.0, 2.0])
def test_a_tail_is_rounded_up_by_more_than_it_errs(point: float) -> None:
    exact = mp.ncdf(mp.mpf(point))

    assert is_tail(module._tail(point), exact, UNIT * exact * (1 + mp.mpf(point) ** 2))
    assert module._tail(-math.inf) == 0


@pytest.mark.parametrize(("rate", "farthest"), [(1e-9, 1e-8), (1e-4, 1e-3), (0.3, 0.3)])
def test_points_of_small_losses_keep_their_digits(rate: float, farthest: float) -> None:
    """A loss of 10⁻⁹ has its own last digits, far below those of 1."""
    losses: Floats = np.linspace(-rate / 2, farthest, 9)

    for point, loss in zip(module._points(rate, 4.0, losses), losses, strict=True):
        assert abs(exact_loss(rate, 4.0, point) - mp.mpf(loss)) <= 16 * ROUNDING * (abs(loss) + rate)


def test_a_rounding_is_half_of_the_gap_above_one() -> None:
    assert math.ulp(1.0) == 2 * ROUNDING


@pytest.mark.parametrize("excess", [0.0, 2.0**-52, 1e-6])
@pytest.mark.parametrize(("width", "ours", "others"), [(4.0, 0.75, 0.01), (4.0, 0.5, 0.25), (0.125, 0.25, 0.125)])
def test_both_ends_of_a_cell_get_the_bound_on_errors(width: float, ours: float, others: float, excess: float) -> None:
    """3(η + 2⁻⁴⁹)(a + e^u b)/w and the errors of a and b, rounded up once more by 2⁻⁴⁹."""
    start, none = round(math.log(ours / others) // width), np.zeros(1)
    end = mp.exp(mp.mpf(width) * start)
    for errors in (0.0, 1e-9), (1e-9, 0.0), (0.0, 0.0):
        first, second = ((np.array([mass]), none + error) for mass, error in zip((ours, others), errors, strict=True))

        step = connect_the_dots(width, start, first, second, below=0.0, lost=0.0, excess=excess)

        a, b, share = mp.mpf(ours), end * mp.mpf(others), -mp.expm1(-mp.mpf(width))
        added = mp.mpf(errors[0]) + end * mp.mpf(errors[1]) + 3 * (mp.mpf(excess) + UNIT) * (a + b)
        for mass, kept in zip(step.masses, (b - mp.exp(-width) * a, a - b), strict=True):
            wanted = (kept + added) / share * (1 + mp.mpf(UNIT))
            assert abs(mp.mpf(float(mass)) - wanted) <= 6 * ROUNDING * (a + b) / share + 1e-12 * added


def test_smaller_losses_count_as_the_first_and_larger_ones_as_lost() -> None:
    cells = np.array([0.25, 0.25]), np.zeros(2)

    plain, more = (connect_the_dots(0.5, -1, cells, cells, below=x, lost=2 * x, excess=0.0) for x in (0.0, 0.25))

    assert (more.masses - plain.masses).tolist() == [0.25, 0, 0]
    assert (plain.lost, more.lost) == (0, 0.5)


def test_masses_that_later_claims_share_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        sampled_gaussian(0.25, 0.5, 1.0, 2, removing=True).masses[0] = 0.0
