"""A training run in public numbers alone: its noisy steps, when it releases, and what it will have cost by then."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import ClassVar, NoReturn, final

from expost.accounting.claim import Budget, Promise, order_statement
from expost.accounting.descent import Descent, chance
from expost.errors import InvalidValue
from expost.ladder import Rung, rungs_asked
from expost.ledger import Fact
from expost.numerics import positive
from expost.private import Neighbours
from expost.protocols import Verdict
from expost.release import Past
from expost.rules import Due, Recorded

CARRIED = "Carried"
"""The name by which a process puts on its record what earlier ones spent; the class itself needs torch."""


@final
@dataclass(frozen=True, slots=True)
class Steps:
    """Steps at one rate and noise, as far as their price goes."""

    descent: Descent

    def promise(self, budget: Budget) -> Promise:
        """What the steps cost that the budget pays for."""
        return self.descent.promise(self.descent.steps(budget))


@final
@dataclass(frozen=True, slots=True)
class ModuleSteps:
    """Steps at one rate and noise, with the clip and the public number of records that the rate rests on.

    A mechanism as far as an audit goes, which has neither the module nor the records.
    """

    descent: Descent
    clip: Fraction
    records: int
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    name: ClassVar[str] = "ModuleDescent"
    floating: ClassVar[bool] = True

    def promise(self, budget: Budget) -> Promise:
        """What the steps cost that the budget pays for."""
        return self.descent.promise(self.descent.steps(budget))

    def facts(self, budget: Budget) -> Mapping[str, Fact]:
        """Steps, rate and noise: enough to recompute the cost; the rate rests on a public number of records."""
        return {
            "steps": self.descent.steps(budget),
            "rate": str(self.descent.rate),
            "noise multiplier": str(self.descent.noise_multiplier),
            "clip": str(self.clip),
            "public number of records": self.records,
            "noise": "floating-point Gaussian",
        }

    def sample(self, data: object, budget: Budget, past: object, noise: object) -> NoReturn:
        """Never: there is no module to train."""
        raise AssertionError("steps in public numbers alone train nothing")

    @staticmethod
    def rule(line: Recorded) -> Due:
        """Steps, rate and noise give the curve."""
        return steps_due(line)


def steps_due(line: Recorded) -> Due:
    """What steps of noisy gradient descent cost at every order, by their number, their rate and their noise.

    Uses: Poisson-subsampled Gaussian.
    """
    descent, steps = Descent(line.fraction("rate"), line.fraction("noise multiplier")), line.whole("steps")
    floating = str(line.facts["noise"]).startswith("floating")
    return Due(descent.promise(steps).curve, floating, lambda budget: descent.steps(budget) == steps)


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
        taken = len(past)
        return self.rungs[taken] if taken < self.schedule.releases else None

    def _rung(self, steps: int, asked: bool) -> Rung:
        size = gcd(steps, self.at_once or steps)
        return Rung(Budget(Fraction(self.descent.step.at(self.alpha)) * size, self.alpha), asked, steps // size)


def release_order(promise: Promise, delta: float) -> Fraction:
    """The order at which a promise is stated as the least ε: where checks are calibrated, and steps counted.

    Implements: five-step calibration.
    """
    return Fraction(order_statement(promise, delta)[1])
