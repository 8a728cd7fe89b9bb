"""Pace: how reading a large table gets on, for whoever waits for it."""

from collections.abc import Callable, Iterator
from time import monotonic
from typing import TypeAlias

from expost.tabular.source.coding import Chunk

Progress: TypeAlias = Callable[[str], None]
"""Hears what is being done."""

SILENT = 2.0
"""Seconds before there is anything to tell, and between two times."""


def with_pace(chunks: Iterator[Chunk], height: int | None, tell: Progress) -> Iterator[Chunk]:
    """The chunks, and every now and then how many rows a second are read and, if it is known, how long it will take.

    What is told is rounded to two digits: it says of the number of rows about what the time says that reading takes.
    """
    begun = last = monotonic()
    rows = 0
    for chunk in chunks:
        yield chunk
        rows, now = rows + len(chunk.kept), monotonic()
        if now - last >= SILENT:
            last = now
            rate = rows / (now - begun)
            left = "" if height is None else f", {time_left((height - rows) / rate)}"
            tell(f"reading the table at {pace(rate)}{left}")


def time_left(seconds: float) -> str:
    """How long it will take, in seconds or minutes."""
    if seconds < 1:
        return "nearly done"
    return f"about {seconds:.0f} s left" if seconds < 90 else f"about {seconds / 60:.0f} min left"


def pace(rows: float) -> str:
    """Rows a second, in two digits."""
    told = float(f"{rows:.2g}")
    return f"{told / 10**6:g} million rows per second" if told >= 10**6 else f"{int(told):,} rows per second"
