"""The linear head: step by step what Opacus and torch do, from released weights and public numbers only."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import final

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from opacus import GradSampleModule
from opacus.optimizers import DPOptimizer

from expost.accounting.claim import Budget
from expost.accounting.descent import MOST_ENTRIES, Descent
from expost.errors import InvalidValue, MechanismFailed
from expost.jobs.finetuning.recipe import HeadRecipe
from expost.jobs.finetuning.wanted import Shape
from expost.noise import Floats, ScriptedNoise, SeededNoise
from expost.odometer import Odometer
from expost.private import Private
from expost.release import Past
from expost.training.head.arrays import Arrays, InNumpy, on
from expost.training.head.gradient import FEATURE_GRID, FloatSums, IntegerSums, Summation
from expost.training.head.labelled import Labelled
from expost.training.head.mechanism import BLOCK, Head, Trained, _Run
from expost.training.head.optimizer import Adam, Momentum, Optimizer
from expost.training.head.score import accuracy
from expost.training.schedule import Schedule
from tests.unit.examples import one_sentence, rehearsal

RECORDS, WIDTH, CLASSES, STEPS = 60, 5, 3, 20
DESCENT = Descent(Fraction(1, 5), Fraction(1, 2))
DROP_AFTER = 12
SUMS: tuple[Summation, ...] = (IntegerSums(), FloatSums())
HEAD = Head(
    width=WIDTH, classes=CLASSES, descent=DESCENT, clip=0.9, batch=12.0, drop=0.1, drop_after=DROP_AFTER,
    summation=FloatSums(),
)  # fmt: skip


def priced(steps: int) -> Budget:
    """The budget of so many steps."""
    return Budget(Fraction(DESCENT.step.at(8)) * steps, Fraction(8))


def records() -> Labelled:
    """Records of three classes, some of which are clipped at first and some of which are not."""
    noise = SeededNoise(11)
    labels = np.arange(RECORDS) % CLASSES
    sizes = np.exp(noise.gaussian(1.0, (RECORDS, 1)) - 2)
    features = sizes * (noise.gaussian(1.0, (RECORDS, WIDTH)) + np.eye(CLASSES, WIDTH)[labels])
    return Labelled.of(features, labels, classes=CLASSES)


def coins() -> NDArray[np.bool_]:
    """Who joins each step; nobody joins the third."""
    table = SeededNoise(12).coins(DESCENT.rate, STEPS * RECORDS).reshape(STEPS, RECORDS)
    table[2] = False
    return table


def draws(summation: Summation) -> Floats:
    """The noise of each step, in units of the sum."""
    return summation.noise(DESCENT.noise_multiplier, (STEPS, CLASSES, WIDTH + 1), SeededNoise(13)).astype(np.float64)


def scripted(joined: NDArray[np.bool_], noise: Floats) -> ScriptedNoise:
    """Coins and noise in the order in which they are drawn: those of a block of steps together."""
    script: list[float] = []
    for start in range(0, len(joined), BLOCK):
        block = slice(start, start + BLOCK)
        script += [*joined[block].ravel().tolist(), *noise[block].ravel().tolist()]
    return ScriptedNoise(script)


def trained(head: Head, steps: int = STEPS) -> Trained:
    """The head after so many steps of the script."""
    noise = scripted(coins()[:steps], draws(head.summation)[:steps])
    return head.sample(records(), priced(steps), Past(), noise)


@final
class Injected(DPOptimizer):  # type: ignore[misc] # Opacus has no types
    """Opacus's optimiser with noise that is given to it."""

    noise: Floats

    def add_noise(self) -> None:
        """Put the next noise on the clipped sum, the bias being its last column."""
        weight, bias = self.params
        drawn = torch.from_numpy(self.noise.astype(np.float32))
        weight.grad = weight.summed_grad + drawn[:, :-1]
        bias.grad = bias.summed_grad + drawn[:, -1]
        for parameter in self.params:
            parameter.summed_grad._processed = parameter.grad_sample._processed = True


OPTIMIZERS: dict[str, tuple[Optimizer, Callable[..., torch.optim.Optimizer]]] = {
    "Adam": (Adam(0.05), lambda parameters: torch.optim.Adam(parameters, lr=0.05)),
    "momentum": (Momentum(0.3, 0.8), lambda parameters: torch.optim.SGD(parameters, lr=0.3, momentum=0.8)),
}
EACH_OPTIMIZER = pytest.mark.parametrize("name", OPTIMIZERS)


