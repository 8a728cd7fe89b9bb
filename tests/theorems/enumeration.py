"""The code itself as a finite mechanism: run it once for every outcome of its coins and write down what it returned."""

import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from expost.accounting.claim import Budget, Promise, Spent
from expost.accounting.curve import ORDERS, Tabulated
from expost.accounting.pure import randomized_response_rdp
from expost.ledger import Fact
from expost.noise import Floats, Integers, Noise, Shape
from expost.private import Neighbours
from expost.protocols import Price, Verdict
from expost.release import Past
from expost.sampling.bounds import Bounds

X = TypeVar("X", bound=Hashable)
Y = TypeVar("Y", bound=Hashable)


class CoinPath:
    """Noise that replays a path of coins, tails where the path ends, and multiplies up its probability."""

    def __init__(self, path: tuple[bool, ...]) -> None:
        self.path = list(path)
        self.used = 0
        self.weight = 1.0

    @property
    def seeded(self) -> bool:
        return True

    def coins(self, probability: Fraction, count: int) -> NDArray[np.bool_]:
        flips = []
        for _ in range(count):
            if self.used == len(self.path):
                self.path.append(False)
            flips.append(self.path[self.used])
            self.weight *= float(probability) if flips[-1] else 1 - float(probability)
            self.used += 1
        return np.array(flips, dtype=np.bool_)

    def discrete_gaussian(self, variance: Fraction, shape: Shape) -> Integers:
        raise AssertionError("only coins are enumerated")

    def discrete_laplace(self, scale: Fraction, shape: Shape) -> Integers:
        raise AssertionError("only coins are enumerated")

    def bernoulli_exp(self, exponent: Fraction) -> bool:
        raise AssertionError("only coins are enumerated")

    def bernoulli_real(self, bounds: Bounds) -> bool:
        raise AssertionError("only coins are enumerated")

    def below(self, bound: int) -> int:
        raise AssertionError("only coins are enumerated")

    def key(self) -> bytes:
        raise AssertionError("only coins are enumerated")

    def gaussian(self, std: float, shape: Shape) -> Floats:
        raise AssertionError("only coins are enumerated")

    def laplace(self, scale: float, shape: Shape) -> Floats:
        raise AssertionError("only coins are enumerated")

    def uniform(self, shape: Shape) -> Floats:
        raise AssertionError("only coins are enumerated")


def enumerated(program: Callable[[Noise], tuple[Y, float]]) -> dict[tuple[Y, float], float]:
    """The law of (value, bill) that the program returns, over all outcomes of its coins."""
    law: dict[tuple[Y, float], float] = {}
    for outcome, weight in _paths(program):
        law[outcome] = law.get(outcome, 0.0) + weight
    return law


def _paths(program: Callable[[Noise], tuple[Y, float]]) -> Iterator[tuple[tuple[Y, float], float]]:
    path: list[bool] = []
    while True:
        noise = CoinPath(tuple(path))
        yield program(noise), noise.weight
        path = noise.path[: noise.used]
        while path and path[-1]:
            path.pop()
        if not path:
            return
        path[-1] = True


def truth_chance(epsilon: Fraction) -> Fraction:
    """With what chance a randomised response of pure ε tells the truth."""
    return Fraction(1 / (1 + math.exp(-float(epsilon))))


@cache
def pure(epsilon: Fraction) -> Promise:
    """The exact curve of a randomised response."""
    return Promise(Tabulated.of(ORDERS, [randomized_response_rdp(float(epsilon), alpha) for alpha in ORDERS]))


@dataclass(frozen=True)
class RandomisedResponse:
    """A mechanism on a single bit: tell it with the chance that the budget's ε, taken as pure, allows."""

    name: str = "randomised response"
    neighbours: Neighbours = Neighbours.REPLACE_ONE
    floating: bool = False

    def promise(self, budget: Budget) -> Promise:
        return pure(budget.epsilon)

    def sample(self, data: int, budget: Budget, past: Past[int], noise: Noise) -> int:
        return data if noise.coins(truth_chance(budget.epsilon), 1)[0] else 1 - data

    def facts(self, budget: Budget) -> Mapping[str, Fact]:
        return {"epsilon": str(budget.epsilon)}


@dataclass(frozen=True)
class RandomisedCheck:
    """A check that tells, with a fixed pure ε a question, whether the held-out bit equals the candidate."""

    epsilon: Fraction
    neighbours: Neighbours = Neighbours.REPLACE_ONE
    name: str = "randomised check"

    def price(self, index: int, trained: Spent, asked: Spent) -> Price:
        return Price(pure(self.epsilon), pure(self.epsilon))

    def begin(self) -> "RandomisedCheck":
        return self

    def answer(self, index: int, price: Price, held: int, candidate: int, noise: Noise) -> Verdict:
        return Verdict(bool(noise.coins(truth_chance(self.epsilon), 1)[0]) == (held == candidate))

    def facts(self) -> Mapping[str, Fact]:
        return {"epsilon": str(self.epsilon)}
