"""Moving: what a run that is still open has spent and holds changes, with every account that it is counted in."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias, final

from expost.accounting.pledge import Pledge
from expost.errors import LedgerConflict
from expost.ledgers.amounts import Amount, minus
from expost.ledgers.chain import Entered, spelled
from expost.ledgers.home import Home, Writing, legible
from expost.ledgers.posting import ACCOUNT, Account, Clock, Position
from expost.ledgers.slots import Slots, are_within, moved, nothing_in_slots, run_cost, slots_in, slots_out
from expost.ledgers.terms import Terms
from expost.text import Json

RUN = (
    "SELECT runs.dataset, runs.state, runs.analyst, runs.split, entries.number, entries.kind, entries.body "
    "FROM runs JOIN entries ON entries.run = runs.id WHERE runs.id = ? ORDER BY entries.number DESC LIMIT 1"
)
"""What is asked of a run, whose latest entry says what it has spent and holds."""
MORE = "the ledger has more on record of this run than the run knows; settle it, begin anew."
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

    def move(
        self, run: Begun, kind: str, body: Mapping[str, Json], *, after: int, known: "OpenRun | None", spent: Slots,
        committed: Slots, neighbours: str | None = None, state: str = "open", payload: str | None = None,
        also: Also | None = None,
    ) -> "tuple[Entered, OpenRun | None]":  # fmt: skip
        """Change what a run has spent and holds; what is then known of it, if others do not write in between."""

    def latest(self, run: Begun) -> Entered:
        """The latest entry of a run, once nobody else is writing."""


@final
@dataclass(frozen=True, slots=True)
class OpenRun:
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
        if not found or found[0][:2] != (position.account.id, "open"):
            raise LedgerConflict("this run was closed or settled on the ledger; begin another.")
        analyst, split = (None if cell is None else str(cell) for cell in found[0][2:4])
        number, kind, body = found[0][4:]
        if after not in (None, number):
            raise LedgerConflict(MORE)
        with legible():
            spent, committed = totals_in(str(kind), str(body), position.account.terms, named=split is not None)
        return cls(identity, analyst, split, spent, committed, position)

    @property
    def is_alone(self) -> bool:
        """Whether it changes nothing but its data set and the chain of that."""
        return self.analyst is None and self.split is None

    def moved(
        self,
        writing: Writing,
        kind: str,
        body: Mapping[str, Json],
        *,
        spent: Slots,
        committed: Slots,
        clock: Clock,
        neighbours: str | None = None,
        state: str = "open",
        payload: str | None = None,
        also: Also | None = None,
        locked: bool = True,
    ) -> "tuple[Entered, OpenRun]":
        """Change what it has spent and holds, refused if a cap has no room for it.

        ``also`` writes more in the same transaction, and gives what the entry says of it. Where its data set is not
        ``locked``, nothing is changed if others have written.
        """
        if not (are_within(self.spent, spent) and are_within(spent, committed)):
            raise LedgerConflict(MORE)
        pairs = (self.spent, spent), (self.committed, committed)
        known, terms = self.position.account.id, self.position.account.terms
        more = moved(writing, known, self.split, terms, spent=pairs[0], committed=pairs[1])
        if self.analyst is not None:
            change = [minus(run_cost(after), run_cost(before)) for before, after in pairs]
            charge_analyst(writing, self.analyst, spent=change[0], committed=change[1])
        said = spelled(body if also is None else {**body, **also(writing)})
        told = f'{said[:-1]}{"," * (said != "{}")}"spent":{slots_out(spent)},"committed":{slots_out(committed)}}}'
        entered, position = self.position.post(
            writing, kind, told, run=self.id, clock=clock, spent=more[0], committed=more[1], neighbours=neighbours,
            locked=locked,
        )  # fmt: skip
        if payload is not None:
            writing.later("UPDATE runs SET payload = ? WHERE id = ?", payload, self.id)
        if state != "open":
            writing.later("UPDATE runs SET state = ? WHERE id = ?", state, self.id)
            writing.later("UPDATE releases SET refining = NULL WHERE refining = ?", self.id)
        return entered, OpenRun(self.id, self.analyst, self.split, spent, committed, position)


def totals_in(kind: str, body: str, terms: Terms, *, named: bool) -> tuple[Slots, Slots]:
    """What a run has spent and holds after its latest entry; nothing if that is its first."""
    if kind == "begin":
        nothing = nothing_in_slots(terms, named=named)
        return nothing, nothing
    found = json.loads(body)
    return slots_in(found["spent"], terms, named=named), slots_in(found["committed"], terms, named=named)


def sha256(text: str) -> str:
    """The SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def charge_analyst(writing: Writing, analyst: str, *, spent: Amount, committed: Amount) -> None:
    """Change an analyst's own bill, refused if their allowance has no room for it."""
    ((name, *row),) = writing.rows(f"SELECT name, {ACCOUNT} FROM analysts WHERE id = ?", analyst)  # noqa: S608
    _, cells = Account.of(row).moved(spent, committed, whose=f"the analyst {name!r}")
    writing.later("UPDATE analysts SET spent = ?, committed = ?, room = ? WHERE id = ?", *cells, analyst)
