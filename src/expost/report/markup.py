"""The building blocks of a page: sections, tables that stack on a narrow screen, and texts that are quoted."""

import re
from collections.abc import Iterable, Sequence

from expost.report import digits
from expost.report.charts import safe

SMALL = re.compile(r"\b\d+(\.\d+)?e-\d+\b")
"""A number with an exponent, whose hyphen a browser would break at."""

BIN = re.compile(r"([\[(])([^,∞]+), ([^,∞]+)([\])])")
"""A bin with two ends, by its label."""


def section(title: str, *parts: str) -> str:
    """A part of the page with its heading."""
    return f"<section><h2>{safe(title)}</h2>{''.join(parts)}</section>"


def html_table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    here: Iterable[int] = (),
    ahead: int = 0,
    stacked: bool = False,
) -> str:
    """Rows of cells, which are markup, under their heads.

    ``here`` are the places of the rows that matter most; the last ``ahead`` rows are shown in a softer colour. Where a
    screen is too narrow for the columns of a ``stacked`` table, its cells stand below one another with their heads.
    """
    listed, marked = list(rows), set(here)
    head = "".join(f"<th>{safe(each)}</th>" for each in heads)
    body = ""
    for place, cells in enumerate(listed):
        name = "here" if place in marked else "ahead" if place >= len(listed) - ahead else ""
        told = (f'<td data-head="{safe(title)}">{cell}</td>' for title, cell in zip(heads, cells, strict=True))
        body += f'<tr class="{name}">{"".join(told)}</tr>'
    kind = "wide stacked" if stacked else "wide"
    return f'<div class="{kind}"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def row(*texts: str) -> list[str]:
    """A row of plain texts."""
    return [prose(each) for each in texts]


def prose(text: str) -> str:
    """A sentence for the page; no line ends within a number."""
    return SMALL.sub(r'<span class="tie">\g<0></span>', digits.tied(safe(text)))


def note(text: str) -> str:
    """A remark in small letters."""
    return f'<p class="note">{prose(text)}</p>'


def bins_note(labels: Iterable[str]) -> str:
    """How bins are read, by one of these that has two ends; nothing where none is a bin."""
    found = next((found for found in map(BIN.fullmatch, labels) if found is not None), None)
    if found is None:
        return ""
    low, high = ("included" if side in "[]" else "not included" for side in (found[1], found[4]))
    return note(f"In a bin such as {found[0]}, the end {found[2]} is {low} and the end {found[3]} is {high}.")


def computed_with(versions: Iterable[tuple[str, str]]) -> str:
    """The versions, as the last line of a page."""
    return note(f"Computed with {', '.join(f'{name} {version}' for name, version in versions)}.")
