"""Moments of centred records: the sum of each class and its number of records, and second moments beside them.

All are sums over records, so one Gaussian release makes them private, and every further release refines the last.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, sqrt
from typing import final

import numpy as np
from numpy.typing import NDArray

from expost.accounting.descent import MOST_ENTRIES
from expost.errors import InvalidValue
from expost.mechanisms.brownian import Estimate
from expost.noise import Floats, Integers
from expost.private import Neighbours
from expost.statistic import Statistic
from expost.training.head.centre import RADIUS, Centre
from expost.training.head.labelled import Labelled
from expost.training.head.shrinking import shrunk_moments, shrunk_sums, sums_of_persons

REACH, CONSTANT = 2**12, 2**11
"""The largest norm of a record's features on the integer grid, and what it adds to the number of its class."""
DIAGONAL, ACROSS = 29, 41
"""What squares and products of two features are multiplied by: 41² ≤ 2·29², so that products count nearly √2 times."""
BESIDE = 32 * REACH
"""What class sums are multiplied by beside second moments, whose share of the squared length is then two fifths."""
BLOCK = 2**20
"""Numbers computed at a time."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """The noisy sum of the centred features of each class, its noisy number of records, and the noise of the sums."""

    features: Floats
    records: Floats
    std: float


@final
@dataclass(frozen=True, slots=True, eq=False)
class Squares:
    """The noisy second moments of all centred features; ``std`` is that of the diagonal, and √2 times the rest."""

    values: Floats
    std: float


@final
@dataclass(frozen=True, slots=True)
class Moments:
    """The sums over records of a ⊗ 1_y, a the record with a constant beside it and y its class.

    Every record is seen from the ``centre`` and rounded to an integer vector g, ‖g‖ ≤ REACH checked in integers, by
    itself and in an order of its own; it adds (g, CONSTANT) to its class. So one record moves the statistic by at most
    √(REACH² + CONSTANT²). All that the rows of a person add is shrunk to that length as one vector. Without a centre
    the statistic has a sensitivity only.

    Uses: sums on an integer grid; moments of persons.
    """

    width: int
    classes: int

    @property
    def cells(self) -> int:
        """Entries of the class sums."""
        return self.classes * (self.width + 1)

    def statistic(self, centre: Centre | None, neighbours: Neighbours) -> Statistic[Labelled]:
        """The sums, refused where there are too many."""

        def compute(data: Labelled) -> Integers:
            assert centre is not None  # a sensitivity alone is never computed
            data.require(neighbours)
            found = np.zeros((self.classes, self.width + 1), np.int64)
            for rows, labels in _on_grid(data.singles, centre, self.classes):
                found += _class_sums(rows, labels, self.classes)
            for size, some in data.several(lambda size: (size + self.classes) * (self.width + 1)):
                rows = _placed(some, centre)
                found += shrunk_sums(sums_of_persons(rows, some.labels, size, self.classes, CONSTANT), moved)
            return found.ravel()

        moved = REACH**2 + CONSTANT**2
        changed = self.cells if neighbours.unit == "person" else self.width + 1
        return _statistic(compute, self.cells, neighbours, moved=moved, changed=changed, name="class sums")

    def read(self, estimate: Estimate, weight: int = 1) -> Sums:
        """What an estimate of the sums says, in the units of the features."""
        found = estimate.values[: self.cells].reshape(self.classes, self.width + 1) / weight
        spacing = _spacing(self.width)
        return Sums(found[:, :-1] * spacing, found[:, -1] / CONSTANT, estimate.std / weight * spacing)


@final
@dataclass(frozen=True, slots=True)
class SecondMoments:
    """Class sums times BESIDE, and the upper triangle of the sum of g ⊗ g, its diagonal times 29, the rest times 41.

    One record moves it by at most √(BESIDE²(REACH² + CONSTANT²) + 29² REACH⁴).

    Proof. With u_i = g_i² the triangle of one record has the squared length 29² Σ u_i² + 41² Σ_{i<j} u_i u_j. As
    41² ≤ 2·29² that is at most 29² (Σ u_i² + 2 Σ_{i<j} u_i u_j) = 29² (Σ u_i)² ≤ 29² REACH⁴, with equality for a record
    along one axis. The class sums are orthogonal to it, and 32² (REACH² + CONSTANT²) REACH² is theirs. ∎ All entries
    are integers, so nothing is rounded; √2 in place of 41/29 would make products less noisy by 0.03 %.

    What the rows of a person add is shrunk to that length as one vector.

    Implements: second moments on an integer grid.
    Uses: sums on an integer grid; moments of persons.
    """

    first: Moments

    @property
    def cells(self) -> int:
        """Entries of the triangle."""
        return self.first.width * (self.first.width + 1) // 2

    def statistic(self, centre: Centre | None, neighbours: Neighbours) -> Statistic[Labelled]:
        """Both in one vector, refused where there are too many."""
        first = self.first

        def compute(data: Labelled) -> Integers:
            assert centre is not None
            data.require(neighbours)
            sums = np.zeros((first.classes, first.width + 1), np.int64)
            squares = np.zeros((first.width, first.width), np.int64)
            for rows, labels in _on_grid(data.singles, centre, first.classes):
                sums += _class_sums(rows, labels, first.classes)
                squares += (rows.T @ rows).astype(np.int64)
            for size, some in data.several(self._numbers):
                rows = _placed(some, centre)
                vectors = sums_of_persons(rows, some.labels, size, first.classes, CONSTANT)
                more, beside = shrunk_moments(vectors, rows.reshape(-1, size, first.width), moved, BESIDE, DIAGONAL)
                sums, squares = sums + more, squares + beside
            upper, factors = self._triangle()
            return np.concatenate([sums.ravel() * BESIDE, squares[upper] * factors])

        moved = BESIDE**2 * (REACH**2 + CONSTANT**2) + DIAGONAL**2 * REACH**4
        cells = first.cells + self.cells
        changed = cells if neighbours.unit == "person" else first.width + 1 + self.cells
        name = "class sums and second moments"
        return _statistic(compute, cells, neighbours, moved=moved, changed=changed, name=name)

    def _numbers(self, size: int) -> int:
        """What is computed of a person with this many rows: the rows, the class sums, and products."""
        return (size + self.first.classes) * (self.first.width + 1) + min(size, self.first.width) ** 2

    def read(self, estimate: Estimate) -> tuple[Sums, Squares]:
        """What an estimate of both says, in the units of the features."""
        upper, factors = self._triangle()
        unit = _spacing(self.first.width) ** 2
        values = np.zeros(upper.shape)
        values[upper] = estimate.values[self.first.cells :] * (unit / factors)
        whole = values + values.T
        whole.flat[:: len(whole) + 1] /= 2
        return self.first.read(estimate, BESIDE), Squares(whole, estimate.std * unit / DIAGONAL)

    def _triangle(self) -> tuple[NDArray[np.bool_], Integers]:
        """Where the triangle is, and what its entries are multiplied by, row by row."""
        width, places = self.first.width, np.arange(self.first.width)
        factors = np.full(self.cells, ACROSS)
        factors[places * width - places * (places - 1) // 2] = DIAGONAL
        return np.tri(width, dtype=np.bool_).T, factors


def _spacing(width: int) -> float:
    """One step of the grid: rounding moves a row by half the root of its width at most, for which it leaves room."""
    return RADIUS / (REACH - 1 - sqrt(width) / 2)


def _on_grid(data: Labelled, centre: Centre, classes: int) -> Iterator[tuple[Floats, Integers]]:
    """Records on the grid, some at a time; a row that would be longer than it may be counts as 0."""
    step = max(1, BLOCK // max(data.width, classes))
    for start in range(0, len(data), step):
        part = Labelled(data.features[start : start + step], data.labels[start : start + step])
        yield _placed(part, centre), part.labels


def _placed(part: Labelled, centre: Centre) -> Floats:
    """The rows on the grid, each by itself."""
    rows = np.round(centre.apart(part, unit=_spacing(part.width)).features.astype(np.float64))
    within = np.einsum("ij,ij->i", rows, rows) <= REACH**2  # whole numbers, in whatever order
    return np.where(within[:, None], rows, 0.0)


def _class_sums(rows: Floats, labels: Integers, classes: int) -> Integers:
    """The class sums of some records: products of integers below 2**53, which double precision adds exactly."""
    truth = (labels[:, None] == np.arange(classes)).astype(np.float64)
    return np.column_stack([truth.T @ rows, truth.sum(axis=0) * CONSTANT]).astype(np.int64)


def _statistic(
    compute: Callable[[Labelled], Integers], cells: int, neighbours: Neighbours, *, moved: int, changed: int, name: str
) -> Statistic[Labelled]:
    """Sums to each of which a record adds a vector of squared length ``moved`` at most, in ``changed`` entries."""
    if cells > MOST_ENTRIES:
        raise InvalidValue(f"{name} would have {cells:,} entries; use fewer features, or another method.")
    apart = 2 if neighbours.replaces else 1
    l1 = apart * isqrt(changed * moved)  # Cauchy-Schwarz, and l1 is an integer
    return Statistic(compute, (cells,), Fraction(apart**2 * moved), Fraction(l1), neighbours, name)
