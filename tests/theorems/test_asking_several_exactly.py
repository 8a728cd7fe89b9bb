"""Answers to several questions are as private together as they say, wherever their climb ends: all runs, enumerated.

As in test_asking_exactly, with a measurement of several tallies at once: every cell is coarsened to the interval, of
two, that it falls into. The record that is added is in all of them, so that it moves the whole vector by its
sensitivity. One climb has tallies that nothing is shared between, and one release those that share cells.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

from expost.accounting.jumps import PlannedJumps
from expost.jobs.asking.climb import climb, release_exactly
from expost.jobs.asking.measuring import Measuring
from expost.jobs.asking.phrases import queries_in
from expost.jobs.asking.planning import LEAD, AnswerPlan, level, plan_answer, stop_at
from expost.jobs.asking.question import AskRecipe, Targeted
from expost.jobs.asking.targets import Precision, WithinDistance, WithinShare
from expost.mechanisms.gaussian import Measurement
from expost.noise import Integers, Shape
from expost.odometer import Odometer
from expost.private import Private
from expost.statistic import Statistic
from expost.tabular.table import Table
from tests.theorems.coarsened import DELTA, SCHEMA, Coarsened
from tests.unit.examples import ADD

CUTS = np.array([-math.inf, 0.3, math.inf])
TOLD = (-0.7, 1.1)
"""Where the intervals end and what stands for each, in standard deviations about the cell of a public table."""
PUBLIC = Table(SCHEMA, {"v": np.array([0] * 6 + [1] * 4, dtype=np.uint8)})
ADDED = Table(SCHEMA, {"v": np.array([0] * 6 + [1] * 5, dtype=np.uint8)})
LEVELS = tuple(level(0.02 * 3.0**place) for place in range(4))
JUMPS = AnswerPlan(LEVELS, PlannedJumps(tuple(map(stop_at, LEVELS)), DELTA, LEAD), {})
APART: tuple[str, ...] = ("count", "count where v = 1")
SHARED: tuple[str, ...] = ("count by v", "count")


@dataclass
class CoarsenedCells(Coarsened):
    """The same for all cells of a measurement; ``statistic`` is what is measured next."""

    table: Table = PUBLIC
    statistic: Statistic[Any] | None = None
    squared: list[Fraction] = field(default_factory=list)

    def discrete_gaussian(self, variance: Fraction, shape: Shape) -> Integers:
        assert self.statistic is not None
        assert self.statistic.shape == shape
        std, told = math.sqrt(variance), []
        for centre, true in zip(self.statistic.evaluate(PUBLIC), self.statistic.evaluate(self.table), strict=True):
            if self.used == len(self.path):
                self.path.append(0)
            place = self.path[self.used]
            self.weight *= float(np.diff(ndtr(CUTS + (centre - true) / std))[place])
            told.append(centre + round(TOLD[place] * std) - true)
            self.used += 1
        self.variances.append(variance)
        self.squared.append(self.statistic.l2_squared)
        return np.array(told, dtype=np.int64)


@dataclass(frozen=True)
class Ran:
    """What a run let out and states of itself, its chance, and its noise beside its sensitivities."""

    path: tuple[int, ...]
    epsilon: float
    chance: float
    totals: tuple[Fraction, ...]
    variances: tuple[Fraction, ...]
    squared: tuple[Fraction, ...]


def recipe_of(asked: tuple[str, ...], target: Precision) -> AskRecipe:
    return AskRecipe(
        schema=SCHEMA, questions=tuple(Targeted(queries_in(each)[0], target) for each in asked),
        confidence=Fraction(1, 2), together=False, delta=DELTA, max_epsilon=20.0, fewer_than=2,
    )  # fmt: skip


def run(asked: tuple[str, ...], table: Table, path: list[int]) -> Ran:
    apart = asked == APART
    recipe = recipe_of(asked, WithinShare(Fraction(7, 20)) if apart else WithinDistance(Fraction(2)))
    plan = JUMPS if apart else plan_answer(recipe)
    noise, odometer = CoarsenedCells(10, path, table=table), Odometer(pledge=plan.pledge, rehearsal=True)
    measuring = Measuring(recipe, Private(table, ADD), odometer, noise, dict.fromkeys(recipe.tallies, 1))
    if apart:
        climb(plan, measuring, top=len(plan.levels), tell=lambda doing: None)
    else:
        release_exactly(plan, measuring)
    curves = [release.spent.curve.gaussian for release in measuring.past.steps]
    totals = tuple(rho for rho in curves if rho is not None)
    let_out = tuple(noise.path[: noise.used])
    return Ran(let_out, float(odometer.epsilon), noise.weight, totals, tuple(noise.variances), tuple(noise.squared))


def every_run(asked: tuple[str, ...], table: Table) -> Iterator[Ran]:
    path: list[int] = []
    while True:
        ran = run(asked, table, path)
        yield ran
        path = list(ran.path)
        while path and path[-1] == len(TOLD) - 1:
            path.pop()
        if not path:
            return
        path[-1] += 1


@pytest.fixture(scope="module", autouse=True)
def _seen() -> Iterator[None]:
    """The noise is told what is measured, which shows its cells without noise to this test alone."""
    before = Measuring.step

    def step(self: Measuring, statistic: Statistic[Any], **rest: Any) -> Measurement:
        assert isinstance(self.noise, CoarsenedCells)
        self.noise.statistic = statistic
        return before(self, statistic, **rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Measuring, "step", step)
        yield


@cache
def law(asked: tuple[str, ...], *, added: bool) -> dict[tuple[int, ...], Ran]:
    return {ran.path: ran for ran in every_run(asked, ADDED if added else PUBLIC)}


def excess(one: dict[tuple[int, ...], Ran], other: dict[tuple[int, ...], Ran], *, claim: float | None = None) -> float:
    """Σ (P − e^ε P')⁺, by what runs state of themselves or by one claim for all of them."""
    return math.fsum(
        max(0.0, ran.chance - math.exp(ran.epsilon if claim is None else claim) * other[path].chance)
        for path, ran in one.items()
    )


@pytest.mark.parametrize("asked", [APART, SHARED], ids="; ".join)
def test_what_a_run_of_several_questions_states_holds_for_the_law_of_all_runs(asked: tuple[str, ...]) -> None:
    one, other = law(asked, added=False), law(asked, added=True)

    assert one.keys() == other.keys()
    assert all(ran.epsilon == other[path].epsilon for path, ran in one.items())
    assert math.fsum(ran.chance for ran in one.values()) == pytest.approx(1, abs=1e-12)
    assert max(excess(one, other), excess(other, one)) <= DELTA


def test_climbs_of_several_questions_end_at_several_levels() -> None:
    assert len({ran.totals[-1] for ran in law(APART, added=False).values()}) > 2


@pytest.mark.parametrize("asked", [APART, SHARED], ids="; ".join)
def test_the_noise_of_all_cells_is_what_the_whole_vector_calls_for(asked: tuple[str, ...]) -> None:
    """σ² = Δ²/(2Δρ) + 3, with the squares of all tallies in Δ²."""
    for ran in law(asked, added=False).values():
        for variance, squared, before, after in zip(
            ran.variances, ran.squared, (Fraction(0), *ran.totals), ran.totals, strict=False
        ):
            assert squared / (2 * (variance - 3)) == after - before


@pytest.mark.parametrize("asked", [APART, SHARED], ids="; ".join)
def test_nothing_at_all_does_not_hold_as_a_claim(asked: tuple[str, ...]) -> None:
    """The twin: what these runs tell of the added record is more than δ by itself."""
    one, other = law(asked, added=False), law(asked, added=True)

    assert max(excess(one, other, claim=0.0), excess(other, one, claim=0.0)) > DELTA
