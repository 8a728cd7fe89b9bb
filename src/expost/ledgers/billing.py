"""Billing: whether the bill of a receipt is what its run captured on the ledger, no more and no less."""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, zip_longest

from expost.errors import ExpostError
from expost.ledgers.home import Home
from expost.ledgers.proof import booking_in, verify_ledger
from expost.receipts.notation import table
from expost.receipts.testimony import Testimony
from expost.text import Json

COMPARED = ("what", "part", "neighbours", "floating", "facts", "curve", "finished")
"""What the line of a bill and the entry of a capture both say."""


def billing_faults(home: Home, receipt: Mapping[str, Json]) -> tuple[str, ...]:
    """What speaks against a receipt by its ledger, all of whose entries are followed.

    The entry that the receipt names must be there, of that run and with that hash, and the run must have captured the
    lines of the receipt's bill.
    """
    booking = booking_in(receipt)
    try:
        told = Testimony.of(receipt).ledger
    except (ExpostError, ValueError, KeyError, TypeError, ArithmeticError, RecursionError):
        told = None
    if told is None:
        return ("The receipt is not one that expost writes: a part of it is missing or malformed.",)
    flaws = verify_ledger(home, booking).flaws
    return flaws or tuple(_differences(home, told.dataset, told.run, receipt))


def _differences(home: Home, dataset: str, run: str, receipt: Mapping[str, Json]) -> Iterator[str]:
    with home.reading() as reading:
        rows = reading.rows(
            "SELECT body FROM entries JOIN datasets ON datasets.id = entries.dataset WHERE datasets.name = ? AND "
            "entries.run = ? AND entries.kind = 'capture' ORDER BY entries.number",
            *(dataset, run),
        )
    captured = _counted((_line(json.loads(str(body))), 1) for (body,) in rows)
    bill = [table(line) for line in receipt["bill"]]  # type: ignore[union-attr] # a list, as the testimony found
    billed = _counted((_line(line), line["count"]) for line in bill)  # type: ignore[misc] # each count a number
    for place, (ours, its) in enumerate(zip_longest(billed, captured), start=1):
        if ours is None:
            yield f"The run captured {its[1]} of {_named(its[0])}, which the bill does not have."
        elif its is None:
            yield f"Line {place} of the bill, {_named(ours[0])}, was never captured by the run."
        elif ours[0] != its[0]:
            yield f"Line {place} of the bill, {_named(ours[0])}, is not what the run captured there, {_named(its[0])}."
            return  # all after it may be shifted
        elif ours[1] != its[1]:
            yield f"Line {place} of the bill, {_named(ours[0])}, is there {ours[1]} times; the run captured {its[1]}."


def _line(found: Mapping[str, Json]) -> str:
    return json.dumps([found[name] for name in COMPARED], sort_keys=True)


def _counted(lines: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Equal lines in a row as one, however a record has counted them."""
    return [(line, sum(count for _, count in same)) for line, same in groupby(lines, key=lambda pair: pair[0])]


def _named(line: str) -> str:
    what, part, *_ = json.loads(line)
    return f"{what} on {part}"
