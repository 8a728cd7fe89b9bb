"""Ex-post Gaussian DP: an output (y, μ) of which those that claim at most m tell no more than a Gaussian of μ = m.

For every ordered pair of neighbours, every m ≥ 0, every event S ⊆ {μ ≤ m} and every real ε,
P_X(S) ≤ e^ε P_X'(S) + δ_m(ε), δ_m being the profile of Gaussian noise; equivalently P_X(S) ≤ Φ(Φ⁻¹(P_X'(S)) + m).
It is immune to post-processing. Steps whose μ_j is known before they draw have μ = √Σμ_j² (odometer), on disjoint parts
the largest part's; with μ ≤ B always the whole is B-GDP (filter); constant μ is ordinary μ-GDP.
"""

import math
from collections.abc import Callable
from itertools import chain, combinations

import numpy as np
import pytest

from expost.errors import InvalidValue
from expost.verify import FiniteMechanism
from tests.theorems.gaussian_steps import (
    SPLITS,
    Bit,
    History,
    Step,
    binned,
    bound,
    dearest,
    filtered,
    needed,
    profile,
    random_claims,
    random_program,
    response,
    run,
    spent,
)

PROGRAMS = range(20)
CAP = 1.3


def table(rows: dict[tuple[str, float], tuple[float, float]]) -> FiniteMechanism[str, str]:
    return FiniteMechanism({"X": {o: p for o, (p, _) in rows.items()}, "X'": {o: q for o, (_, q) in rows.items()}})


