"""Saying: what the entries of a run say besides its totals, as the inside of a table in JSON."""

import hashlib

from expost.accounting.claim import Promise, Spent
from expost.ledger import Entry, Hold
from expost.ledgers.chain import spelled
from expost.receipts.costs import curve_out


def reserve_said(most: Promise, neighbours: str | None) -> str:
    """The most that a run may come to."""
    return spelled({"reserve": curve_out(most.curve), "neighbours": neighbours})[1:-1]


def hold_said(entry: Entry, promise: Promise) -> str:
    """The step that a hold is for."""
    curve = curve_out(promise.curve)
    return spelled({"what": entry.what, "part": entry.part, "neighbours": entry.neighbours, "curve": curve})[1:-1]


def capture_said(hold: Hold, spent: Spent, payload: str | None, *, finished: bool) -> str:
    """What was done, what it cost, and the hash of what was stored."""
    entry = hold.entry
    return spelled({
        "what": entry.what, "part": entry.part, "neighbours": entry.neighbours, "floating": entry.floating,
        "facts": dict(entry.facts), "curve": curve_out(spent.curve), "finished": finished,
        "stored": None if payload is None else hashlib.sha256(payload.encode()).hexdigest(),
    })[1:-1]  # fmt: skip
