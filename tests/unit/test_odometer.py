"""Odometers: what is spent adds up by parts, caps are tested before data is opened, and failures stay billed."""

import math
import os
import signal
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, make_dataclass
from fractions import Fraction
from functools import partial
from threading import Barrier, BrokenBarrierError, Event, Thread
from typing import final

import pytest

from expost.accounting.claim import Budget, Promise, Spent
from expost.accounting.curve import Curve
from expost.accounting.descent import Descent
from expost.accounting.pledge import FixedOrder, Pledge
from expost.accounting.stops import PlannedStops
from expost.baselines import ReducedAboveThreshold
from expost.checks.gaussian import GaussianCheck
from expost.checks.question import CentredSum
from expost.errors import BudgetExceeded, InvalidValue, LedgerConflict, MechanismFailed, NotPrivate, SpentCheck
from expost.filters import Filter, PledgedFilter
from expost.ladder import Ladder
from expost.ledger import Entry, Fact, Hold, MemoryLedger
from expost.mechanisms.brownian import Brownian, Estimate
from expost.mechanisms.gaussian import Gaussian
from expost.mechanisms.laplace import Laplace
from expost.mechanisms.laplace_path import IntegerPath
from expost.mechanisms.noise_reduction import NoiseReduction
from expost.noise import Integers, Noise, ScriptedNoise, SeededNoise, SystemNoise
from expost.numerics import Real
from expost.odometer import Odometer
from expost.private import Neighbours, Private, Split, split
from expost.protocols import Answers, Inquiry, Price
from expost.release import Past, Release
from tests.unit.examples import (
    ADD,
    NONE,
    REPLACE,
    Says,
    Tripwire,
    Watched,
    budget,
    counts,
    line,
    next_up,
    people,
    rehearsal,
    released,
    right,
    silence,
)

MANY_STEPS = 2_000
"""A generous ceiling for 1e5 steps; a total recomputed at each step would take hours."""

SYSTEM = SystemNoise()
CHECK: GaussianCheck[Integers, int] = GaussianCheck(CentredSum(right, Fraction(1, 2), ADD), budget(1), 2, None)
PLEDGE = FixedOrder.at(20, 1e-5)


def spend(odometer: Odometer, data: Private[Integers], epsilon: Real, alpha: Real = 20) -> Release[int]:
    """One step of a mechanism that says nothing, at the price."""
    return odometer.spend(Says(0), data, budget(epsilon, alpha), Past(), SYSTEM)


def held(parts: Split[Integers]) -> Private[Integers]:
    """The held part, which is there."""
    assert parts.held is not None
    return parts.held


def climb(odometer: Odometer, ladder: Ladder) -> None:
    """Every rung of the ladder, on one body of data."""
    data = people(0)
    for each in ladder.budgets:
        odometer.spend(Says(0), data, each, Past(), SYSTEM)


def test_a_fresh_odometer_has_spent_nothing() -> None:
    assert Odometer().spent == NONE


def test_steps_on_one_body_of_data_add() -> None:
    odometer, data = Odometer(), people(0)

    for epsilon in (1, 2, 3):
        spend(odometer, data, epsilon)

    assert odometer.spent.at(20) == 6.0


def test_two_unrelated_bodies_of_data_add() -> None:
    odometer = Odometer()

    spend(odometer, people(0), 1)
    spend(odometer, people(0), 2)

    assert odometer.spent.at(20) == 3.0


def test_the_two_sides_of_a_split_cost_the_larger() -> None:
    odometer, parts = Odometer(), split(people(0, 1), 0.5, SYSTEM)

    spend(odometer, parts.train, 1)
    spend(odometer, held(parts), 2)

    assert odometer.spent.at(20) == 2.0


def test_what_touched_the_whole_is_added_to_the_larger_side() -> None:
    odometer, data = Odometer(), people(0, 1)
    parts = split(data, 0.5, SYSTEM)

    spend(odometer, data, 4)
    spend(odometer, parts.train, 1)
    spend(odometer, held(parts), 2)

    assert odometer.spent.at(20) == 6.0


def test_two_splits_of_one_whole_add() -> None:
    odometer, data = Odometer(), people(0, 1)
    one, other = split(data, 0.5, SYSTEM), split(data, 0.5, SYSTEM)

    spend(odometer, one.train, 1)
    spend(odometer, held(other), 2)

    assert odometer.spent.at(20) == 3.0


