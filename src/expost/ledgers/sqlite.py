"""A ledger in a file: SQLite, whose every commit is on the disk before it returns."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import Self, final
from urllib.parse import quote
from uuid import uuid4

from expost.errors import LedgerConflict
from expost.ledgers.file import (
    APPLICATION,
    file_conflict,
    foreign_parts,
    is_mounted_alone,
    migrate_file,
    names_of,
    write_name_through,
    write_tables,
)
from expost.ledgers.home import WAIT_SECONDS, Cell, Change, Row
from expost.ledgers.tables import ENTER, MIGRATIONS, require_version

WRITE, READ = "BEGIN IMMEDIATE", "BEGIN"


@final
class _Transaction:
    """One transaction on a connection."""

    __slots__ = ("_cursor", "queued", "written")

    def __init__(self, cursor: sqlite3.Cursor) -> None:
        self._cursor, self.written = cursor, 0
        self.queued: list[Change] = []

    def rows(self, sql: str, *cells: Cell) -> list[Row]:
        """What a query finds; the whole file is locked, so that no row has to be."""
        return self._cursor.execute(sql.removesuffix("{lock}"), cells).fetchall()

    def soon(self, sql: str, *cells: Cell) -> None:
        """There is no way to a server that could be saved."""

    def later(self, sql: str, *cells: Cell) -> None:
        """A change, made at the end."""
        self.queued.append((sql, cells))


@final
class SqliteHome:
    """A ledger in one file, for any number of processes on one machine.

    Only its owner may read it. Writers follow one another; a commit waits for the disk.
    """

    def __init__(self, path: Path, *, wait: float = WAIT_SECONDS) -> None:
        self._path, self._lock, self._pid = path, RLock(), os.getpid()
        self._names = os.fsencode(path), os.fsencode(f"{os.path.realpath(path)}-wal")
        self._connection: sqlite3.Connection | None = None
        with self._told():
            self._connection = self._connect(wait)
            self._cursor = self._connection.cursor()
            try:
                self._require_ours()
                self._places = self._found()
            except BaseException:
                self.close()
                raise

    @classmethod
    def create(cls, path: Path, *, wait: float = WAIT_SECONDS) -> Self:
        """A new ledger in a new file; a file that is there is refused unless it is a ledger.

        It is made beside its place and put there when it is whole, so that a process that dies leaves none that is not.
        """
        beside = [f"{path}{end}" for end in ("-wal", "-shm", "-journal")]
        strays = [name for name in beside if os.path.lexists(name)]
        if os.path.lexists(path):  # looked for after what lies beside it, which another process makes later
            return cls(path, wait=wait)
        if strays:
            raise LedgerConflict(
                f"{strays[0]} is left of a ledger whose file is gone, and would become part of the new one; put the "
                "file back, or move this one away."
            )
        made = path.with_name(f".{path.name}.{uuid4().hex}")
        try:
            os.close(os.open(made, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
            write_tables(made)
            with suppress(FileExistsError):  # somebody else made it meanwhile
                os.link(made, path)
            write_name_through(path.parent)
        except sqlite3.Error as failure:
            raise file_conflict(path, failure) from None
        except OSError as refused:
            raise LedgerConflict(f"the ledger {path} cannot be made ({refused.strerror}); name another file.") from None
        finally:
            for left in (made, Path(f"{made}-wal"), Path(f"{made}-shm")):
                with suppress(OSError):  # such as a name too long to be looked for
                    left.unlink()
        return cls(path, wait=wait)

    @property
    def name(self) -> str:
        """The path as it was given."""
        return str(self._path)

    def writing(self) -> AbstractContextManager[_Transaction]:
        """A transaction that has the file for itself."""
        return self._within(WRITE)

    def enter(self, change: Change, entry: Row) -> bool:
        """A transaction that reads nothing."""
        self._require_home()
        with self._lock:
            cursor = self._opened()
            execute = cursor.execute
            try:
                execute(READ)  # the change that comes first waits for the lock, and reads what is there then
                is_there = execute(*change).rowcount > 0
                if is_there:
                    execute(ENTER, entry)
                execute("COMMIT")
            except BaseException as failure:
                self._undo(cursor, failure)
                raise
        self._require_in_place()
        return is_there

    def reading(self) -> AbstractContextManager[_Transaction]:
        """A transaction that sees one state."""
        return self._within(READ)

    def flaws(self) -> list[str]:
        """What SQLite finds wrong with the file itself."""
        with self.reading() as reading:
            found = [*reading.rows("PRAGMA integrity_check(5)"), *reading.rows("PRAGMA foreign_key_check")]
            foreign = foreign_parts(reading.rows, len(MIGRATIONS))
        told = [f"{name} is not there or is one that expost did not make" for name in foreign]
        return [*told, *(" ".join(map(str, row)) for row in found if tuple(row) != ("ok",))]

    def close(self) -> None:
        """Let the file go."""
        if self._connection is not None and os.getpid() == self._pid:
            self._connection.close()
        self._connection = None

    @contextmanager
    def _within(self, begin: str) -> Iterator[_Transaction]:
        self._require_home()
        with self._lock:
            cursor = self._opened()
            try:
                cursor.execute(begin)
                yield (transaction := _Transaction(cursor))
                for sql, cells in transaction.queued:
                    transaction.written = cursor.execute(sql, cells).rowcount
                cursor.execute("COMMIT")
            except BaseException as failure:
                self._undo(cursor, failure)
                raise
        if begin == WRITE:
            self._require_in_place()

    def _require_home(self) -> None:
        if os.getpid() != self._pid:
            raise LedgerConflict("this ledger was opened by another process; open it in each process anew.")

    def _opened(self) -> sqlite3.Cursor:
        """The one cursor, since to make one takes as long as a statement does."""
        if self._connection is None:
            raise LedgerConflict(f"the ledger {self._path} is closed; open it again.")
        return self._cursor

    def _undo(self, cursor: sqlite3.Cursor, failure: BaseException) -> None:
        """Take back what was not committed; what SQLite says is raised in a sentence of ours."""
        with suppress(sqlite3.Error):  # a failed commit may have ended it already
            cursor.execute("ROLLBACK")
        if isinstance(failure, sqlite3.Error):
            raise file_conflict(self._path, failure) from None

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What SQLite says, in a sentence of ours."""
        try:
            yield
        except sqlite3.Error as failure:
            raise file_conflict(self._path, failure) from None

    def _connect(self, wait: float) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"file:{quote(os.fsencode(self._path))}?mode=rw", uri=True, isolation_level=None, check_same_thread=False,
            timeout=wait,
        )  # fmt: skip
        for pragma in ("synchronous = FULL", "fullfsync = ON", "foreign_keys = ON", "trusted_schema = OFF"):
            connection.execute(f"PRAGMA {pragma}")
        return connection

    def _require_ours(self) -> None:
        self._cursor.execute(READ)  # another process may make what is missing meanwhile
        (application,) = self._cursor.execute("PRAGMA application_id").fetchone()
        (version,) = self._cursor.execute("PRAGMA user_version").fetchone()
        if application != APPLICATION:
            raise LedgerConflict(f"{self._path} is not a ledger of expost; name another file.")
        require_version(version, self.name)
        if foreign_parts(lambda sql: self._cursor.execute(sql).fetchall(), version):
            raise LedgerConflict(
                f"the ledger {self._path} has tables, triggers or views that expost did not make; restore it from a "
                "backup, and compare that with your receipts."
            )
        self._cursor.execute("COMMIT")
        place = Path(os.path.realpath(self._path))
        if names_of(place) > 1:
            raise LedgerConflict(
                f"the file of the ledger {self._path} has several names, which would each have a log of their own; "
                "delete all hard links to it but one."
            )
        if is_mounted_alone(place):
            raise LedgerConflict(
                f"the ledger {self._path} is mounted without its folder, so that its log would be kept apart from it; "
                "mount the folder."
            )
        (mode,) = self._cursor.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise LedgerConflict(f"the ledger {self._path} cannot be kept safely on its disk; move it to another.")
        if version < len(MIGRATIONS):
            migrate_file(self._cursor)

    def _found(self) -> tuple[tuple[int, ...], ...] | None:
        """Which file and which log stand under their names, and how many names these have: inode, device, links."""
        file, log = self._names
        try:
            return os.stat(file)[1:4], os.stat(log)[1:4]  # noqa: PTH116  a path would take longer than to look
        except OSError:
            return None

    def _require_in_place(self) -> None:
        """Refuse to go on in a file that others no longer find: what it says would be lost with this process."""
        found = self._found()
        if found is None or found != self._places:
            raise LedgerConflict(
                f"the ledger {self._path} or its log was moved, deleted or replaced while it was open, or has a second "
                "name; restore both, and compare them with your receipts."
            )
