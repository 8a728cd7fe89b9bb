"""A ledger that writes through: what is held, spent and shown is on the disk before the run goes on."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self, final

from expost.accounting.claim import Promise, Spent
from expost.accounting.pledge import Pledge
from expost.errors import LedgerConflict
from expost.folders.disk import open_new, sync_names
from expost.ledger import Entry, Hold, MemoryLedger
from expost.receipts.journal import capture_line, hold_line, opening_line, pledge_line, shown_line
from expost.text import Json


@final
class Journal:
    """The record of one run in a file: what it holds, spends and shows is on the disk before the run goes on.

    Give it to the odometer of the run, and to no other. A hold that cannot be written is refused, and nothing is
    opened. A capture that cannot be written leaves its hold in the file, which states no less, so that what was paid
    for is not lost to a full disk. Whatever ends the run, ``expost audit`` says what the file says.
    """

    __slots__ = ("_begun", "_file", "_last", "_memory", "_numbers", "_pid", "_written")

    def __init__(self, file: int) -> None:
        self._file: int | None = file
        self._memory = MemoryLedger()
        self._numbers: dict[Hold, int] = {}
        self._last: Hold | None = None
        self._written, self._begun, self._pid = 0, False, os.getpid()
        self._append(opening_line())

    @classmethod
    def at(cls, path: str | Path) -> Self:
        """A journal in a new file, which stays when the run has ended; to be used in a ``with`` statement, or closed.

        A file that is there already may be the bill of another run, and is refused.
        """
        try:
            file = open_new(Path(path), mode=0o600)
        except FileExistsError:
            raise LedgerConflict(f"{path} exists and may be the bill of another run; name another file.") from None
        except (OSError, ValueError) as refused:
            raise _unwritten(path, refused) from None
        try:
            journal = cls(file)
        except OSError as refused:
            Path(path).unlink()
            os.close(file)
            raise _unwritten(path, refused) from None
        sync_names(Path(path).parent)
        return journal

    def close(self) -> None:
        """End the journal: what is on it stays readable, and nothing more is spent through it."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def pledge(self, pledge: Pledge | None) -> None:
        """Put on record, before anything else, how the total will be stated, for one odometer.

        A second odometer is refused: the names of parts are those of one, and of two parts that are not of one split a
        reader would take the dearer.
        """
        if self._begun:
            raise LedgerConflict(
                "a journal is for one odometer, which begins it only once; open another for another run."
            )
        self._memory.pledge(pledge)
        self._begun = True
        if pledge is not None:
            self._append(pledge_line(pledge))

    def hold(self, entry: Entry, promise: Promise) -> Hold:
        """Put on record that at most this promise is about to be spent."""
        self._append(hold_line(self._written + 1, entry, promise, before=self._last))
        self._written, self._last = self._written + 1, Hold(entry, promise)  # whether or not it is refused next
        hold = self._memory.hold(entry, promise)
        self._numbers[hold] = self._written
        return hold

    def capture(self, hold: Hold, spent: Spent) -> None:
        """Replace a hold by what the step did spend, once."""
        self._memory.capture(hold, spent)
        with suppress(OSError, LedgerConflict):
            self._append(capture_line(self._numbers[hold], hold, spent))

    def show(self, cells: Mapping[str, str]) -> None:
        """Put on record what is about to be shown of a rung, which is on the bill already."""
        with suppress(OSError, LedgerConflict):
            self._append(shown_line(cells))

    @property
    def pledged(self) -> Pledge | None:
        """The pledge of the run, if it has one."""
        return self._memory.pledged

    @property
    def lines(self) -> tuple[tuple[Entry, Spent, int], ...]:
        """What was captured: entry, bill of one step, and how many equal steps in a row."""
        return self._memory.lines

    @property
    def held(self) -> tuple[Hold, ...]:
        """Holds that were never captured: steps that failed or are under way."""
        return self._memory.held

    def _append(self, line: Mapping[str, Json]) -> None:
        """Add a line, whole and on the disk, or nothing: what is cut short would spoil the line after it."""
        if self._file is None:
            raise LedgerConflict("this journal is closed and takes no more records; begin another for another run.")
        if os.getpid() != self._pid:  # whose lines would have the numbers of ours
            raise LedgerConflict("this journal was copied into another process; give each process its own.")
        left, before = (json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n").encode(), os.fstat(self._file)
        try:
            while left:
                left = left[os.write(self._file, left) :]
            os.fsync(self._file)
        except BaseException:
            os.ftruncate(self._file, before.st_size)
            raise


def _unwritten(path: str | Path, refused: OSError | ValueError) -> LedgerConflict:
    reason = getattr(refused, "strerror", None) or "it is not a path"
    return LedgerConflict(
        f"the journal {str(path)!r} cannot be written ({reason}); name a file in a folder to write to."
    )
