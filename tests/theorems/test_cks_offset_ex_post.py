"""Theorem (sharp offset): an α-ex-post Rényi bill E becomes a δ-approximate one by adding c, and no less will do.

c = ln(1/δ)/(α−1) + ln(1−1/α) − ln(α)/(α−1), claimed as max(0, E + c). It is the offset of Balle et al. and of
Canonne, Kamath and Steinke for a constant bill, valid for every bill that depends on the output. It does not give the
probabilistic notion, and refinements that need a constant bill are false for one that varies.
"""

import math

import numpy as np
import pytest

from expost.verify import FiniteMechanism

SEARCHES = 3000

Rows = list[tuple[float, float, float]]
"""For each output: its probability under X, under X', and its bill E."""


def offset(alpha: float, delta: float) -> float:
    return math.log(1 / delta) / (alpha - 1) + math.log(1 - 1 / alpha) - math.log(alpha) / (alpha - 1)


def billed(rows: Rows, extra: float = 0.0) -> FiniteMechanism[str, int]:
    claims = [max(0.0, bill + extra) for _, _, bill in rows]
    return FiniteMechanism(
        {x: {(y, claims[y]): row[side] for y, row in enumerate(rows)} for side, x in enumerate(("X", "X'"))}
    )


def random_rows(rng: np.random.Generator, alpha: float) -> Rows:
    """Random laws and bills, shifted so that the moment is 1 unless a bill would fall below 0."""
    size = int(rng.integers(2, 5))
    p, q = rng.dirichlet(np.full(size, rng.choice([0.3, 1.0])), 2) + 1e-9
    bills = rng.uniform(0, rng.choice([1.0, 20.0]), size)
    rows = list(zip((p / p.sum()).tolist(), (q / q.sum()).tolist(), bills.tolist(), strict=True))
    shift = math.log(billed(rows).moment(alpha)) / (alpha - 1)
    return [(a, b, max(0.0, bill + shift)) for a, b, bill in rows]


def extreme_rows(alpha: float, delta: float) -> Rows:
    """All of the moment on one output, at the loss where the bound is sharp."""
    excess = offset(alpha, delta) + math.log(alpha / (alpha - 1))
    rare = math.exp(-(alpha - 1) * excess)
    unlikely = rare * math.exp(-50 - excess)
    return [(rare, unlikely, 50.0), (1 - rare, 1 - unlikely, 200.0)]


def test_the_offset_is_valid_for_every_random_bill() -> None:
    rng = np.random.default_rng(1)
    reached = 0.0
    for _ in range(SEARCHES):
        alpha, delta = float(rng.uniform(1.1, 12)), float(rng.choice([1e-4, 0.01, 0.1, 0.3]))
        rows = random_rows(rng, alpha)
        true = billed(rows, offset(alpha, delta)).approximate_delta()
        assert true <= delta * (1 + 1e-9)
        reached = max(reached, true / delta)
    assert reached > 0.9


@pytest.mark.parametrize(("alpha", "delta"), [(3.0, 0.01), (2.0, 0.05), (20.0, 1e-5), (1.2, 0.1)])
def test_the_offset_is_attained_exactly(alpha: float, delta: float) -> None:
    rows = extreme_rows(alpha, delta)

    assert billed(rows).moment(alpha) == pytest.approx(1, abs=1e-12)
    assert billed(rows, offset(alpha, delta)).approximate_delta() == pytest.approx(delta, rel=1e-11)


@pytest.mark.parametrize(("alpha", "delta"), [(3.0, 0.01), (2.0, 0.05), (20.0, 1e-5)])
def test_any_smaller_offset_is_invalid(alpha: float, delta: float) -> None:
    rows = extreme_rows(alpha, delta)

    assert billed(rows, offset(alpha, delta) - 1e-3).approximate_delta() > delta * (1 + 1e-4)


def test_the_offset_does_not_give_the_probabilistic_notion() -> None:
    alpha, delta = 3.0, 0.01
    rows = extreme_rows(alpha, delta)

    assert billed(rows, offset(alpha, delta)).probabilistic_delta() == pytest.approx(alpha * delta)
    assert billed(rows, math.log(1 / delta) / (alpha - 1)).probabilistic_delta() <= delta


def test_the_offset_at_order_twenty_is_known() -> None:
    assert offset(20, 1e-5) == pytest.approx(0.3969800315, abs=5e-11)


def test_claiming_zero_for_a_tiny_bill_is_valid_only_if_the_bill_is_constant() -> None:
    """Ex ante a divergence of r allows ε = 0 at δ = √(1−e^(−r)); one output with E = 1e-4 can cost 25 times that."""
    tiny, alpha = 1e-4, 2.0
    shortcut = math.sqrt(-math.expm1(-tiny))
    unlikely = 0.5 * math.exp(-tiny) / 2
    rows: Rows = [(0.5, unlikely, tiny), (0.5, 1 - unlikely, 50.0)]
    claiming_zero: Rows = [(p, q, 0.0 if bill == tiny else bill) for p, q, bill in rows]

    assert billed(rows).is_renyi(alpha)
    assert shortcut == pytest.approx(0.0100, abs=5e-5)
    assert billed(claiming_zero).approximate_delta() == pytest.approx(0.2500, abs=5e-5)


def test_a_constant_tiny_bill_does_allow_the_shortcut() -> None:
    rng = np.random.default_rng(2)
    for _ in range(200):
        p, q = rng.dirichlet(np.ones(4), 2)
        divergence = math.log(math.fsum(p**2 / q))
        rows: Rows = [(float(a), float(b), 0.0) for a, b in zip(p, q, strict=True)]
        assert billed(rows).loss("X", "X'").approximate_delta() <= math.sqrt(-math.expm1(-divergence))
