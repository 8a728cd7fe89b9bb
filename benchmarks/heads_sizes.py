"""Every method of fine-tuning at equal stated ε, by the number of records and of features: which is most accurate.

Features are drawn like those that a network makes of CIFAR-10: a common mean of length 0.69, records around the mean of
their class at 0.66 with variances that fall like 1/(j + 8), and class means apart in the same directions. Nothing is
checked, and every head compared is stated as ε at δ = 1e-5. ``full_batch`` is the last of six releases, as a search
makes them; the others are one release for all of ε: ``full_batch_once``, ``means`` and ``ridge``, ``adam`` with the
settings that `expost finetune` gives it, and ``adam_tuned``, the best of SETTINGS on the test records, which in use
would have to be found on public ones. Noise is seeded, and in floating point for speed where a method takes steps.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import partial
from itertools import product
from statistics import fmean
from typing import Final

import numpy as np

from benchmarks.harness import Progress
from expost import Epsilon, Odometer, Private, SeededNoise, Split
from expost.jobs.finetuning.centred import CentredRecipe
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
SETTINGS: Final = ((0.05, 1.0), (0.015, 1.0), (0.15, 0.1))
"""Adam's learning rates and clipping norms, the defaults first."""
MEAN, WITHIN, BEND = 0.69, 0.66, 8
CLASSES, TEST, DELTA, RELEASES = 10, 5_000, 1e-5, 6


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
    by_seed = [_accuracies(records, width, epsilon, tried, seed) for seed in range(repeats)]
    ours, once, means, ridge, *adams = (fmean(each) for each in zip(*by_seed, strict=True))
    found = {"full_batch": ours, "full_batch_once": once, "means": means, "ridge": ridge}
    found |= {"adam": adams[0], "adam_tuned": max(adams)}
    place = f"{records}.{width}.{epsilon}"
    return {
        **{f"heads_sizes.accuracy.{method}.{place}": value for method, value in found.items()},
        f"heads_sizes.ahead_of_adam.{place}": ours - adams[0],
        f"heads_sizes.ahead_of_adam_tuned.{place}": ours - max(adams),
    }


def _accuracies(
    records: int, width: int, epsilon: int, tried: tuple[tuple[float, float], ...], seed: int
) -> list[float]:
    """On one draw of records, full-batch first."""
    noise = SeededNoise(seed)
    drawn = clouds(records + TEST, width, noise)
    place = np.arange(len(drawn))
    train, test = drawn[place < records], drawn[place >= records]
    return [_accuracy(job, train, test, noise) for job in jobs(epsilon, tried, OnPublic(test))]


def jobs(epsilon: int, tried: tuple[tuple[float, float], ...], check: Judge) -> Iterator[Wanted]:
    """Full-batch in six releases and in one, means, ridge, then Adam; the last release of each is stated as ε.

    A check on public records holds none of the others out, and the accuracy is one that no release before the last has.
    """
    out_of_reach, price = Fraction(999, 1000), Epsilon(float(epsilon))
    recipe = partial(head_recipe, accuracy=out_of_reach, check=check, confidence=None)
    steps, once = partial(recipe, summation=FloatSums()), HeadSettings(start=price, releases=1, delta=DELTA)
    last = recipe(start=price, releases=1, delta=DELTA / RELEASES)
    assert isinstance(last, CentredRecipe)  # the default
    yield steps(start=last.rho / last.growth ** (RELEASES - 1), releases=RELEASES, delta=DELTA)
    yield steps(**once)
    yield from (recipe(**(once | HeadSettings(method=name))) for name in ("means", "ridge"))
    for rate, norm in tried:
        yield steps(**(once | HeadSettings(method="adam", learning_rate=rate, max_grad_norm=norm)))


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


def as_table(figures: Mapping[str, float]) -> str:
    """The accuracies as a Markdown table in percent, the best of a size and a price in bold."""
    methods = {"full_batch": "full-batch", "full_batch_once": "one release", "means": "means", "ridge": "ridge"}
    methods["adam"] = "Adam"
    names = [f"{name}, ε = {epsilon}" for epsilon in EPSILONS for name in methods.values()]
    lines = [["records", "features", *names], ["---"] * (2 + len(names))]
    for records, width in product(REPEATS, APART):
        cells = [f"{records:,}", f"{width:,}"]
        for epsilon in EPSILONS:
            place = f"{records}.{width}.{epsilon}"
            shown = [f"{100 * figures[f'heads_sizes.accuracy.{method}.{place}']:.1f}" for method in methods]
            best = max(shown, key=float)
            cells += [f"**{each}**" if each == best else each for each in shown]
        lines.append(cells)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
