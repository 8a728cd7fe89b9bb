"""A linear head in closed form: softmax regression on fixed features by noisy gradient descent."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from expost.accounting.claim import Budget, Promise
from expost.accounting.descent import MOST_ENTRIES, Descent
from expost.errors import InvalidValue
from expost.ledger import Fact
from expost.noise import Integers, Noise
from expost.norms import row_norms
from expost.numerics import positive
from expost.private import Neighbours
from expost.release import Past
from expost.rules import Due, Recorded
from expost.training.head.arrays import Array, Arrays, InNumpy
from expost.training.head.gradient import IntegerSums, Summation
from expost.training.head.labelled import Features, Labelled
from expost.training.head.optimizer import Adam, Optimizer
from expost.training.schedule import steps_due

Told: TypeAlias = Callable[[int, int], None]
Seen: TypeAlias = Callable[[Features], Features]
Block: TypeAlias = tuple[NDArray[np.bool_], NDArray[np.floating[Any]]]

BLOCK = 16
"""Steps whose noise and coins are drawn together: draws cost less in bulk."""
SMALLEST_CLIP = 1e-6
"""Below this, and above its inverse, squares would leave the single precision that lengths are taken in."""
TOGETHER = 64
"""Records that are prepared at a time: they stay in the processor's cache."""
LARGEST = 2.0**40
"""Features are cut here, so that a record's norm stays finite in single precision."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """Weights after some steps, one row per class and the bias last, and the optimiser's memory: all released."""

    weights: NDArray[np.float64]
    moments: tuple[NDArray[np.float64], ...]
    steps: int


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Head:
    """Noisy gradient steps on softmax regression, from zero weights; a budget buys as many as it pays for.

    Each step a record joins by its own coin, its gradient is clipped to norm ``clip``, noise goes on the sum, and the
    public expected ``batch`` divides it: never the number of records that joined. Where ``neighbours`` differ in a
    person, a person joins by one coin, and the sum of that person's gradients is clipped. The learning rate is
    multiplied by ``drop`` once ``drop_after`` steps are taken. ``told`` hears the steps taken and to be taken.

    Implements: noisy gradient descent.
    Uses: Poisson-subsampled Gaussian; sampled sums with integer noise.
    """

    width: int
    classes: int
    descent: Descent
    clip: float = 1.0
    batch: float = 64.0
    optimizer: Optimizer = field(default_factory=Adam)
    summation: Summation = field(default_factory=IntegerSums)
    arrays: Arrays = field(default_factory=InNumpy)
    drop: float = 0.1
    drop_after: int | None = None
    told: Told | None = None
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    name: ClassVar[str] = "Head"

    def __post_init__(self) -> None:
        require_sampled(self.neighbours)
        if not SMALLEST_CLIP <= self.clip <= 1 / SMALLEST_CLIP:
            raise InvalidValue(f"clip is {self.clip:g}; choose it between {SMALLEST_CLIP:g} and {1 / SMALLEST_CLIP:g}.")
        positive(self.batch, "batch")
        if self.classes * (self.width + 1) > MOST_ENTRIES:
            raise InvalidValue(f"a head of {self.classes} classes and {self.width} features is too large; use fewer.")

    @property
    def floating(self) -> bool:
        """Whether the noise is drawn in floating point."""
        return self.summation.floating

    def promise(self, budget: Budget) -> Promise:
        """What the steps cost that the budget pays for."""
        return self.descent.promise(self.descent.steps(budget))

    def facts(self, budget: Budget) -> Mapping[str, Fact]:
        """Steps, rate and noise: enough to recompute the cost."""
        return {
            "steps": self.descent.steps(budget),
            "rate": str(self.descent.rate),
            "noise multiplier": str(self.descent.noise_multiplier),
            "noise": "floating-point Gaussian" if self.floating else "exact discrete Gaussian",
        }

    @staticmethod
    def rule(line: Recorded) -> Due:
        """Steps, rate and noise give the curve."""
        return steps_due(line)

    def sample(self, data: Labelled, budget: Budget, past: Past[Trained], noise: Noise) -> Trained:
        """Go on from the last release for as many steps as the budget pays for."""
        before = None if past.newest is None else past.newest.value
        return self.train(data, self.descent.steps(budget), before, noise)

    def train(
        self, data: Labelled, steps: int, before: Trained | None, noise: Noise, seen: Seen = np.asarray
    ) -> Trained:
        """Go on from released weights, or from zero, for this many steps.

        Features are ``seen`` as this function makes them of each row by itself.
        """
        data.require(self.neighbours)
        # Products this small gain nothing from several threads, which wait for each other on busy cores. A warning
        # about an overflow would tell of a record.
        with _threads().limit(limits=1), np.errstate(all="ignore"):
            run, taken = _Run(self, data, before, seen), 0
            for coins, draws in self._ahead(steps, len(data), noise):
                run.take(coins, draws)
                taken += len(coins)
                if self.told is not None:
                    self.told(taken, steps)
            return run.trained()

    def _ahead(self, steps: int, records: int, noise: Noise) -> Iterator[Block]:
        """Coins and noise of all steps, a block at a time; another thread draws the next one, if any, meanwhile."""

        def draw(count: int) -> Block:
            coins = noise.coins(self.descent.rate, count * records).reshape(count, records)
            shape = (count, self.classes, self.width + 1)
            return coins, self.summation.noise(self.descent.noise_multiplier, shape, noise)

        counts = [min(BLOCK, steps - start) for start in range(0, steps, BLOCK)]
        block = draw(counts[0])
        with ThreadPoolExecutor(1) as other:
            for count in counts[1:]:
                drawn = other.submit(draw, count)
                yield block
                block = drawn.result()
            yield block


