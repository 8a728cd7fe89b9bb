"""Theorem (accuracy-first search). Let the training steps be RDP for every past, the check's questions likewise on a
disjoint held-out part, and budgets depend on releases alone. Then the search, stopped at the first pass, is ex-post RDP
with the larger of what the two parts spent.

Here the search that ships is run for every outcome of its coins, on every data set of two bits.
"""

from fractions import Fraction
from functools import partial

import pytest

from expost import Budget, Ended, FiniteMechanism, Odometer, Outcome, Past, Private, Split
from expost.ladder import Rung
from expost.noise import Noise
from expost.private import Neighbours
from expost.protocols import Verdict
from expost.search import search
from tests.theorems.enumeration import RandomisedCheck, RandomisedResponse, enumerated

CHECK = RandomisedCheck(Fraction(4, 5))
BITS = [(train, held) for train in (0, 1) for held in (0, 1)]
ONE_PART = [(x, y) for x in BITS for y in BITS if (x[0] == y[0]) != (x[1] == y[1])]
ALPHAS = [1.5, 2.0, 5.0, 20.0]


def adaptive(past: Past[int], verdicts: tuple[Verdict | None, ...]) -> Rung | None:
    """Budgets that depend on every released bit."""
    if len(past.steps) == 3:
        return None
    told = sum(step.value for step in past.steps)
    return Rung(Budget.of(Fraction(1 + 2 * told, 4), alpha=20), asked=len(past.steps) != 2)


def latest(values: tuple[int, ...]) -> int:
    return values[-1]


def run(data: tuple[int, int], noise: Noise) -> tuple[Outcome[int], Odometer, Split[int]]:
    train, held = (Private(bit, Neighbours.REPLACE_ONE) for bit in data)
    parts = Split.from_parts(train, held, because="two bits")
    odometer = Odometer(rehearsal=True)
    outcome = search(parts, RandomisedResponse(), adaptive, latest, CHECK, noise=noise, odometer=odometer)
    return outcome, odometer, parts


def transcript(outcome: Outcome[int]) -> tuple[object, ...]:
    """Everything the search lets out."""
    verdicts = tuple(None if line.verdict is None else line.verdict.passed for line in outcome.history)
    budgets = tuple(line.budget.epsilon for line in outcome.history)
    return outcome.release.value, outcome.ended, verdicts, budgets


def table(bill: str, alpha: float) -> FiniteMechanism[tuple[int, int], tuple[object, ...]]:
    """The law of the search, billed as it bills itself or as a careless reader would."""

    def program(data: tuple[int, int], noise: Noise) -> tuple[tuple[object, ...], float]:
        outcome, odometer, parts = run(data, noise)
        assert parts.held is not None
        bills = {
            "as reported": outcome.release.spent,
            "the training part only": odometer.spent_on(parts.train),
            "the held-out part only": odometer.spent_on(parts.held),
        }
        return transcript(outcome), bills[bill].at(alpha)

    return FiniteMechanism({data: enumerated(partial(program, data)) for data in BITS}, ONE_PART)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_reported_bill_is_ex_post_renyi_at_every_order(alpha: float) -> None:
    assert table("as reported", alpha).moment(alpha) <= 1 + 1e-9


@pytest.mark.parametrize("bill", ["the training part only", "the held-out part only"])
def test_a_bill_that_forgets_one_part_is_not(bill: str) -> None:
    assert table(bill, 5.0).moment(5.0) > 1.01


def test_the_maximum_is_not_enough_when_one_record_can_change_both_parts() -> None:
    law = table("as reported", 5.0)

    assert FiniteMechanism(law.table, [((0, 0), (1, 1)), ((0, 1), (1, 0))]).moment(5.0) > 1.01


def test_the_law_covers_every_way_to_end() -> None:
    endings = {value[1] for value, _ in table("as reported", 2.0).outcomes}

    assert endings == {Ended.HALTED, Ended.EXHAUSTED}
