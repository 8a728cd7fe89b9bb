"""The chain: every entry of a ledger holds the hash of the one before, so that none can be changed unnoticed."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from expost.text import Json

_text = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode
GENESIS = "0" * 64
"""What the first entry of a data set follows."""


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


def enter(previous: str, number: int, *, at: str, kind: str, run: str | None, body: Mapping[str, Json]) -> Entered:
    """The entry that follows another."""
    text = _text(body)
    return Entered(number, at, kind, run, text, link(previous, number, at=at, kind=kind, run=run, body=text))


def link(previous: str, number: int, *, at: str, kind: str, run: str | None, body: str) -> str:
    """The SHA-256 of an entry and of all before it; a list of texts and numbers in JSON has one spelling only."""
    parts = [previous, number, at, kind, run, body]
    return hashlib.sha256(_text(parts).encode()).hexdigest()
