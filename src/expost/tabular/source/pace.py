"""Pace: how reading a large table gets on, for whoever waits for it."""

from collections.abc import Callable, Iterator
from time import monotonic
from typing import TypeAlias

from expost.tabular.source.coding import Chunk

Progress: TypeAlias = Callable[[str], None]
"""Hears what is being done."""

SILENT = 2.0
"""Seconds before there is anything to tell, and between two times."""


def with_pace(chunks: Iterator[Chunk], tell: Progress) -> Iterator[Chunk]:
    """The chunks, and every now and then how many rows a second are read.

    What is told is rounded to two digits, and says of the number of rows no more than the time that it takes.
    """
    begun = last = monotonic()
    rows = 0
    for chunk in chunks:
        yield chunk
        rows, now = rows + len(chunk.kept), monotonic()
        if now - last >= SILENT:
            last = now
            tell(f"reading the table at {pace(rows / (now - begun))}")


def pace(rows: float) -> str:
    """Rows a second, in two digits."""
    told = float(f"{rows:.2g}")
    return f"{told / 10**6:g} million rows per second" if told >= 10**6 else f"{int(told):,} rows per second"
