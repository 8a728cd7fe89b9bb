"""Definitions: five ways for an output (y, ε) to keep its promise, with L = ln p_X(y,ε)/p_X'(y,ε) under X.

For every ordered pair of neighbours: pure, P_X(L > ε) = 0; probabilistic, P_X(L > ε) ≤ δ; approximate, E_X[(1 −
e^(ε−L))⁺] ≤ δ; Rényi, E_X[e^((α−1)(L−ε))] ≤ 1; zero-concentrated, E_X[e^((α−1)(L−ξ−αρ))] ≤ 1 for all α > 1. Claim:
the exact sums below are these numbers, and outputs that only X can give are never overlooked.
"""

import math
from itertools import chain, combinations

import numpy as np
import pytest

from expost.verify import FiniteMechanism

Rows = dict[tuple[str, float], tuple[float, float]]


def table(rows: Rows) -> FiniteMechanism[str, str]:
    return FiniteMechanism({"X": {o: p for o, (p, _) in rows.items()}, "X'": {o: q for o, (_, q) in rows.items()}})


PURE = table({("u", 0.5): (0.5, 0.4), ("v", 0.2): (0.3, 0.35), ("w", 1.0): (0.2, 0.25)})
LEAKY = table({("u", 0.1): (0.5, 0.4), ("v", 0.2): (0.3, 0.35), ("w", 0.1): (0.2, 0.25)})


def concentrated(scale: float) -> FiniteMechanism[str, str]:
    rhos = {"u": (0.5, 0.4, 0.10), "v": (0.3, 0.35, 0.20), "w": (0.2, 0.25, 0.15)}
    return table({(y, rho * scale): (p, q) for y, (p, q, rho) in rhos.items()})


@pytest.mark.parametrize(
    ("alpha", "forward", "backward"),
    [(2, 0.648473137985, 0.643367193981), (20, 0.0029557121509, 0.1464669316995)],
)
def test_a_pure_table_is_pure_and_its_moments_are_known(alpha: float, forward: float, backward: float) -> None:
    assert PURE.is_pure()
    assert PURE.loss("X", "X'").moment(alpha) == pytest.approx(forward, abs=1e-12)
    assert PURE.loss("X'", "X").moment(alpha) == pytest.approx(backward, abs=1e-12)
    assert PURE.moment(alpha) == pytest.approx(max(forward, backward), abs=1e-12)


def test_a_leaky_table_has_known_deltas() -> None:
    forward, backward = LEAKY.loss("X", "X'"), LEAKY.loss("X'", "X")

    assert not LEAKY.is_pure()
    assert forward.probabilistic_delta() == 0.5
    assert backward.probabilistic_delta() == 0.25
    assert forward.approximate_delta() == pytest.approx(0.0579316327697, abs=1e-12)
    assert backward.approximate_delta() == pytest.approx(0.0289658163849, abs=1e-12)
    assert (LEAKY.probabilistic_delta(), LEAKY.approximate_delta()) == (0.5, forward.approximate_delta())


def test_a_leaky_table_can_be_renyi_at_a_low_order_and_not_at_a_high_one() -> None:
    assert LEAKY.loss("X", "X'").moment(2) == pytest.approx(0.920828138235, abs=1e-12)
    assert LEAKY.loss("X'", "X").moment(2) == pytest.approx(0.906624724415, abs=1e-12)
    assert LEAKY.is_renyi(2)
    assert LEAKY.loss("X", "X'").moment(20) == pytest.approx(5.18999377, abs=1e-8)
    assert LEAKY.loss("X'", "X").moment(20) == pytest.approx(2.74193056, abs=1e-8)
    assert not LEAKY.is_renyi(20)


def test_a_table_with_enough_rho_is_zero_concentrated() -> None:
    assert concentrated(1).is_zcdp(0)
    assert concentrated(1).zcdp_moment(0) == pytest.approx(1, abs=1e-12)


def test_a_tenth_of_the_rho_is_not_enough() -> None:
    assert not concentrated(0.1).is_zcdp(0)
    assert concentrated(0.1).zcdp_moment(0) == pytest.approx(1.5648, abs=5e-5)


def test_the_supremum_over_orders_is_no_less_than_the_moment_at_any_order() -> None:
    claims = concentrated(0.1)

    for alpha in np.geomspace(1.0001, 60, 500):
        priced = table(
            {
                (y, 0.02 + float(alpha) * rho): (p, claims.table["X'"][y, rho])
                for (y, rho), p in claims.table["X"].items()
            }
        )
        assert priced.moment(float(alpha)) <= claims.zcdp_moment(0.02) + 1e-12


def test_the_narrow_peaks_of_rare_outputs_among_the_orders_are_found() -> None:
    """An output alone peaks at α = (1 + L/ρ)/2, with height p·e^((L−ρ)²/(4ρ)); here two of almost equal height."""
    rng = np.random.default_rng(2)
    for _ in range(50):
        rhos = 10 ** rng.uniform([-9, -6], [-7, -3])
        rare = np.exp(-rng.uniform(380, 420, 2))
        heights = rng.uniform(1.50, 1.53, 2)
        losses = rhos + 2 * np.sqrt(rhos * np.log(heights / rare))
        laws = zip(rare.tolist(), (rare * np.exp(-losses)).tolist(), strict=True)
        peaks: Rows = {(str(rho), rho): law for rho, law in zip(rhos.tolist(), laws, strict=True)}

        found = table({**peaks, ("rest", 99.0): (1.0, 1.0)}).loss("X", "X'").zcdp_moment(0)

        assert found >= max(heights) * (1 - 1e-6)


