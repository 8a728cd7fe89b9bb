"""From ex-post RDP to (ε, δ).

If E[exp((α−1)(L−E))] ≤ 1 then E + ln(1/δ)/(α−1) is a probabilistic claim with δ (Markov), and
max(0, E + ln(1/δ)/(α−1) + ln(1−1/α) − ln(α)/(α−1)) an approximate one; neither offset can be smaller. Choosing the
order at the realised output is not free: split δ over the orders, or mix them before applying Markov.
"""

import math
from collections.abc import Callable, Sequence

import mpmath as mp
import pytest

from expost.accounting.convert import (
    best_linear_order,
    best_order,
    cks_offset,
    half_normal_closed_form,
    half_normal_tuning,
    lambert_tuning,
    lemma_7_offset,
    log_half_normal,
    log_mixture,
    mixture_hockey_stick,
    mixture_tail,
    union_over_orders,
)
from expost.accounting.textbook import zcdp_epsilon
from expost.errors import InvalidValue

DELTA = 1e-5
LADDER = [0.01 * 100 ** (i / 6) for i in range(7)]
ORDERS = [2.0**k for k in range(1, 9)]
WEIGHTS = [1 / 8] * 8

Output = tuple[float, float]
"""P under X, P under X'."""


def moment(table: Sequence[Output], bounds: Sequence[float], alpha: float) -> float:
    return math.fsum(p * math.exp((alpha - 1) * (math.log(p / q) - e)) for (p, q), e in zip(table, bounds, strict=True))


def probabilistic(table: Sequence[Output], claims: Sequence[float]) -> float:
    return math.fsum(p for (p, q), e in zip(table, claims, strict=True) if math.log(p / q) > e)


def approximate(table: Sequence[Output], claims: Sequence[float]) -> float:
    return math.fsum(max(0.0, p - math.exp(e) * q) for (p, q), e in zip(table, claims, strict=True))


def flipped(table: Sequence[Output]) -> list[Output]:
    return [(q, p) for p, q in table]


def mixture(bounds: Sequence[float]) -> Callable[[float], float]:
    return log_mixture(ORDERS, bounds, WEIGHTS)


def test_lemma_7_reproduces_the_published_ladder() -> None:
    claims = [e + lemma_7_offset(20, DELTA) for e in LADDER]

    assert [round(c, 6) for c in claims] == [0.615943, 0.627488, 0.652359, 0.705943, 0.821387, 1.070102, 1.605943]


def test_the_cks_offset_shifts_the_ladder_lower() -> None:
    claims = [e + cks_offset(20, DELTA) for e in LADDER]

    assert [round(c, 6) for c in claims] == [0.406980, 0.418524, 0.443396, 0.496980, 0.612424, 0.861139, 1.396980]


@pytest.mark.parametrize("alpha", [1 + 2.0**-40, 1.001, 1.5, 20, 1e6, 1e15])
@pytest.mark.parametrize("delta", [0.9, 1e-5, 1e-300])
def test_the_offsets_match_high_precision_and_never_fall_below_it(alpha: float, delta: float) -> None:
    with mp.workdps(60):
        a, d = mp.mpf(alpha), mp.mpf(delta)
        lemma_7 = -mp.log(d) / (a - 1)
        cks = lemma_7 + mp.log(1 - 1 / a) - mp.log(a) / (a - 1)

        assert 0 <= lemma_7_offset(alpha, delta) - lemma_7 <= 1e-12 * lemma_7
        assert 0 <= cks_offset(alpha, delta) - cks <= 1e-12 * (lemma_7 + abs(cks))


def test_the_cks_offset_is_attained_so_no_smaller_one_is_valid() -> None:
    alpha, delta = 3.0, 0.01
    offset = cks_offset(alpha, delta)
    loss = offset + math.log(alpha / (alpha - 1))
    q = math.exp(-(alpha - 1) * loss)
    table = [(q, q * math.exp(-50 - loss)), (1 - q, 1 - q * math.exp(-50 - loss))]
    bounds = [50.0, 200.0]

    attained = approximate(table, [e + offset for e in bounds])
    smaller = approximate(table, [e + offset - 0.01 for e in bounds])

    assert moment(table, bounds, alpha) == pytest.approx(1, abs=1e-12)
    assert moment(flipped(table), bounds, alpha) <= 1
    assert attained == pytest.approx(delta, rel=1e-9)
    assert smaller > 1.009 * delta