def test_a_split_within_a_split_counts_on_its_own_side() -> None:
    """Train spends 1 itself and 4 on its larger half: 5, against 3 on the held side."""
    odometer, parts = Odometer(), split(people(0, 1), 0.5, SYSTEM)
    inner = split(parts.train, 0.5, SYSTEM)

    spend(odometer, parts.train, 1)
    spend(odometer, inner.train, 2)
    spend(odometer, held(inner), 4)
    spend(odometer, held(parts), 3)

    assert odometer.spent.at(20) == 5.0


def test_two_sources_on_the_word_of_the_caller_cost_the_larger() -> None:
    odometer, parts = Odometer(), Split.from_parts(people(0), people(1), because="two hospitals")

    spend(odometer, parts.train, 1)
    spend(odometer, held(parts), 2)

    assert odometer.spent.at(20) == 2.0


def test_a_split_does_not_forget_what_its_sources_had_spent() -> None:
    odometer, data = Odometer(), people(0)
    spend(odometer, data, 4)

    parts = Split.from_parts(data, people(1), because="two hospitals")
    spend(odometer, parts.train, 1)

    assert odometer.spent.at(20) >= 5


def test_what_was_spent_on_a_part_leaves_out_the_other() -> None:
    odometer, data = Odometer(), people(0, 1)
    parts = split(data, 0.5, SYSTEM)
    spend(odometer, data, 4)
    spend(odometer, parts.train, 1)
    spend(odometer, held(parts), 2)

    assert [odometer.spent_on(part).at(20) for part in (data, parts.train, held(parts))] == [6.0, 1.0, 2.0]


def test_the_release_carries_the_running_total() -> None:
    odometer, data = Odometer(), people(0)
    spend(odometer, data, 4)

    assert spend(odometer, data, 1).spent.at(20) == 5.0


def test_a_release_does_not_grow_with_what_is_spent_after_it() -> None:
    odometer, data = Odometer(), people(0)
    first = spend(odometer, data, 4)

    spend(odometer, data, 1)

    assert first.spent.at(20) == 4.0


def test_a_release_of_one_side_of_a_split_carries_the_larger_side() -> None:
    odometer, parts = Odometer(), split(people(0, 1), 0.5, SYSTEM)
    spend(odometer, parts.train, 4)

    assert spend(odometer, held(parts), 1).spent.at(20) == 4.0


def test_a_verdict_carries_the_running_total() -> None:
    odometer, parts = Odometer(), split(people(0, 1), 0.5, SYSTEM)
    candidate = spend(odometer, parts.train, 4)

    verdict = odometer.ask(Inquiry(CHECK), held(parts), candidate, trained=NONE, noise=SYSTEM)

    assert verdict.spent.at(20) == 4.0


def test_a_value_refined_from_the_past_of_another_odometer_carries_both_totals() -> None:
    """What the other odometer released is in the value, so that neither total alone covers it."""
    mechanism, data, one, other = Brownian(Gaussian(counts())), people(0), Odometer(), Odometer()
    past: Past[Estimate] = Past(one.spend(mechanism, data, budget(4), Past(), SYSTEM))

    refined = other.spend(mechanism, data, budget(1), past, SYSTEM)

    assert refined.spent.at(20) == 5.0


def test_a_verdict_on_the_candidate_of_another_odometer_carries_both_totals() -> None:
    candidate = spend(Odometer(), people(0), 4)

    verdict = Odometer().ask(Inquiry(CHECK), people(0), candidate, trained=NONE, noise=SYSTEM)

    assert verdict.spent.at(20) == 4.5


def test_an_odometer_says_where_its_steps_are_on_record() -> None:
    memory = MemoryLedger()

    assert Odometer(ledger=memory).ledger is memory
    assert isinstance(Odometer().ledger, MemoryLedger)


def test_the_record_says_what_was_done_to_which_part() -> None:
    memory = MemoryLedger()

    Odometer(ledger=memory).spend(Gaussian(counts()), people(0), budget(1), Past(), SYSTEM)

    facts: dict[str, Fact] = {"statistic": "histogram", "cells": 3, "l2_squared": "1", "variance": "10"}
    assert [entry for entry, _, _ in memory.lines] == [Entry("Gaussian", "data", ADD.value, False, False, facts)]


def test_a_step_goes_on_record_by_its_declared_name_whatever_its_class_is_called() -> None:
    memory = MemoryLedger()
    renamed = make_dataclass("Renamed", [], bases=(Says,), frozen=True)

    Odometer(ledger=memory).spend(renamed(1), people(0), budget(1), Past(), SYSTEM)

    assert [entry.what for entry, _, _ in memory.lines] == ["Says"]


