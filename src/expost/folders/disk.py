"""Files that are on the disk, and not only on their way to it, or that are one run's alone."""

import hashlib
import os
import sys
from contextlib import suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl

NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


def sync(path: Path) -> None:
    """Wait until the file is on the disk."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def sync_names(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, where the system can say so."""
    with suppress(OSError):
        sync(folder)


def write_through(path: Path, text: str) -> None:
    """Write a text file that is on the disk when this returns, with the same bytes on every system."""
    path.write_text(text, encoding="utf-8", newline="\n")
    sync(path)


def file_digest(path: Path) -> str:
    """The SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def open_new(path: Path, *, mode: int) -> int:
    """A file that was not there before, for appending and for this process alone; FileExistsError if it was."""
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | NO_LINK, mode)
    with suppress(OSError):  # where nothing can be locked, that the file is there has to do
        lock(file)
    if not is_named(path, file):  # before it was locked another run took it for one that nobody has
        os.close(file)
        raise FileExistsError(path)
    return file


def is_named(path: Path, file: int) -> bool:
    """Whether the name is still that of the open file."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(file))
    except OSError:
        return False


def lock(file: int, *, wait: bool = True) -> None:
    """Have the file for this process alone; OSError if another has it, or if nobody can say."""
    if sys.platform == "win32":
        raise OSError("this system has no file locks that end with their process")
    fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
