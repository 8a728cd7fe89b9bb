"""Theorem (ending on answers). Let a search with planned stops end early by a rule that sees nothing but the answers of
its check and what was public or released before. Then its bill is that of the planned stop at which it ended, and it is
ex-post RDP with that bill.

Here the search that ships, with the rule that ships, is run for every outcome of its coins, on every data set of two
bits.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import pytest

from expost import Ended, FiniteMechanism, Ladder, Odometer, Outcome, Private, Search, Split, planned_stops
from expost.accounting.claim import Spent
from expost.ledger import Fact
from expost.noise import Noise
from expost.patience import Patience, Plateau
from expost.private import Neighbours
from expost.protocols import Price, Verdict
from expost.search import finish
from tests.theorems.enumeration import RandomisedResponse, enumerated, pure, truth_chance

LADDER = Ladder((Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(3, 2)), Fraction(20), asked=(0, 1, 2, 3))
BITS = [(train, held) for train in (0, 1) for held in (0, 1)]
ONE_PART = [(x, y) for x in BITS for y in BITS if (x[0] == y[0]) != (x[1] == y[1])]
ALPHAS = [1.5, 2.0, 5.0, 20.0]
PLATEAU = Plateau(Patience(1), guards=(300.0,) * 4, held=1000.0, settled=(True,) * 4)
Rule = Callable[[tuple[Verdict | None, ...]], bool]
Transcript = tuple[int, Ended, tuple[float | None, ...]]


@dataclass(frozen=True)
class TellingCheck:
    """A check that passes nothing and tells, with a fixed pure ε, whether the held-out bit equals the candidate."""

    epsilon: Fraction = Fraction(4, 5)
    neighbours: Neighbours = Neighbours.REPLACE_ONE
    name: str = "telling check"

    def price(self, index: int, trained: Spent, asked: Spent) -> Price:
        return Price(pure(self.epsilon), pure(self.epsilon))

    def begin(self) -> "TellingCheck":
        return self

    def answer(self, index: int, price: Price, held: int, candidate: int, noise: Noise) -> Verdict:
        right = bool(noise.coins(truth_chance(self.epsilon), 1)[0]) == (held == candidate)
        return Verdict(False, 50.0 * (index + 1) * (1 if right else -1), 1.0, 300.0)

    def facts(self) -> Mapping[str, Fact]:
        return {"epsilon": str(self.epsilon)}


def run(data: tuple[int, int], rule: Rule, noise: Noise) -> Outcome[int]:
    train, held = (Private(bit, Neighbours.REPLACE_ONE) for bit in data)
    parts = Split.from_parts(train, held, because="two bits")
    odometer = Odometer(rehearsal=True)
    check = TellingCheck()
    return finish(
        Search(
            parts, RandomisedResponse(), LADDER, lambda bits: bits[-1], check,
            noise=noise, odometer=odometer, flat=rule,
        )
    )  # fmt: skip


def transcript(outcome: Outcome[int]) -> Transcript:
    """Everything the search lets out."""
    answers = tuple(None if line.verdict is None else line.verdict.margin for line in outcome.history)
    return outcome.release.value, outcome.ended, answers


def table(rule_of: Callable[[tuple[int, int]], Rule], alpha: float) -> FiniteMechanism[tuple[int, int], Transcript]:
    """The law of the search, billed as it bills itself."""

    def program(data: tuple[int, int], noise: Noise) -> tuple[Transcript, float]:
        outcome = run(data, rule_of(data), noise)
        return transcript(outcome), outcome.release.spent.at(alpha)

    return FiniteMechanism({data: enumerated(partial(program, data)) for data in BITS}, ONE_PART)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_a_search_that_ends_on_its_answers_is_ex_post_renyi_with_the_reported_bill(alpha: float) -> None:
    assert table(lambda data: PLATEAU, alpha).moment(alpha) <= 1 + 1e-9


def test_a_rule_that_looks_at_the_held_out_record_is_not_covered() -> None:
    """The twin: where the run ends then tells the bit itself, at the price of a noisy answer about it."""

    def peeking(data: tuple[int, int]) -> Rule:
        return lambda verdicts: len(verdicts) == 1 + data[1]

    assert table(peeking, 5.0).moment(5.0) > 1.01


def test_the_law_covers_every_rung_on_which_a_run_may_end() -> None:
    endings = {(value[1], len(value[2])) for value, _ in table(lambda data: PLATEAU, 2.0).outcomes}

    assert endings == {(Ended.FLAT, 2), (Ended.FLAT, 3), (Ended.EXHAUSTED, 4)}


@pytest.mark.parametrize("data", BITS)
def test_wherever_a_run_ends_its_bill_is_that_of_the_stop_planned_there(data: tuple[int, int]) -> None:
    stops = planned_stops(RandomisedResponse(), LADDER, TellingCheck())

    def program(noise: Noise) -> tuple[int, float]:
        outcome = run(data, PLATEAU, noise)
        return len(outcome.history), outcome.release.spent.at(20)

    planned = {taken: stops[taken - 1].at(20) for taken in (2, 3, 4)}

    assert dict(enumerated(program).keys()) == pytest.approx(planned)
