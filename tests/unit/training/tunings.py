"""Configurations to tune whose runs are cheap, and whose price is known."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from expost.noise import Integers, Noise, SeededNoise
from expost.odometer import Odometer
from expost.private import Neighbours, Private
from expost.training.tune import Configuration, tune
from expost.training.tuned import Contest, Tuned
from tests.unit.examples import ADD, people, rehearsal

TWOS = people(*[0] * 40, *[1] * 60, *[2] * 900)
CELLS = 3


@dataclass(frozen=True)
class Commonest:
    """Predicts the code with the highest noisy count; scores the noisy share of held-out records that have it.

    A record moves one count of one part by 1, so integer Laplace noise of scale 1/ε makes a run ε-DP.
    """

    name: str
    epsilon: float
    delta: float = 0.0
    neighbours: Neighbours = ADD
    floating: bool = False

    def run(self, train: Integers, held: Integers, noise: Noise) -> tuple[int, float]:
        scale = 1 / Fraction(self.epsilon)
        counts = np.bincount(train, minlength=CELLS) + noise.discrete_laplace(scale, CELLS)
        code = int(np.argmax(counts))
        right, wrong = np.array([np.sum(held == code), np.sum(held != code)]) + noise.discrete_laplace(scale, 2)
        return code, float(right / max(right + wrong, 1))


@dataclass
class Scored:
    """Returns the next of its scores, and counts and remembers the parts it was given."""

    scores: Sequence[float]
    name: str = "scored"
    epsilon: float = 1.0
    delta: float = 0.0
    neighbours: Neighbours = ADD
    floating: bool = False
    seen: list[tuple[Integers, Integers]] = field(default_factory=list)

    def run(self, train: Integers, held: Integers, noise: Noise) -> tuple[int, float]:
        self.seen.append((train, held))
        return len(self.seen), self.scores[(len(self.seen) - 1) % len(self.scores)]


def tuned(
    configurations: Sequence[Configuration[Integers, int]],
    *,
    data: Private[Integers] = TWOS,
    accuracy: float = 0.8,
    delta: float = 1e-6,
    mean_runs: float = 20.0,
    held: Fraction | float = Fraction(1, 5),
    eta: float = 0.0,
    noise: Noise | None = None,
    odometer: Odometer | None = None,
    on_announced: Callable[[Contest], None] | None = None,
) -> Tuned[int]:
    """A tuning with the usual settings, rehearsed unless told otherwise."""
    return tune(
        data,
        configurations,
        at_least=accuracy,
        delta=delta,
        mean_runs=mean_runs,
        held=held,
        eta=eta,
        noise=SeededNoise(3) if noise is None else noise,
        odometer=rehearsal() if odometer is None else odometer,
        on_announced=on_announced,
    )
