"""Theorem (parallel odometer): steps on disjoint parts cost the most expensive part, however they interleave.

Neighbours differ in one of several parts. Each step reads one part, and which part, which mechanism and whether to go
on are chosen from released outputs. Then the largest part's sum of realised bills is a valid ex-post bill, in the
Rényi and pure notions, and in the approximate notion with δ the largest part's bound on Σ δ_i. Only the steps that
were made are paid. A step that reads two parts must be billed to both.
"""

import math
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest

from expost.verify import FiniteMechanism

ALPHA = 4.0
PROGRAMS = 30
LENGTH = 4
SPLITS = [(a, b) for a in (0, 1) for b in (0, 1)]
ONE_PART = [(a, b) for a in SPLITS for b in SPLITS if sum(s != t for s, t in zip(a, b, strict=True)) == 1]

Bit = FiniteMechanism[int, int]


class Step(NamedTuple):
    part: int
    mechanism: Bit


class Taken(NamedTuple):
    part: int
    answer: int
    epsilon: float


History = tuple[Taken, ...]
Program = Callable[[History], Step | None]
Split = tuple[int, int]


def paths(program: Program, split: Split, history: History = ()) -> Iterator[tuple[History, float]]:
    step = program(history)
    if step is None:
        yield history, 1.0
        return
    for (answer, epsilon), p in step.mechanism.table[split[step.part]].items():
        for longer, q in paths(program, split, (*history, Taken(step.part, answer, epsilon))):
            yield longer, p * q


def spent(history: History, part: int) -> float:
    return math.fsum(taken.epsilon for taken in history if taken.part == part)


def largest_part(history: History) -> float:
    return max(spent(history, 0), spent(history, 1))


def odometer(program: Program, total: Callable[[History], float] = largest_part) -> FiniteMechanism[Split, History]:
    table = {split: {(h, total(h)): p for h, p in paths(program, split)} for split in SPLITS}
    return FiniteMechanism(table, ONE_PART)


def cost(epsilon: float) -> float:
    """What randomised response at ε costs at order α, exactly."""
    top = math.exp(ALPHA * epsilon) + math.exp((1 - ALPHA) * epsilon)
    return math.log(top / (1 + math.exp(epsilon))) / (ALPHA - 1)


def response(epsilon: float, claim: float) -> Bit:
    truth = 1 / (1 + math.exp(-epsilon))
    return FiniteMechanism({bit: {(bit, claim): truth, (1 - bit, claim): 1 - truth} for bit in (0, 1)})


def three_outputs(p: list[float], q: list[float], epsilons: list[float]) -> Bit:
    return FiniteMechanism({bit: {(y, epsilons[y]): law[y] for y in range(3)} for bit, law in enumerate((p, q))})


def renyi(rng: np.random.Generator) -> Bit:
    """An ex-post step: its bill depends on its output, and its moment is 1 unless ε would fall below 0."""
    p, q = rng.dirichlet(np.full(3, 3.0), 2).tolist()
    epsilons = rng.uniform(0, 1, 3)
    log_moment = math.log(three_outputs(p, q, epsilons.tolist()).moment(ALPHA))
    shift = max(log_moment / (ALPHA - 1), -float(epsilons.min()))
    return three_outputs(p, q, (epsilons + shift).tolist())


def pure(rng: np.random.Generator) -> Bit:
    p, q = rng.dirichlet(np.ones(3), 2)
    return three_outputs(p.tolist(), q.tolist(), np.abs(np.log(p / q)).tolist())


def leaky(rng: np.random.Generator) -> Bit:
    p, q = rng.dirichlet(np.ones(3), 2).tolist()
    return three_outputs(p, q, rng.uniform(0, 1, 3).tolist())


def random_program(rng: np.random.Generator, draw: Callable[[np.random.Generator], Bit]) -> Program:
    """A fixed choice for every history: which part, which mechanism, or to stop."""

    @cache
    def program(history: History) -> Step | None:
        stop = len(history) == LENGTH or (len(history) > 1 and rng.uniform() < 0.2)
        return None if stop else Step(int(rng.integers(2)), draw(rng))

    return program


def test_the_largest_part_pays_for_any_interleaving_of_renyi_steps() -> None:
    rng = np.random.default_rng(1)
    moments = [odometer(random_program(rng, renyi)).moment(ALPHA) for _ in range(PROGRAMS)]

    assert max(moments) <= 1 + 1e-12


def test_the_smallest_part_does_not_pay() -> None:
    rng = np.random.default_rng(1)
    moments = [
        odometer(random_program(rng, renyi), lambda h: min(spent(h, 0), spent(h, 1))).moment(ALPHA)
        for _ in range(PROGRAMS)
    ]

    assert min(moments) > 1.05


