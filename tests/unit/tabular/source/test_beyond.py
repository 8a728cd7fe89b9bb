"""Values beyond what Python or DuckDB can hold or spell: none of them keeps the other rows from being read."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from expost.tabular.schema.binned import Dates
from expost.tabular.schema.column import Missing
from expost.tabular.schema.schema import Schema
from expost.tabular.source.files import Rows
from expost.tabular.source.frames import Frame
from expost.tabular.source.home import connection
from expost.tabular.source.reading import read_table
from expost.tabular.source.texts import absent, cells_of
from tests.unit.examples import ADD
from tests.unit.tabular.source.hostile import COLUMNS, MARKS

NAMES = ("texts", "days", "right days", "timed")
SCHEMA = Schema(tuple(each for each in COLUMNS if each.name in NAMES), True, ADD, missing_marks=MARKS)

FIRST = -9_223_372_022_400_000_000
"""Microseconds before 1970 at which DuckDB's times begin."""
FAR = [-(2**63), -(2**63) + 1, -(2**63) + 300, FIRST - 1, FIRST, -(2**62), 2**62, 2**63 - 2, 2**63 - 1, 0]

KEEPING = replace(SCHEMA, columns=tuple(each for each in SCHEMA.columns if each.missing is not Missing.DROP))
"""Those of the columns that drop no row."""


def bits(kind: pa.DataType) -> pa.Array:
    """Values of 64 bits at the ends of what they can be, and one that is missing."""
    plain = pa.array([*FAR, None], pa.int64())
    return pa.Array.from_buffers(kind, len(plain), plain.buffers())


def one_by_one(values: Sequence[object]) -> list[list[int]]:
    """The codes that each column gives to these values, each taken alone."""
    cells = cells_of(values, absent(SCHEMA))
    return [[column.taken(cell)[1] for cell in cells] for column in SCHEMA.columns]


TIMES = [*map(pa.timestamp, ("s", "ms", "us", "ns")), pa.timestamp("us", "UTC"), pa.timestamp("ns", "UTC")]


@pytest.mark.parametrize("kind", [*TIMES, pa.duration("us")], ids=str)
def test_no_time_keeps_the_engine_from_taking_the_others(kind: pa.DataType) -> None:
    home = connection()
    home.register("times", pa.table({"cell": bits(kind)}))
    cells = home.table("times").project(", ".join(f'cell AS "{name}"' for name in NAMES))
    ((values, *_),) = [*Rows(cells).chunks(NAMES)]

    found = Rows(cells).coded(SCHEMA, absent(SCHEMA))

    assert len(values) == len(FAR) + 1
    assert found is None or [codes.tolist() for codes in next(found)[0]] == one_by_one(values)


@pytest.mark.parametrize("kind", [*TIMES, pa.date32()], ids=str)
def test_a_time_at_the_ends_of_its_range_has_one_code_whatever_reads_it(kind: pa.DataType) -> None:
    """DuckDB takes the last number of either sign for a time without end, and has none before its first one."""
    whole = pa.array([2**31 - 1, -(2**31) + 1, -(2**31), 2**31 - 2, None], pa.int32())
    table = pa.table(dict.fromkeys(NAMES, whole.cast(kind) if pa.types.is_date32(kind) else bits(kind)))
    home = connection()
    home.register("times", table)

    found = [read_table(source, KEEPING) for source in (home.table("times"), table)]

    assert found[0].same_records(found[1])
    assert len(found[0]) == len(table)


@pytest.mark.parametrize("kind", [pa.date32(), pa.timestamp("s"), pa.timestamp("us", "UTC")], ids=str)
def test_a_day_before_christ_has_one_code_whatever_reads_it(kind: pa.DataType) -> None:
    """DuckDB writes it like one of the same year after, with a note behind, as if that were a time of day."""
    days = pa.array([-719_163, -735_414, -720_000, 0, None], pa.int32())  # the first is 31 December of 1 BC
    kept = replace(SCHEMA, columns=tuple(each for each in SCHEMA.columns if isinstance(each, Dates)))
    table = pa.table(dict.fromkeys(kept.names, days.cast(pa.date32()).cast(kind)))
    home = connection()
    home.register("days", table)

    found = [read_table(source, kept) for source in (home.table("days"), table)]

    assert [found[0].codes(name).tolist() for name in kept.names] == [
        found[1].codes(name).tolist() for name in kept.names
    ]
    assert len(found[0]) == 1  # the others are no days of the columns that drop what is none


ENDS = [-62_135_596_801, -62_135_596_800, 0, 86_400, 253_402_300_799, 253_402_300_800]
"""Seconds after 1970 began: around the first and the last second of Python's calendar, and two inside."""


@pytest.mark.parametrize("zone", [None, "UTC", "Asia/Tokyo", "America/New_York"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_a_time_in_pandas_has_the_code_that_it_has_in_arrow(
    unit: Literal["s", "ms", "us", "ns"], zone: str | None
) -> None:
    """Whatever its zone makes of it; pandas itself fails at one that its zone moves out of the calendar."""
    part = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    numbers = [each * part for each in ENDS if abs(each * part) < 2**63] + [86_400 * part + 1, *FAR[1:]]
    arrow = pa.table(dict.fromkeys(NAMES, pa.array([*numbers, None], pa.int64()).cast(pa.timestamp(unit, zone))))
    times = pd.Series(np.array([*numbers, -(2**63)], f"datetime64[{unit}]"))
    times = times if zone is None else times.dt.tz_localize("UTC").dt.tz_convert(zone)
    frames = (pd.DataFrame(dict.fromkeys(NAMES, times)), arrow.to_pandas(types_mapper=pd.ArrowDtype), arrow)

    found = [[codes.tolist() for codes in next(Frame.of(each).coded(SCHEMA, absent(SCHEMA)))[0]] for each in frames]

    assert found[0] == found[2]
    assert found[1] == found[2]


def test_an_interval_of_many_years_is_taken_like_the_longest_one() -> None:
    relation = connection().sql(
        "SELECT * FROM (VALUES (to_months(999999999)), (to_months(-999999999)), (to_days(1))) cells(cell)"
    )

    ((values,),) = [*Rows(relation).chunks(["cell"])]

    assert [str(value) for value in values] == ["999999998 days, 0:00:00", "-999999998 days, 0:00:00", "1 day, 0:00:00"]


@pytest.mark.parametrize(
    "kind", [pa.duration("s"), pa.date64(), pa.time64("us"), pa.list_(pa.timestamp("us"))], ids=str
)
def test_no_value_of_a_frame_keeps_python_from_taking_the_others(kind: pa.DataType) -> None:
    """A length of time or a day beyond Python's calendar is like any text that no column knows."""
    listed = pa.types.is_list(kind)
    cells = bits(kind.value_type) if listed else bits(kind)
    column = pa.ListArray.from_arrays(pa.array([*range(len(cells) + 1)], pa.int32()), cells) if listed else cells

    ((values,),) = [*Frame.of(pa.table({"cell": column})).chunks(["cell"])]

    assert len(values) == len(FAR) + 1
    assert one_by_one(values)[0][0] == len(COLUMNS[0].labels) - 2  # as any other text
    assert values[FAR.index(0)] == pa.array([column[FAR.index(0)]]).to_pylist()[0]
