"""Claim (one order, many orders): the order that converts a bill must not be chosen from the output it bills.

A mechanism may be α-ex-post Rényi private with its own bill E_α for every α in a set A, and each bill alone converts
to a δ-notion with an offset c_α(δ). Their minimum at the realised output does not: its δ can reach the sum of all |A|
of them. Valid instead, all fixed before the run: one order; a union, min over α of E_α + c_α(w_α δ) with Σ w_α = 1; a
mixture, Markov's inequality on Σ w_α e^((α−1)(L−E_α)); or, on a fixed ladder of stops whose i-th prefix is (ε_i,
δ_i)-DP, the union Σ δ_i over its levels.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar

from expost.verify import FiniteMechanism

ORDERS = (1.5, 2.0, 3.0, 5.0, 8.0)
DELTA = 0.02
WEIGHT = 1 / len(ORDERS)

Floats = NDArray[np.float64]
Offset = Callable[[float, float], float]


def markov(alpha: float, delta: float) -> float:
    """The offset to the probabilistic notion, and so to the approximate one."""
    return math.log(1 / delta) / (alpha - 1)


def sharp(alpha: float, delta: float) -> float:
    """The smaller offset to the approximate notion only."""
    return markov(alpha, delta) + math.log(1 - 1 / alpha) - math.log(alpha) / (alpha - 1)


class Bills:
    """Two laws, and one bill per order and output, shifted so that each order's moment is 1."""

    def __init__(self, p: Floats, q: Floats, bills: Mapping[float, Floats]) -> None:
        self.p, self.q = p, q
        self.bills = {alpha: self._valid(alpha, bill) for alpha, bill in bills.items()}

    def claiming(self, claims: Sequence[float] | Floats) -> FiniteMechanism[str, int]:
        epsilons = [max(0.0, float(claim)) for claim in claims]
        laws = {"X": self.p, "X'": self.q}
        return FiniteMechanism(
            {x: {(y, epsilons[y]): float(law[y]) for y in range(len(law))} for x, law in laws.items()}
        )

    def converted(self, offset: Offset, share: float = 1.0) -> dict[float, Floats]:
        return {alpha: bill + offset(alpha, DELTA * share) for alpha, bill in self.bills.items()}

    def _valid(self, alpha: float, bill: Floats) -> Floats:
        valid: Floats = np.maximum(bill + math.log(self.claiming(bill).moment(alpha)) / (alpha - 1), 0)
        return valid


def least(converted: Mapping[float, Floats]) -> Floats:
    smallest: Floats = np.min(list(converted.values()), axis=0)
    return smallest


def dense_bills(rng: np.random.Generator) -> Bills:
    p, q = rng.dirichlet(np.full(5, 0.5), 2) + 1e-6
    return Bills(p / p.sum(), q / q.sum(), {alpha: 30 + rng.uniform(0, 3, 5) for alpha in ORDERS})


def adversarial_bills(rng: np.random.Generator) -> Bills:
    """One unlucky output per order, where only that order bills little."""
    rare = np.array([alpha * DELTA for alpha in ORDERS]) * rng.uniform(0.8, 1.0, len(ORDERS))
    losses = rng.uniform(40, 60, len(ORDERS))
    far = 300.0
    bills = {alpha: np.full(len(ORDERS) + 1, far) + rng.uniform(0, 9) for alpha in ORDERS}
    for y, bill in enumerate(bills.values()):
        bill[y] = losses[y]
    unlikely = rare * np.exp(-losses)
    return Bills(np.append(rare, 1 - rare.sum()), np.append(unlikely, 1 - unlikely.sum()), bills)


def every_bill(seed: int, count: int) -> list[Bills]:
    rng = np.random.default_rng(seed)
    return [draw(rng) for _ in range(count) for draw in (dense_bills, adversarial_bills)]