@pytest.mark.parametrize("named", [{}, {"name": ""}, {"name": 3}])
def test_a_mechanism_without_a_name_is_refused_before_data_is_opened(named: dict[str, object]) -> None:
    memory, wire = MemoryLedger(), Tripwire()
    says = Says(0, wire.codes)
    members = {member: getattr(says, member) for member in ("neighbours", "floating", "promise", "sample", "facts")}
    mechanism = type("Forgotten", (), members | named)()

    with pytest.raises(TypeError, match="Forgotten has no name to go on record with; give its class a name"):
        Odometer(ledger=memory).spend(mechanism, people(0), budget(1), Past(), SYSTEM)

    assert (memory.lines, memory.held, wire.opened) == ((), (), False)


def test_floating_steps_are_recorded_as_such() -> None:
    memory = MemoryLedger()

    Odometer(ledger=memory).spend(Says(0, floating=True), people(0), budget(1), Past(), SYSTEM)

    assert memory.lines[0][0].floating


def test_the_step_is_on_record_before_the_data_is_opened() -> None:
    memory: MemoryLedger = MemoryLedger()
    seen: Watched[int] = Watched()

    Odometer(ledger=memory).spend(Says(0, lambda data: seen(len(memory.held))), people(0), budget(1), Past(), SYSTEM)

    assert seen.seen == [1]


@pytest.mark.parametrize("levels", [[Fraction(1, 10), Fraction(1, 3)], [0.1, 0.2, 0.3], [Fraction(1, 7), 1], [0.7]])
def test_a_ladder_whose_total_is_exactly_the_cap_is_admitted(levels: list[Real]) -> None:
    odometer = Odometer(cap=Filter(budget(levels[-1])))

    climb(odometer, Ladder.of(levels, alpha=20))

    assert odometer.spent.at(20) >= Fraction(levels[-1])


@pytest.mark.parametrize("levels", [[0.1, 0.2, 0.3], [0.7]])
def test_one_ulp_above_the_cap_is_refused(levels: list[float]) -> None:
    odometer = Odometer(cap=Filter(budget(levels[-1])))

    with pytest.raises(BudgetExceeded, match="would spend"):
        climb(odometer, Ladder.of([*levels[:-1], next_up(levels[-1])], alpha=20))


def test_less_than_an_ulp_above_the_cap_is_refused() -> None:
    """The cap and the total are fractions; neither may be rounded before they are compared."""
    odometer = Odometer(cap=Filter(budget(Fraction(1, 3))))

    with pytest.raises(BudgetExceeded):
        spend(odometer, people(0), Fraction(1, 3) + Fraction(1, 2**70))


def test_a_pure_step_that_costs_exactly_the_cap_is_admitted() -> None:
    mechanism = Laplace(counts())
    price = mechanism.promise(budget(1)).at(20)

    release = Odometer(cap=Filter(budget(price))).spend(mechanism, people(0), budget(1), Past(), SYSTEM)

    assert release.spent.at(20) == price


def test_a_refused_step_opens_nothing() -> None:
    wire = Tripwire()

    with pytest.raises(BudgetExceeded):
        Odometer(cap=Filter(budget(1))).spend(Gaussian(wire.counts()), people(0), budget(2), Past(), SYSTEM)

    assert not wire.opened


def test_a_refused_step_is_neither_billed_nor_recorded() -> None:
    memory = MemoryLedger()
    odometer = Odometer(ledger=memory, cap=Filter(budget(1)))

    with pytest.raises(BudgetExceeded):
        spend(odometer, people(0), 2)

    assert (odometer.spent, memory.spent, memory.held) == (NONE, NONE, ())


def test_after_a_refusal_a_smaller_step_is_admitted() -> None:
    odometer, data = Odometer(cap=Filter(budget(1))), people(0)
    with pytest.raises(BudgetExceeded):
        spend(odometer, data, 2)

    spend(odometer, data, 1)

    assert odometer.spent.at(20) == 1.0


REFUSALS: list[tuple[Odometer, Noise]] = [
    (Odometer(cap=Filter(budget(Fraction(1, 100)))), SYSTEM),
    (Odometer(), silence()),
]
refusals = pytest.mark.parametrize(("strict", "noise"), REFUSALS, ids=["the cap", "seeded noise"])


@refusals
def test_a_refused_step_leaves_its_mechanism_free_for_another_odometer(strict: Odometer, noise: Noise) -> None:
    mechanism, data, other = NoiseReduction(counts(), IntegerPath()), people(0), Odometer()

    with pytest.raises((BudgetExceeded, NotPrivate)):
        strict.spend(mechanism, data, budget(1), Past(), noise)
    other.spend(mechanism, data, budget(1), Past(), SYSTEM)

    assert other.spent.at(20) == 1.0


