"""Settling: runs that were left open by a process that ended, and what becomes of what they hold."""

import json
import os
from dataclasses import dataclass
from typing import final

from expost.errors import InvalidValue, LedgerConflict
from expost.ledgers.amounts import Amount
from expost.ledgers.book import Book
from expost.ledgers.chain import Entered, spelled
from expost.ledgers.home import Row, Writing, legible
from expost.ledgers.moving import Move, OpenRun, totals_in
from expost.ledgers.posting import Position
from expost.ledgers.slots import run_cost
from expost.ledgers.terms import Terms, terms_in
from expost.text import is_unicode

SHORTEST = 4
"""Characters by which a run may be named."""
MOST_STATEMENT = 2000


@final
@dataclass(frozen=True, slots=True)
class Unsettled:
    """A run that is open: who began it and where, when it was last heard of, and what it captured and holds."""

    id: str
    dataset: str
    terms: Terms
    what: str
    analyst: str | None
    host: str
    process: int
    since: str
    latest: str
    spent: Amount
    committed: Amount

    @property
    def is_gone(self) -> bool:
        """Whether its process is known to have ended: one of this machine that does not run."""
        if self.host != os.uname().nodename:
            return False
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return True
        except OSError:
            return False
        return False


def unsettled(book: Book, dataset: str | None = None) -> list[Unsettled]:
    """The runs that are open, the oldest first."""
    with book.home.reading() as reading, legible():
        found = [_unsettled(reading, row) for row in _open_runs(reading) if dataset in (None, row[1])]
    return sorted(found, key=lambda run: run.since)


def is_settled(book: Book, run: str) -> bool:
    """Whether somebody has ended a run for its process."""
    with book.home.reading() as reading:
        return bool(reading.rows("SELECT 1 FROM runs WHERE id = ? AND state = 'settled'", run))


def settle(book: Book, run: str, *, statement: str | None = None) -> Entered:
    """End an open run, named by its identity or the first characters of it, for the process that cannot.

    With a written ``statement`` that nothing of the unfinished step was seen by anybody, what the run still holds is
    returned; the statement is an entry of the chain. Without one, all of it counts as spent. A process that is still at
    it cannot release anything more under this run.
    """
    if statement is not None and (not statement.strip() or len(statement) > MOST_STATEMENT):
        raise InvalidValue(f"the statement is empty or longer than {MOST_STATEMENT:,} characters; write a sentence.")
    if statement is not None and not is_unicode(statement):
        raise InvalidValue("the statement is not in UTF-8; set the terminal to it, or write without accents.")
    with book.home.reading() as reading, legible():
        identity, dataset = _named([(str(row[0]), str(row[1])) for row in _open_runs(reading)], run)
    with book.home.writing() as writing:
        position = Position.locked(writing, dataset)
        found = OpenRun.found(writing, position, identity)
        after = found.committed if statement is None else found.spent
        said = spelled({"statement": statement, "in full": statement is None})[1:-1]
        entered, _ = found.moved(writing, Move("settle", said, after, after, state="settled"), book.clock)
    return entered


def _open_runs(reading: Writing) -> list[Row]:
    return reading.rows(
        "SELECT runs.id, datasets.name, datasets.terms, runs.what, analysts.name, runs.opened, runs.split, "
        "runs.dataset, runs.begun "
        "FROM runs JOIN datasets ON datasets.id = runs.dataset LEFT JOIN analysts ON "
        "analysts.id = runs.analyst WHERE runs.state = 'open'"
    )


def _named(runs: list[tuple[str, str]], name: str) -> tuple[str, str]:
    """The one run that is meant, with the name of its data set."""
    found = [run for run in runs if len(name) >= SHORTEST and run[0].startswith(name)]
    if len(found) != 1:
        several = "more than one open run begins" if found else "no open run begins"
        raise LedgerConflict(f"{several} with {name!r}; `expost ledger orphans` lists those that are open.")
    return found[0]


def _unsettled(reading: Writing, row: Row) -> Unsettled:
    identity, dataset, known, what, analyst, opened, split, place, first = row
    terms = terms_in(str(known))
    ((begun,),) = reading.rows("SELECT body FROM entries WHERE dataset = ? AND number = ?", place, first)
    ((latest, kind, last),) = reading.rows(
        "SELECT at, kind, body FROM entries WHERE dataset = ? AND number >= ? AND run = ? ORDER BY number DESC LIMIT 1",
        *(place, first, identity),
    )
    body = json.loads(str(begun))
    costs = map(run_cost, totals_in(str(kind), str(last), terms, named=split is not None))
    return Unsettled(
        str(identity), str(dataset), terms, str(what), None if analyst is None else str(analyst), str(body["host"]),
        int(body["process"]), str(opened), str(latest), *costs,
    )  # fmt: skip
