"""Ladders: rules that choose the next budget from what has been released."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Protocol, TypeVar, final

from expost.accounting.claim import Budget, Promise
from expost.errors import InvalidValue
from expost.numerics import Real, order, positive, up
from expost.protocols import Verdict
from expost.release import Past

T_contra = TypeVar("T_contra", contravariant=True)


@final
@dataclass(frozen=True, slots=True)
class Rung:
    """The next step's budget, spent ``times`` times in a row, and whether a check that costs something is asked."""

    budget: Budget
    asked: bool
    times: int = 1

    def __post_init__(self) -> None:
        if self.times < 1:
            raise InvalidValue(f"times is {self.times}; a rung spends its budget at least once.")


class Priced(Protocol):
    """What a rung is spent on, as far as its price goes. Implemented by every mechanism."""

    def promise(self, budget: Budget) -> Promise:
        """What it costs."""


class Planned(Protocol):
    """Rungs that are fixed before the first step. Implemented by Ladder, Strides and, for training, Releases."""

    @property
    def rungs(self) -> tuple[Rung, ...]:
        """Every rung there is, as if none were left out."""


class Selector(Protocol[T_contra]):
    """The rule that chooses ε_i: from released values and verdicts only, None to stop.

    There is a verdict for each rung so far, None where nobody asked. Implemented by Ladder and Strides; any function
    of the same form will do.
    """

    def __call__(self, past: Past[T_contra], verdicts: tuple[Verdict | None, ...]) -> Rung | None:
        """The next rung."""


def rungs_asked(asked: tuple[int, ...] | None, rungs: int) -> frozenset[int]:
    """The rungs that a check is asked about; all but the last unless they were chosen."""
    return frozenset(range(rungs - 1) if asked is None else asked)


@final
@dataclass(frozen=True, slots=True)
class Ladder:
    """Levels of total ε at one order, fixed and public; each rung pays the difference to the one below.

    ``asked`` are the rungs, from 0, that a check is asked about; left out, all but the last, as in the paper, whose
    search returns the last candidate unchecked.
    """

    levels: tuple[Fraction, ...]
    alpha: Fraction
    asked: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", order(self.alpha))
        object.__setattr__(self, "levels", tuple(positive(level, "level") for level in self.levels))
        if not self.levels or any(low >= high for low, high in pairwise(self.levels)):
            raise InvalidValue("the levels of a ladder must increase, and there must be at least one.")
        if self.asked is not None and not set(self.asked) <= set(range(len(self.levels))):
            raise InvalidValue(f"a rung to ask about is not one of the {len(self.levels)}; count them from 0.")

    @classmethod
    def of(cls, levels: Sequence[Real], *, alpha: Real) -> "Ladder":
        """A ladder from ordinary numbers."""
        return cls(tuple(positive(level, "level") for level in levels), order(alpha))

    @classmethod
    def geometric(cls, low: Real, high: Real, rungs: int, *, alpha: Real) -> "Ladder":
        """Levels, ``rungs`` of them, evenly spaced on a log scale, both ends exactly as given."""
        first, last = positive(low, "low"), positive(high, "high")
        if rungs < 1 or (rungs == 1 and first != last):
            raise InvalidValue(f"rungs is {rungs}, too few from {float(first):g} to {float(last):g}; give at least 2.")
        ratio = up(last / first)
        if not math.isfinite(ratio * up(first)):
            raise InvalidValue("the ladder reaches too far for floating point; choose its ends closer together.")
        inner = [Fraction(float(first) * ratio ** (i / (rungs - 1))) for i in range(1, rungs - 1)]
        return cls((first, *inner, last) if rungs > 1 else (first,), order(alpha))

    @property
    def budgets(self) -> tuple[Budget, ...]:
        """What each rung adds to the one below."""
        below = (Fraction(0), *self.levels)
        return tuple(Budget(high - low, self.alpha) for low, high in pairwise(below))

    @property
    def rungs(self) -> tuple[Rung, ...]:
        """A step for each level."""
        return tuple(map(self.rung, range(len(self.levels))))

    def rung(self, place: int) -> Rung:
        """One of them, from 0."""
        below = self.levels[place - 1] if place else Fraction(0)
        asked = place + 1 < len(self.levels) if self.asked is None else place in self.asked
        return Rung(Budget(self.levels[place] - below, self.alpha), asked)

    def __call__(self, past: Past[object], verdicts: tuple[Verdict | None, ...]) -> Rung | None:
        """The next level up."""
        return self.rung(len(past)) if len(past) < len(self.levels) else None


@final
@dataclass(frozen=True, slots=True)
class Strides:
    """A ladder climbed two rungs at a time while the last margin was more than ``far`` standard errors short."""

    ladder: Ladder
    far: float = 4.0

    @property
    def alpha(self) -> Fraction:
        return self.ladder.alpha

    @property
    def levels(self) -> tuple[Fraction, ...]:
        return self.ladder.levels

    @property
    def rungs(self) -> tuple[Rung, ...]:
        """The ladder's, as if no rung were left out."""
        return self.ladder.rungs

    def __call__(self, past: Past[object], verdicts: tuple[Verdict | None, ...]) -> Rung | None:
        """One level up, or two if the target is far."""
        levels = self.ladder.levels
        reached = -1
        for index in range(len(past)):
            reached = min(reached + self._stride(verdicts[max(0, index - 1) : index]), len(levels) - 1)
        if len(past) and reached == len(levels) - 1:
            return None
        target = min(reached + self._stride(verdicts), len(levels) - 1)
        below = levels[reached] if reached >= 0 else Fraction(0)
        return Rung(Budget(levels[target] - below, self.ladder.alpha), self.ladder.rung(target).asked)

    def _stride(self, verdicts: tuple[Verdict | None, ...]) -> int:
        match verdicts[-1:]:
            case (Verdict(margin=float(margin), std=float(std)),) if margin < -self.far * std:
                return 2
        return 1
