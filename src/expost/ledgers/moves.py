"""Moves: the entries of one run, each known to be on record or not before the next is made."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeAlias, final

from expost.errors import BudgetExceeded
from expost.ledgers.chain import Link
from expost.ledgers.moving import Begun, Books, Move, OpenRun
from expost.ledgers.slots import Slots

Becoming: TypeAlias = Callable[[], None]
"""What a run becomes by an entry; the same if it is done twice."""


@final
class Moves:
    """Makes the entries of a run one after the other.

    An interrupt or a lost connection may hide whether an entry is on record. Then it is looked up before the run does
    anything else, with the data set locked, so that a commit that is still under way is waited for.
    """

    __slots__ = ("_book", "_due", "_known", "_number", "_run", "latest")

    def __init__(self, book: Books, run: Begun) -> None:
        self._book, self._run, self._number = book, run, run.number
        self.latest: Link | None = None
        self._due: tuple[str, Becoming] | None = None
        self._known: OpenRun | None = None

    def make(self, move: Move, become: Becoming) -> None:
        """Change what the run has spent and holds, and then let it become what the entry makes it."""
        if self._due is not None:
            self.catch_up()
        self._due = move.kind, become
        try:
            latest, known = self._book.move(self._run, move, self._number, self._known)
        except BudgetExceeded:  # nothing was written
            self._due = None
            raise
        self._take(latest, known, become)

    def capture(self, move: Move, become: Callable[[Slots], None], ahead: Slots) -> None:
        """Capture a step, and hold what comes ``ahead`` as well if there is room for it."""
        if ahead is not move.committed and ahead != move.committed:
            with suppress(BudgetExceeded):
                return self.make(move._replace(committed=ahead), partial(become, ahead))
        return self.make(move, partial(become, move.committed))

    def catch_up(self) -> None:
        """Look up what became of the last entry, if nobody knows; one of another kind ended the run."""
        if self._due is None:
            return
        (kind, become), latest = self._due, self._book.latest(self._run)
        if latest.number > self._number and latest.kind == kind:
            self._take((latest.number, latest.hash), None, become)
        self._due = self._known = None

    def _take(self, latest: Link, known: OpenRun | None, become: Becoming) -> None:
        become()
        self.latest, self._number, self._known = latest, latest[0], known
        self._due = None
