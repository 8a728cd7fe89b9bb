"""Claim (discrete Laplace noise). On an integer statistic of sensitivity 1 the loss takes two values only, so the Rényi
divergence is that of a randomised response: above the curve of continuous Laplace noise, below the pure bound.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from expost import Budget, FiniteMechanism, Laplace, Neighbours
from expost.accounting.textbook import laplace_rdp
from expost.noise import Integers
from expost.statistic import histogram

MECHANISM: Laplace[Integers] = Laplace(histogram(lambda rows: rows, 1, Neighbours.ADD_REMOVE))
BUDGET = Budget.of(1, alpha=20)
REACH = 60


def law(truth: int, bill: float) -> dict[tuple[int, float], float]:
    """Noise of scale 1, summed exactly; what lies out of reach is one output that claims nothing."""
    q = math.exp(-1.0)
    inside = {(k, bill): (1 - q) / (1 + q) * q ** abs(k - truth) for k in range(-REACH, REACH + 1)}
    return {**inside, (REACH + 1, math.inf): 1 - math.fsum(inside.values())}


def moment(bill: float, alpha: float) -> float:
    return FiniteMechanism({"X": law(0, bill), "X'": law(1, bill)}).moment(alpha)


@pytest.mark.parametrize("alpha", [1.5, 2.0, 5.0, 20.0])
def test_the_promised_curve_is_attained(alpha: float) -> None:
    assert moment(MECHANISM.promise(BUDGET).at(alpha), alpha) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("alpha", [1.5, 2.0, 5.0, 20.0])
def test_the_curve_of_continuous_noise_would_be_too_low(alpha: float) -> None:
    assert moment(laplace_rdp(1, alpha), alpha) > 1


def test_the_scale_is_the_sensitivity_over_epsilon() -> None:
    assert MECHANISM.scale(Budget.of(Fraction(1, 3), alpha=20)) == 3


def test_replacing_a_record_moves_two_cells_and_doubles_the_scale() -> None:
    replaced: Laplace[Integers] = Laplace(histogram(np.asarray, 2, Neighbours.REPLACE_ONE))

    assert replaced.scale(BUDGET) == 2
