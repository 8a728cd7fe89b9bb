"""What a run has put on record, for whoever reports on it."""

from typing import Protocol

from expost.accounting.claim import Spent
from expost.accounting.pledge import Pledge
from expost.record import Entry, Hold, Recorder


class Record(Recorder, Protocol):
    """A recorder that can be read. Implemented by Memory, and by the journal of a run."""

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