def test_the_ex_ante_shortcut_to_zero_is_invalid_ex_post() -> None:
    """Ex ante a 2-RDP of r gives (0, √(1−e^{−r}))-DP; on one output with E = 1e−4 that would claim δ = .01."""
    table = [(0.4995, 0.24975), (0.5005, 0.75025)]
    bounds = [1e-4, 200.0]

    shortcut = math.sqrt(-math.expm1(-1e-4))
    truth = approximate(table, [0.0, 200.0])

    assert moment(table, bounds, 2) <= 1
    assert moment(flipped(table), bounds, 2) <= 1
    assert round(shortcut, 4) == 0.0100
    assert truth == pytest.approx(0.2498, abs=5.1e-5)
    assert approximate(table, [max(0.0, e + cks_offset(2, shortcut)) for e in bounds]) <= shortcut


TWO_ORDERS = (1.1, 1.2)
TWO_ORDER_TABLE = [(0.0785, 0.0785 * math.exp(-30)), (0.0698, 0.0698 * math.exp(-30)), (0.8517, 1.0)]
TWO_ORDER_BOUNDS = {1.1: [4.576, 100.0, 100.0], 1.2: [100.0, 16.695, 100.0]}


def test_the_minimum_over_orders_at_the_realised_output_is_invalid() -> None:
    claims = {a: [e + lemma_7_offset(a, 0.1) for e in TWO_ORDER_BOUNDS[a]] for a in TWO_ORDERS}
    minimum = [min(pair) for pair in zip(*claims.values(), strict=True)]

    for alpha in TWO_ORDERS:
        assert moment(TWO_ORDER_TABLE, TWO_ORDER_BOUNDS[alpha], alpha) <= 1
        assert moment(flipped(TWO_ORDER_TABLE), TWO_ORDER_BOUNDS[alpha], alpha) <= 1
        assert probabilistic(TWO_ORDER_TABLE, claims[alpha]) <= 0.1
        assert approximate(TWO_ORDER_TABLE, claims[alpha]) <= 0.1
    assert probabilistic(TWO_ORDER_TABLE, minimum) == pytest.approx(0.1483)
    assert approximate(TWO_ORDER_TABLE, minimum) == pytest.approx(0.12954, abs=5e-6)


def test_union_and_mixture_over_orders_are_valid_where_the_minimum_is_not() -> None:
    weights = [0.5, 0.5]
    rows = list(zip(*TWO_ORDER_BOUNDS.values(), strict=True))

    union = [union_over_orders(TWO_ORDERS, row, weights, 0.1) for row in rows]
    moments = [log_mixture(TWO_ORDERS, row, weights) for row in rows]
    tail = [mixture_tail(log_moment, 0.1, 10.0) for log_moment in moments]
    stick = [mixture_hockey_stick(log_moment, 0.1, 10.0) for log_moment in moments]

    assert probabilistic(TWO_ORDER_TABLE, union) <= 0.1
    assert probabilistic(TWO_ORDER_TABLE, tail) <= 0.1
    assert approximate(TWO_ORDER_TABLE, stick) <= 0.1


def test_the_price_of_choosing_among_five_orders_can_be_fivefold() -> None:
    orders, delta, high = (1.5, 2.0, 3.0, 5.0, 8.0), 0.02, 400.0
    losses = [50 + cks_offset(a, delta) + math.log(a / (a - 1)) for a in orders]
    masses = [delta * a * (1 - 1e-9) for a in orders]
    table = [(m, m * math.exp(-loss)) for m, loss in zip(masses, losses, strict=True)]
    table.append((1 - math.fsum(p for p, _ in table), 1 - math.fsum(q for _, q in table)))
    bounds = {a: [50.0 if a == b else high for b in orders] + [high] for a in orders}
    claims = [[e + cks_offset(a, delta) for e in bounds[a]] for a in orders]

    minimum = [min(column) for column in zip(*claims, strict=True)]

    assert all(moment(table, bounds[a], a) <= 1 for a in orders)
    assert all(approximate(table, row) <= delta for row in claims)
    assert approximate(table, minimum) == pytest.approx(5 * delta, rel=1e-6)


