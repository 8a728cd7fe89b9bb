"""What a tuning returns and puts on record, and what was public about it: enough to state it without the data."""

import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Generic, TypeVar, final

from expost.accounting.claim import NOTHING, Budget, Promise
from expost.accounting.curve import AdpEpsilon
from expost.accounting.private_selection import SelectionBill, Statement
from expost.ledger import Fact
from expost.noise import Noise
from expost.private import Neighbours
from expost.release import Past

T_co = TypeVar("T_co", covariant=True)


@final
@dataclass(frozen=True, slots=True)
class Contest:
    """What a selection was among: names and prices, the law of the number of runs, and what a run must reach."""

    names: tuple[str, ...]
    bill: SelectionBill
    at_least: float
    held: Fraction
    neighbours: str

    def stated(self, configuration: str | None) -> Statement:
        """What all runs cost together, if the one shown is of this configuration, or if none passed."""
        return self.bill.none_passed if configuration is None else self.bill.passed(self.names.index(configuration))


@final
@dataclass(frozen=True, slots=True)
class Selected:
    """Which configuration is shown, None if no run passed: reads nothing, costs nothing, and goes on record.

    Until it is there, the record of a selection states the dearest of them.
    """

    configuration: str | None
    neighbours: Neighbours
    name: ClassVar[str] = "Selected"
    floating: ClassVar[bool] = False

    def promise(self, budget: Budget) -> Promise:
        """Nothing."""
        return NOTHING

    def sample(self, data: object, budget: Budget, past: Past[object], noise: Noise) -> None:
        """Nothing."""

    def facts(self, budget: Budget) -> Mapping[str, Fact]:
        """Its name."""
        return {} if self.configuration is None else {"configuration": self.configuration}


@final
@dataclass(frozen=True, slots=True, repr=False)
class Tuned(Generic[T_co]):
    """The best passing run, with name, value and score None where no run passed, and what all runs cost together.

    This (ε, δ) is the whole statement: the odometer that ran the selection claims nothing any more. ``seeded`` means
    NOT PRIVATE; ``floating`` that the bound does not cover the rounding of floating-point noise.
    """

    configuration: str | None
    value: T_co | None
    score: float | None
    contest: Contest
    seeded: bool
    floating: bool

    @property
    def statement(self) -> Statement:
        """The ex-post bill of what was returned."""
        return self.contest.stated(self.configuration)

    @property
    def epsilon(self) -> AdpEpsilon:
        """The ex-post ε of what was returned."""
        return self.statement.epsilon

    @property
    def delta(self) -> float:
        """The δ, the same for every outcome."""
        return self.statement.delta

    def then(self, later: Statement) -> Statement:
        """Together with a later run on the same data, whose δ was fixed before the tuning."""
        return self.statement + later

    def __repr__(self) -> str:
        best = "no run passed" if self.configuration is None else reprlib.repr(self.configuration)
        mark = ", NOT PRIVATE" if self.seeded else ""
        return f"Tuned({best}, ε = {self.epsilon:.4g}, δ = {self.delta:g}{mark})"
