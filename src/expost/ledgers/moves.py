"""Moves: the entries of one run, each known to be on record or not before the next is made."""

from collections.abc import Callable, Mapping
from typing import TypeAlias, final

from expost.errors import BudgetExceeded
from expost.ledgers.chain import Entered
from expost.ledgers.moving import Also, Begun, Books
from expost.ledgers.slots import Slots
from expost.text import Json

Becoming: TypeAlias = Callable[[], None]
"""What a run becomes by an entry; the same if it is done twice."""


@final
class Moves:
    """Makes the entries of a run one after the other.

    An interrupt or a lost connection may hide whether an entry is on record. Then it is looked up before the run does
    anything else, with the data set locked, so that a commit that is still under way is waited for.
    """

    __slots__ = ("_book", "_due", "_run", "latest")

    def __init__(self, book: Books, run: Begun) -> None:
        self._book, self._run = book, run
        self.latest: Entered | None = None
        self._due: tuple[str, Becoming] | None = None

    def make(
        self, kind: str, body: Mapping[str, Json], become: Becoming, *, spent: Slots, committed: Slots,
        neighbours: str | None = None, state: str = "open", payload: str | None = None, also: Also | None = None,
    ) -> None:  # fmt: skip
        """Change what the run has spent and holds, and then let it become what the entry makes it."""
        self.catch_up()
        self._due = kind, become
        try:
            entered = self._book.move(
                self._run, kind, body, after=self._number, spent=spent, committed=committed, neighbours=neighbours,
                state=state, payload=payload, also=also,
            )  # fmt: skip
        except BudgetExceeded:  # nothing was written
            self._due = None
            raise
        self._take(entered, become)

    def catch_up(self) -> None:
        """Look up what became of the last entry, if nobody knows; one of another kind ended the run."""
        if self._due is None:
            return
        (kind, become), latest = self._due, self._book.latest(self._run)
        if latest.number > self._number and latest.kind == kind:
            self._take(latest, become)
        self._due = None

    def _take(self, entered: Entered, become: Becoming) -> None:
        become()
        self.latest = entered
        self._due = None

    @property
    def _number(self) -> int:
        return self._run.number if self.latest is None else self.latest.number
