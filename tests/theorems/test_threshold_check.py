"""Theorem (threshold check on held-out data): the larger of two bills pays for training and for all checks.

Split the data so that neighbours differ in one part only. Train on one part with budgets chosen from released
outputs, let a rule that is (α, ε_check)-RDP over all its calls decide on the other part when to stop. Then the
outputs up to the stop are α-ex-post Rényi private with ε = max(Σ ε_j, ε_check); for the zero-concentrated notion ρ =
max(Σ ρ_j, ρ_check) and ξ = max(ξ_train, ξ_check). If both parts can change at once, the maximum is false.
"""

import math
from collections.abc import Callable
from itertools import product

import pytest

from expost.verify import FiniteMechanism, compose

ALPHA = 3.0
ROUNDS = 3
SPLITS = [(a, b) for a in (0, 1) for b in (0, 1)]
"""The private bit of the training part and the private bit of the held-out part."""

ONE_PART = [(a, b) for a in SPLITS for b in SPLITS if sum(s != t for s, t in zip(a, b, strict=True)) == 1]

Split = tuple[int, int]
Answers = tuple[int, ...]
Price = Callable[[float], float]
Total = Callable[[float, int], float]
"""The bill, from what training spent and how many checks were made."""


def cost(epsilon: float, alpha: float = ALPHA) -> float:
    """What randomised response at ε costs at order α, exactly."""
    top = math.exp(alpha * epsilon) + math.exp((1 - alpha) * epsilon)
    return math.log(top / (1 + math.exp(epsilon))) / (alpha - 1)


def truth(epsilon: float) -> float:
    return 1 / (1 + math.exp(-epsilon))


def chance(answer: int, bit: int, epsilon: float) -> float:
    return truth(epsilon) if answer == bit else 1 - truth(epsilon)


def budget(answers: Answers) -> float:
    """Spend more after a 1: a choice from released answers only."""
    return 0.2 + 0.4 * len(answers) + 0.5 * sum(answers)


def trained_until_halt(check: float, price: Price, total: Total) -> dict[Split, dict[tuple[Answers, float], float]]:
    """Respond on the training bit, ask on the held-out bit whether to halt, at most ``ROUNDS`` times."""
    table: dict[Split, dict[tuple[Answers, float], float]] = {split: {} for split in SPLITS}
    for training, held_out in SPLITS:
        live: dict[Answers, tuple[float, float]] = {(): (1.0, 0.0)}
        for made in range(1, ROUNDS + 1):
            grown = {
                (*answers, y): (p * chance(y, training, budget(answers)), spent + price(budget(answers)))
                for answers, (p, spent) in live.items()
                for y in (0, 1)
            }
            # The rule may read the answer: it asks whether the held-out bit differs from it.
            halts = {answers: chance(1, held_out ^ answers[-1], check) for answers in grown}
            for answers, (p, spent) in grown.items():
                table[training, held_out][(*answers, 1), total(spent, made)] = p * halts[answers]
                if made == ROUNDS:
                    table[training, held_out][(*answers, 0), total(spent, made)] = p * (1 - halts[answers])
            live = {answers: (p * (1 - halts[answers]), spent) for answers, (p, spent) in grown.items()}
    return table


@pytest.mark.parametrize("check", [0.1, 0.4, 1.0])
def test_the_larger_bill_pays_for_training_and_for_every_check(check: float) -> None:
    table = trained_until_halt(check, cost, lambda spent, made: max(spent, ROUNDS * cost(check)))

    assert FiniteMechanism(table, ONE_PART).is_renyi(ALPHA)


def test_if_both_parts_can_change_the_larger_bill_is_false_and_the_sum_is_true() -> None:
    larger = trained_until_halt(0.4, cost, lambda spent, made: max(spent, ROUNDS * cost(0.4)))
    both = trained_until_halt(0.4, cost, lambda spent, made: spent + ROUNDS * cost(0.4))

    assert FiniteMechanism(larger).moment(ALPHA) > 1.2
    assert FiniteMechanism(both).is_renyi(ALPHA)


def test_the_larger_of_two_equal_bills_is_short_by_a_whole_bill_if_both_parts_can_change() -> None:
    """One response per part: the moment is e^((α−1)·bill) where it should be 1."""
    claim = cost(1.0)
    parts = [
        FiniteMechanism({split: {(y, claim): chance(y, split[part], 1.0) for y in (0, 1)} for split in SPLITS})
        for part in (0, 1)
    ]

    together = compose(parts[0], lambda y, epsilon: parts[1], combine=max)
    apart = FiniteMechanism(together.table, ONE_PART)

    assert apart.moment(ALPHA) == pytest.approx(1, abs=1e-12)
    assert together.moment(ALPHA) == pytest.approx(math.exp((ALPHA - 1) * claim), rel=1e-12)
    assert together.moment(ALPHA) > 4


def test_paying_for_a_single_check_when_many_may_be_made_is_false() -> None:
    table = trained_until_halt(1.0, cost, lambda spent, made: max(spent, cost(1.0)))

    assert FiniteMechanism(table, ONE_PART).moment(ALPHA) > 1.1


def test_paying_for_training_only_is_false() -> None:
    table = trained_until_halt(1.0, cost, lambda spent, made: spent)

    assert FiniteMechanism(table, ONE_PART).moment(ALPHA) > 2


def test_paying_for_the_checks_only_is_false() -> None:
    table = trained_until_halt(0.1, cost, lambda spent, made: ROUNDS * cost(0.1))

    assert FiniteMechanism(table, ONE_PART).moment(ALPHA) > 2


def quadratic(epsilon: float) -> float:
    """Randomised response at ε is (0, ε²/2)-zCDP."""
    return epsilon**2 / 2


@pytest.mark.parametrize("check", [0.1, 0.6])
def test_the_larger_rho_pays_for_both_parts(check: float) -> None:
    table = trained_until_halt(check, quadratic, lambda spent, made: max(spent, ROUNDS * quadratic(check)))

    assert FiniteMechanism(table, ONE_PART).is_zcdp(0)


def test_the_larger_rho_is_false_if_both_parts_can_change() -> None:
    table = trained_until_halt(0.6, quadratic, lambda spent, made: max(spent, ROUNDS * quadratic(0.6)))

    assert not FiniteMechanism(table).is_zcdp(0)


def test_the_larger_xi_pays_for_both_parts() -> None:
    """Both parts also make a response that pays its ε as ξ; the larger of the two ε is enough."""
    first, second = 0.5, 0.8
    checked = trained_until_halt(0.6, quadratic, lambda spent, made: max(spent, ROUNDS * quadratic(0.6)))
    paid_as_xi = FiniteMechanism(
        {
            split: {
                ((y, z), 0.0): chance(y, split[0], first) * chance(z, split[1], second)
                for y, z in product((0, 1), repeat=2)
            }
            for split in SPLITS
        },
        ONE_PART,
    )

    together = compose(FiniteMechanism(checked, ONE_PART), lambda answers, rho: paid_as_xi)

    assert together.is_zcdp(max(first, second))
    assert not FiniteMechanism(together.table).is_zcdp(max(first, second))


def test_the_smaller_xi_is_not_enough() -> None:
    only = FiniteMechanism({split: {(z, 0.0): chance(z, split[1], 0.8) for z in (0, 1)} for split in SPLITS}, ONE_PART)

    assert only.is_zcdp(0.8)
    assert not only.is_zcdp(0.5)