@refusals
def test_a_refused_question_leaves_its_run_free_for_another_odometer(strict: Odometer, noise: Noise) -> None:
    inquiry, data, other = Inquiry(CHECK), people(0), Odometer()

    with pytest.raises((BudgetExceeded, NotPrivate)):
        strict.ask(inquiry, data, released(0, 1), trained=NONE, noise=noise)
    other.ask(inquiry, data, released(0, 1), trained=NONE, noise=SYSTEM)

    assert other.spent.at(20) == 0.5


def test_a_budget_refused_by_the_mechanism_leaves_it_free_for_another_odometer() -> None:
    mechanism, data, other = NoiseReduction(counts(), IntegerPath(), (Fraction(1), Fraction(2))), people(0), Odometer()

    with pytest.raises(InvalidValue, match="not the next level"):
        Odometer().spend(mechanism, data, budget(2), Past(), SYSTEM)
    other.spend(mechanism, data, budget(1), Past(), SYSTEM)

    assert other.spent.at(20) == 1.0


def test_a_mechanism_of_another_odometer_is_neither_billed_nor_recorded() -> None:
    mechanism, data, memory = NoiseReduction(counts(), IntegerPath()), people(0), MemoryLedger()
    Odometer().spend(mechanism, data, budget(1), Past(), SYSTEM)
    odometer = Odometer(ledger=memory)

    with pytest.raises(LedgerConflict, match="belongs to another odometer"):
        odometer.spend(mechanism, data, budget(1), Past(), SYSTEM)

    assert (odometer.spent, memory.held, memory.lines) == (NONE, (), ())


@pytest.mark.parametrize("margin", [-100, 100], ids=["under way", "over"])
def test_a_run_of_another_odometer_is_neither_billed_nor_recorded(margin: int) -> None:
    """Whether or not that run has passed a candidate, whose it is comes first."""
    inquiry, data, memory = Inquiry(CHECK), people(0), MemoryLedger()
    rehearsal().ask(inquiry, data, released(0, 1), trained=NONE, noise=ScriptedNoise([margin]))
    odometer = Odometer(ledger=memory)

    with pytest.raises(LedgerConflict, match="belongs to another odometer"):
        odometer.ask(inquiry, data, released(0, 1), trained=NONE, noise=SYSTEM)

    assert (odometer.spent, memory.held, memory.lines) == (NONE, (), ())


def test_a_cap_counts_the_larger_side_of_a_split() -> None:
    odometer, parts = Odometer(cap=Filter(budget(1))), split(people(0, 1), 0.5, SYSTEM)

    spend(odometer, parts.train, 1)
    spend(odometer, held(parts), 1)

    assert odometer.spent.at(20) == 1.0


def test_a_budget_at_another_order_is_compared_at_the_order_of_the_cap() -> None:
    """ε = 1 at order 40 is 1/2 at order 20."""
    odometer = Odometer(cap=Filter(budget(Fraction(1, 2))))

    spend(odometer, people(0), 1, alpha=40)

    assert odometer.spent.at(20) == 0.5


def test_a_filter_promises_its_cap() -> None:
    assert Filter(budget(1)).promise.at(20) == 1.0


@pytest.mark.parametrize("alpha", [Fraction(7, 3), Fraction(23, 10), 20])
def test_a_filter_promises_nothing_above_its_order(alpha: Real) -> None:
    just_above = Fraction(alpha) + Fraction(1, 10**20)

    assert Filter(budget(1, alpha)).promise.at(just_above) > 1


def test_a_pledged_filter_admits_what_is_stated_within_its_cap() -> None:
    pledge = FixedOrder.at(20, 1e-5)
    stated = pledge.epsilon(Promise(line(0, Fraction(1, 20))))

    odometer = Odometer(cap=PledgedFilter(pledge, stated))

    assert spend(odometer, people(0), 1).spent.at(20) == 1.0


def test_a_pledged_filter_refuses_what_would_be_stated_above_its_cap() -> None:
    pledge = FixedOrder.at(20, 1e-5)
    stated = pledge.epsilon(Promise(line(0, Fraction(1, 20))))
    odometer = Odometer(cap=PledgedFilter(pledge, stated))

    with pytest.raises(BudgetExceeded, match="would be stated as"):
        spend(odometer, people(0), next_up(1.0))


def test_a_pledged_filter_refuses_what_its_pledge_does_not_cover() -> None:
    stops = (Promise(line(0, Fraction(1, 20))),)
    odometer = Odometer(cap=PledgedFilter(PlannedStops(stops, 1e-5), PlannedStops(stops, 1e-5).table[0].epsilon))

    with pytest.raises(BudgetExceeded, match="ε = inf"):
        spend(odometer, people(0), 2)


