"""The ledger: a spend is on record before data is opened, and stays there whatever happens next."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Protocol, TypeAlias, final

from expost.accounting.claim import NOTHING, Promise, Spent
from expost.accounting.pledge import Pledge
from expost.errors import LedgerConflict

Fact: TypeAlias = str | int | bool


@final
@dataclass(frozen=True, slots=True)
class Entry:
    """What is about to happen: facts from which the cost can be recomputed, never only a total.

    Of a part that is ``drawn``, the records were chosen by coins that fall anew in each run; no record keeps it.
    """

    what: str
    part: str
    neighbours: str
    seeded: bool
    floating: bool
    facts: Mapping[str, Fact] = field(default_factory=dict)
    drawn: bool = field(default=False, compare=False)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Hold:
    """The receipt for a recorded intention to spend; compared by identity."""

    entry: Entry
    promise: Promise


class Ledger(Protocol):
    """Keeps what was spent.

    ``hold`` must be durable before it returns, for data is opened next; ``capture`` before it returns, for the
    value leaves next. A hold never captured counts in full. Implemented by MemoryLedger, and by the journal of a run.
    """

    def pledge(self, pledge: Pledge | None) -> None:
        """Put on record, before anything else, how the total will be stated; None if an odometer pledges nothing."""

    def hold(self, entry: Entry, promise: Promise) -> Hold:
        """Put on record that at most this promise is about to be spent."""

    def capture(self, hold: Hold, spent: Spent) -> None:
        """Replace a hold by what the step did spend, once."""


@final
class MemoryLedger:
    """A ledger for one process.

    Consecutive equal steps are counted, not listed, so a million training steps stay one line.
    """

    __slots__ = ("_begun", "_lines", "_neighbours", "_open", "_pledge")

    def __init__(self) -> None:
        self._pledge: Pledge | None = None
        self._lines: list[tuple[Entry, Spent, int]] = []
        self._begun, self._open = False, dict[int, Hold]()
        self._neighbours: str | None = None

    def pledge(self, pledge: Pledge | None) -> None:
        """Put on record, before anything else, how the total will be stated, for one odometer.

        A second odometer is refused: the names of parts are those of one, and of two parts that are not of one split a
        reader would take the dearer.
        """
        if self._begun or self._lines or self._open:
            raise LedgerConflict("a ledger is for one odometer, whose pledge comes first; open a new one for another.")
        self._begun, self._pledge = True, pledge

    def hold(self, entry: Entry, promise: Promise) -> Hold:
        """Put on record that at most this promise is about to be spent."""
        if self._neighbours not in (None, entry.neighbours):
            raise LedgerConflict(
                f"this ledger's bills are for neighbours that {self._neighbours}, this step for others; open a new one."
            )
        self._neighbours = entry.neighbours
        hold = Hold(entry, promise)
        self._open[id(hold)] = hold
        return hold

    def capture(self, hold: Hold, spent: Spent) -> None:
        """Replace a hold by what the step did spend, once."""
        if self._open.pop(id(hold), None) is not hold:
            raise LedgerConflict("this hold was captured before or was made by another ledger; hold anew.")
        if self._lines and self._lines[-1][:2] == (hold.entry, spent):
            self._lines[-1] = (*self._lines[-1][:2], self._lines[-1][2] + 1)
        else:
            self._lines.append((hold.entry, spent, 1))

    @property
    def pledged(self) -> Pledge | None:
        """The pledge of the run, if it has one."""
        return self._pledge

    @property
    def lines(self) -> tuple[tuple[Entry, Spent, int], ...]:
        """What was captured: entry, bill of one step, and how many equal steps in a row."""
        return tuple(self._lines)

    @property
    def held(self) -> tuple[Hold, ...]:
        """Holds that were never captured: steps that failed or are under way."""
        return tuple(self._open.values())

    @property
    def spent(self) -> Spent:
        """The sum of everything on record, holds in full: a bound whatever the parts."""
        bills = [spent.times(count) for _, spent, count in self._lines]
        holds = [hold.promise.as_spent() for hold in self._open.values()]
        return reduce(Spent.__add__, [*bills, *holds], NOTHING.as_spent())
