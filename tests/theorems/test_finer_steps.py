"""Gaussian noise on multiples of 1/g is told apart no better than is claimed of it in whole units.

The claim is ρ' = Δ²/(2(σ²−3)) with Δ² and σ² in units, and the law is N_Z(0, g²σ²) in steps: δ(ε) is summed exactly
over all pairs of outputs, for shifts of one and of two coordinates.
"""

from fractions import Fraction

import numpy as np
import pytest

from expost.accounting.claim import Budget
from expost.accounting.gaussian import gaussian_delta
from expost.mechanisms.gaussian import Gaussian
from expost.noise import Floats
from expost.private import Neighbours
from expost.statistic import Statistic

LOSSES = (0.0, 0.1, 0.5, 1.0, 2.0)
STEPS = (2, 3, 8, 64)
VARIANCES = (Fraction(401, 100), Fraction(9, 2), Fraction(10), Fraction(50))


def counts(steps: int, moved: Fraction, cells: int) -> Gaussian[object]:
    """A statistic on this grid; ``moved`` is its squared sensitivity in units."""
    claimed = moved * steps**2
    return Gaussian(
        Statistic(
            lambda _: np.zeros(cells, dtype=np.int64),
            (cells,),
            claimed,
            claimed,
            Neighbours.ADD_REMOVE_PERSON,
            spacing=Fraction(1, steps),
        )
    )


def law(variance: Fraction) -> Floats:
    reach = int(30 * float(variance) ** 0.5)
    weights = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * float(variance)))
    return np.asarray(weights / weights.sum())


def excess(steps: int, variance: Fraction, shifts: tuple[int, ...]) -> float:
    """The largest quotient of the true δ and the claimed one, for a person who moves each coordinate so many steps."""
    moved = Fraction(sum(shift**2 for shift in shifts), steps**2)
    mechanism = counts(steps, moved, len(shifts))
    budget = Budget.of(moved / variance, alpha=2)
    assert mechanism.variance(budget) == variance * steps**2
    rho = mechanism.promise(budget).curve.gaussian
    assert rho is not None
    one, other = np.ones(1), np.ones(1)
    for shift in shifts:
        mine = law(variance * steps**2)
        one, other = np.outer(one, mine).ravel(), np.outer(other, np.roll(mine, shift)).ravel()
    claims = {loss: gaussian_delta(loss, rho) for loss in LOSSES}
    found = {loss: float(np.maximum(one - np.exp(loss) * other, 0).sum()) for loss in LOSSES}
    return max(found[loss] / claim for loss, claim in claims.items() if claim > 1e-12)


@pytest.mark.parametrize("steps", STEPS)
def test_the_claim_in_units_holds_on_a_finer_grid(steps: int) -> None:
    for variance in VARIANCES:
        for shift in {1, steps // 2, steps, 2 * steps}:
            assert excess(steps, variance, (shift,)) <= 1


@pytest.mark.parametrize("shifts", [(1, 1), (2, 3), (4, 4)])
def test_it_holds_for_more_coordinates_than_the_squared_distance_counts(shifts: tuple[int, ...]) -> None:
    assert excess(4, Fraction(21, 5), shifts) <= 1


def test_a_claim_with_the_variance_in_steps_would_be_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    def mixed(self: Gaussian[object], budget: Budget) -> tuple[Fraction, Fraction]:
        return self.variance(budget), self.statistic.l2_squared * self.statistic.spacing**2

    monkeypatch.setattr(Gaussian, "_released", mixed)
    assert excess(2, Fraction(10), (2,)) > 1


def test_a_claim_without_the_smoothing_would_be_too_small() -> None:
    """ρ = Δ²/(2σ²) is what real numbers have; on a lattice some δ exceeds it, if by little on a fine one."""
    mine = law(Fraction(6) * 4)
    losses = np.linspace(0.5, 1.5, 40).tolist()
    true = [float(np.maximum(mine - np.exp(loss) * np.roll(mine, 2), 0).sum()) for loss in losses]
    assert any(each > gaussian_delta(loss, Fraction(1, 12)) for loss, each in zip(losses, true, strict=True))
