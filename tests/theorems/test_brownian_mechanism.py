"""Theorem (Brownian mechanism). Fresh Gaussian increments, weighted by precision, have the joint law of a Brownian
motion observed at falling times; the bill after step i is that of the last level alone.
"""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from expost import Brownian, Budget, FixedOrder, Gaussian, Ladder, Neighbours, Odometer, Past, Private, SeededNoise
from expost.mechanisms import Estimate, FloatGaussian, Measurement
from expost.noise import Floats, Integers
from expost.statistic import Statistic

LEVELS = Ladder.of([Fraction(1, 100), Fraction(1, 10), 1], alpha=20)
TIMES = [1000.0, 100.0, 10.0]
COUNT: Statistic[Integers] = Statistic(
    lambda rows: np.array([len(rows)]), (1,), Fraction(1), Fraction(1), Neighbours.ADD_REMOVE
)


def weights(ladder: Ladder) -> Floats:
    """Row i: what each fresh measurement weighs in estimate i, read off the code itself."""
    variances = [1 / (2 * budget.rho) for budget in ladder.budgets]
    rows = []
    for last in range(len(variances)):
        row = []
        for index in range(len(variances)):
            impulse = [float(index == step) for step in range(last + 1)]
            estimate = Estimate(np.array([impulse[0]]), 1 / variances[0])
            for value, variance in zip(impulse[1:], variances[1:], strict=False):
                estimate = estimate.refine(Measurement(np.array([value]), variance))
            row.append(estimate.values[0] if index <= last else 0.0)
        rows.append(row)
    return np.array(rows)


def test_the_covariance_of_two_estimates_is_the_later_time() -> None:
    fresh = np.diag([float(1 / (2 * budget.rho)) for budget in LEVELS.budgets])

    covariance = weights(LEVELS) @ fresh @ weights(LEVELS).T

    assert covariance == pytest.approx(np.array([[1000, 100, 10], [100, 100, 10], [10, 10, 10]]))


def test_given_the_last_estimate_the_next_follows_the_brownian_bridge() -> None:
    """Slope T_i/T_{i−1} = 0.1 and variance T_i(T_{i−1} − T_i)/T_{i−1} = 9: what the bridge sampler would draw from."""
    fresh = np.diag([float(1 / (2 * budget.rho)) for budget in LEVELS.budgets])
    covariance = weights(LEVELS) @ fresh @ weights(LEVELS).T

    slope = covariance[2, 1] / covariance[1, 1]
    left = covariance[2, 2] - slope * covariance[1, 2]

    assert (slope, left) == (pytest.approx(0.1), pytest.approx(9.0))


def test_given_the_last_estimate_the_older_ones_say_nothing_more() -> None:
    fresh = np.diag([float(1 / (2 * budget.rho)) for budget in LEVELS.budgets])
    precision = np.linalg.inv(weights(LEVELS) @ fresh @ weights(LEVELS).T)

    assert precision[0, 2] == pytest.approx(0, abs=1e-12)


def test_the_bill_after_each_step_is_its_level_exactly() -> None:
    data = Private(np.zeros(5, dtype=np.int64))
    odometer, past = Odometer(rehearsal=True), Past[Estimate]()
    noise = SeededNoise(1)

    bills = []
    for budget in LEVELS.budgets:
        past = past.then(odometer.spend(Brownian(Gaussian(COUNT)), data, budget, past, noise))
        bills.append(past.joint().spent.at(20))

    assert bills == [float(level) for level in LEVELS.levels]


def test_independent_releases_at_the_same_levels_would_cost_the_sum() -> None:
    """The negative twin: forgetting the past instead of refining it pays every level in full."""
    mechanism = Gaussian(COUNT)

    promises = [mechanism.promise(Budget.of(level, alpha=20)) for level in LEVELS.levels]
    total = promises[0] + promises[1] + promises[2]

    assert total.at(20) == pytest.approx(1.11)


@pytest.mark.statistical
def test_the_sampled_estimates_have_the_brownian_covariance() -> None:
    """1e5 paths; a covariance entry off by 5 % lies over 10 standard errors away, false alarms below 1e-6."""
    paths = 100_000
    mechanism: FloatGaussian[None] = FloatGaussian(lambda rows: np.zeros(paths), (paths,), 1.0, Neighbours.ADD_REMOVE)
    noise, past, odometer = SeededNoise(3), Past[Estimate](), Odometer(rehearsal=True)

    for budget in LEVELS.budgets:
        past = past.then(odometer.spend(Brownian(mechanism), Private(None), budget, past, noise))
    sampled = np.cov([step.value.values for step in past.steps])

    for i, early in enumerate(TIMES):
        for j, late in enumerate(TIMES):
            error = np.sqrt((early * late + min(early, late) ** 2) / paths)
            assert abs(sampled[i, j] - min(early, late)) < 6 * error
    assert abs(1.05 * sampled[2, 2] - TIMES[2]) > 6 * np.sqrt(2 * TIMES[2] ** 2 / paths)


def test_two_continuations_of_one_estimate_are_billed_twice() -> None:
    data = Private(np.zeros(5, dtype=np.int64))
    odometer, noise = Odometer(rehearsal=True), SeededNoise(5)
    start = odometer.spend(Brownian(Gaussian(COUNT)), data, Budget.of(Fraction(1, 10), alpha=20), Past(), noise)

    for _ in range(2):
        odometer.spend(Brownian(Gaussian(COUNT)), data, Budget.of(Fraction(1, 5), alpha=20), Past(start), noise)

    assert odometer.spent.at(20) == 0.5


def test_the_pledged_statement_of_a_ladder_grows_with_its_levels() -> None:
    pledge = FixedOrder.at(20, 1e-5)

    stated = [pledge.epsilon(Gaussian(COUNT).promise(Budget.of(level, alpha=20))) for level in LEVELS.levels]

    assert all(low < high for low, high in pairwise(stated))
