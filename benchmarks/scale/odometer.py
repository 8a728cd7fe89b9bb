"""A step of an odometer with all earlier releases as its past, after a thousand of them and after a hundred thousand.

The past grows by one release per step, and every step is handed all of it. Steps are of every kind, in turns: Gaussian
and Laplace noise, gradient steps known by a table of orders, and questions of a check, on both sides of two splits and
of one within a side. The two odometers take turns, so that a busy machine slows both alike.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import cycle
from time import process_time
from typing import ClassVar, TypeAlias, final

import numpy as np

from benchmarks.harness import Progress, seconds
from expost import (
    Budget,
    CentredSum,
    FixedOrder,
    Gaussian,
    GaussianCheck,
    Laplace,
    Mechanism,
    Neighbours,
    Odometer,
    Past,
    Private,
    Promise,
    Release,
    Split,
    Statistic,
    SystemNoise,
    histogram,
    split,
    tightest_pledge,
)
from expost.accounting.curve import Linear
from expost.accounting.descent import Descent
from expost.ledger import Fact, MemoryLedger
from expost.noise import Floats, Integers, Noise
from expost.protocols import Inquiry

FEW, MANY, STOPS = 10**3, 10**5, 1_000
ROUND, REPEATS, RECORDS = 40, 40, 20
PRICE, NOISE = Budget.of(0.01, alpha=20), SystemNoise()
DESCENT = Descent(Fraction(1, 100), Fraction(2))
PLEDGE = FixedOrder.at(20, 1e-6)
STEP: TypeAlias = Callable[[Odometer, Past[object]], Release[object]]


def odometer_growth(progress: Progress, few: int = FEW, many: int = MANY) -> dict[str, float]:
    """Microseconds per step after few and after many releases, and their ratio."""
    climbers = []
    for begun in (few, many):
        progress(f"an odometer of {begun:,} steps, each with all earlier releases")
        climbers.append(Climber(begun))
    progress("steps of both in turns")
    early, late = seconds(*(climber.climb for climber in climbers), repeats=REPEATS)
    return {
        f"scale.odometer_us.{few}": early / ROUND * 1e6,
        f"scale.odometer_us.{many}": late / ROUND * 1e6,
        "scale.odometer_growth": late / early,
    }


def plan_seconds(progress: Progress, stops: int = STOPS) -> dict[str, float]:
    """Processor seconds of choosing the tightest pledge for this many stops, some Gaussian and some not."""
    progress(f"a plan of {stops:,} stops")
    rhos = [Fraction(1e-4 * 1.005**place) for place in range(stops)]
    plans = [[Promise(Linear(xi, rho, None if xi else rho)) for rho in rhos] for xi in (Fraction(0), Fraction(1, 1000))]
    begun = process_time()
    for each in plans:
        tightest_pledge(each, 1e-6)
    return {f"scale.plan_seconds.{stops}": (process_time() - begun) / len(plans)}


@final
class Climber:
    """An odometer with some steps behind it, whose past grows by a release with every further one."""

    def __init__(self, begun: int) -> None:
        self.ledger, self.past, self._steps = MemoryLedger(), Past[object](), cycle(kinds())
        self.odometer = Odometer(pledge=PLEDGE, ledger=self.ledger)
        for _ in range(begun):
            self.step()

    def step(self) -> None:
        """One more."""
        self.past = self.past.then(next(self._steps)(self.odometer, self.past))

    def climb(self) -> None:
        """A round of them."""
        for _ in range(ROUND):
            self.step()


@final
@dataclass(frozen=True)
class Tabled:
    """A step of nothing, priced like a gradient step on a sample of the records."""

    name: ClassVar[str] = "Tabled"
    floating: ClassVar[bool] = False
    neighbours: ClassVar[Neighbours] = Neighbours.ADD_REMOVE

    def promise(self, budget: Budget) -> Promise:
        """A table of orders."""
        return DESCENT.promise(1)

    def sample(self, data: Integers, budget: Budget, past: Past[object], noise: Noise) -> object:
        """Nothing."""
        return None

    def facts(self, budget: Budget) -> Mapping[str, Fact]:
        """Nothing."""
        return {}


def kinds() -> Iterator[STEP]:
    """Steps of every kind on every part."""
    data = Private(np.arange(RECORDS) % 2)
    one, other = split(data, 0.5, NOISE), split(data, 0.5, NOISE)
    statistic: Statistic[Integers] = histogram(np.asarray, 2, Neighbours.ADD_REMOVE)
    for parts in (one, other, split(one.train, 0.5, NOISE)):
        for mechanism in (Gaussian(statistic), Laplace(statistic), Tabled()):
            yield partial(_spent, mechanism, parts.train)
        yield partial(_asked, parts)


def _spent(
    mechanism: Mechanism[Integers, object], part: Private[Integers], odometer: Odometer, past: Past[object]
) -> Release[object]:
    """A step of a mechanism on a part."""
    return odometer.spend(mechanism, part, PRICE, past, NOISE)


def _asked(parts: Split[Integers], odometer: Odometer, past: Past[object]) -> Release[object]:
    """A question about a candidate that all earlier releases led to."""
    assert parts.held is not None
    check = GaussianCheck(CentredSum(_score, Fraction(1, 2), Neighbours.ADD_REMOVE), PRICE, 1, None)
    candidate, trained = past.together.map(lambda _: 0), odometer.spent_on(parts.train)
    return odometer.ask(Inquiry(check), parts.held, candidate, trained=trained, noise=NOISE).map(lambda seen: seen)


def _score(candidate: int, records: Integers) -> Floats:
    return np.asarray(records == candidate, np.float64)