@pytest.mark.parametrize("m", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("chance", [1e-6, 0.01, 0.3, 0.8, 0.9999])
def test_the_bound_on_a_chance_is_the_least_over_all_real_epsilon(m: float, chance: float) -> None:
    """e^ε q + δ_m(ε) is the tangent of slope e^ε to the concave curve q ↦ Φ(Φ⁻¹(q) + m)."""
    lines = [math.exp(e) * chance + profile(e, m) for e in np.arange(-8 * m, 8 * m, 0.01 * m)]

    assert min(lines) == pytest.approx(bound(chance, m), rel=1e-4)
    assert min(lines) >= bound(chance, m) * (1 - 1e-14)


def worst_ratio(mechanism: Bit) -> float:
    """The definition itself: every claimed m and every set of outputs that claim no more."""
    ratios = [0.0]
    for m in {mu for _, mu in mechanism.outcomes}:
        within = [outcome for outcome in mechanism.outcomes if outcome[1] <= m]
        for chosen in chain.from_iterable(combinations(within, size) for size in range(1, len(within) + 1)):
            for x, other in mechanism.pairs:
                p, q = (math.fsum(mechanism.table[each][outcome] for outcome in chosen) for each in (x, other))
                ratios.append(p / bound(min(q, 1.0), m))
    return max(ratios)


def test_the_sets_of_the_highest_losses_are_as_bad_as_any() -> None:
    rng = np.random.default_rng(1)
    for _ in range(40):
        mus = rng.choice([0.2, 0.7, 1.5], 6).tolist()
        laws = enumerate(rng.dirichlet(np.ones(6), 2).tolist())
        mechanism = FiniteMechanism({bit: {(y, mus[y]): law[y] for y in range(6)} for bit, law in laws})

        found = max(loss.gaussian_ratio() for loss in mechanism.losses())

        assert found == pytest.approx(worst_ratio(mechanism), rel=1e-12)


@pytest.mark.parametrize("mu", [0.01, 0.5, 1.0, 4.0])
def test_a_constant_mu_is_ordinary_gaussian_privacy_and_no_less_of_it_will_do(mu: float) -> None:
    for step in (response(mu), binned(mu, [mu / 2 - 1, mu / 2, mu])):
        assert step.is_gaussian()
        assert step.is_padded_gaussian()
        for less in (0.999, 0.5):
            lower = FiniteMechanism(
                {x: {(y, less * mu): p for (y, _), p in row.items()} for x, row in step.table.items()}
            )
            assert not lower.is_gaussian()
            assert not lower.is_padded_gaussian()


def test_an_output_only_one_dataset_can_give_breaks_every_finite_claim() -> None:
    rows = {("a", 40.0): (1e-9, 0.0), ("b", 40.0): (1 - 1e-9, 1.0)}

    assert not table(rows).is_gaussian()
    assert not table({("a", 40.0): (1e-6, 0.0), ("b", 40.0): (1 - 1e-6, 1.0)}).is_padded_gaussian()
    assert table({("a", math.inf): (1e-9, 0.0), ("b", 40.0): (1 - 1e-9, 1.0)}).is_gaussian()


def test_mu_zero_means_that_nothing_is_told() -> None:
    assert table({("a", 0.0): (0.3, 0.3), ("b", 0.5): (0.7, 0.7)}).is_gaussian()
    assert not table({("a", 0.0): (0.3, 0.2999), ("b", 5.0): (0.7, 0.7001)}).is_gaussian()


def test_each_level_of_mu_by_itself_would_be_a_weaker_notion() -> None:
    """The best chance under X of two small events is smaller together than apart: all claims up to m count at once."""
    p, q = bound(0.05, 1.0), 0.05
    rows = {("a", 1.0): (p, q), ("b", 1.0001): (p, q), ("c", 1.0): (q, p), ("d", 1.0001): (q, p)}
    both = table({**rows, ("rest", 0.0): (1 - 2 * (p + q), 1 - 2 * (p + q))})

    def alone(m: float) -> FiniteMechanism[str, tuple[str, float]]:
        return both.raised(lambda y, mu: mu if mu == m else math.inf)

    assert all(alone(m).is_gaussian() for m in (0.0, 1.0, 1.0001))
    assert not both.is_gaussian()


def test_post_processing_keeps_the_promise() -> None:
    rng = np.random.default_rng(2)
    for _ in range(30):
        mechanism = random_claims(rng, lambda each: each.is_gaussian(), 4)
        kernel = {outcome: dict(enumerate(rng.dirichlet(np.ones(3)).tolist())) for outcome in mechanism.outcomes}

        assert mechanism.post_process(lambda y, mu: kernel[y, mu]).is_gaussian()  # noqa: B023


def test_merging_outputs_under_the_smaller_of_their_claims_does_not() -> None:
    """Half of the time the step is one of μ = .2, half of the time one of μ = 1, and afterwards nobody says which."""
    small, large = response(0.2), response(1.0)
    either = FiniteMechanism(
        {bit: {outcome: p / 2 for each in (small, large) for outcome, p in each.table[bit].items()} for bit in (0, 1)}
    )
    merged = {
        bit: {(y, 0.2): sum(p for (z, _), p in row.items() if z == y) for y in (0, 1)}
        for bit, row in either.table.items()
    }

    assert either.is_gaussian()
    assert not FiniteMechanism(merged).is_gaussian()


@pytest.mark.parametrize("seed", PROGRAMS)
def test_the_root_of_the_squares_pays_for_steps_whose_mu_was_known_before(seed: int) -> None:
    odometer = run(random_program(seed))

    assert odometer.is_gaussian()
    assert odometer.is_padded_gaussian()


def twice(history: History) -> Step | None:
    return Step(0, 0.4, response(0.4)) if len(history) < 2 else None


@pytest.mark.parametrize("seed", PROGRAMS)
def test_half_of_it_does_not_pay(seed: int) -> None:
    assert not run(random_program(seed), lambda history: spent(history, 0) / 2).is_gaussian()


@pytest.mark.parametrize(
    "claim",
    [
        lambda history: max(taken.mu for taken in history),
        lambda history: history[-1].mu,
        lambda history: sum(taken.mu**2 for taken in history),
    ],
    ids=["the largest step", "the last step", "the squares without a root"],
)
def test_less_than_the_root_of_the_squares_does_not_pay(claim: Callable[[History], float]) -> None:
    assert run(twice).is_gaussian()
    assert not run(twice, claim).is_gaussian()


def test_adding_the_mus_pays_and_is_more_than_needed() -> None:
    """Nine equal steps, the whole of which a reader can tell apart no better than at √9 μ."""

    def often(history: History) -> Step | None:
        return Step(0, 0.2, response(0.2)) if len(history) < 9 else None

    assert run(often, lambda history: 9 * 0.2).is_gaussian()
    assert run(often, lambda history: 3 * 0.2).is_gaussian()
    assert not run(often, lambda history: 2 * 0.2).is_gaussian()


def test_a_mu_told_after_the_draw_does_not_pay() -> None:
    """A step that claims little when it answers no has lied: its no is as telling as its yes."""
    honest = response(1.0)
    lying: Bit = FiniteMechanism(
        {x: {(y, 1.0 if y else 0.3): p for (y, _), p in row.items()} for x, row in honest.table.items()}
    )

    assert honest.is_gaussian()
    assert not lying.is_gaussian()


def test_a_mu_chosen_by_looking_at_the_data_does_not_pay() -> None:
    """Each step is what it claims to be, but how much it may tell depends on the record."""
    chosen: Bit = FiniteMechanism({bit: dict(response(0.5 + bit).table[bit]) for bit in (0, 1)})

    assert not chosen.is_gaussian()


def within(history: History, step: Step) -> bool:
    return math.hypot(spent(history, 0), step.mu) <= CAP


@pytest.mark.parametrize("seed", PROGRAMS)
def test_a_filter_makes_the_whole_gaussian_private(seed: int) -> None:
    program = filtered(random_program(seed), within)

    whole = run(program, lambda history: CAP)

    assert all(spent(history, 0) <= CAP for history, _ in whole.outcomes)
    assert whole.is_gaussian()


def test_a_filter_that_looks_after_the_step_does_not() -> None:
    late = [filtered(random_program(seed), lambda history, step: spent(history, 0) <= CAP) for seed in PROGRAMS]

    assert not all(run(program, lambda history: CAP).is_gaussian() for program in late)


@pytest.mark.parametrize("seed", PROGRAMS)
def test_disjoint_parts_cost_the_dearest_of_them(seed: int) -> None:
    odometer = run(random_program(seed, parts=2))

    assert odometer.is_gaussian()
    assert odometer.is_padded_gaussian()


def test_the_cheapest_part_does_not_pay_nor_may_a_record_be_in_both() -> None:
    def both(history: History) -> Step | None:
        return Step(len(history), 0.5, response(0.5)) if len(history) < 2 else None

    assert run(both).is_gaussian()
    assert not run(both, lambda history: min(spent(history, 0), spent(history, 1)) / 2).is_gaussian()
    assert not FiniteMechanism(run(both, dearest).table, [(SPLITS[0], SPLITS[3]), (SPLITS[1], SPLITS[2])]).is_gaussian()


def test_the_mu_that_two_chances_call_for() -> None:
    assert needed(0.69146246, 0.30853754) == pytest.approx(1.0)
    with pytest.raises(InvalidValue, match="claims ε="):
        FiniteMechanism({x: {("a", -0.1): 1.0} for x in "AB"})
