"""What the released counts say: about how many records there are, and what is in each column; with their noise."""

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import final

import numpy as np

from expost.noise import Floats
from expost.report.answers import ratio_half
from expost.tabular.marginals import Clique
from expost.tabular.schema.schema import Schema

NORMAL_95 = 1.959963984540054
"""Half the width of a 95 % interval, in standard deviations."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Released:
    """A marginal of the training records as it was released, and the standard deviation of the noise in each count."""

    clique: Clique
    values: Floats
    std: float


@final
@dataclass(frozen=True, slots=True)
class Counted:
    """About how many training records there are, with the standard error of that, and how common the commonest is.

    ``held`` is the share of all records that was held out, each by a coin of its own. ``commonest`` is the value of the
    target that most training records have by the released counts, ``often`` how many, and ``often_std`` its noise.
    """

    records: float
    std: float
    share: Fraction
    commonest: str
    often: float
    often_std: float

    @property
    def held(self) -> float:
        """About how many records were held out."""
        return self.records * float(self.share / (1 - self.share))

    @property
    def held_std(self) -> float:
        """The standard error of that number: the noise of the counts, and the coins that held records out.

        Of N records H are held out, each with chance v, and the others are counted. H is estimated from their number
        as (N − H)·v/(1 − v), and the difference (H − vN)/(1 − v) has the variance N·v/(1 − v).
        """
        odds = float(self.share / (1 - self.share))
        return math.hypot(odds * self.std, math.sqrt(odds * self.records / float(1 - self.share)))

    @property
    def guess(self) -> float:
        """The rate at which guessing the commonest value is right among the training records."""
        return min(max(self.often / self.records, 0.0), 1.0)

    @property
    def guess_half(self) -> float:
        """Half its 95 % interval."""
        return ratio_half(self.often, self.often_std, self.records, self.std, width=NORMAL_95)

    @classmethod
    def of(cls, released: Sequence[Released], schema: Schema, target: str, share: Fraction) -> "Counted":
        """What follows from everything that was released."""
        records, std = record_total(released)
        column = column_counts(released, target)
        place = int(np.argmax(column.values))
        labels = schema[target].labels
        return cls(records, std, share, labels[place], float(column.values[place]), column.std)


def record_total(released: Sequence[Released]) -> tuple[float, float]:
    """About how many records there are and the standard error of that; the sum of each marginal says so."""
    weights = [1 / (each.std**2 * each.values.size) for each in released]
    sums = math.fsum(weight * float(each.values.sum()) for weight, each in zip(weights, released, strict=True))
    return max(1.0, sums / math.fsum(weights)), 1 / math.sqrt(math.fsum(weights))


def column_counts(released: Sequence[Released], name: str) -> Released:
    """One column, from every released marginal that holds it, each weighted by its precision."""
    weighted, weight = 0.0, 0.0
    for each in released:
        if name in each.clique:
            place = each.clique.index(name)
            added_up = each.values.sum(axis=tuple(axis for axis in range(len(each.clique)) if axis != place))
            precision = added_up.size / (each.values.size * each.std**2)
            weighted, weight = weighted + precision * added_up, weight + precision
    values: Floats = np.asarray(weighted / weight, dtype=np.float64)
    return Released((name,), values, 1 / math.sqrt(weight))


def counts_text(released: Sequence[Released], schema: Schema) -> str:
    """Every released count as a line of a CSV file: its columns and their values, the noisy count, and its noise."""
    most = max(len(each.clique) for each in released)
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    numbers = range(1, most + 1)
    lines.writerow([*(word for number in numbers for word in (f"column {number}", f"value {number}")), "count", "std"])
    for each in released:
        labels = [schema[name].labels for name in each.clique]
        blank, std = [""] * (2 * (most - len(labels))), f"{each.std:.6g}"
        for values, count in zip(product(*labels), each.values.ravel().tolist(), strict=True):
            named = (word for pair in zip(each.clique, values, strict=True) for word in pair)
            lines.writerow([*named, *blank, f"{count:.3f}", std])
    return out.getvalue()