def require_sampled(neighbours: Neighbours) -> None:
    """Refuse neighbours that replace one another: a step on a sample is priced for those that add or remove one."""
    if neighbours.replaces:
        raise InvalidValue("steps on samples have no price for neighbours that replace a record; add or remove one.")


@cache
def _threads() -> ThreadpoolController:
    """The libraries that compute in threads, looked for once: looking takes longer than a few steps."""
    return ThreadpoolController()


@final
class _Run:
    """The arrays of one stretch of training."""

    def __init__(self, head: Head, data: Labelled, before: Trained | None, seen: Seen = np.asarray) -> None:
        self._head, self._xp = head, head.arrays.functions
        kind, put = np.float32 if head.floating else np.float64, head.arrays.put
        size = len(data.labels)
        truth, norms = np.zeros((size, head.classes), np.int8), np.empty((1, size), kind)
        truth[np.arange(size), data.labels] = 1
        for start in range(0, max(size, 1), TOGETHER):
            features = np.clip(seen(data.features[start : start + TOGETHER]), -LARGEST, LARGEST).astype(kind)
            longer = np.concatenate([features, np.ones((len(features), 1), kind)], axis=1)
            norms[0, start : start + TOGETHER] = lengths = row_norms(longer)
            some = head.summation.prepare(put(longer), put(lengths.astype(kind)[:, None]), head.arrays)
            if start == 0:
                self._rows = self._xp.empty((size, head.width + 1), dtype=some.dtype, device=some.device)
            self._rows[start : start + TOGETHER] = some
        self._truth, self._norms, self._size, self._people = put(truth), put(norms), size, data.people
        self._shape = (head.classes, head.width + 1)
        blank = [np.zeros(self._shape)] * (1 + head.optimizer.moments)
        arrays = blank if before is None else [before.weights, *before.moments]
        self._weights, *self._moments = (put(array.astype(np.float32)) for array in arrays)
        self._steps = 0 if before is None else before.steps

    def take(self, coins: NDArray[np.bool_], draws: NDArray[np.floating[Any]]) -> None:
        """A step for each row of coins, with its noise."""
        noise = self._head.arrays.put(draws)
        for place, each in enumerate(coins):
            self._move(np.flatnonzero(each), noise[place])

    def _move(self, joined: Integers, noise: Array) -> None:
        """One step: ``noise`` becomes the noisy sum, then the gradient."""
        head, xp = self._head, self._xp
        for places in self._some(joined if self._people is None else self._people.alone(joined)):
            rows, norms, truth, scores = self._taken(places)
            pulls = head.summation.pulls(scores, norms, truth, head.clip, xp)
            noise += head.summation.total(pulls, rows, head.arrays)
        if self._people is not None:
            for size, places in self._people.alike(joined, lambda size: (size + head.classes) * (head.width + 1)):
                rows, norms, truth, scores = self._taken(places)
                noise += head.summation.together(
                    scores, norms, truth, rows, size=size, clip=head.clip, arrays=head.arrays
                )
        gradient = xp.asarray(noise * (head.clip / (head.summation.reach * head.batch)), dtype=xp.float32)
        self._steps += 1
        slow = head.drop_after is not None and self._steps > head.drop_after
        rate = head.optimizer.learning_rate * (head.drop if slow else 1.0)
        head.optimizer.move(self._weights, gradient, self._moments, rate=rate, step=self._steps, xp=xp)

    def _some(self, places: Integers) -> Iterator[Integers]:
        """These places, few at a time where their sums are exact, and so the same in whatever groups."""
        step = self._size if self._head.floating else self._head.arrays.at_once // max(self._shape)
        for start in range(0, max(len(places), 1), max(step, 1)):
            yield places[start : start + max(step, 1)]

    def _taken(self, places: Integers) -> tuple[Array, Array, Array, Array]:
        """Prepared features, norms, truth and scores of the rows at these places."""
        chosen = self._head.arrays.put(places)
        if len(places) and places[-1] - places[0] == len(places) - 1 and self._people is None:
            chosen = slice(places[0], places[-1] + 1)  # a stretch of rows is not copied
        rows, norms, truth = self._rows[chosen], self._norms[:, chosen], self._truth[chosen]
        return rows, norms, truth.T, self._head.summation.scores(self._weights, rows, self._head.arrays)

    def trained(self) -> Trained:
        """What is released."""
        weights, *moments = (
            self._head.arrays.get(array).astype(np.float64) for array in (self._weights, *self._moments)
        )
        return Trained(weights, tuple(moments), self._steps)
