"""The contribution of a person: how many rows in one group count in full, found from noisy counts where nobody says.

Each person is in one cell of a histogram of lengths, so that the choice and what it cuts are told at a small price.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import final

import numpy as np

from expost.jobs.asking.question import AskRecipe
from expost.jobs.asking.tallies import MOST_ROWS, Tally
from expost.mechanisms.gaussian import Measurement
from expost.noise import Floats, Integers
from expost.statistic import Statistic
from expost.tabular.persons import Rows
from expost.tabular.schema.schema import Schema

BOUNDS = tuple(2**power for power in range(MOST_ROWS.bit_length()))
"""The lengths that persons may be weighed down to, in rows."""
LENGTHS = "lengths of persons"
"""What goes on record of counting them."""
LOST = 0.01
"""The share of all length that may be cut, as far as the noisy counts tell."""
WIDTH = 2.0
"""Standard deviations within which what is told of cuts is."""
SURE = 4.0
"""Standard deviations that a noisy count must be above 0 to count."""


@final
@dataclass(frozen=True, slots=True)
class Cut:
    """How many rows of a person count in full, and about which share of all persons has more than that.

    ``lost`` is the share of all rows that may be cut for it, at most, as far as noise lets that be told.
    """

    most: int
    share: float
    std: float
    lost: float


def lengths_of(tallies: tuple[Tally, ...], schema: Schema) -> Statistic[Rows]:
    """For each tally how many persons are how long, by ``BOUNDS`` and then all longer ones.

    Implements: lengths of persons.
    """
    size, moved = len(BOUNDS) + 1, (2 if schema.neighbours.replaces else 1) * len(tallies)
    most, shape = Fraction(moved), (size * len(tallies),)
    return Statistic(partial(_lengths, tallies, schema), shape, most, most, schema.neighbours, LENGTHS, additive=True)


def _lengths(tallies: tuple[Tally, ...], schema: Schema, rows: Rows) -> Integers:
    counts = []
    for tally in tallies:
        squared = tally.lengths(schema, rows)
        limits = np.array([(tally.unit * bound) ** 2 for bound in BOUNDS], dtype=np.int64)
        places = np.searchsorted(limits, squared[squared > 0], side="left")
        counts.append(np.bincount(places, minlength=len(BOUNDS) + 1))
    return np.concatenate(counts).astype(np.int64)


def cuts_in(tallies: tuple[Tally, ...], found: Measurement) -> dict[Tally, Cut]:
    """The least bound of each tally that cuts little, and how many persons it cuts."""
    apart = found.values.reshape(len(tallies), -1)
    return {tally: _cut(counts, found.std) for tally, counts in zip(tallies, apart, strict=True)}


def _cut(counts: Floats, std: float) -> Cut:
    lengths = np.array([*BOUNDS, 2 * BOUNDS[-1]], dtype=np.float64)
    sure = np.where(counts > SURE * std, counts, 0.0)
    for place, bound in enumerate(BOUNDS):
        lost = float((sure * np.maximum(lengths - bound, 0)).sum())
        if lost <= LOST * float((sure * lengths).sum()) or place == len(BOUNDS) - 1:
            above, persons = counts[place + 1 :], max(1.0, float(counts.sum()))
            share = float(above.sum()) / persons
            std_share = std * math.sqrt(len(above)) / persons
            return Cut(bound, min(max(share, 0.0), 1.0), std_share, _lost(counts, np.maximum(lengths - bound, 0), std))
    raise AssertionError("the last bound ends it")


def _lost(counts: Floats, more: Floats, std: float) -> float:
    """The share of all rows that are more than count in full, at most: with two standard deviations of their noise.

    ``more`` are those of the longest in each cell; what persons with more than the last cell's have is not known.
    """
    lengths = np.array([*BOUNDS, 2 * BOUNDS[-1]], dtype=np.float64)
    lost, kept = (
        max(0.0, float((counts * each).sum()) + sign * WIDTH * std * math.hypot(*each))
        for each, sign in ((more, 1), (lengths - more, -1))
    )
    return lost / (lost + kept) if lost + kept > 0 else 1.0


def bounds_declared(recipe: AskRecipe) -> Mapping[Tally, int]:
    """The bound of each tally where it is public."""
    return dict.fromkeys(recipe.tallies, recipe.rows_per_person or 1)
