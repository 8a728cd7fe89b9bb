"""The ε at which a head first passes: full-batch steps beside Adam, on features in a file and on scikit-learn's digits.

``make bench NAME=heads FEATURES=FILE``; the file holds ``train_features``, ``train_labels``, ``test_features`` and
``test_labels``. The setting is the paper's: 500 records to train on and 500 for private checks with 95 % confidence,
δ = 0.002, Adam tuned on digits. ``adam`` states each stop by its best Rényi order, ``adam_pledged`` states the same
runs as the pledge does. Searches that never pass count with all that they spent. Noise is seeded: a rehearsal.
"""

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean

import numpy as np
from paper.heads.images import Source, pool
from paper.heads.recipes import Settings, Tuned, tuned_on_digits
from paper.heads.sides import ADAM, FULL_BATCH, Reached, Sides, sides
from threadpoolctl import threadpool_limits

from benchmarks.harness import FEATURES, Progress, seconds
from expost import SeededNoise
from expost.training.head.closed_form import class_means, ridge
from expost.training.head.moments import Squares, Sums

NEEDS_FEATURES = True
SETTINGS = Settings(repeats=30)
ON_FILE, ON_DIGITS = ("0.64", "0.68", "0.73"), ("0.80", "0.85", "0.90")
LIMIT = 5
"""The ε by which the last of the accuracies should be passed."""
SEED, WORKERS = 1, 2
WIDTH, CLASSES = 1280, 10
"""The head whose fit is timed."""


def run(progress: Progress) -> dict[str, float]:
    """Shares passed, mean ε, and ratios of full-batch over Adam."""
    return measure(progress, SETTINGS, workers=WORKERS) | fits(WIDTH, CLASSES)


def fits(width: int, classes: int) -> dict[str, float]:
    """Milliseconds that a head takes in closed form, once its moments are released: by class means, and by ridge."""
    noise = SeededNoise(SEED)
    sums = Sums(noise.gaussian(1.0, (classes, width)), np.full(classes, 50.0), 1.0)
    rows = noise.gaussian(1.0, (2 * width, width))
    squares = Squares(rows.T @ rows, 1.0)
    means, by_ridge = seconds(lambda: class_means(sums), lambda: ridge(sums, squares), repeats=5)
    return {"heads.fit_ms": 1000 * means, "heads.fit_ms.ridge": 1000 * by_ridge}


def measure(progress: Progress, chosen: Settings, *, workers: int) -> dict[str, float]:
    """The figures with these settings, on this many processes."""
    progress("tuning Adam on digits")
    tuned, path = tuned_on_digits(chosen, SEED), os.environ.get(FEATURES)
    cases = [("heads", Source.file(Path(path)), ON_FILE)] if path else []
    figures: dict[str, float] = {}
    for name, source, thresholds in [*cases, ("heads.digits", Source(), ON_DIGITS)]:
        found: list[Sides] = []
        for each in _repeats(chosen, source, tuned, thresholds, workers):
            found.append(each)
            progress(f"{name}, {len(found)} of {chosen.repeats} repeats")
        for threshold in thresholds:
            figures |= _figures(name, threshold, found)
    return figures


def _repeats(
    chosen: Settings, source: Source, tuned: Tuned, thresholds: tuple[str, ...], workers: int
) -> Iterator[Sides]:
    """One by one as they are done; each in a process with one thread, so that they do not wait for each other."""
    tasks = [(chosen, source, tuned, thresholds, SEED + place) for place in range(chosen.repeats)]
    if workers == 1:
        yield from map(_repeat, tasks)
        return
    with ProcessPoolExecutor(workers, get_context("spawn"), threadpool_limits, (1,)) as others:
        yield from others.map(_repeat, tasks)


def _repeat(task: tuple[Settings, Source, Tuned, tuple[str, ...], int]) -> Sides:
    chosen, source, tuned, thresholds, seed = task
    return sides(chosen, pool(source), tuned, list(thresholds), SeededNoise(seed))


def _figures(name: str, threshold: str, found: list[Sides]) -> dict[str, float]:
    """What one accuracy costs either method."""
    place = threshold.replace(".", "")
    ours, adam = ([each[method][threshold] for each in found] for method in (FULL_BATCH, ADAM))
    epsilons = {
        "full_batch": fmean(each["epsilon"] for each in ours),
        "adam": fmean(each["by_orders"] for each in adam),
        "adam_pledged": fmean(each["epsilon"] for each in adam),
    }
    return {
        f"{name}.closed_over_adam.{place}": epsilons["full_batch"] / epsilons["adam"],
        f"{name}.closed_over_adam_pledged.{place}": epsilons["full_batch"] / epsilons["adam_pledged"],
        **{f"{name}.epsilon.{side}.{place}": value for side, value in epsilons.items()},
        f"{name}.passed.full_batch.{place}": _share(each["passed"] for each in ours),
        f"{name}.passed.adam.{place}": _share(each["passed"] for each in adam),
        f"{name}.passed_by_{LIMIT}.{place}": _share(_within(each) for each in ours),
    }


def _within(search: Reached) -> bool:
    return search["passed"] and search["epsilon"] <= LIMIT


def _share(flags: Iterable[bool]) -> float:
    return fmean(float(flag) for flag in flags)
