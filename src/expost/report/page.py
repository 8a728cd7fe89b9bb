"""Parts of a page: sections, tables and sentences, every text quoted."""

import re
from collections.abc import Iterable, Sequence

from expost.report import digits
from expost.report.svg import safe

SMALL = re.compile(r"\b\d+(\.\d+)?e-\d+\b")
"""A number with an exponent, whose hyphen a browser would break at."""


def prose(text: str) -> str:
    """A sentence for the page; no line ends within a number."""
    return SMALL.sub(r'<span class="tie">\g<0></span>', digits.tied(safe(text)))


def section(title: str, *parts: str) -> str:
    """A part of the page with its heading."""
    return f"<section><h2>{safe(title)}</h2>{''.join(parts)}</section>"


def table(heads: Sequence[str], rows: Iterable[str]) -> str:
    """Rows under their heads."""
    head = "".join(f"<th>{safe(each)}</th>" for each in heads)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def row(*texts: str, name: str = "") -> str:
    """A row of plain texts."""
    return f'<tr class="{name}">{cells(map(prose, texts))}</tr>'


def cells(contents: Iterable[str]) -> str:
    """What is quoted already, cell by cell."""
    return "".join(f"<td>{each}</td>" for each in contents)


def listed(sentences: Iterable[str], name: str = "ul") -> str:
    """Sentences as items."""
    return f"<{name}>{''.join(f'<li>{prose(each)}</li>' for each in sentences)}</{name}>"
