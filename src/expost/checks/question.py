"""What a check asks: one integer per candidate, above zero when the candidate is accurate enough."""

from collections.abc import Callable, Mapping, Sized
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import ClassVar, Generic, Never, Protocol, TypeVar, final

import numpy as np

from expost.errors import InvalidValue
from expost.ledger import Fact
from expost.noise import Floats, Integers
from expost.numerics import Real, exact
from expost.pieces import added_up
from expost.private import Neighbours, require_relation
from expost.protocols import Verdict

D = TypeVar("D", bound=Sized)
U = TypeVar("U")
D_contra = TypeVar("D_contra", contravariant=True)
U_contra = TypeVar("U_contra", contravariant=True)

FINEST = 2**24
"""Largest number of integer units a record may count for; keeps every sum far inside 64 bits."""


class Thresholded(Protocol):
    """A question that asks whether something reaches a threshold."""

    @property
    def threshold(self) -> Fraction:
        """What must be reached, strictly between 0 and 1."""

    @property
    def neighbours(self) -> Neighbours:
        """The neighbour relation of its sensitivity."""


class Question(Protocol[D_contra, U_contra]):
    """An integer statistic of the held-out part for each candidate.

    What must hold: for every candidate, neighbours under ``neighbours`` differ by ``sensitivity`` at most, and if
    ``monotone`` all candidates' values move the same way. ``unit`` is what one record counts for. Implemented by
    CentredSum and PublicCount.
    """

    @property
    def neighbours(self) -> Neighbours:
        """The neighbour relation of the sensitivity."""

    @property
    def sensitivity(self) -> int:
        """How far one record moves the value, in integer units."""

    @property
    def unit(self) -> int:
        """Integer units to a record."""

    @property
    def monotone(self) -> bool:
        """Whether all values move the same way between neighbours."""

    def ask(self, candidate: U_contra, held: D_contra) -> int:
        """The value, exactly."""


@final
@dataclass(frozen=True)
class CentredSum(Generic[D, U]):
    """Σ (score − threshold) over the held-out records: at or above 0 just when the mean score reaches the threshold.

    Asking for the margin instead of the mean needs no private number of records. With threshold p/q and scores in
    steps of 1/resolution every record adds an integer between −p·resolution and (q − p)·resolution. The score of a
    record must depend on that record and the candidate alone. At a resolution of 1 whatever is below 1 counts as 0.

    Implements: centred sum.
    """

    score: Callable[[U, D], Floats]
    threshold: Fraction
    neighbours: Neighbours
    resolution: int = 1
    monotone: ClassVar[bool] = False
    """A record may raise one candidate's margin and lower another's."""

    def __post_init__(self) -> None:
        _fix(self)

    @classmethod
    def accuracy(cls, score: Callable[[U, D], Floats], threshold: Real, neighbours: Neighbours) -> "CentredSum[D, U]":
        """For scores of 0 or 1; the threshold is read as the decimal that was typed."""
        return cls(score, as_typed(threshold), neighbours)

    @property
    def unit(self) -> int:
        """Integer units to a record."""
        return self.threshold.denominator * self.resolution

    @property
    def sensitivity(self) -> int:
        """The larger of the two contributions, or their distance when a record is replaced."""
        p, q = self.threshold.numerator, self.threshold.denominator
        return (q if self.neighbours.replaces else max(p, q - p)) * self.resolution

    def ask(self, candidate: U, held: D) -> int:
        """The sum of the contributions."""
        steps, records = map(int, added_up(held, partial(_gained, self.score, candidate, self.resolution)))
        p, q = self.threshold.numerator, self.threshold.denominator
        return steps * q - p * self.resolution * records


