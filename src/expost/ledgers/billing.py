"""Billing: whether the bill of a receipt is what its run captured on the ledger, no more and no less."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import groupby, zip_longest
from typing import TypeAlias

from expost.accounting.claim import Spent
from expost.errors import ExpostError
from expost.ledgers.home import Home
from expost.ledgers.proof import booking_in, verify_ledger
from expost.receipts.audit import MOST_STEPS
from expost.receipts.costs import curve_in, item_in
from expost.receipts.lines import alike
from expost.receipts.notation import table
from expost.receipts.receipt import FORMAT
from expost.receipts.testimony import MOST_ENTRIES, OnLedger, Testimony, bounded
from expost.text import Json
from expost.training.schedule import CARRIED

Counted: TypeAlias = tuple[str, int]
"""A line, and how many times it is there in a row."""
COMPARED = ("what", "part", "neighbours", "floating", "facts", "curve", "finished")
"""What the line of a bill and the entry of a capture both say."""


def billing_faults(home: Home, receipt: Mapping[str, Json]) -> tuple[str, ...]:
    """What speaks against a receipt by its ledger, all of whose entries are followed.

    The entry that the receipt names must be there, of that run and with that hash, and the run must have captured the
    lines of the receipt's bill.
    """
    booking = booking_in(receipt)
    try:
        told = _told(receipt)
    except (ExpostError, ValueError, KeyError, TypeError, ArithmeticError, RecursionError):
        told = None
    if told is None:
        return ("The receipt is not one that expost writes: a part of it is missing or malformed.",)
    flaws = verify_ledger(home, booking).flaws
    return flaws or tuple(_differences(home, told.dataset, told.run, receipt))


def _told(receipt: Mapping[str, Json]) -> OnLedger | None:
    """Where a receipt of any format says that its run is, once its bill is found to be one."""
    if receipt["format"] == FORMAT:
        return Testimony.of(receipt).ledger
    for each in bounded(receipt["bill"], MOST_ENTRIES):
        item_in(each)
    return None if receipt["ledger"] is None else OnLedger.of(receipt["ledger"])


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
    carried = [line for line, _ in captured if json.loads(line)[0] == CARRIED]
    if carried:
        captured = captured[len(carried) :]
        billed, earlier = _divided(billed, captured)
        yield from _carried(carried, earlier)
    yield from _compared_lines(billed, captured)


def _compared_lines(billed: Sequence[Counted], captured: Sequence[Counted]) -> Iterator[str]:
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


def _divided(billed: Sequence[Counted], captured: Sequence[Counted]) -> tuple[list[Counted], list[Counted]]:
    """The end of a bill that this run may have captured, and what is before it: the lines of earlier processes."""
    cut = len(billed) - len(captured)
    if not captured or cut < 0 or billed[cut][0] != captured[0][0]:
        return ([], [*billed]) if not captured else ([*billed], [])
    line, count = billed[cut]
    before = [(line, count - captured[0][1])] if count > captured[0][1] else []
    return [(line, count - sum(each for _, each in before)), *billed[cut + 1 :]], [*billed[:cut], *before]


def _carried(carried: Sequence[str], earlier: Sequence[Counted]) -> Iterator[str]:
    """Whether what earlier processes of a training paid comes to what this one was charged for them, part by part."""
    parts: dict[str, Spent] = {}
    for line, count in earlier:
        _, part, *_, curve, _ = json.loads(line)
        spent = reduce(Spent.__add__, [Spent(curve_in(curve))] * min(count, MOST_STEPS))
        parts[part] = parts[part] + spent if part in parts else spent
    charged = {part: curve_in(curve) for _, part, *_, curve, _ in map(json.loads, carried)}
    for part in sorted({*parts, *charged}):
        if part not in parts or part not in charged or not alike(parts[part].curve, charged[part]):
            yield f"What earlier processes paid for {part} by the bill is not what the run was charged for them."


def _line(found: Mapping[str, Json]) -> str:
    return json.dumps([found[name] for name in COMPARED], sort_keys=True)


def _counted(lines: Iterable[Counted]) -> list[Counted]:
    """Equal lines in a row as one, however a record has counted them."""
    return [(line, sum(count for _, count in same)) for line, same in groupby(lines, key=lambda pair: pair[0])]


def _named(line: str) -> str:
    what, part, *_ = json.loads(line)
    return f"{what} on {part}"
