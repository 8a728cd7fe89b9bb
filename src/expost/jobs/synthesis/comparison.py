"""Released marginals beside those of the synthetic table: both public, with a grade for what is known of each."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import final

import numpy as np

from expost.jobs.synthesis.counted import NORMAL_95, Released, column_counts
from expost.noise import Floats
from expost.tabular.growth import Scored
from expost.tabular.marginals import Clique, Marginals
from expost.tabular.table import Table

MOST_CELLS = 12
"""Cells of a marginal that are shown one by one; the others are added up."""
GOOD, COARSE = 0.02, 0.10
"""The largest errors of a grade, as shares of the records."""
STANDS_OUT = 3
"""Standard deviations of noise from which on a count is told from it: an empty cell gets there once in 700 times."""


class Grade(Enum):
    """How well a column or a relation is known to be kept, in absolute terms."""

    GOOD = "good"
    COARSE = "coarse"
    LOST = "lost in noise"
    OFF = "far off"


@final
@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a marginal: the released count with half its 95 % interval, and the synthetic count to scale.

    ``rest`` says that it is all cells together that are not shown.
    """

    label: str
    released: float
    half: float
    synthetic: float
    rest: bool = False


@final
@dataclass(frozen=True, slots=True)
class Comparison:
    """A marginal as it was released, beside that of the synthetic table.

    ``distance`` is the total variation between the two; ``noise`` is about what the noise in the released counts
    would make it if the synthetic table were exactly right. ``error`` is about how far the synthetic table may be from
    the training records, and ``misfit`` the part of it that noise does not account for.
    """

    columns: tuple[str, ...]
    cells: tuple[Cell, ...]
    distance: float
    noise: float
    error: float
    misfit: float

    @property
    def grade(self) -> Grade:
        """By the error alone; one too large is blamed on what most of it comes from."""
        if self.error <= COARSE:
            return Grade.GOOD if self.error <= GOOD else Grade.COARSE
        return Grade.OFF if self.misfit > self.error / 2 else Grade.LOST


def alone(released: Sequence[Released], records: float, table: Table, name: str) -> Comparison:
    """One column, from every released marginal that holds it."""
    return joint(column_counts(released, name), records, table)


@final
@dataclass(frozen=True, slots=True)
class Unmeasured:
    """A pair that was scored and not measured: its distance from the model by then, and half the range of its noise."""

    columns: tuple[str, ...]
    distance: float
    half: float


def unmeasured(scored: Scored | None, measured: Sequence[Clique], records: float) -> tuple[Unmeasured, ...]:
    """The pairs that are not measured by now, in total variation from the records that were trained on, worst first."""
    if scored is None:
        return ()
    taken = {frozenset(clique) for clique in measured}
    half = NORMAL_95 * scored.std / (2 * records)
    pairs = zip(scored.cliques, (scored.distances / (2 * records)).tolist(), strict=True)
    found = [
        Unmeasured(clique, min(max(far, 0.0), 1.0), half) for clique, far in pairs if frozenset(clique) not in taken
    ]
    return tuple(sorted(found, key=lambda each: -each.distance))


def joint(marginal: Released, records: float, table: Table) -> Comparison:
    """The released counts beside those of the synthetic table, scaled to about as many records.

    The largest cells are shown.
    """
    clique, std, released = marginal.clique, marginal.std, marginal.values.ravel()
    marginals = Marginals(table.domain, (clique,), table.schema.neighbours)
    synthetic: Floats = marginals.counts(table).astype(np.float64) * (records / max(1, len(table)))
    most = MOST_CELLS + (len(released) == MOST_CELLS + 1)  # "the others" are never one alone
    shown = np.sort(np.argsort(-(released + synthetic), kind="stable")[:most])
    labels = [table.schema[name].labels for name in clique]
    places = zip(*np.unravel_index(shown, marginals.shapes[0]), strict=True)
    names = [" · ".join(label[place] for label, place in zip(labels, each, strict=True)) for each in places]
    values = zip(names, released[shown].tolist(), synthetic[shown].tolist(), strict=True)
    cells = [Cell(name, noisy, NORMAL_95 * std, drawn) for name, noisy, drawn in values]
    if rest := len(released) - len(shown):
        noisy, drawn = (float(np.delete(counts, shown).sum()) for counts in (released, synthetic))
        cells.append(Cell(f"the {rest} others", noisy, NORMAL_95 * std * math.sqrt(rest), drawn, True))
    distance = float(np.abs(released - synthetic).sum()) / (2 * records)
    noise = len(released) * std / math.sqrt(2 * math.pi) / records
    error, misfit = error_of(released, synthetic, std, records)
    return Comparison(clique, tuple(cells), min(1.0, distance), min(1.0, noise), error, misfit)


def error_of(released: Floats, synthetic: Floats, std: float, records: float) -> tuple[float, float]:
    """About how far the synthetic counts may be from the true ones in total variation, and how much of it is a misfit.

    Where a released count stands out from its noise, the error is at most the difference from it and the noise, whose
    mean size is √(2/π)·std. The same goes for all other cells; but their true counts also add up to what is left of
    the records, and differ from the synthetic ones by no more than both sums.
    """
    clear, away, size = released >= STANDS_OUT * std, np.abs(released - synthetic), math.sqrt(2 / math.pi) * std
    apart = float(away[clear].sum())
    one_by_one = float(away[~clear].sum()) + size * int((~clear).sum())
    altogether = float(synthetic[~clear].sum()) + max(0.0, records - float(released[clear].sum()))
    error = apart + size * int(clear.sum()) + min(one_by_one, altogether)
    return min(1.0, error / (2 * records)), min(1.0, apart / (2 * records))
