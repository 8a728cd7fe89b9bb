"""An answer is as private as it says, wherever its climb ends: what ``climb`` and ``decide`` let out, enumerated.

Every measurement of a number of rows is coarsened to the interval, of three, that it falls into: a post-processing of
Gaussian noise, whose law is known. The code that ships is run for every outcome, on tables of n and of n + 1 records.
For the ε(y) that a run states of itself, Σ_y (P(y) − e^ε(y) P'(y))⁺ ≤ δ, either way round.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy.special import ndtr

from expost.accounting.jumps import PlannedJumps
from expost.accounting.stops import PlannedStops
from expost.errors import BudgetExceeded
from expost.jobs.asking import climb as climbing
from expost.jobs.asking.climb import AnswerLook, climb
from expost.jobs.asking.deciding import decide
from expost.jobs.asking.measuring import Measuring
from expost.jobs.asking.phrases import queries_in
from expost.jobs.asking.planning import LEAD, AnswerPlan, beside, level, stop_at
from expost.jobs.asking.question import AskRecipe, Targeted
from expost.jobs.asking.tallies import PER_ROW, Tally
from expost.jobs.asking.targets import Above, Target, WithinShare
from expost.ledger import MemoryLedger
from expost.odometer import Odometer
from expost.private import Private
from expost.tabular.table import Table
from tests.theorems.coarsened import CUTS, DELTA, RECORDS, SCHEMA, TOLD, Coarsened
from tests.unit.examples import ADD

LEVELS = tuple(level(0.01 * 2.5**place) for place in range(6))
JUMPS = AnswerPlan(LEVELS, PlannedJumps(tuple(map(stop_at, LEVELS)), DELTA, LEAD), {})
STOPS = AnswerPlan(LEVELS, PlannedStops(tuple(map(stop_at, LEVELS)), DELTA), {})
RELATIVE, DECISION = WithinShare(Fraction(7, 20)), Above(Fraction(RECORDS - 3))


@dataclass(frozen=True)
class Ran:
    """What a run let out and states of itself, and what only we know: its chance."""

    path: tuple[int, ...]
    epsilon: float
    chance: float
    totals: tuple[Fraction, ...]
    variances: tuple[Fraction, ...]
    found: AnswerLook


def recipe_for(target: Target) -> AskRecipe:
    question = Targeted(queries_in("count")[0], target)
    return AskRecipe(
        schema=SCHEMA, questions=(question,), confidence=Fraction(1, 2), together=False, delta=DELTA, max_epsilon=20.0,
        fewer_than=2,
    )  # fmt: skip


def run(plan: AnswerPlan, target: Target, rows: int, path: list[int]) -> Ran:
    """One run of the procedure, along a path of intervals."""
    recipe, noise, ledger = recipe_for(target), Coarsened(rows, path), MemoryLedger()
    odometer = Odometer(pledge=plan.pledge, ledger=ledger, rehearsal=True)
    table = Private(Table(SCHEMA, {"v": np.zeros(rows, dtype=np.uint8)}), ADD)
    measuring = Measuring(recipe, table, odometer, noise, dict.fromkeys(recipe.tallies, 1))
    procedure = decide if target == DECISION else climb
    found = procedure(plan, measuring, top=len(plan.levels), tell=lambda doing: None)
    curves = [release.spent.curve.gaussian for release in measuring.past.steps]
    totals = tuple(rho for rho in curves if rho is not None)
    assert ledger.spent.curve.gaussian == totals[-1]
    assert len(totals) == noise.used
    let_out, variances = tuple(noise.path[: noise.used]), tuple(noise.variances)
    return Ran(let_out, float(odometer.epsilon), noise.weight, totals, variances, found)


def every_run(plan: AnswerPlan, target: Target, rows: int) -> Iterator[Ran]:
    path: list[int] = []
    while True:
        ran = run(plan, target, rows, path)
        yield ran
        path = list(ran.path)
        while path and path[-1] == len(TOLD) - 1:
            path.pop()
        if not path:
            return
        path[-1] += 1


@cache
def law(target: Target, rows: int) -> dict[tuple[int, ...], Ran]:
    """All runs, by what they let out."""
    return {ran.path: ran for ran in every_run(STOPS if target == DECISION else JUMPS, target, rows)}


def excess(one: dict[tuple[int, ...], Ran], other: dict[tuple[int, ...], Ran], *, claim: float | None = None) -> float:
    """Σ (P − e^ε P')⁺, by what runs state of themselves or by one claim for all of them."""
    return math.fsum(
        max(0.0, ran.chance - math.exp(ran.epsilon if claim is None else claim) * other[path].chance)
        for path, ran in one.items()
    )


@pytest.mark.parametrize("target", [RELATIVE, DECISION], ids=str)
def test_what_a_run_states_of_itself_holds_for_the_law_of_all_runs(target: Target) -> None:
    """Which runs there are is the same on both tables, and so is what each states: both follow from releases."""
    one, other = law(target, RECORDS), law(target, RECORDS + 1)

    assert one.keys() == other.keys()
    assert all(ran.epsilon == other[path].epsilon for path, ran in one.items())
    assert math.fsum(ran.chance for ran in one.values()) == pytest.approx(1, abs=1e-12)
    assert len({ran.totals[-1] for ran in one.values()}) > 3
    assert max(excess(one, other), excess(other, one)) <= DELTA


@pytest.mark.parametrize("target", [RELATIVE, DECISION], ids=str)
def test_a_claim_of_the_lowest_level_does_not_hold_for_all_runs(target: Target) -> None:
    """The twin: what is stated of the cheapest run, claimed for every run."""
    one, other = law(target, RECORDS), law(target, RECORDS + 1)
    least = min(ran.epsilon for ran in one.values())

    assert max(excess(one, other, claim=least), excess(other, one, claim=least)) > DELTA


def test_a_climb_jumps_exactly_once_onto_a_level_from_at_most_its_lead() -> None:
    """Every other total is beside all levels, and the bill is that of the last total."""
    for ran in law(RELATIVE, RECORDS).values():
        on_levels = [place for place, total in enumerate(ran.totals) if total in LEVELS]
        assert len(on_levels) == 1
        (jump,) = on_levels
        before = ran.totals[jump - 1] if jump else Fraction(0)
        assert before <= LEAD * ran.totals[jump]
        assert all(total in map(beside, LEVELS) for total in ran.totals[jump + 1 :])
        assert ran.epsilon == JUMPS.pledge.epsilon(stop_at(ran.totals[-1]))


def test_the_runs_end_by_a_jump_by_going_on_and_without_their_target() -> None:
    runs = law(RELATIVE, RECORDS).values()

    assert any(ran.totals[-1] in LEVELS and ran.found.reached for ran in runs)
    assert any(ran.totals[-1] not in LEVELS and ran.found.reached for ran in runs)
    assert any(not ran.found.reached for ran in runs)


def test_a_decision_ends_on_levels_alone_at_the_first_that_decides() -> None:
    for ran in law(DECISION, RECORDS).values():
        assert ran.totals == LEVELS[: len(ran.totals)]
        assert ran.found.reached or len(ran.totals) == len(LEVELS)
        assert ran.epsilon == STOPS.pledge.epsilon(stop_at(ran.totals[-1]))


def test_a_level_chosen_after_looking_at_most_of_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin of the lead: the odometer refuses the step, whatever the climb believes."""
    monkeypatch.setattr(climbing, "LEAD", Fraction(9, 10))

    with pytest.raises(BudgetExceeded, match="more than the lead"):
        list(every_run(JUMPS, RELATIVE, RECORDS))


def test_a_level_that_is_chosen_from_the_data_breaks_the_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: a climb that knows the number of rows, and jumps higher for one of the two tables."""
    chosen = {RECORDS: LEVELS[2], RECORDS + 1: LEVELS[3]}

    def runs(rows: int) -> dict[tuple[object, ...], Ran]:
        needed = float(chosen[rows])
        monkeypatch.setattr(climbing, "needed_by", lambda measuring, *rest: {Tally.of(queries_in("count")[0]): needed})
        return {(ran.totals[-1], ran.path): ran for ran in every_run(JUMPS, RELATIVE, rows)}

    one, other = runs(RECORDS), runs(RECORDS + 1)
    missing = math.fsum(ran.chance for key, ran in one.items() if key not in other)

    assert missing > DELTA


def test_the_noise_of_each_step_is_what_its_part_of_the_total_calls_for() -> None:
    """σ² = Δ²/(2Δρ) + 3 in steps: what the sampler is handed reproduces the promise exactly."""
    for path in ([0], [1, 2, 0, 1], [2, 2, 2, 2]):
        ran = run(JUMPS, RELATIVE, RECORDS, path)
        for variance, before, after in zip(ran.variances, (Fraction(0), *ran.totals), ran.totals, strict=False):
            assert Fraction(PER_ROW**2) / (2 * (variance - 3)) == after - before


def test_a_quarter_of_the_noise_breaks_the_claim() -> None:
    """The twin: the chances of the same runs where all measurements are four times as near to the truth."""

    def nearer(rows: int) -> dict[tuple[int, ...], Ran]:
        found = {}
        for path, ran in law(RELATIVE, rows).items():
            shifts = [(RECORDS - rows) * PER_ROW / (math.sqrt(variance) / 4) for variance in ran.variances]
            chances = [np.diff(ndtr(CUTS + shift))[place] for shift, place in zip(shifts, path, strict=True)]
            found[path] = replace(ran, chance=float(np.prod(chances)))
        return found

    one, other = nearer(RECORDS), nearer(RECORDS + 1)

    assert max(excess(one, other), excess(other, one)) > DELTA