@cache
def opacus(name: str, *, floating: bool = True) -> tuple[Floats, ...]:
    """The weights after each step of Opacus's optimiser on a linear layer, from zero, on the same coins and noise."""
    noise = draws(FloatSums()) if floating else draws(IntegerSums()) / IntegerSums.reach
    data, layer = records(), torch.nn.Linear(WIDTH, CLASSES)
    torch.nn.init.zeros_(layer.weight)
    torch.nn.init.zeros_(layer.bias)
    model = GradSampleModule(layer, loss_reduction="sum")
    inner = OPTIMIZERS[name][1](model.parameters())
    optimizer = Injected(inner, noise_multiplier=0.5, max_grad_norm=HEAD.clip, expected_batch_size=12)
    criterion, path = torch.nn.CrossEntropyLoss(reduction="sum"), []
    for step, joined in enumerate(coins()):
        if step == DROP_AFTER:
            for group in inner.param_groups:
                group["lr"] *= HEAD.drop
        optimizer.zero_grad()
        optimizer.noise = noise[step] * HEAD.clip
        rows, labels = torch.from_numpy(data.features[joined]).requires_grad_(), torch.from_numpy(data.labels[joined])
        criterion(model(rows), labels).backward()
        optimizer.step()
        weights = [layer.weight.detach().numpy(), layer.bias.detach().numpy()[:, None]]
        path.append(np.concatenate(weights, axis=1).astype(np.float64))
    return tuple(path)


def off(ours: Floats, theirs: Floats) -> float:
    """The largest difference of a weight."""
    return float(np.max(np.abs(ours - theirs)))


@EACH_OPTIMIZER
@pytest.mark.parametrize("steps", [1, 3, DROP_AFTER + 1, STEPS])
def test_a_floating_head_takes_the_steps_of_opacus(name: str, steps: int) -> None:
    """Within single precision, and the 1e−6 that Opacus adds to a norm before it clips."""
    theirs = opacus(name)[steps - 1]

    ours = trained(replace(HEAD, optimizer=OPTIMIZERS[name][0]), steps)

    assert off(ours.weights, theirs) < 1e-5


@EACH_OPTIMIZER
def test_an_exact_head_takes_the_steps_of_opacus_up_to_its_grid(name: str) -> None:
    theirs = opacus(name, floating=False)[-1]

    ours = trained(replace(HEAD, optimizer=OPTIMIZERS[name][0], summation=IntegerSums()))

    assert off(ours.weights, theirs) < 2e-3


def test_the_steps_compared_clip_some_records_and_go_somewhere() -> None:
    norms = np.sqrt((records().features ** 2).sum(axis=1) + 1) * np.sqrt(6) / 3

    assert 10 < int((norms > HEAD.clip).sum()) < RECORDS
    assert all(np.max(np.abs(opacus(name)[-1])) > 0.2 for name in OPTIMIZERS)


TWINS = {
    "clip": replace(HEAD, clip=0.95),
    "batch": replace(HEAD, batch=12.5, optimizer=Momentum(0.3, 0.8)),
    "drop": replace(HEAD, drop_after=DROP_AFTER + 1),
    "optimiser": replace(HEAD, optimizer=Adam(0.05, second=0.9)),
    "velocity": replace(HEAD, optimizer=Momentum(0.3, 0.79)),
}


@pytest.mark.parametrize("name", TWINS)
def test_other_settings_than_those_of_opacus_would_show(name: str) -> None:
    """The negative twins; Adam does not mind what divides the gradient, so the batch is compared under momentum."""
    head = TWINS[name]
    theirs = opacus("Adam" if isinstance(head.optimizer, Adam) else "momentum")[-1]

    assert off(trained(head).weights, theirs) > 1e-3


