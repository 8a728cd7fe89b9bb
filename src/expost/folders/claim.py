"""The folder of a release: claimed by one run before anything is spent, filled all or nothing, or given up.

The claim is the journal beside the folder: locked while its run lives, which the system ends with the process, and
left behind by a run that was stopped after it had spent something.
"""

import os
import shutil
from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Self, final

from expost.errors import InvalidValue, LedgerConflict, Unreadable
from expost.folders.disk import NO_LINK, is_named, lock, open_new, sync, sync_names, write_through
from expost.folders.journal import Journal
from expost.folders.place import EARLIER, FRESH, PRODUCTS, RECEIPT, REPORT, Place, receipts, scratch, swap, sweep
from expost.ledger import MemoryLedger
from expost.receipts.journal import is_journal, read_journal
from expost.recorded import ReadableLedger


@final
class Claim:
    """The right to make one folder; ``apart`` are the files that it must not hold, because the run reads them."""

    def __init__(self, typed: Path, *, overwrite: bool = False, apart: Iterable[Path] = ()) -> None:
        self.place, self.overwrite, self.apart = Place.of(typed), overwrite, tuple(apart)
        self.delivered: Path | None = None
        self._file: int | None = None
        self._made: list[Path] = []
        self._journal: Journal | None = None

    @property
    def journal(self) -> Journal:
        """The record of the run; what is on it stays readable when the claim was given up."""
        assert self._journal is not None  # it was entered
        return self._journal

    @property
    def ledger(self) -> ReadableLedger:
        """The same; empty if the claim was refused."""
        return MemoryLedger() if self._journal is None else self._journal

    @property
    def where(self) -> Path:
        """Where the release is: the folder as it was typed, unless it had to go elsewhere."""
        return self.place.typed if self.delivered in (None, self.place.folder) else self.delivered

    @property
    def left(self) -> Path | None:
        """The journal, if the claim was given up without it: something is spent, and no receipt says so."""
        kept = self._journal is not None and self._file is None and self.place.journal.exists()
        return self.place.typed.with_name(self.place.journal.name) if kept else None

    def __enter__(self) -> Self:
        self.place.require_free(overwrite=self.overwrite, apart=self.apart)
        try:
            self._make_parents()
            self._file = _begin(self.place)
            self._journal = Journal(self._file)
            sync_names(self.place.folder.parent)
            sweep(self.place.folder)
            self.place.require_free(overwrite=self.overwrite, apart=self.apart)  # a sweep may have put a release back
        except OSError:
            self.give_up()
            above = next(each for each in self.place.folder.parents if each.exists())
            raise InvalidValue(
                f"{self.place.typed} cannot be made, because {above} is not a folder to write to; name another."
            ) from None
        except BaseException:
            self.give_up()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.give_up()

    def _make_parents(self) -> None:
        missing = [each for each in self.place.folder.parents if not each.exists()]
        for each in reversed(missing):
            each.mkdir()
            self._made.append(each)

    def give_up(self) -> None:
        """Let the folder go, now and for good; the journal stays if it holds what no receipt does."""
        spent = self._journal is not None and (self._journal.lines or self._journal.held)
        if self._file is not None:
            if (not spent or self.delivered is not None) and is_named(self.place.journal, self._file):
                with suppress(OSError):  # a folder that is read-only by now keeps it
                    self.place.journal.unlink()
            os.close(self._file)
            self._file = None
        for each in reversed(self._made):
            with suppress(OSError):  # it is in use
                each.rmdir()


def _begin(place: Place) -> int:
    """A journal that is new and locked; one that a dead run left behind is kept under another name."""
    while True:
        try:
            return open_new(place.journal, mode=0o666)
        except FileExistsError:
            _set_aside(place)


def _set_aside(place: Place) -> None:
    """Keep a journal that a dead run left, if something is on it; refuse what a living one writes, or is not ours."""
    path = place.journal
    try:
        file = os.open(path, os.O_RDWR | NO_LINK)
    except FileNotFoundError:
        return
    except OSError:
        raise _foreign(place) from None
    with os.fdopen(file, encoding="utf-8", errors="replace") as journal:
        try:
            lock(file, wait=False)
        except OSError:
            raise LedgerConflict(
                f"another run is making {place.typed}; name another folder, or wait until it has ended."
            ) from None
        text = journal.read()
        if not is_named(path, file):
            return
        if text and not is_journal(text):
            raise _foreign(place)
        if not text or _says_nothing(text):  # a run that was killed before its first line has spent nothing
            path.unlink()
        else:
            path.rename(next(each for each in _numbered(path) if not os.path.lexists(each)))


def _numbered(path: Path) -> Iterable[Path]:
    return (path.with_name(f"{path.stem}-{number}{path.suffix}") for number in count(1))


def _says_nothing(text: str) -> bool:
    """Whether nothing is on a journal, for sure."""
    try:
        return not read_journal(text).bill
    except Unreadable:
        return False


def _foreign(place: Place) -> Unreadable:
    return Unreadable(
        f"{place.journal.name}, where the journal of the run belongs, is not a journal of expost; move it, or name "
        "another folder."
    )


def deliver(
    folder: Path | Claim, put: Callable[[Path], None], *, receipt: str, report: str, overwrite: bool = False
) -> None:
    """Make a new folder of the receipt, the report and what ``put`` writes into it, on the disk when this returns.

    A folder that was claimed before is filled as it was claimed; a path is claimed for the purpose.
    """
    with nullcontext(folder) if isinstance(folder, Claim) else Claim(folder, overwrite=overwrite) as claim:
        target = claim.place.folder
        target.parent.mkdir(parents=True, exist_ok=True)  # should it have vanished since it was claimed
        with scratch(target) as made:
            fresh = made / FRESH
            write_through(fresh / RECEIPT, receipt)
            write_through(fresh / REPORT, report)
            put(fresh)
            _require_known(fresh)
            claim.place.require_free(overwrite=claim.overwrite, apart=claim.apart)
            _keep_receipts(target, fresh)
            swap(made, target)
            sync_names(target.parent)
            claim.delivered = target


def _require_known(fresh: Path) -> None:
    """Everything that was put is on the disk, and would be recognised by whoever replaces it."""
    for each in fresh.iterdir():
        assert each.name in PRODUCTS | {RECEIPT, REPORT}, f"{each.name} is to be one of PRODUCTS"
        sync(each)
    sync_names(fresh)


def _keep_receipts(old: Path, fresh: Path) -> None:
    """Carry the receipts of a release, and of those that it replaced, into the one that replaces it."""
    if not old.exists():
        return
    (fresh / EARLIER).mkdir()
    for number, each in enumerate((*receipts(old), old / RECEIPT), start=1):
        kept = fresh / EARLIER / f"receipt-{number}.json"
        shutil.copyfile(each, kept)
        sync(kept)
    sync_names(fresh / EARLIER)
