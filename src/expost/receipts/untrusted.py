"""Receipts from outside: read within bounds, or refused in one sentence, and never shown as they are."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from expost.accounting.curve import Highest, Tabulated
from expost.bill import Item
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


MOST_CROSSED = 20
"""Lines whose cost is a maximum of several: sums of those have ever more lines, and ours have one each."""
MOST_GRIDS = 4
"""Different lists of orders: sums are over all of them together, and ours have one."""
MOST_PARTS, DEEPEST = 20, 8
"""Parts that are read, and how often one may be a part of another: ours are two, of one split."""


def require_modest(bill: Sequence[Item]) -> tuple[Item, ...]:
    """The bill, refused if adding it up would take long."""
    curves = [item.spent.curve for item in bill]
    crossed = sum(isinstance(curve, Highest) for curve in curves)
    grids = {curve.orders for curve in curves if isinstance(curve, Tabulated)}
    parts = {item.entry.part for item in bill}
    if crossed > MOST_CROSSED or len(grids) > MOST_GRIDS:
        raise Unreadable("the bill has costs of more kinds than a run of expost; it was changed.")
    if len(parts) > MOST_PARTS or any(part.count("/") > DEEPEST for part in parts):
        raise Unreadable("the bill is about more parts than a run of expost reads; it was changed.")
    return tuple(bill)