def test_union_and_mixture_reproduce_the_ladder_table() -> None:
    curves = [[alpha * e / 20 for alpha in ORDERS] for e in LADDER]

    union = [round(union_over_orders(ORDERS, c, WEIGHTS, DELTA), 6) for c in curves]
    tail = [round(mixture_tail(mixture(c), DELTA, 1.0), 6) for c in curves]
    stick = [round(mixture_hockey_stick(mixture(c), DELTA, 1.0), 6) for c in curves]

    assert union == [0.171027, 0.244910, 0.364283, 0.535752, 0.783173, 1.181118, 1.706158]
    assert tail == [0.170450, 0.244261, 0.364022, 0.533459, 0.782768, 1.173459, 1.705368]
    assert stick == [0.124199, 0.191980, 0.281138, 0.437208, 0.637257, 0.998122, 1.453304]


def test_the_half_normal_mixture_reproduces_the_ladder_table_and_its_closed_form_is_above() -> None:
    v = half_normal_tuning(0.0005, DELTA)
    rhos = [e / 20 for e in LADDER]

    roots = [mixture_tail(log_half_normal(0, rho, v), DELTA, 1.0) for rho in rhos]
    closed = [half_normal_closed_form(0, rho, v, DELTA) for rho in rhos]

    assert round(v, 2) == 26333.98
    assert [round(e, 6) for e in roots] == [0.161419, 0.238427, 0.354161, 0.527687, 0.787897, 1.178845, 1.768347]
    assert all(root < bound < 1.05 * root for root, bound in zip(roots, closed, strict=True))
    assert closed[0] < half_normal_closed_form(0, rhos[0], 1.1 * v, DELTA)
    assert closed[0] < half_normal_closed_form(0, rhos[0], 0.9 * v, DELTA)


@pytest.mark.parametrize(
    ("alpha", "bound", "delta"),
    [(1.01, 3.0, 0.3), (2.0, 0.1, 0.05), (20.0, 0.01, 1e-5), (1e4, 1.0, 1e-9), (1e10, 0.3, 1e-9), (1 + 1e-9, 7.0, 0.1)],
)
def test_a_mixture_of_one_order_is_that_order(alpha: float, bound: float, delta: float) -> None:
    single = log_mixture([alpha], [bound], [1.0])

    assert mixture_tail(single, delta, 1.0) == pytest.approx(bound + lemma_7_offset(alpha, delta), rel=1e-12)
    assert mixture_hockey_stick(single, delta, 1.0) == pytest.approx(bound + cks_offset(alpha, delta), rel=1e-11)


@pytest.mark.parametrize("rho", [0.0005, 0.01, 1.0])
def test_the_hockey_stick_root_is_the_smallest_that_satisfies_its_condition(rho: float) -> None:
    log_moment = mixture([alpha * rho for alpha in ORDERS])

    def worst(epsilon: float) -> float:
        grid = (math.exp(-12 + 0.01 * i) for i in range(1500))
        return max(math.log(-math.expm1(-z)) - log_moment(epsilon + z) for z in grid)

    epsilon = mixture_hockey_stick(log_moment, 0.01, 1.0)

    assert worst(epsilon) <= math.log(0.01)
    assert worst(epsilon * (1 - 1e-3)) > math.log(0.01)


