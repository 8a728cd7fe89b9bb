"""Purposes: what was asked for, one thing at a time, for those who read a report and for those who audit it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from expost.text import Json


@final
@dataclass(frozen=True, slots=True)
class Purpose:
    """One of the things that were asked for: as a phrase, and as a receipt has it."""

    words: str
    record: Mapping[str, Json]
