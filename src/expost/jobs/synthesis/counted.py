"""What the released counts say: about how many records there are, and what is in each column; with their noise."""

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import final

import numpy as np

from expost.folders.place import COUNTS
from expost.noise import Floats
from expost.receipts.notation import record, table, text
from expost.report.answers import ratio_half
from expost.tabular.aims import Aim
from expost.tabular.marginals import Clique
from expost.tabular.measures import OfRare
from expost.tabular.schema.schema import Schema
from expost.text import Json

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
class GuessRate:
    """The code of a target's commonest value, the rate at which guessing it is right, and half its 95 % interval."""

    code: int
    rate: float
    half: float


@final
@dataclass(frozen=True, slots=True)
class Counted:
    """About how many training records there are, with the standard error of that, and how they divide by the targets.

    ``share`` is that of all records which was held out, each by a coin of its own. ``common`` is the relative error
    that all these numbers share, besides their own, where counts were scaled to a number of persons.
    """

    records: float
    std: float
    share: Fraction
    targets: Mapping[str, Released]
    common: float = 0.0

    @property
    def held(self) -> float:
        """About how many records were held out."""
        return self.held_of(self.records, self.std)[0]

    @property
    def held_std(self) -> float:
        """The standard error of that number."""
        return self.held_of(self.records, self.std)[1]

    def held_of(self, records: float, std: float) -> tuple[float, float]:
        """About how many were held out where this number was not, and the standard error: of its noise and the coins.

        Of N records H are held out, each with chance v, and the others are counted. H is estimated from their number
        as (N − H)·v/(1 − v), and the difference (H − vN)/(1 − v) has the variance N·v/(1 − v).
        """
        odds, std = float(self.share / (1 - self.share)), math.hypot(std, self.common * records)
        return records * odds, math.hypot(odds * std, math.sqrt(odds * records / float(1 - self.share)))

    def scale(self, aim: Aim, schema: Schema) -> tuple[float, float]:
        """Of about how many held-out records a margin of this aim is a share, and the standard error of that."""
        lesson, measure = aim.lesson(schema), aim.measure
        if lesson is None or not isinstance(measure, OfRare):
            return self.held, self.held_std
        column = self.targets[lesson.target]
        return self.held_of(*measure.share(column.values, column.std, lesson))

    def guess(self, target: str) -> GuessRate:
        """How common the commonest value of a target is."""
        column = self.targets[target]
        place = int(np.argmax(column.values))
        often = float(column.values[place])
        half = ratio_half(often, column.std, self.records, self.std, width=NORMAL_95)
        return GuessRate(place, min(max(often / self.records, 0.0), 1.0), half)

    @classmethod
    def of(cls, released: Sequence[Released], targets: Iterable[str], share: Fraction) -> "Counted":
        """What follows from everything that was released."""
        records, std = record_total(released)
        return cls(records, std, share, {name: column_counts(released, name) for name in targets})


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


def digests_told(found: Json) -> dict[str, str]:
    """The digest that a receipt has of each file beside it."""
    return {COUNTS: text(record(table(found)["counts"], ("sha256",))["sha256"])}
