"""Kinds of steps: which sampled Gaussian steps a curve is made of, and how much plain Gaussian noise beside them.

A Rényi curve forgets them. Whoever knows them can state a planned stop by its privacy-loss distribution instead.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

from expost.numerics import add_up

Kind: TypeAlias = tuple[Fraction, Fraction]
"""The rate at which records are drawn and the noise multiplier: a kind of sampled Gaussian step."""


@final
@dataclass(frozen=True, slots=True)
class Kinds:
    """A number of steps of each kind, and the ρ of all plain Gaussian noise, that read the same records.

    Each step of a kind is a kernel applied to a draw of the kind's dominating pair, whatever was released before it.
    """

    sampled: tuple[tuple[Kind, int], ...]
    rho: Fraction

    def __add__(self, other: "Kinds") -> "Kinds":
        """Both on the same records."""
        counts = dict(self.sampled)
        for kind, steps in other.sampled:
            counts[kind] = counts.get(kind, 0) + steps
        return Kinds(tuple(sorted(counts.items())), add_up(self.rho, other.rho))

    def times(self, steps: int) -> "Kinds":
        """The same, this number of times."""
        return Kinds(tuple((kind, count * steps) for kind, count in self.sampled), self.rho * steps)

    def join(self, other: "Kinds") -> "Kinds":
        """The least that either is within."""
        counts = dict(self.sampled)
        for kind, steps in other.sampled:
            counts[kind] = max(counts.get(kind, 0), steps)
        return Kinds(tuple(sorted(counts.items())), max(self.rho, other.rho))

    def within(self, other: "Kinds") -> bool:
        """Whether there is no more of any kind than in the other."""
        counts = dict(other.sampled)
        return self.rho <= other.rho and all(steps <= counts.get(kind, 0) for kind, steps in self.sampled)


NO_STEPS = Kinds((), Fraction(0))


@final
@dataclass(frozen=True, slots=True)
class Sides:
    """The kinds on the two sides of one division of the records, all of them: nothing reads both sides.

    Then the first step already lies in this division, so that no release decides on which side a record is. A step
    that reads other records besides leaves no kinds known: it may have come first, and the division after it.
    """

    train: Kinds
    held: Kinds


Known: TypeAlias = Kinds | Sides
"""The kinds of everything that was spent: for every record alike, or by the side that a record is on."""


def both(left: Known | None, right: Known | None) -> Known | None:
    """The kinds of two curves that add up; None where they are not known."""
    if NO_STEPS in (left, right):
        return right if left == NO_STEPS else left
    return left + right if isinstance(left, Kinds) and isinstance(right, Kinds) else None


def either(left: Known | None, right: Known | None) -> Known | None:
    """Kinds that cover both, whichever was spent, or whichever part of the records a step read."""
    if left is None or right is None:
        return None
    if isinstance(left, Kinds) and isinstance(right, Kinds):
        return left.join(right)
    one, other = sides(left), sides(right)
    return Sides(one.train.join(other.train), one.held.join(other.held))


def divided(train: Known | None, held: Known | None) -> Known | None:
    """The kinds on both sides of a division; None where a side is not known, or is itself divided."""
    return Sides(train, held) if isinstance(train, Kinds) and isinstance(held, Kinds) else None


def repeated(known: Known | None, steps: int) -> Known | None:
    """The kinds of the same curve, this number of times."""
    return known.times(steps) if isinstance(known, Kinds) else None


def stays_within(run: Known | None, plan: Known) -> bool:
    """Whether a run stays within planned kinds on the side that a record is on, without choosing a side by looking."""
    if run is None:
        return False
    ours, theirs = sides(run), sides(plan)
    return ours.train.within(theirs.train) and ours.held.within(theirs.held)


def sides(known: Known) -> Sides:
    """What a record on either side has been read by."""
    return known if isinstance(known, Sides) else Sides(known, known)
