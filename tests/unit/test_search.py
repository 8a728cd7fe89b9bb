"""The search: stop at the first candidate that passes, pay for the rungs taken, lose nothing when capped."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from typing import final

import numpy as np
import pytest

from expost.accounting.claim import NOTHING, Budget, Promise, Spent
from expost.accounting.descent import Descent
from expost.accounting.plan import tightest_pledge
from expost.accounting.stops import PlannedStops
from expost.baselines import ReducedAboveThreshold, RenyiReducedAboveThreshold
from expost.checks.gaussian import BalancedCheck, GaussianCheck
from expost.checks.question import CentredSum, PublicCheck
from expost.checks.sparse_vector import SparseVectorCheck
from expost.errors import BudgetExceeded, InvalidValue, SpentCheck
from expost.filters import Filter
from expost.ladder import Ladder, Rung, Strides
from expost.ledger import Fact, MemoryLedger
from expost.mechanisms.brownian import Brownian
from expost.mechanisms.gaussian import Gaussian
from expost.noise import Integers, Noise, ScriptedNoise, SeededNoise
from expost.odometer import Odometer
from expost.private import Neighbours, Split
from expost.protocols import Check, Inquiry, Price, Verdict
from expost.release import Past, Release
from expost.search import Ended, Line, Outcome, Search, finish, planned_stops, search
from expost.statistic import Statistic
from expost.training.schedule import Releases, Schedule, Steps
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
    people,
    rehearsal,
    released,
    right,
    silence,
)

LADDER = Ladder.of([1, 2, 4, 8], alpha=20)
QUESTION: CentredSum[Integers, int] = CentredSum(right, Fraction(1, 2), ADD)
CHECK = GaussianCheck(QUESTION, budget(Fraction(1, 2)), 3, None)
FAIL, PASS = -1000, 1000
"""Noise that decides a Gaussian check whatever the data."""


def parts() -> Split[Integers]:
    """Two disjoint sources."""
    return Split.from_parts(people(0, 1), people(0, 1), because="two hospitals")


def newest(values: tuple[int, ...]) -> int:
    """The latest value."""
    return values[-1]


def passes_at(rung: int) -> PublicCheck[int]:
    """A free check that passes once so many values were released."""
    return PublicCheck(lambda taken: taken >= rung)


def climb(
    check: Check[Integers, int] | PublicCheck[int],
    noise: Noise,
    odometer: Odometer,
    *,
    build: Callable[[tuple[int, ...]], int] = newest,
    on_step: Callable[[Line], None] | None = None,
) -> Outcome[int]:
    """The whole search on the ladder, with a mechanism that always says 1."""
    return search(parts(), Says(1), LADDER, build, check, noise=noise, odometer=odometer, on_step=on_step)


def stepped(
    check: Check[Integers, int] | PublicCheck[int] | None,
    noise: Noise,
    ladder: Ladder = LADDER,
    *,
    candidate: Release[int] | None = None,
    pending: Rung | None = None,
) -> Search[Integers, int, int]:
    """The same search, to be taken a step at a time."""
    return Search(
        parts(), Says(1), ladder, newest, check,
        noise=noise, odometer=rehearsal(), candidate=candidate, pending=pending,
    )  # fmt: skip


def test_a_search_is_taken_a_step_at_a_time_until_a_candidate_passes() -> None:
    running = stepped(CHECK, ScriptedNoise([FAIL, PASS]))

    first = running.step()
    taken = len(running.latest.steps)
    still = not running.over
    second = running.step()

    assert (first is not None and first.verdict, second is not None and second.verdict) == tuple(
        line.verdict for line in running.outcome.history
    )
    assert (taken, still, running.over) == (1, True, True)
    assert repr(running.outcome) == f"Outcome({running.outcome.release.brief}, halted)"
    with pytest.raises(InvalidValue, match="the search is over"):
        running.step()


def test_without_a_check_a_search_goes_on_to_its_last_rung_and_no_farther() -> None:
    running = stepped(None, silence())

    lines = [running.step() for _ in LADDER.rungs]

    assert [None if line is None else (line.verdict, line.times) for line in lines] == [(None, 1)] * 4
    assert (running.over, running.outcome.ended) == (True, Ended.EXHAUSTED)
    with pytest.raises(InvalidValue, match="the search is over"):
        running.step()


@pytest.mark.parametrize("value", [1, 7])
def test_what_an_earlier_process_released_is_judged_first_and_not_made_again(value: int) -> None:
    passing: PublicCheck[int] = PublicCheck(lambda taken: taken == 7)
    running = stepped(passing, silence(), candidate=released(value, 1), pending=LADDER.rungs[2])

    line = running.step()

    assert line is not None
    assert line.budget == LADDER.rungs[2].budget
    assert line.verdict is not None and line.verdict.passed is (value == 7)
    assert running.over is (value == 7)
    assert running.outcome.release.value == value
    assert running.latest.steps == ()


def flattened(check: Check[Integers, int] | PublicCheck[int], noise: Noise, after: int) -> Outcome[int]:
    """The search under a rule that calls it flat after so many rungs, or more."""
    running = Search(
        parts(), Says(1), LADDER, newest, check,
        noise=noise, odometer=rehearsal(), flat=lambda verdicts: len(verdicts) >= after,
    )  # fmt: skip
    return finish(running)


@pytest.mark.parametrize("after", [1, 2, 3])
def test_a_search_whose_answers_are_flat_ends_with_what_it_has_and_pays_for_no_more(after: int) -> None:
    outcome = flattened(CHECK, ScriptedNoise([FAIL] * 3), after)

    assert (outcome.ended, len(outcome.history)) == (Ended.FLAT, after)
    assert outcome.release.spent.at(20) == float(LADDER.levels[after - 1])


def test_a_search_that_is_flat_on_its_last_rung_has_taken_all_of_them() -> None:
    assert flattened(CHECK, ScriptedNoise([FAIL] * 3), 4).ended is Ended.EXHAUSTED


def test_a_candidate_that_passes_ends_a_search_however_flat_it_is() -> None:
    assert flattened(CHECK, ScriptedNoise([FAIL, PASS]), 2).ended is Ended.HALTED


def test_whether_a_search_is_flat_is_asked_of_all_verdicts_so_far_and_of_nothing_else() -> None:
    heard: list[tuple[Verdict | None, ...]] = []

    def flat(verdicts: tuple[Verdict | None, ...]) -> bool:
        heard.append(verdicts)
        return False

    running = Search(
        parts(), Says(1), LADDER, newest, CHECK, noise=ScriptedNoise([FAIL] * 3), odometer=rehearsal(), flat=flat
    )
    outcome = finish(running)

    verdicts = tuple(line.verdict for line in outcome.history)
    assert heard == [verdicts[:1], verdicts[:2], verdicts[:3]]


def test_halting_early_bills_only_the_rungs_taken() -> None:
    outcome = climb(CHECK, ScriptedNoise([FAIL, PASS]), rehearsal())

    assert (outcome.ended, outcome.release.spent.at(20)) == (Ended.HALTED, 2.0)


def test_the_bill_is_the_larger_of_both_parts() -> None:
    dear = GaussianCheck(QUESTION, budget(30), 3, None)

    outcome = climb(dear, ScriptedNoise([FAIL, PASS]), rehearsal())

    assert outcome.release.spent.at(20) == 20.0


def test_what_the_odometer_has_seen_before_is_in_the_bill() -> None:
    odometer = rehearsal()
    odometer.spend(Says(0), people(0), budget(5), Past(), silence())

    outcome = climb(CHECK, ScriptedNoise([PASS]), odometer)

    assert outcome.release.spent.at(20) == 6.0


def test_the_last_rung_is_not_asked_about() -> None:
    """Three draws for three questions; a fourth would run out of the script."""
    outcome = climb(CHECK, ScriptedNoise([FAIL] * 3), rehearsal())

    assert (outcome.ended, outcome.history[-1].verdict) == (Ended.EXHAUSTED, None)


def test_an_exhausted_search_pays_the_top_level() -> None:
    assert climb(CHECK, ScriptedNoise([FAIL] * 3), rehearsal()).release.spent.at(20) == 8.0


def test_a_free_check_is_asked_about_the_last_rung_too() -> None:
    outcome = climb(passes_at(4), silence(), rehearsal(), build=len)

    assert (outcome.ended, outcome.release.value) == (Ended.HALTED, 4)


def test_a_free_check_that_never_passes_exhausts_the_ladder() -> None:
    outcome = climb(passes_at(9), silence(), rehearsal(), build=len)

    assert (outcome.ended, outcome.release.value) == (Ended.EXHAUSTED, 4)


def test_a_capped_search_keeps_the_last_candidate() -> None:
    outcome = climb(passes_at(9), silence(), Odometer(cap=Filter(budget(3)), rehearsal=True), build=len)

    assert (outcome.ended, outcome.release.value, outcome.release.spent.at(20)) == (Ended.CAPPED, 2, 2.0)


def test_a_cap_below_the_first_rung_leaves_nothing_to_return() -> None:
    with pytest.raises(BudgetExceeded):
        climb(passes_at(9), silence(), Odometer(cap=Filter(budget(Fraction(1, 2))), rehearsal=True))


def test_a_capped_question_leaves_its_candidate_and_its_rung_in_the_history() -> None:
    """The first rung fits under the cap, the question about it does not: the rung was paid all the same."""
    dear = GaussianCheck(QUESTION, budget(30), 3, None)

    outcome = climb(dear, silence(), Odometer(cap=Filter(budget(1)), rehearsal=True))

    assert (outcome.ended, outcome.release.spent.at(20)) == (Ended.CAPPED, 1.0)
    assert [(each.budget, each.verdict) for each in outcome.history] == [(budget(1), None)]


def test_every_line_of_the_history_has_its_budget_and_the_bill_so_far() -> None:
    outcome = climb(CHECK, ScriptedNoise([FAIL, FAIL, PASS]), rehearsal())

    assert [(each.budget, each.spent.at(20)) for each in outcome.history] == [
        (budget(1), 1.0),
        (budget(1), 2.0),
        (budget(2), 4.0),
    ]


def test_each_line_is_reported_when_it_happens() -> None:
    watched: Watched[Line] = Watched()

    outcome = climb(CHECK, ScriptedNoise([FAIL, PASS]), rehearsal(), on_step=watched)

    assert tuple(watched.seen) == outcome.history


def test_the_candidate_is_built_from_all_values_so_far() -> None:
    outcome = climb(CHECK, ScriptedNoise([FAIL, FAIL, PASS]), rehearsal(), build=sum)

    assert outcome.release.value == 3


def test_a_seeded_search_is_marked() -> None:
    assert climb(CHECK, ScriptedNoise([PASS]), rehearsal()).release.seeded


def test_the_selector_sees_every_verdict() -> None:
    watched: Watched[tuple[Verdict | None, ...]] = Watched()

    def select(past: Past[int], verdicts: tuple[Verdict | None, ...]) -> Rung | None:
        watched(verdicts)
        return LADDER(past, verdicts)

    search(parts(), Says(1), select, newest, CHECK, noise=ScriptedNoise([FAIL, PASS]), odometer=rehearsal())

    assert [len(verdicts) for verdicts in watched.seen] == [0, 1]
    (verdict,) = watched.seen[-1]
    assert verdict is not None and verdict.margin is not None


def test_budgets_may_follow_the_margin() -> None:
    def select(past: Past[int], verdicts: tuple[Verdict | None, ...]) -> Rung | None:
        last = verdicts[-1] if verdicts else None
        far = last is not None and last.margin is not None and last.margin < -100
        return Rung(budget(10 if far else 1), True)

    outcome = search(parts(), Says(1), select, newest, CHECK, noise=ScriptedNoise([FAIL, PASS]), odometer=rehearsal())

    assert [each.budget for each in outcome.history] == [budget(1), budget(10)]


def test_a_selector_may_stop_by_itself() -> None:
    def once(past: Past[int], verdicts: tuple[Verdict | None, ...]) -> Rung | None:
        return None if past.steps else Rung(budget(1), True)

    outcome = search(parts(), Says(1), once, newest, CHECK, noise=ScriptedNoise([FAIL]), odometer=rehearsal())

    assert (outcome.ended, outcome.release.spent.at(20)) == (Ended.EXHAUSTED, 1.0)


def test_a_selector_that_never_starts_leaves_nothing_to_return() -> None:
    with pytest.raises(InvalidValue, match="stopped before the first release"):
        search(parts(), Says(1), lambda past, verdicts: None, newest, CHECK, noise=silence(), odometer=rehearsal())


def test_strides_leave_out_rungs_far_from_the_target() -> None:
    outcome = search(
        parts(),
        Says(1),
        Strides(LADDER, far=1.0),
        newest,
        CHECK,
        noise=ScriptedNoise([FAIL, PASS]),
        odometer=rehearsal(),
    )

    assert [each.spent.at(20) for each in outcome.history] == [1.0, 4.0]


def test_a_check_without_a_held_part_is_refused_before_data_is_opened() -> None:
    wire = Tripwire()
    step: Callable[[], object] = partial(
        search,
        Split.whole(people(0)),
        Gaussian(wire.counts()),
        LADDER,
        lambda values: 1,
        CHECK,
        noise=silence(),
        odometer=rehearsal(),
    )

    with pytest.raises(InvalidValue, match="nothing was held out"):
        step()

    assert not wire.opened


def test_a_check_for_another_relation_is_refused_before_training_data_is_opened() -> None:
    wire = Tripwire()
    other: GaussianCheck[Integers, int] = GaussianCheck(CentredSum(right, Fraction(1, 2), REPLACE), budget(1), 3, None)
    step: Callable[[], object] = partial(
        search,
        parts(),
        Gaussian(wire.counts()),
        LADDER,
        lambda values: 1,
        other,
        noise=silence(),
        odometer=rehearsal(),
    )

    with pytest.raises(InvalidValue):
        step()

    assert not wire.opened


@pytest.mark.parametrize(
    ("check", "script"),
    [
        (CHECK, [FAIL, FAIL, PASS]),
        (BalancedCheck(QUESTION, None), [FAIL, FAIL, PASS]),
        (SparseVectorCheck(QUESTION, Fraction(1000), Fraction(100), None), [0, FAIL, FAIL, PASS]),
    ],
)
@pytest.mark.parametrize("questions", [1, 2, 3])
def test_a_search_that_stops_at_a_rung_has_spent_within_its_planned_stop(
    check: Check[Integers, int], script: list[int], questions: int
) -> None:
    drawn = [*script[: len(script) - 3], *[FAIL] * (questions - 1), PASS]

    outcome = climb(check, ScriptedNoise(drawn), rehearsal())

    stop = planned_stops(Says(1), LADDER, check)[questions - 1]
    assert all(outcome.release.spent.at(alpha) <= stop.at(alpha) for alpha in (1.5, 20, 1000))


def test_a_balanced_check_never_raises_the_bill() -> None:
    outcome = climb(BalancedCheck(QUESTION, None), ScriptedNoise([FAIL, FAIL, PASS]), rehearsal())

    assert [each.spent.at(20) for each in outcome.history] == [1.0, 2.0, 4.0]


def test_planned_stops_are_the_levels_where_the_check_costs_less() -> None:
    assert [stop.at(20) for stop in planned_stops(Says(1), LADDER, CHECK)] == [1.0, 2.0, 4.0, 8.0]


def test_planned_stops_count_the_questions_where_they_cost_more() -> None:
    dear = GaussianCheck(QUESTION, budget(30), 3, None)

    assert [stop.at(20) for stop in planned_stops(Says(1), LADDER, dear)] == [10.0, 20.0, 30.0, 30.0]


def test_stops_cannot_be_planned_with_fewer_questions_than_rungs_asked_about() -> None:
    with pytest.raises(SpentCheck, match="every planned question has been asked"):
        planned_stops(Says(1), LADDER, GaussianCheck(QUESTION, budget(1), 2, None))


def test_planned_stops_add_what_training_spends_before() -> None:
    stops = planned_stops(Says(1), LADDER, passes_at(1), prior=Promise(line(0, 1)))

    assert [stop.at(20) for stop in stops] == [21.0, 22.0, 24.0, 28.0]


def test_a_finished_search_is_stated_by_the_pledge_made_for_its_stops() -> None:
    pledge = PlannedStops(planned_stops(Says(1), LADDER, CHECK), 1e-5)

    outcome = climb(CHECK, ScriptedNoise([FAIL, PASS]), Odometer(pledge=pledge, rehearsal=True))

    assert outcome.release.epsilon == pledge.table[1].epsilon
    assert [line.epsilon for line in outcome.history] == [stop.epsilon for stop in pledge.table[:2]]


def test_the_outcome_is_stated_by_the_pledge_of_its_odometer() -> None:
    pledge = PlannedStops(planned_stops(Says(1), LADDER, CHECK), 1e-5)

    outcome = climb(CHECK, ScriptedNoise([FAIL, PASS]), Odometer(pledge=pledge, rehearsal=True))

    assert outcome.pledge is pledge
    assert outcome.epsilon == pledge.table[1].epsilon


def test_an_outcome_without_a_pledge_states_nothing() -> None:
    outcome = climb(CHECK, ScriptedNoise([PASS]), rehearsal())

    assert (outcome.pledge, outcome.epsilon) == (None, math.inf)


CHECKS: dict[str, Check[Integers, int]] = {
    "Gaussian": GaussianCheck(QUESTION, budget(Fraction(1, 2)), 3, None),
    "Gaussian, dear": GaussianCheck(QUESTION, budget(30), 3, None),
    "balanced": BalancedCheck(QUESTION, None),
    "sparse vector": SparseVectorCheck(QUESTION, Fraction(1000), Fraction(100), None),
    "reduced above threshold": ReducedAboveThreshold(QUESTION, (Fraction(1), Fraction(2), Fraction(4))),
    "Rényi": RenyiReducedAboveThreshold(QUESTION, (budget(1), budget(2), budget(4))),
}
EACH_CHECK = pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)


@EACH_CHECK
def test_asking_for_a_price_changes_nothing(check: Check[Integers, int]) -> None:
    inquiry, spent = Inquiry(check), Promise(line(0, 1)).as_spent()

    prices = [inquiry.price(spent, NONE) for _ in range(5)]

    assert prices == [check.price(0, spent, NONE)] * 5


@EACH_CHECK
def test_planning_changes_nothing(check: Check[Integers, int]) -> None:
    first = planned_stops(Says(1), LADDER, check)

    again = planned_stops(Says(1), LADDER, check)

    assert again == first


@EACH_CHECK
def test_a_search_after_planning_is_the_search_without(check: Check[Integers, int]) -> None:
    without = climb(check, SeededNoise(1), rehearsal())
    planned_stops(Says(1), LADDER, check)

    assert climb(check, SeededNoise(1), rehearsal()).history == without.history


FINE = Ladder.geometric(Fraction(1, 20), 1, 6, alpha=20)
WIDE = Ladder.geometric(Fraction(1, 2), 40, 6, alpha=20)
UNEVEN = Ladder.of([Fraction(10, 100), Fraction(12, 100), Fraction(38, 100), Fraction(39, 100)], alpha=20)
MEASURED = Brownian(Gaussian(counts(1)))
COARSE: Brownian[Integers] = Brownian(Gaussian(Statistic(lambda data: np.zeros(1, dtype=np.int64), (1,), 24, 24, ADD)))  # type: ignore[arg-type] # a caller without a type checker
"""A measurement with more noise, and so a narrower profile, than a question of the same price."""
FAR, CLOSE = -(10**9), -1
"""Noise that fails a question about a margin of zero, from afar or by a hair."""
PATHS = [[*fails, PASS][:5] for taken in range(6) for fails in product([FAR, CLOSE], repeat=taken)]
"""The answers along every way up six rungs: all that fail, in all ways, and a pass."""


def stride(
    ladder: Ladder,
    check: Check[Integers, int],
    answers: list[int],
    odometer: Odometer,
    mechanism: Brownian[Integers] = MEASURED,
) -> Outcome[int]:
    """A search on strides whose questions are answered so; measurements have no noise."""
    script = [draw for answer in answers for draw in (0, answer)] + [0]
    search_on = partial(search, parts(), mechanism, Strides(ladder), lambda estimates: 1, check)
    return search_on(noise=ScriptedNoise(script), odometer=odometer)


@pytest.mark.parametrize("mechanism", [MEASURED, COARSE], ids=["one cell", "24 cells"])
@pytest.mark.parametrize("ladder", [FINE, WIDE, UNEVEN], ids=["fine", "wide", "uneven"])
@pytest.mark.parametrize(
    "check", [GaussianCheck(QUESTION, budget(1), 5, None), BalancedCheck(QUESTION, None)], ids=["Gaussian", "balanced"]
)
def test_a_plan_for_strides_states_every_end(
    ladder: Ladder, check: Check[Integers, int], mechanism: Brownian[Integers]
) -> None:
    stops = planned_stops(mechanism, Strides(ladder), check)
    pledges = tightest_pledge(stops, 1e-5).pledge, PlannedStops(stops, 1e-5)

    stated = [
        stride(ladder, check, path, Odometer(pledge=pledge, rehearsal=True), mechanism).epsilon
        for pledge in pledges
        for path in PATHS
    ]

    assert max(stated) < math.inf


def test_the_ways_up_on_strides_end_in_every_way_and_leave_out_rungs() -> None:
    outcomes = [stride(FINE, BalancedCheck(QUESTION, None), path, rehearsal()) for path in PATHS]

    assert {outcome.ended for outcome in outcomes} == {Ended.HALTED, Ended.EXHAUSTED}
    assert {len(outcome.history) for outcome in outcomes if outcome.ended is Ended.EXHAUSTED} == {4, 5, 6}


def test_a_plan_for_single_rungs_does_not_cover_strides() -> None:
    """One large step of integer noise has a wider profile than two small ones."""
    pledge = PlannedStops(planned_stops(MEASURED, FINE, BalancedCheck(QUESTION, None)), 1e-5)

    outcome = stride(FINE, BalancedCheck(QUESTION, None), [FAR] * 5, Odometer(pledge=pledge, rehearsal=True))

    assert outcome.epsilon == math.inf


def test_a_capped_search_on_strides_is_stated_too() -> None:
    check = BalancedCheck(QUESTION, None)
    stops = planned_stops(MEASURED, Strides(FINE), check)
    cap = Filter(Budget(FINE.levels[3], FINE.alpha))
    odometer = Odometer(pledge=PlannedStops(stops, 1e-5), cap=cap, rehearsal=True)

    outcome = stride(FINE, check, [FAR] * 5, odometer)

    assert outcome.ended is Ended.CAPPED
    assert outcome.epsilon < math.inf


@pytest.mark.parametrize("first", [[FAIL, PASS], [FAIL] * 3], ids=["halted", "exhausted"])
def test_a_second_balanced_search_keeps_both_parts_balanced(first: list[int]) -> None:
    """What the held part has answered before counts, and so does what training spent unasked."""
    odometer, both, check = rehearsal(), parts(), BalancedCheck(QUESTION, None)
    assert both.held is not None
    for script in (first, [FAIL, PASS]):
        search(both, Says(1), LADDER, newest, check, noise=ScriptedNoise(script), odometer=odometer)

    trained, asked = odometer.spent_on(both.train), odometer.spent_on(both.held)
    assert [trained.at(alpha) for alpha in (1.5, 20, 1000)] == [asked.at(alpha) for alpha in (1.5, 20, 1000)]


def test_a_second_balanced_search_costs_no_more_than_its_training() -> None:
    odometer, both, check = rehearsal(), parts(), BalancedCheck(QUESTION, None)

    outcomes = [
        search(both, Says(1), LADDER, newest, check, noise=ScriptedNoise([FAIL, PASS]), odometer=odometer)
        for _ in range(2)
    ]

    assert [outcome.release.spent.at(20) for outcome in outcomes] == [2.0, 4.0]


@final
@dataclass(frozen=True)
class Stretches:
    """Two rungs, of three steps and of two."""

    rungs: tuple[Rung, ...] = (Rung(budget(Fraction(1, 3)), True, 3), Rung(budget(1), False, 2))

    def __call__(self, past: Past[object], verdicts: tuple[Verdict | None, ...]) -> Rung | None:
        """The next one."""
        return self.rungs[len(past.steps)] if len(past.steps) < 2 else None


def stretch(
    odometer: Odometer, *, build: Callable[[tuple[int, ...]], int] = len, noise: Noise | None = None
) -> Outcome[int]:
    """A search in which each rung is several steps."""
    check = GaussianCheck(QUESTION, budget(Fraction(1, 2)), 1, None)
    return search(parts(), Says(1), Stretches(), build, check, noise=noise or ScriptedNoise([FAIL]), odometer=odometer)


def test_a_rung_of_several_steps_is_one_release_and_pays_for_all() -> None:
    outcome = stretch(rehearsal())

    assert outcome.release.value == 2
    assert [each.spent.at(20) for each in outcome.history] == [1.0, 3.0]


def test_every_step_of_a_rung_is_on_record() -> None:
    ledger = MemoryLedger()

    stretch(Odometer(rehearsal=True, ledger=ledger))

    assert [count for entry, _, count in ledger.lines if entry.what == "Says"] == [3, 2]


def test_each_step_of_a_rung_sees_the_one_before() -> None:
    class Counts:
        """Releases how many steps led to it: one more than the last release says."""

        name, neighbours, floating = "counts", ADD, False
        promise, facts = Says(0).promise, Says(0).facts

        def sample(self, data: Integers, budget: Budget, past: Past[int], noise: Noise) -> int:
            return past.steps[-1].value + 1 if past.steps else 1

    outcome = search(
        parts(), Counts(), Stretches(), newest, passes_at(9), noise=silence(), odometer=rehearsal()
    )  # fmt: skip

    assert outcome.release.value == 5


def test_planned_stops_of_several_steps_are_where_the_search_ends() -> None:
    check = GaussianCheck(QUESTION, budget(Fraction(1, 2)), 1, None)

    stops = planned_stops(Says(1), Stretches(), check)

    assert [stop.at(20) for stop in stops] == [1.0, 3.0]
    assert stretch(rehearsal()).release.spent.curve == stops[-1].curve


def test_a_cap_in_the_middle_of_a_rung_keeps_the_last_candidate_and_bills_the_steps_taken() -> None:
    outcome = stretch(Odometer(cap=Filter(budget(Fraction(5, 2))), rehearsal=True))

    assert (outcome.ended, outcome.release.value) == (Ended.CAPPED, 1)
    assert len(outcome.history) == 1
    assert outcome.release.spent.at(20) == 2.0


def test_stops_are_planned_with_named_priors_only() -> None:
    with pytest.raises(TypeError, match="positional argument"):
        planned_stops(Says(1), LADDER, CHECK, NOTHING)  # type: ignore[call-arg] # the misuse under test


def test_a_search_names_its_noise_and_its_odometer() -> None:
    with pytest.raises(TypeError, match="positional argument"):
        search(parts(), Says(1), LADDER, newest, CHECK, silence(), rehearsal())  # type: ignore[call-arg] # the misuse under test


def test_planned_stops_add_what_reads_both_parts() -> None:
    stops = planned_stops(Says(1), LADDER, CHECK, whole=Promise(line(0, 1)))

    assert [stop.at(20) for stop in stops] == [21.0, 22.0, 24.0, 28.0]


def test_a_stop_is_planned_at_the_price_of_a_pass_after_fails() -> None:
    """Training is cheap here: a threshold counts once, and a pass where the search stops."""
    check = SparseVectorCheck(QUESTION, Fraction(1), Fraction(1), None)

    stops = planned_stops(Says(0), Ladder.of([1, 2, 4], alpha=20), check)

    assert stops == (
        Promise(line(2, Fraction(1, 2))),
        Promise(line(2, Fraction(1, 2))),
        Promise(line(0, Fraction(1, 2))),
    )


def test_strides_are_planned_at_the_levels_of_their_ladder() -> None:
    """However many rungs are left out, the total at a level is that level, and not twice it."""
    stops = planned_stops(Says(0), Strides(LADDER), PublicCheck[int](bool))

    assert stops == tuple(Promise(line(0, level / 20)) for level in LADDER.levels)


@dataclass(frozen=True)
class Dear:
    """A check whose first question costs 9 if it passes, later ones 2; a fail costs 1."""

    neighbours: Neighbours = ADD
    name: str = "dear"

    def price(self, index: int, trained: Spent, asked: Spent) -> Price:
        return Price(Promise(line(2 if index else 9, 0)), Promise(line(1, 0)))

    def begin(self) -> "Dear":
        return self

    def answer(self, index: int, price: Price, held: Integers, candidate: int, noise: Noise) -> Verdict:
        return Verdict(False)

    def facts(self) -> Mapping[str, Fact]:
        return {}


def test_with_strides_the_first_question_may_come_at_any_rung() -> None:
    """A plain ladder asks its second question for 2, after a fail for 1."""
    ladder = Ladder.of([1, 2, 4], alpha=20)

    plain, strided = (planned_stops(Says(0), each, Dear()) for each in (ladder, Strides(ladder)))
    assert [float(stop.at(2)) for stop in plain] == [9.0, 3.0, 2.0]
    assert [float(stop.at(2)) for stop in strided] == [9.0, 9.0, 2.0]


def test_where_nothing_is_held_out_stops_are_known_for_every_record_alike() -> None:
    descent = Descent(Fraction(1, 10), Fraction(4))
    releases = Releases(Schedule(2, 3, 2), descent, Fraction(8))

    stops = planned_stops(Steps(descent), releases, PublicCheck(lambda candidate: True))

    assert [stop.curve.kinds for stop in stops] == [descent.promise(steps).curve.kinds for steps in (2, 5)]
