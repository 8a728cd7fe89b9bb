"""Baselines under their own names: what accuracy-first search is compared with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Generic, TypeVar, final

import numpy as np

from expost.accounting.claim import Budget, Promise, Spent
from expost.accounting.curve import Linear
from expost.checks.question import PublicCheck, Question
from expost.errors import InvalidValue, SpentCheck
from expost.ladder import Rung
from expost.ledger import Fact
from expost.mechanisms.laplace_path import IntegerPath, Values
from expost.noise import Noise
from expost.numerics import exact, positive
from expost.odometer import Odometer
from expost.private import Neighbours, Split, keep_secret
from expost.protocols import Check, Mechanism, Price, Verdict
from expost.release import Past
from expost.sampling import limits
from expost.search import Outcome, search

D = TypeVar("D")
T = TypeVar("T")
U = TypeVar("U")


@final
@dataclass(frozen=True)
class ReducedAboveThreshold(Generic[D, U]):
    """Pass or fail at pure levels e_1 ≤ e_2 ≤ …, the threshold's Laplace noise reduced from level to level.

    Question n adds fresh noise of scale 4Δ/e_n against a threshold whose noise has scale 2Δ/e_n. Passing at level
    N costs e_N in all, never passing e_K/2: shifting the whole threshold path by Δ costs e_N/2, makes every fail
    likelier, and leaves the pass a shift of 2Δ. Equal levels give the AboveThreshold of the textbooks.

    Implements: ReducedAboveThreshold.
    Uses: Laplace noise reduction, exact on integers.
    """

    question: Question[D, U]
    levels: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", tuple(positive(level, "level") for level in self.levels))
        if not self.levels or any(low > high for low, high in pairwise(self.levels)):
            raise InvalidValue("the levels must not decrease, and there must be at least one.")
        limits.scale(4 * self.question.sensitivity / self.levels[0])

    @property
    def neighbours(self) -> Neighbours:
        return self.question.neighbours

    @property
    def name(self) -> str:
        return "ReducedAboveThreshold"

    def price(self, index: int, trained: Spent, asked: Spent) -> Price:
        """A pass costs the level, a fail half its rise, both less what the fails before have cost."""
        _require_planned(index, len(self.levels))
        level, below = self.levels[index], self.levels[index - 1] if index else Fraction(0)
        costs = (Linear(cost - below / 2, Fraction(0)) for cost in (level, level / 2))
        return Price(*map(Promise, costs))

    def begin(self) -> "_LaplaceAnswers[D, U]":
        return _LaplaceAnswers(self)

    def facts(self) -> Mapping[str, Fact]:
        """Sensitivity and levels."""
        return {"sensitivity": self.question.sensitivity, "levels": " ".join(map(str, self.levels))}


@final
class _LaplaceAnswers(Generic[D, U]):
    """Pass or fail against a threshold whose noise follows a secret path."""

    __slots__ = ("__noise", "_check")

    def __init__(self, check: ReducedAboveThreshold[D, U]) -> None:
        self._check = check
        self.__noise: Values = np.zeros((), dtype=np.int64)

    def answer(self, index: int, price: Price, held: D, candidate: U, noise: Noise) -> Verdict:
        """Judge the candidate against the threshold with its noise reduced to this level."""
        reach, levels = self._check.question.sensitivity, self._check.levels
        rates, value = [level / (2 * reach) for level in levels], self._check.question.ask(candidate, held)
        if index == 0:
            self.__noise = IntegerPath().start(rates[0], (), noise)
        elif rates[index] > rates[index - 1]:
            self.__noise = IntegerPath().descend(self.__noise, rates[index - 1], rates[index], noise)
        return Verdict(value + int(noise.discrete_laplace(4 * reach / levels[index], ())) >= int(self.__noise))

    __reduce__ = keep_secret


@final
@dataclass(frozen=True)
class RenyiReducedAboveThreshold(Generic[D, U]):
    """Pass or fail at rising Rényi levels, the threshold's noise a Brownian path.

    Of the budget at a level, ``share`` goes to the threshold, T = αΔ²/(2·share·ε), and the rest to the question,
    b = 2Δ/((1 − share)·ε). Passing costs the level, failing the threshold's share of it.

    Implements: ReducedAboveThreshold, Rényi.
    Uses: Brownian mechanism; sparse vector cost.
    """

    question: Question[D, U]
    levels: tuple[Budget, ...]
    share: Fraction = Fraction(1, 2)

    def __post_init__(self) -> None:
        object.__setattr__(self, "share", exact(self.share, "share"))
        if not 0 < self.share < 1:
            raise InvalidValue(f"share is {float(self.share):g}; it must lie strictly between 0 and 1.")
        if not self.levels or any(low.rho >= high.rho for low, high in pairwise(self.levels)):
            raise InvalidValue("the levels must increase, and there must be at least one.")
        reach, rhos = self.question.sensitivity, [Fraction(0), *(level.rho * self.share for level in self.levels)]
        limits.variance(reach**2 / (2 * min(high - low for low, high in pairwise(rhos))))
        limits.scale(2 * reach / (self.levels[0].epsilon * (1 - self.share)))

    @property
    def neighbours(self) -> Neighbours:
        return self.question.neighbours

    @property
    def name(self) -> str:
        return "Rényi ReducedAboveThreshold"

    def price(self, index: int, trained: Spent, asked: Spent) -> Price:
        """The rise of the threshold's share, and the question's share for a pass."""
        _require_planned(index, len(self.levels))
        threshold = Promise(Linear(Fraction(0), self._rise(index)))
        return Price(threshold + Promise(Linear(self._query_cost(index), Fraction(0))), threshold)

    def begin(self) -> "_BrownianAnswers[D, U]":
        return _BrownianAnswers(self)

    def facts(self) -> Mapping[str, Fact]:
        """Sensitivity, levels and the threshold's share."""
        levels = " ".join(f"{level.epsilon}@{level.alpha}" for level in self.levels)
        return {"sensitivity": self.question.sensitivity, "levels": levels, "share": str(self.share)}

    def _rise(self, index: int) -> Fraction:
        below = self.levels[index - 1].rho if index else Fraction(0)
        return (self.levels[index].rho - below) * self.share

    def _query_cost(self, index: int) -> Fraction:
        return self.levels[index].epsilon * (1 - self.share)


