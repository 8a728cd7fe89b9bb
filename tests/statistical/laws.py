"""Laws of noise, and tests of them that reject a correct sampler with probability 1e-6."""

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import ndtr

Integers: TypeAlias = NDArray[np.int64]
Below: TypeAlias = Callable[[Integers], NDArray[np.float64]]
"""The chances that a value is below each of the given integers."""

FALSE_ALARM = 1e-6
WRONG = 1.05
QUANTILES = np.arange(1, 40) / 40


def gaussian_below(std: float, edges: Integers) -> NDArray[np.float64]:
    """Summed exactly up to 1000; beyond, the normal integral differs by less than 1e-10."""
    if std > 1000:
        return np.asarray(ndtr((edges - 0.5) / std), np.float64)
    k = np.arange(-math.ceil(12 * std) - 2, math.ceil(12 * std) + 3)
    weights = np.exp(-(k**2) / (2 * std**2))
    return np.array([weights[k < edge].sum() for edge in edges], np.float64) / float(weights.sum())


def laplace_below(scale: float, edges: Integers) -> NDArray[np.float64]:
    """P(k ≤ −m) = q**m / (1 + q) with q = exp(−1/scale)."""
    q = math.exp(-1 / scale)
    return np.where(edges <= 0, q ** (1.0 - np.minimum(edges, 1)) / (1 + q), 1 - q ** np.maximum(edges, 0.0) / (1 + q))


def counts_between(values: Integers, edges: Integers) -> NDArray[np.int64]:
    """How many values fall below the first edge, between each two, and from the last on."""
    return np.bincount(np.searchsorted(edges, values, side="right"), minlength=edges.size + 1)


def fits(values: Integers, below: Below, edges: Integers) -> bool:
    """Whether a chi-square test at the false-alarm rate accepts the law."""
    expected = values.size * np.diff(below(edges), prepend=0.0, append=1.0)
    statistic = float(((counts_between(values, edges) - expected) ** 2 / expected).sum())
    return statistic < stats.chi2.isf(FALSE_ALARM, edges.size)


def gaussian_edges(std: float) -> Integers:
    return np.unique(np.ceil(std * stats.norm.ppf(QUANTILES)).astype(np.int64))


def laplace_edges(scale: float) -> Integers:
    return np.unique(np.ceil(scale * stats.laplace.ppf(QUANTILES)).astype(np.int64))


def plausible(count: int, draws: int, probability: float) -> bool:
    """Whether a two-sided binomial test at the false-alarm rate accepts the probability."""
    return bool(stats.binomtest(count, draws, probability).pvalue > FALSE_ALARM)
