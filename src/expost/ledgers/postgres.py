"""A ledger on a server: PostgreSQL, for any number of machines."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import RLock
from typing import Self, final

import psycopg
from psycopg.errors import Diagnostic
from psycopg.pq.abc import PGresult

from expost.errors import LedgerConflict
from expost.ledgers.home import WAIT_SECONDS, Cell, Change, Row
from expost.ledgers.server import address, migrate, server_conflict, session, told, version_of
from expost.ledgers.tables import INTO, MIGRATIONS, require_version, rules_of_tables
from expost.ledgers.wire import Wire, rows_of

WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED"
"""What a statement reads was committed when it began: after the lock on a data set, which the first one waits for."""
QUEUE = "SELECT pg_advisory_xact_lock(1702391924, hashtext(CAST(? AS TEXT)))"
"""Where those wait who are about to lock a data set, and are let go one by one; its row would wake all of them.

It keeps nothing safe: the row does. Whoever waits here has no row yet, and ``enter`` waits for rows alone, so that no
two wait for each other; data sets whose names have one hash share a queue.
"""
READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

OURS = "JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = 'expost'"
UNASKED = (
    "SELECT tgname || ' is a trigger or a rule that expost did not make' FROM pg_trigger JOIN pg_class ON "  # noqa: S608
    f"pg_class.oid = tgrelid {OURS} AND NOT tgisinternal UNION SELECT rulename || ' is a trigger or a rule that expost "
    "did not make' FROM pg_rules WHERE schemaname = 'expost' UNION SELECT 'the table ' || relname || ' is not on the "
    f"disk of the server' FROM pg_class {OURS} AND relkind = 'r' AND relpersistence <> 'p' ORDER BY 1"
)
RULES = (
    "SELECT CAST(relname AS TEXT), count(*) FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid "  # noqa: S608
    f"{OURS} AND contype IN ('p', 'u', 'c', 'f') AND convalidated GROUP BY relname"
)
ENTER_IF_MOVED = (
    f"{INTO}SELECT id, entries, latest, CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), head "  # noqa: S608
    "FROM datasets WHERE id = ? AND head = ?"
)
"""The entry of a change that was sent just before it; nothing is written unless that was made."""


@final
class _Transaction:
    """One transaction on a wire."""

    __slots__ = ("_answered", "_begin", "_soon", "_wire", "has_begun", "queued", "written")

    def __init__(self, wire: Wire, begin: str) -> None:
        self._wire, self._begin, self.has_begun, self.written = wire, begin, False, 0
        self.queued: list[Change] = []
        self._soon: list[Change] = []
        self._answered: dict[Change, list[Row]] = {}

    def rows(self, sql: str, *cells: Cell) -> list[Row]:
        """What a query finds; whatever was sent before goes with it."""
        if (sql, cells) not in self._answered:
            asked, self._soon = [(sql, cells), *self._soon], []
            if not self.has_begun:
                self._wire.send(self._begin)
                self.has_begun = True
            if self._begin == WRITE and sql.endswith("{lock}"):
                self._wire.send(QUEUE, " ".join(map(str, cells)))
            for each, its_cells in asked:
                self._wire.send(each if self._begin == WRITE else each.removesuffix("{lock}"), *its_cells)
            answers = self._wire.answers()[-len(asked) :]
            self._answered.update(zip(asked, map(rows_of, answers), strict=True))
        return self._answered.pop((sql, cells))

    def soon(self, sql: str, *cells: Cell) -> None:
        """A query that will be asked after the next one, and reads what is there when that one has its lock."""
        self._soon.append((sql, cells))

    def later(self, sql: str, *cells: Cell) -> None:
        """A change, made at the end."""
        self.queued.append((sql, cells))


@final
class PostgresHome:
    """A ledger in a schema of its own, of which a database has one, for any number of processes and machines.

    A commit waits for the disk of the server, and for its standbys where it has any to wait for. Writers of one data
    set follow one another. A connection that was lost is made anew for the next transaction. It must be a session of
    its own: a pool that hands each transaction to another session loses what is set here.
    """

    def __init__(self, url: str, *, wait: float = WAIT_SECONDS) -> None:
        self.name = address(url)
        self._url, self._wait, self._lock, self._pid = url, wait, RLock(), os.getpid()
        self._warnings: list[str] = []
        self._closed = False
        self._wire = self._connect()
        try:
            self._require_ours()
        except BaseException:
            self.close()
            raise

    @classmethod
    def create(cls, url: str, *, wait: float = WAIT_SECONDS) -> Self:
        """A ledger in a database that is there; one that has a ledger keeps it."""
        with told(address(url)), session(url, wait) as connection:
            migrate(connection)
        return cls(url, wait=wait)

    def writing(self) -> AbstractContextManager[_Transaction]:
        """A transaction that writes, whose changes and commit go to the server in one round trip."""
        return self._within(WRITE)

    def enter(self, change: Change, entry: Row) -> bool:
        """A transaction that reads nothing, in one round trip."""
        dataset, _, _, kind, run, body, hashed = entry
        with self._within(WRITE) as writing:
            writing.queued += [change, (ENTER_IF_MOVED, (kind, run, body, dataset, hashed))]
        return writing.written > 0

    def reading(self) -> AbstractContextManager[_Transaction]:
        """A transaction that sees one state."""
        return self._within(READ)

    def flaws(self) -> list[str]:
        """What acts unasked on our tables, and what they lack; the server's files are for its owner to look after."""
        with self.reading() as reading:
            told = [str(row[0]) for row in reading.rows(UNASKED)]
            kept = {table: number for table, number in reading.rows(RULES)}  # noqa: C416  rows are of cells, not pairs
        lacking = [table for table, number in rules_of_tables().items() if kept.get(table, 0) != number]
        return [*told, *(f"the table {table} lacks rules that expost gave it" for table in lacking)]

    def close(self) -> None:
        """Let the server go."""
        if os.getpid() == self._pid:
            self._wire.close()
        self._closed = True

    @contextmanager
    def _within(self, begin: str) -> Iterator[_Transaction]:
        if os.getpid() != self._pid:
            raise LedgerConflict("this ledger was opened by another process; open it in each process anew.")
        with self._lock:
            if self._closed:
                raise LedgerConflict(f"the ledger {self.name} is closed; open it again.")
            if self._wire.is_lost:
                self._wire = self._connect()
            wire, committing = self._wire, False
            try:
                yield (transaction := _Transaction(wire, begin))
                for sql, cells in transaction.queued:
                    wire.send(sql, *cells)
                self._warnings.clear()
                committing = True
                if transaction.has_begun:
                    wire.send("COMMIT")
                answers = wire.answers()
                self._require_committed(answers.pop() if transaction.has_begun else None)
                transaction.written = answers[-1].command_tuples or 0 if answers else 0
            except psycopg.Error as failure:
                wire.end()
                raise server_conflict(self.name, failure, committing=committing) from None
            except BaseException:
                wire.end()
                raise

    def _require_ours(self) -> None:
        """Refuse tables that would not keep what is written, or keep it only until a crash."""
        if found := self.flaws():
            raise LedgerConflict(
                f"the ledger {self.name} was changed by another program: {found[0]}; undo that, and compare it with "
                "your receipts."
            )

    def _require_committed(self, commit: PGresult | None) -> None:
        """A commit is one only if the server says so without a warning, such as that it did not wait for a standby.

        Changes that were sent without a transaction around them are one, which is committed before the wire is free.
        """
        if (commit is not None and commit.command_status != b"COMMIT") or self._warnings:
            raise LedgerConflict(
                f"the server did not make sure that the ledger {self.name} keeps what was written; nothing is "
                "released, and what was held stays held. See to the server and its standbys."
            )

    def _connect(self) -> Wire:
        with told(self.name):
            connection = session(self._url, self._wait)
            try:
                version = version_of(connection)
                require_version(version, self.name)
                if version < len(MIGRATIONS):
                    migrate(connection)
            except BaseException:
                connection.close()
                raise
            connection.add_notice_handler(self._notice)
            return Wire(connection, max(2, 4 * self._wait))  # it may wait for the queue, and for the row

    def _notice(self, notice: Diagnostic) -> None:
        if notice.severity_nonlocalized == "WARNING":
            self._warnings.append(notice.sqlstate or "")
