"""Where a release goes: a path that is resolved once, and refused unless nothing but a release of ours can be lost."""

import json
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import final

from expost.errors import InvalidValue

PRODUCTS = frozenset({"synthetic.csv", "synthetic.parquet", "model.npz", "model.pt"})
"""What a job may put into its folder; a folder with any other file is not taken for a release."""
RECEIPT, REPORT, EARLIER = "receipt.json", "report.html", "earlier"
RECEIPTS = re.compile(r"receipt-([1-9][0-9]{0,8})\.json")
"""Receipts of the releases that were replaced, in the order of their numbers."""
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
    return isinstance(found, dict) and str(found.get("format")).startswith("expost receipt ")