def test_the_largest_part_pays_for_any_interleaving_of_pure_steps() -> None:
    rng = np.random.default_rng(2)

    assert all(odometer(random_program(rng, pure)).is_pure() for _ in range(PROGRAMS))


def worst_delta(program: Program, part: int, history: History = ()) -> float:
    """The largest Σ δ_i that the steps on one part can reach on any path."""
    step = program(history)
    if step is None:
        return 0.0
    own = step.mechanism.approximate_delta() if step.part == part else 0.0
    outcomes = step.mechanism.outcomes
    return own + max(worst_delta(program, part, (*history, Taken(step.part, y, e))) for y, e in outcomes)


def test_the_largest_parts_delta_pays_for_any_interleaving_of_approximate_steps() -> None:
    rng = np.random.default_rng(3)
    for _ in range(PROGRAMS):
        program = random_program(rng, leaky)
        delta = max(worst_delta(program, 0), worst_delta(program, 1))
        assert odometer(program).approximate_delta() <= delta + 1e-12


def test_a_single_steps_delta_does_not_pay_for_two_on_the_same_part() -> None:
    leak: Bit = FiniteMechanism({bit: {(bit, 0.5): 0.1, (2, 0.5): 0.9} for bit in (0, 1)})

    twice = odometer(lambda history: Step(0, leak) if len(history) < 2 else None)

    assert leak.approximate_delta() == pytest.approx(0.1)
    assert twice.approximate_delta() == pytest.approx(0.19)


def checked_training(*, budgets: list[float], checks: list[float]) -> Program:
    """Train on part 0, check on part 1, stop at the first check that answers 1."""

    def program(history: History) -> Step | None:
        taken = len(history)
        stopped = taken > 0 and taken % 2 == 0 and history[-1].answer == 1
        if stopped or taken == len(budgets) + len(checks):
            return None
        epsilon = (checks if taken % 2 else budgets)[taken // 2]
        return Step(taken % 2, response(epsilon, cost(epsilon)))

    return program


def test_only_the_checks_made_are_paid() -> None:
    checks = [0.5, 0.5, 0.5]
    planned = sum(map(cost, checks))

    halting = odometer(checked_training(budgets=[0.1, 0.1, 2.0], checks=checks))

    bills = {len(history) // 2: total for history, total in halting.outcomes}
    assert bills[1] == pytest.approx(cost(0.5))
    assert bills[2] == pytest.approx(2 * cost(0.5))
    assert bills[1] < bills[2] < planned
    assert halting.is_renyi(ALPHA)


def test_a_check_as_large_as_the_training_step_before_it_is_free() -> None:
    steps = [0.3, 0.6, 1.1]

    balanced = odometer(checked_training(budgets=steps, checks=steps))

    assert all(total == spent(history, 0) for history, total in balanced.outcomes)
    assert balanced.moment(ALPHA) == pytest.approx(1, abs=1e-12)


def test_a_check_larger_than_the_training_billed_to_training_only_is_false() -> None:
    program = checked_training(budgets=[0.3, 0.6], checks=[0.9, 0.9])

    assert odometer(program).is_renyi(ALPHA)
    assert odometer(program, lambda history: spent(history, 0)).moment(ALPHA) > 1.2


def test_two_steps_on_one_part_billed_to_two_parts_are_false() -> None:
    once = response(1.0, cost(1.0))

    def both_on_part_zero(history: History) -> Step | None:
        return Step(0, once) if len(history) < 2 else None

    as_if_disjoint = odometer(both_on_part_zero, lambda history: max(taken.epsilon for taken in history))

    assert odometer(both_on_part_zero).moment(ALPHA) == pytest.approx(1, abs=1e-12)
    assert as_if_disjoint.moment(ALPHA) > 5


def test_neighbours_that_differ_in_both_parts_break_the_rule() -> None:
    steps = [0.3, 0.6, 1.1]
    balanced = odometer(checked_training(budgets=steps, checks=steps))

    assert FiniteMechanism(balanced.table).moment(ALPHA) > 2


def test_a_step_that_reads_both_parts_must_be_billed_to_both() -> None:
    """The answer is about the sum of both bits; a later step reads part 1 again."""
    epsilon = 1.0
    truth = 1 / (1 + math.exp(-epsilon))

    def joint(*, billed_to_both: bool) -> FiniteMechanism[Split, tuple[int, int]]:
        bill = 2 * cost(epsilon) if billed_to_both else cost(epsilon)
        return FiniteMechanism(
            {
                (a, b): {
                    ((y, z), bill): (truth if y == a ^ b else 1 - truth) * (truth if z == b else 1 - truth)
                    for y, z in product((0, 1), repeat=2)
                }
                for a, b in SPLITS
            },
            ONE_PART,
        )

    assert joint(billed_to_both=True).is_renyi(ALPHA)
    assert joint(billed_to_both=False).moment(ALPHA) > 5
