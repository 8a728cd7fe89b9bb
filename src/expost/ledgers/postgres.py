"""A ledger on a server: PostgreSQL, for any number of machines."""

import logging
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import RLock
from typing import Self, final

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.errors import Diagnostic
from psycopg.rows import tuple_row

from expost.errors import LedgerConflict
from expost.ledgers.home import WAIT_SECONDS, Cell, Row
from expost.ledgers.tables import MIGRATIONS, require_version

SCHEMA = "expost"
"""Where our tables are in a database; it has one ledger."""
MIGRATING = 0x65787073
"""The lock that lets one process at a time make or change tables."""
WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED"
"""What a statement reads was committed when it began: after the lock on a data set, which the first one waits for."""
READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
NONE = "is not there; make one with `expost ledger init`"
BY_STATE = {
    "55P03": "is in use by another program that does not let go; try again, or end that program",
    "57014": "did not answer in time; try again, or see to the server",
    "53100": "cannot grow, because the disk of its server is full; make room there",
    "53": "is on a server that has no room for more; try again, or see to the server",
    "25006": "is read-only; name the server that takes changes, and a role that may write",
    "40": "was changed by another program at the same moment; try again",
    "23505": "was changed by another program at the same moment; try again",
    "23": "refused an entry that breaks its own rules; the tables were changed by another program",
    "42501": "does not let this role read and write its tables; grant it the right to",
    "42P01": NONE,
    "42P07": "has tables of another program in its schema `expost`; name another database",
}
"""What went wrong on a server and what to do, by how PostgreSQL's code for it begins."""
BY_WORDS = {
    "password": "refuses the role or its password; correct them",
    "authentication": "refuses the role or its password; correct them",
    "does not exist": "is not there; make its database or role first, or correct the name",
    "too many": "is on a server that has no room for more; try again, or see to the server",
}
"""Why no connection was made, by what the server says: libpq keeps no code for it."""

logging.getLogger("psycopg").addHandler(logging.NullHandler())  # it would print what we tell in a sentence of our own


@final
class _Transaction:
    """One transaction on a connection."""

    __slots__ = ("_connection", "_pipeline", "queued")

    def __init__(self, connection: psycopg.Connection[Row], pipeline: psycopg.Pipeline) -> None:
        self._connection, self._pipeline = connection, pipeline
        self.queued: list[tuple[str, tuple[Cell, ...]]] = []

    def rows(self, sql: str, *cells: Cell) -> list[Row]:
        """What a query finds; whatever was sent before goes with it.

        The server is told that it has all for now, or it would not notice that we hang with a row in hand.
        """
        cursor = self._connection.execute(_spelled(sql), cells)
        self._pipeline.sync()
        return cursor.fetchall()

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
        self.name = _name(url)
        self._url, self._wait, self._lock, self._pid = url, wait, RLock(), os.getpid()
        self._warnings: list[str] = []
        self._closed = False
        self._connection = self._connect()

    @classmethod
    def create(cls, url: str, *, wait: float = WAIT_SECONDS) -> Self:
        """A ledger in a database that is there; one that has a ledger keeps it."""
        with _told(_name(url)), _session(url, wait) as connection:
            _migrate(connection)
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
                raise _conflict(self.name, failure, committing=committing) from None
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
        with _told(self.name):
            connection = _session(self._url, self._wait)
            try:
                version = _version(connection)
                require_version(version, self.name)
                if version < len(MIGRATIONS):
                    _migrate(connection)
            except BaseException:
                connection.close()
                raise
            connection.add_notice_handler(self._notice)
            return connection

    def _notice(self, notice: Diagnostic) -> None:
        if notice.severity_nonlocalized == "WARNING":
            self._warnings.append(notice.sqlstate or "")


