"""The exponential mechanism: choose one of finitely many candidates by a private score."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import ClassVar, Generic, TypeVar, final

import numpy as np

from expost.accounting.claim import Budget, Promise
from expost.accounting.curve import Linear
from expost.accounting.pure import exponential_profile, exponential_rho
from expost.errors import InvalidValue
from expost.ledger import Fact
from expost.noise import Integers, Noise
from expost.numerics import positive
from expost.private import Neighbours
from expost.release import Past
from expost.rules import Due, Recorded

D = TypeVar("D")


@final
@dataclass(frozen=True)
class Exponential(Generic[D]):
    """The index i with probability ∝ exp(ε·score_i/(2Δ)), for integer scores that one record moves by Δ at most.

    Exact: a uniform candidate is accepted with probability exp(−ε·(best − score_i)/(2Δ)), both in integers. How
    many tries that takes depends on the scores, and so does the time.

    Implements: exponential mechanism.
    Uses: exponential mechanism curve; exponential mechanism profile.
    """

    score: Callable[[D], Integers]
    candidates: int
    sensitivity: Fraction
    neighbours: Neighbours
    choice: str = "choice"
    name: ClassVar[str] = "Exponential"
    floating: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "sensitivity", positive(self.sensitivity, "sensitivity"))
        if self.candidates < 1:
            raise InvalidValue(f"candidates is {self.candidates}; there must be at least one to choose.")

    def epsilon(self, budget: Budget) -> Fraction:
        """The pure parameter √(8ρ), rounded down to a fraction."""
        return pure_parameter(budget.rho)

    def promise(self, budget: Budget) -> Promise:
        """The curve α·ε²/8 of a choice with bounded range, and its Gaussian profile."""
        return Promise(chosen(self.epsilon(budget)))

    def sample(self, data: D, budget: Budget, past: Past[object], noise: Noise) -> int:
        """The chosen index."""
        scores = np.asarray(self.score(data))
        if scores.shape != (self.candidates,) or not np.issubdtype(scores.dtype, np.integer):
            raise InvalidValue(f"the score did not return {self.candidates} integers.")
        return choose(scores.tolist(), self.epsilon(budget) / (2 * self.sensitivity), noise)

    def facts(self, budget: Budget) -> Mapping[str, Fact]:
        """Candidates, sensitivity and parameter."""
        return {
            "choice": self.choice,
            "candidates": self.candidates,
            "sensitivity": str(self.sensitivity),
            "epsilon": str(self.epsilon(budget)),
        }

    @staticmethod
    def rule(line: Recorded) -> Due:
        """The parameter gives the curve."""
        epsilon = line.fraction("epsilon")
        return Due(chosen(epsilon), floating=False, pays=lambda budget: epsilon == pure_parameter(budget.rho))


def pure_parameter(rho: Fraction) -> Fraction:
    """The ε of a choice that costs ρ = ε²/8, rounded down to a fraction."""
    return Fraction(isqrt(int(8 * rho * 4**64)), 2**64)


def chosen(epsilon: Fraction, draws: int = 1) -> Linear:
    """The curve of choices with this parameter each, and their Gaussian profile.

    Uses: exponential mechanism curve; exponential mechanism profile.
    """
    return Linear(Fraction(0), draws * exponential_rho(epsilon), draws * exponential_profile(epsilon))


def choose(scores: Sequence[int], rate: Fraction, noise: Noise) -> int:
    """An index with probability ∝ exp(rate·score), exactly: uniform candidates, accepted by how far they fall short."""
    best = max(scores)
    while True:
        index = noise.below(len(scores))
        if noise.bernoulli_exp(rate * (best - scores[index])):
            return index