@pytest.mark.parametrize("summation", [FloatSums(), IntegerSums()])
def test_torch_on_the_processor_computes_what_numpy_does(summation: Summation, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the same precision."""
    monkeypatch.setattr("expost.training.head.arrays._exact_in_single", lambda: False)

    here, there = (trained(replace(HEAD, summation=summation, arrays=arrays)) for arrays in (InNumpy(), on("cpu")))

    assert off(here.weights, there.weights) < 2e-6
    assert [off(one, other) < 2e-6 for one, other in zip(here.moments, there.moments, strict=True)] == [True] * 2
    assert there.weights.dtype == np.float64


@pytest.mark.parametrize("arrays", [InNumpy(), on("cpu")], ids=["numpy", "torch"])
@pytest.mark.parametrize("optimizer", [Adam(), Momentum()])
def test_training_goes_on_from_the_last_release_as_if_it_had_never_stopped(
    arrays: Arrays, optimizer: Optimizer
) -> None:
    head, odometer = replace(HEAD, arrays=arrays, optimizer=optimizer, summation=IntegerSums()), rehearsal()
    joined, noise = coins(), draws(IntegerSums())
    first, rest = scripted(joined[:BLOCK], noise[:BLOCK]), scripted(joined[BLOCK:], noise[BLOCK:])
    data: Private[Labelled] = Private(records())

    stop = odometer.spend(head, data, priced(BLOCK), Past(), first)
    before = stop.value.weights.copy()
    after = odometer.spend(head, data, priced(STEPS - BLOCK), Past(stop), rest)

    assert np.array_equal(after.value.weights, trained(head).weights)
    assert np.array_equal(stop.value.weights, before)
    assert (stop.value.steps, after.value.steps) == (BLOCK, STEPS)


def test_progress_is_told_in_steps() -> None:
    heard: list[tuple[int, int]] = []

    trained(replace(HEAD, told=lambda taken, wanted: heard.append((taken, wanted))))

    assert heard == [(BLOCK, STEPS), (STEPS, STEPS)]


def test_of_several_releases_the_last_is_gone_on_from() -> None:
    odometer, data, noise = rehearsal(), Private(records()), SeededNoise(1)
    first = odometer.spend(HEAD, data, priced(1), Past(), noise)
    second = odometer.spend(HEAD, data, priced(1), Past(first), noise)
    script = coins()[:1], draws(HEAD.summation)[:1]

    after = HEAD.sample(records(), priced(1), Past(first, second), scripted(*script))

    assert after.steps == 3
    assert np.array_equal(after.weights, HEAD.sample(records(), priced(1), Past(second), scripted(*script)).weights)


def test_the_largest_head_is_as_large_as_its_price_was_proved_for() -> None:
    classes = 10
    width = MOST_ENTRIES // classes - 1  # and the bias

    assert replace(HEAD, classes=classes, width=width).width == width
    with pytest.raises(InvalidValue, match="is too large"):
        replace(HEAD, classes=classes, width=width + 1)


def test_what_goes_on_record_recomputes_the_price() -> None:
    facts = HEAD.facts(priced(7))

    again = Descent(Fraction(str(facts["rate"])), Fraction(str(facts["noise multiplier"])))

    assert again.promise(int(facts["steps"])).at(8) == HEAD.promise(priced(7)).at(8)
    assert facts["noise"] == "floating-point Gaussian"
    assert replace(HEAD, summation=IntegerSums()).facts(priced(7))["noise"] == "exact discrete Gaussian"


@pytest.mark.parametrize(("summation", "floating"), [(FloatSums(), True), (IntegerSums(), False)])
def test_floating_noise_is_marked_on_the_release(summation: Summation, floating: bool) -> None:
    head = replace(HEAD, summation=summation)
    noise = scripted(coins()[:1], draws(summation)[:1])

    release = rehearsal().spend(head, Private(records()), priced(1), Past(), noise)

    assert release.floating is floating


def test_a_head_without_memory_of_the_data_starts_from_zero() -> None:
    silent = ScriptedNoise([0] * (RECORDS + CLASSES * (WIDTH + 1)))

    assert not np.any(HEAD.sample(records(), priced(1), Past(), silent).weights)


@pytest.mark.parametrize(
    "refused",
    [
        lambda: replace(HEAD, clip=0.0),
        lambda: replace(HEAD, clip=float("nan")),
        lambda: replace(HEAD, batch=-1.0),
        lambda: replace(HEAD, classes=MOST_ENTRIES),
        lambda: HEAD.promise(Budget.of(1e-12, alpha=8)),
    ],
)
def test_what_cannot_be_trained_is_refused_beforehand(refused: Callable[[], object]) -> None:
    with pytest.raises(InvalidValue) as error:
        refused()

    assert one_sentence(error.value)


def wrong_labels() -> Labelled:
    """Records of more classes than the head has."""
    return Labelled.of(np.zeros((3, WIDTH)), np.array([0, 1, 17]), classes=20)


def test_records_that_do_not_fit_the_head_fail_without_showing_a_value() -> None:
    with pytest.raises(MechanismFailed) as failed:
        Odometer(rehearsal=True).spend(HEAD, Private(wrong_labels()), priced(1), Past(), SeededNoise(1))

    assert "17" not in str(failed.value)


def test_training_leaves_the_records_as_they_were() -> None:
    data, untouched = records(), records()

    HEAD.sample(data, priced(3), Past(), SeededNoise(1))

    assert np.array_equal(data.features, untouched.features)
    assert np.array_equal(data.labels, untouched.labels)


def test_a_head_that_is_told_nothing_trains_as_a_recipe_that_is_told_nothing() -> None:
    recipe = HeadRecipe(
        target=accuracy(0.5), schedule=Schedule(1, 1, 1), start=DESCENT.noise_multiplier,
        rate=DESCENT.rate,
    )  # fmt: skip
    head, told = Head(width=WIDTH, classes=CLASSES, descent=DESCENT), recipe.head(Shape(WIDTH, CLASSES))

    assert (head.clip, head.batch, head.drop) == (told.clip, told.batch, told.drop)


@pytest.mark.parametrize("summation", [FloatSums(), IntegerSums()])
def test_features_of_a_million_keep_their_direction(summation: Summation) -> None:
    head = replace(HEAD, width=2, classes=2, optimizer=Momentum(1.0, 0.0), summation=summation)
    data = Labelled.of(np.array([[1e6, 5e5]]), np.array([0]), classes=2)

    moved = head.sample(data, priced(1), Past(), ScriptedNoise([1] + [0] * 6)).weights

    assert moved[:, 0] == pytest.approx(2 * moved[:, 1], rel=1e-3)


@pytest.mark.parametrize("clip", [0.0, -1.0, 1e-7, 9.9e-7, 1.01e6, 1e7, float("nan")])
def test_a_clip_whose_square_leaves_single_precision_is_refused(clip: float) -> None:
    with pytest.raises(InvalidValue, match="clip is"):
        replace(HEAD, clip=clip)


def test_an_exact_head_rounds_features_to_its_grid_as_they_are() -> None:
    """Single precision would move some of these to another point of the grid."""
    count, noise = 3000, SeededNoise(14)
    features = noise.gaussian(1.0, (count, WIDTH))
    data = Labelled.of(features, np.zeros(count, np.int64), classes=CLASSES)

    rows = np.asarray(_Run(replace(HEAD, summation=IntegerSums()), data, None)._rows)

    longer = np.concatenate([features, np.ones((count, 1))], axis=1).astype(np.longdouble)
    directions = longer / np.sqrt((longer * longer).sum(axis=1, keepdims=True))
    assert np.array_equal(rows, np.round(directions * (FEATURE_GRID - np.sqrt(np.longdouble(WIDTH + 1)) / 2)))


@pytest.mark.parametrize("at_once", [1, 7 * CLASSES])
def test_sums_that_are_exact_are_the_same_however_many_rows_are_computed_at_a_time(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And sums of floats, which are not, are left in one group."""
    heads = [replace(HEAD, summation=summation, descent=Descent(Fraction(1), Fraction(1, 2))) for summation in SUMS]
    together = [head.train(records(), 3, None, SeededNoise(2)).weights for head in heads]
    monkeypatch.setattr(InNumpy, "at_once", at_once)

    apart = [head.train(records(), 3, None, SeededNoise(2)).weights for head in heads]

    assert all(map(np.array_equal, together, apart))


def test_sums_of_floats_depend_on_their_groups() -> None:
    """The negative twin: why those are not divided."""
    factors, rows = (SeededNoise(seed).gaussian(1.0, (RECORDS, 1)).astype(np.float32) for seed in (1, 2))

    divided = [factors[:at].T @ rows[:at] + factors[at:].T @ rows[at:] for at in range(1, RECORDS)]

    assert len({float(found[0, 0]) for found in divided}) > 1


def test_rows_that_are_seen_otherwise_are_trained_on_as_if_they_were_given_so() -> None:
    data, head = records(), replace(HEAD, summation=IntegerSums())

    found = head.train(data, 3, None, SeededNoise(2), seen=lambda features: features * np.float32(-0.5))

    given = head.train(data.with_features(data.features * np.float32(-0.5)), 3, None, SeededNoise(2))
    assert np.array_equal(found.weights, given.weights)
    assert not np.array_equal(found.weights, head.train(data, 3, None, SeededNoise(2)).weights)
