"""What a run has put on record, for whoever reports on it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Protocol, TypeAlias, TypeVar, final, runtime_checkable

from expost.accounting.claim import Promise, Spent
from expost.accounting.curve import AdpEpsilon
from expost.accounting.pledge import Pledge
from expost.checks.question import PublicCheck
from expost.errors import NotPrivate
from expost.ledger import Entry, Fact, Hold, Ledger
from expost.private import Neighbours
from expost.protocols import Check

D = TypeVar("D")
U = TypeVar("U")

PUBLIC_CHECK = "public check"
Asking: TypeAlias = Callable[[float, int], str]
"""What to ask for instead of a run that a ledger has no room for: given the ε of one that fits, and how many stops."""


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
class Allowance:
    """What an analyst may spend of a data set's cap, stated as that is: spent so far, and that with what is held.

    ``whose`` it is reads as "the analyst 'ann'". It ``binds`` where it leaves less room for a run than the cap of the
    data set.
    """

    whose: str
    spent: float
    most: float
    cap: float
    binds: bool


@final
@dataclass(frozen=True, slots=True)
class Booking:
    """Where a run stands on a lasting ledger, and its data set with it, in the measures of that ledger.

    ``entry`` and ``head`` are the number and the hash of the latest entry of the run. ``held`` and ``captured`` are the
    most that the run held and what it has spent, as shares of the cap. ``spent`` is what the data set has spent in all
    its runs, and ``most`` that with everything that is held; both are stated once, as the number that ``notation``
    names. ``fitting`` is how many of the ``planned`` stops the ledger had room for. An analyst's run is within an
    ``allowance`` as well.
    """

    ledger: str
    dataset: str
    run: str
    entry: int
    head: str
    held: float
    captured: float
    spent: float
    most: float
    cap: float
    notation: str
    fitting: int
    planned: int
    allowance: Allowance | None = None


@runtime_checkable
class Booked(Protocol):
    """A ledger that outlasts the run, with room for what all runs on a data set may spend. Implemented by LedgerRun."""

    @property
    def split(self) -> str | None:
        """The name of the fixed split whose sides other runs read too, if it is on one."""
        ...

    def reserve(
        self, stops: Sequence[Promise], *, of: str | None = None, pledge: Pledge | None = None, ask: Asking = ...
    ) -> int:
        """Hold the last of the stops that fits, and say how many do; refused if the first does not.

        So is a run ``of`` other neighbours than those that its data set is billed for.
        """

    def booking(self) -> Booking:
        """Where the run stands."""


def reserve_plan(
    ledger: Ledger,
    pledge: Pledge,
    stops: Sequence[Promise],
    *,
    neighbours: Neighbours,
    cap: AdpEpsilon | None,
    seeded: bool,
    ask: Asking,
) -> AdpEpsilon | None:
    """Hold what a run may spend within its cap, before it reads any data, and return the cap that it is to run under.

    That is the statement of the last planned stop that the ledger has room for, where it has no room for all of them.
    A ledger that does not outlast the run has nothing to hold.
    """
    if not isinstance(ledger, Booked):
        return cap
    if seeded:
        raise NotPrivate("seeded noise is for rehearsals, which a lasting ledger does not take; leave one of them out.")
    within = [*takewhile(lambda stop: cap is None or pledge.epsilon(stop) <= cap, stops)]
    fitting = ledger.reserve(within, of=neighbours.value, pledge=pledge, ask=ask)
    return cap if fitting == len(within) else pledge.epsilon(within[fitting - 1])


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
