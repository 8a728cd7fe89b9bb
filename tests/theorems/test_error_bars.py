"""Error bars at every look: estimates along a Brownian path stay within c standard errors at all looks at once.

The errors u_i, in standard errors, are a Gauss-Markov chain of correlation √(T_i/T_{i+1}); c solves P(|u_i| ≤ c for all
i) = 1 − a. Integer noise is within one step of a Gaussian under the coupling of quantiles. Compared with the normal law
of two and of three looks, with figures worked out elsewhere, and with runs of the mechanism, whose comparisons go wrong
with probability 1e-6.
"""

import math
from fractions import Fraction
from functools import cache

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from expost.errors import InvalidValue
from expost.intervals import ErrorBars, missed, steady_width
from expost.ladder import Ladder
from expost.mechanisms.brownian import Brownian, Estimate
from expost.mechanisms.gaussian import Gaussian
from expost.noise import Floats, Integers, SeededNoise
from expost.release import Past
from expost.statistic import Statistic, histogram
from tests.unit.examples import ADD, one_sentence

NAIVE = 1.959963984540054
STEP = 100 ** (1 / 6)
CELLS, FALSE_ALARM = 4000, 1e-6
LADDER = Ladder.geometric(0.01, 1, 7, alpha=20)


def rising(ratio: float | Fraction, looks: int) -> tuple[Fraction, ...]:
    return tuple(Fraction(ratio) ** place for place in range(looks))


@pytest.mark.parametrize(
    ("ratio", "looks", "miss", "width"),
    [
        (STEP, 7, "0.1", 2.33891),
        (STEP, 7, "0.05", 2.60924),
        (STEP, 7, "0.01", 3.14596),
        (2, 1, "0.05", 1.95996),
        (2, 2, "0.05", 2.17827),
        (2, 3, "0.05", 2.31177),
        (2, 5, "0.05", 2.48422),
        (2, 7, "0.05", 2.59866),
        (1.5, 10, "0.05", 2.65021),
        (1.25, 20, "0.05", 2.77816),
    ],
)
def test_widths_are_those_worked_out_elsewhere(ratio: float, looks: int, miss: str, width: float) -> None:
    assert steady_width(rising(ratio, looks), Fraction(miss)) == pytest.approx(width, abs=1e-5)


@pytest.mark.parametrize(("looks", "miss"), [(5, 0.1751), (7, 0.2302), (13, 0.3745)])
def test_bars_for_a_single_look_miss_far_more_often_when_one_looks_again(looks: int, miss: float) -> None:
    assert missed(NAIVE, [1 / math.sqrt(STEP)] * (looks - 1)) == pytest.approx(miss, abs=1e-4)


@pytest.mark.parametrize("precisions", [(1, 2), (1, 1.01), (1, 50), (1, 3, 4), (2, 2.5, 40)])
@pytest.mark.parametrize("width", [0.5, 1.96, 3.0])
def test_the_chance_of_a_miss_is_that_of_the_normal_law(precisions: tuple[float, ...], width: float) -> None:
    times = np.sqrt(np.array(precisions))
    correlation = np.minimum.outer(times, times) / np.maximum.outer(times, times)
    ends, law = np.full(len(times), width), stats.multivariate_normal
    stays = law.cdf(ends, None, correlation, maxpts=4_000_000, abseps=1e-10, releps=1e-10, lower_limit=-ends)

    assert missed(width, (times[:-1] / times[1:]).tolist()) == pytest.approx(1 - stays, abs=2e-7)


@pytest.mark.parametrize("variance", [4.01, 5, 9, 40, 400])
def test_integer_noise_is_within_one_step_of_a_gaussian(variance: float) -> None:
    """By quantiles: P(X ≥ k) ≤ P(Z ≥ k) ≤ P(X ≥ k − 1), for every k from 1 on, and by symmetry below."""
    with mpmath.workdps(60):
        spread = mpmath.mpf(variance)
        terms = [mpmath.exp(-(mpmath.mpf(k) ** 2) / (2 * spread)) for k in range(int(40 * math.sqrt(variance)))]
        total = 2 * mpmath.fsum(terms) - 1
        for least in range(1, int(12 * math.sqrt(variance))):
            here = mpmath.fsum(terms[least:]) / total
            above, below = (mpmath.ncdf(-k / mpmath.sqrt(spread)) for k in (least, least - 1))
            assert above * (1 - mpmath.mpf(10) ** -24) <= here <= below


