"""Cells: what one field of a table holds, as text or as a value, and the numbers and days that texts spell."""

import math
from contextlib import suppress
from datetime import UTC, date, datetime
from enum import Enum
from typing import NamedTuple, TypeAlias, final

EXACT = 2.0**53
"""Whole numbers below this are floats, exactly."""
BEFORE_CHRIST = "(BC)"
"""What DuckDB writes behind a day before the year 1."""


@final
class Plain(NamedTuple):
    """A number, date or truth value that the table holds as such, in canonical text; no spelling applies to it."""

    text: str


Cell: TypeAlias = str | Plain
"""Text as the table has it, without space around it, or a value; where a value is missing there is None instead."""


class How(Enum):
    """How a column takes a cell."""

    VALUE = "a value of the column"
    OUTSIDE = "a value outside the bins or the list"
    UNRECOGNISED = "not a value of the column's kind"
    MISSING = "missing"


Taken: TypeAlias = tuple[How, int]
"""How a cell was taken, and its code."""


def text_of(cell: Cell) -> str:
    """The text of a cell, whatever it came as."""
    return cell.text if isinstance(cell, Plain) else cell


def number_in(text: str) -> int | float | None:
    """The number a text spells, exactly where it is whole and large; None where it spells none."""
    try:
        value = float(text)
    except ValueError:
        return None
    if -EXACT < value < EXACT:
        return value
    try:
        return int(text)
    except ValueError:
        return None if math.isnan(value) else value


def ordinal(text: str) -> int | None:
    """The day a text names in ISO form, with or without a time; None where it names none.

    A time with a zone is taken in UTC, as it is where a table holds it as a time and not as text. DuckDB writes a day
    before the year 1 like one after it, with a note behind; no other reader has such days.
    """
    if BEFORE_CHRIST in text:
        return None
    try:
        day = date.fromisoformat(text[:10])
    except ValueError:
        return None
    with suppress(ValueError, OverflowError):
        moment = datetime.fromisoformat(text)
        day = day if moment.tzinfo is None else moment.astimezone(UTC).date()
    return day.toordinal()
