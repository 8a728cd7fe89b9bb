"""Bookings: where a run stands on a lasting ledger, for its receipt and for the screen."""

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, slots=True)
class Booking:
    """Where a run stands on a lasting ledger: its data set, its latest entry, and what it held and has captured."""

    ledger: str
    dataset: str
    run: str
    entry: int
    head: str
    held: float
    captured: float
    notation: str
