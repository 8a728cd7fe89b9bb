"""Claim (checks on a disjoint part). Gaussian checks spend their budget over the planned questions. Balanced checks may
spend on the held-out part whatever the training part has spent: the maximum of the two, which is billed, stays put.
"""

from fractions import Fraction

import numpy as np
import pytest

from expost import (
    BalancedCheck,
    Brownian,
    Budget,
    CentredSum,
    Gaussian,
    GaussianCheck,
    Ladder,
    Neighbours,
    Odometer,
    PlannedStops,
    Private,
    PublicCheck,
    SeededNoise,
    planned_stops,
    search,
    split,
)
from expost.accounting.claim import NOTHING
from expost.checks import PublicCount
from expost.ladder import Rung
from expost.mechanisms import Estimate
from expost.noise import Floats, Integers
from expost.protocols import Verdict
from expost.release import Past
from expost.statistic import histogram

LADDER = Ladder.geometric(0.01, 1, 7, alpha=20)
COUNTS = histogram(lambda rows: rows, 2, Neighbours.ADD_REMOVE)
MECHANISM: Brownian[Integers] = Brownian(Gaussian(COUNTS))


def failing(candidate: Estimate, held: Integers) -> Floats:
    """No record is ever scored right."""
    return np.zeros(len(held))


ONE_A_RECORD: PublicCount[Integers, Estimate] = PublicCount(failing, Fraction(1, 2), 100, Neighbours.ADD_REMOVE)


def stds(check: GaussianCheck[Integers, Estimate] | BalancedCheck[Integers, Estimate]) -> list[float]:
    """The noise of each question along the ladder, in records."""
    answers, noise, seen = check.begin(), SeededNoise(0), []
    trained, asked = NOTHING, NOTHING
    for index, budget in enumerate(LADDER.budgets[:-1]):
        trained = trained + MECHANISM.promise(budget)
        price = check.price(index, trained.as_spent(), asked.as_spent())
        held, candidate = np.zeros(5, dtype=np.int64), Estimate(np.zeros(2), Fraction(1))
        verdict = answers.answer(index, price, held, candidate, noise)
        asked = asked + price.failed
        assert verdict.std is not None
        seen.append(verdict.std)
    return seen


def test_fixed_gaussian_checks_have_the_printed_noise() -> None:
    check = GaussianCheck(ONE_A_RECORD, Budget.of(Fraction(1, 100), alpha=20), questions=6, confidence=None)

    assert stds(check) == pytest.approx([77.45967] * 6, abs=1e-5)


def test_balanced_checks_have_the_printed_noise() -> None:
    printed = [31.6228, 29.4317, 20.0516, 13.6610, 9.3071, 6.3409]

    assert stds(BalancedCheck(ONE_A_RECORD, None)) == pytest.approx(printed, abs=1e-4)


def test_balanced_checks_leave_the_bill_at_the_level_of_the_last_rung() -> None:
    parts = split(Private(np.zeros(40, dtype=np.int64)), Fraction(1, 2), SeededNoise(2))
    question = CentredSum.accuracy(failing, 0.9, Neighbours.ADD_REMOVE)

    outcome = search(
        parts, MECHANISM, LADDER, lambda estimates: estimates[-1], BalancedCheck(question, None),
        noise=SeededNoise(4), odometer=Odometer(rehearsal=True),
    )  # fmt: skip

    reached = len(outcome.history)
    assert reached > 1
    assert [line.spent.at(20) for line in outcome.history] == [float(level) for level in LADDER.levels[:reached]]


def test_checks_that_spend_more_than_training_raise_the_bill() -> None:
    """The negative twin: the maximum is billed, so an expensive check shows."""
    parts = split(Private(np.zeros(40, dtype=np.int64)), Fraction(1, 2), SeededNoise(2))
    question = CentredSum.accuracy(failing, 0.9, Neighbours.ADD_REMOVE)
    check = GaussianCheck(question, Budget.of(3, alpha=20), questions=6, confidence=None)

    outcome = search(
        parts, MECHANISM, LADDER, lambda estimates: estimates[-1], check,
        noise=SeededNoise(4), odometer=Odometer(rehearsal=True),
    )  # fmt: skip

    assert outcome.history[0].spent.at(20) == 0.5


@pytest.mark.parametrize("check", [BalancedCheck(ONE_A_RECORD, None), PublicCheck[Estimate](lambda estimate: False)])
def test_a_run_ends_on_a_planned_stop(check: BalancedCheck[Integers, Estimate] | PublicCheck[Estimate]) -> None:
    parts = split(Private(np.zeros(40, dtype=np.int64)), Fraction(1, 2), SeededNoise(2))
    pledge = PlannedStops(planned_stops(MECHANISM, LADDER, check), 1e-5)

    outcome = search(
        parts, MECHANISM, LADDER, lambda estimates: estimates[-1], check,
        noise=SeededNoise(4), odometer=Odometer(pledge=pledge, rehearsal=True),
    )  # fmt: skip

    stated = [line.epsilon for line in outcome.history]
    assert stated == [stop.epsilon for stop in pledge.table[: len(stated)]]


def test_a_selector_may_read_the_released_margins() -> None:
    seen: list[float | None] = []

    def select(past: Past[Estimate], verdicts: tuple[Verdict | None, ...]) -> Rung | None:
        seen.extend(verdict.margin for verdict in verdicts[-1:] if verdict is not None)
        return LADDER(past, verdicts)

    parts = split(Private(np.zeros(40, dtype=np.int64)), Fraction(1, 2), SeededNoise(2))
    search(
        parts, MECHANISM, select, lambda estimates: estimates[-1], BalancedCheck(ONE_A_RECORD, None),
        noise=SeededNoise(4), odometer=Odometer(rehearsal=True),
    )  # fmt: skip

    assert seen and all(margin is not None and margin < 0 for margin in seen)
