"""Statistics: integer-valued functions of the data with their sensitivities."""

from collections.abc import Callable, Sized
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Generic, TypeVar, final

import numpy as np

from expost.errors import InvalidValue
from expost.noise import Floats, Integers
from expost.norms import row_norms
from expost.numerics import Real, positive
from expost.pieces import added_up
from expost.private import Neighbours, require_relation

D = TypeVar("D")
S = TypeVar("S", bound=Sized)

REACH = 2.0**40
"""Grid units at which an entry is cut: far beyond any clip, and its square is still a float."""


@final
@dataclass(frozen=True)
class Statistic(Generic[D]):
    """An integer array computed from the data, and how far one record can move it.

    ``l2_squared`` bounds the squared Euclidean distance and ``l1`` the sum of absolute differences between
    neighbours. A claim too small here is the one way privacy can break above this layer, so every statistic
    deserves a brute-force test over neighbours. ``spacing`` is what one integer step stands for: sensitivities and
    noise are in steps, what is released is not. ``additive`` says that the values are sums over the records: of records
    in several pieces they are then computed piece by piece. Others are given the pieces as they are.
    """

    compute: Callable[[D], Integers]
    shape: tuple[int, ...]
    l2_squared: Fraction
    l1: Fraction
    neighbours: Neighbours
    name: str = "statistic"
    spacing: Fraction = Fraction(1)
    additive: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "l2_squared", positive(self.l2_squared, "l2_squared"))
        object.__setattr__(self, "l1", positive(self.l1, "l1"))
        require_relation(self.neighbours)
        if self.spacing.numerator != 1:
            raise InvalidValue(f"spacing is {self.spacing}; a step is one over a whole number.")
        if any(extent < 1 for extent in self.shape):
            raise InvalidValue(f"shape is {self.shape}; a statistic has at least one cell along each axis.")

    def evaluate(self, data: D) -> Integers:
        """The exact values, refused unless they are integers of the declared shape."""
        values = np.asarray(added_up(data, self.compute) if self.additive else self.compute(data))
        if values.shape != self.shape or not np.issubdtype(values.dtype, np.integer):
            raise InvalidValue(f"the statistic {self.name} did not return integers of its shape {self.shape}.")
        return values.astype(np.int64)


def histogram(
    codes: Callable[[S], Integers], cells: int, neighbours: Neighbours, *, name: str = "histogram"
) -> Statistic[S]:
    """Counts of integer codes 0 … cells − 1, one for each record; a code outside is counted nowhere."""

    def compute(data: S) -> Integers:
        values = np.asarray(codes(data))
        if values.shape != (len(data),):
            raise InvalidValue(f"{name} needs one code per record.")
        numbers = values.astype(np.float64)  # whatever their type holds: what a float rounds is outside all cells
        outside = np.clip(np.where(np.isfinite(numbers), numbers, -1), -1, cells).astype(np.int64)
        return np.bincount(outside + 1, minlength=cells + 2)[1 : cells + 1].astype(np.int64)

    moved = Fraction(2 if neighbours.replaces else 1)  # a replaced record leaves one cell and joins one
    return Statistic(compute, (cells,), moved, moved, neighbours, name, additive=True)


def bounded_sum(
    rows: Callable[[S], Floats], width: int, neighbours: Neighbours, *, clip: Real, spacing: Real, name: str = "sum"
) -> Statistic[S]:
    """The sum of real vectors, each record's first rounded to a grid and clipped to a Euclidean norm.

    Rounding per record, not of the sum, keeps the sensitivity exact: every contribution is an integer vector in
    grid units with squared norm at most ⌊clip/spacing⌋², checked in integers, and the same whoever else is there.
    NaN counts as 0. ``rows`` must compute a record's row from that record alone, to the last bit: entry by entry, not
    by a matrix product or a norm along an axis.

    Implements: sums on an integer grid.
    """
    width = int(width)  # numpy's small integers would wrap around
    limit = int(positive(clip, "clip") / positive(spacing, "spacing"))
    if not 1 <= limit <= 2**20:
        raise InvalidValue(f"clip/spacing is {limit}; choose a spacing that makes it between 1 and {2**20}.")
    unit = float(positive(spacing, "spacing"))

    def compute(data: S) -> Integers:
        values = np.asarray(rows(data), dtype=np.float64)
        if values.shape != (len(data), width) and (values.shape, width) != ((len(data),), 1):
            raise InvalidValue(f"{name} needs one row of width {width} per record.")
        with np.errstate(over="ignore"):
            scaled = np.clip(np.nan_to_num(values.reshape(-1, width) / unit), -REACH, REACH)
        shares = limit / np.maximum(row_norms(scaled), limit)
        grid = np.trunc(scaled * shares[:, None]).astype(np.int64)
        within = np.einsum("ij,ij->i", grid, grid) <= limit * limit  # a float may have erred by one unit
        return np.asarray(np.where(within[:, None], grid, 0).sum(axis=0), dtype=np.int64)

    apart = 2 if neighbours.replaces else 1
    l1 = apart * isqrt(width * limit * limit)  # Cauchy-Schwarz, and l1 is an integer
    squared = Fraction((apart * limit) ** 2)
    return Statistic(compute, (width,), squared, Fraction(l1), neighbours, name, additive=True)