@pytest.mark.parametrize("cap", [0.0, -1.0, float("nan"), float("inf")])
def test_a_pledged_cap_is_a_positive_number(cap: float) -> None:
    with pytest.raises(InvalidValue, match="cap is"):
        PledgedFilter(FixedOrder.at(20, 1e-5), cap)  # type: ignore[arg-type] # a plain float stands in for an ε


@pytest.mark.parametrize("noise", [SeededNoise(1), silence()])
def test_seeded_noise_is_refused_before_data_is_opened(noise: Noise) -> None:
    wire = Tripwire()

    with pytest.raises(NotPrivate, match="seeded noise makes nothing private"):
        Odometer().spend(Gaussian(wire.counts()), people(0), budget(1), Past(), noise)

    assert not wire.opened


def test_a_rehearsal_takes_seeded_noise_and_says_so() -> None:
    assert rehearsal().spend(Says(0), people(0), budget(1), Past(), SeededNoise(1)).seeded


def test_a_rehearsal_with_system_noise_is_private() -> None:
    assert not rehearsal().spend(Says(0), people(0), budget(1), Past(), SYSTEM).seeded


def test_a_promise_for_another_relation_is_refused_before_data_is_opened() -> None:
    wire = Tripwire()

    with pytest.raises(InvalidValue, match="the bound is for neighbours that replace one record"):
        Odometer().spend(Gaussian(wire.counts(REPLACE)), people(0), budget(1), Past(), SYSTEM)

    assert not wire.opened


def test_a_check_for_another_relation_is_refused_before_data_is_opened() -> None:
    wire = Tripwire()
    check: GaussianCheck[Integers, int] = GaussianCheck(
        CentredSum(wire.score, Fraction(1, 2), REPLACE), budget(1), 1, None
    )

    with pytest.raises(InvalidValue):
        Odometer().ask(Inquiry(check), people(0), released(0, 1), trained=NONE, noise=SYSTEM)

    assert not wire.opened


def test_a_question_is_billed_to_the_part_that_was_asked() -> None:
    odometer, parts = rehearsal(), split(people(0, 1), 0.5, SYSTEM)

    odometer.ask(Inquiry(CHECK), held(parts), released(0, 1), trained=NONE, noise=ScriptedNoise([0]))

    assert [odometer.spent_on(part).at(20) for part in (parts.train, held(parts))] == [0.0, 0.5]


def test_a_step_within_a_step_is_billed_beside_it() -> None:
    odometer, data = Odometer(), people(0)

    odometer.spend(Says(0, lambda opened: spend(odometer, data, 2)), data, budget(1), Past(), SYSTEM)

    assert odometer.spent.at(20) == 3.0


def test_steps_of_several_threads_are_all_billed() -> None:
    odometer, data = Odometer(), people(0)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: spend(odometer, data, Fraction(1, 1000)), range(1000)))

    assert odometer.spent.at(20) == 1.0


def test_a_recorder_that_cannot_hold_lets_nothing_be_opened() -> None:
    wire = Tripwire()

    with pytest.raises(LedgerConflict):
        Odometer(ledger=Full()).spend(Gaussian(wire.counts()), people(0), budget(1), Past(), SYSTEM)

    assert not wire.opened


def test_a_recorder_that_cannot_hold_leaves_nothing_billed() -> None:
    odometer = Odometer(ledger=Full())

    with pytest.raises(LedgerConflict):
        spend(odometer, people(0), 1)

    assert odometer.spent == NONE


def test_a_recorder_that_cannot_capture_leaves_the_step_billed() -> None:
    odometer = Odometer(ledger=Forgetful())

    with pytest.raises(LedgerConflict):
        spend(odometer, people(0), 1)

    assert odometer.spent.at(20) == 1.0


def test_many_tiny_steps_are_one_line_and_their_sum_stays_exact() -> None:
    memory, tiny = MemoryLedger(), Fraction(1, 10**6)
    odometer, data = Odometer(ledger=memory, cap=Filter(budget(1))), people(0)
    price, mechanism, past = Budget(tiny, Fraction(20)), Says(0), Past[int]()

    for _ in range(MANY_STEPS):
        odometer.spend(mechanism, data, price, past, SYSTEM)

    assert [count for _, _, count in memory.lines] == [MANY_STEPS]
    assert odometer.spent.curve == line(0, MANY_STEPS * tiny / 20)


Kind = Callable[[Odometer, Split[Integers], Past[int]], Release[int]]
TABLE = Descent(Fraction(1, 10), Fraction(4)).promise(3).curve


def train(parts: Split[Integers]) -> Private[Integers]:
    return parts.train


