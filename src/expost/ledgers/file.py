"""The file of a ledger: that it does nothing by itself, that it has one name and one log, and what is wrong with it."""

import glob
import os
import re
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import TypeAlias

from expost.errors import LedgerConflict
from expost.ledgers.tables import MIGRATIONS

Asked: TypeAlias = Callable[[str], Sequence[Sequence[object]]]
"""What a query finds in the file."""
APPLICATION = 0x65787073
"""How SQLite knows a file of ours from one of another program: "exps"."""
REASONS = {
    "SQLITE_BUSY": "is in use by another program that does not let go; try again, or end that program",
    "SQLITE_LOCKED": "is in use by another program that does not let go; try again, or end that program",
    "SQLITE_FULL": "cannot grow, because its disk is full; make room there",
    "SQLITE_READONLY": "is read-only; give yourself the right to write to it and to its folder",
    "SQLITE_CANTOPEN": "cannot be opened; name a file that is there, or make one with `expost ledger init`",
    "SQLITE_CORRUPT": "is damaged; restore it from a backup, and compare that with your receipts",
    "SQLITE_IOERR": "cannot be read or written, because its disk reports an error or is full; see to the disk",
    "SQLITE_CONSTRAINT": "refused an entry that breaks its own rules; the file was changed by another program",
}
"""What went wrong with a file and what to do, by SQLite's name for it."""
MOUNTS, POINT = Path("/proc/self/mountinfo"), 4
"""Where Linux lists what is mounted, and where a line of it has the place."""
MADE = "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL"


def foreign_parts(rows: Asked, version: int) -> list[str]:
    """What the file has that expost did not make, or lacks: triggers and views, which act unasked, and other tables.

    Tables that have nothing to do with ours are left alone.
    """
    known = _made(version)
    tables = {table for _, _, table, _ in known}
    found = {tuple(map(str, row)) for row in rows(MADE) if row[2] in tables or row[0] in ("trigger", "view")}
    return sorted({name for _, name, _, _ in found ^ known})


def names_of(path: Path) -> int:
    """How many names the file has, once what an ``init`` that was killed left of its own making is cleared away.

    A ledger is opened under one name: its log is beside that name, and would not be found under another.
    """
    found = path.stat()
    if found.st_nlink > 1:
        for left in path.parent.glob(f".{glob.escape(path.name)}.*"):
            with suppress(FileNotFoundError):
                if os.path.samestat(left.lstat(), found):
                    left.unlink()
    return path.stat().st_nlink


def is_mounted_alone(path: Path) -> bool:
    """Whether the file stands at its place without its folder, as in a container: its log would stay behind there."""
    try:
        lines = MOUNTS.read_bytes().splitlines()
    except OSError:  # not on Linux
        return False
    points = (re.sub(rb"\\([0-7]{3})", lambda code: bytes([int(code[1], 8)]), line.split()[POINT]) for line in lines)
    return os.fsencode(path) in points


def write_name_through(folder: Path) -> None:
    """Let a new name in a folder be on the disk."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def write_tables(path: Path) -> None:
    """Make an empty file a ledger."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for pragma in ("journal_mode = WAL", "synchronous = FULL", f"application_id = {APPLICATION}"):
            connection.execute(f"PRAGMA {pragma}")
        migrate_file(connection.cursor())


def migrate_file(cursor: sqlite3.Cursor) -> None:
    """Make the tables that are missing, one process at a time; all of them or, if the connection ends before, none."""
    cursor.execute("BEGIN IMMEDIATE")
    (version,) = cursor.execute("PRAGMA user_version").fetchone()
    for statement in (each for migration in MIGRATIONS[version:] for each in migration):
        cursor.execute(statement)
    cursor.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    cursor.execute("COMMIT")


def file_conflict(path: Path, failure: sqlite3.Error) -> LedgerConflict:
    """What SQLite says of a file, in a sentence of ours."""
    kind = getattr(failure, "sqlite_errorname", "")
    if kind == "SQLITE_NOTADB":
        return LedgerConflict(f"{path} is not a ledger of expost; name another file.")
    if kind.startswith("SQLITE_CANTOPEN") and os.access(path, os.F_OK) and not _is_writable(path):
        kind = "SQLITE_READONLY"  # where one is there, a new one would begin with nothing spent
    reason = next((told for start, told in REASONS.items() if kind.startswith(start)), None)
    return LedgerConflict(f"the ledger {path} {reason or f'cannot be used ({kind or type(failure).__name__})'}.")


def _is_writable(path: Path) -> bool:
    """Whether the file may be written to, and its log beside it."""
    return all(os.access(each, os.R_OK | os.W_OK) for each in (path, Path(os.path.realpath(path)).parent))


@cache
def _made(version: int) -> frozenset[tuple[str, ...]]:
    """What the migrations up to a version make."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in (each for migration in MIGRATIONS[:version] for each in migration):
            connection.execute(statement)
        return frozenset(tuple(map(str, row)) for row in connection.execute(MADE))
