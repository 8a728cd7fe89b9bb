"""Receipts from outside: read within bounds, or refused in one sentence, and never shown as they are."""

import json
import math
from pathlib import Path
from typing import NoReturn

from expost.errors import Unreadable
from expost.text import Json, bounded_text

MOST_BYTES = 2**22
"""A receipt of a hundred releases with tables of costs is half as long; parsing this takes a tenth of a second."""
MOST_FIGURES = 40
"""Characters of a number in JSON; a float has 24 at most, and anything exact is a text."""
MOST_SHOWN = 40
"""Characters of a text of the receipt that a message shows."""


def text_from(path: Path) -> str:
    """The text of the file, of which no more is read than a receipt or a journal may have."""
    try:
        return bounded_text(path, MOST_BYTES)
    except (OSError, ValueError):
        raise _unreadable(path) from None


def receipt_in(text: str, path: Path) -> Json:
    """The JSON of the text in a file, refused if it is too deep, ambiguous or holds what JSON does not know."""
    try:
        return json_in(text)
    except (ValueError, RecursionError):
        raise _unreadable(path) from None


def json_in(text: str) -> Json:
    """The JSON of a text; ValueError or RecursionError if it is ambiguous, too deep or not JSON."""
    found: Json = json.loads(
        text,
        object_pairs_hook=_unambiguous,
        parse_int=_whole,
        parse_float=_finite,
        parse_constant=_unknown,
    )
    return found


def quoted(text: str) -> str:
    """A text of the receipt for a message: plain ASCII, so that nothing in it can draw on a terminal, and not long."""
    return ascii(text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}...")


def _unreadable(path: Path) -> Unreadable:
    return Unreadable(
        f"{path} is not a readable receipt of at most {MOST_BYTES:,} bytes; name the receipt.json of a release, or the "
        "journal of a run."
    )


def _unambiguous(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """A table whose names are all different: of two values under one name, readers disagree which counts."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a name is given twice")
    return fields


def _whole(figures: str) -> int:
    if len(figures) > MOST_FIGURES:
        raise ValueError("too many digits")
    return int(figures)


def _finite(figures: str) -> float:
    value = float(figures) if len(figures) <= MOST_FIGURES else math.inf
    if not math.isfinite(value):
        raise ValueError("too large, or too many digits")
    return value


def _unknown(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
