"""Lines of a bill: each rule gives the formula of its mechanism, and whatever differs from it is noticed."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import pytest

from expost.accounting.claim import Budget, Spent
from expost.accounting.curve import ORDERS, Curve, Linear, Tabulated
from expost.accounting.descent import Descent
from expost.bill import Item
from expost.errors import ExpostError
from expost.ledger import Entry, Fact
from expost.receipts import lines
from expost.receipts.lines import RULES, at_their_word, faults, within
from tests.unit.examples import ADD, line

ALPHA = Fraction(20)
NAMES = {
    "Gaussian",
    "FloatGaussian",
    "Brownian",
    "Laplace",
    "FloatLaplace",
    "NoiseReduction",
    "SpanningTree",
    "Growing",
    "Exponential",
    "Head",
    "FullBatch",
    "ModuleDescent",
    "sparse vector check",
    "balanced check",
    "Gaussian check",
}
"""What stands on receipts that were written before."""


def pure(epsilon: float) -> Tabulated:
    """Randomised response at every order, by its two outputs."""
    odds = [math.exp(alpha * epsilon) + math.exp((1 - alpha) * epsilon) for alpha in ORDERS]
    pairs = zip(ORDERS, odds, strict=True)
    return Tabulated.of(ORDERS, [math.log(odd / (1 + math.exp(epsilon))) / (alpha - 1) for alpha, odd in pairs])


def chosen(epsilon: Fraction, draws: int = 1) -> Linear:
    """A choice: the curve of its bounded range, and π/2 times it, rounded up, as its profile."""
    return line(0, draws * epsilon**2 / 8, Fraction(355, 226) * draws * epsilon**2 / 8)


def spent(rho: Fraction, variance: Fraction) -> Linear:
    """Integer noise: the curve, and the profile of a Gaussian with three less of variance."""
    return line(0, rho, rho * variance / (variance - 3))


DESCENT: Mapping[str, Fact] = {"steps": 5, "rate": "1/50", "noise multiplier": "3/2"}
STEPS = Descent(Fraction(1, 50), Fraction(3, 2)).promise(5).curve
ASKED: Mapping[str, Fact] = {"sensitivity": 4, "unit": 5}
SPARSE: Mapping[str, Fact] = {**ASKED, "variance": "32", "scale": "8", "monotone": False}


@dataclass(frozen=True)
class Case:
    """A line as an honest run writes it, and the ρ or the ε of the budget that pays for it."""

    what: str
    facts: Mapping[str, Fact]
    curve: Curve
    floating: bool = False
    budget: Budget | None = None

    @property
    def item(self) -> Item:
        entry = Entry(self.what, "data/train", ADD.value, False, self.floating, self.facts)
        return Item(entry, Spent(self.curve), 1, True)


def rho(value: Fraction) -> Budget:
    return Budget(value * ALPHA, ALPHA)


MEASURED: Mapping[str, Fact] = {"l2_squared": "2", "variance": "10", "cells": 3}
WHOLE: Mapping[str, Fact] = {"steps": 4, "rate": "1", "noise multiplier": "2"}
REAL: Mapping[str, Fact] = {"l2": "1/2", "variance": "10"}
SPREAD: Mapping[str, Fact] = {"l1": "1", "scale": "2"}
TENTH, EIGHTIETH = spent(Fraction(1, 10), Fraction(10)), line(0, Fraction(1, 80), Fraction(1, 80))
CASES = {
    "Gaussian": Case("Gaussian", MEASURED, TENTH, False, rho(Fraction(1, 10))),
    "narrow Gaussian": Case(
        "Gaussian", {**MEASURED, "variance": "4"}, line(0, Fraction(1, 4)), False, rho(Fraction(1, 4))
    ),
    "float Gaussian": Case("FloatGaussian", REAL, EIGHTIETH, True, rho(Fraction(1, 80))),
    "Brownian": Case("Brownian", MEASURED, TENTH, False, rho(Fraction(1, 10))),
    "Growing": Case("Growing", {**MEASURED, "candidates": 3}, TENTH, False, rho(Fraction(1, 10))),
    "float Brownian": Case("Brownian", REAL, EIGHTIETH, True, rho(Fraction(1, 80))),
    "Laplace": Case("Laplace", SPREAD, pure(0.5), False, Budget(Fraction(1, 2), ALPHA)),
    "float Laplace": Case("FloatLaplace", SPREAD, pure(0.5), True, Budget(Fraction(1, 2), ALPHA)),
    "reduction": Case("NoiseReduction", {"l1": "1", "level": "3"}, line(3, 0), False, Budget(Fraction(3), ALPHA)),
    "choice": Case("Exponential", {"epsilon": "1/2"}, chosen(Fraction(1, 2)), False, rho(Fraction(1, 32))),
    "tree": Case(
        "SpanningTree", {"draws": 3, "epsilon": "1/2"}, chosen(Fraction(1, 2), 3), False, rho(Fraction(3, 32))
    ),
    "head": Case("Head", {**DESCENT, "noise": "exact discrete Gaussian"}, STEPS, False),
    "float head": Case("Head", {**DESCENT, "noise": "floating-point Gaussian"}, STEPS, True),
    "full batch": Case(
        "FullBatch",
        {**WHOLE, "noise": "exact discrete Gaussian"},
        line(0, Fraction(1, 2), Fraction(1, 2)),
        False,
        rho(Fraction(1, 2)),
    ),
    "module": Case("ModuleDescent", {**DESCENT, "noise": "floating-point Gaussian"}, STEPS, True),
    "Gaussian check": Case("Gaussian check", ASKED, spent(Fraction(1, 2), Fraction(16))),
    "narrow check": Case("Gaussian check", ASKED, line(0, 2)),
    "balanced check": Case("balanced check", ASKED, spent(Fraction(1, 2), Fraction(16))),
    "sparse threshold": Case("sparse vector check", SPARSE, line(0, Fraction(1, 64))),
    "sparse first pass": Case("sparse vector check", SPARSE, line(Fraction(1, 4), Fraction(1, 64))),
    "sparse pass": Case("sparse vector check", SPARSE, line(Fraction(1, 4), 0)),
    "sparse fail": Case("sparse vector check", SPARSE, line(0, 0, 0)),
    "monotone pass": Case("sparse vector check", {**SPARSE, "monotone": True}, line(Fraction(1, 8), 0)),
}


def refused(case: Case) -> bool:
    """Whether a line is noticed, be it by a sentence or because it cannot be worked out."""
    try:
        return any("does not follow from its facts" in fault for fault in faults([case.item]))
    except (ExpostError, ArithmeticError, KeyError):
        return True


def scaled(curve: Curve, factor: Fraction) -> Curve:
    if isinstance(curve, Tabulated):
        return Tabulated.of(curve.orders, [value * float(factor) for value in curve.values.tolist()])
    assert isinstance(curve, Linear)
    profile = None if curve.gaussian is None else curve.gaussian * factor
    return Linear(curve.xi * factor, curve.rho * factor, profile)


def test_the_names_are_those_that_receipts_have() -> None:
    assert set(RULES) == NAMES
    assert {case.what for case in CASES.values()} == NAMES


@pytest.mark.parametrize("name", CASES)
def test_an_honest_line_follows_from_its_facts(name: str) -> None:
    assert not refused(CASES[name])


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.budget is not None])
def test_a_step_is_within_the_budget_that_calls_for_it_and_no_other(name: str) -> None:
    case = CASES[name]
    assert case.budget is not None

    assert within(case.item, case.budget)
    for factor in (Fraction(999, 1000), Fraction(1001, 1000)):
        assert not within(case.item, Budget(case.budget.epsilon * factor, ALPHA))


@pytest.mark.parametrize("name", ["head", "module"])
def test_gradient_steps_are_within_a_budget_that_buys_just_as_many(name: str) -> None:
    price = Fraction(Descent(Fraction(1, 50), Fraction(3, 2)).step.at(ALPHA))
    item = CASES[name].item

    assert [within(item, Budget(count * price, ALPHA)) for count in (4, 5, 6)] == [False, True, False]


def test_gradient_steps_cost_the_sampled_gaussian_each() -> None:
    """At order 2 its divergence is ln(1 + q²(e^{1/σ²} − 1))."""
    assert STEPS.at(2) == pytest.approx(5 * math.log1p((math.exp(4 / 9) - 1) / 2500), rel=1e-9)


ANY_PRICE = {"reduction", "Gaussian check", "narrow check", "balanced check", "sparse fail"}
"""Lines whose price the facts leave open, up to what other lines or a budget say of it."""


@pytest.mark.parametrize("factor", [Fraction(1, 2), Fraction(999999, 1000000), Fraction(2)])
@pytest.mark.parametrize("name", [name for name in CASES if name not in ANY_PRICE])
def test_another_cost_is_noticed(name: str, factor: Fraction) -> None:
    case = CASES[name]

    assert refused(replace(case, curve=scaled(case.curve, factor)))


@pytest.mark.parametrize("factor", [Fraction(1, 2), Fraction(2)])
@pytest.mark.parametrize("name", ["Gaussian check", "balanced check"])
def test_the_profile_of_a_look_follows_from_its_price(name: str, factor: Fraction) -> None:
    case = CASES[name]

    assert refused(replace(case, curve=scaled(case.curve, factor)))


@pytest.mark.parametrize("name", ["Gaussian check", "balanced check", "narrow check"])
def test_a_look_is_never_free(name: str) -> None:
    assert refused(replace(CASES[name], curve=line(0, 0, 0)))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if isinstance(case.curve, Linear)])
def test_a_profile_that_nothing_led_to_is_noticed(name: str) -> None:
    """The exact Gaussian profile states less than the curve alone."""
    case = CASES[name]
    assert isinstance(case.curve, Linear)
    if case.curve.xi or case.curve == line(0, 0, 0):
        pytest.skip("a line with a pure part, or of nothing, has no other profile")
    profile = case.curve.rho * Fraction(3, 2) if case.curve.gaussian is None else None

    assert refused(replace(case, curve=replace(case.curve, gaussian=profile)))


@pytest.mark.parametrize("name", [name for name in CASES if name != "reduction"])
def test_a_line_that_says_the_wrong_thing_of_its_noise_is_noticed(name: str) -> None:
    case = CASES[name]

    assert refused(replace(case, floating=not case.floating))


NUMBERS = ["l2_squared", "l2", "variance", "l1", "scale", "epsilon", "draws", "rate", "noise multiplier", "steps"]
CHANGED = [
    (name, fact)
    for name, case in CASES.items()
    for fact in NUMBERS
    if fact in case.facts and name not in {"sparse fail", "reduction"}
]
SEEN_BY = {"sparse threshold": {"variance"}, "sparse pass": {"scale"}, "monotone pass": {"scale"}}
"""Which scale a line shows that paid for one of two only."""


@pytest.mark.parametrize(("name", "fact"), [pair for pair in CHANGED if pair[1] in SEEN_BY.get(pair[0], set(NUMBERS))])
def test_another_fact_is_noticed(name: str, fact: str) -> None:
    case = CASES[name]
    found = case.facts[fact]
    other: Fact = found + 1 if isinstance(found, int) else str(Fraction(str(found)) * Fraction(101, 100))

    assert refused(replace(case, facts={**case.facts, fact: other}))


@pytest.mark.parametrize(("name", "fact"), [pair for pair in CHANGED if pair[0] != "NoiseReduction"])
@pytest.mark.parametrize("hostile", ["0", "-1", "1/0", "1e9", "9" * 5000, -1, True, 10**30])
def test_a_hostile_fact_is_noticed(name: str, fact: str, hostile: Fact) -> None:
    case = CASES[name]

    assert refused(replace(case, facts={**case.facts, fact: hostile}))


@pytest.mark.parametrize(("name", "fact"), CHANGED)
def test_a_missing_fact_is_noticed(name: str, fact: str) -> None:
    case = CASES[name]

    assert refused(replace(case, facts={each: value for each, value in case.facts.items() if each != fact}))


def test_whether_questions_move_the_same_way_is_told_from_what_only_looks_true() -> None:
    pass_of_one = replace(CASES["monotone pass"], facts={**SPARSE, "monotone": 1})

    assert refused(pass_of_one)


def test_integers_are_not_taken_for_real_numbers_by_name() -> None:
    assert refused(Case("Gaussian", REAL, EIGHTIETH, True))
    assert refused(Case("FloatGaussian", MEASURED, TENTH, False))


@pytest.mark.parametrize("name", ["reduction", "sparse pass", "Gaussian check"])
def test_a_curve_of_another_shape_is_noticed(name: str) -> None:
    crossing = Spent(line(3, 0)).beside(Spent(line(0, 1))).curve

    assert refused(replace(CASES[name], curve=crossing))
    assert refused(replace(CASES[name], curve=pure(0.5)))


def test_what_no_rule_knows_is_named_and_within_every_budget() -> None:
    item = Case("Housekeeping", {}, line(0, 1)).item

    assert list(at_their_word([item, CASES["Gaussian"].item])) == [
        "line 1, 'Housekeeping', is taken at its word: it is not a step that expost knows."
    ]
    assert within(item, rho(Fraction(1, 10)))
    assert list(faults([item])) == []


def test_agreement_is_exact_where_curves_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: were all curves compared with some tolerance, a cost that is a little lower would be believed."""
    case = CASES["float Gaussian"]
    lower = replace(case, curve=scaled(case.curve, 1 - Fraction(1, 10**12)))
    assert refused(lower)

    monkeypatch.setattr(lines, "_follows", lambda item, due: lines.alike(item.spent.curve, due.curve))

    assert not refused(lower)
