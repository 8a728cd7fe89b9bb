"""Questions about a synthetic table: for rare outcomes, and against guessing.

Each is an integer of the held-out records, as CentredSum is. What they take from a candidate besides the table was
released: the counts of the target, and about how many records were held out.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import ClassVar, final

import numpy as np

from expost.checks.question import fix_threshold
from expost.noise import Floats, Integers
from expost.pieces import added_up, joined_up
from expost.private import Neighbours
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
        counts = candidate.counts[self.target]
        weights = np.rint(WEIGHTS * balancing(*counts)).astype(np.int64)
        right, weighed = map(int, added_up(held, partial(_weighed_right, candidate, self.target, weights)))
        p, q = self.threshold.numerator, self.threshold.denominator
        gained = right if known_values(*counts).sum() >= 2 else 0
        return (gained * q - weighed * p) * UNITS // (q * WEIGHTS)


def _weighed_right(candidate: Candidate, target: str, weights: Integers, held: Table) -> Integers:
    """The weight of the records that are predicted right, and that of all."""
    codes = held.codes(target).astype(np.int64)
    weighed = weights[codes]
    return np.array([weighed[candidate.told(Lesson(target), held) == codes].sum(), weighed.sum()], dtype=np.int64)


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
        gained, records = map(int, added_up(held, partial(_gained, candidate, self.target)))
        return gained * self.threshold.denominator - self.threshold.numerator * records


def _gained(candidate: Candidate, target: str, held: Table) -> Integers:
    """How many more records are predicted right than guessed right, and how many there are."""
    codes = held.codes(target).astype(np.int64)
    right = candidate.told(Lesson(target), held) == codes
    guessed = codes == int(np.argmax(candidate.counts[target][0]))
    return np.array([int(right.sum()) - int(guessed.sum()), len(codes)], dtype=np.int64)


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
        ranks, positive = joined_up(held, partial(_ranked, candidate, self.lesson)).T
        upper, lower = ranks[positive == 1], np.sort(ranks[positive == 0])
        halves = np.searchsorted(lower, upper, "left") + np.searchsorted(lower, upper, "right")
        p, q = self.threshold.numerator, self.threshold.denominator
        pairs, larger = len(upper) * len(lower), max(1, len(upper), len(lower))
        return (int(halves.sum()) * q - 2 * p * pairs) * UNITS // (2 * q * larger)


def _ranked(candidate: Candidate, lesson: Lesson, held: Table) -> Integers:
    """The rank of each record, and whether it is positive."""
    positive = held.codes(lesson.target).astype(np.int64) == lesson.positive
    return np.column_stack([candidate.told(lesson, held), positive])
