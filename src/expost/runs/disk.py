"""Files that are on the disk, and not only on their way to it."""

import os
from contextlib import suppress
from pathlib import Path


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
    """Write a text file that is on the disk when this returns."""
    path.write_text(text, encoding="utf-8")
    sync(path)
