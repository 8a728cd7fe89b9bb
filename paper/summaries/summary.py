"""Shares, means and ratios over repeats, with 95 % intervals, in a form that JSON can hold."""

import math
from collections.abc import Sequence
from typing import TypedDict

import numpy as np
from scipy.special import stdtrit

from paper.summaries.compare import share_interval


class Share(TypedDict):
    """How many of how many, and Wilson's interval; the interval is missing where there are none."""

    count: int
    of: int
    interval: list[float] | None


class Mean(TypedDict):
    """A mean over so many repeats, their deviation, and how far the interval reaches; missing where there is none."""

    count: int
    mean: float | None
    std: float | None
    reach: float | None


def share(flags: Sequence[bool]) -> Share:
    """The share of the true ones."""
    count = sum(flags)
    return Share(count=count, of=len(flags), interval=list(share_interval(count, len(flags))) if flags else None)


def mean(values: Sequence[float]) -> Mean:
    """The mean, and Student's interval from two values on."""
    return _spread(float(np.mean(values)), values) if values else Mean(count=0, mean=None, std=None, reach=None)


def ratio(tops: Sequence[float], bottoms: Sequence[float]) -> Mean:
    """Σ tops / Σ bottoms, one of each a repeat, with the interval of its linear approximation.

    The count is of repeats that have anything below the line.
    """
    if sum(bottoms) == 0:
        return Mean(count=0, mean=None, std=None, reach=None)
    return Mean({**_spread(*linear(tops, bottoms)), "count": _filled(bottoms)})


def difference(left: tuple[Sequence[float], Sequence[float]], right: tuple[Sequence[float], Sequence[float]]) -> Mean:
    """The ratio on the left minus the one on the right, paired by repeat."""
    if sum(left[1]) == 0 or sum(right[1]) == 0:
        return Mean(count=0, mean=None, std=None, reach=None)
    (one, ones), (other, others) = linear(*left), linear(*right)
    found = _spread(one - other, [a - b for a, b in zip(ones, others, strict=True)])
    return Mean({**found, "count": min(_filled(left[1]), _filled(right[1]))})


def linear(tops: Sequence[float], bottoms: Sequence[float]) -> tuple[float, list[float]]:
    """The ratio, and how much each repeat pulls it up or down."""
    value, typical = math.fsum(tops) / math.fsum(bottoms), math.fsum(bottoms) / len(bottoms)
    return value, [(top - value * bottom) / typical for top, bottom in zip(tops, bottoms, strict=True)]


def _filled(bottoms: Sequence[float]) -> int:
    return sum(bottom > 0 for bottom in bottoms)


def _spread(value: float, values: Sequence[float]) -> Mean:
    count = len(values)
    if count < 2:
        return Mean(count=count, mean=value, std=None, reach=None)
    std = float(np.std(values, ddof=1))
    return Mean(count=count, mean=value, std=std, reach=float(stdtrit(count - 1, 0.975)) * std / math.sqrt(count))
