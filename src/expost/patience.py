"""Patience: a ladder is climbed no further once its answers have stopped rising; a rule on released values alone."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from expost.checks.question import as_typed
from expost.errors import InvalidValue
from expost.numerics import Real
from expost.protocols import Verdict

SURE = 1.2815515655446004
"""Standard errors that noise alone exceeds in one of ten comparisons: so often a flat ladder is climbed on."""
LINE = 2
"""Standard errors of what answers lead to: a ladder of seven rungs that rises evenly until it passes is taken for flat
in fewer than one of ten runs."""
HIDDEN = 0.004
"""The largest gain per look that noise may hide where something is decided.

A ladder that rises by a point with each look is then taken for flat in fewer than one of ten runs.
"""


EXTREME = 1e100
"""Numbers beyond this, and standard errors below one over it, are in forged receipts only, and decide nothing."""


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

    def may_end(self, asked: Sequence[bool]) -> bool:
        """Whether a run may end early at all, by which of its rungs are asked about: nothing is left after the last."""
        return sum(asked[:-1]) > self.looks

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
    not be told from noise, below what noise alone exceeds in one of ten comparisons. No look ahead would pass a
    candidate that is as good as the two compared or, where noise may hide a gain of more than ``HIDDEN`` a look, one on
    the straight line through all answers. And the rungs had settled by the first of them.

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
        told = [(place, *each.answer) for place, each in enumerate(verdicts) if each is not None and each.answer]
        if not all(abs(margin) < EXTREME and 1 / EXTREME < std < EXTREME for _, margin, std in told):
            return False
        (before, first), (now, last) = ((margin, std) for place, margin, std in told if place in places)
        records, noise = max(1.0, self.held), SURE * math.hypot(first, last)
        if now - before >= max(float(self.patience.min_gain) * records, noise):
            return False
        level, spread = _mean(before, first, now, last)
        ahead = [
            (place, guard) for place, guard in enumerate(self.guards) if place >= len(verdicts) and guard is not None
        ]
        if not level + SURE * spread < min((guard for _, guard in ahead), default=math.inf):
            return False
        return self._tells(first, last) or self._out_of_reach(told, ahead)

    def decides(self, stds: Sequence[float | None]) -> int | None:
        """The first rung, from 0, whose answer can end a run wherever it lies; ``stds`` are those of planned looks.

        None where noise may hide too much on each rung but the last, behind which none is left.
        """
        asked = [(place, std) for place, std in enumerate(stds) if std is not None]
        for (first, before), (last, now) in zip(asked, asked[self.patience.looks :], strict=False):
            if self.settled[first] and self._tells(before, now):
                return last if last < len(stds) - 1 else None
        return None

    def _tells(self, before: float, now: float) -> bool:
        """Whether noise of two answers may hide no more than ``HIDDEN`` a look."""
        return SURE * math.hypot(before, now) <= HIDDEN * self.patience.looks * max(1.0, self.held)

    def _out_of_reach(self, told: list[tuple[int, float, float]], ahead: list[tuple[int, float]]) -> bool:
        """Whether no look ahead would pass a candidate on the line through all answers since the counts settled."""
        settled = [each for each in told if self.settled[each[0]]]
        return bool(ahead) and all(_line_at(place, settled) < guard for place, guard in ahead)


def _mean(one: float, std: float, other: float, other_std: float) -> tuple[float, float]:
    """Two margins as one, each weighted by its precision, and the standard error of that."""
    weight, other_weight = std**-2, other_std**-2
    total = weight + other_weight
    return (weight * one + other_weight * other) / total, 1 / math.sqrt(total)


def _line_at(place: int, told: list[tuple[int, float, float]]) -> float:
    """The straight line through these margins at a place, and ``LINE`` times the standard error of that."""
    total = math.fsum(std**-2 for _, _, std in told)
    centre = math.fsum(at * std**-2 for at, _, std in told) / total
    level = math.fsum(margin * std**-2 for _, margin, std in told) / total
    length = math.fsum((at - centre) ** 2 * std**-2 for at, _, std in told)
    slope = math.fsum((at - centre) * margin * std**-2 for at, margin, std in told) / length
    return level + slope * (place - centre) + LINE * math.sqrt(1 / total + (place - centre) ** 2 / length)
