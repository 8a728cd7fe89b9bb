"""Laplace noise reduction: ever less noise on one statistic, billed at the pure ε of the last level."""

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar, Generic, TypeVar, final

import numpy as np

from expost.accounting.claim import Budget, Promise
from expost.accounting.curve import Linear
from expost.errors import InvalidValue
from expost.ledger import Fact
from expost.mechanisms.gaussian import Measurement
from expost.mechanisms.laplace_path import Kernel, Values
from expost.noise import Integers, Noise
from expost.numerics import Real, positive, up
from expost.private import Neighbours, keep_secret
from expost.protocols import Bond
from expost.release import Past
from expost.rules import Due, Recorded
from expost.sampling import limits
from expost.statistic import Statistic

D = TypeVar("D")


@final
class NoiseReduction(Generic[D]):
    """Release a statistic at level ε_1, then ε_2 > ε_1, …: the bills add up to the last level, at every order.

    The density of a whole path is that of its last value times factors without the data, so its ratio between
    neighbours is at most e^ε of the last level whatever rule chose the levels and the stop. That argument is for
    pure ε only: billing the path at the Rényi curve of Laplace noise is false under adaptive stopping.

    The noise is secret state kept here, for one body of data; a published value is not enough to go on, and a step that
    did not finish ends it.
    ``levels`` fixes the ladder and draws its whole path at the first step, least noise first; without it each
    level is drawn on demand.

    Implements: Laplace noise reduction, pure ex post.
    """

    name: ClassVar[str] = "NoiseReduction"
    __slots__ = ("_exact", "_kernel", "_level", "_levels", "_noise", "_path", "_statistic", "bond")

    def __init__(self, statistic: Statistic[D], kernel: Kernel, levels: tuple[Real, ...] | None = None) -> None:
        self._statistic, self._kernel = statistic, kernel
        self._levels = None if levels is None else tuple(positive(level, "level") for level in levels)
        if self._levels is not None and (not levels or any(low >= high for low, high in pairwise(self._levels))):
            raise InvalidValue("the levels are not increasing; noise can only be reduced.")
        for low, high in pairwise(self._levels or ()):
            _require_rise(low, high)
        self._level = Fraction(0)
        self._noise: Values | None = None
        self._path: dict[Fraction, Values] = {}
        self._exact: Integers | None = None
        self.bond = Bond("noise reduction")

    @property
    def neighbours(self) -> Neighbours:
        """The statistic's."""
        return self._statistic.neighbours

    @property
    def floating(self) -> bool:
        """As the kernel."""
        return self._kernel.floating

    def promise(self, budget: Budget) -> Promise:
        """The increment ε at every order."""
        return Promise(Linear(budget.epsilon, Fraction(0)))

    def sample(self, data: D, budget: Budget, past: Past[object], noise: Noise) -> Measurement:
        """The statistic under the reduced noise."""
        if self._exact is None:  # once: the path is that of one value, whatever becomes of the data
            self._exact = self._statistic.evaluate(data)
        target = self._target(budget)
        drawn = self._on_demand(target, noise) if self._levels is None else self._from_path(target, noise)
        self._noise, self._level = drawn, target
        return Measurement((self._exact + drawn).astype(np.float64), 2 * (self._statistic.l1 / target) ** 2)

    def facts(self, budget: Budget) -> Mapping[str, Fact]:
        """Statistic, sensitivity and the level reached; refused if a fixed ladder has another one next."""
        statistic, level = self._statistic, self._target(budget)
        return {"statistic": statistic.name, "l1": str(statistic.l1), "level": str(level)}

    @staticmethod
    def rule(line: Recorded) -> Due:
        """A pure ε at every order; that it is what the level rose by is seen from the lines before."""
        return Due(Linear(line.xi, Fraction(0)), pays=lambda budget: budget.epsilon == line.xi)

    def _target(self, budget: Budget) -> Fraction:
        target = self._level + budget.epsilon
        limits.scale(self._statistic.l1 / target)
        _require_rise(self._level, target)
        if self._levels is not None and target != next((level for level in self._levels if level > self._level), None):
            raise InvalidValue(f"ε = {up(target):g} is not the next level of the ladder; take its levels in turn.")
        return target

    def _on_demand(self, target: Fraction, noise: Noise) -> Values:
        rate = target / self._statistic.l1
        if self._noise is None:
            return self._kernel.start(rate, self._statistic.shape, noise)
        return self._kernel.descend(self._noise, self._level / self._statistic.l1, rate, noise)

    def _from_path(self, target: Fraction, noise: Noise) -> Values:
        assert self._levels is not None
        if not self._path:
            finest, *coarser = reversed(self._levels)
            values, high = self._kernel.start(finest / self._statistic.l1, self._statistic.shape, noise), finest
            self._path[finest] = values
            for level in coarser:
                values = self._kernel.rise(values, level / self._statistic.l1, high / self._statistic.l1, noise)
                self._path[level], high = values, level
        return self._path[target]

    __reduce__ = keep_secret


def _require_rise(low: Fraction, high: Fraction) -> None:
    if (high - low) * 2**64 < high:
        raise InvalidValue("the level would rise by less than one part in 2**64; take a larger step.")
