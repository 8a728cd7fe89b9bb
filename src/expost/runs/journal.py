"""A recorder that writes through: what is held, spent and shown is on the disk before the run goes on."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import final

from expost.accounting.claim import Promise, Spent
from expost.accounting.pledge import Pledge
from expost.record import Entry, Hold, Memory
from expost.report.journal import capture_line, hold_line, opening_line, pledge_line, shown_line
from expost.report.notation import Json


@final
class Journal:
    """The record of one run, in memory and in a file that is open for appending.

    A hold that cannot be written is refused, and nothing is opened. A capture that cannot be written leaves its hold
    in the file, which states no less, so that what was paid for is not lost to a full disk.
    """

    __slots__ = ("_file", "_memory", "_numbers", "_written")

    def __init__(self, file: int) -> None:
        self._file, self._memory = file, Memory()
        self._numbers: dict[Hold, int] = {}
        self._written = 0
        self._append(opening_line())

    def pledge(self, pledge: Pledge) -> None:
        """Put on record, before anything else, how the total will be stated."""
        self._append(pledge_line(pledge))
        self._memory.pledge(pledge)

    def hold(self, entry: Entry, promise: Promise) -> Hold:
        """Put on record that at most this promise is about to be spent."""
        self._append(hold_line(self._written + 1, entry, promise))
        self._written += 1
        hold = self._memory.hold(entry, promise)
        self._numbers[hold] = self._written
        return hold

    def capture(self, hold: Hold, spent: Spent) -> None:
        """Replace a hold by what the step did spend, once."""
        self._memory.capture(hold, spent)
        with suppress(OSError):
            self._append(capture_line(self._numbers[hold], spent))

    def show(self, cells: Mapping[str, str]) -> None:
        """Put on record what is about to be shown of a rung, which is on the bill already."""
        with suppress(OSError):
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
        left, before = (json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n").encode(), os.fstat(self._file)
        try:
            while left:
                left = left[os.write(self._file, left) :]
            os.fsync(self._file)
        except BaseException:
            os.ftruncate(self._file, before.st_size)
            raise
