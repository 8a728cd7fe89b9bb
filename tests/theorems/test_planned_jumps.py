"""Claim (planned jumps). Let every step be Gaussian with a cost known beforehand. A run that claims ε_i where it ends
at ρ_i, having gone there in one step from at most φρ_i, once, is V-approximate ex-post, whatever rule chose the steps.
V is the value of stopping the loss at the times 2φρ_i with the gains M_i(l) = δ_m(ε_i − l), m² = 2(1−φ)ρ_i.

The pledge states all jumps at one fraction 1/N of δ at which V is at most nine tenths of δ. Its V, which errs upwards,
is compared with a bare grid and with simulated paths. Runs of coins, each the sign of a Gaussian release, are
enumerated under the worst rule.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

from expost import FiniteMechanism, Odometer, PlannedJumps, PlannedStops, Promise, worst_case_delta
from expost.accounting.curve import Floats
from expost.accounting.gaussian import gaussian_delta, gaussian_epsilon
from expost.accounting.jumps import JUMP_SHARE, Decisions, jump_epsilons
from expost.errors import BudgetExceeded
from expost.noise import SystemNoise
from expost.release import Past
from tests.theorems.ladders import random_ladders
from tests.unit.examples import Says, budget, line, people

LADDER = tuple(Fraction(1, 1000) * Fraction(3, 2) ** power for power in range(10))


def stops(rhos: Sequence[Fraction]) -> tuple[Promise, ...]:
    return tuple(Promise(line(0, rho, rho)) for rho in rhos)


def profile(epsilon: Floats, mu: float) -> Floats:
    """The δ of Gaussian noise at any real ε, as it is written."""
    return np.asarray(ndtr(mu / 2 - epsilon / mu) - np.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu))


class Bare:
    """The same stopping problem on a bare grid: slow, with nothing clever in it, and not on the safe side."""

    def __init__(self, rhos: Sequence[Fraction], claims: Sequence[float], lead: float, count: int = 1501) -> None:
        self.rhos, self.lead, self.grid = [float(rho) for rho in rhos], lead, np.linspace(-8.0, 8.0, count)
        self.gains = [self.gain(rho, claim, self.grid) for rho, claim in zip(self.rhos, claims, strict=True)]
        self.later: list[Floats] = [np.zeros(count)]
        step, value = self.grid[1] - self.grid[0], self.gains[-1]
        for (earlier, later), gain in reversed([*zip(pairwise(self.rhos), self.gains, strict=False)]):
            c = math.sqrt(earlier / later)
            kernel = np.exp(-((self.grid - c * self.grid[:, None]) ** 2) / (2 * (1 - c * c)))
            self.later.insert(0, kernel @ value * step / math.sqrt(2 * math.pi * (1 - c * c)))
            value = np.maximum(gain, self.later[0])
        self.value = float(np.exp(-(self.grid**2) / 2) @ value * step / math.sqrt(2 * math.pi))

    def gain(self, rho: float, claim: float, u: Floats) -> Floats:
        losses = self.lead * rho + math.sqrt(2 * self.lead * rho) * u
        return profile(claim - losses, math.sqrt(2 * (1 - self.lead) * rho))


CASES = [
    (LADDER, 1e-2, Fraction(1, 10)),
    (LADDER, 1e-5, Fraction(1, 5)),
    (tuple(20 * rho for rho in LADDER), 1e-3, Fraction(1, 20)),
    (LADDER[:2], 1e-5, Fraction(1, 2)),
]


@pytest.mark.parametrize(("rhos", "delta", "lead"), CASES)
def test_no_rule_for_jumping_exceeds_delta_and_little_is_given_away(
    rhos: tuple[Fraction, ...], delta: float, lead: Fraction
) -> None:
    claims = jump_epsilons(rhos, delta, lead)

    assert 0.97 * delta < Bare(rhos, claims, float(lead)).value <= delta


@pytest.mark.parametrize("ladder", random_ladders(6), ids=lambda ladder: f"{len(ladder)} stops from {ladder[0]:.2g}")
def test_the_code_is_never_below_a_bare_grid_and_close_on_a_finer_one(ladder: tuple[float, ...]) -> None:
    rhos, lead, delta = tuple(map(Fraction, ladder)), Fraction(1, 10), 1e-3
    claims = [gaussian_epsilon(rho, delta / 3) for rho in ladder]

    coarse, fine = (Decisions.of(rhos, lead, delta, count).worst(claims) for count in (160, 600))

    bare = Bare(rhos, claims, 0.1).value
    assert bare * (1 - 1e-4) <= fine <= coarse
    assert fine == pytest.approx(bare, rel=2e-3)
    assert coarse == pytest.approx(bare, rel=2e-2)


def test_one_stop_alone_is_stated_as_a_filter_with_its_part_of_delta() -> None:
    delta = 1e-5
    pledge = PlannedJumps(stops(LADDER[-1:]), delta, Fraction(1, 10))

    alone = gaussian_delta(pledge.table[0].epsilon, LADDER[-1])

    assert 0.995 * JUMP_SHARE * delta < alone <= JUMP_SHARE * delta


def test_deciding_later_than_the_lead_breaks_the_claims() -> None:
    delta, lead = 1e-3, Fraction(1, 10)
    claims = jump_epsilons(LADDER, delta, lead)

    assert Bare(LADDER, claims, 0.1).value <= delta
    assert Bare(LADDER, claims, 0.9).value > 1.8 * delta


def test_half_the_parts_break_the_claims() -> None:
    delta, lead = 1e-5, Fraction(1, 5)
    claims = jump_epsilons(LADDER, delta, lead)
    parts = delta / gaussian_delta(claims[-1], LADDER[-1])

    halved = [gaussian_epsilon(rho, 2 * delta / parts) for rho in LADDER]

    assert parts > 1.5
    assert Bare(LADDER, halved, 0.2).value > 1.8 * delta


def test_a_second_jump_breaks_the_claims() -> None:
    """Who sees the loss at the first stop before deciding whether to stay there has two chances to fail."""
    delta, lead = 0.05, Fraction(1, 10)
    rhos = (Fraction(1, 50), Fraction(1, 5))
    claims = jump_epsilons(rhos, delta, lead)
    first, u = float(rhos[0]), np.linspace(-9.0, 9.0, 4001)
    losses = first + math.sqrt(2 * first) * u

    stay = np.maximum(0.0, -np.expm1(claims[0] - losses))
    jump = profile(claims[1] - losses, math.sqrt(2 * 0.9 * float(rhos[1])))
    reached = float(np.exp(-(u**2) / 2) @ np.maximum(stay, jump)) * (u[1] - u[0]) / math.sqrt(2 * math.pi)

    assert Bare(rhos, claims, 0.1).value <= delta
    assert reached == pytest.approx(0.0659, abs=5e-5)


def simulated(bare: Bare, claims: Sequence[float], draws: int, scale: float) -> tuple[float, float]:
    """The mean gain of the best rule over random paths, and its standard error."""
    noise = np.random.default_rng(11)
    u, gains, running = np.zeros(draws), np.zeros(draws), np.ones(draws, dtype=bool)
    for place, (earlier, rho) in enumerate(pairwise([0.0, *bare.rhos])):
        c = math.sqrt(earlier / rho)
        u = c * u + scale * math.sqrt(1 - c * c) * noise.standard_normal(draws)
        gain = bare.gain(rho, claims[place], u)
        stopped = running & (gain >= np.interp(u, bare.grid, bare.later[place]))
        gains[stopped], running = gain[stopped], running & ~stopped
    return float(gains.mean()), float(gains.std()) / math.sqrt(draws)


@pytest.mark.statistical
def test_simulated_paths_agree() -> None:
    """4.9 standard errors: a false alarm in 1e6. Paths that are 5 % too wide are told from these."""
    delta, lead = 1e-2, Fraction(1, 5)
    claims = jump_epsilons(LADDER, delta, lead)
    bare = Bare(LADDER, claims, float(lead))

    mean, error = simulated(bare, claims, 1_000_000, 1.0)
    wider, _ = simulated(bare, claims, 1_000_000, 1.05)

    assert abs(mean - bare.value) < 4.9 * error
    assert wider - bare.value > 4.9 * error
    assert mean - 4.9 * error < delta


@dataclass(frozen=True)
class Coins:
    """Runs of coins that may jump, once, to a number of coins from at most the lead of it."""

    counts: Sequence[int]
    claims: Sequence[float]
    truth: float
    lead: float

    @property
    def last(self) -> int:
        """The coins after which nothing can be jumped to any more."""
        return int(self.lead * self.counts[-1])

    def best_jump(self, coins: int, heads: int) -> tuple[float, int]:
        """What the best jump is worth after some coins, and where it goes."""
        loss, found = math.log(self.truth / (1 - self.truth)), []
        for place, (count, claim) in enumerate(zip(self.counts, self.claims, strict=True)):
            if coins <= self.lead * count:
                more = np.arange(count - coins + 1)
                failed = np.maximum(0.0, -np.expm1(claim - (2 * (heads + more) - count) * loss))
                found.append((float(binom.pmf(more, count - coins, self.truth) @ failed), place))
        return max(found)

    def worst_rule(self) -> dict[tuple[int, int], int]:
        """Where to jump to after which coins and heads, by backward induction over all of them."""
        value, rule = [0.0] * (self.last + 2), dict[tuple[int, int], int]()
        for coins in reversed(range(self.last + 1)):
            for heads in range(coins + 1):
                going_on = self.truth * value[heads + 1] + (1 - self.truth) * value[heads]
                gain, place = self.best_jump(coins, heads)
                if gain >= going_on:
                    rule[coins, heads] = place
                value[heads] = max(gain, going_on)
        return rule

    def outputs(self, rule: Mapping[tuple[int, int], int], chance: float) -> dict[tuple[str, float], float]:
        """The law of what a run under the rule returns: where it jumped to, all its heads, and the claim."""
        law, found = [1.0], defaultdict[tuple[str, float], float](float)
        for coins in range(self.last + 1):
            for heads, mass in enumerate(law):
                if (place := rule.get((coins, heads))) is not None:
                    law[heads], left = 0.0, self.counts[place] - coins
                    for more, p in enumerate(binom.pmf(np.arange(left + 1), left, chance).tolist()):
                        found[f"jumped to {place}, {heads + more} heads", self.claims[place]] += mass * p
            law = [(1 - chance) * tail + chance * head for tail, head in zip([*law, 0.0], [0.0, *law], strict=True)]
        return {**found, ("went on", math.inf): max(0.0, 1 - math.fsum(found.values()))}

    def worst_run(self) -> FiniteMechanism[int, str]:
        rule = self.worst_rule()
        return FiniteMechanism({1: self.outputs(rule, self.truth), 0: self.outputs(rule, 1 - self.truth)})


COUNTS = (12, 20, 36, 60)


@pytest.mark.parametrize("delta", [0.05, 0.005])
def test_the_worst_run_of_coins_keeps_the_claims(delta: float) -> None:
    """A coin is the sign of a Gaussian release of ρ = μ²/2, so that 60 of them are made of one release of 60ρ."""
    mu, lead = 0.15, Fraction(1, 4)
    claims = jump_epsilons(tuple(Fraction(mu * mu / 2) * count for count in COUNTS), delta, lead)
    truth = float(ndtr(mu / 2))

    kept = Coins(COUNTS, claims, truth, 0.25).worst_run().approximate_delta()
    smaller = Coins(COUNTS, [0.6 * claim for claim in claims], truth, 0.25).worst_run().approximate_delta()

    assert 0 < kept <= delta < smaller


def test_jumps_are_stated_lower_than_an_even_split_and_everything_else_higher() -> None:
    pledge, even = PlannedJumps(stops(LADDER), 1e-5, Fraction(1, 10)), PlannedStops(stops(LADDER), 1e-5)

    for stop in stops(LADDER):
        assert pledge.epsilon(stop) < 0.95 * even.epsilon(stop) < even.epsilon(stop) < pledge.others.epsilon(stop)


def test_jumps_and_other_totals_share_delta() -> None:
    pledge = PlannedJumps(stops(LADDER), 1e-5, Fraction(1, 10))
    jumped, others = ([stop.epsilon for stop in table] for table in (pledge.table, pledge.others.table))
    rhos = [float(rho) for rho in LADDER]

    assert Bare(LADDER, jumped, 0.1).value + worst_case_delta(rhos, others) <= 1e-5
    assert Bare(LADDER, jumped, 0.1).value > 0.85e-5


def test_the_loss_is_bounded_as_by_planned_stops() -> None:
    pledge, even = PlannedJumps(stops(LADDER), 1e-5, Fraction(1, 10)), PlannedStops(stops(LADDER), 1e-5)

    for stop in stops(LADDER):
        assert pledge.probabilistic(stop) == even.probabilistic(stop) > pledge.epsilon(stop)


def test_the_parts_of_a_long_ladder_are_the_printed_ones() -> None:
    rhos = tuple(Fraction(36, 1000) / Fraction(11, 10) ** power for power in reversed(range(80)))
    single = gaussian_epsilon(rhos[-1], 1e-5)

    pledges = [PlannedJumps(stops(rhos), 1e-5, Fraction(lead, 100)) for lead in (3, 6, 10, 20)]

    stated = [pledge.table[-1].epsilon for pledge in pledges]
    assert [f"{9e-6 / gaussian_delta(each, rhos[-1]):.2f}" for each in stated] == ["1.62", "1.95", "2.33", "3.19"]
    assert [f"{each / single:.2f}" for each in stated] == ["1.04", "1.05", "1.06", "1.08"]
    assert f"{gaussian_epsilon(rhos[-1], 1e-5 / 80) / single:.2f}" == "1.26"


def test_an_odometer_does_not_let_small_steps_end_on_a_stop() -> None:
    """Who looked at the loss along the way would choose where to stop; a total next to the stop is stated otherwise."""
    pledge = PlannedJumps(stops(LADDER), 1e-5, Fraction(1, 10))
    odometer, data, goal = Odometer(pledge=pledge), people(0), LADDER[5]

    def spend(rho: Fraction) -> None:
        odometer.spend(Says(0, curve=line(0, rho, rho)), data, budget(1), Past(), SystemNoise())

    spend(goal / 2)
    with pytest.raises(BudgetExceeded, match="more than the lead"):
        spend(goal / 2)
    spend(goal / 2 - Fraction(1, 10**9))

    assert odometer.spent.curve.gaussian == goal - Fraction(1, 10**9)
    assert odometer.epsilon == pledge.others.table[5].epsilon > pledge.table[5].epsilon