def test_a_loss_above_xi_at_no_rho_fails_at_once() -> None:
    response = table({("yes", 0.0): (0.75, 0.25), ("no", 0.0): (0.25, 0.75)})

    assert response.zcdp_moment(0.5) == math.inf
    assert not response.is_zcdp(0.5)
    assert response.is_zcdp(math.log(3))


def test_a_mean_loss_above_the_mean_rho_fails_though_no_moment_shows_it() -> None:
    """Randomised response just below its Kullback-Leibler divergence: the excess near α = 1 is lost in rounding."""
    truth = 1 / (1 + math.exp(-1))
    divergence = 2 * truth - 1

    def response(rho: float) -> FiniteMechanism[str, str]:
        return table({("yes", rho): (truth, 1 - truth), ("no", rho): (1 - truth, truth)})

    assert response(divergence).is_zcdp(0)
    assert response(divergence - 1e-7).zcdp_moment(0) <= 1 + 1e-12
    assert not response(divergence - 1e-7).is_zcdp(0)


def test_an_output_that_claims_nothing_leaves_room_for_the_others() -> None:
    """The mean loss of the claims is above their mean ρ, but they weigh only a half at every order."""
    rows: Rows = {("claim", 0.15): (0.5, 0.25), ("nothing", math.inf): (0.5, 0.75)}
    claimed: Rows = {("claim", 0.15): (0.5, 0.25), ("nothing", 0.0): (0.5, 0.75)}

    assert table(rows).is_zcdp(0)
    assert not table(claimed).is_zcdp(0)


def test_an_output_only_one_dataset_can_give_breaks_every_finite_claim() -> None:
    rows: Rows = {("a", 0.1): (0.1, 0.0), ("b", 0.1): (0.45, 0.5), ("c", 0.1): (0.45, 0.5)}
    forward = table(rows).loss("X", "X'")

    weighted_by_the_neighbour = sum(q * math.exp(-0.1) * (p / q) ** 2 for p, q in rows.values() if q > 0)

    assert weighted_by_the_neighbour < 1
    assert forward.moment(2) == math.inf
    assert forward.zcdp_moment(100) == math.inf
    assert forward.probabilistic_delta() == 0.1
    assert forward.approximate_delta() == 0.1
    assert not table(rows).is_pure()


def test_a_sum_weighted_by_the_neighbour_is_0_675_where_the_moment_is_infinite() -> None:
    claim = math.log(2)
    rows: Rows = {
        ("a", claim): (0.1, 0.0),
        ("b", claim): (0.6, 0.3),
        ("c", claim): (0.3, 0.6),
        ("d", claim): (0.0, 0.1),
    }

    weighted_by_the_neighbour = sum(q * 0.5 * (p / q) ** 2 for p, q in rows.values() if q > 0)

    assert weighted_by_the_neighbour == pytest.approx(0.675)
    assert table(rows).moment(2) == math.inf


def test_publishing_the_data_half_the_time_satisfies_everything_if_it_then_claims_nothing() -> None:
    half = {
        "X": {("X", math.inf): 0.5, ("nothing", 0.0): 0.5},
        "X'": {("X'", math.inf): 0.5, ("nothing", 0.0): 0.5},
    }
    mechanism = FiniteMechanism(half)

    assert mechanism.is_pure()
    assert mechanism.probabilistic_delta() == 0
    assert mechanism.approximate_delta() == 0
    assert mechanism.is_renyi(20)
    assert mechanism.is_zcdp(0)


def test_publishing_the_data_half_the_time_satisfies_nothing_if_it_claims_any_number() -> None:
    half = {"X": {("X", 50.0): 0.5, ("nothing", 0.0): 0.5}, "X'": {("X'", 50.0): 0.5, ("nothing", 0.0): 0.5}}
    mechanism = FiniteMechanism(half)

    assert mechanism.probabilistic_delta() == 0.5
    assert mechanism.approximate_delta() == 0.5
    assert mechanism.moment(1.01) == math.inf
    assert not mechanism.is_zcdp(0)


def test_the_approximate_delta_is_the_worst_set_of_outputs() -> None:
    """E_X[(1 − e^(ε−L))⁺] against the definition itself, over every set S of outputs."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        p, q = rng.dirichlet(np.ones(6), 2)
        p[0] *= rng.integers(2)
        p /= p.sum()
        claims = rng.choice([0.1, 0.3, 0.8], 6)
        rows: Rows = {(str(i), float(claims[i])): (float(p[i]), float(q[i])) for i in range(6)}

        sets = chain.from_iterable(combinations(range(6), size) for size in range(7))
        worst = max(math.fsum(p[i] - math.exp(claims[i]) * q[i] for i in chosen) for chosen in sets)

        assert table(rows).loss("X", "X'").approximate_delta() == pytest.approx(worst, abs=1e-14)