@final
@dataclass(frozen=True)
class PublicCount(Generic[D, U]):
    """Σ score − threshold·count for a public count: a number planned beforehand, never the real length.

    Under add/remove every candidate's sum moves the same way, which halves what a sparse vector costs.

    Implements: count against a public number.
    """

    score: Callable[[U, D], Floats]
    threshold: Fraction
    count: int
    neighbours: Neighbours
    resolution: int = 1

    def __post_init__(self) -> None:
        _fix(self)
        object.__setattr__(self, "count", int(self.count))
        if self.count < 1:
            raise InvalidValue(f"count is {self.count}; it must be a public number of records, at least 1.")

    @property
    def unit(self) -> int:
        """Integer units to a record."""
        return self.resolution

    @property
    def sensitivity(self) -> int:
        """One full score."""
        return self.resolution

    @property
    def monotone(self) -> bool:
        """Under add/remove all sums grow or all shrink."""
        return not self.neighbours.replaces

    def ask(self, candidate: U, held: D) -> int:
        """How far the sum lies above the smallest passing one."""
        needed = -(-self.threshold * self.count * self.resolution // 1)
        return int(added_up(held, partial(_gained, self.score, candidate, self.resolution))[0]) - int(needed)


@final
@dataclass(frozen=True)
class PublicCheck(Generic[U]):
    """Judge a candidate by itself or by public data: accuracy on a public set, width of an error bar.

    Implements: public checks.
    """

    passes: Callable[[U], bool]

    def verdict(self, candidate: U) -> Verdict:
        """The judgement, as a verdict without noise."""
        return Verdict(bool(self.passes(candidate)))


def as_typed(value: Real, name: str = "threshold") -> Fraction:
    """The decimal a person typed, exactly: 0.825 is 33/40, not the nearest binary fraction."""
    fraction = exact(value, name)
    return Fraction(repr(float(value))) if isinstance(value, float) else fraction


def accuracy_threshold(accuracy: Real) -> Fraction:
    """The accuracy as the decimal that was typed, refused unless a share of records can reach it."""
    typed = as_typed(accuracy)
    if not 0 < typed < 1:
        raise InvalidValue(f"accuracy is {float(typed):g}; ask for a share of records strictly between 0 and 1.")
    return typed


def question_facts(question: Question[Never, Never]) -> Mapping[str, Fact]:
    """What goes on record of a question: its sensitivity, and the units it is in."""
    return {"sensitivity": question.sensitivity, "unit": question.unit}


def _fix(question: "CentredSum[D, U] | PublicCount[D, U]") -> None:
    """Hold the numbers as Python's own, and refuse those that do not fit."""
    object.__setattr__(question, "resolution", int(question.resolution))  # numpy's would wrap around
    fix_threshold(question, question.resolution)


def fix_threshold(question: Thresholded, resolution: int = 1) -> None:
    """Hold the threshold as a fraction of Python's own integers, and refuse one that is too fine or cannot be met."""
    threshold = as_typed(question.threshold)
    if not 0 < threshold < 1:
        raise InvalidValue(f"threshold is {float(threshold):g}; a mean score to reach lies strictly between 0 and 1.")
    if resolution < 1 or threshold.denominator * resolution > FINEST:
        raise InvalidValue(
            f"threshold {threshold} in steps of 1/{resolution} needs more than {FINEST} units per record; round it."
        )
    object.__setattr__(question, "threshold", threshold)
    require_relation(question.neighbours)


def _gained(score: Callable[[U, D], Floats], candidate: U, resolution: int, held: D) -> Integers:
    """The steps of all records together, and how many records there are."""
    return np.array([_steps(score(candidate, held), len(held), resolution).sum(), len(held)], dtype=np.int64)


def _steps(scores: Floats, records: int, resolution: int) -> Integers:
    """Scores in [0, 1] as whole steps, rounded down; NaN counts as 0, anything else is clipped."""
    array = np.nan_to_num(np.asarray(scores, dtype=np.float64))
    if array.shape != (records,):
        raise InvalidValue("a score function returns one number for each held-out record.")
    return np.floor(np.clip(array, 0, 1) * resolution).astype(np.int64)
