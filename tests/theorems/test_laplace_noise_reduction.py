"""Theorem (Laplace noise reduction). Releasing a statistic at levels ε_1 < ε_2 < …, the noise of each level drawn
given the one before so that every level is Laplace, is pure ex post with the last level, whatever rule chose levels
and stop. The argument is for pure privacy only.
"""

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from expost import FiniteMechanism, SeededNoise
from expost.accounting.pure import randomized_response_rdp
from expost.mechanisms.laplace_path import IntegerPath, RealPath, _stay
from expost.noise import ScriptedNoise
from tests.theorems.laplace_paths import joint, two_sided

LOW, HIGH = Fraction(3, 10), Fraction(4, 5)
REACH = 80


@pytest.mark.parametrize(
    ("low", "high", "printed"), [(0.3, 0.8, 0.1343622), (0.05, 0.06, 0.6943808), (1, 4, 0.0206430)]
)
def test_the_chance_to_stay_is_the_printed_one(low: float, high: float, printed: float) -> None:
    number = _stay(Fraction(low), Fraction(high), 60)

    assert float(number.low) == pytest.approx(printed, abs=5e-8)
    assert number.high - number.low < Fraction(1, 2**60)


def test_rising_noise_has_the_law_of_the_lower_level() -> None:
    for coarse in (0, 1, 5, 12):
        risen = math.fsum(joint(0.3, 0.8, coarse, fine) for fine in range(-REACH, REACH + 1))

        assert risen == pytest.approx(two_sided(0.3, coarse), rel=1e-12)


def observations(stop_at: int) -> Iterator[tuple[int, int | None]]:
    """What a rule that goes on from the coarse value 'below the bar' lets out, for outputs within reach."""
    for coarse in range(-REACH, REACH + 1):
        if coarse >= stop_at:
            yield coarse, None
        else:
            yield from ((coarse, fine) for fine in range(-REACH, REACH + 1))


def adaptive_law(
    truth: int, stop_at: int, bills: tuple[float, float]
) -> dict[tuple[tuple[int, int | None], float], float]:
    """Stop after the coarse value or go on, as the value says; what lies out of reach is one output with no claim."""
    law: dict[tuple[tuple[int, int | None], float], float] = {}
    for coarse, fine in observations(stop_at):
        if fine is None:
            law[(coarse, fine), bills[0]] = two_sided(0.3, coarse - truth)
        else:
            law[(coarse, fine), bills[1]] = joint(0.3, 0.8, coarse - truth, fine - truth)
    law[(REACH + 1, None), math.inf] = 1 - math.fsum(law.values())
    return law


@pytest.mark.parametrize("stop_at", [-3, 0, 1, 4])
def test_stopping_adaptively_is_pure_ex_post_with_the_last_level(stop_at: int) -> None:
    table = {f"truth {truth}": adaptive_law(truth, stop_at, (0.3, 0.8)) for truth in (0, 1)}

    assert FiniteMechanism(table).is_pure(tolerance=1e-9)


def test_billing_only_the_increment_of_the_last_step_is_not() -> None:
    table = {f"truth {truth}": adaptive_law(truth, 1, (0.3, 0.5)) for truth in (0, 1)}

    assert not FiniteMechanism(table).is_pure(tolerance=1e-9)


def test_billing_the_renyi_curve_of_each_level_is_not_ex_post_renyi() -> None:
    """The negative twin of pure billing: valid for either level alone, false when the output decides."""
    alpha = 5.0
    bills = (randomized_response_rdp(0.3, alpha), randomized_response_rdp(0.8, alpha))

    moments = [
        FiniteMechanism({f"truth {truth}": adaptive_law(truth, stop, bills) for truth in (0, 1)}).moment(alpha)
        for stop in (-2, -1, 0, 1, 2)
    ]

    assert max(moments) > 1.01


@pytest.mark.statistical
@pytest.mark.parametrize("value", [0, 2, -7])
def test_exact_reduction_follows_the_conditional_law(value: int) -> None:
    """2e4 draws, chi-square over cells expecting 20 or more; the limit has a false-alarm rate below 1e-6."""
    noise, draws = SeededNoise(17), 20_000

    fine = IntegerPath().descend(np.full(draws, float(value)), LOW, HIGH, noise).astype(int)

    def score(high: float) -> tuple[float, int]:
        cells = {k: draws * joint(0.3, high, value, k) / two_sided(0.3, value) for k in range(-40, 41)}
        large = {k: expected for k, expected in cells.items() if expected >= 20}
        return sum((np.sum(fine == k) - e) ** 2 / e for k, e in large.items()), len(large)

    (right, cells), (wrong, _) = score(0.8), score(1.0)
    limit = cells + 5 * math.sqrt(2 * cells) + 25
    assert right < limit < wrong


@pytest.mark.statistical
def test_exact_rise_and_descent_have_the_same_joint_law() -> None:
    """2e4 pairs each way; the correlation of independent estimates differs by under 6 standard errors (1e-6)."""
    noise, draws = SeededNoise(19), 20_000
    fine = IntegerPath().start(HIGH, (draws,), noise)
    risen = IntegerPath().rise(fine, LOW, HIGH, noise)
    coarse = IntegerPath().start(LOW, (draws,), noise)
    fallen = IntegerPath().descend(coarse, LOW, HIGH, noise)

    up, down = np.corrcoef(fine, risen)[0, 1], np.corrcoef(fallen, coarse)[0, 1]

    assert abs(up - down) < 6 * math.sqrt(2 * 4 / draws)
    assert np.mean(fine == risen) == pytest.approx(np.mean(fallen == coarse), abs=6 * math.sqrt(0.5 / draws))


@pytest.mark.parametrize(
    ("value", "masses"),
    [
        (0.0, (0.375, 0.3125, 0.0, 0.3125)),
        (0.7, (0.264258, 0.3125, 0.203027, 0.220215)),
        (2.5, (0.107439, 0.3125, 0.490528, 0.089533)),
    ],
)
def test_the_continuous_descent_has_the_printed_masses(value: float, masses: tuple[float, ...]) -> None:
    """The same position within the case, swept over the choice of case by scripted uniforms."""
    grid = (np.arange(100_000) + 0.5) / 100_000
    noise = ScriptedNoise([*grid.tolist(), *[0.5] * grid.size])

    fine = RealPath().descend(np.full(grid.size, value), LOW, HIGH, noise)

    cases = [fine == value, fine < 0, (fine > 0) & (fine < value), fine > value]
    assert [float(np.mean(case)) for case in cases] == pytest.approx(masses, abs=2e-5)


@pytest.mark.statistical
def test_continuous_rise_keeps_the_laplace_law() -> None:
    """1e5 draws; E|V| = 1/rate within 6 standard errors (1e-6), and 5 % off is rejected."""
    noise, draws = SeededNoise(23), 100_000

    risen = RealPath().rise(RealPath().start(HIGH, (draws,), noise), LOW, HIGH, noise)

    size, error = float(np.mean(np.abs(risen))), 1 / 0.3 / math.sqrt(draws)
    assert abs(size - 1 / 0.3) < 6 * error
    assert abs(1.05 * size - 1 / 0.3) > 6 * error
