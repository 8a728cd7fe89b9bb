"""Rényi curves of pure mechanisms with a fixed ε.

Any ε-DP mechanism has order-α divergence at most ln((e^{αε}+e^{(1−α)ε})/(1+e^ε))/(α−1), attained by randomised
response and at most αε²/2; Laplace noise has its own smaller curve; the exponential mechanism is ε²/8-zCDP. All
three hold for an ε fixed beforehand only: a ladder of Laplace releases stopped adaptively exceeds its curve.
"""

import math
from collections.abc import Callable

import mpmath as mp
import numpy as np
import pytest
from numpy.typing import NDArray

from expost.accounting.pure import exponential_rho, randomized_response_rdp
from expost.accounting.textbook import laplace_rdp
from expost.errors import InvalidValue

Floats = NDArray[np.float64]

EPSILONS = (1e-12, 1e-6, 1e-3, 0.1, 0.7, 1.0, 5.0, 100.0)
ALPHAS = (1 + 2.0**-30, 1.01, 1.5, 2.0, 5.0, 64.0, 1000.0)


def test_the_known_value() -> None:
    assert randomized_response_rdp(0.7, 5) == pytest.approx(0.599662143, abs=5e-10)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("alpha", ALPHAS)
def test_both_curves_match_high_precision_from_above(epsilon: float, alpha: float) -> None:
    with mp.workdps(80):
        e, a = mp.mpf(epsilon), mp.mpf(alpha)
        response = mp.log((mp.exp(a * e) + mp.exp((1 - a) * e)) / (1 + mp.exp(e))) / (a - 1)
        laplace = mp.log(a * mp.exp((a - 1) * e) + (a - 1) * mp.exp(-a * e)) - mp.log(2 * a - 1)
        laplace /= a - 1

        assert 0 <= randomized_response_rdp(epsilon, alpha) - response <= 1e-12 * response
        assert 0 <= laplace_rdp(epsilon, alpha) - laplace <= 1e-12 * laplace


@pytest.mark.parametrize("epsilon", [0.0, *EPSILONS])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_laplace_is_below_randomised_response_is_below_the_simple_bounds(epsilon: float, alpha: float) -> None:
    response = randomized_response_rdp(epsilon, alpha)

    assert laplace_rdp(epsilon, alpha) <= response * (1 + 1e-13)
    assert response <= min(epsilon, alpha * epsilon**2 / 2) * (1 + 1e-13)


def test_randomised_response_attains_its_curve() -> None:
    epsilon, alpha = 0.7, 5.0
    yes = math.exp(epsilon) / (1 + math.exp(epsilon))
    no = 1 - yes

    attained = math.log(yes**alpha * no ** (1 - alpha) + no**alpha * yes ** (1 - alpha)) / (alpha - 1)

    assert randomized_response_rdp(epsilon, alpha) == pytest.approx(attained, rel=1e-12)


def test_the_quadratic_curve_is_false_output_by_output() -> None:
    """Pure ex-post with ε = .1 or 3; replacing each by αε²/2 breaks the moment."""
    small, large, alpha = 0.1, 3.0, 2.0
    q = -math.expm1(-small) / (math.exp(large) - math.exp(-small))
    table = [(1 - q, (1 - q) * math.exp(-small), small), (q, q * math.exp(large), large)]

    def moment(cost: Callable[[float], float]) -> float:
        terms = [(p, other, cost(e)) for p, other, e in table]
        forward = math.fsum(p**alpha * other ** (1 - alpha) * math.exp((1 - alpha) * c) for p, other, c in terms)
        backward = math.fsum(other**alpha * p ** (1 - alpha) * math.exp((1 - alpha) * c) for p, other, c in terms)
        return max(forward, backward)

    assert q == pytest.approx(0.004961, abs=5e-7)
    assert math.fsum(other for _, other, _ in table) == pytest.approx(1)
    assert moment(lambda e: e) <= 1
    assert moment(lambda e: alpha * e**2 / 2) == pytest.approx(1.08875, abs=5e-6)
    assert moment(lambda e: randomized_response_rdp(e, alpha)) > 1


