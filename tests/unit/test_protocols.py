"""One step: a release is NOT PRIVATE or floating if anything that led to it is, and an answer costs its own price."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import pytest

from expost.accounting.claim import Promise, Spent
from expost.errors import LedgerConflict, MechanismFailed, SpentCheck
from expost.ledger import Fact, MemoryLedger
from expost.noise import Integers, Noise, SeededNoise, SystemNoise
from expost.odometer import Odometer
from expost.private import Neighbours, Private, split
from expost.protocols import Bond, Inquiry, Price, Verdict
from expost.release import Past, Release
from tests.unit.examples import ADD, NONE, Says, budget, line, people, rehearsal

SYSTEM = SystemNoise()
PASS, FAIL = Promise(line(3, 1)), Promise(line(1, Fraction(1, 2)))


@dataclass(frozen=True)
class Echo:
    """A check that passes a true candidate, at a price for either answer, and notes the numbers of the questions."""

    neighbours: Neighbours = ADD
    name: str = "echo"
    asked: list[int] = field(default_factory=list)
    failed: Promise = FAIL
    breaks: bool = False

    def price(self, index: int, trained: Spent, asked: Spent) -> Price:
        self.asked.append(index)
        return Price(PASS, self.failed)

    def begin(self) -> "Echo":
        return self

    def answer(self, index: int, price: Price, held: Integers, candidate: bool, noise: Noise) -> Verdict:
        self.asked.append(index)
        if self.breaks:
            raise ValueError("whatever happens with data open")
        return Verdict(candidate)

    def facts(self) -> Mapping[str, Fact]:
        return {}


def part(*, seeded: bool) -> Private[Integers]:
    """Records chosen by coins that can be repeated, or not."""
    return split(people(1, 2, 3), Fraction(1, 2), SeededNoise(1) if seeded else SYSTEM).train


def candidate(value: bool = True, *, seeded: bool = False, floating: bool = False) -> Release[bool]:
    """A release by an odometer of its own."""
    mechanism = Says(value, floating=floating)
    return rehearsal().spend(mechanism, people(0), budget(1), Past(), SeededNoise(1) if seeded else SYSTEM)


@pytest.mark.parametrize(
    ("data", "past", "noise", "seeded"),
    [
        (False, False, False, False),
        (True, False, False, True),
        (False, True, False, True),
        (False, False, True, True),
    ],
)
def test_a_release_is_not_private_if_its_data_its_past_or_its_noise_can_be_repeated(
    data: bool, past: bool, noise: bool, seeded: bool
) -> None:
    earlier, drawn = Past(candidate(seeded=past)), SeededNoise(2) if noise else SYSTEM

    released = rehearsal().spend(Says(True), part(seeded=data), budget(1), earlier, drawn)

    assert released.seeded is seeded


@pytest.mark.parametrize("mechanism", [False, True])
@pytest.mark.parametrize("past", [False, True])
def test_a_release_is_floating_if_its_mechanism_or_its_past_is(mechanism: bool, past: bool) -> None:
    earlier = Past(candidate(floating=past))

    released = rehearsal().spend(Says(True, floating=mechanism), people(0), budget(1), earlier, SYSTEM)

    assert released.floating is (mechanism or past)


@pytest.mark.parametrize(
    ("held", "asked", "noise", "seeded"),
    [
        (False, False, False, False),
        (True, False, False, True),
        (False, True, False, True),
        (False, False, True, True),
    ],
)
def test_a_verdict_is_not_private_if_its_data_its_candidate_or_its_noise_can_be_repeated(
    held: bool, asked: bool, noise: bool, seeded: bool
) -> None:
    about, drawn = candidate(seeded=asked), SeededNoise(2) if noise else SYSTEM

    verdict = rehearsal().ask(Inquiry(Echo()), part(seeded=held), about, trained=NONE, noise=drawn)

    assert verdict.seeded is seeded


@pytest.mark.parametrize("floating", [False, True])
def test_a_verdict_is_floating_if_its_candidate_is(floating: bool) -> None:
    about = candidate(floating=floating)

    assert rehearsal().ask(Inquiry(Echo()), people(0), about, trained=NONE, noise=SYSTEM).floating is floating


@pytest.mark.parametrize(("passes", "price"), [(True, PASS), (False, FAIL)])
def test_an_answer_is_billed_at_its_own_price(passes: bool, price: Promise) -> None:
    """A pass at the price of a fail would be a bound too low."""
    odometer = Odometer()

    odometer.ask(Inquiry(Echo()), people(0), candidate(passes), trained=NONE, noise=SYSTEM)

    assert odometer.spent == price.as_spent()


def test_a_verdict_carries_what_its_candidate_cost_besides() -> None:
    """They are of two odometers, so their bills add up."""
    about = candidate(False)

    verdict = Odometer().ask(Inquiry(Echo()), people(0), about, trained=NONE, noise=SYSTEM)

    assert verdict.spent == about.spent + FAIL.as_spent()


def test_questions_are_counted_from_zero_up_to_the_first_pass() -> None:
    """The number of a question is what a check is priced by."""
    odometer, check, data = Odometer(), Echo(), people(0)
    inquiry = Inquiry(check)
    for value in (False, False, True):
        odometer.ask(inquiry, data, candidate(value), trained=NONE, noise=SYSTEM)

    assert check.asked == [0, 0, 1, 1, 2, 2]
    with pytest.raises(SpentCheck, match="has passed a candidate"):
        odometer.ask(inquiry, data, candidate(), trained=NONE, noise=SYSTEM)


def test_a_run_of_a_check_stays_with_its_owner() -> None:
    inquiry = Inquiry(Echo())
    inquiry.bond.bind("this odometer")

    with pytest.raises(LedgerConflict, match="belongs to another odometer"):
        inquiry.bond.bind("another one")


@pytest.mark.parametrize("failed", [FAIL, Promise(line(9, 0))])
def test_a_question_that_breaks_costs_the_dearer_answer_at_every_order(failed: Promise) -> None:
    """Nobody knows which answer it would have been; the second fail is the dearer answer at low orders only."""
    odometer = Odometer()

    with pytest.raises(MechanismFailed):
        odometer.ask(Inquiry(Echo(failed=failed, breaks=True)), people(0), candidate(), trained=NONE, noise=SYSTEM)

    assert odometer.spent == PASS.beside(failed).as_spent()


def test_a_question_goes_on_record_as_drawn_exactly() -> None:
    memory = MemoryLedger()

    Odometer(ledger=memory).ask(Inquiry(Echo()), people(0), candidate(), trained=NONE, noise=SYSTEM)

    ((entry, spent, times),) = memory.lines
    assert (entry.what, entry.floating, entry.seeded, spent, times) == ("echo", False, False, PASS.as_spent(), 1)


def test_a_run_of_a_check_is_over_while_a_step_is_under_way_and_after_one_that_did_not_finish() -> None:
    bond = Bond("run of the check")
    with bond, pytest.raises(SpentCheck, match="did not finish, which ends it"):
        bond.require("an odometer")
    bond.require("an odometer")

    with pytest.raises(KeyError), bond:
        raise KeyError

    with pytest.raises(SpentCheck, match="did not finish, which ends it"):
        bond.require("an odometer")
