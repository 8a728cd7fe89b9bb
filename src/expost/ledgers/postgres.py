"""A ledger on a server: PostgreSQL, for any number of machines."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import RLock
from typing import Self, final

import psycopg
from psycopg.errors import Diagnostic

from expost.errors import LedgerConflict
from expost.ledgers.home import WAIT_SECONDS, Cell, Row
from expost.ledgers.server import address, migrate, server_conflict, session, told, version_of
from expost.ledgers.tables import MIGRATIONS, require_version

WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED"
"""What a statement reads was committed when it began: after the lock on a data set, which the first one waits for."""
READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


@final
class _Transaction:
    """One transaction on a connection."""

    __slots__ = ("_answered", "_connection", "_pipeline", "_soon", "queued")

    def __init__(self, connection: psycopg.Connection[Row], pipeline: psycopg.Pipeline) -> None:
        self._connection, self._pipeline = connection, pipeline
        self.queued: list[tuple[str, tuple[Cell, ...]]] = []
        self._soon: list[tuple[str, tuple[Cell, ...]]] = []
        self._answered: dict[tuple[str, tuple[Cell, ...]], list[Row]] = {}

    def rows(self, sql: str, *cells: Cell) -> list[Row]:
        """What a query finds; whatever was sent before goes with it.

        The server is told that it has all for now, or it would not notice that we hang with a row in hand.
        """
        if (sql, cells) not in self._answered:
            asked = [(sql, cells), *self._soon]
            cursors = [self._connection.execute(_spelled(sql), cells) for sql, cells in asked]
            self._soon = []
            self._pipeline.sync()
            self._answered.update(zip(asked, (cursor.fetchall() for cursor in cursors), strict=True))
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
        self._connection = self._connect()

    @classmethod
    def create(cls, url: str, *, wait: float = WAIT_SECONDS) -> Self:
        """A ledger in a database that is there; one that has a ledger keeps it."""
        with told(address(url)), session(url, wait) as connection:
            migrate(connection)
        return cls(url, wait=wait)

    @contextmanager
    def writing(self) -> Iterator[_Transaction]:
        """A transaction that writes, whose changes and commit go to the server in one round trip."""
        with self._within(WRITE) as transaction:
            yield transaction

    @contextmanager
    def reading(self) -> Iterator[_Transaction]:
        """A transaction that sees one state."""
        with self._within(READ) as transaction:
            yield transaction

    def flaws(self) -> list[str]:
        """What the server finds wrong with its files is its owner's to look for."""
        return []

    def close(self) -> None:
        """Let the server go."""
        if os.getpid() == self._pid:
            self._connection.close()
        self._closed = True

    @contextmanager
    def _within(self, begin: str) -> Iterator[_Transaction]:
        if os.getpid() != self._pid:
            raise LedgerConflict("this ledger was opened by another process; open it in each process anew.")
        with self._lock:
            if self._closed:
                raise LedgerConflict(f"the ledger {self.name} is closed; open it again.")
            if self._connection.closed:
                self._connection = self._connect()
            connection, committing = self._connection, False
            try:
                with connection.pipeline() as pipeline:
                    connection.execute(begin)
                    yield (transaction := _Transaction(connection, pipeline))
                    for sql, cells in transaction.queued:
                        connection.execute(_spelled(sql), cells)
                    self._warnings.clear()
                    committing = True
                    commit = connection.execute("COMMIT")
                self._require_committed(commit)
            except psycopg.Error as failure:
                raise server_conflict(self.name, failure, committing=committing) from None
            finally:
                _end(connection)

    def _require_committed(self, commit: psycopg.Cursor[Row]) -> None:
        """A commit is one only if the server says so without a warning, such as that it did not wait for a standby."""
        if commit.statusmessage != "COMMIT" or self._warnings:
            raise LedgerConflict(
                f"the server did not make sure that the ledger {self.name} keeps what was written; nothing is "
                "released, and what was held stays held. See to the server and its standbys."
            )

    def _connect(self) -> psycopg.Connection[Row]:
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
            return connection

    def _notice(self, notice: Diagnostic) -> None:
        if notice.severity_nonlocalized == "WARNING":
            self._warnings.append(notice.sqlstate or "")


def _end(connection: psycopg.Connection[Row]) -> None:
    """Take back what was not committed; a connection that cannot be told to is given up, which does so too."""
    try:
        connection.rollback()
    except psycopg.Error:
        connection.close()


@lru_cache(maxsize=256)
def _spelled(sql: str) -> str:
    """A statement as psycopg takes it, which marks its places by ``%s``."""
    return sql.replace("%", "%%").replace("?", "%s").replace("{lock}", " FOR UPDATE")
