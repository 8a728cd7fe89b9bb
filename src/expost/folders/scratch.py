"""The hidden folder in which a release is put together, and what is done about those that killed runs left behind."""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from expost.folders.exchange import exchange
from expost.folders.place import EARLIER, PRODUCTS, RECEIPT, REPORT, is_release, receipts

FRESH, REPLACED = "release", "replaced"


@contextmanager
def scratch(folder: Path) -> Iterator[Path]:
    """A hidden folder beside the one to be made, gone afterwards; the old release goes back unless it was replaced."""
    made = Path(tempfile.mkdtemp(dir=folder.parent, prefix=_prefix(folder)))
    try:
        (made / FRESH).mkdir()
        yield made
    finally:
        _clear(made, folder)


def sweep(folder: Path) -> None:
    """Clear what runs into this folder left beside it; only for who has claimed it, so that those runs are dead."""
    name = re.compile(re.escape(_prefix(folder)) + r"\w{8}")
    for each in folder.parent.glob(f"{_globbed(_prefix(folder))}*"):
        if name.fullmatch(each.name) and each.is_dir() and not each.is_symlink() and _is_mine(each):
            _clear(each, folder)


def swap(made: Path, folder: Path) -> None:
    """Put the fresh release into its place; what was there is kept until then, and its receipts for good.

    A process that is killed leaves one of the two in the place, unless the system cannot exchange them at once: then
    there is a moment with neither, and the next run puts the old one back.
    """
    fresh, replaced = made / FRESH, made / REPLACED
    if not folder.exists():
        fresh.rename(folder)
        return
    fresh.rename(replaced)  # so that the old one bears this name from the moment that they are exchanged
    if not exchange(replaced, folder):
        replaced.rename(fresh)
        folder.rename(replaced)
        fresh.rename(folder)


def _clear(made: Path, folder: Path) -> None:
    """Put a release back that was taken away for one that never came, and remove the rest, as far as we wrote it."""
    fresh, replaced = made / FRESH, made / REPLACED
    with suppress(OSError):  # whatever cannot be removed stays, and the next run tries again
        if replaced.exists() and not os.path.lexists(folder):
            replaced.rename(folder)
        elif is_release(replaced) and _keeps(replaced, folder):  # the fresh one, which was not exchanged
            replaced.rename(fresh)
        if fresh.exists():
            shutil.rmtree(fresh)
        if is_release(replaced) and _keeps(folder, replaced):
            _remove(replaced)
        if replaced.exists():
            replaced.rmdir()
        made.rmdir()


def _remove(release: Path) -> None:
    """Empty the folder of a release; its receipt goes last, so that it is known as one if that takes two runs."""
    for name in (*PRODUCTS, REPORT):
        (release / name).unlink(missing_ok=True)
    for each in receipts(release):
        each.unlink()
    with suppress(FileNotFoundError):
        (release / EARLIER).rmdir()
    (release / RECEIPT).unlink()


def _keeps(new: Path, old: Path) -> bool:
    """Whether every receipt of a release is kept by the one that is to replace it, or has."""
    kept = {each.read_bytes() for each in receipts(new)}
    return {each.read_bytes() for each in (*receipts(old), old / RECEIPT)} <= kept


def _prefix(folder: Path) -> str:
    return f".{folder.name}-expost-"


def _globbed(text: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", text)


def _is_mine(path: Path) -> bool:
    return os.name != "posix" or path.lstat().st_uid == os.getuid()
