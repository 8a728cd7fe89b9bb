"""Questions about a synthetic table: for rare outcomes, against guessing, and how far its pairs of columns are off.

Each is an integer of the held-out records, as CentredSum is. What they take from a candidate besides the table was
released: the counts of the target, and about how many records were held out.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from expost.checks.question import fix_threshold
from expost.noise import Floats, Integers
from expost.private import Neighbours
from expost.tabular.marginals import Clique
from expost.tabular.model.inference import Flags
from expost.tabular.score import Candidate, Lesson
from expost.tabular.table import Table

WEIGHTS = 2**16
"""What a record of the rarest value weighs in a balanced sum; records of commoner values weigh less."""

UNITS = 1000
"""Integer units to a record, or to one of the rarer ones; a sum that is finer is rounded down to them.

Rounding down keeps what is below 0 below it, and takes no two values farther apart than the next whole number.
"""

KNOWN = 4.0
"""Standard errors of noise that the count of a value must exceed for balanced accuracy to be about that value."""

DENSE = 2**20
"""Cells up to which a table is counted cell by cell, those that nobody is in as well."""


@final
@dataclass(frozen=True)
class BalancedSum:
    """Σ weight·(right − threshold), with weights by the target's value that make every value count alike.

    A value's weight is the count of the rarest over its own, by the released counts, so that the sum is at or above 0
    when the mean over the values of how often each is predicted right reaches the threshold. Values whose count noise
    could have made have no weight. Where that leaves fewer than two, no record counts as right: a table that has never
    seen the rare value must not pass by the common one.

    Implements: balanced sum.
    """

    target: str
    threshold: Fraction
    neighbours: Neighbours
    unit: ClassVar[int] = UNITS
    monotone: ClassVar[bool] = False

    def __post_init__(self) -> None:
        fix_threshold(self)

    @property
    def sensitivity(self) -> int:
        """As for a centred sum, at the largest weight; replacing may take one record's share and bring another's."""
        p, q = self.threshold.numerator, self.threshold.denominator
        return -(-(q if self.neighbours.replaces else max(p, q - p)) * UNITS // q)

    def ask(self, candidate: Candidate, held: Table) -> int:
        """The sum of the contributions."""
        codes, counts = held.codes(self.target).astype(np.int64), candidate.counts[self.target]
        right = candidate.told(Lesson(self.target), held) == codes
        p, q = self.threshold.numerator, self.threshold.denominator
        weights = np.rint(WEIGHTS * balancing(*counts)).astype(np.int64)[codes]
        gained = int(weights[right].sum()) if known_values(*counts).sum() >= 2 else 0
        return (gained * q - int(weights.sum()) * p) * UNITS // (q * WEIGHTS)


def known_values(counts: Floats, std: float) -> Flags:
    """The values of a target whose counts noise alone would not have made."""
    return counts >= max(1.0, KNOWN * std)


def balancing(counts: Floats, std: float) -> Floats:
    """The weight of each value of a target, 1 for the rarest that is known; 0 for those that noise could have made.

    The two commonest are taken for known in any case, and no count for less than a record.
    """
    weighed = known_values(counts, std) | (counts >= np.sort(counts)[-2:].min())
    least = np.maximum(counts, 1.0)
    weights: Floats = np.where(weighed, least[weighed].min() / least, 0.0)
    return weights


@final
@dataclass(frozen=True)
class GuessingGain:
    """Σ (right − guessed right − threshold): whether predictions beat the commonest value, by the released counts.

    Implements: gain over guessing.
    """

    target: str
    threshold: Fraction
    neighbours: Neighbours
    monotone: ClassVar[bool] = False

    def __post_init__(self) -> None:
        fix_threshold(self)

    @property
    def unit(self) -> int:
        """Integer units to a record."""
        return self.threshold.denominator

    @property
    def sensitivity(self) -> int:
        """A record that only guessing gets right adds −(1 + threshold); replaced by one of the other kind, 2."""
        p, q = self.threshold.numerator, self.threshold.denominator
        return 2 * q if self.neighbours.replaces else q + p

    def ask(self, candidate: Candidate, held: Table) -> int:
        """The sum of the contributions."""
        codes = held.codes(self.target).astype(np.int64)
        right = candidate.told(Lesson(self.target), held) == codes
        guessed = codes == int(np.argmax(candidate.counts[self.target][0]))
        gained = int(right.sum()) - int(guessed.sum())
        return gained * self.threshold.denominator - self.threshold.numerator * len(codes)


@final
@dataclass(frozen=True)
class RankMargin:
    """How far the area under the ROC curve is above the threshold, times the number of records of the rarer kind.

    With P positive records and N others, the sum S over all P·N pairs of (won − threshold), where a tie wins a half, is
    P·N·(AUC − threshold). The value is S / max(P, N), rounded down. A record in P adds a row of N terms that lie
    between −threshold and 1 − threshold. If max(P, N) stays, the value moves by at most N / max(P, N) ≤ 1. If it grows,
    P was the larger number, the value was the mean of the P rows, and it moves by (row − mean)/(P + 1), which is less
    than 1. The same holds for N. Replacing is removing and adding.

    Implements: rank margin.
    """

    lesson: Lesson
    threshold: Fraction
    neighbours: Neighbours
    unit: ClassVar[int] = UNITS
    monotone: ClassVar[bool] = False

    def __post_init__(self) -> None:
        fix_threshold(self)

    @property
    def sensitivity(self) -> int:
        """One record, or two where one is replaced."""
        return 2 * UNITS if self.neighbours.replaces else UNITS

    def ask(self, candidate: Candidate, held: Table) -> int:
        """The sum over pairs, by ranks: the halves that a positive record wins are those below it, twice, and ties."""
        ranks = candidate.told(self.lesson, held)
        positive = held.codes(self.lesson.target).astype(np.int64) == self.lesson.positive
        upper, lower = ranks[positive], np.sort(ranks[~positive])
        halves = np.searchsorted(lower, upper, "left") + np.searchsorted(lower, upper, "right")
        p, q = self.threshold.numerator, self.threshold.denominator
        pairs, larger = len(upper) * len(lower), max(1, len(upper), len(lower))
        return (int(halves.sum()) * q - 2 * p * pairs) * UNITS // (2 * q * larger)


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
        return min(self._margin(candidate, held, clique) for clique in self.cliques)

    def _margin(self, candidate: Candidate, held: Table, clique: Clique) -> int:
        drawn, ours = _counts(candidate.table, held, clique)
        rows, records = len(candidate.table), len(held)
        chance = math.floor(UNITS * chance_taken(drawn / rows, candidate.held))
        apart = int(np.abs(ours * rows - drawn * records).sum())  # 2·rows times the records that are elsewhere
        p, q = self.threshold.numerator, self.threshold.denominator
        return chance + UNITS * (2 * rows * (q - p) * records - q * apart) // (2 * rows * q)


def chance_share(candidate: Candidate, clique: Clique) -> float:
    """The same for one table as a share of the records; follows from what was released."""
    drawn = _counts(candidate.table, candidate.table, clique)[0]
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


def _counts(one: Table, other: Table, clique: Clique) -> tuple[Integers, Integers]:
    """The counts of two tables, cell by cell; cells that are empty in both may be left out."""
    sizes = [one.domain[name] for name in clique]
    left, right = (_packed(table, clique, sizes) for table in (one, other))
    cells = math.prod(sizes)
    if cells > DENSE:
        found, places = np.unique(np.concatenate([left, right]), return_inverse=True)
        left, right, cells = places[: len(left)], places[len(left) :], len(found)
    return np.bincount(left, minlength=cells), np.bincount(right, minlength=cells)


def _packed(table: Table, clique: Clique, sizes: list[int]) -> Integers:
    packed = np.zeros(len(table), dtype=np.int64)
    for name, size in zip(clique, sizes, strict=True):
        packed = packed * size + table.codes(name).astype(np.int64)
    return packed


def crosstabs(names: tuple[str, ...]) -> Iterator[Clique]:
    """All pairs of columns."""
    return ((one, other) for place, one in enumerate(names) for other in names[place + 1 :])
