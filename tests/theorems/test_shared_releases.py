"""Shared releases: whatever the order in which views were asked for, they are points of one Brownian path.

All views are a post-processing of the finest, so the data set pays the finest, once. The views of a group of analysts
are a post-processing of the finest of theirs: they form a chain, and pooling them tells no more.
"""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from expost.ledgers.views import View, along_path
from expost.mechanisms.brownian import Estimate
from expost.mechanisms.gaussian import Measurement
from expost.noise import Floats

LEVELS = [Fraction(n, 8) for n in (1, 2, 3, 5, 8)]
SQUARED = Fraction(2)
DRAWS = 8


class Basis:
    """Noise as a vector per draw: a value is written by its coefficients, and a covariance is an inner product."""

    seeded = False

    def __init__(self) -> None:
        self.drawn = 0

    def gaussian(self, std: float, shape: tuple[int, ...]) -> Floats:
        value = np.zeros(DRAWS)
        value[self.drawn] = std
        self.drawn += 1
        return value


def measured(level: Fraction, noise: Basis) -> Measurement:
    variance = SQUARED / (2 * level)
    return Measurement(noise.gaussian(float(variance) ** 0.5, (DRAWS,)), variance)


def asked(order: tuple[Fraction, ...]) -> list[View]:
    """The views after analysts asked for these levels in this order, as a shared release makes them."""
    noise, views = Basis(), list[View]()
    for level in order:
        if not views:
            fresh = measured(level, noise)
            view = View(level, Estimate(fresh.values, 1 / fresh.variance))
        elif level > views[-1].level:
            view = View(level, views[-1].estimate.refine(measured(level - views[-1].level, noise)))
        else:
            view = along_path(views, level, SQUARED, noise)  # type: ignore[arg-type] # only draws in floating point
        views = sorted([*views, view], key=lambda each: each.level)
    return views


def covariances(views: list[View]) -> Floats:
    values = np.array([view.estimate.values for view in views])
    return np.asarray(values @ values.T, dtype=np.float64)


def path(levels: list[Fraction]) -> Floats:
    """That of B_T at T = Δ²/(2ρ): the variance of the finer of two views."""
    times = [float(SQUARED / (2 * level)) for level in levels]
    return np.array([[min(one, other) for other in times] for one in times])


@pytest.mark.parametrize("order", list(itertools.permutations(LEVELS))[::7])
def test_views_in_any_order_are_points_of_one_path(order: tuple[Fraction, ...]) -> None:
    views = asked(order)

    assert np.allclose(covariances(views), path(LEVELS), atol=1e-12)
    assert all(view.estimate.precision == 2 * view.level / SQUARED for view in views)


def best_variance(views: list[View]) -> float:
    """Of the best unbiased combination of these views."""
    ones = np.ones(len(views))
    return float(1 / (ones @ np.linalg.solve(covariances(views), ones)))


@pytest.mark.parametrize("size", [2, 3])
def test_a_group_that_pools_its_views_knows_no_more_than_its_finest(size: int) -> None:
    views = asked((LEVELS[4], LEVELS[0], LEVELS[2], LEVELS[1], LEVELS[3]))

    for group in itertools.combinations(views, size):
        finest = max(group, key=lambda view: view.level)
        assert best_variance(list(group)) == pytest.approx(float(1 / finest.estimate.precision), rel=1e-9)


def test_views_with_noise_of_their_own_each_tell_a_group_more_than_its_finest() -> None:
    """The twin: the finest plus independent noise for everybody, which a group averages out."""
    noise = Basis()
    finest = asked((LEVELS[-1],))[0]
    noise.drawn = 1
    apart = [
        along_path([finest], level, SQUARED, noise)  # type: ignore[arg-type] # only draws in floating point
        for level in (LEVELS[0], LEVELS[1])
    ]

    assert best_variance(apart) < 0.95 * float(1 / apart[1].estimate.precision)
