"""A database in memory for what is read: DuckDB on a short leash, without extensions, and of a bounded size."""

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection

from expost.tabular.source.spill import spill_folder

A_THREAD = 2**27
"""Bytes of memory for each thread: one that reads a wide file of Parquet holds a group of its rows."""

WILDCARDS = re.compile(r"[*?\[]")


CLOSED = {
    "python_enable_replacements": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
}
"""A name means a table or a file, never a Python variable that happens to have it, and nothing is loaded."""


def connection(*, memory: int | None = None) -> DuckDBPyConnection:
    """A database in memory on a short leash, which takes up to ``memory`` bytes, or most of what the machine has.

    DuckDB writes rows that do not fit into memory to files that anybody may read, in the working directory unless told
    otherwise; here they go into a folder that only the owner of the process can enter.
    """
    limit: dict[str, str | int] = {} if memory is None else {"memory_limit": f"{memory}B"}
    if memory is not None and memory // A_THREAD < (os.cpu_count() or 1):
        limit["threads"] = max(1, memory // A_THREAD)
    return _silent({"temp_directory": str(spill_folder(os.getpid())), **limit})


def small_connection() -> DuckDBPyConnection:
    """One for a task beside others, of few rows at a time: of one thread, and without files."""
    return _silent({"temp_directory": "", "threads": 1})


def _silent(settings: Mapping[str, str | int]) -> DuckDBPyConnection:
    home = duckdb.connect(":memory:", config={**CLOSED, **settings})
    home.execute("SET enable_progress_bar = false")  # it would be written among what a command tells
    return home


def confined(paths: Iterable[Path], *, memory: int | None = None) -> DuckDBPyConnection:
    """The same, where SQL can read these files and reach nothing else, and cannot change that."""
    home = connection(memory=memory)
    names = ", ".join("'" + str(path.absolute()).replace("'", "''") + "'" for path in paths)
    home.execute(f"SET allowed_paths = [{names}]")
    home.execute("SET enable_external_access = false")
    home.execute("SET lock_configuration = true")
    return home


def literal(path: Path) -> str:
    """A path in which DuckDB finds no pattern: ``[2024]/a.parquet`` would otherwise read ``2/a.parquet``."""
    return WILDCARDS.sub(lambda found: f"[{found[0]}]", str(path))
