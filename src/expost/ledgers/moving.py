"""Moving: what a run that is still open has spent and holds changes, with every account that it is counted in."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias, final

from expost.accounting.pledge import Pledge
from expost.errors import LedgerConflict
from expost.ledgers.amounts import Amount, minus
from expost.ledgers.chain import Entered
from expost.ledgers.home import Home, Writing, legible
from expost.ledgers.posting import ACCOUNT, Account, Clock, Position
from expost.ledgers.slots import Slots, are_within, moved, run_cost, slots_in, slots_out, slots_record
from expost.ledgers.terms import Terms
from expost.text import Json

RUN = (
    "SELECT dataset, state, analyst, split, payload, spent, committed, (SELECT max(number) FROM entries WHERE "
    "run = runs.id) FROM runs WHERE id = ?"
)
"""What is asked of a run."""
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
        self, run: Begun, kind: str, body: Mapping[str, Json], *, after: int, spent: Slots, committed: Slots,
        neighbours: str | None = None, state: str = "open", payload: str | None = None, also: Also | None = None,
    ) -> Entered:  # fmt: skip
        """Change what a run has spent and holds."""

    def latest(self, run: Begun) -> Entered:
        """The latest entry of a run, once nobody else is writing."""


@final
@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run that may still spend, as this transaction finds it."""

    id: str
    analyst: str | None
    split: str | None
    spent: Slots
    committed: Slots
    payload: str | None

    @classmethod
    def found(cls, writing: Writing, position: Position, identity: str, *, after: int | None = None) -> "OpenRun":
        """The run of a data set that is locked, refused if it is not open or its latest entry is not the one given."""
        found = writing.rows(RUN, identity)
        if not found or found[0][:2] != (position.account.id, "open"):
            raise LedgerConflict("this run was closed or settled on the ledger; begin another.")
        if after not in (None, found[0][7]):
            raise LedgerConflict(MORE)
        analyst, split, payload = (None if cell is None else str(cell) for cell in found[0][2:5])
        with legible():
            spent, committed = (slots_in(str(cell), position.account.terms) for cell in found[0][5:7])
        return cls(identity, analyst, split, spent, committed, payload)

    def moved(
        self,
        writing: Writing,
        position: Position,
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
    ) -> Entered:
        """Change what it has spent and holds, refused if a cap has no room for it.

        ``also`` writes more in the same transaction, and gives what the entry says of it.
        """
        if not (are_within(self.spent, spent) and are_within(spent, committed)):
            raise LedgerConflict(MORE)
        pairs = (self.spent, spent), (self.committed, committed)
        known, terms = position.account.id, position.account.terms
        more = moved(writing, known, self.split, terms, spent=pairs[0], committed=pairs[1])
        if self.analyst is not None:
            change = [minus(run_cost(after), run_cost(before)) for before, after in pairs]
            charge_analyst(writing, self.analyst, spent=change[0], committed=change[1])
        said = {} if also is None else also(writing)
        told = {**body, **said, "spent": slots_record(spent), "committed": slots_record(committed)}
        entered = position.post(
            writing, kind, told, run=self.id, clock=clock, spent=more[0], committed=more[1], neighbours=neighbours
        )
        writing.later(
            "UPDATE runs SET state = ?, spent = ?, committed = ?, payload = ? WHERE id = ?",
            *(state, slots_out(spent), slots_out(committed), self.payload if payload is None else payload, self.id),
        )
        if state != "open":
            writing.later("UPDATE releases SET refining = NULL WHERE refining = ?", self.id)
        return entered


def sha256(text: str) -> str:
    """The SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def charge_analyst(writing: Writing, analyst: str, *, spent: Amount, committed: Amount) -> None:
    """Change an analyst's own bill, refused if their allowance has no room for it."""
    ((name, *row),) = writing.rows(f"SELECT name, {ACCOUNT} FROM analysts WHERE id = ?", analyst)  # noqa: S608
    after = Account.of(row).moved(spent, committed, whose=f"the analyst {name!r}")
    writing.later("UPDATE analysts SET spent = ?, committed = ?, room = ? WHERE id = ?", *after.cells, analyst)
