"""Overlaps: how far the tables of some columns of a synthetic table are off, as one question about held-out records."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import ClassVar, final

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from expost.checks.question import fix_threshold
from expost.noise import Floats, Integers
from expost.pieces import joined_up
from expost.private import Neighbours
from expost.tabular.marginals import Clique, counted_apart
from expost.tabular.questions import UNITS
from expost.tabular.score import Candidate
from expost.tabular.table import Table

DENSE = 2**20
"""Cells up to which a table is counted cell by cell, those that nobody is in as well."""


@final
@dataclass(frozen=True)
class WorstOverlap:
    """How far the table that overlaps least with the synthetic one is above the threshold, in records.

    The overlap of a table of counts n of N records with a distribution q is 1 − ½Σ|n/N − q|. Asked for are N·(overlap
    − threshold) and what drawing N records from q itself would take from the overlap, on average, for the released N.
    One record moves ½Σ|n − Nq| by at most 1, and the least of several tables by no more.

    Implements: worst overlap.
    Uses: least of several questions.
    """

    cliques: tuple[Clique, ...]
    threshold: Fraction
    neighbours: Neighbours
    unit: ClassVar[int] = UNITS
    monotone: ClassVar[bool] = False

    def __post_init__(self) -> None:
        fix_threshold(self)

    @property
    def sensitivity(self) -> int:
        """1 and, where the number of records changes, what is asked of one more: 1 − threshold."""
        if self.neighbours.replaces:
            return UNITS
        p, q = self.threshold.numerator, self.threshold.denominator
        return -(-(2 * q - p) * UNITS // q)

    def ask(self, candidate: Candidate, held: Table) -> int:
        """The least over the tables."""
        return min(
            self._margin(candidate, drawn, ours)
            for drawn, ours in _pairs_of_counts(candidate.table, held, self.cliques)
        )

    def _margin(self, candidate: Candidate, drawn: Integers, ours: Integers) -> int:
        rows, records = len(candidate.table), int(ours.sum())
        chance = math.floor(UNITS * chance_taken(drawn / rows, candidate.held))
        apart = int(np.abs(ours * rows - drawn * records).sum())  # 2·rows times the records that are elsewhere
        p, q = self.threshold.numerator, self.threshold.denominator
        return chance + UNITS * (2 * rows * (q - p) * records - q * apart) // (2 * rows * q)


def chance_share(candidate: Candidate, clique: Clique) -> float:
    """The same for one table as a share of the records; follows from what was released."""
    ((drawn, _),) = _pairs_of_counts(candidate.table, candidate.table, (clique,))
    return chance_taken(drawn / len(candidate.table), candidate.held) / max(1, round(candidate.held))


def chance_taken(shares: Floats, records: float) -> float:
    """The mean of ½Σ|n − Nq| where N records are drawn from q: of a binomial count, by de Moivre's formula.

    A normal approximation would be far too large where a cell expects less than a record, and hide what is wrong there.
    """
    drawn = max(0, round(records))
    shares = shares[(shares > 0) & (shares < 1)]
    above = np.minimum(np.floor(drawn * shares) + 1, drawn)
    ways = gammaln(drawn + 1) - gammaln(above + 1) - gammaln(drawn - above + 1)
    return math.fsum(above * np.exp(ways + xlogy(above, shares) + xlog1py(drawn - above + 1, -shares)))


def _pairs_of_counts(one: Table, other: Table, cliques: tuple[Clique, ...]) -> Iterator[tuple[Integers, Integers]]:
    """The counts of both tables for each clique, in any order; cells that are empty in both may be left out.

    Small ones are counted together, in a pass or two over the records.
    """
    domain = one.domain
    cells = {clique: math.prod(domain[name] for name in clique) for clique in cliques}
    small = [clique for clique, size in cells.items() if size <= DENSE]
    both = (counted_apart(domain, small, Neighbours.ADD_REMOVE, table) for table in (one, other))
    for (_, left), (_, right) in zip(*both, strict=True):
        yield left, right
    for clique, size in cells.items():
        if size > DENSE:
            yield _sparse(one, other, clique)


def _sparse(one: Table, other: Table, clique: Clique) -> tuple[Integers, Integers]:
    sizes = [one.domain[name] for name in clique]
    left, right = _filled(clique, sizes, one), joined_up(other, partial(_filled, clique, sizes))
    found, places = np.unique(np.concatenate([left[:, 0], right[:, 0]]), return_inverse=True)
    counts = np.zeros((2, len(found)), dtype=np.int64)
    np.add.at(counts[0], places[: len(left)], left[:, 1])
    np.add.at(counts[1], places[len(left) :], right[:, 1])
    return counts[0], counts[1]


def _filled(clique: Clique, sizes: list[int], table: Table) -> Integers:
    """The cells that somebody is in, and how many are: no more of a piece leaves where it lies."""
    packed = np.zeros(len(table), dtype=np.int64)
    for name, size in zip(clique, sizes, strict=True):
        packed = packed * size + table.codes(name).astype(np.int64)
    return np.column_stack(np.unique(packed, return_counts=True))


def crosstabs(names: tuple[str, ...]) -> Iterator[Clique]:
    """All pairs of columns."""
    return ((one, other) for place, one in enumerate(names) for other in names[place + 1 :])
