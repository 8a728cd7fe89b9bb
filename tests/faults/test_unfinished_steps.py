"""A step with secret state that did not finish ends the state: it may have moved, and the next step would build on it.

The attack: stop a question after the threshold's noise was reduced and before the answer, and ask again. Each time the
noise is reduced further, as if from the level before, until the threshold is as good as exact.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from expost import protocols
from expost.accounting.claim import Promise, Spent
from expost.accounting.pledge import Pledge
from expost.baselines import ReducedAboveThreshold, RenyiReducedAboveThreshold
from expost.checks import CentredSum, SparseVectorCheck
from expost.errors import MechanismFailed, SpentCheck
from expost.ledger import Entry, Hold
from expost.mechanisms import IntegerPath, NoiseReduction
from expost.noise import Integers, Noise, ScriptedNoise
from expost.odometer import Odometer
from expost.protocols import Check, Inquiry, Verdict
from expost.release import Past, Release
from tests.unit.examples import ADD, NONE, budget, counts, one_sentence, people, rehearsal, released, right

QUESTION: CentredSum[Integers, int] = CentredSum.accuracy(right, 0.5, ADD)
LEVELS = (Fraction(1), Fraction(2), Fraction(4))
CHECKS: dict[str, Check[Integers, int]] = {
    "Laplace path": ReducedAboveThreshold(QUESTION, LEVELS),
    "Brownian path": RenyiReducedAboveThreshold(QUESTION, tuple(budget(level) for level in LEVELS)),
    "sparse vector": SparseVectorCheck(QUESTION, Fraction(4), Fraction(4), None),
}
HELD, TRAINED = people(0, 0), released(0, 1).spent


class Interruption:
    """A draw that does not come back."""

    def __init__(self, by: BaseException) -> None:
        self._by = by

    def __int__(self) -> int:
        raise self._by

    def __bool__(self) -> bool:
        raise self._by


def stopping(after: int, by: BaseException) -> Noise:
    """Zeros so often, then an interruption instead of a draw."""
    return ScriptedNoise([*[0] * after, *[Interruption(by)] * 9])  # type: ignore[list-item] # no number at all


def ask(odometer: Odometer, inquiry: Inquiry[Integers, int], noise: Noise) -> Release[Verdict]:
    return odometer.ask(inquiry, HELD, released(1, 1), trained=TRAINED, noise=noise)


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize("draws", [0, 1])
@pytest.mark.parametrize("by", [KeyboardInterrupt(), SystemExit(), RuntimeError()], ids=repr)
def test_an_interrupted_inquiry_is_over(check: Check[Integers, int], draws: int, by: BaseException) -> None:
    odometer, inquiry = rehearsal(), Inquiry(check)
    with pytest.raises((KeyboardInterrupt, SystemExit, MechanismFailed)):
        ask(odometer, inquiry, stopping(draws, by))
    billed = odometer.spent

    with pytest.raises(SpentCheck, match="did not finish, which ends it") as refused:
        ask(odometer, inquiry, ScriptedNoise([0] * 9))

    assert one_sentence(refused.value)
    assert odometer.spent == billed == check.price(0, TRAINED, NONE).passed.as_spent()


def secret(inquiry: Inquiry[Integers, int]) -> int:
    """The threshold's noise of a Laplace path, as only a test may see it."""
    answers = inquiry._Inquiry__answers  # type: ignore[attr-defined] # what is private to it
    return int(answers._LaplaceAnswers__noise)


