"""Confidence: how far a noisy margin must lie above the target before a candidate passes."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Never, final

from scipy.special import betaincinv, ndtri

from expost.accounting.convert import ROUNDING
from expost.accounting.tails import lattice_tail, sparse_vector_tail
from expost.checks.question import Question, as_typed
from expost.errors import InvalidValue, SpentCheck
from expost.ledger import Fact
from expost.numerics import Real, up

FARTHEST = 2**16
"""Standard errors at which a guard is given up: no tail is lighter there, only lost in rounding."""

NARROW = 0.01
"""A guard of at most one percentage point is always worth a look."""

FINEST = 2
"""So is one of at most this many times the last rung's."""


@final
@dataclass(frozen=True, slots=True)
class Confidence:
    """How sure a pass is: with probability ``level`` no candidate that is truly below the target passes in a run.

    Each of at most ``looks`` questions errs with probability 1 − level^(1/looks) at most, given all that was released
    before it, because its noise is fresh. So none errs with probability at least ``level``, whatever rule made the
    candidates. "Truly" is about the held-out records themselves, not about those they were drawn from. The guard is
    public and fixed before the data is read, so it changes no price.

    Implements: confident checks.
    Uses: tail of exact integer noise; tail of the sparse vector.
    """

    level: Fraction
    looks: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", confidence_level(self.level))
        object.__setattr__(self, "looks", int(self.looks))
        if self.looks < 1:
            raise InvalidValue(f"looks is {self.looks}; plan at least one look at the held-out records.")

    @classmethod
    def of(cls, level: Real, *, looks: int) -> "Confidence":
        """A confidence from ordinary numbers; the level is read as the decimal that was typed."""
        return cls(confidence_level(level), looks)

    @property
    def share(self) -> float:
        """The chance that one look may err, rounded down."""
        return -math.expm1(math.log(up(self.level)) / self.looks) * (1 - 4 * ROUNDING)

    @property
    def width(self) -> float:
        """All answers of a run lie within this many standard errors of the truth at once, with this confidence."""
        return float(ndtri((1 + float(self.level) ** (1 / self.looks)) / 2))

    def guard(self, variance: Fraction) -> int:
        """The least margin that passes, in the question's units, under Gaussian noise of this variance.

        A candidate below the target is below it by at least one unit.
        """
        share, spread = self.share, math.sqrt(up(variance))
        return _least(lambda guard: lattice_tail(variance, guard + 1) <= share, spread)

    def threshold_guard(self, variance: Fraction, scale: Fraction) -> int:
        """The same for a sparse vector, whose threshold noise all looks share."""
        allowed, spread = up(1 - self.level) * (1 - 4 * ROUNDING), math.sqrt(up(variance + 2 * scale**2))
        return _least(lambda guard: sparse_vector_tail(variance, scale, guard + 1, self.looks) <= allowed, spread)


def confidence_level(level: Real) -> Fraction:
    """The level as the decimal that was typed, refused unless it lies between 1/2 and 1."""
    typed = as_typed(level, "confidence")
    if not Fraction(1, 2) <= typed < 1:
        raise InvalidValue(
            f"confidence is {float(typed):g}; give a probability from 0.5 up to but not including 1, such as 0.95."
        )
    return typed


def population_bound(threshold: Fraction, held: float, share: float) -> float:
    """The least accuracy among those that ``held`` records were drawn from, if on the records it is the threshold.

    An accuracy below this one would give as many right records with probability ``share`` at most (Clopper and
    Pearson 1934).
    """
    right = math.ceil(threshold * max(1, math.floor(held)))
    return float(betaincinv(right, max(1, math.floor(held)) - right + 1, share))


def confidence_facts(confidence: Confidence | None) -> Mapping[str, Fact]:
    """What goes on record of a confidence: its level and the looks it is for, nothing for the paper's check."""
    return {} if confidence is None else {"confidence": str(confidence.level), "looks": confidence.looks}


def require_planned(index: int, confidence: Confidence | None) -> None:
    """Refuse a look that the confidence was not planned for."""
    if confidence is not None and index >= confidence.looks:
        raise SpentCheck(f"the confidence is for {confidence.looks} looks, which have been taken; plan more of them.")


def worth_asking(
    trained: Sequence[Fraction], question: Question[Never, Never], level: Fraction, held: float | None
) -> tuple[int, ...]:
    """The rungs of a ladder with balanced checks that are worth a look, from 0; the last one always is.

    ``trained`` is the ρ spent by each rung, ``held`` about how many records are held out, if that is public. The look
    with the widest guard is left out until every guard is at most one percentage point or twice the last one: what it
    would have spent a later look may, and fewer looks need smaller guards. Where the number is not public every rung
    is asked about.
    """
    asked, reach = list(range(len(trained))), question.sensitivity / question.unit
    while held is not None and len(asked) > 1:
        before = [Fraction(0), *(trained[place] for place in asked[:-1])]
        quantile = -float(ndtri(Confidence(level, len(asked)).share))
        spent = [trained[now] - then for now, then in zip(asked, before, strict=True)]
        guards = [quantile * reach / math.sqrt(2 * rho) for rho in spent]
        widest = max(range(len(asked) - 1), key=guards.__getitem__)
        if guards[widest] <= max(NARROW * held, FINEST * guards[-1]):
            break
        del asked[widest]
    return tuple(asked)


def _least(holds: Callable[[int], bool], step: float) -> int:
    """The least number from 0 on for which ``holds``, which stays true once it is; refused if that is too far."""
    low, high = -1, max(1, math.ceil(step))
    while not holds(high):
        low, high = high, 2 * high
        if high > FARTHEST * max(1, step):
            raise InvalidValue(
                "no guard is wide enough in floating point; ask for less confidence, or plan fewer looks."
            )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