def test_the_minimum_of_two_valid_bounds_has_a_larger_delta() -> None:
    p = [0.0785, 0.0698, 1 - 0.0785 - 0.0698]
    q = [0.0785 * math.exp(-30), 0.0698 * math.exp(-30)]
    laws = {"X": p, "X'": [*q, 1 - sum(q)]}

    def claiming(claims: list[float]) -> FiniteMechanism[str, int]:
        return FiniteMechanism({x: {(y, claims[y]): law[y] for y in range(3)} for x, law in laws.items()})

    low, high = [4.576, 100.0, 100.0], [100.0, 16.695, 100.0]
    low_converted = [epsilon + markov(1.1, 0.1) for epsilon in low]
    high_converted = [epsilon + markov(1.2, 0.1) for epsilon in high]
    minimum = claiming(list(map(min, low_converted, high_converted)))

    assert (markov(1.1, 0.1), markov(1.2, 0.1)) == pytest.approx((23.02585, 11.51293), abs=5e-6)
    assert claiming(low).moment(1.1) == pytest.approx(0.997848, abs=5e-7)
    assert claiming(high).moment(1.2) == pytest.approx(0.998879, abs=5e-7)
    assert claiming(low_converted).probabilistic_delta() == 0.0785
    assert claiming(high_converted).probabilistic_delta() == 0.0698
    assert claiming(low_converted).approximate_delta() == pytest.approx(0.07137, abs=5e-6)
    assert claiming(high_converted).approximate_delta() == pytest.approx(0.05817, abs=5e-6)
    assert minimum.probabilistic_delta() == pytest.approx(0.1483, abs=1e-12)
    assert minimum.approximate_delta() == pytest.approx(0.12954, abs=5e-6)


def test_the_minimum_over_five_orders_reaches_five_deltas() -> None:
    """Each order puts its whole moment on one output, at the loss where its offset is exactly sharp."""
    rare = np.array([alpha * DELTA for alpha in ORDERS])
    excess = np.array([sharp(alpha, DELTA) + math.log(alpha / (alpha - 1)) for alpha in ORDERS])
    unlikely = rare * np.exp(-50 - excess)
    bills = {alpha: np.full(6, 200.0) for alpha in ORDERS}
    for y, bill in enumerate(bills.values()):
        bill[y] = 50.0
    table = Bills(np.append(rare, 1 - rare.sum()), np.append(unlikely, 1 - unlikely.sum()), bills)

    converted = table.converted(sharp)

    for alpha, claims in converted.items():
        assert table.claiming(bills[alpha]).moment(alpha) == pytest.approx(1, abs=1e-12)
        assert table.claiming(claims).approximate_delta() == pytest.approx(DELTA, rel=1e-12)
    assert table.claiming(least(converted)).approximate_delta() == pytest.approx(5 * DELTA, rel=1e-12)


def test_each_order_alone_is_valid() -> None:
    for table in every_bill(1, 40):
        for alpha, bill in table.bills.items():
            assert table.claiming(bill).is_renyi(alpha)
        for claims in table.converted(markov).values():
            assert table.claiming(claims).probabilistic_delta() <= DELTA
        for claims in table.converted(sharp).values():
            assert table.claiming(claims).approximate_delta() <= DELTA


def test_the_minimum_over_orders_is_found_invalid_on_random_tables() -> None:
    tables = every_bill(1, 40)

    probabilistic = [each.claiming(least(each.converted(markov))).probabilistic_delta() for each in tables]
    approximate = [each.claiming(least(each.converted(sharp))).approximate_delta() for each in tables]

    assert max(approximate) > 4 * DELTA
    assert max(probabilistic) <= len(ORDERS) * DELTA
    assert max(approximate) <= len(ORDERS) * DELTA


def test_a_bill_that_does_not_depend_on_the_output_may_take_the_minimum() -> None:
    """Ex ante the best order is a constant, so one conversion is used, not many."""
    rng = np.random.default_rng(2)
    for _ in range(40):
        p, q = rng.dirichlet(np.ones(5), 2)
        table = Bills(p, q, {alpha: np.full(5, 9.0) for alpha in ORDERS})
        assert table.claiming(least(table.converted(sharp))).approximate_delta() <= DELTA


def test_the_union_over_orders_is_valid() -> None:
    for table in every_bill(3, 60):
        assert table.claiming(least(table.converted(markov, WEIGHT))).probabilistic_delta() <= DELTA
        assert table.claiming(least(table.converted(sharp, WEIGHT))).approximate_delta() <= DELTA


