"""Steps of the linear head beside Opacus' DP-Adam on the same layer.

Each takes its usual way: ours draws records and noise from a cryptographic generator, Opacus draws batches through its
own Poisson loader and noise from torch's generator. Like is compared with like: the ratios are those of our head with
floating-point noise, which is what Opacus has; ``exact`` are those of the head with integer noise, our default.
``bare`` spares Opacus the loader: its batches are cut from one tensor by coins of torch, which is not how it is used
but leaves nothing besides the step itself.
"""

import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from importlib import import_module
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from benchmarks.harness import Progress, seconds
from expost.accounting.claim import Budget
from expost.accounting.descent import Descent
from expost.noise import SeededNoise, SystemNoise
from expost.release import Past
from expost.training.head.arrays import on
from expost.training.head.gradient import FloatSums, IntegerSums, Summation
from expost.training.head.labelled import Labelled
from expost.training.head.mechanism import Head

Batches: TypeAlias = Iterator[tuple[Any, Any]]

RECORDS, WIDTH, CLASSES = 500, 768, 10
BATCHES = (50, 250, 500)
NOISE, CLIP, LEARNING_RATE = Fraction(4), 1.0, 1e-3
OURS, THEIRS = 640, 64
"""Steps a turn: enough of ours to cover what a stretch prepares once."""
ORDER = Fraction(8)


def run(progress: Progress) -> dict[str, float]:
    """Ratios are our steps per second over theirs."""
    figures: dict[str, float] = {}
    for batch in BATCHES:
        progress(f"batches of {batch}")
        figures |= _batch(records(RECORDS), batch)
    return figures


def records(count: int) -> Labelled:
    """Features and labels that mean nothing: a step takes as long."""
    noise = SeededNoise(1)
    features = noise.gaussian(1.0, (count, WIDTH))
    return Labelled.of(features, np.floor(noise.uniform(count) * CLASSES).astype(np.int64), classes=CLASSES)


def _batch(data: Labelled, batch: int) -> dict[str, float]:
    """One expected batch size, everyone in turns."""
    sides = {
        "exact": (ours(data, batch, IntegerSums(), None, OURS), OURS),
        "floating": (ours(data, batch, FloatSums(), None, OURS), OURS),
        "hooks": (_opacus(data, batch, "hooks", bare=False), THEIRS),
        "ghost": (_opacus(data, batch, "ghost", bare=False), THEIRS),
        "hooks_bare": (_opacus(data, batch, "hooks", bare=True), THEIRS),
        "ghost_bare": (_opacus(data, batch, "ghost", bare=True), THEIRS),
    }
    times = seconds(*(action for action, _ in sides.values()), repeats=5)
    speed = {name: steps / time for (name, (_, steps)), time in zip(sides.items(), times, strict=True)}
    rates = {f"training.steps_per_second.{name}.{batch}": value for name, value in speed.items()}
    ratios = {
        f"training.{peer}_ratio.{label}{batch}": speed[ours] / speed[peer]
        for ours, label in (("floating", ""), ("exact", "exact."))
        for peer in ("hooks", "ghost", "hooks_bare", "ghost_bare")
    }
    return ratios | rates


def ours(data: Labelled, batch: int, summation: Summation, device: str | None, steps: int) -> Callable[[], object]:
    """Our own way to train the head, by NumPy without a device, as a function of so many steps."""
    descent = Descent(Fraction(batch, len(data)), NOISE)
    head = Head(width=data.width, classes=CLASSES, descent=descent, batch=batch, summation=summation, arrays=on(device))
    budget = Budget(Fraction(descent.step.at(ORDER)) * steps, ORDER)
    return lambda: head.sample(data, budget, Past(), SystemNoise())


def _opacus(data: Labelled, batch: int, mode: str, *, bare: bool) -> Callable[[], object]:
    """Opacus' own way to train the layer, as a function of so many steps."""
    torch, opacus = import_module("torch"), import_module("opacus")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that its noise is not cryptographic: we know
        engine = opacus.PrivacyEngine()
    layer, loss = torch.nn.Linear(WIDTH, CLASSES), torch.nn.CrossEntropyLoss()
    records = torch.utils.data.TensorDataset(torch.from_numpy(data.features), torch.from_numpy(data.labels))
    settings = {
        "module": layer,
        "optimizer": torch.optim.Adam(layer.parameters(), lr=LEARNING_RATE),
        "data_loader": torch.utils.data.DataLoader(records, batch_size=batch),
        "noise_multiplier": float(NOISE),
        "max_grad_norm": CLIP,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # hooks on a layer whose input needs no gradient
        if mode == "ghost":
            layer, optimizer, loss, loader = engine.make_private(criterion=loss, grad_sample_mode=mode, **settings)
        else:
            layer, optimizer, loader = engine.make_private(grad_sample_mode=mode, **settings)

    def train() -> None:
        batches = _cut(torch, records, batch / len(data)) if bare else _forever(loader)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # hooks on a layer whose input needs no gradient
            for features, labels in islice(batches, THEIRS):
                optimizer.zero_grad()
                loss(layer(features), labels).backward()
                optimizer.step()

    return train


def _forever(loader: Any) -> Batches:
    while True:
        yield from loader


def _cut(torch: Any, records: Any, rate: float) -> Batches:
    features, labels = records.tensors
    while True:
        joined = torch.nonzero(torch.rand(len(labels)) < rate).ravel()
        yield features[joined], labels[joined]
