"""Patience: a ladder is climbed no further once its answers have stopped rising; a rule on released values alone."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from expost.checks.question import as_typed
from expost.errors import InvalidValue
from expost.numerics import Real
from expost.protocols import Verdict

SURE = 1.2815515655446004
"""Standard errors that noise alone exceeds in one of ten comparisons: so often a flat ladder is climbed on."""
HIDDEN = 0.004
"""The largest gain per look that noise may hide where something is decided.

A ladder that rises by a point with each look is then taken for flat in fewer than one of ten runs.
"""


@final
@dataclass(frozen=True, slots=True)
class Patience:
    """How many looks may bring less than ``min_gain`` together, a share of the held-out records, before a run ends."""

    looks: int = 2
    min_gain: Fraction = Fraction(1, 200)

    def __post_init__(self) -> None:
        object.__setattr__(self, "min_gain", as_typed(self.min_gain, "min_gain"))
        if self.looks < 1 or self.looks != int(self.looks):
            raise InvalidValue(f"patience is {self.looks}; give a whole number of looks, or 0 to climb every rung.")
        if not 0 <= self.min_gain < 1:
            raise InvalidValue(f"min_gain is {float(self.min_gain):g}; give a share from 0 up to but not including 1.")

    @classmethod
    def of(cls, looks: int, min_gain: Real) -> "Patience | None":
        """Patience as a person says it: with 0 looks there is none, and every rung is climbed."""
        return cls(looks, as_typed(min_gain, "min_gain")) if looks else None

    def compared(self, verdicts: tuple[Verdict | None, ...]) -> tuple[int, int] | None:
        """The rungs, from 0, whose answers say whether the last looks brought a gain; None where there are none yet."""
        told = [place for place, verdict in enumerate(verdicts) if verdict is not None and verdict.answer is not None]
        if len(told) <= self.looks or told[-1] < len(verdicts) - 1:
            return None
        return told[-1 - self.looks], told[-1]


@final
@dataclass(frozen=True, slots=True)
class Plateau:
    """Whether a run has stopped rising, from its answers and from what was known before the first of them.

    ``guards`` are the least margins that pass, planned for every rung; ``held`` is about how many records were held
    out. ``settled`` says of each rung whether noise is small in what candidates are made from: before that an accuracy
    may rest at guessing and jump later. Three things must hold. The gain is below the least one or, where that could
    not be told from noise, below what noise alone exceeds in one of ten comparisons; noise that would hide more than
    ``HIDDEN`` decides nothing. No look ahead would pass a candidate that is as good as the two compared. And the rungs
    had settled by the first of them.

    Uses: post-processing immunity; planned stops.
    """

    patience: Patience
    guards: tuple[float | None, ...]
    held: float
    settled: tuple[bool, ...]

    def __call__(self, verdicts: tuple[Verdict | None, ...]) -> bool:
        """Whether the run ends with the last of these verdicts, one for each rung so far."""
        places = self.patience.compared(verdicts)
        if places is None or not self.settled[places[0]]:
            return False
        (before, first), (now, last) = (_answer(verdicts[place]) for place in places)
        records, noise = max(1.0, self.held), SURE * math.hypot(first, last)
        if not noise <= HIDDEN * self.patience.looks * records:
            return False
        ahead = (guard for guard in self.guards[len(verdicts) :] if guard is not None)
        level, spread = _mean(before, first, now, last)
        risen = now - before >= max(float(self.patience.min_gain) * records, noise)
        return not risen and level + SURE * spread < min(ahead, default=math.inf)


def _answer(verdict: Verdict | None) -> tuple[float, float]:
    """The noisy margin and its standard error, in records."""
    assert verdict is not None and verdict.answer is not None  # rungs are compared by their answers
    return verdict.answer


def _mean(one: float, std: float, other: float, other_std: float) -> tuple[float, float]:
    """Two margins as one, each weighted by its precision, and the standard error of that."""
    weight, other_weight = std**-2, other_std**-2
    total = weight + other_weight
    return (weight * one + other_weight * other) / total, 1 / math.sqrt(total)
