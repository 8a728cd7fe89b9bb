"""Theorem (odometer): budgets chosen step by step from released outputs add up to a valid bill.

If step i is (α, ε_i)-RDP for every budget and history, and ε_i is chosen from the released outputs before step i
draws, then all outputs with the total Σ ε_i are α-ex-post Rényi private. Stopping early costs nothing for steps not
taken. A choice that reads the data itself has no such guarantee.
"""

import math
from collections.abc import Callable

import pytest

from expost.verify import FiniteMechanism, compose

ALPHA = 3.0
BUDGETS = {(): 0.7, (0,): 1.5, (1,): 0.3, (0, 0): 0.0, (0, 1): 2.0, (1, 0): 1.0, (1, 1): 0.1}

History = tuple[int, ...]


def cost(epsilon: float, alpha: float = ALPHA) -> float:
    """What randomised response at ε costs at order α, exactly."""
    top = math.exp(alpha * epsilon) + math.exp((1 - alpha) * epsilon)
    return math.log(top / (1 + math.exp(epsilon))) / (alpha - 1)


def response(epsilon: float) -> FiniteMechanism[int, int]:
    """Report the private bit, true with odds e^ε, and claim the exact cost."""
    truth, claim = 1 / (1 + math.exp(-epsilon)), cost(epsilon)
    return FiniteMechanism({bit: {(bit, claim): truth, (1 - bit, claim): 1 - truth} for bit in (0, 1)})


def odometer(selector: Callable[[History], float], steps: int) -> FiniteMechanism[int, History]:
    """Responses, each budget chosen from the answers so far; the outcome is all answers and the total."""
    past: FiniteMechanism[int, History] = FiniteMechanism({bit: {((), 0.0): 1.0} for bit in (0, 1)})
    for _ in range(steps):
        longer = compose(past, lambda answers, total: response(selector(answers)))
        past = longer.post_process(lambda both, total: {(*both[0][0], both[1][0]): 1.0})
    return past


def test_three_adaptive_responses_have_a_moment_of_exactly_one() -> None:
    for loss in odometer(BUDGETS.__getitem__, 3).losses():
        assert loss.moment(ALPHA) == pytest.approx(1, abs=1e-12)


def test_the_totals_are_the_sums_along_each_path() -> None:
    totals = sorted({round(epsilon, 4) for _, epsilon in odometer(BUDGETS.__getitem__, 3).outcomes})

    assert totals == [0.6517, 1.4835, 1.9129, 3.8494]


def test_a_total_short_by_one_percent_is_false() -> None:
    honest = odometer(BUDGETS.__getitem__, 3)
    short = FiniteMechanism(
        {x: {(y, 0.99 * epsilon): p for (y, epsilon), p in row.items()} for x, row in honest.table.items()}
    )

    assert short.moment(ALPHA) > 1.01


def test_stopping_after_the_first_answer_bills_the_first_step_only() -> None:
    def selector(answers: History) -> float:
        return 0.7 if not answers else 0.0 if answers[0] == 0 else float(len(answers))

    stopping = odometer(selector, 3)

    assert stopping.moment(ALPHA) == pytest.approx(1, abs=1e-12)
    for answers, total in stopping.outcomes:
        rest = 0.0 if answers[0] == 0 else cost(1.0) + cost(2.0)
        assert total == pytest.approx(cost(0.7) + rest, abs=1e-14)


def test_a_step_with_no_budget_costs_nothing_and_says_nothing() -> None:
    nothing = response(0.0)

    assert nothing.is_pure()
    assert {epsilon for _, epsilon in nothing.outcomes} == {0.0}
    assert nothing.table[0] == nothing.table[1]


def test_planning_more_steps_than_are_taken_is_free() -> None:
    planned = odometer(lambda answers: 0.0 if answers else 0.7, 8)

    assert {total for _, total in planned.outcomes} == {cost(0.7)}
    assert planned.moment(ALPHA) == pytest.approx(1, abs=1e-12)


def test_a_selector_that_reads_the_data_has_an_infinite_moment() -> None:
    """Budget 0 for one dataset and 1 for the other: the bill itself tells them apart."""
    nothing, one = response(0.0), response(1.0)

    peeking = FiniteMechanism({0: nothing.table[0], 1: one.table[1]})

    assert peeking.moment(ALPHA) == math.inf
    assert peeking.approximate_delta() == pytest.approx(1)


def test_a_selector_that_reads_the_data_in_secret_is_false_too() -> None:
    """The budget of the second step follows the data; the bill pretends that it does not."""
    first = response(0.2)
    second = {0: response(0.1), 1: response(3.0)}
    claim = cost(0.2) + cost(0.1)
    secret = FiniteMechanism(
        {
            bit: {
                ((y, z), claim): p * q
                for (y, _), p in first.table[bit].items()
                for (z, _), q in second[bit].table[bit].items()
            }
            for bit in (0, 1)
        }
    )

    assert secret.moment(ALPHA) > 2


def test_a_bill_chosen_after_the_draw_from_what_the_step_showed_is_false() -> None:
    """Running at ε = 1 but billing the cost of 0.2 whenever the answer looks harmless."""
    run = response(1.0)

    after = FiniteMechanism(
        {
            x: {(y, cost(0.2) if y == 0 else epsilon): p for (y, epsilon), p in row.items()}
            for x, row in run.table.items()
        }
    )

    assert run.is_renyi(ALPHA)
    assert after.moment(ALPHA) > 1.5
