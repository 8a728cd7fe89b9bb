"""The file of a ledger: that it does nothing by itself, and that it has one name only."""

import glob
import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import TypeAlias

from expost.ledgers.tables import MIGRATIONS

Asked: TypeAlias = Callable[[str], Sequence[Sequence[object]]]
"""What a query finds in the file."""
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


@cache
def _made(version: int) -> frozenset[tuple[str, ...]]:
    """What the migrations up to a version make."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in (each for migration in MIGRATIONS[:version] for each in migration):
            connection.execute(statement)
        return frozenset(tuple(map(str, row)) for row in connection.execute(MADE))
