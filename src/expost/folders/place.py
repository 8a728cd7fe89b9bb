"""Where a release goes, and how it gets there at once: refused unless nothing but a release of ours can be lost."""

import ctypes
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import final

from expost.errors import InvalidValue

COUNTS, SCHEMA = "counts.csv", "schema.toml"
PRODUCTS = frozenset(
    {"synthetic.csv", "synthetic.parquet", "answers.csv", "answers.parquet", COUNTS, SCHEMA, "model.npz", "model.pt"}
)
"""What a job may put into its folder; a folder with any other file is not taken for a release."""
RECEIPT, REPORT, EARLIER = "receipt.json", "report.html", "earlier"
RECEIPTS = re.compile(r"receipt-([1-9][0-9]{0,8})\.json")
"""Receipts of the releases that were replaced, in the order of their numbers."""
FORMATS = ("expost receipt ", "expost answer ")
"""How the formats of our receipts begin."""
LARGEST_RECEIPT = 2**26


@final
@dataclass(frozen=True, slots=True)
class Place:
    """A folder for a release: as it was typed, for messages, and as it was resolved, for everything else."""

    typed: Path
    folder: Path

    @classmethod
    def of(cls, typed: Path) -> "Place":
        """The place that a path names: ``missing/../keep`` is ``keep`` from here on, whatever is made in between."""
        try:
            whole = typed.resolve()
            # a link in the place itself is not followed, so that it is refused
            return cls(typed, whole if typed.name in ("", "..") else typed.parent.resolve() / typed.name)
        except (OSError, RuntimeError, ValueError):
            raise InvalidValue(f"{str(typed)!r} is not a path that can be followed; name another folder.") from None

    @property
    def journal(self) -> Path:
        """The journal of a run into this folder: beside it, so that it outlives a run that does not."""
        return self.folder.with_name(f"{self.folder.name}.journal")

    def require_free(self, *, overwrite: bool, apart: Iterable[Path] = ()) -> None:
        """Refuse a place that is taken, unless by a release that may be replaced and holds nothing in ``apart``."""
        folder = self.folder
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            raise InvalidValue(f"{self.typed} is not a folder; name one for the release.")
        if os.path.ismount(folder):
            raise InvalidValue(f"{self.typed} is a mount point, which cannot be replaced; name a folder inside it.")
        if not folder.exists():
            return
        if not overwrite:
            raise InvalidValue(f"{self.typed} exists; name another folder, or use --overwrite to replace a release.")
        for each in map(_followed, (*apart, Path())):
            if folder == each or folder in each.parents:
                raise InvalidValue(f"{self.typed} holds what this run reads or runs in; name another folder.")
        if not is_release(folder):
            raise InvalidValue(
                f"{self.typed} is not a release of expost, or holds other files too; only releases are replaced, so "
                "name another folder."
            )


def is_release(folder: Path) -> bool:
    """Whether a folder has a receipt of ours, and nothing that we did not write."""
    try:
        files = {each.name: each for each in folder.iterdir()}
        earlier = files.pop(EARLIER, None)
        if earlier is not None and not (_is_folder(earlier) and len(receipts(folder)) == len([*earlier.iterdir()])):
            return False
        ours = PRODUCTS | {RECEIPT, REPORT}
        return files.keys() <= ours and all(map(_is_file, files.values())) and _is_receipt(folder / RECEIPT)
    except OSError:
        return False


def receipts(folder: Path) -> list[Path]:
    """The receipts of all releases in a folder: those that were replaced, oldest first, without its own."""
    kept = (folder / EARLIER).iterdir() if _is_folder(folder / EARLIER) else ()
    numbered = {int(match[1]): each for each in kept if (match := RECEIPTS.fullmatch(each.name)) and _is_file(each)}
    return [numbered[number] for number in sorted(numbered)]


def _followed(path: Path) -> Path:
    with suppress(OSError, RuntimeError, ValueError):
        return path.resolve()
    return path


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _is_receipt(path: Path) -> bool:
    if not _is_file(path) or path.stat().st_size > LARGEST_RECEIPT:
        return False
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and str(found.get("format")).startswith(FORMATS)


AT_FDCWD = -100
"""Linux's word for paths as they are."""
SWAP = 2
"""RENAME_EXCHANGE of Linux, and RENAME_SWAP of macOS."""


def exchange(one: Path, other: Path) -> bool:
    """Whether the two have changed places; where the system cannot do that, both are where they were."""
    words = os.fsencode(one), os.fsencode(other)
    if sys.platform == "linux":
        call = getattr(ctypes.CDLL(None), "renameat2", None)
        return call is not None and call(AT_FDCWD, words[0], AT_FDCWD, words[1], ctypes.c_uint(SWAP)) == 0
    if sys.platform == "darwin":
        return bool(ctypes.CDLL(None).renamex_np(*words, ctypes.c_uint(SWAP)) == 0)
    return False


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
