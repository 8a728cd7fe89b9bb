"""Moments: days and times of Python out of the numbers since 1970 that libraries hold, as DuckDB has them too."""

from datetime import date, datetime, timedelta

EPOCH = datetime(1970, 1, 1)
MICROSECONDS = 86400 * 10**6
ENDLESS_DAY, ENDLESS_TIME = 2**31 - 1, 2**63 - 1
"""Numbers of either sign by which days and times without end are held in DuckDB."""
FIRST_TIME = -9_223_372_022_400_000_000
"""Microseconds before 1970 at which its times begin."""


def day_of(number: int | None) -> date | str | None:
    """The day that comes this number of days after 1970 began; a text where no calendar has it."""
    if number is None:
        return None
    if abs(number) == ENDLESS_DAY:
        return date.max if number > 0 else date.min
    try:
        return (EPOCH + timedelta(days=number)).date()
    except OverflowError:
        return f"{number} days"


def moment_of(number: int | None, per_day: int) -> datetime | str | None:
    """The time that comes this number of parts of a day after 1970 began, as DuckDB has it.

    What it takes for a time without end is Python's last or first one; a text where no calendar has it, and nothing
    where DuckDB has none either.
    """
    if number is None:
        return None
    if abs(number) == ENDLESS_TIME:
        return datetime.max if number > 0 else datetime.min
    microseconds = number * MICROSECONDS // per_day
    if not FIRST_TIME <= microseconds < ENDLESS_TIME:
        return None
    try:
        return EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        return f"{number}/{per_day} days"