def on(side: Callable[[Split[Integers]], Private[Integers]], curve: Curve | None = None) -> Kind:
    return lambda odometer, parts, past: odometer.spend(Says(0, curve=curve), side(parts), budget(1), past, silence())


def asked(odometer: Odometer, parts: Split[Integers], past: Past[int]) -> Release[int]:
    candidate, trained = past.together.map(lambda _: 0), odometer.spent_on(parts.train)
    return odometer.ask(Inquiry(CHECK), held(parts), candidate, trained=trained, noise=silence()).map(lambda _: 0)


def on_new_data(odometer: Odometer, parts: Split[Integers], past: Past[int]) -> Release[int]:
    return odometer.spend(Says(0), people(0), budget(1), past, silence())


KINDS: dict[str, list[Kind]] = {
    "steps": [on(train)],
    "with checks": [on(train), asked],
    "of several curves": [on(train, line(1, 0)), on(held), on(train, TABLE)],
    "on new data each": [on_new_data],
}


def calls(run: Callable[[], object]) -> int:
    """How many functions run on the way, those of Python itself among them."""
    seen, before = list[str](), sys.getprofile()
    sys.setprofile(lambda frame, event, argument: seen.append(event))
    try:
        run()
    finally:
        sys.setprofile(before)
    return len(seen)


@pytest.mark.parametrize("kinds", KINDS.values(), ids=KINDS)
def test_a_step_does_as_much_after_a_hundred_rounds_as_after_ten(kinds: list[Kind]) -> None:
    """With all of them as its past, in turns on three splits, of which one divides a side of another."""
    odometer, data = Odometer(rehearsal=True, pledge=PLEDGE, cap=Filter(budget(10**6))), people(0, 1)
    one, other = split(data, 0.5, silence()), split(data, 0.5, silence())
    splits, past, after = (one, other, split(one.train, 0.5, silence())), Past[int](), list[int]()

    def step(kind: Kind, parts: Split[Integers]) -> None:
        nonlocal past
        past = past.then(kind(odometer, parts, past))

    for count in range(120):
        after.append(sum(calls(partial(step, kind, splits[count % 3])) for kind in kinds))

    assert len(past) == 120 * len(kinds)
    assert max(after[-3:]) <= 1.1 * max(after[9:12])


def test_going_through_the_past_shows_in_what_is_counted() -> None:
    few, many = (Past(*(released(0, 1) for _ in range(count))) for count in (10, 40))

    assert calls(lambda: many.steps) > 2 * calls(lambda: few.steps)


def test_a_thread_that_asks_second_is_priced_second() -> None:
    """Both may have their price before either is answered: the later level is not had for the earlier price."""
    check = Meeting(ReducedAboveThreshold(CHECK.question, (Fraction(1), Fraction(100))))
    odometer, inquiry, data = Odometer(), Inquiry(check), people(*[1] * 10_000)

    def ask(_: int) -> object:
        return odometer.ask(inquiry, data, released(0, 1), trained=NONE, noise=SYSTEM)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(ask, range(2)))

    assert check.priced.seen == [0, 1]
    assert odometer.spent.at(20) == 50.0


def test_a_forked_process_cannot_spend() -> None:
    odometer, data = Odometer(), people(0)
    spend(odometer, data, 1)

    assert in_a_fork(lambda wire: odometer.spend(Gaussian(wire.counts()), data, budget(1), Past(), SYSTEM)) == REFUSED
    assert odometer.spent.at(20) == 1.0


def test_a_forked_process_cannot_ask() -> None:
    odometer, data = Odometer(), people(0)

    def ask(wire: Tripwire) -> object:
        check: GaussianCheck[Integers, int] = GaussianCheck(
            CentredSum(wire.score, Fraction(1, 2), ADD), budget(1), 1, None
        )
        return odometer.ask(Inquiry(check), data, released(0, 1), trained=NONE, noise=SYSTEM)

    assert in_a_fork(ask) == REFUSED


def test_a_forked_process_may_spend_with_an_odometer_of_its_own() -> None:
    assert in_a_fork(lambda wire: Odometer().spend(Gaussian(wire.counts()), people(0), budget(1), Past(), SYSTEM)) == (
        ADMITTED
    )


@pytest.mark.parametrize("own", [False, True], ids=["the same odometer", "an odometer of its own"])
def test_a_process_forked_during_a_step_of_another_thread_does_not_hang(own: bool) -> None:
    """A lock that the other thread holds is held in the copy for ever: the copy must not wait for it."""
    odometer, data, began, over = Odometer(), people(0), Event(), Event()

    def slow(opened: Integers) -> None:
        began.set()
        over.wait(5)

    def step(wire: Tripwire) -> object:
        running = Odometer() if own else odometer
        return running.spend(Gaussian(wire.counts()), data, budget(1), Past(), SYSTEM)

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(odometer.spend, Says(0, slow), data, budget(1), Past(), SYSTEM)
        began.wait(5)
        ended = in_a_fork(step)
        over.set()
        running.result()

    assert ended == (ADMITTED if own else REFUSED)


