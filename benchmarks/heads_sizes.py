"""Full-batch heads beside Adam's at equal stated ε, by the number of records and of features: who is more accurate.

Features are drawn like those that a network makes of CIFAR-10: a common mean of length 0.69, records around the mean of
their class at 0.66 with variances that fall like 1/(j + 8), and class means apart in the same directions. There is one
release at δ = 1e-5, and no check. ``adam`` has the settings that `expost finetune` gives it, ``adam_tuned`` the best of
SETTINGS on the test records, which in use would have to be found on public ones. Noise is seeded, and in floating point
for speed.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from statistics import fmean
from typing import Final

import numpy as np

from benchmarks.harness import Progress
from expost import Epsilon, Odometer, Private, SeededNoise, Split
from expost.jobs.finetuning.prices import HeadSettings, head_recipe
from expost.jobs.finetuning.recipe import fine_tune, plan_training
from expost.jobs.finetuning.wanted import Shape, Wanted
from expost.judge import Judge, OnPublic
from expost.noise import Noise
from expost.training import FloatSums, Labelled
from expost.training.head.score import classified, unit

REPEATS: Final = {200: 4, 1_000: 4, 5_000: 2, 50_000: 1}
"""How often each number of records is drawn."""
APART: Final = {64: 0.36, 256: 0.24, 1280: 0.18}
"""How far a class lies from the common mean, by the number of features: so that no width is much easier."""
EPSILONS = (1, 4)
SETTINGS: Final = ((0.05, 1.0), (0.015, 1.0), (0.15, 1.0), (0.15, 0.1))
"""Adam's learning rates and clipping norms, the defaults first."""
MEAN, WITHIN, BEND = 0.69, 0.66, 8
CLASSES, TEST, DELTA = 10, 5_000, 1e-5


def run(progress: Progress) -> dict[str, float]:
    """Test accuracies by method, records, features and ε, and by how much full-batch is ahead of each Adam."""
    figures: dict[str, float] = {}
    for (records, repeats), width in product(REPEATS.items(), APART):
        for epsilon in EPSILONS:
            progress(f"{records} records of {width} features at ε = {epsilon}")
            figures |= cell(records, width, epsilon, repeats=repeats, tried=SETTINGS)
    return figures


def cell(
    records: int, width: int, epsilon: int, *, repeats: int, tried: tuple[tuple[float, float], ...]
) -> dict[str, float]:
    """One size at one price; the first of the settings tried are Adam's own."""
    ours, *adams = zip(*(_accuracies(records, width, epsilon, tried, seed) for seed in range(repeats)), strict=True)
    tuned = max(fmean(each) for each in adams)
    found = {"full_batch": fmean(ours), "adam": fmean(adams[0]), "adam_tuned": tuned}
    place = f"{records}.{width}.{epsilon}"
    return {
        **{f"heads_sizes.accuracy.{method}.{place}": value for method, value in found.items()},
        f"heads_sizes.ahead_of_adam.{place}": found["full_batch"] - found["adam"],
        f"heads_sizes.ahead_of_adam_tuned.{place}": found["full_batch"] - tuned,
    }


def _accuracies(
    records: int, width: int, epsilon: int, tried: tuple[tuple[float, float], ...], seed: int
) -> list[float]:
    """On one draw of records, full-batch first."""
    noise = SeededNoise(seed)
    drawn = clouds(records + TEST, width, noise)
    place = np.arange(len(drawn))
    train, test = drawn[place < records], drawn[place >= records]
    return [_accuracy(job, train, test, noise) for job in _jobs(epsilon, tried, OnPublic(test))]


def _jobs(epsilon: int, tried: tuple[tuple[float, float], ...], check: Judge) -> Iterator[Wanted]:
    """One release each, stated as no more than ε; a check on public records holds none of the others out."""
    half, common = Fraction(1, 2), HeadSettings(start=Epsilon(float(epsilon)), releases=1, confidence=None, delta=DELTA)
    common["summation"] = FloatSums()
    yield head_recipe(accuracy=half, check=check, **common)
    for rate, norm in tried:
        common |= HeadSettings(method="adam", learning_rate=rate, max_grad_norm=norm)
        yield head_recipe(accuracy=half, check=check, **common)


def _accuracy(job: Wanted, train: Labelled, test: Labelled, noise: Noise) -> float:
    odometer = Odometer(pledge=plan_training(job).pledge, rehearsal=True)
    parts = Split.whole(Private(train))
    outcome = fine_tune(parts, job, Shape(train.width, CLASSES), odometer=odometer, noise=noise)
    return float(classified(outcome.release.value, test).mean())


def clouds(count: int, width: int, noise: Noise) -> Labelled:
    """Records of ten classes, all drawn anew: the mean, the classes, and who is of which."""
    centre, classes = noise.gaussian(1.0, width), noise.gaussian(1.0, (CLASSES, width))
    fall = 1 / (np.arange(width) + BEND)
    classes *= fall / np.sqrt(np.sum(fall**2)) * APART[width]
    spread = np.sqrt(fall / np.sum(fall)) * WITHIN
    labels = np.floor(noise.uniform(count) * CLASSES).astype(np.int64)
    rows = centre * (MEAN / np.linalg.norm(centre)) + classes[labels] + noise.gaussian(1.0, (count, width)) * spread
    return Labelled(unit(rows.astype(np.float32)), labels)