def log_mixture(epsilon: float, bills: Sequence[float]) -> float:
    """ln Σ_k w_k e^((α_k−1)(ε−E_k))."""
    terms = [(alpha - 1) * (epsilon - bill) for alpha, bill in zip(ORDERS, bills, strict=True)]
    return float(np.logaddexp.reduce(terms)) + math.log(WEIGHT)


def mixture_probabilistic(bills: Sequence[float], start: float) -> float:
    """The ε at which the mixture is 1/δ; ``start`` is the union's ε, where it is no less."""
    return float(brentq(lambda e: log_mixture(e, bills) + math.log(DELTA), -999, start + 1e-9, xtol=1e-13))


def mixture_approximate(bills: Sequence[float], start: float) -> float:
    """The smallest ε at which no loss ε+z makes (1 − e^(−z)) exceed δ times the mixture."""

    def log_worst(epsilon: float) -> float:
        def excess(z: float) -> float:
            return log_mixture(epsilon + z, bills) - math.log(-math.expm1(-z))

        return -float(minimize_scalar(excess, bounds=(1e-9, 50), method="bounded", options={"xatol": 1e-9}).fun)

    return float(brentq(lambda e: log_worst(e) - math.log(DELTA), -99, start + 1e-6, xtol=1e-10))


def mixed(table: Bills, offset: Offset, root: Callable[[Sequence[float], float], float]) -> tuple[Floats, Floats]:
    union = least(table.converted(offset, WEIGHT))
    bills = np.array(list(table.bills.values())).T.tolist()
    return np.array([root(bill, float(start)) for bill, start in zip(bills, union, strict=True)]), union


def test_the_mixture_over_orders_is_valid_and_below_the_union_in_the_probabilistic_notion() -> None:
    for table in every_bill(4, 30):
        mixture, union = mixed(table, markov, mixture_probabilistic)
        assert table.claiming(mixture).probabilistic_delta(tolerance=1e-9) <= DELTA
        assert np.all(mixture <= union + 1e-9)


def test_the_mixture_over_orders_is_valid_and_below_the_union_in_the_approximate_notion() -> None:
    for table in every_bill(5, 20):
        mixture, union = mixed(table, sharp, mixture_approximate)
        assert table.claiming(mixture).approximate_delta() <= DELTA * (1 + 1e-6)
        assert np.all(mixture <= union + 1e-6)


def test_weights_that_sum_to_more_than_one_are_invalid() -> None:
    """The union with weight 1 for every order is the minimum again."""
    table = adversarial_bills(np.random.default_rng(6))

    assert table.claiming(least(table.converted(sharp, WEIGHT))).approximate_delta() <= DELTA
    assert table.claiming(least(table.converted(sharp, 1.0))).approximate_delta() > DELTA


def concentrated(rng: np.random.Generator, xi: float) -> FiniteMechanism[str, int]:
    """Random laws whose ρ depends on the output, scaled up until every order holds."""
    p, q = rng.dirichlet(np.ones(4), 2)
    rhos = rng.uniform(0.01, 1, 4)
    while True:
        laws = {"X": p, "X'": q}
        table = {x: {(y, float(rhos[y])): float(law[y]) for y in range(4)} for x, law in laws.items()}
        mechanism = FiniteMechanism(table)
        if mechanism.is_zcdp(xi):
            return mechanism
        rhos = rhos * 1.2


def reclaimed(mechanism: FiniteMechanism[str, int], claim: Callable[[float], float]) -> FiniteMechanism[str, int]:
    return FiniteMechanism(
        {x: {(y, claim(rho)): p for (y, rho), p in row.items()} for x, row in mechanism.table.items()}
    )


def half_normal(rho: float, *, xi: float, spread: float) -> float:
    """The closed form of the mixture over all orders: with D = 1+2ρv, ε = ξ + ρ + √((2D/v)·ln(√D/δ))."""
    d = 1 + 2 * rho * spread
    return xi + rho + math.sqrt(2 * d / spread * math.log(math.sqrt(d) / DELTA))


@pytest.mark.parametrize("spread", [0.5, 5.0, 500.0])
def test_the_half_normal_mixture_over_all_orders_is_valid(spread: float) -> None:
    xi, rng = 0.05, np.random.default_rng(7)

    for _ in range(40):
        converted = reclaimed(concentrated(rng, xi), lambda rho: half_normal(rho, xi=xi, spread=spread))
        assert converted.probabilistic_delta() <= DELTA


