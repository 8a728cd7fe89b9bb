"""Moves: the entries of one run, each known to be on record or not before the next is made."""

import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TypeAlias, final

from expost.accounting.claim import Promise, Spent
from expost.errors import BudgetExceeded
from expost.ledger import Entry, Hold
from expost.ledgers.chain import Entered
from expost.ledgers.moving import Also, Begun, Books, OpenRun
from expost.ledgers.slots import Slots
from expost.receipts.costs import curve_out
from expost.text import Json

Becoming: TypeAlias = Callable[[], None]
"""What a run becomes by an entry; the same if it is done twice."""


@final
class Moves:
    """Makes the entries of a run one after the other.

    An interrupt or a lost connection may hide whether an entry is on record. Then it is looked up before the run does
    anything else, with the data set locked, so that a commit that is still under way is waited for.
    """

    __slots__ = ("_book", "_due", "_known", "_run", "latest")

    def __init__(self, book: Books, run: Begun) -> None:
        self._book, self._run = book, run
        self.latest: Entered | None = None
        self._due: tuple[str, Becoming] | None = None
        self._known: OpenRun | None = None

    def make(
        self, kind: str, body: Mapping[str, Json], become: Becoming, *, spent: Slots, committed: Slots,
        neighbours: str | None = None, state: str = "open", payload: str | None = None, also: Also | None = None,
    ) -> None:  # fmt: skip
        """Change what the run has spent and holds, and then let it become what the entry makes it."""
        self.catch_up()
        self._due = kind, become
        try:
            entered, known = self._book.move(
                self._run, kind, body, after=self._number, known=self._known, spent=spent, committed=committed,
                neighbours=neighbours, state=state, payload=payload, also=also,
            )  # fmt: skip
        except BudgetExceeded:  # nothing was written
            self._due = None
            raise
        self._take(entered, known, become)

    def capture(
        self, body: Mapping[str, Json], become: Callable[[Slots], None], *, spent: Slots, committed: Slots,
        ahead: Slots, payload: str | None, also: Also | None,
    ) -> None:  # fmt: skip
        """Capture a step, and hold what comes ``ahead`` as well if there is room for it."""
        if ahead != committed:
            with suppress(BudgetExceeded):
                done = partial(become, ahead)
                return self.make("capture", body, done, spent=spent, committed=ahead, payload=payload, also=also)
        done = partial(become, committed)
        return self.make("capture", body, done, spent=spent, committed=committed, payload=payload, also=also)

    def catch_up(self) -> None:
        """Look up what became of the last entry, if nobody knows; one of another kind ended the run."""
        if self._due is None:
            return
        (kind, become), latest = self._due, self._book.latest(self._run)
        if latest.number > self._number and latest.kind == kind:
            self._take(latest, None, become)
        self._due = self._known = None

    def _take(self, entered: Entered, known: OpenRun | None, become: Becoming) -> None:
        become()
        self.latest, self._known = entered, known
        self._due = None

    @property
    def _number(self) -> int:
        return self._run.number if self.latest is None else self.latest.number


def hold_body(entry: Entry, promise: Promise) -> dict[str, Json]:
    """What the entry of a hold says of the step that it is for."""
    curve = curve_out(promise.curve)
    return {"what": entry.what, "part": entry.part, "neighbours": entry.neighbours, "curve": curve}


def capture_body(hold: Hold, spent: Spent, payload: str | None, *, finished: bool) -> dict[str, Json]:
    """What the entry of a capture says: what was done, what it cost, and the hash of what was stored."""
    entry = hold.entry
    return {
        "what": entry.what, "part": entry.part, "neighbours": entry.neighbours, "floating": entry.floating,
        "facts": dict(entry.facts), "curve": curve_out(spent.curve), "finished": finished,
        "stored": None if payload is None else hashlib.sha256(payload.encode()).hexdigest(),
    }  # fmt: skip
