"""DuckDB on a short leash: no extensions, no Python variables, and what memory cannot hold in a private folder."""

import atexit
import os
import platform
import re
import shutil
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection

MARK = "expost-spill"
WILDCARDS = re.compile(r"[*?\[]")


def connection() -> DuckDBPyConnection:
    """A database in memory where a name means a table or a file, never a Python variable that happens to have it.

    DuckDB writes rows that do not fit into memory to files that anybody may read, in the working directory unless
    told otherwise; here they go into a folder that only the owner of the process can enter.
    """
    return duckdb.connect(
        ":memory:",
        config={
            "python_enable_replacements": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "allow_community_extensions": False,
            "temp_directory": str(_spill(os.getpid())),
        },
    )


def confined(paths: Iterable[Path]) -> DuckDBPyConnection:
    """The same, where SQL can read these files and reach nothing else, and cannot change that."""
    home = connection()
    names = ", ".join("'" + str(path.absolute()).replace("'", "''") + "'" for path in paths)
    home.execute(f"SET allowed_paths = [{names}]")
    home.execute("SET enable_external_access = false")
    home.execute("SET lock_configuration = true")
    return home


def literal(path: Path) -> str:
    """A path in which DuckDB finds no pattern: ``[2024]/a.parquet`` would otherwise read ``2/a.parquet``."""
    return WILDCARDS.sub(lambda found: f"[{found[0]}]", str(path))


@cache
def _spill(process: int) -> Path:
    """A folder of this process, gone when it ends; those that killed processes left behind go too."""
    here = f"{MARK}-{re.sub(r'[^A-Za-z0-9]', '', platform.node())}-"
    for left in Path(tempfile.gettempdir()).glob(f"{here}*"):
        if _abandoned(left, here):
            shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{here}{process}-"))
    atexit.register(_remove, folder, process)
    return folder


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:  # a fork that ends must not take the folder from its parent
        shutil.rmtree(folder, ignore_errors=True)


def _abandoned(folder: Path, here: str) -> bool:
    """Whether the folder was ours, made on this machine by a process that no longer runs."""
    number = folder.name.removeprefix(here).partition("-")[0]
    try:
        if os.name != "posix" or not number.isdigit() or folder.lstat().st_uid != os.getuid():
            return False
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
