"""Proof: whether a ledger is what its entries lead to, and whether it still has what a receipt says it had."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import final

from expost.errors import ExpostError, Unreadable
from expost.ledgers.amounts import amount_out
from expost.ledgers.chain import GENESIS, Entered, link
from expost.ledgers.home import Cell, Home, Row, Writing
from expost.ledgers.moving import sha256
from expost.ledgers.replay import ChainReplay, line_digest
from expost.ledgers.terms import terms_text
from expost.receipts.notation import MOST_ENTRY, text, whole
from expost.text import Json

PAGE = 1000
"""Rows that are read at a time."""
BOOKING = ("dataset", "run", "entry", "head")
"""What a receipt says of the ledger: the entry that its run ended with, and the hash of that."""


@final
@dataclass(frozen=True, slots=True)
class Chain:
    """One data set whose entries were followed to the end: how many there are, of how many runs, and the last hash."""

    dataset: str
    entries: int
    runs: int
    head: str
    since: str
    latest: str


@final
@dataclass(frozen=True, slots=True)
class LedgerProof:
    """What was found: the chains that were followed, what is wrong, and whether a receipt's entry is among them."""

    chains: tuple[Chain, ...]
    flaws: tuple[str, ...]
    compared: bool

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong."""
        return not self.flaws


def verify_ledger(home: Home, against: Mapping[str, Json] | None = None) -> LedgerProof:
    """Follow every chain from its first entry, and compare all tables with what it leads to.

    ``against`` is what a receipt says of its ledger. Without it a file that was put back to an earlier state, whole,
    cannot be told from one that never went on.
    """
    flaws = [f"The file itself is damaged: {told}." for told in home.flaws()]
    chains = []
    with home.reading() as reading:
        rows = reading.rows(
            "SELECT id, name, terms, unit, neighbours, secret, spent, committed, room, entries, head, latest "
            "FROM datasets ORDER BY id"
        )
        if [row[0] for row in rows] != [*range(1, len(rows) + 1)]:
            flaws.append("A data set is missing: they are not numbered one after the other.")
        if reading.rows("SELECT 1 FROM entries WHERE dataset NOT IN (SELECT id FROM datasets) LIMIT 1"):
            flaws.append("There are entries of a data set that is not there.")
        for row in rows:
            found = _Followed(reading, row)
            chains.append(found.follow())
            flaws += found.flaws
        if against is not None:
            flaws += _compared(reading, against)
    return LedgerProof(tuple(chains), tuple(flaws), against is not None)


def booking_in(receipt: Mapping[str, Json]) -> Mapping[str, Json]:
    """What a receipt says of the ledger that its run was on."""
    found = receipt.get("ledger")
    if not isinstance(found, Mapping) or not {*BOOKING} <= found.keys():
        raise Unreadable(
            "the receipt does not name a ledger: its run was not on one, or took all that it answered from one and "
            "added nothing; leave the ledger out."
        )
    return found


@final
@dataclass(slots=True)
class _Followed:
    """One data set while its chain is followed."""

    reading: Writing
    row: Row
    flaws: list[str] = field(default_factory=list)
    replay: ChainReplay = field(default_factory=ChainReplay)
    number: int = 0
    head: str = GENESIS
    since: str = ""
    latest: str = ""

    def follow(self) -> Chain:
        name = str(self.row[1])
        try:
            for entry in self._entries():
                self._take(entry)
        except (
            ExpostError,
            ValueError,
            ArithmeticError,
            RecursionError,
        ) as wrong:  # whatever an entry says that expost does not write
            told = str(wrong).rstrip(".") if isinstance(wrong, ExpostError) else "is not one that expost writes"
            self.flaws.append(f"Entry {self.number} of {name!r} {told}.")
        else:
            if self.number != self.row[9]:
                self.flaws.append(
                    f"The chain of {name!r} ends at entry {self.number}, and the data set says {self.row[9]!s}: "
                    "entries at the end were deleted or added."
                )
            else:
                self._compare()
        return Chain(name, self.number, len(self.replay.runs()), self.head, self.since, self.latest)

    def _entries(self) -> Iterator[Entered]:
        while rows := self.reading.rows(
            "SELECT number, at, kind, run, body, hash FROM entries WHERE dataset = ? AND number > ? "
            "ORDER BY number LIMIT ?",
            *(self.row[0], self.number, PAGE),
        ):
            for number, at, kind, run, body, hashed in rows:
                yield Entered(int(str(number)), str(at), str(kind), _optional(run), str(body), str(hashed))

    def _take(self, entry: Entered) -> None:
        """One entry: its number, its hash, its time, and what it does."""
        missing = entry.number != self.number + 1
        self.number += 1
        if missing:
            raise Unreadable("is missing")
        made = link(self.head, (entry.number, entry.at, entry.kind, entry.run, entry.body))
        if made != entry.hash:
            raise Unreadable("does not follow from those before it: it was changed, or the order was")
        time = datetime.fromisoformat(entry.at)
        if time.tzinfo is None or (self.latest and time < datetime.fromisoformat(self.latest)):
            raise Unreadable("is older than the one before it")
        self.replay.take(entry)
        self.since, self.latest, self.head = self.since or entry.at, entry.at, entry.hash

    def _compare(self) -> None:
        """All tables with what the entries lead to."""
        name, replay = str(self.row[1]), self.replay
        account = replay.standing
        known = (
            *(self.row[0], replay.name, terms_text(account.terms), replay.unit, replay.neighbours, replay.secret),
            *(*account.cells, self.number, self.head, self.latest),
        )
        if known != (*self.row[:5], sha256(str(self.row[5])), *self.row[6:]):
            self.flaws.append(f"The totals or the terms of {name!r} are not what its entries lead to.")
        self._compare_tables(name)
        self._compare_runs(name)

    def _compare_tables(self, name: str) -> None:
        analysts = {
            (identity, *line, terms_text(account.terms), *account.cells)
            for identity, (line, account) in self.replay.analysts.items()
        }
        found = self.reading.rows(
            "SELECT id, name, token, terms, spent, committed, room FROM analysts WHERE dataset = ?", self.row[0]
        )
        if {tuple(row) for row in found} != analysts:
            self.flaws.append(f"The analysts of {name!r} are not what its entries lead to.")
        splits = {(each, because, *map(amount_out, sides)) for each, (because, sides) in self.replay.splits.items()}
        found = self.reading.rows(
            "SELECT name, because, train_spent, held_spent, train_committed, held_committed FROM splits "
            "WHERE dataset = ?",
            self.row[0],
        )
        if {tuple(row) for row in found} != splits:
            self.flaws.append(f"The splits of {name!r} are not what its entries lead to.")
        self._compare_shared(name)

    def _compare_shared(self, name: str) -> None:
        shared, of = self.replay.sharing, "JOIN releases ON releases.id = release WHERE releases.dataset = ?"
        found = self.reading.rows("SELECT id, name, request, digest FROM releases WHERE dataset = ?", self.row[0])
        same = {tuple(row) for row in found} == {(key, *told) for key, told in shared.releases.items()}
        stored = {(key, str(level), told) for key, views in shared.views.items() for level, told in views.items()}
        views = self.reading.rows(f"SELECT release, level, payload FROM views {of}", self.row[0])  # noqa: S608
        same &= {(key, level, sha256(str(text))) for key, level, text in views} == stored
        seen = self.reading.rows(f"SELECT release, analyst, level FROM seen {of}", self.row[0])  # noqa: S608
        same &= {tuple(row) for row in seen} == {(*key, str(level)) for key, level in shared.seen.items()}
        busy = self.reading.rows(
            "SELECT refining FROM releases WHERE dataset = ? AND refining IS NOT NULL", self.row[0]
        )
        if not same or not all(self.replay.is_open(str(run)) for (run,) in busy):
            self.flaws.append(f"The shared releases of {name!r} are not what its entries lead to.")

    def _compare_runs(self, name: str) -> None:
        due, after = self.replay.runs(), ""
        while rows := self.reading.rows(
            "SELECT id, analyst, what, split, idempotency, request, opened, begun, state, payload FROM runs "
            "WHERE dataset = ? AND id > ? ORDER BY id LIMIT ?",
            *(self.row[0], after, PAGE),
        ):
            for *line, payload in rows:
                stored = None if payload is None else sha256(str(payload))
                if due.pop(str(line[0]), None) != line_digest((*line, stored)):
                    self.flaws.append(f"The run {str(line[0])[:8]} of {name!r} is not what its entries lead to.")
                if not isinstance(line[0], str):  # it comes after every text, and would be read for ever
                    return
                after = line[0]
        ((nameless,),) = self.reading.rows("SELECT count(*) FROM runs WHERE dataset = ? AND id IS NULL", self.row[0])
        self.flaws += [f"A run of {name!r} has no identity."] * (nameless != 0)
        self.flaws += [f"The run {run[:8]} of {name!r} is missing." for run in sorted(due)]


def _compared(reading: Writing, against: Mapping[str, Json]) -> list[str]:
    """What is wrong beside a receipt."""
    dataset, run, head = (text(against[name]) for name in ("dataset", "run", "head"))
    number = whole(against["entry"], most=MOST_ENTRY)
    found = reading.rows("SELECT id, entries FROM datasets WHERE name = ?", dataset)
    if not found:
        return [f"The receipt is of a data set {dataset!r}, which this ledger does not have."]
    kept = reading.rows("SELECT hash, run FROM entries WHERE dataset = ? AND number = ?", found[0][0], number)
    if not kept:
        return [
            f"The receipt was written at entry {number} of {dataset!r}, and the ledger has {found[0][1]!s}: it was put "
            "back to an earlier state, and what was spent since then is not counted."
        ]
    if tuple(kept[0]) != (head, run):
        return [
            f"Entry {number} of {dataset!r} is not the one that the receipt names: this is another ledger, or it was "
            "put back to an earlier state and then went on."
        ]
    return []


def _optional(cell: Cell) -> str | None:
    return None if cell is None else str(cell)
