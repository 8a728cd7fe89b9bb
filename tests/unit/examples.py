"""Small data, statistics and mechanisms that the tests share; nothing here decides a result."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any, ClassVar, Generic, TypeVar, final

import numpy as np

from expost.accounting.claim import NOTHING, Budget, Promise
from expost.accounting.curve import Curve, Linear
from expost.ledger import Fact
from expost.noise import Floats, Integers, Noise, ScriptedNoise
from expost.numerics import Real
from expost.odometer import Odometer
from expost.private import Neighbours, Private
from expost.release import Past, Release
from expost.statistic import Statistic, histogram

T = TypeVar("T")

ADD, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE
OF_RECORDS = (ADD, REPLACE)
ALPHA = 20
NONE = NOTHING.as_spent()


def budget(epsilon: Real, alpha: Real = ALPHA) -> Budget:
    """ε at the usual order."""
    return Budget.of(epsilon, alpha=alpha)


def line(xi: Real, rho: Real, gaussian: Real | None = None) -> Linear:
    """The curve ξ + ρα from ordinary numbers."""
    return Linear(Fraction(xi), Fraction(rho), None if gaussian is None else Fraction(gaussian))


def people(*codes: int, neighbours: Neighbours = ADD) -> Private[Integers]:
    """Sealed records that are integer codes."""
    return Private(np.array(codes, dtype=np.int64), neighbours)


def as_is(data: Integers) -> Integers:
    """The records themselves."""
    return data


def counts(cells: int = 3, neighbours: Neighbours = ADD) -> Statistic[Integers]:
    """How many records have each code."""
    return histogram(as_is, cells, neighbours)


def right(candidate: int, held: Integers) -> Floats:
    """A record equal to the candidate is right."""
    return np.asarray(held == candidate, dtype=np.float64)


def silence(draws: int = 100) -> ScriptedNoise:
    """Noise that is always zero."""
    return ScriptedNoise([0] * draws)


def rehearsal() -> Odometer:
    """An odometer that takes scripted noise."""
    return Odometer(rehearsal=True)


@final
@dataclass
class Tripwire:
    """Remembers whether anybody computed something from the data."""

    opened: bool = False

    def codes(self, data: Integers) -> Integers:
        """The records themselves, noticed."""
        self.opened = True
        return data

    def score(self, candidate: object, data: Integers) -> Floats:
        """A perfect score for each record, noticed."""
        self.opened = True
        return np.ones(len(data))

    def counts(self, neighbours: Neighbours = ADD) -> Statistic[Integers]:
        """How many records have each code, noticed."""
        return histogram(self.codes, 3, neighbours)


def nothing(data: Integers) -> None:
    """Leave the data alone."""


class Made:
    """A judge that makes the check it was told to make of a question and a confidence."""

    def __init__(self, make: Callable[[Any, Any], Any], *, public: bool = False) -> None:
        self.make, self.public = make, public

    def check(self, question: Any, first: Budget, looks: int, confidence: Any) -> Any:
        return self.make(question, confidence)


@final
@dataclass(frozen=True)
class Says(Generic[T]):
    """Releases a value chosen beforehand at the price ρ·α of its budget; ``look`` is shown the data."""

    value: T
    look: Callable[[Integers], object] = nothing
    neighbours: Neighbours = ADD
    floating: bool = False
    curve: "Curve | None" = None
    name: ClassVar[str] = "Says"

    def promise(self, budget: Budget) -> Promise:
        """The budget, or the curve that was given."""
        return Promise(Linear(Fraction(0), budget.rho) if self.curve is None else self.curve)

    def sample(self, data: Integers, budget: Budget, past: Past[T], noise: Noise) -> T:
        """The value."""
        self.look(data)
        return self.value

    def facts(self, budget: Budget) -> Mapping[str, Fact]:
        """Nothing worth recording."""
        return {}


def released(value: T, epsilon: Real, *, floating: bool = False) -> Release[T]:
    """A release of the value at the price."""
    mechanism = Says(value, floating=floating)
    return rehearsal().spend(mechanism, people(0), budget(epsilon), Past(), silence())


def small_data(records: Sequence[T], most: int) -> Iterator[list[T]]:
    """Every data set of at most so many of these records, order aside."""
    for size in range(most + 1):
        for chosen in combinations_with_replacement(records, size):
            yield list(chosen)


def neighbouring(data: list[T], records: Sequence[T], neighbours: Neighbours) -> Iterator[list[T]]:
    """Every data set with one record more, or with one record replaced by each other."""
    if neighbours is ADD:
        yield from ([*data, record] for record in records)
    else:
        for place in range(len(data)):
            yield from ([*data[:place], record, *data[place + 1 :]] for record in records)


def distances(
    evaluate: Callable[[list[T]], Integers], records: Sequence[T], neighbours: Neighbours, most: int = 3
) -> Iterator[Integers]:
    """The differences of a function over all pairs of small neighbours."""
    for data in small_data(records, most):
        here = evaluate(data)
        for other in neighbouring(data, records, neighbours):
            yield evaluate(other) - here


def largest(values: Iterator[Integers], norm: Callable[[Integers], int]) -> int:
    """The largest norm among the differences."""
    return max(map(norm, values))


def l1(difference: Integers) -> int:
    """The sum of absolute differences."""
    return int(np.abs(difference).sum())


def l2_squared(difference: Integers) -> int:
    """The squared Euclidean length."""
    return int((difference**2).sum())


def one_sentence(error: BaseException) -> bool:
    """Whether the message reads as a sentence on one line."""
    message = str(error)
    return bool(message) and message.endswith(".") and "\n" not in message


@final
@dataclass
class Watched(Generic[T]):
    """Collects what it is called with."""

    seen: list[T] = field(default_factory=list)

    def __call__(self, value: T) -> None:
        """Remember the value."""
        self.seen.append(value)


def next_up(value: float) -> float:
    """The next float above."""
    return math.nextafter(value, math.inf)
