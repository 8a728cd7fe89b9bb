"""Figures of an answer: numbers in as many digits as their error bars leave certain, ends rounded outwards."""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal

from expost.jobs.asking.query import Measure, Share

UNKNOWN = "not known"
MOST_PLACES = 9
EXACT = Context(prec=400)
"""Room for all digits of a float before its point, and for all places after it."""


def figure(value: float, half: float) -> str:
    """A number in as many digits as half its error bar is told in.

    >>> figure(1225.98, 123.4), figure(57.46, 1.12), figure(0.23456, 0.0121)
    ('1,226', '57.5', '0.235')
    """
    return _told(value, _places(half), ROUND_HALF_EVEN)


def half_figure(half: float) -> str:
    """Half an error bar in two digits, rounded up: an error is never shown smaller than it is.

    >>> half_figure(9.48), half_figure(0.01211), half_figure(123.4)
    ('9.5', '0.013', '124')
    """
    return UNKNOWN if not math.isfinite(half) else _told(half, _places(half), ROUND_CEILING)


def low_figure(value: float, half: float) -> str:
    """The lower end of an error bar, rounded down."""
    return UNKNOWN if not math.isfinite(value) else _told(value, _places(half), ROUND_FLOOR)


def high_figure(value: float, half: float) -> str:
    """The upper end, rounded up."""
    return UNKNOWN if not math.isfinite(value) else _told(value, _places(half), ROUND_CEILING)


def scale_of(measure: Measure) -> tuple[float, str]:
    """What numbers of a measure are multiplied by to be shown, and the sign after them: shares are percentages."""
    return (100.0, " %") if isinstance(measure, Share) else (1.0, "")


def _places(half: float) -> int:
    """Decimal places of two digits of half an error bar."""
    if not (math.isfinite(half) and half > 0):
        return 0
    return min(max(0, 1 - math.floor(math.log10(half))), MOST_PLACES)


def _told(value: float, places: int, rounding: str) -> str:
    if not math.isfinite(value):
        return UNKNOWN
    rounded = Decimal(repr(value)).quantize(Decimal(1).scaleb(-places), rounding, EXACT)
    return f"{EXACT.add(rounded, 0):,f}".replace("-", "\N{MINUS SIGN}")
