"""Estimates: what noisy cells say of each group, with the ends between which the truth lies.

The ends hold for a width in standard errors: a number and a sum are linear in the noise, a mean and a share are ratios,
whose ends solve for the values that the noise leaves possible, and a quantile is where counts that rise cross a share.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from expost.jobs.asking.query import Mean, Quantile, Query, Share, Sum
from expost.jobs.asking.tallies import Tally
from expost.jobs.asking.values import Bounded, bounded_column, ends_of, rounding_of, spans_of
from expost.noise import Floats
from expost.tabular.schema.column import Missing
from expost.tabular.schema.schema import Schema


@final
@dataclass(frozen=True, slots=True, eq=False)
class NoisyCells:
    """Noisy cells of a tally, in rows, and the standard deviation of the noise in each."""

    tally: Tally
    values: Floats
    std: float


@final
@dataclass(frozen=True, slots=True, eq=False)
class Bars:
    """One number for each group and the ends of its error bar; the ends are infinite where nothing is known.

    ``low_rows`` and ``high_rows`` are the ends for the number of rows that it is of.
    """

    point: Floats
    low: Floats
    high: Floats
    low_rows: Floats
    high_rows: Floats


def shorter_bars(one: Bars, other: Bars) -> Bars:
    """For each group the shorter of two error bars that both hold."""
    first = (one.high - one.low) <= (other.high - other.low)
    pairs = ((getattr(one, name), getattr(other, name)) for name in ("point", "low", "high", "low_rows", "high_rows"))
    return Bars(*(np.where(first, left, right) for left, right in pairs))


def bars_of(query: Query, schema: Schema, cells: NoisyCells, width: float) -> Bars:
    """What the cells say of every group, at this number of standard errors on either side."""
    groups = math.prod(schema[name].size for name in query.by)
    found = cells.values.reshape(groups, -1)
    match query.measure:
        case Sum(column):
            return _sum(found, cells.std, width, bounded_column(schema[column]))
        case Mean(column):
            bounded = bounded_column(schema[column])
            return _ratio(found, cells.std, width, ends_of(bounded), rounding=rounding_of(bounded))
        case Share():
            return _ratio(found, cells.std, width, (0.0, 1.0))
        case Quantile(column, level):
            return _quantile(found, cells.std, width, bounded_column(schema[column]), level)
    return _number(found[:, 0], cells.std, width)


def _number(values: Floats, std: float, width: float) -> Bars:
    """Numbers of rows or persons, below 0 where noise made them so."""
    low, high = values - width * std, values + width * std
    return Bars(values, low, high, low, high)


def _sum(cells: Floats, std: float, width: float, column: Bounded) -> Bars:
    low, high = ends_of(column)
    rows = _number(cells.sum(axis=1), std * math.sqrt(2), width)
    rounded = rounding_of(column) * np.maximum(rows.high, 0.0)
    point, half = cells[:, 0] * high + cells[:, 1] * low, width * std * math.hypot(low, high) + rounded
    return Bars(point, point - half, point + half, rows.low, rows.high)


def _ratio(cells: Floats, std: float, width: float, ends: tuple[float, float], *, rounding: float = 0.0) -> Bars:
    """A/(A+B) between the ends: those shares t for which A(1−t) − Bt is within its own noise.

    ``rounding`` is how far each value can be from the one that is counted for it, and so their mean.

    Implements: ends of a ratio.
    """
    first, rows, noise = cells[:, 0], cells.sum(axis=1), (width * std) ** 2
    square, half, rest = rows**2 - 2 * noise, first * rows - noise, first**2 - noise
    known = (square > 0) & (rows > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        reach = np.sqrt(np.maximum(half**2 - square * rest, 0))
        point = np.where(rows > 0, first / rows, 0.5)
        low, high = (np.where(known, (half + sign * reach) / square, end) for sign, end in ((-1, 0.0), (1, 1.0)))
    least, width_of = ends[0], ends[1] - ends[0]
    point, low, high = (least + width_of * np.clip(each, 0, 1) for each in (point, low, high))
    low, high = np.maximum(low - rounding, ends[0]), np.minimum(high + rounding, ends[1])
    counted = _number(rows, std * math.sqrt(2), width)
    return Bars(np.clip(point, low, high), low, high, counted.low, counted.high)


def _quantile(cells: Floats, std: float, width: float, column: Bounded, level: Fraction) -> Bars:
    """The bins below which there may be less than the share, and below whose end at least as much.

    Implements: ends of a quantile.
    """
    bins = column.size - (column.missing is Missing.CATEGORY)
    counts, share = cells[:, :bins], float(level)
    below = np.concatenate([np.zeros((len(counts), 1)), np.cumsum(counts, axis=1)], axis=1)
    rows, places = below[:, -1:], np.arange(bins + 1)
    excess = below - share * rows  # rises through 0 where the quantile is
    noise = width * std * np.sqrt((1 - share) ** 2 * places + share**2 * (bins - places))
    possible = (excess[:, :-1] <= noise[:-1]) & (excess[:, 1:] >= -noise[1:])
    first = np.argmax(possible, axis=1)
    last = bins - 1 - np.argmax(possible[:, ::-1], axis=1)
    none = ~possible.any(axis=1)
    first, last = np.where(none, 0, first), np.where(none, bins - 1, last)
    starts, stops = spans_of(column)
    middle = np.clip(np.argmax(excess[:, 1:] >= 0, axis=1), first, last)
    counted = _number(rows[:, 0], std * math.sqrt(bins), width)
    point = starts[middle] + (stops[middle] - starts[middle]) / 2
    return Bars(point, starts[first], stops[last], counted.low, counted.high)
