"""Optimisers: how a noisy gradient moves the weights. They see released values only."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, final

from expost.numerics import positive
from expost.training.head.arrays import Array


class Optimizer(Protocol):
    """A rule that moves weights in place. Implemented by Adam and Momentum."""

    @property
    def learning_rate(self) -> float:
        """The size of a step before any drop."""
        ...

    @property
    def moments(self) -> int:
        """How many arrays like the weights it remembers, zero at first."""
        ...

    def move(
        self, weights: Array, gradient: Array, moments: Sequence[Array], *, rate: float, step: int, xp: Any
    ) -> None:
        """Change weights and moments in place; ``step`` counts from 1."""
        ...


@final
@dataclass(frozen=True, slots=True)
class Adam:
    """Kingma and Ba's, with bias correction: the scale of the gradient does not matter."""

    learning_rate: float = 0.05
    first: float = 0.9
    second: float = 0.999
    stabiliser: float = 1e-8
    moments: ClassVar[int] = 2

    def __post_init__(self) -> None:
        positive(self.learning_rate, "learning_rate")

    def move(
        self, weights: Array, gradient: Array, moments: Sequence[Array], *, rate: float, step: int, xp: Any
    ) -> None:
        """One step along the mean over the root of the mean square."""
        mean, square = moments
        mean *= self.first
        mean += (1 - self.first) * gradient
        square *= self.second
        gradient *= gradient
        gradient *= 1 - self.second
        square += gradient
        scale = xp.sqrt(square)
        scale *= 1 / math.sqrt(1 - self.second**step)
        scale += self.stabiliser
        weights -= (rate / (1 - self.first**step)) * (mean / scale)


@final
@dataclass(frozen=True, slots=True)
class Momentum:
    """Stochastic gradient descent with momentum; its steps scale with the gradient."""

    learning_rate: float = 0.5
    momentum: float = 0.9
    moments: ClassVar[int] = 1

    def __post_init__(self) -> None:
        positive(self.learning_rate, "learning_rate")

    def move(
        self, weights: Array, gradient: Array, moments: Sequence[Array], *, rate: float, step: int, xp: Any
    ) -> None:
        """One step along the decaying sum of gradients."""
        (velocity,) = moments
        velocity *= self.momentum
        velocity += gradient
        weights -= rate * velocity
