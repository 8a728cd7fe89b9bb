"""What a run has put on record, for whoever reports on it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar, final

from expost.accounting.claim import Spent
from expost.accounting.pledge import Pledge
from expost.checks.question import PublicCheck
from expost.ledger import Entry, Fact, Hold, Ledger
from expost.protocols import Check

D = TypeVar("D")
U = TypeVar("U")

PUBLIC_CHECK = "public check"


class ReadableLedger(Ledger, Protocol):
    """A ledger that can be read. Implemented by MemoryLedger, and by the journal of a run."""

    @property
    def pledged(self) -> Pledge | None:
        """The pledge of the run, if it has one."""
        ...

    @property
    def lines(self) -> tuple[tuple[Entry, Spent, int], ...]:
        """What was captured: entry, bill of one step, and how many equal steps in a row."""
        ...

    @property
    def held(self) -> tuple[Hold, ...]:
        """Holds that were never captured: steps that failed or are under way."""
        ...


@final
@dataclass(frozen=True, slots=True)
class CheckOnRecord:
    """How candidates are judged: the name of the check, and the facts that each of its looks goes on record with."""

    name: str
    facts: Mapping[str, Fact]

    @classmethod
    def of(cls, judge: Check[D, U] | PublicCheck[U]) -> "CheckOnRecord":
        """What goes on record of the check; one on public records reads nothing that would."""
        return cls(PUBLIC_CHECK, {}) if isinstance(judge, PublicCheck) else cls(judge.name, judge.facts())