def test_the_best_order_for_the_realised_rho_is_invalid_where_the_half_normal_mixture_is_valid() -> None:
    """Three rare outputs, each just above ρ + 2√(ρ ln(1/δ)) for its own ρ, and far apart in scale."""
    log = math.log(1 / DELTA)
    rhos = [1e-6, 1e-3, 1.0]
    losses = [rho + 2.0001 * math.sqrt(rho * log) for rho in rhos]
    rare = [0.9 * DELTA] * 3
    unlikely = [p * math.exp(-loss) for p, loss in zip(rare, losses, strict=True)]
    laws = {"X": [*rare, 1 - sum(rare)], "X'": [*unlikely, 1 - sum(unlikely)]}
    mechanism = FiniteMechanism(
        {x: {(y, rho): law[y] for y, rho in enumerate([*rhos, 99.0])} for x, law in laws.items()}
    )

    best = reclaimed(mechanism, lambda rho: rho + 2 * math.sqrt(rho * log))
    mixture = reclaimed(mechanism, lambda rho: half_normal(rho, xi=0.0, spread=1000.0))

    assert mechanism.is_zcdp(0)
    assert best.probabilistic_delta() == pytest.approx(2.7 * DELTA)
    assert mixture.probabilistic_delta() <= DELTA


Path = tuple[int, ...]


class Ladder:
    """Three levels of two answers each with random laws, and an ε_i with its exact δ_i for each prefix."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.laws: dict[Path, tuple[float, float]] = {(): (1.0, 1.0)}
        for level in range(3):
            for path in product((0, 1), repeat=level):
                p, q = self.laws[path]
                for answer, (a, b) in enumerate(zip(*rng.dirichlet(np.full(2, 4.0), 2).tolist(), strict=True)):
                    self.laws[*path, answer] = (p * a, q * b)
        self.epsilons = [0.0, *np.sort(rng.uniform(0.1, 1.0, 3)).tolist()]
        self.deltas = [
            max(math.fsum(self.gain(path, way) for path in product((0, 1), repeat=level)) for way in (0, 1))
            for level in (1, 2, 3)
        ]

    def gain(self, path: Path, way: int) -> float:
        here, there = self.laws[path][way], self.laws[path][1 - way]
        return max(0.0, here - math.exp(self.epsilons[len(path)]) * there)

    def stopped(self, stop: Callable[[Path], bool]) -> FiniteMechanism[str, Path]:
        table: dict[str, dict[tuple[Path, float], float]] = {"X": {}, "X'": {}}
        for path, laws in self.laws.items():
            ends = len(path) == 3 or (path and stop(path))
            if ends and not any(stop(path[:level]) for level in range(1, len(path))):
                for x, law in zip(table, laws, strict=True):
                    table[x][path, self.epsilons[len(path)]] = law
        return FiniteMechanism(table)

    def value(self, path: Path) -> float:
        """The largest δ that stopping rules can reach from here."""
        ahead = sum(self.value((*path, answer)) for answer in (0, 1)) if len(path) < 3 else 0.0
        return max(self.gain(path, 0) if path else 0.0, ahead)

    def worst(self) -> FiniteMechanism[str, Path]:
        return self.stopped(lambda path: self.gain(path, 0) >= self.value(path))


def test_the_union_over_levels_is_valid_for_every_stopping_rule() -> None:
    rng = np.random.default_rng(8)
    for _ in range(60):
        ladder = Ladder(rng)
        coins = {path: bool(rng.integers(2)) for path in ladder.laws}
        assert ladder.stopped(coins.__getitem__).approximate_delta() <= sum(ladder.deltas) + 1e-12
        assert ladder.worst().approximate_delta() <= sum(ladder.deltas) + 1e-12


def test_the_largest_levels_delta_is_not_enough_for_the_worst_stopping_rule() -> None:
    rng = np.random.default_rng(9)
    ladders = [Ladder(rng) for _ in range(60)]

    excess = [each.worst().approximate_delta() - max(each.deltas) for each in ladders]

    assert max(excess) > 0.02