@final
class _BrownianAnswers(Generic[D, U]):
    """Pass or fail against a threshold that is the precision-weighted mean of secret integers."""

    __slots__ = ("__threshold", "_check")

    def __init__(self, check: RenyiReducedAboveThreshold[D, U]) -> None:
        self._check = check
        self.__threshold = Fraction(0)

    def answer(self, index: int, price: Price, held: D, candidate: U, noise: Noise) -> Verdict:
        """Judge the candidate against the threshold at its new precision; all in exact fractions."""
        check, reach = self._check, self._check.question.sensitivity
        value, rise = check.question.ask(candidate, held), check._rise(index)
        weight = rise / (check.levels[index].rho * check.share)
        fresh = int(noise.discrete_gaussian(Fraction(reach**2) / (2 * rise), ()))
        self.__threshold = (1 - weight) * self.__threshold + weight * fresh
        return Verdict(
            value + int(noise.discrete_laplace(2 * reach / check._query_cost(index), ())) >= self.__threshold
        )

    __reduce__ = keep_secret


@final
@dataclass(frozen=True, slots=True)
class Doubling:
    """Budgets ε, 2ε, 4ε, …, each for a fresh release that forgets the others: about twice the last is paid."""

    first: Budget
    rungs: int

    def __post_init__(self) -> None:
        if self.rungs < 1:
            raise InvalidValue(f"rungs is {self.rungs}; there must be at least one.")

    @property
    def budgets(self) -> tuple[Budget, ...]:
        """What each rung costs by itself."""
        return tuple(Budget(self.first.epsilon * 2**rung, self.first.alpha) for rung in range(self.rungs))

    def __call__(self, past: Past[object], verdicts: tuple[Verdict | None, ...]) -> Rung | None:
        """Twice the last budget."""
        taken = len(past)
        return Rung(self.budgets[taken], taken + 1 < self.rungs) if taken < self.rungs else None


def doubling(
    split: Split[D],
    mechanism: Mechanism[D, T],
    budgets: Doubling,
    build: Callable[[T], U],
    check: Check[D, U] | PublicCheck[U],
    *,
    noise: Noise,
    odometer: Odometer,
) -> Outcome[U]:
    """Release afresh with twice the budget until the check passes; only the newest release is used.

    Implements: doubling baseline.
    """
    return search(split, mechanism, budgets, lambda values: build(values[-1]), check, noise=noise, odometer=odometer)


def _require_planned(index: int, planned: int) -> None:
    if index >= planned:
        raise SpentCheck("every planned level has been asked; plan one fewer than the ladder has rungs.")
