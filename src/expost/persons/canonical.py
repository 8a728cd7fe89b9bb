"""One spelling for each value, whatever library it came from."""

import math
from contextlib import suppress
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np

LONGEST = 2**13
"""Bits of a whole number that is spelled out: Python refuses to spell those of many thousand digits."""

NOTHING = frozenset({"NoneType", "NAType", "NaTType"})
"""Types whose only value is a missing one."""


def canonical_text(value: object) -> str | None:
    """One spelling for each value, whatever library it came from: 1 and 1.0 are "1", dates are in ISO form and UTC."""
    if type(value) is str:
        return value.strip()
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if type(value).__name__ in NOTHING:
        return None
    if isinstance(value, int | float | np.floating | Decimal):
        return _number_text(value)
    if isinstance(value, date):
        return _in_utc(value).isoformat()
    return str(value).strip()


def _number_text(value: int | np.floating[Any] | float | Decimal) -> str | None:
    if isinstance(value, int):
        return str(value) if value.bit_length() <= LONGEST else "inf" if value > 0 else "-inf"
    if isinstance(value, Decimal) and value.is_nan():  # one that signals cannot be made a float
        return None
    if not math.isfinite(value):
        return None if math.isnan(value) else repr(float(value))
    whole = value == int(value)
    return str(int(value)) if whole else str(value.normalize() if isinstance(value, Decimal) else float(value))


def _in_utc(day: date) -> date:
    """The day itself, or a time with a zone as the time in UTC, where the calendar has one."""
    if isinstance(day, datetime) and day.tzinfo is not None:
        with suppress(OverflowError):
            return day.astimezone(UTC).replace(tzinfo=None)
    return day
