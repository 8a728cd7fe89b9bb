"""The folder of a release: its product, report and receipt, all or nothing."""

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from expost.errors import InvalidBound, SchemaMismatch
from expost.report import Facts, TuningFacts, render, written


def deliver(folder: Path, facts: Facts | TuningFacts, put: Callable[[Path], None], *, overwrite: bool) -> None:
    """Make a new folder of what ``put`` writes into it, the report and the receipt."""
    refuse_existing(folder, overwrite=overwrite)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as scratch:
        fresh = Path(scratch) / "release"
        fresh.mkdir()
        put(fresh)
        (fresh / "report.html").write_text(render(facts), encoding="utf-8")
        (fresh / "receipt.json").write_text(written(facts), encoding="utf-8")
        _replace(folder, fresh)


def refuse_existing(folder: Path, *, overwrite: bool) -> None:
    """Refuse a folder that is there already or cannot be made, before anything is spent on filling it."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise InvalidBound(f"{folder} is no folder; name one for the release.")
    if folder.exists() and not overwrite:
        raise SchemaMismatch(f"{folder} exists; name another folder, or say --overwrite to replace it.")
    above = next(each for each in (folder.absolute(), *folder.absolute().parents) if each.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise InvalidBound(f"{folder} cannot be made, because {above} is no folder to write to; name another.")


def _replace(folder: Path, fresh: Path) -> None:
    """Put the fresh folder into its place; the one that was there goes last, so that a crash leaves one of them."""
    aside = folder.with_name(f"{fresh.parent.name}-replaced")
    try:
        if folder.exists():
            folder.rename(aside)
        fresh.rename(folder)
    except BaseException:
        if aside.exists() and not folder.exists():
            aside.rename(folder)
        raise
    if aside.exists():
        shutil.rmtree(aside)
