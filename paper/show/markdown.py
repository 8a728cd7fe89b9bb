"""Pieces of the page: tables and numbers as Markdown."""

from collections.abc import Iterable, Sequence
from textwrap import fill


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def prose(text: str) -> str:
    """A paragraph in lines of one length, however it was broken."""
    return fill(" ".join(text.split()), 118, break_long_words=False, break_on_hyphens=False)


def scientific(value: float, digits: int = 2) -> str:
    """A small number as people write it: 5.4e−6."""
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return f"{mantissa}e{int(exponent)}".replace("-", "−")


def percent(value: float, digits: int = 1) -> str:
    """A share of 1, signed if it is a change below zero."""
    return f"{100 * value:.{digits}f} %".replace("-", "−")


def duration(seconds: float) -> str:
    """A time in the unit a person would use."""
    for unit, size in (("h", 3600.0), ("min", 60.0)):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.1f} s"