def test_asked_again_the_noise_would_shrink_below_its_level(monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative twin: without the bond each interrupted question reduces the threshold's noise once more."""
    monkeypatch.setattr(protocols.Bond, "__enter__", lambda bond: None)
    monkeypatch.setattr(protocols.Bond, "__exit__", lambda bond, *failure: None)
    odometer, inquiry = rehearsal(), Inquiry(ReducedAboveThreshold(QUESTION, LEVELS))
    ask(odometer, inquiry, ScriptedNoise([5, -9]))  # a threshold of 5, and a fail
    levels = [secret(inquiry)]

    for script in ([0, 0, 1, 1], [0, 0, 1, 0, 1]):  # neither stays nor crosses zero: falls, and ends before the answer
        with pytest.raises(MechanismFailed):
            ask(odometer, inquiry, ScriptedNoise(script))
        levels.append(secret(inquiry))

    assert levels == [5, 1, 0]


class Broken:
    """A ledger that cannot keep what was spent, or cannot even begin."""

    def __init__(self, *, holds: bool) -> None:
        self._holds = holds

    def pledge(self, pledge: Pledge | None) -> None:
        """Not asked for."""

    def hold(self, entry: Entry, promise: Promise) -> Hold:
        """A receipt, or a full disk."""
        if not self._holds:
            raise OSError("full")
        return Hold(entry, promise)

    def capture(self, hold: Hold, spent: Spent) -> None:
        """A full disk."""
        raise OSError("full")


def test_an_inquiry_whose_bill_was_not_settled_is_over() -> None:
    """The answer was drawn and never left; whether it passed must not show in what may be asked next."""
    odometer, inquiry = Odometer(ledger=Broken(holds=True), rehearsal=True), Inquiry(CHECKS["Laplace path"])
    with pytest.raises(OSError, match="full"):
        ask(odometer, inquiry, ScriptedNoise([0] * 9))

    with pytest.raises(SpentCheck, match="did not finish"):
        ask(odometer, inquiry, ScriptedNoise([0] * 9))


def test_an_inquiry_that_was_refused_before_it_began_is_not() -> None:
    """Nothing was drawn, so nothing has moved."""
    odometer, inquiry = Odometer(ledger=Broken(holds=False), rehearsal=True), Inquiry(CHECKS["Laplace path"])

    for _ in range(2):
        with pytest.raises(OSError, match="full"):
            ask(odometer, inquiry, ScriptedNoise([0] * 9))


def test_an_inquiry_goes_on_after_questions_that_finished() -> None:
    odometer, inquiry = rehearsal(), Inquiry(CHECKS["Laplace path"])

    answers = [ask(odometer, inquiry, ScriptedNoise([9, -9])), ask(odometer, inquiry, ScriptedNoise([1, -99]))]

    assert [answer.value.passed for answer in answers] == [False, False]


REDUCTIONS: dict[str, Callable[[], NoiseReduction[Integers]]] = {
    "on demand": lambda: NoiseReduction(counts(2), IntegerPath()),
    "from a path": lambda: NoiseReduction(counts(2), IntegerPath(), (1, 2, 4)),
}


@pytest.mark.parametrize("made", REDUCTIONS.values(), ids=REDUCTIONS)
@pytest.mark.parametrize("draws", [0, 1, 3])
@pytest.mark.parametrize("by", [KeyboardInterrupt(), RuntimeError()], ids=repr)
def test_an_interrupted_noise_reduction_is_over(
    made: Callable[[], NoiseReduction[Integers]], draws: int, by: BaseException
) -> None:
    """A path drawn in part used to be taken for a whole one."""
    odometer, mechanism = rehearsal(), made()
    if draws > 1 and mechanism._levels is None:
        odometer.spend(mechanism, HELD, budget(1), Past(), ScriptedNoise([0] * 2))
    with pytest.raises((KeyboardInterrupt, MechanismFailed)):
        odometer.spend(mechanism, HELD, budget(1), Past(), stopping(draws, by))
    billed = odometer.spent

    with pytest.raises(SpentCheck, match="did not finish, which ends it") as refused:
        odometer.spend(mechanism, HELD, budget(1), Past(), ScriptedNoise([0] * 99))

    assert one_sentence(refused.value)
    assert odometer.spent == billed
    assert np.isfinite(billed.at(20))
