"""Occupancy: how many cells of marginals hold about how many records, and what harm noise in their counts does."""

from dataclasses import dataclass
from typing import Self, final

import numpy as np

from expost.noise import Floats
from expost.tabular.model.raking import PRIOR
from expost.tabular.precisions import ABSOLUTE

LEAST, STEPS, DECADES = 0.01, 8, 9
"""Records in a cell of the lowest bin, bins for each power of ten, and powers of ten below the last bin."""
RECORDS: Floats = np.append(LEAST * 10 ** ((np.arange(STEPS * DECADES) + 0.5) / STEPS), np.inf)
"""About how many records a cell of each bin holds; in the last one there are enough that noise is left in full."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Occupancy:
    """The number of cells in each bin."""

    cells: Floats

    @classmethod
    def of(cls, counts: Floats) -> Self:
        """That of cells with these counts; what noise has made negative is about empty."""
        places = np.floor(STEPS * np.log10(np.maximum(counts.ravel(), LEAST) / LEAST)).astype(np.int64)
        last = len(RECORDS) - 1
        return cls(np.bincount(np.minimum(places, last), minlength=last + 1).astype(np.float64))

    @classmethod
    def full(cls, number: int) -> Self:
        """That of this number of cells in which noise is left in full."""
        return cls(np.append(np.zeros(len(RECORDS) - 1), float(number)))

    def __add__(self, other: Self) -> Self:
        return type(self)(self.cells + other.cells)

    def harm(self, std: float) -> float:
        """The sum of the absolute errors that noise of this standard deviation leaves in a table.

        Raking moves the count m of a cell by the noise in it times m/(m + ``PRIOR``·σ²), to first order and where pairs
        are not far off: rows that the model does not have are not made up to match it, so that noise in cells that are
        about empty does little harm.
        """
        return float(ABSOLUTE * std * (self.cells / (1 + PRIOR * std**2 / RECORDS)).sum())
