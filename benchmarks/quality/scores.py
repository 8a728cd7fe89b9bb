"""How good a table is: how far its pairs of columns are off, and what a classifier learns from it."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks.quality.tables import Coded, Codes

TRIPLES = 200
"""How many triples of columns are looked at, the same ones of every tool."""


def scores(table: Coded, made: Codes) -> dict[str, float]:
    """All there is to say of a synthetic table."""
    pairs = np.array(distances(table.train, made, table.sizes, combinations(range(len(table.sizes)), 2)))
    triples = np.array(distances(table.train, made, table.sizes, sampled_triples(len(table.sizes))))
    accuracy, auc = learnt(table, made)
    return {
        "two_way_mean": float(pairs.mean()),
        "two_way_worst": float(pairs.max()),
        "three_way_mean": float(triples.mean()),
        "accuracy": accuracy,
        "auc": auc,
    }


def distances(real: Codes, made: Codes, sizes: Sequence[int], cliques: Iterable[tuple[int, ...]]) -> list[float]:
    """The total variation distance between two tables, for each group of columns."""
    return [float(np.abs(_shares(real, sizes, each) - _shares(made, sizes, each)).sum()) / 2 for each in cliques]


def _shares(codes: Codes, sizes: Sequence[int], clique: tuple[int, ...]) -> NDArray[np.float64]:
    shape = tuple(sizes[place] for place in clique)
    cells = np.ravel_multi_index(tuple(codes[:, place] for place in clique), shape)
    return np.asarray(np.bincount(cells, minlength=int(np.prod(shape))) / max(1, len(codes)))


def sampled_triples(columns: int) -> list[tuple[int, ...]]:
    """All triples of columns where there are few, else some that a fixed seed chooses."""
    every = list(combinations(range(columns), 3)) if comb(columns, 3) <= 50_000 else []
    noise = np.random.default_rng(3)
    if every:
        chosen = noise.choice(len(every), min(TRIPLES, len(every)), replace=False)
        return [every[place] for place in sorted(chosen.tolist())]
    return [tuple(sorted(noise.choice(columns, 3, replace=False).tolist())) for _ in range(TRIPLES)]


def learnt(table: Coded, made: Codes) -> tuple[float, float]:
    """Accuracy and AUC on the test records of gradient boosting fitted to the rows, which all tools share."""
    from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415  it takes a second to import
    from sklearn.metrics import roc_auc_score  # noqa: PLC0415

    labels, real = made[:, table.target], table.test[:, table.target]
    if len(np.unique(labels)) < 2:
        return float((real == (labels[0] if len(labels) else 0)).mean()), 0.5
    with threadpool_limits(limits=1):
        fitted = HistGradientBoostingClassifier(random_state=0)
        fitted.fit(np.delete(made, table.target, axis=1), labels)
        likely = fitted.predict_proba(np.delete(table.test, table.target, axis=1))[:, 1]
    return float((real == (likely > 0.5)).mean()), float(roc_auc_score(real, likely))
