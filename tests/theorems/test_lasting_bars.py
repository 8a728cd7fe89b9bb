"""Error bars that nobody planned.

Sums S of independent normal noise whose total variance is T satisfy |S| <= sqrt((T + r) ln((T + r) / (r a**2))) at
every T at once with probability 1 - a, however the next variance was chosen (Robbins 1970).
"""

import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from expost.jobs.asking.lasting import lasting_width
from expost.jobs.asking.planning import FIRST, FURTHER, RECALLED, REFINED
from expost.noise import Floats, SeededNoise

RUNS, LOOKS, LEAST = 20_000, 120, 1.0
CHANCE = 0.05
WIDTH = 1.959963984540054
ALLOWED = CHANCE + 4.75 * math.sqrt(CHANCE * (1 - CHANCE) / RUNS)
"""More misses have a chance below a millionth where a run may miss with CHANCE."""


def mixed(total: Any, variance: float) -> Any:
    """The martingale whose crossing of 1 / a is a miss."""
    spread = LEAST + variance
    return mp.sqrt(LEAST / spread) * mp.exp(total**2 / (2 * spread))


@pytest.mark.parametrize("variance", [0.5, 3, 40])
@pytest.mark.parametrize("total", [0, 1.7, -6])
def test_what_a_further_measurement_adds_leaves_the_martingale_where_it_is(total: float, variance: float) -> None:
    """Its mean over noise of one more unit of variance, whatever was seen, and so whatever chose that unit."""

    def weighted(noise: Any) -> Any:
        return mp.npdf(noise) * mixed(total + noise, variance + 1)

    assert mp.almosteq(mp.quad(weighted, mp.linspace(-60, 60, 25)), mixed(total, variance), rel_eps=1e-10)


@pytest.mark.parametrize("variance", [0.2, 1, 17, 4000])
@pytest.mark.parametrize("chance", [0.5, 0.05, 6e-4])
def test_the_ends_of_an_error_bar_are_where_the_martingale_reaches_one_over_the_chance(
    variance: float, chance: float
) -> None:
    end = lasting_width(variance, LEAST, chance) * math.sqrt(variance)

    assert float(mixed(end, variance)) == pytest.approx(1 / chance, rel=1e-12)


def missing(width_at: Floats) -> float:
    """The share of runs that are wrong at some look, by whoever looks 120 times with a twentieth more at each."""
    totals = 1.05 ** np.arange(LOOKS)
    steps = np.sqrt(np.diff(totals, prepend=0.0))
    sums = np.cumsum(SeededNoise(3).gaussian(1.0, (RUNS, LOOKS)) * steps, axis=1)
    return float(np.mean(np.any(np.abs(sums) > width_at * np.sqrt(totals), axis=1)))


@pytest.mark.statistical
def test_error_bars_hold_for_whoever_looks_as_often_as_they_like() -> None:
    widths = np.array([lasting_width(1.05**look, LEAST, CHANCE) for look in range(LOOKS)])

    assert missing(widths) <= ALLOWED
    assert missing(0.75 * widths) > ALLOWED


@pytest.mark.statistical
def test_error_bars_of_a_single_look_do_not() -> None:
    """The negative twin."""
    assert missing(np.full(LOOKS, WIDTH)) > 4 * CHANCE


def test_all_looks_of_an_answer_share_what_may_be_missed() -> None:
    """Earlier answers that may be enough, the first look, those of the run after it, and those that refine it."""
    halved = sum(0.5**look for look in range(60))

    assert RECALLED + FIRST + (FURTHER + REFINED) * halved <= 1 + 1e-12
    assert RECALLED + FIRST + 2 * (FURTHER + REFINED) * halved > 1
