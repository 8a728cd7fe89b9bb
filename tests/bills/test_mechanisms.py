"""What each mechanism asks of the sampler is what its bill is for: the cost is worked out again from the request.

The sensitivity is the statistic's, the parameter is the one requested and the formula is the theorem's; the odometer's
bill must come to the same, exactly. Half the noise, or twice the rate, is another bill.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from expost.accounting.claim import Spent
from expost.accounting.curve import Linear
from expost.accounting.pure import HALF_PI
from expost.mechanisms import Brownian, Estimate, Exponential, FloatGaussian, FloatLaplace, Gaussian, Laplace
from expost.mechanisms.urn import HALVING
from expost.noise import Integers, ScriptedNoise, SeededNoise
from expost.private import Neighbours, Private
from expost.release import Past
from expost.statistic import Statistic
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.selection import SpanningTree
from expost.tabular.table import Table
from tests.bills.recording import Draw, RecordingNoise, integer_gaussian_cost, is_pure
from tests.unit.examples import ADD, ALPHA, REPLACE, budget, people, rehearsal

DATA = people(0)
L2_SQUARED, L1, SHAPE = Fraction(5), Fraction(7, 2), (2, 3)
STATISTIC: Statistic[Integers] = Statistic(lambda data: np.zeros(SHAPE, np.int64), SHAPE, L2_SQUARED, L1, ADD)
EPSILONS = pytest.mark.parametrize("epsilon", [Fraction(1, 7), Fraction(5, 2), Fraction(40)])


def recorder() -> RecordingNoise:
    """Real draws, written down."""
    return RecordingNoise(SeededNoise(1))


def scripted(*draws: int) -> RecordingNoise:
    """Chosen draws, written down."""
    return RecordingNoise(ScriptedNoise(draws))


@EPSILONS
def test_gaussian_noise_has_the_variance_that_is_billed(epsilon: Fraction) -> None:
    """ρ = Δ²/(2σ²); at the largest ε the noise is too narrow for a Gaussian profile, and none is claimed."""
    noise, odometer = recorder(), rehearsal()

    released = odometer.spend(Gaussian(STATISTIC), DATA, budget(epsilon), Past(), noise)

    (draw,) = noise.asked
    variance = Fraction(draw.parameter)
    assert draw == Draw("discrete_gaussian", variance, SHAPE)
    assert odometer.spent.curve == integer_gaussian_cost(variance, L2_SQUARED)
    assert released.value.variance == variance


@pytest.mark.parametrize("rho", [Fraction(1, 8), Fraction(9, 2), Fraction(1, 3)])
def test_floating_gaussian_noise_has_the_deviation_that_is_billed(rho: Fraction) -> None:
    """ρ = Δ²/(2σ²); two deviations are whole numbers, the third is a root that is rounded to a float."""
    noise, odometer = recorder(), rehearsal()
    mechanism = FloatGaussian[Integers](lambda data: np.zeros(SHAPE), SHAPE, 3, ADD)

    released = odometer.spend(mechanism, DATA, budget(ALPHA * rho), Past(), noise)

    (draw,) = noise.asked
    assert (draw.kind, draw.shape) == ("gaussian", SHAPE)
    assert math.isclose(draw.parameter**2, 9 / (2 * rho), rel_tol=1e-15)
    assert odometer.spent.curve == Linear(Fraction(0), rho, rho)
    assert released.value.variance == 9 / (2 * rho)


def test_each_brownian_step_asks_for_the_noise_of_its_increment() -> None:
    """The bill after step i is Σ Δ²/(2σ_j²), and the estimate is as precise as all noise asked for together."""
    noise, odometer, past = recorder(), rehearsal(), Past[Estimate]()
    for taken, epsilon in enumerate([Fraction(1), Fraction(1, 2), Fraction(6)], start=1):
        past = past.then(odometer.spend(Brownian(Gaussian(STATISTIC)), DATA, budget(epsilon), past, noise))
        variances = noise.parameters("discrete_gaussian")
        costs = [Spent(integer_gaussian_cost(variance, L2_SQUARED)) for variance in variances]

        assert len(noise.asked) == len(variances) == taken
        assert odometer.spent == sum(costs[1:], costs[0])
        assert past.steps[-1].value.precision == sum(1 / variance for variance in variances)


def test_each_floating_brownian_step_asks_for_the_noise_of_its_increment() -> None:
    """Deviations of 3 and 6 at Δ = 2: ρ = 4/18 + 4/72."""
    measure = FloatGaussian[Integers](lambda data: np.zeros(SHAPE), SHAPE, 2, ADD)
    noise, odometer, past = recorder(), rehearsal(), Past[Estimate]()
    rhos = Fraction(4, 18), Fraction(4, 72)
    for rho in rhos:
        past = past.then(odometer.spend(Brownian(measure), DATA, budget(ALPHA * rho), past, noise))

    assert noise.asked == [Draw("gaussian", 3.0, SHAPE), Draw("gaussian", 6.0, SHAPE)]
    assert odometer.spent.curve == Linear(Fraction(0), rhos[0] + rhos[1], rhos[0] + rhos[1])


@EPSILONS
def test_laplace_noise_has_the_scale_that_is_billed(epsilon: Fraction) -> None:
    """ε = Δ₁/scale."""
    noise, odometer = recorder(), rehearsal()

    released = odometer.spend(Laplace(STATISTIC), DATA, budget(epsilon), Past(), noise)

    (draw,) = noise.asked
    scale = Fraction(draw.parameter)
    assert draw == Draw("discrete_laplace", scale, SHAPE)
    assert is_pure(odometer.spent, L1 / scale)
    assert released.value.variance == 2 * scale**2


@pytest.mark.parametrize("epsilon", [Fraction(1, 8), Fraction(7, 4)])
def test_floating_laplace_noise_has_the_scale_that_is_billed(epsilon: Fraction) -> None:
    """ε = Δ₁/scale; both scales are floats."""
    noise, odometer = recorder(), rehearsal()
    mechanism = FloatLaplace[Integers](lambda data: np.zeros(SHAPE), SHAPE, L1, ADD)

    released = odometer.spend(mechanism, DATA, budget(epsilon), Past(), noise)

    (draw,) = noise.asked
    scale = Fraction(draw.parameter)
    assert draw == Draw("laplace", float(L1 / epsilon), SHAPE)
    assert is_pure(odometer.spent, L1 / scale)
    assert released.value.variance == 2 * scale**2


@EPSILONS
def test_a_choice_is_accepted_at_the_rate_that_is_billed(epsilon: Fraction) -> None:
    """A candidate that falls short by d is accepted with probability exp(−ε·d/(2Δ)), ρ = ε²/8, its profile π/2 ρ."""
    noise, odometer, moved = scripted(0, False, 1, False, 2, True), rehearsal(), Fraction(3, 2)
    mechanism = Exponential[Integers](lambda data: np.array([0, 4, 9]), 3, moved, ADD)

    chosen = odometer.spend(mechanism, DATA, budget(epsilon), Past(), noise).value

    exponents = noise.parameters("bernoulli_exp")
    parameter = 2 * moved * exponents[0] / 9
    assert (chosen, noise.parameters("below")) == (2, [Fraction(3)] * 3)
    assert exponents == [parameter * short / (2 * moved) for short in (9, 5, 0)]
    assert odometer.spent.curve == Linear(Fraction(0), parameter**2 / 8, HALF_PI * parameter**2 / 8)
    assert parameter**2 / 8 <= epsilon / ALPHA < parameter**2 / 8 * Fraction(1 + 1e-15)


PLACES = np.arange(8, dtype=np.uint8)
COLUMNS = {"a": PLACES % 2, "b": PLACES % 2, "c": PLACES // 2 % 2, "d": PLACES // 4 % 2}
"""Columns a and b are equal, all others independent: the pair (a, b) lies 8 records off, other pairs 0."""


@pytest.mark.parametrize(("neighbours", "moved"), [(ADD, 1), (REPLACE, 2)])
def test_each_edge_of_a_tree_is_accepted_at_the_rate_that_is_billed(neighbours: Neighbours, moved: int) -> None:
    """Three edges, each an exponential mechanism on scores that a record moves by 1, or by 2 when it is replaced."""
    schema = Schema(tuple(Integer(name, (0, 1), Missing.FALLBACK) for name in COLUMNS), True, neighbours)
    alone = dict.fromkeys(COLUMNS, np.array([4.0, 4.0]))
    tree = SpanningTree(alone, (("a", "b"), ("b", "c"), ("c", "d")), neighbours)
    levels = int(tree.epsilon(budget(3)) * 8 / (2 * moved) / HALVING)
    noise, odometer = scripted(2**levels, True, 2**levels, True, 0, True), rehearsal()

    odometer.spend(tree, Private(Table(schema, COLUMNS), neighbours), budget(3), Past(), noise)

    parameter = tree.epsilon(budget(3))
    chances = [float(chance) / 2**levels for chance in noise.parameters("bernoulli_real")]
    expected = [math.exp(-parameter * short / (2 * moved)) for short in (8, 8)]
    assert noise.parameters("below") == [2**levels + 2, 2**levels + 1, 2**levels]
    assert chances == pytest.approx([*expected, 2.0**-levels], rel=1e-12)
    assert odometer.spent.curve == Linear(Fraction(0), 3 * parameter**2 / 8, HALF_PI * 3 * parameter**2 / 8)
