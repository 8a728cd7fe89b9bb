"""Gaussian checks: a planned or a balanced price for each question, and no question beyond the plan."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pytest

from expost.accounting.claim import Spent
from expost.accounting.gaussian import MOST_CHANGES, lattice_rho
from expost.checks.confidence import Confidence
from expost.checks.gaussian import BalancedCheck, GaussianCheck
from expost.checks.question import CentredSum
from expost.errors import InvalidValue, SpentCheck
from expost.ledger import Fact
from expost.noise import Integers, Noise, ScriptedNoise
from expost.odometer import Odometer
from expost.private import Split
from expost.protocols import Check, Inquiry, Price, Verdict
from expost.release import Past
from tests.unit.examples import ADD, NONE, Says, budget, line, people, rehearsal, released, right, silence

QUESTION: CentredSum[Integers, int] = CentredSum(right, Fraction(3, 4), ADD)
HELD = np.array([1, 1, 1, 2])


@dataclass
class Entry:
    """A line of a bill, as an audit has it."""

    sensitivity: int
    rho: Fraction
    xi: Fraction = Fraction(0)
    facts: Mapping[str, Fact] = field(default_factory=dict)

    def whole(self, fact: str) -> int:
        """The sensitivity, the only count on record."""
        return {"sensitivity": self.sensitivity}[fact]

    def fraction(self, fact: str) -> Fraction:
        """None are on record."""
        raise AssertionError(fact)


def answered(check: Check[Integers, int], candidate: int, noise: Noise) -> Verdict:
    """The first question of a fresh run, priced and answered."""
    inquiry = Inquiry(check)
    return inquiry.answer(inquiry.price(NONE, NONE), HELD, candidate, noise)


def balanced(trained: Spent, asked: Spent = NONE) -> Price:
    """What a balanced check asks for, given what both parts have spent."""
    return BalancedCheck(QUESTION, None).price(0, trained, asked)


def trained(rho: Fraction) -> Spent:
    """What a training part has spent."""
    return Spent(line(0, rho))


@pytest.mark.parametrize(("candidate", "noise", "passed"), [(1, 0, True), (1, -1, False), (2, 7, False), (2, 8, True)])
def test_a_candidate_passes_when_the_noisy_margin_is_not_negative(candidate: int, noise: int, passed: bool) -> None:
    """Three of four right is a margin of 0 at 3/4; one of four is −8 quarters."""
    check = GaussianCheck(QUESTION, budget(1), 3, None)

    assert answered(check, candidate, ScriptedNoise([noise])).passed is passed


SHARED: dict[str, Fact] = {"epsilon": "1", "alpha": "20", "questions": 3}


@pytest.mark.parametrize(
    ("check", "more"),
    [(GaussianCheck(QUESTION, budget(1), 3, None), SHARED), (BalancedCheck(QUESTION, None), {})],
)
def test_the_record_holds_the_sensitivity_its_unit_and_what_the_price_follows_from(
    check: Check[Integers, int], more: dict[str, Fact]
) -> None:
    assert check.facts() == {"sensitivity": 3, "unit": 4, **more}


@pytest.mark.parametrize(
    ("check", "name"),
    [
        (GaussianCheck(QUESTION, budget(1), 3, None), "Gaussian check"),
        (BalancedCheck(QUESTION, None), "balanced check"),
    ],
)
def test_the_name_on_record_tells_the_two_checks_apart(check: Check[Integers, int], name: str) -> None:
    assert check.name == name


def test_the_noisy_margin_is_shown_in_records() -> None:
    verdict = answered(GaussianCheck(QUESTION, budget(1), 3, None), 2, ScriptedNoise([2]))

    assert verdict.margin == -6 / 4
    assert verdict.std == pytest.approx(math.sqrt(9 * 20 * 3 / 2) / 4)


def test_six_questions_at_one_hundredth_have_the_noise_of_the_formula() -> None:
    """σ² = αΔ²·6/(2·ε) is 6000 squared sensitivities at α = 20 and ε = 1/100."""
    check = GaussianCheck(QUESTION, budget(Fraction(1, 100)), 6, None)

    verdict = answered(check, 1, ScriptedNoise([0]))

    assert verdict.std == pytest.approx(math.sqrt(6000) * QUESTION.sensitivity / QUESTION.unit)


@pytest.mark.parametrize("index", range(4))
def test_every_question_costs_an_equal_share(index: int) -> None:
    price = GaussianCheck(QUESTION, budget(1), 4, None).price(index, NONE, NONE)

    rho, variance = Fraction(1, 80), Fraction(9 * 40)
    assert price.passed.curve == line(0, rho, lattice_rho(variance, Fraction(9)))


FINE: CentredSum[Integers, int] = CentredSum(right, Fraction("0.123456"), ADD)
"""A threshold of many digits: one record moves the margin by more than ten thousand units."""


@pytest.mark.parametrize(
    "check", [GaussianCheck(FINE, budget(1), 4, None), BalancedCheck(FINE, None)], ids=["even", "balanced"]
)
def test_a_threshold_of_many_digits_keeps_the_gaussian_profile(check: Check[Integers, int]) -> None:
    """An answer is one integer, of which one coordinate changes however far a record moves it."""
    spread = Fraction(FINE.sensitivity**2)

    price = Inquiry(check).price(trained(Fraction(1, 80)), NONE)

    assert spread > MOST_CHANGES
    assert price.passed.curve == line(0, Fraction(1, 80), lattice_rho(40 * spread, spread, 1))
    assert price.passed.curve.gaussian is not None


@pytest.mark.parametrize("check", [GaussianCheck, BalancedCheck])
def test_an_audit_works_the_profile_of_many_digits_out_again(check: type[BalancedCheck[Integers, int]]) -> None:
    due = check.rule(Entry(FINE.sensitivity, Fraction(1, 80)))

    assert due.curve == BalancedCheck(FINE, None).price(0, trained(Fraction(1, 80)), NONE).passed.curve


def test_all_planned_questions_together_cost_the_budget() -> None:
    odometer, inquiry = rehearsal(), Inquiry(GaussianCheck(QUESTION, budget(1), 3, None))
    held = people(1, 2)

    for _ in range(3):
        odometer.ask(inquiry, held, released(1, 1), trained=NONE, noise=ScriptedNoise([-99]))

    assert odometer.spent.at(20) == 1.0


def test_one_question_more_than_planned_is_refused() -> None:
    inquiry = Inquiry(GaussianCheck(QUESTION, budget(1), 1, None))
    inquiry.answer(inquiry.price(NONE, NONE), HELD, 1, ScriptedNoise([-1]))

    with pytest.raises(SpentCheck, match="every planned question has been asked"):
        inquiry.price(NONE, NONE)


def test_a_fresh_run_has_all_its_questions_again() -> None:
    check = GaussianCheck(QUESTION, budget(1), 1, None)
    answered(check, 1, ScriptedNoise([-1]))

    assert Inquiry(check).price(NONE, NONE).passed.at(20) == 1.0


def test_a_passed_question_is_billed_like_a_failed_one() -> None:
    price = GaussianCheck(QUESTION, budget(1), 2, None).price(0, NONE, NONE)

    assert price.passed == price.failed


@pytest.mark.parametrize("questions", [0, -1])
def test_a_check_plans_at_least_one_question(questions: int) -> None:
    with pytest.raises(InvalidValue, match="plan at least one"):
        GaussianCheck(QUESTION, budget(1), questions, None)


def test_a_balanced_check_spends_what_training_has_spent() -> None:
    assert balanced(trained(Fraction(1, 7))).passed.at(20) == trained(Fraction(1, 7)).at(20)


def test_a_balanced_check_spends_the_difference_to_what_was_asked_before() -> None:
    price = balanced(trained(Fraction(1, 10)), asked=trained(Fraction(1, 100)))

    assert price.passed.at(20) == line(0, Fraction(9, 100)).at(20)


@pytest.mark.parametrize("spent", [NONE, Spent(line(3, 0))])
def test_a_balanced_check_needs_training_that_spent_something_with_the_order(spent: Spent) -> None:
    with pytest.raises(SpentCheck, match="has spent no Gaussian budget beyond the held-out part"):
        balanced(spent)


def test_a_balanced_check_is_not_asked_twice_about_the_same_spending() -> None:
    odometer, parts = rehearsal(), Split.from_parts(people(1), people(1), because="two hospitals")
    inquiry = Inquiry(BalancedCheck(QUESTION, None))
    odometer.spend(Says(1), parts.train, budget(1), Past(), silence())
    ask(odometer, inquiry, parts)

    with pytest.raises(SpentCheck, match="nothing to balance"):
        ask(odometer, inquiry, parts)


def test_a_balanced_check_counts_what_the_held_part_spent_on_other_things() -> None:
    odometer, parts = rehearsal(), Split.from_parts(people(1), people(1), because="two hospitals")
    assert parts.held is not None
    odometer.spend(Says(1), parts.train, budget(3), Past(), silence())
    odometer.spend(Says(1), parts.held, budget(1), Past(), silence())

    ask(odometer, Inquiry(BalancedCheck(QUESTION, None)), parts)

    assert odometer.spent_on(parts.held).at(20) == odometer.spent_on(parts.train).at(20) == 3.0


def ask(odometer: Odometer, inquiry: Inquiry[Integers, int], parts: Split[Integers]) -> None:
    """One question that fails, of the held part."""
    assert parts.held is not None
    spent = odometer.spent_on(parts.train)
    odometer.ask(inquiry, parts.held, released(1, 1), trained=spent, noise=ScriptedNoise([-99]))


def test_a_check_speaks_for_the_relation_of_its_question() -> None:
    assert GaussianCheck(QUESTION, budget(1), 1, None).neighbours is BalancedCheck(QUESTION, None).neighbours is ADD


SURE = Confidence.of(0.95, looks=3)
CONFIDENT: list[Check[Integers, int]] = [GaussianCheck(QUESTION, budget(1), 3, SURE), BalancedCheck(QUESTION, SURE)]
SHARE = trained(Fraction(1, 60))
"""What a balanced check matches with the share of three questions, whose noise has the variance 270."""


@pytest.mark.parametrize("check", CONFIDENT)
@pytest.mark.parametrize(("above", "passed"), [(0, True), (-1, False)])
def test_with_a_confidence_a_candidate_passes_from_the_guard_on(
    check: Check[Integers, int], above: int, passed: bool
) -> None:
    guard = SURE.guard(Fraction(270))

    verdict = check.begin().answer(0, check.price(0, SHARE, NONE), HELD, 1, ScriptedNoise([guard + above]))

    assert guard > 0
    assert (verdict.passed, verdict.guard) == (passed, guard / 4)


@pytest.mark.parametrize("check", [GaussianCheck(QUESTION, budget(1), 3, SURE), BalancedCheck(QUESTION, SURE)])
def test_the_noise_and_the_guard_of_an_answer_are_known_beforehand(
    check: GaussianCheck[Integers, int] | BalancedCheck[Integers, int],
) -> None:
    look = check.look(check.price(0, SHARE, NONE))

    assert look.std == pytest.approx(math.sqrt(270) / 4)
    assert look.guard == SURE.guard(Fraction(270)) / 4


@pytest.mark.parametrize("check", CONFIDENT)
def test_a_look_that_the_confidence_was_not_planned_for_is_refused(check: Check[Integers, int]) -> None:
    check.price(2, SHARE, NONE)

    with pytest.raises(SpentCheck, match="plan"):
        check.price(3, SHARE, NONE)


@pytest.mark.parametrize("looks", [3, 4])
def test_a_confidence_covers_every_planned_question(looks: int) -> None:
    assert GaussianCheck(QUESTION, budget(1), 3, Confidence.of(0.95, looks=looks)).questions == 3


def test_a_confidence_for_fewer_looks_than_questions_is_refused() -> None:
    with pytest.raises(InvalidValue, match="plan as many looks as questions"):
        GaussianCheck(QUESTION, budget(1), 4, SURE)