def test_a_step_of_another_odometer_within_a_step_does_not_hang() -> None:
    """The inner odometer is busy in another thread, which must wait for nothing that the outer step holds."""
    inner_began, outer_began, data = Event(), Event(), people(0)

    def both(wire: Tripwire) -> None:
        outer, inner = Odometer(), Odometer(ledger=Waiting(inner_began, outer_began))

        def nested(opened: Integers) -> None:
            outer_began.set()
            inner_began.wait(1)
            spend(inner, data, 1)

        other = Thread(target=lambda: spend(inner, data, 1), daemon=True)
        other.start()
        outer.spend(Says(0, nested), data, budget(1), Past(), SYSTEM)
        other.join()

    assert in_a_fork(both) == ADMITTED


def test_an_odometer_takes_no_positional_arguments() -> None:
    """A ledger where a cap is meant would go unnoticed."""
    with pytest.raises(TypeError, match="positional argument"):
        Odometer(MemoryLedger())  # type: ignore[call-arg,arg-type] # the misuse under test


def test_what_training_spent_is_named_in_a_question() -> None:
    with pytest.raises(TypeError, match="positional argument"):
        Odometer().ask(Inquiry(CHECK), people(0), released(0, 1), NONE, SYSTEM)  # type: ignore[call-arg] # the misuse under test


def test_the_pledge_is_on_record_before_the_first_step() -> None:
    memory = MemoryLedger()

    odometer = Odometer(pledge=PLEDGE, ledger=memory)

    assert (odometer.pledge, memory.pledged, memory.lines) == (PLEDGE, PLEDGE, ())


def test_a_pledge_after_the_first_step_is_refused() -> None:
    memory = MemoryLedger()
    spend(Odometer(ledger=memory), people(0), 1)

    with pytest.raises(LedgerConflict, match="a ledger is for one odometer"):
        Odometer(pledge=PLEDGE, ledger=memory)


def test_a_pledge_is_not_changed_after_the_first_step() -> None:
    odometer = Odometer(pledge=PLEDGE)
    spend(odometer, people(0), 1)

    with pytest.raises(AttributeError):
        odometer.pledge = FixedOrder.at(40, 1e-5)  # type: ignore[misc] # the misuse under test


def test_a_recorder_that_takes_no_pledge_stops_the_odometer_before_it_begins() -> None:
    with pytest.raises(LedgerConflict, match="full"):
        Odometer(pledge=PLEDGE, ledger=Full())


def test_the_total_is_stated_by_the_pledge() -> None:
    odometer = Odometer(pledge=PLEDGE)

    spend(odometer, people(0), 1)

    assert odometer.epsilon == PLEDGE.epsilon(Promise(odometer.spent.curve)) < math.inf


def test_without_a_pledge_nothing_is_stated() -> None:
    odometer = Odometer()

    spend(odometer, people(0), 1)

    assert (odometer.pledge, odometer.epsilon) == (None, math.inf)


ADMITTED, REFUSED, OPENED = 0, 3, 4
"""How a forked process ends: it may go on, it is refused, or it is refused too late."""


PATIENCE = 3
"""Seconds until a forked process that hangs is ended by its own alarm."""


def in_a_fork(step: Callable[[Tripwire], object]) -> int:
    """The end of a process that is a copy of this one and takes the step."""
    wire = Tripwire()
    child = os.fork()
    if child == 0:  # must not return to the tests, whatever happens
        try:
            signal.alarm(PATIENCE)
            step(wire)
            os._exit(ADMITTED)
        except LedgerConflict:
            os._exit(OPENED if wire.opened else REFUSED)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@final
@dataclass
class Meeting:
    """A check whose price waits a moment for another thread to ask for it too."""

    check: ReducedAboveThreshold[Integers, int]
    neighbours: Neighbours = ADD
    name: str = "meeting"
    priced: Watched[int] = field(default_factory=Watched)
    others: Barrier = field(default_factory=lambda: Barrier(2))

    def price(self, index: int, trained: Spent, asked: Spent) -> Price:
        """The check's, when both are there or it is clear that one of them has to wait."""
        self.priced(index)
        with suppress(BrokenBarrierError):
            self.others.wait(0.5)
        return self.check.price(index, trained, asked)

    def begin(self) -> Answers[Integers, int]:
        """The check's."""
        return self.check.begin()

    def facts(self) -> Mapping[str, Fact]:
        """The check's."""
        return self.check.facts()


