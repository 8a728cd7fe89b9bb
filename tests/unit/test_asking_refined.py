"""Answers that are made finer: after an interrupt, from several threads, and never beyond what may be spent."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

from expost.errors import BudgetExceeded, InvalidValue
from expost.jobs.asking.answer import Answer
from expost.jobs.asking.run import ask
from expost.jobs.asking.targets import WithinShare
from expost.noise import Floats, Integers, SeededNoise
from expost.private import Neighbours
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema

SCHEMA = Schema((Integer("g", (0, 1, 2), Missing.FALLBACK),), True, Neighbours.ADD_REMOVE)
TABLE = pl.DataFrame({"g": np.repeat([0, 1, 2], (3000, 1500, 400))})


@dataclass
class Interruptible:
    """Seeded noise that is interrupted where somebody says so."""

    noise: SeededNoise = field(default_factory=lambda: SeededNoise(3))
    interrupted: bool = False

    @property
    def seeded(self) -> bool:
        return True

    def discrete_gaussian(self, variance: Fraction, shape: tuple[int, ...]) -> Integers:
        if self.interrupted:
            raise KeyboardInterrupt
        return self.noise.discrete_gaussian(variance, shape)

    def discrete_laplace(self, scale: Fraction, shape: tuple[int, ...]) -> Integers:
        return self.noise.discrete_laplace(scale, shape)

    def gaussian(self, std: float, shape: tuple[int, ...]) -> Floats:
        return self.noise.gaussian(std, shape)

    def uniform(self, shape: tuple[int, ...]) -> Floats:
        return self.noise.uniform(shape)


def asked(noise: Any, **given: Any) -> Answer:
    return ask(TABLE, "count by g", schema=SCHEMA, noise=noise, **given)


@pytest.mark.parametrize("within", ["20%", 60])
def test_refining_after_interrupts_stays_within_what_may_be_spent(within: Any) -> None:
    """A step that was interrupted is billed in full, and what comes after it begins from there."""
    noise = Interruptible()
    answer = asked(noise, within=within, max_epsilon=1.0)
    finer = "7%" if within == "20%" else 25
    noise.interrupted = True
    refused = 0
    for _ in range(20):
        try:
            answer.refine(finer)
        except KeyboardInterrupt:
            pass
        except BudgetExceeded:
            refused += 1
    noise.interrupted = False

    assert refused
    with pytest.raises(BudgetExceeded):
        answer.refine(finer)


def test_an_answer_is_refined_after_an_interrupt_at_the_price_that_is_announced() -> None:
    """What the interrupted step cost is on the bill, and on the receipt."""
    noise = Interruptible()
    answer = asked(noise, within="20%", max_epsilon=2.0)
    noise.interrupted = True
    with pytest.raises(KeyboardInterrupt):
        answer.refine("8%")
    noise.interrupted = False

    price = answer.price("8%")
    found = answer.refine("8%")

    assert answer.epsilon < found.epsilon <= 2.0
    assert found.epsilon == price


def test_no_step_passes_what_may_be_spent_whoever_chose_it() -> None:
    """The odometer refuses it before data is opened, and not only the plan."""
    answer = asked(SeededNoise(2), within=80, max_epsilon=1.0)
    measuring, plan = answer._measuring, answer._plan

    with pytest.raises(BudgetExceeded):
        measuring.measure(plan.exact, to=2 * plan.levels[-1])


def test_answers_that_are_refined_in_several_threads_are_all_on_the_bill() -> None:
    """And none of them passes what may be spent."""
    answer = asked(SeededNoise(2), within=80, max_epsilon=1.0)

    def refined(place: int) -> float:
        try:
            return answer.refine(40 - place).epsilon
        except BudgetExceeded:
            return 0.0

    with ThreadPoolExecutor(4) as pool:
        epsilons = list(pool.map(refined, range(8)))

    assert 0 < max(epsilons) <= 1.0


def test_noise_in_empty_groups_is_no_part_of_the_total() -> None:
    """Five rows in a thousand groups are not known to a share of them because there is noise in the others."""
    many = Schema((Integer("g", tuple(range(1000)), Missing.FALLBACK),), True, Neighbours.ADD_REMOVE)
    few = pl.DataFrame({"g": [0] * 5})

    found = ask(
        few, "count by g", schema=many, within=WithinShare(Fraction(1, 50), of_total=True), noise=SeededNoise(1),
        fewer_than=1,
    )  # fmt: skip

    assert not any(line.settled == "yes" for line in found.told[0].lines)


@pytest.mark.parametrize("within", ["1e999999999", "1e-999999999%", "9" * 5000])
def test_a_precision_that_takes_for_ever_to_read_is_refused(within: str) -> None:
    with pytest.raises(InvalidValue, match="write a distance"):
        asked(SeededNoise(1), within=within)
