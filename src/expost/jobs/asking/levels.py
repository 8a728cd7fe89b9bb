"""Levels of quantiles, as they are written: 0.9, 90% or 9/10."""

import re
from fractions import Fraction

from expost.errors import InvalidValue

LEVEL = re.compile(r"[0-9]{1,9}/[1-9][0-9]{0,8}|[0-9]{0,9}\.[0-9]{1,9}%?|[0-9]{1,9}%?")
"""Short, and without a power of ten: what is written in few characters is not to take long."""


def level_in(text: str) -> Fraction:
    """The number that a text spells exactly."""
    if LEVEL.fullmatch(text) is None:
        raise InvalidValue(f"{text[:20]} is not the level of a quantile; say, for example, quantile 0.9 of age.")
    return Fraction(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