def _piece(rate: Floats, start: Floats, end: Floats) -> Floats:
    """The integral of e^{rate·u} over [start, end]; empty when the ends are out of order."""
    low, high = start, np.maximum(start, end)
    flat = np.abs(rate) < 1e-12
    safe = np.where(flat, 1.0, rate)
    return np.where(flat, high - low, (np.exp(safe * high) - np.exp(safe * low)) / safe)


def later_moment(y: Floats, first: float, second: float, alpha: float) -> Floats:
    """E[e^{(α−1)L₂} p(y)] at the first release y: the second level's law, seen through the upward kernel.

    Given the second value u, the first is u with probability (first/second)², else u plus Laplace noise.
    """
    gap, stay = alpha - 1, (first / second) ** 2
    edge = 400.0
    pieces = [
        (gap * second, second, -edge, 0.0),
        (gap * second, -second - 2 * gap * second, 0.0, 1.0),
        (-gap * second, -second, 1.0, edge),
    ]
    total = np.zeros_like(y)
    for constant, slope, start, end in pieces:
        scale = second / 2 * math.exp(constant)
        split = np.clip(y, start, end)
        left = np.exp(-first * y) * _piece(np.full_like(y, slope + first), np.full_like(y, start), split)
        right = np.exp(first * y) * _piece(np.full_like(y, slope - first), split, np.full_like(y, end))
        total += scale * (1 - stay) * first / 2 * (left + right)
        inside = (y >= start) & (y < end)
        total += np.where(inside, scale * stay * np.exp(slope * np.where(inside, y, 0.0)), 0.0)
    return total


def stopped_moments(alpha: float, first: float, second: float) -> tuple[float, float, float]:
    """The moment when always stopping at the first level, never, and at the best adaptive choice."""
    y = np.linspace(-150, 151, 301 * 400 + 1)
    step = y[1] - y[0]
    now = first / 2 * np.exp(-first * np.abs(y) + (alpha - 1) * first * (np.abs(y - 1) - np.abs(y)))
    now *= math.exp(-(alpha - 1) * laplace_rdp(first, alpha))
    later = later_moment(y, first, second, alpha) * math.exp(-(alpha - 1) * laplace_rdp(second, alpha))
    ends = float(now[0] + now[-1]) / first
    always, never, best = (float(np.sum(v) * step) for v in (now, later, np.maximum(now, later)))
    return always + ends, never, best


@pytest.mark.parametrize(
    ("alpha", "first", "second", "best"),
    [(2.0, 0.5, 2.0, 1.11326), (5.0, 0.5, 2.0, 1.30008), (20.0, 0.1, 0.2, 1.22009)],
)
def test_the_laplace_curve_is_false_under_adaptive_stopping(
    alpha: float, first: float, second: float, best: float
) -> None:
    always, never, adaptive = stopped_moments(alpha, first, second)

    assert always == pytest.approx(1, abs=2e-5)
    assert never == pytest.approx(1, abs=2e-5)
    assert adaptive == pytest.approx(best, abs=2e-5)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("alpha", [1.1, 2.0, 10.0])
def test_the_exponential_mechanism_is_within_its_curve(epsilon: float, alpha: float) -> None:
    def law(scores: Floats) -> Floats:
        weights = np.exp(epsilon * scores / 2)
        return np.array(weights / weights.sum())

    generator = np.random.Generator(np.random.PCG64(7))
    for _ in range(300):
        scores = generator.uniform(0, 3, size=generator.integers(2, 6))
        p, q = law(scores), law(scores + generator.choice([-1.0, 0.0, 1.0], size=scores.size))
        divergence = math.log(float(np.sum(p**alpha * q ** (1 - alpha)))) / (alpha - 1)
        assert divergence <= alpha * exponential_rho(epsilon)


def test_the_exponential_curve_is_false_for_randomised_response() -> None:
    assert randomized_response_rdp(1, 2) > 2 * exponential_rho(1)


@pytest.mark.parametrize(
    "refused",
    [
        lambda: randomized_response_rdp(-1, 2),
        lambda: randomized_response_rdp(1, 1),
        lambda: randomized_response_rdp(math.nan, 2),
        lambda: laplace_rdp(math.inf, 2),
        lambda: laplace_rdp(1, 0.5),
        lambda: exponential_rho(-0.1),
    ],
)
def test_what_is_not_a_bound_is_refused(refused: Callable[[], object]) -> None:
    with pytest.raises(InvalidValue):
        refused()
