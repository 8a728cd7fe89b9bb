"""The chain: every entry of a ledger holds the hash of the one before, so that none can be changed unnoticed."""

import hashlib
import json
from dataclasses import dataclass
from typing import TypeAlias, final

spelled = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode
"""A table as the body of an entry: one line of JSON."""
GENESIS = "0" * 64
"""What the first entry of a data set follows."""
Link: TypeAlias = tuple[int, str]
"""The number and the hash of an entry, by which it is known."""
Unlinked: TypeAlias = tuple[int, str, str, str | None, str]
"""An entry without its hash: its number, when it was made, what it is, of which run, and what it says."""


@final
@dataclass(frozen=True, slots=True)
class Entered:
    """An entry as it is kept: its place, when it was made, of which run if any, what it is and what it says."""

    number: int
    at: str
    kind: str
    run: str | None
    body: str
    hash: str


def enter(previous: str, number: int, *, at: str, kind: str, run: str | None, body: str) -> Entered:
    """The entry that follows another."""
    return Entered(number, at, kind, run, body, link(previous, (number, at, kind, run, body)))


def link(previous: str, entry: Unlinked) -> str:
    """The SHA-256 of an entry and of all before it.

    None of its six lines has a line break when expost writes it, so that no other entry has the same lines.
    """
    number, at, kind, run, body = entry
    whose = "-" if run is None else f"={run}"
    return hashlib.sha256("\n".join((previous, str(number), at, kind, whose, body)).encode()).hexdigest()
