"""What a path of Laplace noise asks for is what its bill is for: rates are levels over sensitivity, at every turn."""

from fractions import Fraction

import numpy as np
import pytest

from expost.accounting.curve import Curve, Linear
from expost.mechanisms import IntegerPath, Measurement, NoiseReduction, RealPath
from expost.mechanisms.laplace_path import Kernel
from expost.noise import Integers, Noise, ScriptedNoise, SeededNoise
from expost.release import Past
from expost.statistic import Statistic
from tests.bills.recording import Draw, RecordingKernel, RecordingNoise, descent_chances, rise_chance
from tests.unit.examples import ADD, budget, people, rehearsal

DATA = people(0)
L1, SHAPE = Fraction(5, 2), (2, 2)
STATISTIC: Statistic[Integers] = Statistic(lambda data: np.zeros(SHAPE, np.int64), SHAPE, Fraction(6), L1, ADD)
ONE_CELL: Statistic[Integers] = Statistic(lambda data: np.zeros(1, np.int64), (1,), Fraction(6), L1, ADD)
LEVELS = Fraction(1, 2), Fraction(2), Fraction(5)
KERNELS = pytest.mark.parametrize("kernel", [IntegerPath(), RealPath()])


def climb(mechanism: NoiseReduction[Integers], noise: Noise) -> list[tuple[Curve, Fraction]]:
    """Every level in turn through one odometer: the bill after each, and the variance it is said to have."""
    odometer, past, below = rehearsal(), Past[Measurement](), Fraction(0)
    taken = []
    for level in LEVELS:
        past = past.then(odometer.spend(mechanism, DATA, budget(level - below), past, noise))
        taken.append((odometer.spent.curve, past.steps[-1].value.variance))
        below = level
    return taken


def level(rate: Fraction) -> tuple[Curve, Fraction]:
    """What noise of a rate costs, whatever came before, and its variance: ξ = Δ₁·rate and 2/rate²."""
    return Linear(L1 * rate, Fraction(0)), 2 / rate**2


@KERNELS
def test_on_demand_each_level_is_drawn_at_the_rate_that_is_billed(kernel: Kernel) -> None:
    recorded = RecordingKernel(kernel)

    taken = climb(NoiseReduction(STATISTIC, recorded), SeededNoise(2))

    start, low, high, lower, higher = recorded.rates
    assert recorded.ways == ["start", "descend", "descend"]
    assert (low, lower) == (start, high)
    assert taken == [level(rate) for rate in (start, high, higher)]


@KERNELS
def test_from_a_fixed_path_each_level_is_drawn_at_the_rate_that_is_billed(kernel: Kernel) -> None:
    """The whole path is drawn at the first level, finest first."""
    recorded = RecordingKernel(kernel)

    taken = climb(NoiseReduction(STATISTIC, recorded, LEVELS), SeededNoise(2))

    finest, middle, below, coarsest, low = recorded.rates
    assert recorded.ways == ["start", "rise", "rise"]
    assert (below, low) == (finest, middle)
    assert taken == [level(rate) for rate in (coarsest, middle, finest)]


def test_exact_noise_of_a_rate_is_asked_for_at_that_rate() -> None:
    noise = RecordingNoise(SeededNoise(3))

    climb(NoiseReduction(STATISTIC, IntegerPath()), noise)

    assert noise.asked[0] == Draw("discrete_laplace", L1 / LEVELS[0], SHAPE)


def test_floating_noise_of_a_rate_is_asked_for_at_that_rate() -> None:
    """Going down asks for uniform numbers only; how they are used is for the law of the values to show."""
    noise = RecordingNoise(SeededNoise(3))

    climb(NoiseReduction(STATISTIC, RealPath()), noise)

    assert noise.asked == [Draw("laplace", float(L1 / LEVELS[0]), SHAPE), *[Draw("uniform", 1, SHAPE)] * 4]


@KERNELS
def test_a_fixed_path_rises_by_noise_of_the_lower_rate(kernel: Kernel) -> None:
    noise = RecordingNoise(SeededNoise(3))

    climb(NoiseReduction(STATISTIC, kernel, LEVELS), noise)

    kinds = {"discrete_laplace", "laplace"}
    scales = [float(draw.parameter) for draw in noise.asked if draw.kind in kinds]
    assert scales == [float(L1 / level) for level in reversed(LEVELS)]


def test_a_fixed_path_stays_with_the_chance_of_its_two_rates() -> None:
    noise = RecordingNoise(SeededNoise(3))

    climb(NoiseReduction(ONE_CELL, IntegerPath(), LEVELS), noise)

    rates = [level / L1 for level in LEVELS]
    expected = [rise_chance(rates[1], rates[2]), rise_chance(rates[0], rates[1])]
    assert [float(chance) for chance in noise.parameters("bernoulli_real")] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("coins", "draws", "rates"),
    [
        ([1], [], []),
        ([0, 1], [0], [LEVELS[0] + LEVELS[1]]),
        ([0, 0, 1], [0], [LEVELS[1] - LEVELS[0]]),
        ([0, 0, 0], [0], [LEVELS[0] + LEVELS[1]]),
    ],
    ids=["stay", "cross", "fall", "beyond"],
)
@pytest.mark.parametrize("value", [3, -7])
def test_exact_noise_goes_down_by_the_chances_and_rates_of_its_two_levels(
    value: int, coins: list[int], draws: list[int], rates: list[Fraction]
) -> None:
    """The chances are sums over the joint law of both levels; further draws are geometric, at the rates' sum or gap."""
    noise, odometer = RecordingNoise(ScriptedNoise([value, *coins, *draws])), rehearsal()
    mechanism, past = NoiseReduction(ONE_CELL, IntegerPath()), Past[Measurement]()

    for epsilon in (LEVELS[0], LEVELS[1] - LEVELS[0]):
        past = past.then(odometer.spend(mechanism, DATA, budget(epsilon), past, noise))

    chances = descent_chances(value, LEVELS[0] / L1, LEVELS[1] / L1)
    asked = [float(chance) for chance in noise.parameters("bernoulli_real")]
    assert asked == pytest.approx(chances[: len(coins)], rel=1e-12)
    assert noise.parameters("discrete_laplace")[1:] == [L1 / rate for rate in rates]


def test_a_short_fall_is_drawn_by_rejection_at_the_gap_of_the_rates() -> None:
    """Where falling is nearly uniform: a place among |value| + 1, accepted with probability exp(−gap·place)."""
    noise, odometer = RecordingNoise(ScriptedNoise([1, 0, 0, 1, 1, True])), rehearsal()
    mechanism, past = NoiseReduction(ONE_CELL, IntegerPath()), Past[Measurement]()

    for epsilon in (LEVELS[0], LEVELS[1] - LEVELS[0]):
        past = past.then(odometer.spend(mechanism, DATA, budget(epsilon), past, noise))

    assert noise.asked[-2:] == [Draw("below", 2, ()), Draw("bernoulli_exp", (LEVELS[1] - LEVELS[0]) / L1, ())]
    assert past.steps[-1].value.values.tolist() == [1.0]