@cache
def looks(spacing: Fraction) -> tuple[ErrorBars, tuple[Estimate, ...], Integers]:
    """Estimates of many counts at every rung, with noise of their own each, and the truth."""
    truth = np.arange(CELLS, dtype=np.int64) % 97
    counts: Statistic[NDArray[np.int64]] = Statistic(
        lambda _: truth * spacing.denominator, (CELLS,), Fraction(1, spacing**2), Fraction(1, spacing), ADD, "counts",
        spacing,
    )  # fmt: skip
    measure, noise, past = Gaussian(counts), SeededNoise(11), list[Estimate]()
    for budget in LADDER.budgets:
        fresh = measure.sample(truth, budget, Past(), noise)
        past.append(past[-1].refine(fresh) if past else Estimate(fresh.values, 1 / fresh.variance))
    return ErrorBars.planned(measure, LADDER), tuple(past), truth


def ever_missed(bars: ErrorBars, estimates: tuple[Estimate, ...], truth: Integers, width: float) -> int:
    """Of how many counts some estimate is off by more than this many standard errors and a step."""
    off = [np.abs(each.values - truth) > width * each.std + float(bars.unit) for each in estimates]
    return int(np.any(off, axis=0).sum())


@pytest.mark.parametrize("spacing", [Fraction(1), Fraction(1, 2**16)], ids=["records", "persons"])
def test_all_looks_of_a_run_hold_as_often_as_is_said_and_naive_bars_do_not(spacing: Fraction) -> None:
    bars, estimates, truth = looks(spacing)

    held = ever_missed(bars, estimates, truth, bars.width)
    naive = ever_missed(bars, estimates, truth, NAIVE)

    assert bars.width == pytest.approx(2.60924, abs=1e-4)
    assert stats.binom.sf(held - 1, CELLS, 0.05) > FALSE_ALARM
    assert stats.binom.sf(naive - 1, CELLS, 0.05) < FALSE_ALARM
    assert held > 0.5 * 0.05 * CELLS


def test_whoever_stops_where_the_estimate_looks_farthest_off_is_still_right() -> None:
    bars, estimates, truth = looks(Fraction(1))
    ends = [bars.around(each) for each in estimates]
    far: Floats = np.array([np.abs(each.values - truth) / each.std for each in estimates])
    stop = far.argmax(axis=0)

    low, high = (np.array([end[side] for end in ends])[stop, np.arange(CELLS)] for side in (0, 1))
    outside = int(((truth < low) | (truth > high)).sum())

    assert stats.binom.sf(outside - 1, CELLS, 0.05) > FALSE_ALARM


def test_bars_of_all_counts_together_are_wider() -> None:
    measure = Gaussian(histogram(lambda codes: codes, 20, ADD))
    alone, together = (ErrorBars.planned(measure, LADDER, together=each) for each in (False, True))

    assert together.width == pytest.approx(steady_width(alone.precisions, Fraction(5, 2000)))
    assert together.width > alone.width + 0.8


def test_bars_of_a_brownian_run_take_its_estimates() -> None:
    measure = Gaussian(histogram(lambda codes: codes, 3, ADD))
    bars, mechanism = ErrorBars.planned(measure, LADDER), Brownian(measure)
    first = mechanism.sample(np.arange(3), LADDER.budgets[0], Past(), SeededNoise(1))

    low, high = bars.around(first)

    assert np.allclose(high - low, 2 * bars.half(first))
    with pytest.raises(InvalidValue, match="was not planned") as refused:
        bars.around(Estimate(first.values, first.precision * 2))
    assert one_sentence(refused.value)


@pytest.mark.parametrize("precisions", [(), (Fraction(2), Fraction(1)), (Fraction(1), Fraction(1)), (Fraction(0),)])
def test_precisions_that_do_not_rise_are_refused(precisions: tuple[Fraction, ...]) -> None:
    with pytest.raises(InvalidValue, match="rise from one to the next"):
        ErrorBars(precisions, Fraction(19, 20))


def test_noise_as_small_as_a_count_is_refused() -> None:
    with pytest.raises(InvalidValue, match="end the ladder lower"):
        ErrorBars.planned(Gaussian(histogram(lambda codes: codes, 3, ADD)), Ladder.geometric(1, 1000, 4, alpha=20))