def test_the_half_normal_moment_is_the_mixture_integral() -> None:
    xi, rho, v, epsilon = 0.1, 0.05, 30.0, 1.7

    def integrand(gap: mp.mpf) -> mp.mpf:
        return 2 * mp.npdf(gap, 0, mp.sqrt(v)) * mp.exp(gap * (epsilon - xi - (gap + 1) * rho))

    oracle = mp.log(mp.quad(integrand, [0, 2, 5, 10, 20, 40, 80]))

    assert log_half_normal(xi, rho, v)(epsilon) == pytest.approx(float(oracle), rel=1e-12)


@pytest.mark.parametrize("delta", [0.999, 0.5, 1e-5, 1e-150])
def test_the_tuning_root_is_the_lambert_function(delta: float) -> None:
    oracle = -mp.lambertw(-(mp.mpf(delta) ** 2) / mp.e, -1).real

    assert lambert_tuning(delta) == pytest.approx(float(oracle), rel=1e-12)


def test_the_best_order_of_a_line_is_a_stationary_point() -> None:
    epsilon, alpha = best_linear_order(0, 0.05, DELTA)

    assert epsilon == pytest.approx(1.308118343, abs=5e-10)
    assert alpha == pytest.approx(14.3058, abs=5e-5)
    assert (2 * alpha - 1) * 0.05 - epsilon + math.log1p(-1 / alpha) == pytest.approx(0, abs=1e-9)
    assert best_order(lambda a: 0.05 * a, DELTA, [12.0, 14.0, 14.3, 15.0, 40.0])[1] == 14.3
    assert best_order(lambda a: 0.05 * a, DELTA, [14.3])[0] >= epsilon


def test_the_plain_zcdp_conversion_is_the_looser_one() -> None:
    assert zcdp_epsilon(0.05, DELTA) == pytest.approx(1.567427129, abs=5e-10)
    assert zcdp_epsilon(0.05, DELTA) > best_linear_order(0, 0.05, DELTA)[0]


def test_a_moment_that_is_not_a_number_makes_no_claim() -> None:
    assert mixture_tail(lambda _: math.nan, DELTA, 1.0) == math.inf
    assert mixture_hockey_stick(lambda _: math.nan, DELTA, 1.0) == math.inf


def test_an_infinite_bound_makes_no_claim_at_its_order() -> None:
    infinite = [math.inf] * 8
    some = [0.01 * a if a < 20 else math.inf for a in ORDERS]

    assert union_over_orders(ORDERS, infinite, WEIGHTS, DELTA) == math.inf
    assert mixture_tail(mixture(infinite), DELTA, 1.0) == math.inf
    assert mixture_hockey_stick(mixture(infinite), DELTA, 1.0) == math.inf
    assert math.isfinite(mixture_hockey_stick(mixture(some), DELTA, 1.0))
    assert best_order(lambda a: math.inf if a > 3 else a, DELTA, [2.0, 4.0])[1] == 2.0


@pytest.mark.parametrize(
    "refused",
    [
        lambda: lemma_7_offset(1, 0.1),
        lambda: lemma_7_offset(math.inf, 0.1),
        lambda: cks_offset(math.nan, 0.1),
        lambda: cks_offset(2, 0.0),
        lambda: cks_offset(2, 1.0),
        lambda: cks_offset(2, math.nan),
        lambda: best_order(lambda _: -0.1, 0.1, [2.0]),
        lambda: best_order(lambda _: math.nan, 0.1, [2.0]),
        lambda: best_order(lambda a: a, 0.1, []),
        lambda: best_linear_order(0, -1, 0.1),
        lambda: union_over_orders([2.0], [0.1], [0.5, 0.5], 0.1),
        lambda: union_over_orders([2.0, 3.0], [0.1, 0.2], [0.6, 0.6], 0.1),
        lambda: union_over_orders([2.0, 1.0], [0.1, 0.2], [0.5, 0.5], 0.1),
        lambda: log_mixture([2.0], [math.nan], [1.0]),
        lambda: log_half_normal(0, 0.1, 0.0),
        lambda: half_normal_tuning(0, 0.1),
        lambda: zcdp_epsilon(math.inf, 0.1),
    ],
)
def test_what_is_not_a_bound_is_refused(refused: Callable[[], object]) -> None:
    with pytest.raises(InvalidValue):
        refused()
