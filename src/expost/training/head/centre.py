"""The centre of the features: a noisy mean and a noisy number of records, from which everything later is measured.

Features share a large mean, which says nothing of the classes and costs most of a record's length. Measured from a
centre that was released before, records are shorter, and the same noise hides them for less.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

import numpy as np

from expost.mechanisms.gaussian import Measurement
from expost.noise import Floats, Integers
from expost.norms import row_norms
from expost.numerics import up
from expost.persons.people import People
from expost.private import Neighbours
from expost.statistic import Statistic, bounded_sum
from expost.training.head.labelled import Features, Labelled
from expost.training.head.score import LARGEST_WEIGHT

COUNT = 0.5
"""What a record adds to the sum that tells how many there are, beside features of length 1."""
LENGTH, SPACING = Fraction(9, 8), Fraction(1, 2**14)
"""A bound on the length of both together, and the grid they are rounded to."""
FINE, LARGEST = 2.0**30, 4.0
"""Steps to 1 in which features of one person are added up, exactly, and where those not of length 1 are cut."""
LEAST_WEIGHT = 1e-9
"""Heads whose weights are all below it are left small."""
RADIUS = 0.6
"""How far from the centre a record may lie; beyond, it is moved there. Between 0.5 and 0.7 little changes."""


def first_moment(width: int, neighbours: Neighbours) -> Statistic[Labelled]:
    """The sum of the features, of length 1 each, and the number of records; all rows of a person are clipped as one."""

    def rows(data: Labelled) -> Floats:
        data.require(neighbours)
        found = np.column_stack([data.features.astype(np.float64), np.full(len(data.labels), COUNT)])
        return found if data.people is None else _added(found, data.people)

    def compute(data: Labelled) -> Integers:  # integers, of each record by itself: the same sum whatever the blocks
        return np.asarray(sum(together.compute(some) for some in data.blocks()), np.int64)

    name = "mean and number of records"
    together = bounded_sum(rows, width + 1, neighbours, clip=LENGTH, spacing=SPACING, name=name)
    return replace(together, compute=compute)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Centre:
    """Where records lie on average, and about how many there are: both made from a release."""

    mean: Floats
    records: float

    @classmethod
    def of(cls, measured: Measurement) -> "Centre":
        """The mean, moved towards 0 by the share of its length that is noise (James and Stein 1961)."""
        sums, spacing = measured.values * float(SPACING), float(SPACING)
        records = max(1.0, float(sums[-1]) / COUNT)
        mean = sums[:-1] / records
        noise = len(mean) * up(measured.variance) * (spacing / records) ** 2
        return cls(mean * max(0.0, 1 - noise / max(float(mean @ mean), noise)), records)

    def apart(self, data: Labelled, *, unit: float) -> Labelled:
        """The records as seen from the centre, in this unit, none farther than the radius; each by itself."""
        return data.with_features(self.seen(data.features, unit=unit))

    def seen(self, features: Features, *, unit: float) -> Features:
        """Their features."""
        rows = features.astype(np.float64) - self.mean
        rows *= (RADIUS / unit / np.maximum(row_norms(rows), RADIUS))[:, None]
        return rows.astype(np.float32)

    def undone(self, slopes: Floats, bias: Floats) -> Floats:
        """The rows of a head on centred features for features as they were, the bias last, at a scale of its own."""
        found = np.column_stack([slopes, bias - slopes @ self.mean])
        return np.asarray(found * (LARGEST_WEIGHT / max(float(np.abs(found).max()), LEAST_WEIGHT)), np.float64)


def _added(rows: Floats, people: People) -> Floats:
    """The sum of each person's rows, in whole steps where there are several: whoever else is there, it is the same."""
    first = rows[people.rows[people.ends[:-1]]]
    several = people.sizes > 1
    if several.any():
        steps = np.round(np.clip(np.nan_to_num(rows), -LARGEST, LARGEST) * FINE).astype(np.int64)[people.rows]
        first[several] = (np.add.reduceat(steps, people.ends[:-1], axis=0) / FINE)[several]
    return first
