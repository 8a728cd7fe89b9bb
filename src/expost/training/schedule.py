"""When a training run releases, and what it will have cost by then."""

from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import final

from expost.accounting.claim import Budget, Promise, order_statement
from expost.accounting.descent import Descent, chance
from expost.errors import InvalidValue
from expost.ladder import Rung, rungs_asked
from expost.numerics import positive
from expost.protocols import Verdict
from expost.release import Past


@final
@dataclass(frozen=True, slots=True)
class Epsilon:
    """The ε of an (ε, δ) statement, as a wish."""

    value: float

    def __post_init__(self) -> None:
        positive(self.value, "epsilon")


def epoch(rate: Fraction) -> int:
    """The steps of an epoch: after them each record has joined once on average."""
    return round(1 / chance(rate))


@final
@dataclass(frozen=True, slots=True)
class Schedule:
    """How often a training run releases: steps before the first release, steps between releases, and their number."""

    first: int
    between: int
    releases: int

    def __post_init__(self) -> None:
        if self.releases < 1:
            raise InvalidValue(f"releases is {self.releases}; plan at least one.")
        if self.first < 1 or (self.releases > 1 and self.between < 1):
            raise InvalidValue(
                "more releases than training steps are planned; train for at least one step per release."
            )

    @classmethod
    def of_epochs(cls, first: int, between: int, releases: int, *, rate: Fraction) -> "Schedule":
        """The same in epochs, each of as many steps as bring a record once on average."""
        if first < 1 or (releases > 1 and between < 1):
            raise InvalidValue("more releases than epochs are planned; train for at least one epoch per release.")
        return cls(first * epoch(rate), between * epoch(rate), releases)

    @property
    def steps(self) -> tuple[int, ...]:
        """Steps taken by each release."""
        return tuple(self.first + self.between * place for place in range(self.releases))


@final
@dataclass(frozen=True, slots=True)
class Releases:
    """A schedule as rungs of a search: each rung buys the steps up to its release, ``at_once`` of them a budget.

    What is bought at once is on record, and billed in full, before its first step runs. ``asked`` are the releases,
    from 0, that a check is asked about; left out, all but the last.
    """

    schedule: Schedule
    descent: Descent
    alpha: Fraction
    at_once: int | None = None
    asked: tuple[int, ...] | None = None

    @property
    def rungs(self) -> tuple[Rung, ...]:
        """A rung for each release."""
        stretches = [self.schedule.first] + [self.schedule.between] * (self.schedule.releases - 1)
        asked = rungs_asked(self.asked, len(stretches))
        return tuple(self._rung(steps, place in asked) for place, steps in enumerate(stretches))

    def __call__(self, past: Past[object], verdicts: tuple[Verdict | None, ...]) -> Rung | None:
        """The next release."""
        taken = len(past.steps)
        return self.rungs[taken] if taken < self.schedule.releases else None

    def _rung(self, steps: int, asked: bool) -> Rung:
        size = gcd(steps, self.at_once or steps)
        return Rung(Budget(Fraction(self.descent.step.at(self.alpha)) * size, self.alpha), asked, steps // size)


def release_order(promise: Promise, delta: float) -> Fraction:
    """The order at which a promise is stated as the least ε: where checks are calibrated, and steps counted.

    Implements: five-step calibration.
    """
    return Fraction(order_statement(promise, delta)[1])