@final
@dataclass
class Waiting:
    """A ledger that says when it was asked to hold, and waits before it does."""

    asked: Event
    until: Event

    def pledge(self, pledge: Pledge | None) -> None:
        """As it should."""

    def hold(self, entry: Entry, promise: Promise) -> Hold:
        """As it should, later."""
        self.asked.set()
        self.until.wait(1)
        return Hold(entry, promise)

    def capture(self, hold: Hold, spent: object) -> None:
        """As it should."""


class Full:
    """A ledger that has no room left."""

    def pledge(self, pledge: Pledge | None) -> None:
        """Refuse one."""
        if pledge is not None:
            raise LedgerConflict("the record is full.")

    def hold(self, entry: Entry, promise: Promise) -> Hold:
        """Refuse."""
        raise LedgerConflict("the record is full.")

    def capture(self, hold: Hold, spent: object) -> None:
        """Never asked."""


class Forgetful:
    """A ledger that breaks down after the step."""

    def pledge(self, pledge: Pledge | None) -> None:
        """As it should."""

    def hold(self, entry: Entry, promise: Promise) -> Hold:
        """As it should."""
        return Hold(entry, promise)

    def capture(self, hold: Hold, spent: object) -> None:
        """Refuse."""
        raise LedgerConflict("the record is gone.")


def test_the_promise_of_a_filter_is_not_below_its_cap() -> None:
    """A third is no float; rounded down it would promise less than may be spent."""
    cap = Filter(budget(Fraction(1, 3)))

    assert Fraction(cap.promise.at(20)) >= Fraction(1, 3)


def test_a_failed_step_says_what_is_stated_with_it() -> None:
    odometer = Odometer(pledge=PLEDGE)

    with pytest.raises(MechanismFailed, match=r"With it, ε = \d+\.\d+ at δ = 1e-05 is spent\.$"):
        odometer.spend(Says(0, look=lambda data: 1 // 0), people(0), budget(1), Past(), SYSTEM)


def under(neighbours: Neighbours, odometer: Odometer, past: Past[int] | None = None) -> Release[int]:
    """A step under the relation."""
    mechanism, data = Says(0, neighbours=neighbours), people(0, neighbours=neighbours)
    return odometer.spend(mechanism, data, budget(1), Past() if past is None else past, SYSTEM)


def test_an_odometer_stays_with_the_relation_of_its_first_step() -> None:
    odometer = Odometer()
    under(ADD, odometer)

    with pytest.raises(InvalidValue, match="an odometer for each"):
        under(REPLACE, odometer)


def test_a_past_under_another_relation_is_refused() -> None:
    with pytest.raises(InvalidValue, match="an odometer for each"):
        under(REPLACE, Odometer(), Past(under(ADD, Odometer())))


def test_a_candidate_under_another_relation_is_refused() -> None:
    with pytest.raises(InvalidValue, match="an odometer for each"):
        Odometer().ask(Inquiry(CHECK), people(0), under(REPLACE, Odometer()), trained=NONE, noise=SYSTEM)


def test_a_run_of_a_check_ends_with_a_question_that_did_not_finish() -> None:
    odometer, data = rehearsal(), people(0)
    inquiry = Inquiry(CHECK)
    with pytest.raises(MechanismFailed):
        odometer.ask(inquiry, data, released(1, 1), trained=NONE, noise=ScriptedNoise([]))

    with pytest.raises(SpentCheck, match="did not finish"):
        odometer.ask(inquiry, data, released(1, 1), trained=NONE, noise=ScriptedNoise([0]))


def test_sides_of_different_splits_have_names_of_their_own_on_record() -> None:
    """Whoever reads the record takes the larger of two sides of one split, and adds up all else."""
    memory, noise, data = MemoryLedger(), SeededNoise(1), people(0, 1, 2, 3)
    one, other, apart = (split(each, 0.5, noise) for each in (data, data, people(4, 5)))
    inner = split(one.train, 0.5, noise)
    odometer = Odometer(ledger=memory, rehearsal=True)

    for part in (one.train, one.held, other.train, apart.held, inner.train, other.held, one.train, data):
        assert part is not None
        odometer.spend(Says(0), part, budget(1), Past(), silence())

    assert [entry.part for entry, _, _ in memory.lines] == [
        "data/train", "data/held", "data 2/train", "data 3/held",
        "data/train/train", "data 2/held", "data/train", "data",
    ]  # fmt: skip
