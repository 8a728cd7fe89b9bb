"""What is asked of a head, whichever way it is trained: an accuracy, how sure, at which δ, judged by what."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, final

from expost.accounting.claim import NOTHING, Budget, Promise
from expost.accounting.stops import PlannedStops
from expost.checks.confidence import Confidence, confidence_level
from expost.checks.question import CentredSum
from expost.checks.sparse_vector import SparseVectorCheck
from expost.errors import InvalidValue
from expost.judge import BALANCED, AnyCheck, Judge, SparseVector, asked_rungs, planned_looks_of
from expost.ladder import Planned, Priced, Selector
from expost.looks import planned_looks
from expost.noise import Noise
from expost.numerics import probability
from expost.odometer import Odometer
from expost.private import Neighbours, Private
from expost.protocols import Look, Mechanism
from expost.search import planned_stops
from expost.training.head.arrays import Arrays, InNumpy
from expost.training.head.gradient import IntegerSums, Summation
from expost.training.head.labelled import Labelled
from expost.training.head.mechanism import Told, require_sampled
from expost.training.head.score import Classifier, Target, classified

T = TypeVar("T")
Question: TypeAlias = CentredSum[Labelled, Classifier]
CONFIDENCE = Fraction(95, 100)
FINE = 256
"""Units that a record counts for at least: Gaussian noise on them is so wide that being integer costs nothing."""


def resolution(threshold: Fraction, check: str) -> int:
    """Steps to 1 of a record's score, which is 0 or 1: as many as make a record count for FINE units.

    A sparse vector has no Gaussian profile to keep, and the guard of its two noises takes long on fine units.
    """
    return 1 if check == SparseVectorCheck.name else -(-FINE // threshold.denominator)


@final
@dataclass(frozen=True, slots=True)
class Shape:
    """How large a head is: no price depends on it, and the records say it."""

    width: int
    classes: int

    def __post_init__(self) -> None:
        if self.classes < 2:
            raise InvalidValue("there is only one class; a classifier needs at least two.")
        if self.width < 1:
            raise InvalidValue("the records have no features; give at least one.")


class Climb(Planned, Selector[object], Protocol):
    """Rungs that are fixed beforehand, and the rule that takes them in turn. Implemented by Releases and Ladder."""


@final
@dataclass(frozen=True, slots=True)
class Training(Generic[T]):
    """What a search runs: the mechanism of its rungs, and the head that a release of it makes."""

    mechanism: Mechanism[Labelled, T]
    head: Callable[[T], Classifier]


@dataclass(frozen=True, kw_only=True)
class Wanted(ABC):
    """Everything about the job that is public and fixed before data is touched, but the way of training.

    ``confidence`` is how sure a pass must be, None for the paper's check, which promises nothing. ``records`` is about
    how many records there are, if that is public: releases whose look would be too noisy are then not asked about.
    Where ``neighbours`` differ in a person, records are persons with any number of rows. Implemented by HeadRecipe and
    CentredRecipe.
    """

    target: Target
    confidence: Fraction | None = CONFIDENCE
    records: int | None = None
    delta: float = 1e-5
    validation: Fraction = Fraction(1, 2)
    check: Judge = BALANCED
    summation: Summation = field(default_factory=IntegerSums)
    arrays: Arrays = field(default_factory=InNumpy)
    neighbours: Neighbours = Neighbours.ADD_REMOVE

    def __post_init__(self) -> None:
        require_sampled(self.neighbours)
        probability(self.delta, "delta")
        if not 0 < self.validation < 1:
            raise InvalidValue(f"validation is {float(self.validation):g}; hold out a share strictly between 0 and 1.")
        if self.records is not None and self.records < 1:
            raise InvalidValue(f"records is {self.records}; say about how many there are, or leave it out.")
        if self.confidence is not None:
            confidence_level(self.confidence)

    @property
    @abstractmethod
    def count(self) -> int:
        """How many releases are planned."""

    @property
    @abstractmethod
    def first(self) -> Budget:
        """What the first release costs, at the order that checks are calibrated at."""

    @property
    @abstractmethod
    def taken(self) -> tuple[int, ...]:
        """Steps taken by each release."""

    @property
    @abstractmethod
    def priced(self) -> Priced:
        """What a rung is spent on, as far as its price goes."""

    @property
    @abstractmethod
    def releases(self) -> Climb:
        """The rungs of the search."""

    @property
    def prior(self) -> Promise:
        """What reads the training part before the first rung."""
        return NOTHING

    @abstractmethod
    def trained(self) -> list[Fraction]:
        """The ρ spent on the training part by each release."""

    @abstractmethod
    def begin(
        self, train: Private[Labelled], shape: Shape, odometer: Odometer, noise: Noise, told: Told | None
    ) -> Training[Any]:
        """Whatever comes before the first rung, and then what the rungs run; each way releases a value of its own."""

    def question(self) -> Question:
        """What is asked of the held-out records."""
        check = SparseVectorCheck.name if isinstance(self.check, SparseVector) else ""
        fine = resolution(self.target.threshold, check)
        return CentredSum(classified, self.target.threshold, self.neighbours, fine)

    def judge(self) -> AnyCheck[Labelled, Classifier]:
        """The check of that question."""
        return self.judged_at(self.first, self.assurance)

    def judged_at(self, first: Budget, confidence: Confidence | None) -> AnyCheck[Labelled, Classifier]:
        """The check, were this the price of the first release and the confidence."""
        return self.check.check(self.question(), first, planned_looks_of(self.count, confidence), confidence)

    @property
    def assurance(self) -> Confidence | None:
        """The confidence, over all looks that are planned."""
        return None if self.asked is None or self.confidence is None else Confidence(self.confidence, len(self.asked))

    @cached_property
    def asked(self) -> tuple[int, ...] | None:
        """The releases that a check is asked about, from 0; None for all but the last, as the paper's check has it."""
        held = None if self.records is None else self.records * float(self.validation)
        return asked_rungs(
            self.check, self.question(), level=self.confidence, trained=self.trained, rungs=self.count, held=held
        )

    def looks(self) -> tuple[Look | None, ...]:
        """How noisy the check will be at each release, and what passes there."""
        return planned_looks(self.priced, self.releases, self.judge(), prior=self.prior)

    def stated_first(self, alone: Planned, priced: Priced, first: Budget, prior: Promise = NOTHING) -> float:
        """What the first release would be stated as at its share of δ, were it priced so: its steps and its look."""
        sure = None if self.confidence is None else Confidence(self.confidence, self.count)
        (stop,) = planned_stops(priced, alone, self.judged_at(first, sure), prior=prior)
        return PlannedStops((stop,), self.delta / self.count).table[0].epsilon

    @property
    def looks_at_first(self) -> tuple[int, ...]:
        """Whether a check may be asked about the first release, as the rungs of a ladder of it alone say it."""
        return (0,) if self.confidence is not None or self.count > 1 else ()

    @property
    def held(self) -> Fraction:
        """The share of records held out: none for a check on public records."""
        return Fraction(0) if self.check.public else self.validation
