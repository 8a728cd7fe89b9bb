"""Moving: what a run that is still open has spent and holds changes, with every account that it is counted in."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias, final

from expost.accounting.pledge import Pledge
from expost.errors import LedgerConflict
from expost.ledgers.amounts import Amount, amount_out, minus, plus
from expost.ledgers.chain import Entered, Link, spelled
from expost.ledgers.home import Change, Home, Row, Writing, legible
from expost.ledgers.posting import ACCOUNT, Account, Clock, Position, charged
from expost.ledgers.slots import OWN, Slots, are_within, moved, nothing_in_slots, run_cost, slots_in, slots_out
from expost.ledgers.terms import Terms
from expost.text import Json

RUN = (
    "SELECT runs.dataset, runs.state, runs.analyst, runs.split, entries.number, entries.kind, entries.body "
    "FROM runs JOIN entries ON entries.dataset = runs.dataset AND entries.number = (SELECT own.number FROM entries AS "
    "own WHERE own.dataset = runs.dataset AND own.number >= runs.begun AND own.run = runs.id ORDER BY own.number DESC "
    "LIMIT 1) WHERE runs.id = ?"
)
"""What is asked of a run, whose latest entry says what it has spent and holds. Entries are looked at from the last one
back: an index by run would be written with each of them, and this is asked only where others have written since."""
MORE = "the ledger has more on record of this run than the run knows; settle it, and begin another."
Also: TypeAlias = Callable[[Writing], Mapping[str, Json]]
"""Writes more in the same transaction, and gives what the entry says of it."""


@final
@dataclass(frozen=True, slots=True)
class Begun:
    """A run on record: its identity and terms, its first entry, and what an ``earlier`` run stored under its key."""

    id: str
    dataset: str
    terms: Terms
    number: int = 0
    payload: str | None = None
    earlier: bool = False


class Move(NamedTuple):
    """What an entry of a run changes: what the run has spent and holds after it, and its state.

    ``said`` is what the entry says besides, as the inside of a table in JSON. A ``payload`` is stored with it; ``also``
    writes more in the same transaction.
    """

    kind: str
    said: str
    spent: Slots
    committed: Slots
    neighbours: str | None = None
    state: str = "open"
    payload: str | None = None
    also: Also | None = None

    def told(self, more: str = "") -> str:
        """The body of the entry; what is held is left out where it is what was spent."""
        spent, committed = self.spent, self.committed
        held = "null" if committed is spent or committed == spent else slots_out(committed)
        return f'{{{self.said}{more}{"," if self.said or more else ""}"spent":{slots_out(spent)},"committed":{held}}}'


class Books(Protocol):
    """Where runs are put on record. Implemented by Book."""

    @property
    def home(self) -> Home:
        """Where it lives."""
        ...

    def begin(
        self, dataset: str, what: str, *, pledge: Pledge | None, token: str | None, split: str | None, because: str,
        key: str | None, request: str | None,
    ) -> Begun:  # fmt: skip
        """Put a run on record, before it holds anything."""

    def move(self, run: Begun, move: Move, after: int, known: "OpenRun | None") -> "tuple[Link, OpenRun | None]":
        """Change what a run has spent and holds; what is then known of it, if others do not write in between."""

    def latest(self, run: Begun) -> Entered:
        """The latest entry of a run, once nobody else is writing."""


class OpenRun(NamedTuple):
    """A run that may still spend, and its data set, as one transaction leaves them to the next."""

    id: str
    analyst: str | None
    split: str | None
    spent: Slots
    committed: Slots
    position: Position

    @classmethod
    def found(cls, writing: Writing, position: Position, identity: str, *, after: int | None = None) -> "OpenRun":
        """The run of a data set that is locked, refused if it is not open or its latest entry is not the one given."""
        found = writing.rows(RUN, identity)
        if not found or found[0][:2] != (position.id, "open"):
            raise LedgerConflict("this run was closed or settled on the ledger; begin another.")
        analyst, split = (None if cell is None else str(cell) for cell in found[0][2:4])
        number, kind, body = found[0][4:]
        if after not in (None, number):
            raise LedgerConflict(MORE)
        with legible():
            spent, committed = totals_in(str(kind), str(body), position.terms, named=split is not None)
        return cls(identity, analyst, split, spent, committed, position)

    def follow(self, move: Move, clock: Clock) -> "tuple[OpenRun, Change, Row]":
        """What a move makes of a run that is counted in nothing but its data set, the change, and the row of its entry.

        It is refused if a cap has no room for it.
        """
        self._require_more(move)
        run, _, _, paid, held, position = self
        spent, committed = move.spent, move.committed
        more = (
            None if spent is paid else minus(spent[OWN], paid[OWN]),
            None if committed is held else minus(committed[OWN], held[OWN]),
        )
        after, change, entry = position.follow((move.kind, run, move.told()), clock, more, move.neighbours)
        return OpenRun(run, None, None, spent, committed, after), change, entry

    def moved(self, writing: Writing, move: Move, clock: Clock) -> "tuple[Entered, OpenRun]":
        """Change what it has spent and holds, refused if a cap has no room for it; its data set is locked."""
        self._require_more(move)
        pairs = (self.spent, move.spent), (self.committed, move.committed)
        known, terms = self.position.id, self.position.terms
        spent, committed = moved(writing, known, self.split, terms, spent=pairs[0], committed=pairs[1])
        if self.analyst is not None:
            change = [minus(run_cost(after), run_cost(before)) for before, after in pairs]
            charge_analyst(writing, self.analyst, spent=change[0], committed=change[1])
        more = "" if move.also is None else f",{spelled(move.also(writing))[1:-1]}"
        entered, position = self.position.post(
            writing, move.kind, move.told(more), run=self.id, clock=clock, spent=spent, committed=committed,
            neighbours=move.neighbours,
        )  # fmt: skip
        if move.payload is not None:
            writing.later("UPDATE runs SET payload = ? WHERE id = ?", move.payload, self.id)
        if move.state != "open":
            writing.later("UPDATE runs SET state = ? WHERE id = ?", move.state, self.id)
            writing.later("UPDATE releases SET refining = NULL WHERE refining = ?", self.id)
        return entered, OpenRun(self.id, self.analyst, self.split, move.spent, move.committed, position)

    def _require_more(self, move: Move) -> None:
        spent, committed = move.spent, move.committed
        if not ((spent is self.spent or are_within(self.spent, spent)) and are_within(spent, committed)):
            raise LedgerConflict(MORE)


def totals_in(kind: str, body: str, terms: Terms, *, named: bool) -> tuple[Slots, Slots]:
    """What a run has spent and holds after its latest entry; nothing if that is its first."""
    if kind == "begin":
        nothing = nothing_in_slots(terms, named=named)
        return nothing, nothing
    return totals_told(json.loads(body), terms, named=named)


def totals_told(body: Mapping[str, Json], terms: Terms, *, named: bool) -> tuple[Slots, Slots]:
    """What an entry says that a run has spent and holds, which is the same where the second is not said."""
    spent = slots_in(body["spent"], terms, named=named)
    return spent, spent if body["committed"] is None else slots_in(body["committed"], terms, named=named)


def sha256(text: str) -> str:
    """The SHA-256 of a text, also of one that is not Unicode, such as a token that was mistyped."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def charge_analyst(writing: Writing, analyst: str, *, spent: Amount, committed: Amount) -> None:
    """Change an analyst's own bill, refused if their allowance has no room for it."""
    ((name, *row),) = writing.rows(f"SELECT name, {ACCOUNT} FROM analysts WHERE id = ?", analyst)  # noqa: S608
    account = Account.of(row)
    held, room = charged(account, committed, "analyst", str(name))
    writing.later(
        "UPDATE analysts SET spent = ?, committed = ?, room = ? WHERE id = ?",
        *(amount_out(plus(account.spent, spent)), amount_out(held), str(room), analyst),
    )
