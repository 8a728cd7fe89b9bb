"""Choosing the pairs of columns of a synthetic table at equal stated ε: exponential mechanisms beside Gaussian noise.

Every way spends the default budget of the selection. What is left of the ρ that is stated as ε, at the δ of one of
seven stops, measures the pairs: more of it where a way lets the whole run be stated by the Gaussian profile.
``by_order`` is the exponential mechanism stated without its profile. Accuracies are those of the default estimator,
trained on synthetic rows, on a fifth of the real ones. ``two_way`` is the mean total variation over all pairs of
columns, from the rows that were measured. ``tree`` is the score of the chosen tree as a share of the best one's, also
for an exponential mechanism of a smaller budget, whose profile is that of the Gaussian ways. An ``error`` is a standard
error over seeds, and gains are differences of two ways on the same division of the records.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, stdev
from typing import Final

from benchmarks.harness import Progress
from benchmarks.selection.case import Case, State
from benchmarks.selection.tables import TABLES
from benchmarks.selection.trees import Exponential, Gaussian, Way, heaviest, true_scores
from expost import SeededNoise
from expost.accounting.claim import best_statement, order_statement
from expost.accounting.pure import HALF_PI
from expost.tabular.table import Table

WAYS: Final[Mapping[str, tuple[Way, State]]] = {
    "by_order": (Exponential(), order_statement),
    "exponential": (Exponential(), best_statement),
    "gaussian": (Gaussian(4), best_statement),
}
TREES: Final[Mapping[str, Way]] = {
    "exponential": Exponential(),
    "exponential_at_equal_profile": Exponential(1 / HALF_PI),
    "gaussian": Gaussian(4),
    "gaussian_once": Gaussian(1),
}
GAINS = (("exponential", "by_order"), ("gaussian", "by_order"), ("gaussian", "exponential"))
EPSILONS = (0.18, 0.5, 1.5)
SEEDS, DRAWS = 20, 100


def run(progress: Progress) -> dict[str, float]:
    """Means and gains by table and ε, and how good the trees are."""
    figures: dict[str, float] = {}
    for name, load in TABLES.items():
        table = load()
        progress(f"trees of {name}")
        figures |= trees(name, table, DRAWS)
        for epsilon in EPSILONS:
            progress(f"{name} at ε = {epsilon}")
            figures |= cell(f"{name}.{epsilon}", table, epsilon, SEEDS)
    return figures


def trees(name: str, table: Table, draws: int) -> dict[str, float]:
    """The share of the best score that each way reaches; how a choice is stated does not change it."""
    case, figures = Case.of(table, SeededNoise(0)), dict[str, float]()
    scores = true_scores(case.tree, case.train)
    weights = dict(zip(case.tree.edges, scores.tolist(), strict=True))
    best = scores[heaviest(case.tree.edges, scores)].sum()
    for way, each in TREES.items():
        noise = SeededNoise(1)
        drawn = [each.choose(case.tree, case.train, case.selection.half, noise) for _ in range(draws)]
        figures |= _mean(f"selection.tree.{name}.{way}", [sum(map(weights.__getitem__, tree)) / best for tree in drawn])
    return figures


def cell(place: str, table: Table, epsilon: float, seeds: int) -> dict[str, float]:
    """All ways on the same divisions of one table, at one stated ε."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in WAYS}
    for seed in range(seeds):
        case = Case.of(table, SeededNoise(seed))
        for name, (way, state) in WAYS.items():
            found[name].append(case.judge(way, state, epsilon, SeededNoise(1_000 + seed)))
    figures: dict[str, float] = {}
    for column, measure in enumerate(("accuracy", "two_way")):
        values = {name: [pair[column] for pair in pairs] for name, pairs in found.items()}
        for name, each in values.items():
            figures |= _mean(f"selection.{measure}.{place}.{name}", each)
        for one, other in GAINS:
            gains = [left - right for left, right in zip(values[one], values[other], strict=True)]
            figures |= _mean(f"selection.{measure}_gain.{place}.{one}_over_{other}", gains)
    return figures


def _mean(name: str, values: Sequence[float]) -> dict[str, float]:
    return {name: fmean(values), f"{name}.error": stdev(values) / math.sqrt(len(values))}
