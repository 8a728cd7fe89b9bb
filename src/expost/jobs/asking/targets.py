"""Targets: how precise an answer is to be, or what is to be decided, and whether error bars already say so."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from expost.errors import InvalidValue
from expost.jobs.asking.estimates import Bars
from expost.noise import Floats
from expost.numerics import Real, exact, positive
from expost.text import number_typed

Flags: TypeAlias = NDArray[np.bool_]
SHOWN = 20
"""Characters of what was typed that a message repeats."""
LARGEST = 1e100
"""No number of a table comes near it, and its square is still a number."""
FINEST = Fraction(1, 10**9)
"""The smallest share of a truth, and of how far apart answers can be: noise hides all that is finer."""
LISTED = 6
"""Groups that a message names."""


@final
@dataclass(frozen=True, slots=True)
class WithinDistance:
    """Every answer within a distance of the truth."""

    distance: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "distance", positive(_bounded(self.distance, "within"), "within"))

    def __str__(self) -> str:
        return f"within {_plain(self.distance)}"


@final
@dataclass(frozen=True, slots=True)
class WithinShare:
    """Every answer within a share of the truth, or ``of_total`` within that share of the sum over all groups."""

    share: Fraction
    of_total: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "share", positive(self.share, "within"))
        if self.share < FINEST:
            raise InvalidValue(
                f"within is finer than {_plain(100 * FINEST)} %, which no answer is; ask for less precision."
            )
        if self.share >= 1:
            raise InvalidValue(f"within is {_plain(100 * self.share)} %; a share of the truth is below 100 %.")

    def __str__(self) -> str:
        return f"within {_plain(100 * self.share)} %{' of the total' if self.of_total else ''}"


Precision: TypeAlias = WithinDistance | WithinShare


@final
@dataclass(frozen=True, slots=True)
class Above:
    """Which groups are above a threshold."""

    threshold: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", _bounded(self.threshold, "above"))

    def __str__(self) -> str:
        return f"above {_plain(self.threshold)} or not"


@final
@dataclass(frozen=True, slots=True)
class Top:
    """Which groups are the largest."""

    number: int

    def __post_init__(self) -> None:
        if type(self.number) is not int or self.number < 1:
            raise InvalidValue(f"top is {self.number}; ask for a whole number of groups, at least one.")

    def __str__(self) -> str:
        return f"the top {self.number}"


@final
@dataclass(frozen=True, slots=True)
class Compare:
    """Which of two groups is larger, by their labels."""

    first: str
    second: str

    def __post_init__(self) -> None:
        if self.first == self.second:
            raise InvalidValue(f"{self.first} is compared with itself; name two groups.")

    def __str__(self) -> str:
        return f"whether {self.first} or {self.second} is larger"


Decision: TypeAlias = Above | Top | Compare
Target: TypeAlias = Precision | Decision


def precision_typed(text: str, *, of_total: bool = False) -> Precision:
    """A precision as a person types it: a number, or a share with a percent sign."""
    trimmed = text.strip()
    try:
        number = number_typed(trimmed.removesuffix("%").strip().replace(",", "") if "%" in trimmed else trimmed)
    except (ValueError, ZeroDivisionError):
        raise InvalidValue(f"within is {text[:SHOWN]}; write a distance such as 50, or a share such as 5%.") from None
    if trimmed.endswith("%"):
        return WithinShare(number / 100, of_total)
    if of_total:
        raise InvalidValue(f"within is {text}, which is not a share; write for example 5% of the total.")
    return WithinDistance(number)


def precision_of(given: "Precision | Real | str") -> Precision:
    """A precision from what a caller of Python writes: a number is a distance, a text is read."""
    if isinstance(given, WithinDistance | WithinShare):
        return given
    return precision_typed(given) if isinstance(given, str) else WithinDistance(positive(given, "within"))


def precise(target: Precision, bars: Bars) -> Flags:
    """The groups whose error bars are short enough, wherever between their ends the truth is."""
    far = np.maximum(bars.high - bars.point, bars.point - bars.low)
    if isinstance(target, WithinDistance):
        return np.asarray(far <= float(target.distance) * (1 + 1e-12))
    share = float(target.share) * (1 + 1e-12)
    if target.of_total:
        # Not the sum of absolute values: noise alone would make that large where there are many groups.
        total = abs(float(bars.point.sum())) - math.sqrt(len(far)) * float(far.max(initial=0.0))
        return np.asarray(far <= share * max(total, 0.0))
    return np.asarray(far <= share * _least(bars))


def _least(bars: Bars) -> Floats:
    """How far from 0 each truth is at least."""
    return np.where(bars.low > 0, bars.low, np.where(bars.high < 0, -bars.high, 0.0))


def nearer_middles(target: Target, bars: Bars) -> Bars:
    """The same error bars, with numbers that were too far from one end moved until both are near.

    Ends of a mean, a share or a quantile may lie at different distances, so that a bar can be short enough although
    its number is too far from one of them. What is moved was released, and stays between its ends.
    """
    if isinstance(target, WithinDistance):
        distance: float | Floats = float(target.distance)
    elif isinstance(target, WithinShare) and not target.of_total:
        distance = float(target.share) * _least(bars)
    else:
        return bars
    short = bars.high - bars.low <= 2 * distance
    moved = np.clip(bars.point, bars.high - distance, np.maximum(bars.low + distance, bars.high - distance))
    return replace(bars, point=np.where(short, moved, bars.point))


def too_small(bars: Bars, size: float) -> Flags:
    """The groups of fewer rows than this, for which a share of the truth is out of reach; none where it is 0."""
    return np.asarray(np.maximum(bars.high_rows, 0.0) < size)


def decided(target: Decision, bars: Bars, labels: tuple[str, ...]) -> Flags:
    """The groups of which it is decided, because bars do not overlap."""
    match target:
        case Above(threshold):
            return np.asarray((bars.low > float(threshold)) | (bars.high <= float(threshold)))
        case Compare(first, second):
            one, other = labels.index(first), labels.index(second)
            flags = np.ones(len(labels), dtype=np.bool_)
            flags[[one, other]] = bars.low[one] > bars.high[other] or bars.low[other] > bars.high[one]
            return flags
        case Top(number):
            beyond = (bars.low[None, :] > bars.high[:, None]).sum(axis=1)  # groups that are larger for sure
            rivals = (bars.high[None, :] >= bars.low[:, None]).sum(axis=1) - 1  # and those that may be, without itself
            return np.asarray((beyond >= number) | (rivals < number))


def comparisons(target: Decision, groups: int) -> int:
    """How many comparisons a decision rests on: of two groups, or of each with the threshold."""
    match target:
        case Above():
            return groups
        case Compare():
            return 1
        case Top():
            return groups * (groups - 1) // 2


def require_groups(target: Decision, labels: tuple[str, ...]) -> None:
    """Refuse a decision that the groups leave nothing of."""
    if isinstance(target, Compare):
        for each in (target.first, target.second):
            if each not in labels:
                raise InvalidValue(f"there is no group {each}; compare two of {', '.join(labels[:LISTED])}.")
            if labels.count(each) > 1:
                raise InvalidValue(f"several groups are called {each}; compare two by names that no other group has.")
    if isinstance(target, Top) and target.number >= len(labels):
        raise InvalidValue(f"top is {target.number} of {len(labels)} groups; ask for fewer than there are.")


def _bounded(number: Real, name: str) -> Fraction:
    """The same number, refused where it is larger than all that can be counted."""
    found = exact(number, name)
    if abs(found) > LARGEST:
        raise InvalidValue(f"{name} lies beyond ± {LARGEST:.0e}; no answer is so large.")
    return found


def _plain(number: Fraction) -> str:
    return f"{float(number):,.10g}"
