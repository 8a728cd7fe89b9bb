"""Through an odometer, each mechanism's, check's and trainer's noise has the law that its bill is for.

Every test rejects correct noise with probability 1e-6, and rejects noise whose scale is 5 % wrong; seeds are fixed.
A question draws one number and may tell one bit: so a check is handed draws from a stock of its own asking. The stock
has the law of the bill, and each answer is the one that the draws handed out call for.
"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy import stats
from torch import nn
from torch.optim import SGD

from expost.accounting.claim import Budget, Spent
from expost.accounting.curve import Linear
from expost.accounting.descent import Descent
from expost.baselines import ReducedAboveThreshold, RenyiReducedAboveThreshold
from expost.checks.gaussian import BalancedCheck, GaussianCheck
from expost.checks.sparse_vector import SparseVectorCheck
from expost.mechanisms import (
    Brownian,
    Estimate,
    Exponential,
    FloatGaussian,
    FloatLaplace,
    Gaussian,
    IntegerPath,
    Laplace,
    Measurement,
    NoiseReduction,
    RealPath,
)
from expost.mechanisms.laplace_path import Kernel
from expost.noise import Floats, Integers, Noise, ScriptedNoise, SeededNoise, Shape
from expost.odometer import Odometer
from expost.private import Private
from expost.protocols import Check, Inquiry
from expost.release import Past
from expost.statistic import Statistic
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.selection import SpanningTree
from expost.tabular.table import Table
from expost.training.head import gradient
from expost.training.head.labelled import Labelled
from expost.training.head.mechanism import Head
from expost.training.head.optimizer import Momentum
from expost.training.torch.trainer import Trainer
from tests.bills.questions import FAR, REACH, UNIT, Given
from tests.bills.recording import Kind
from tests.statistical.laws import (
    FALSE_ALARM,
    WRONG,
    fits,
    gaussian_below,
    gaussian_edges,
    laplace_below,
    laplace_edges,
)
from tests.unit.examples import ADD, ALPHA, NONE, budget, people, rehearsal, released

pytestmark = pytest.mark.statistical

DATA = people(0)
CELLS = 400_000
L2_SQUARED, L1 = Fraction(3), Fraction(5, 2)
FAR_OUT = float(stats.norm.isf(FALSE_ALARM / 2))
"""How many standard errors a mean may lie off."""


def zeros(cells: int = CELLS) -> Statistic[Integers]:
    """A statistic that is 0 in every cell, so that what is released is the noise."""
    return Statistic(lambda data: np.zeros(cells, np.int64), (cells,), L2_SQUARED, L1, ADD)


def follows(values: Floats, law: stats.rv_continuous, scale: float) -> bool:
    """Whether a Kolmogorov test at the false-alarm rate accepts the law."""
    return bool(stats.kstest(values, law(scale=scale).cdf).pvalue > FALSE_ALARM)


def test_gaussian_noise_has_the_law_of_its_bill() -> None:
    """400000 draws, seed 31."""
    odometer = rehearsal()
    values = odometer.spend(Gaussian(zeros()), DATA, budget(2), Past(), SeededNoise(31)).value.values.astype(np.int64)
    std = math.sqrt(L2_SQUARED / (2 * rho(odometer)))

    assert fits(values, partial(gaussian_below, std), gaussian_edges(std))
    assert not fits(values, partial(gaussian_below, std * WRONG), gaussian_edges(std))


def rho(odometer: Odometer) -> Fraction:
    """The slope of what was billed."""
    curve = odometer.spent.curve
    assert isinstance(curve, Linear)
    return curve.rho


@pytest.mark.parametrize("floating", [False, True])
def test_a_brownian_estimate_has_the_law_of_its_bill(floating: bool) -> None:
    """400000 draws, seed 32; after three steps, whose sum is on so fine a grid that it counts as continuous."""
    exact, real = Gaussian(zeros()), FloatGaussian[Integers](lambda data: np.zeros(CELLS), (CELLS,), math.sqrt(3), ADD)
    odometer, past, noise = rehearsal(), Past[Estimate](), SeededNoise(32)
    for epsilon in (Fraction(1, 100), Fraction(1, 70), Fraction(1, 30)):
        past = past.then(odometer.spend(Brownian(real if floating else exact), DATA, budget(epsilon), past, noise))
    std = math.sqrt(L2_SQUARED / (2 * rho(odometer)))

    assert follows(past.steps[-1].value.values, stats.norm, std)
    assert not follows(past.steps[-1].value.values, stats.norm, std * WRONG)


def test_floating_gaussian_noise_has_the_law_of_its_bill() -> None:
    """400000 draws, seed 33."""
    odometer, mechanism = rehearsal(), FloatGaussian[Integers](lambda data: np.zeros(CELLS), (CELLS,), 2, ADD)
    values = odometer.spend(mechanism, DATA, budget(2), Past(), SeededNoise(33)).value.values
    std = math.sqrt(4 / (2 * rho(odometer)))

    assert follows(values, stats.norm, std)
    assert not follows(values, stats.norm, std * WRONG)


def test_laplace_noise_has_the_law_of_its_budget() -> None:
    """400000 draws, seed 34."""
    values = rehearsal().spend(Laplace(zeros()), DATA, budget(Fraction(1, 4)), Past(), SeededNoise(34)).value.values
    integers, scale = values.astype(np.int64), float(4 * L1)

    assert fits(integers, partial(laplace_below, scale), laplace_edges(scale))
    assert not fits(integers, partial(laplace_below, scale * WRONG), laplace_edges(scale))


def test_floating_laplace_noise_has_the_law_of_its_budget() -> None:
    """400000 draws, seed 35."""
    mechanism = FloatLaplace[Integers](lambda data: np.zeros(CELLS), (CELLS,), L1, ADD)
    values = rehearsal().spend(mechanism, DATA, budget(Fraction(1, 4)), Past(), SeededNoise(35)).value.values

    assert follows(values, stats.laplace, float(4 * L1))
    assert not follows(values, stats.laplace, float(4 * L1) * WRONG)


LEVELS = Fraction(1, 8), Fraction(1, 4)


def reduced(kernel: Kernel, cells: int, levels: tuple[Fraction, ...] | None) -> list[Floats]:
    """The noise at both levels, each billed its increment."""
    mechanism = NoiseReduction(zeros(cells), kernel, levels)
    odometer, past, noise = rehearsal(), Past[Measurement](), SeededNoise(36)
    for epsilon in (LEVELS[0], LEVELS[1] - LEVELS[0]):
        past = past.then(odometer.spend(mechanism, DATA, budget(epsilon), past, noise))
    return [step.value.values for step in past.steps]


@pytest.mark.parametrize("levels", [None, LEVELS])
def test_exact_noise_reduction_has_the_law_of_each_level(levels: tuple[Fraction, ...] | None) -> None:
    """60000 draws, seed 36."""
    for values, level in zip(reduced(IntegerPath(), 60_000, levels), LEVELS, strict=True):
        integers, scale = values.astype(np.int64), float(L1 / level)

        assert fits(integers, partial(laplace_below, scale), laplace_edges(scale))
        assert not fits(integers, partial(laplace_below, scale * WRONG), laplace_edges(scale))


@pytest.mark.parametrize("levels", [None, LEVELS])
def test_floating_noise_reduction_has_the_law_of_each_level(levels: tuple[Fraction, ...] | None) -> None:
    """400000 draws, seed 36."""
    for values, level in zip(reduced(RealPath(), CELLS, levels), LEVELS, strict=True):
        assert follows(values, stats.laplace, float(L1 / level))
        assert not follows(values, stats.laplace, float(L1 / level) * WRONG)


def chosen_well(choices: list[tuple[NDArray[np.int64], int]], rate: float) -> bool:
    """Whether scores of what was chosen are, on average, those of P ∝ exp(rate·score) among what there was."""
    off = spread = 0.0
    for scores, place in choices:
        weights = np.exp(rate * (scores - scores.max()))
        weights /= weights.sum()
        mean = float(weights @ scores)
        off, spread = off + scores[place] - mean, spread + float(weights @ (scores - mean) ** 2)
    return abs(off) < FAR_OUT * math.sqrt(spread)


def test_choices_have_the_law_of_their_bill() -> None:
    """8000 draws, seed 37: one candidate against 33 that are together about as likely."""
    scores, moved, noise = np.array([7, *[0] * 33]), Fraction(2), SeededNoise(37)
    mechanism = Exponential[Integers](lambda data: scores, len(scores), moved, ADD)
    price = budget(ALPHA * Fraction(1, 2))
    choices = [(scores, rehearsal().spend(mechanism, DATA, price, Past(), noise).value) for _ in range(8_000)]
    rate = math.sqrt(8 / 2) / float(2 * moved)

    assert chosen_well(choices, rate)
    assert not chosen_well(choices, rate * WRONG)
    assert not chosen_well(choices, rate / WRONG)


PAIRS, HALF = 10, 20
"""Pairs of columns of which the one numbered i lies 4·i records from independence."""


def pairs() -> Table:
    """Two columns a pair, each with HALF records of either value; in HALF + 2·i records of pair i they agree."""
    place = np.arange(2 * HALF)
    columns = {}
    for pair in range(PAIRS):
        columns[f"a{pair}"] = (place < HALF).astype(np.uint8)
        columns[f"b{pair}"] = (place % HALF < HALF // 2 + pair).astype(np.uint8) ^ (place >= HALF)
    return Table(Schema(tuple(Integer(name, (0, 1), Missing.FALLBACK) for name in columns), True, ADD), columns)


def test_the_edges_of_a_tree_have_the_law_of_their_bill() -> None:
    """3000 trees of 10 edges, seed 38. The pairs share no column, so each edge is drawn among those that are left."""
    table, noise, choices = pairs(), SeededNoise(38), list[tuple[NDArray[np.int64], int]]()
    edges = [(f"a{pair}", f"b{pair}") for pair in range(PAIRS)]
    tree = SpanningTree(dict.fromkeys(table.columns, np.array([20.0, 20.0])), tuple(edges), ADD)
    draws = 2 * PAIRS - 1
    for _ in range(3000):
        left = list(range(PAIRS))
        for edge in rehearsal().spend(tree, Private(table), budget(ALPHA * Fraction(draws, 200)), Past(), noise).value:
            place = left.index(edges.index(edge))
            choices.append((4 * np.array(left), place))
            left.pop(place)
    rate = math.sqrt(8 / 200) / 2

    assert chosen_well(choices, rate)
    assert not chosen_well(choices, rate * WRONG)
    assert not chosen_well(choices, rate / WRONG)


STOCK, ASKED = 200_000, 2_000


@dataclass
class Stock:
    """Seeded noise that draws many integers when one is asked for, and hands them out one by one."""

    source: SeededNoise
    handed: list[int] = field(default_factory=list)
    seeded: bool = True

    def __post_init__(self) -> None:
        self.bernoulli_exp, self.bernoulli_real = self.source.bernoulli_exp, self.source.bernoulli_real
        self.below, self.coins, self.key = self.source.below, self.source.coins, self.source.key
        self.gaussian, self.laplace, self.uniform = self.source.gaussian, self.source.laplace, self.source.uniform
        self._asked = Counter[tuple[Kind, Fraction]]()
        self._stock = dict[tuple[Kind, Fraction], Integers]()

    def discrete_gaussian(self, variance: Fraction, shape: Shape) -> Integers:
        return self._next("discrete_gaussian", variance, shape)

    def discrete_laplace(self, scale: Fraction, shape: Shape) -> Integers:
        return self._next("discrete_laplace", scale, shape)

    def law(self, kind: Kind) -> list[Integers]:
        """The draws of each parameter that was asked for, in the order in which they were asked."""
        return [draws for (known, _), draws in self._stock.items() if known == kind]

    def _next(self, kind: Kind, parameter: Fraction, shape: Shape) -> Integers:
        assert shape == ()
        key = kind, parameter
        if key not in self._stock:
            draw = self.source.discrete_gaussian if kind == "discrete_gaussian" else self.source.discrete_laplace
            self._stock[key] = draw(parameter, STOCK)
        value = self._stock[key][self._asked[key]]
        self._asked[key] += 1
        self.handed.append(int(value))
        return np.array(value)


def is_gaussian(draws: Integers, std: float) -> bool:
    """Whether the draws have the law, and a deviation that is 5 % off is rejected."""
    edges = gaussian_edges(std)
    wrong = any(fits(draws, partial(gaussian_below, std * error), edges) for error in (WRONG, 1 / WRONG))
    return fits(draws, partial(gaussian_below, std), edges) and not wrong


def is_laplace(draws: Integers, scale: float) -> bool:
    """Whether the draws have the law, and a scale that is 5 % off is rejected."""
    edges = laplace_edges(scale)
    wrong = any(fits(draws, partial(laplace_below, scale * error), edges) for error in (WRONG, 1 / WRONG))
    return fits(draws, partial(laplace_below, scale), edges) and not wrong


def told(check: Check[Integers, int], trained: Iterable[Spent]) -> tuple[Stock, Odometer]:
    """A run of failing questions, each of which tells its margin: the draw, and nothing else, is on top of it."""
    odometer, inquiry, noise, candidate = rehearsal(), Inquiry(check), Stock(SeededNoise(39)), released(-FAR, 1)
    asked = [odometer.ask(inquiry, DATA, candidate, trained=spent, noise=noise).value for spent in trained]
    assert [verdict.margin for verdict in asked] == [(draw - FAR) / UNIT for draw in noise.handed]
    return noise, odometer


def test_a_gaussian_question_has_the_noise_of_its_bill() -> None:
    """200000 draws, 2000 of them for questions, seed 39."""
    check = GaussianCheck(Given(), budget(ALPHA * ASKED * Fraction(1, 50)), ASKED, None)

    noise, odometer = told(check, [NONE] * ASKED)

    (draws,) = noise.law("discrete_gaussian")
    assert is_gaussian(draws, REACH / math.sqrt(2 * rho(odometer) / ASKED))


def test_a_balanced_question_has_the_noise_of_its_bill() -> None:
    """200000 draws, 2000 of them for questions, seed 39."""
    noise, odometer = told(
        BalancedCheck(Given(), None), [Spent(Linear(Fraction(0), Fraction(step, 50))) for step in range(1, ASKED + 1)]
    )

    (draws,) = noise.law("discrete_gaussian")
    assert is_gaussian(draws, REACH / math.sqrt(2 * rho(odometer) / ASKED))


def guard(check: Check[Integers, int]) -> int:
    """The least margin that passes without noise."""
    low, high = -FAR, FAR
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if answer(check, middle, ScriptedNoise([0, 0])) else (middle, high)
    return high


def answer(check: Check[Integers, int], margin: int, noise: Noise) -> bool:
    """The answer to the first question of a run."""
    return rehearsal().ask(Inquiry(check), DATA, released(margin, 1), trained=NONE, noise=noise).value.passed


def judged(check: Check[Integers, int]) -> Stock:
    """Many runs of one question, about candidates on both sides of the least that passes, judged by what was drawn."""
    noise, least = Stock(SeededNoise(40)), guard(check)
    margins = [place % 101 - 50 for place in range(ASKED)]
    passed = [answer(check, least + margin, noise) for margin in margins]
    thresholds, queries = noise.handed[::2], noise.handed[1::2]
    drawn = zip(margins, thresholds, queries, strict=True)
    assert passed == [margin + query >= threshold for margin, threshold, query in drawn]
    assert ASKED / 4 < sum(passed) < 3 * ASKED / 4
    return noise


def prices(check: Check[Integers, int]) -> tuple[Linear, Linear]:
    """What a fail of the first question costs, and what a pass costs beyond it."""
    price = check.price(0, NONE, NONE)
    failed, passed = price.failed.curve, price.passed.curve
    assert isinstance(failed, Linear)
    assert isinstance(passed, Linear)
    return failed, Linear(passed.xi - failed.xi, passed.rho - failed.rho)


@pytest.mark.parametrize(
    "check",
    [
        SparseVectorCheck(Given(), Fraction(400), Fraction(15), None),
        RenyiReducedAboveThreshold(Given(), (budget(Fraction(1, 2)),)),
    ],
)
def test_a_gaussian_threshold_and_its_questions_have_the_noise_of_their_bill(check: Check[Integers, int]) -> None:
    """200000 draws each, 2000 of them for questions, seed 40: ρ = Δ²/(2σ²) for the threshold, ξ = 2Δ/b for a pass."""
    noise, (failed, passed) = judged(check), prices(check)

    (thresholds,), (queries,) = noise.law("discrete_gaussian"), noise.law("discrete_laplace")
    assert is_gaussian(thresholds, REACH / math.sqrt(2 * failed.rho))
    assert is_laplace(queries, 2 * REACH / float(passed.xi))


def test_a_laplace_threshold_and_its_questions_have_the_noise_of_their_bill() -> None:
    """200000 draws each, 2000 of them for questions, seed 40: ξ = Δ/b for the threshold, 2Δ/b more for a pass."""
    check = ReducedAboveThreshold(Given(), (Fraction(1, 4),))
    noise, (failed, passed) = judged(check), prices(check)

    thresholds, queries = noise.law("discrete_laplace")
    assert is_laplace(thresholds, REACH / float(failed.xi))
    assert is_laplace(queries, 2 * REACH / float(passed.xi))


MULTIPLIER, CLIP, BATCH, WIDTH = Fraction(3, 4), 0.5, 4, 10**5


@pytest.mark.parametrize("summation", [gradient.IntegerSums(), gradient.FloatSums()])
def test_a_step_of_a_head_that_nobody_joins_moves_it_by_the_noise_of_its_bill(summation: gradient.Summation) -> None:
    """200002 draws, seed 41; the learning rate is 1, and a weight moves by the noise over the expected batch."""
    head = Head(
        width=WIDTH, classes=2, descent=Descent(Fraction(1, 5), MULTIPLIER), clip=CLIP, batch=BATCH,
        optimizer=Momentum(1.0, 0.0), summation=summation,
    )  # fmt: skip
    nobody = Private(Labelled.of(np.zeros((0, WIDTH)), np.zeros(0, np.int64), classes=2))
    price = Budget(Fraction(head.descent.step.at(8)), Fraction(8))
    moved = rehearsal().spend(head, nobody, price, Past(), SeededNoise(41)).value.weights.ravel()
    std = float(MULTIPLIER) * CLIP / BATCH

    assert follows(moved, stats.norm, std)
    assert not follows(moved, stats.norm, std * WRONG)


def test_a_step_of_a_module_that_nobody_joins_moves_it_by_the_noise_of_its_bill() -> None:
    """200002 draws, seed 42; the learning rate is 1, and a weight moves by the noise over the expected batch."""
    module = nn.Linear(WIDTH, 2)
    for each in module.parameters():
        nn.init.zeros_(each)
    nobody = torch.zeros(0, WIDTH), torch.zeros(0, dtype=torch.int64)
    trainer = Trainer(
        module, SGD(module.parameters(), lr=1.0), nobody, batch=BATCH, max_grad_norm=CLIP, noise_multiplier=MULTIPLIER,
        records=20, noise=SeededNoise(42),
    )  # fmt: skip

    (stage,) = trainer.releases(every="1 step", releases=1)

    moved = torch.cat([each.detach().flatten() for each in stage.module.parameters()]).numpy().astype(np.float64)
    std = float(MULTIPLIER) * CLIP / BATCH
    assert follows(moved, stats.norm, std)
    assert not follows(moved, stats.norm, std * WRONG)