def _session(url: str, wait: float) -> psycopg.Connection[Row]:
    """A connection whose commits are on the disk when they return, and which waits for nothing for ever."""
    patience = str(math.ceil(1000 * wait))
    connection: psycopg.Connection[Row] = psycopg.connect(
        url, autocommit=True, row_factory=tuple_row, client_encoding="utf8", application_name="expost",
        connect_timeout=max(2, math.ceil(wait)), tcp_user_timeout=patience,
    )  # fmt: skip
    settings = {
        "search_path": SCHEMA,
        "lock_timeout": patience,
        "statement_timeout": str(2 * int(patience)),
        "idle_in_transaction_session_timeout": patience,
    }
    for setting, value in settings.items():
        connection.execute("SELECT set_config(%s, %s, false)", (setting, value))
    (durable,) = connection.execute(
        "SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit') "
        "WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false), current_setting('fsync')"
    )
    if durable[1] != "on":
        connection.close()
        raise LedgerConflict(f"the server of {_name(url)} does not write to its disk; set fsync = on there.")
    return connection


def _version(connection: psycopg.Connection[Row]) -> int:
    """How many migrations the ledger went through; none if there is no ledger."""
    ((there,),) = connection.execute("SELECT to_regclass(%s) IS NOT NULL", (f"{SCHEMA}.migrations",))
    ((number,),) = connection.execute("SELECT max(number) FROM migrations") if there else [(0,)]
    return int(number or 0)


def _migrate(connection: psycopg.Connection[Row]) -> None:
    """Make the tables that are missing, one process at a time."""
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATING,))
        version = _version(connection)
        if version == 0:
            ((there,),) = connection.execute("SELECT to_regnamespace(%s) IS NOT NULL", (SCHEMA,))
            if not there:  # or it was made for a role that may not make one
                connection.execute(f"CREATE SCHEMA {SCHEMA}")
            connection.execute("CREATE TABLE migrations (number INTEGER PRIMARY KEY)")
        for number, migration in enumerate(MIGRATIONS[version:], start=version + 1):
            for statement in migration:
                connection.execute(statement)
            connection.execute("INSERT INTO migrations VALUES (%s)", (number,))


def _end(connection: psycopg.Connection[Row]) -> None:
    """Take back what was not committed; a connection that cannot be told to is given up, which does so too."""
    try:
        connection.rollback()
    except psycopg.Error:
        connection.close()


def _name(url: str) -> str:
    """What a person calls it: role, host and database, and never the password."""
    try:
        found = conninfo_to_dict(url)
    except psycopg.Error:
        raise LedgerConflict(
            "the address of the ledger cannot be read; write it as postgresql://role@host/database."
        ) from None
    role, port = found.get("user"), found.get("port")
    host = f"{f'{role}@' if role else ''}{found.get('host') or ''}{f':{port}' if port else ''}"
    return f"postgresql://{host}/{found.get('dbname') or ''}"


@contextmanager
def _told(name: str) -> Iterator[None]:
    """What PostgreSQL says, in a sentence of ours."""
    try:
        yield
    except psycopg.Error as failure:
        raise _conflict(name, failure, committing=False) from None


def _conflict(name: str, failure: psycopg.Error, *, committing: bool) -> LedgerConflict:
    """The sentence for a failure; its own text may show more than it should."""
    state = failure.sqlstate or ""
    if committing and (not state or state.startswith("57P")):
        return LedgerConflict(
            f"the connection to the ledger {name} was lost during a commit, so that nobody knows whether it is on "
            "record; nothing is released, and what was held stays held."
        )
    reason = next((told for start, told in BY_STATE.items() if state.startswith(start)), None)
    if not state:
        reason = next((told for part, told in BY_WORDS.items() if part in str(failure)), None)
    unreachable = "cannot be reached; see that its server runs and that the address is right"
    return LedgerConflict(f"the ledger {name} {reason or (f'cannot be used ({state})' if state else unreachable)}.")


@lru_cache(maxsize=256)
def _spelled(sql: str) -> str:
    """A statement as psycopg takes it, which marks its places by ``%s``."""
    return sql.replace("%", "%%").replace("?", "%s").replace("{lock}", " FOR UPDATE")
