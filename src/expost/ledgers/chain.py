"""The chain: every entry of a ledger holds the hash of the one before, so that none can be changed unnoticed."""

import hashlib
import json
from typing import NamedTuple

spelled = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode
"""A table as the body of an entry: one line of JSON."""
GENESIS = "0" * 64
"""What the first entry of a data set follows."""


class Entered(NamedTuple):
    """An entry as it is kept: its place, when it was made, of which run if any, what it is and what it says."""

    number: int
    at: str
    kind: str
    run: str | None
    body: str
    hash: str


def enter(previous: str, number: int, *, at: str, kind: str, run: str | None, body: str) -> Entered:
    """The entry that follows another."""
    return Entered(number, at, kind, run, body, link(previous, number, at=at, kind=kind, run=run, body=body))


def link(previous: str, number: int, *, at: str, kind: str, run: str | None, body: str) -> str:
    """The SHA-256 of an entry and of all before it.

    None of its six lines has a line break when expost writes it, so that no other entry has the same lines.
    """
    whose = "-" if run is None else f"={run}"
    return hashlib.sha256(f"{previous}\n{number}\n{at}\n{kind}\n{whose}\n{body}".encode()).hexdigest()
