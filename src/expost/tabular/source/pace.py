"""Pace: how a pass over a large table gets on, for whoever waits for it."""

from collections.abc import Callable, Iterator
from time import monotonic
from typing import TypeAlias, final

from expost.tabular.source.coding import Chunk

Progress: TypeAlias = Callable[[str], None]
"""Hears what is being done."""

SILENT = 2.0
"""Seconds before there is anything to tell, and between two times."""
BRIEF = 1e-6
"""Seconds that a pass takes at least, lest a pace be divided by none."""


def silent(text: str) -> None:
    """Tell nobody."""


@final
class Pace:
    """Tells every now and then how many rows a second are passed and, if it is known, how long the rest will take.

    What is told is rounded to two digits: it says of the number of rows about what the time says that the pass takes.
    """

    def __init__(self, doing: str, tell: Progress) -> None:
        self._doing, self._tell = doing, tell
        self._begun = self._last = monotonic()
        self._rows = 0

    def passed(self, rows: int, share: float | None) -> None:
        """Note that more rows were passed, and which share of all rows these are together, if that is known."""
        self._rows, now = self._rows + rows, monotonic()
        if now - self._last >= SILENT:
            self._last = now
            seconds = max(BRIEF, now - self._begun)
            left = f", {time_left(seconds * (1 - share) / share)}" if share else ""
            self._tell(f"{self._doing} at {pace(self._rows / seconds)}{left}")


def with_pace(chunks: Iterator[Chunk], height: int | None, tell: Progress) -> Iterator[Chunk]:
    """The chunks, and how reading them gets on."""
    told, rows = Pace("reading the table", tell), 0
    for chunk in chunks:
        yield chunk
        rows += len(chunk.kept)
        told.passed(len(chunk.kept), rows / height if height else None)


def time_left(seconds: float) -> str:
    """How long it will take, in seconds or minutes."""
    if seconds < 1:
        return "nearly done"
    return f"about {seconds:.0f} s left" if seconds < 90 else f"about {seconds / 60:.0f} min left"


def pace(rows: float) -> str:
    """Rows a second, in two digits."""
    told = float(f"{rows:.2g}")
    return f"{told / 10**6:g} million rows per second" if told >= 10**6 else f"{int(told):,} rows per second"
