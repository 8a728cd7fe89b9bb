"""Types of DuckDB whose values are numbers, days or texts: how they are asked for, and what Python makes of them."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any, final

import numpy as np

EXACT_DIGITS = 15
"""Decimal digits that a number of 64 bits holds, whatever they are."""
ENDLESS = {"infinity": datetime.max, "-infinity": datetime.min}
"""What DuckDB's endless times are in Python."""

WHOLE_TYPES = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
LONG_TYPES = ("UBIGINT", "HUGEINT", "UHUGEINT")
REAL_TYPES = ("FLOAT", "DOUBLE")
EXACT_IN_32_BITS, EXACT_IN_16_BITS = 2**24, 2**11
"""Whole numbers below these are numbers of 32 and of 16 bits, exactly."""
TEXT_TYPES = ("VARCHAR", "UUID", "JSON")
TIME_TYPES = ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")
ZONED_TYPES = ("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS")
FIRST_TIME = "TIMESTAMP '290309-12-22 (BC) 00:00:00'"
DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")


class CellKind(Enum):
    """What the values of a column are."""

    TEXT = "texts"
    TRUTH = "truth values"
    WHOLE = "whole numbers"
    REAL = "numbers of 64 bits"
    DECIMAL = "decimal numbers"
    DAY = "days"
    TIME = "times"


@final
@dataclass(frozen=True, slots=True)
class Held:
    """How the values of a column are had from the engine.

    ``value`` is an expression in SQL that NumPy can hold, right where the condition ``sure`` holds, and everywhere if
    there is none. ``raw`` is the cell as an expression that comes back whole, of which ``restored`` makes what Python
    takes it for.
    """

    kind: CellKind
    value: str
    sure: str | None
    raw: str
    restored: Callable[[Sequence[Any]], list[object]] = list


def sql_name(name: str) -> str:
    """The name of a column in SQL."""
    return '"' + name.replace('"', '""') + '"'


def held_as(column: str, kind: str) -> Held | None:
    """How a column of this type is had; None for types that only Python reads."""
    if kind in TEXT_TYPES or kind.startswith("ENUM("):
        return Held(CellKind.TEXT, f"{column}::VARCHAR", None, f"{column}::VARCHAR")
    if kind == "BOOLEAN":
        return Held(CellKind.TRUTH, f"{column}::UTINYINT", None, f"{column}::UTINYINT", lambda raw: [*map(bool, raw)])
    if kind in WHOLE_TYPES:
        return Held(CellKind.WHOLE, column, None, column)
    if kind in LONG_TYPES:
        whole = f"TRY_CAST({column} AS BIGINT)"
        return Held(CellKind.WHOLE, whole, f"{whole} IS NOT NULL", f"{column}::VARCHAR", lambda raw: [*map(int, raw)])
    if kind in REAL_TYPES:
        restored = of_32_bits if kind == "FLOAT" else list
        return Held(CellKind.REAL, f"{column}::DOUBLE", None, f"{column}::DOUBLE", restored)
    found = DECIMAL.fullmatch(kind)
    return _day(column, kind) if found is None else _decimal(column, int(found[1]), int(found[2]))


def _decimal(column: str, digits: int, places: int) -> Held:
    """A decimal number: up to 15 digits it has a float of its own, the one that is nearest."""
    wide = f"{column}::DECIMAL(38,{places})"
    limit = f"'{Decimal(10) ** (EXACT_DIGITS - places):f}'::DECIMAL(38,{places})"
    sure = None if digits <= EXACT_DIGITS else f"{wide} < {limit} AND {wide} > -{limit}"
    return Held(CellKind.DECIMAL, f"{column}::DOUBLE", sure, f"{column}::VARCHAR", lambda raw: [*map(Decimal, raw)])


def _day(column: str, kind: str) -> Held | None:
    if kind == "DATE":
        return Held(CellKind.DAY, column, _in_python(column), f"{column}::VARCHAR", _days)
    if kind not in (*TIME_TYPES, *ZONED_TYPES):
        return None
    plain = plain_time(column, kind)
    return Held(CellKind.TIME, f"{plain}::DATE", _in_python(f"{plain}::DATE"), f"{plain}::VARCHAR", _times)


def of_32_bits(values: Sequence[Any]) -> list[object]:
    """Numbers that were held in 32 bits, as such where other ones may have been cut to them: identifiers must know."""
    return [np.float32(each) if type(each) is float and abs(each) >= EXACT_IN_32_BITS else each for each in values]


def of_16_bits(values: Sequence[Any]) -> list[object]:
    """The same for those that were held in 16 bits."""
    return [np.float16(each) if type(each) is float and abs(each) >= EXACT_IN_16_BITS else each for each in values]


def plain_time(column: str, kind: str) -> str:
    """A time as Python has it: in UTC without asking for the zone, and cut to microseconds, where DuckDB rounds.

    A time before the first one that DuckDB can spell counts as missing: it is a mark of old writers, not a time.
    """
    plain = f"TRY(timezone('UTC', {column}))" if kind in ZONED_TYPES else column
    if kind.endswith("_NS"):
        count = f"epoch_ns({plain})"
        return f"coalesce(make_timestamp({count} // 1000 - ({count} % 1000 < 0)::BIGINT), {plain}::TIMESTAMP)"
    if kind in ZONED_TYPES:
        return plain
    fine = column if kind == "TIMESTAMP" else f"TRY({column}::TIMESTAMP)"
    return f"CASE WHEN {fine} >= {FIRST_TIME} OR isinf({fine}) THEN {fine} END"


def _in_python(day: str) -> str:
    return f"{day} BETWEEN DATE '{date.min}' AND DATE '{date.max}'"


def _days(raw: Sequence[str]) -> list[object]:
    return [_in_calendar(date, text, ENDLESS[text].date() if text in ENDLESS else text) for text in raw]


def _times(raw: Sequence[str]) -> list[object]:
    return [_in_calendar(datetime, text, ENDLESS.get(text, text)) for text in raw]


def _in_calendar(kind: type[date], text: str, other: object) -> object:
    """The day or the time that a text of DuckDB names, or another object where Python's calendar lacks it."""
    try:
        return kind.fromisoformat(text)
    except ValueError:
        return other
