"""What training asks of the sampler is what its bill is for: coins of the stated rate, noise of the stated multiplier.

The multiplier is also taken apart: one standard deviation of the noise that was asked for is put on one weight, and
compared with how far the most that a record can add moves the weights.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
import torch
from torch import nn
from torch.optim import SGD

from expost.accounting.claim import Budget, Spent
from expost.accounting.curve import Linear, Tabulated
from expost.accounting.descent import Descent
from expost.bill import bill_total
from expost.bill import billed as on_bill
from expost.mechanisms.brownian import Brownian, Estimate
from expost.mechanisms.gaussian import Gaussian
from expost.noise import Floats, Noise, ScriptedNoise, SeededNoise
from expost.private import Neighbours, Private
from expost.release import Past
from expost.training.head.centre import Centre
from expost.training.head.full_batch import LEARNING_RATE, REACH, FullBatch
from expost.training.head.gradient import FloatSums, IntegerSums, Summation
from expost.training.head.labelled import Labelled
from expost.training.head.mechanism import BLOCK, Head
from expost.training.head.moments import Moments, SecondMoments
from expost.training.head.optimizer import Momentum
from expost.training.torch.clipping import Clipper, Ghost, PerRecord
from expost.training.torch.trainer import Trainer
from tests.bills.recording import ROUNDING, Draw, RecordingNoise, sampled_cost
from tests.unit.examples import rehearsal
from tests.unit.training.modules import flat

RATE, MULTIPLIER = Fraction(1, 5), Fraction(3, 4)
WIDTH, CLASSES, RECORDS = 3, 2, 20
STEPS = BLOCK + 5
CLIP, BATCH = 0.5, 4
ORDERS = 2, 8, 32
SUMMATIONS = pytest.mark.parametrize("summation", [IntegerSums(), FloatSums()])
CLIPPERS = pytest.mark.parametrize("clipper", [PerRecord, Ghost])
pytestmark = pytest.mark.filterwarnings("ignore:Full backward hook is firing:UserWarning")


def billed(spent: Spent, steps: int, rate: Fraction, multiplier: mp.mpf) -> bool:
    """Whether the bill is that of so many sampled steps: never below it, and above it by no more than rounding."""
    assert isinstance(spent.curve, Tabulated)
    costs = {alpha: steps * sampled_cost(rate, multiplier, alpha) for alpha in ORDERS}
    return all(cost <= spent.at(alpha) <= cost * (1 + ROUNDING) for alpha, cost in costs.items())


def head(summation: Summation) -> Head:
    """Plain steps of length 1, so that weights show the noisy sum itself."""
    return Head(
        width=WIDTH, classes=CLASSES, descent=Descent(RATE, MULTIPLIER), clip=CLIP, batch=BATCH,
        optimizer=Momentum(1.0, 0.0), summation=summation,
    )  # fmt: skip


def trained(summation: Summation, noise: Noise, *, records: int, steps: int) -> tuple[Floats, Spent]:
    """The weights after so many steps on equal records, each with a gradient far above the clip, and the bill."""
    mechanism, odometer = head(summation), rehearsal()
    data = Labelled.of(np.full((records, WIDTH), 10.0), np.zeros(records, np.int64), classes=CLASSES)
    price = Budget(Fraction(mechanism.descent.step.at(8)) * steps, Fraction(8))
    weights = odometer.spend(mechanism, Private(data), price, Past(), noise).value.weights
    return weights, odometer.spent


@SUMMATIONS
def test_a_head_asks_for_the_coins_and_the_noise_that_are_billed(summation: Summation) -> None:
    """Noise N_Z(0, σ²) counts as Gaussian noise of variance σ² − 3, and one record moves the sum by ``reach``."""
    noise = RecordingNoise(SeededNoise(4))

    _, spent = trained(summation, noise, records=RECORDS, steps=STEPS)

    coins, drawn = noise.asked[::2], noise.asked[1::2]
    counts = [BLOCK, STEPS - BLOCK]
    assert coins == [Draw("coins", RATE, count * RECORDS) for count in counts]
    assert [draw.shape for draw in drawn] == [(count, CLASSES, WIDTH + 1) for count in counts]
    (parameter,) = {draw.parameter for draw in drawn}
    if isinstance(summation, IntegerSums):
        assert {draw.kind for draw in drawn} == {"discrete_gaussian"}
        multiplier = mp.sqrt(int(Fraction(parameter) - 3)) / summation.reach
    else:
        assert {draw.kind for draw in drawn} == {"gaussian"}
        multiplier = mp.mpf(parameter) / summation.reach
    assert billed(spent, STEPS, RATE, multiplier)


@SUMMATIONS
def test_full_batch_steps_ask_for_the_noise_that_is_billed(summation: Summation) -> None:
    """Every step is a Gaussian release of its own: the noise asked for gives back the ρ on the bill."""
    noise, odometer, steps = RecordingNoise(SeededNoise(4)), rehearsal(), 3
    data = Labelled.of(np.full((RECORDS, WIDTH), 10.0), np.zeros(RECORDS, np.int64), classes=CLASSES)
    centre = Centre(np.zeros(WIDTH), float(RECORDS))
    mechanism = FullBatch(width=WIDTH, classes=CLASSES, centre=centre, steps=steps, summation=summation)

    odometer.spend(mechanism, Private(data), Budget(Fraction(1), Fraction(2)), Past(), noise)

    coins, drawn = noise.asked
    assert coins == Draw("coins", Fraction(1), steps * RECORDS)
    assert drawn.shape == (steps, CLASSES, WIDTH + 1)
    exact = isinstance(summation, IntegerSums)
    squared = Fraction(drawn.parameter) - 3 if exact else Fraction(drawn.parameter) ** 2
    rho = steps * summation.reach**2 / (2 * squared)
    curve = odometer.spent.curve
    assert isinstance(curve, Linear) and curve.gaussian is not None
    assert rho * (1 - Fraction(1, 10**12)) <= curve.gaussian <= rho * (1 + Fraction(1, 10**6))
    assert curve.rho <= Fraction(1, 2)


MOMENTS = [Moments(WIDTH, CLASSES), SecondMoments(Moments(WIDTH, CLASSES))]


@pytest.mark.parametrize("moments", MOMENTS)
def test_moments_ask_for_the_noise_that_is_billed(moments: Moments | SecondMoments) -> None:
    """The noise of all releases together is what their ρ is for, beside the most that one record adds."""
    noise, odometer, past = RecordingNoise(SeededNoise(4)), rehearsal(), Past[Estimate]()
    data = Labelled.of(np.full((1, WIDTH), 10.0), np.zeros(1, np.int64), classes=CLASSES)
    statistic = moments.statistic(Centre(np.zeros(WIDTH), float(RECORDS)), Neighbours.ADD_REMOVE)
    mechanism = Brownian(Gaussian(statistic))

    for epsilon in (Fraction(1, 4), Fraction(3, 4)):
        past = past.then(odometer.spend(mechanism, Private(data), Budget(epsilon, Fraction(2)), past, noise))

    added = statistic.evaluate(data).astype(object)
    reach = int((added**2).sum())
    rho = sum(Fraction(reach) / (2 * Fraction(draw.parameter)) for draw in noise.asked)
    curve = odometer.spent.curve
    assert {(draw.kind, draw.shape) for draw in noise.asked} == {("discrete_gaussian", statistic.shape)}
    assert isinstance(curve, Linear) and curve.gaussian is not None
    assert curve.rho == Fraction(1, 2)
    assert 0.99 * curve.rho < rho <= curve.rho <= curve.gaussian <= curve.rho * (1 + Fraction(1, 10**6))
    assert past.steps[-1].value.precision == sum(1 / Fraction(draw.parameter) for draw in noise.asked)


def test_a_record_moves_a_full_batch_step_by_no_more_than_the_reach() -> None:
    """From zero weights and from others, near the centre and far from it, in integers."""
    summation, rng = IntegerSums(), np.random.default_rng(6)
    mechanism = FullBatch(
        width=WIDTH, classes=CLASSES, centre=Centre(np.full(WIDTH, 0.2), 1.0), steps=1, summation=summation
    )
    entries = CLASSES * (WIDTH + 1)

    for size in (0.0, 0.1, 1.0, 1e6, 3e38):
        data = Labelled.of(
            size * rng.normal(size=(1, WIDTH)).astype(np.float32), np.zeros(1, np.int64), classes=CLASSES
        )
        noise = ScriptedNoise([1, *[0] * entries])
        moved = mechanism.sample(data, Budget(Fraction(1), Fraction(2)), Past(), noise).weights

        assert float(np.linalg.norm(moved)) <= LEARNING_RATE * REACH * (1 + 1e-6)


def ratio(moved_by: Callable[[Iterable[float]], float], entries: int, std: float) -> float:
    """How far one deviation of noise on one weight moves it, over how far a record that joins alone moves all."""
    return moved_by([0, std, *[0] * (entries - 1)]) / moved_by([1, *[0] * entries])


@SUMMATIONS
def test_the_noise_on_a_head_is_the_multiplier_times_what_a_record_moves(summation: Summation) -> None:
    asked = RecordingNoise(SeededNoise(4))
    trained(summation, asked, records=1, steps=1)
    parameter = float(asked.asked[1].parameter)
    std = parameter**0.5 if isinstance(summation, IntegerSums) else parameter

    def moved(script: Iterable[float]) -> float:
        return float(np.linalg.norm(trained(summation, ScriptedNoise(script), records=1, steps=1)[0]))

    found = ratio(moved, CLASSES * (WIDTH + 1), std)

    assert float(MULTIPLIER) * (1 - 1e-6) < found < float(MULTIPLIER) * 1.01  # a grid may round a record down


CLIPS = [1e-6, 0.5, 1.0, 30.0, 1e6]


@SUMMATIONS
@pytest.mark.parametrize("clip", CLIPS)
def test_a_record_moves_a_head_by_its_gradient_up_to_the_clip_and_a_deviation_by_the_multiple_of_it(
    summation: Summation, clip: float
) -> None:
    """Clip and noise scale together: whatever the clip, no record moves the weights further than the noise is for.

    From zero weights the errors of two classes are ±1/2, and the gradient is as long as the features over √2.
    """
    mechanism = replace(head(summation), clip=clip)
    std = float(MULTIPLIER) * summation.reach
    budget = Budget(Fraction(mechanism.descent.step.at(8)), Fraction(8))

    def moved(size: float, script: Iterable[float]) -> float:
        data = Labelled.of(np.full((1, WIDTH), size), np.zeros(1, np.int64), classes=CLASSES)
        return float(np.linalg.norm(mechanism.sample(data, budget, Past(), ScriptedNoise(script)).weights)) * BATCH

    silent = [0.0] * CLASSES * (WIDTH + 1)
    deviation = moved(0, [0, std, *silent[1:]])
    assert deviation == pytest.approx(float(MULTIPLIER) * clip, rel=1e-6)
    for size in (0.0, 0.1, 1.0, 10.0, 1e6, 3e38):
        gradient = min(np.sqrt((WIDTH * size**2 + 1) / 2), clip)
        assert moved(size, [1, *silent]) == pytest.approx(gradient, abs=0.01 * clip)
        assert moved(size, [1, *silent]) <= clip * (1 + 1e-6)


def layer() -> nn.Linear:
    """The same untrained layer every time."""
    torch.manual_seed(0)
    return nn.Linear(WIDTH, CLASSES)


def module_trainer(clipper: type[Clipper], noise: Noise, *, records: int) -> Trainer:
    """That layer on equal records, each with a gradient far above the clip."""
    module = layer()
    data = torch.full((records, WIDTH), 10.0), torch.zeros(records, dtype=torch.int64)
    return Trainer(
        module, SGD(module.parameters(), lr=1.0), data, batch=BATCH, max_grad_norm=CLIP, noise_multiplier=MULTIPLIER,
        records=RECORDS, gradients=clipper, noise=noise,
    )  # fmt: skip


@CLIPPERS
def test_a_module_asks_for_the_coins_and_the_noise_that_are_billed(clipper: type[Clipper]) -> None:
    """The rate is that of the public number of records, whatever number there is; noise is on the clipped sum."""
    noise, joined = RecordingNoise(SeededNoise(4)), RECORDS - 3
    trainer = module_trainer(clipper, noise, records=joined)

    list(trainer.releases(every="3 steps", releases=2))

    step = [Draw("coins", Fraction(BATCH, RECORDS), joined)]
    std = float(MULTIPLIER) * CLIP
    step += [Draw("gaussian", std, (CLASSES, WIDTH)), Draw("gaussian", std, (CLASSES,))]
    assert noise.asked == step * 6
    assert billed(bill_total(on_bill(trainer.ledger)), 6, Fraction(BATCH, RECORDS), mp.mpf(std) / CLIP)


@CLIPPERS
def test_the_noise_on_a_module_is_the_multiplier_times_what_a_record_moves(clipper: type[Clipper]) -> None:
    def moved(script: Iterable[float]) -> float:
        (stage,) = module_trainer(clipper, ScriptedNoise(script), records=1).releases(every="1 step", releases=1)
        return float(torch.linalg.vector_norm(flat(stage.module) - flat(layer())))

    found = ratio(moved, CLASSES * (WIDTH + 1), float(MULTIPLIER) * CLIP)

    assert found == pytest.approx(float(MULTIPLIER), rel=1e-5)
