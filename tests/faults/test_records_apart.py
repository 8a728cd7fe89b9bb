"""What one record says does not change how another is read: a malformed file is refused as a whole, in one sentence."""

import csv
import gzip
import io
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from expost.errors import InvalidValue, Unreadable
from expost.noise import SeededNoise
from expost.tabular.drafts.draft import draft
from expost.tabular.schema.binned import Dates, Numeric
from expost.tabular.schema.bins import Closed
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Categorical, Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.source import delimited
from expost.tabular.source.reading import read_table
from tests.unit.examples import ADD, one_sentence
from tests.unit.tabular.source.telling import shown

SCHEMA = Schema(
    (
        Categorical("height", ("tall", "short"), "other", missing=Missing.FALLBACK),
        Integer("age", (0, 1, 2), Missing.FALLBACK),
    ),
    True,
    ADD,
)
PEOPLE = [f"tall,{place % 3}" for place in range(3000)]
STRAY = "5'7\",1"
"""A quote inside a field without quotes, as an inch."""
SWALLOWS = '"short,2'
"""A record that begins with a quote, and goes on to the next one."""


def table(folder: Path, *lines: str, name: str = "people.csv") -> Path:
    """A file with these records."""
    path = folder / name
    content = "\n".join(["height,age", *lines, ""]).encode()
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def lenient(path: Path) -> int:
    """How many records Python's own reader finds, which is lenient as most are."""
    with path.open(newline="", encoding="utf-8") as file:
        return len(list(csv.reader(file))) - 1


def swallowing(folder: Path) -> Path:
    """The table in which one record more makes a lenient reader lose most of the others."""
    return table(folder, SWALLOWS, *PEOPLE, STRAY)


def test_one_line_more_makes_a_lenient_reader_lose_thousands(tmp_path: Path) -> None:
    assert lenient(table(tmp_path, *PEOPLE, STRAY)) == len(PEOPLE) + 1
    assert lenient(swallowing(tmp_path)) < 10


MALFORMED: dict[str, Callable[[Path], Path]] = {
    "a quote inside a field": lambda folder: table(folder, *PEOPLE, STRAY),
    "a quote that swallows": swallowing,
    "a quote that is not closed": lambda folder: table(folder, *PEOPLE, SWALLOWS),
    "two of them": lambda folder: table(folder, SWALLOWS, *PEOPLE, SWALLOWS),
    "text after a quote": lambda folder: table(folder, '"tall"er,1'),
    "a space before a quote": lambda folder: table(folder, 'tall, "1"'),
    "a quote doubled outside quotes": lambda folder: table(folder, 'tall"",1'),
    "a line break inside quotes": lambda folder: table(folder, '"ta\nll",1'),
    "a carriage return inside quotes": lambda folder: table(folder, '"ta\rll",1'),
    "a carriage return inside a line": lambda folder: table(folder, "tall\r,1"),
    "a field too many": lambda folder: table(folder, "tall,1,1", *PEOPLE),
    "a field too few": lambda folder: table(folder, "tall", *PEOPLE),
    "too few and too many": lambda folder: table(folder, "tall", "tall,1,1"),
    "an empty line": lambda folder: table(folder, "tall,1", "", "tall,1"),
    "a NUL byte": lambda folder: table(folder, "ta\0ll,1"),
    "another delimiter": lambda folder: table(folder, "tall;1"),
    "a quote in the compressed file": lambda folder: table(folder, STRAY, name="people.csv.gz"),
}
each_fault = pytest.mark.parametrize("malformed", MALFORMED.values(), ids=MALFORMED)


@each_fault
def test_a_malformed_file_is_refused_as_a_whole(malformed: Callable[[Path], Path], tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="refused as a whole") as refused:
        read_table(malformed(tmp_path), SCHEMA)

    assert one_sentence(refused.value)


@pytest.mark.parametrize("first", ["sep=;", "SEP=,", '"sep=;"', "sep=\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_line_for_excel_ahead_of_the_header_is_named(first: str, end: str, tmp_path: Path) -> None:
    """It is no record, and nothing that a record says can put it there."""
    path = tmp_path / "people.csv"
    path.write_text(end.join([first, "height;sick", "tall;1", ""]), encoding="utf-8-sig", newline="")

    for reader in (lambda: read_table(path, SCHEMA), lambda: draft(path)):
        with pytest.raises(Unreadable, match="begins with a line for Excel"):
            reader()


def test_no_refusal_tells_what_is_wrong_or_where(tmp_path: Path) -> None:
    """Which rule a record breaks, and on which line, is something about the data that nothing on the bill covers."""
    told = set()
    for malformed in MALFORMED.values():
        for reader in (lambda path: read_table(path, SCHEMA), draft):
            with pytest.raises(Unreadable) as refused:
                reader(malformed(tmp_path))
            told.add(str(refused.value).removeprefix("people.csv").removeprefix(".gz"))
            assert "5'7" not in shown(refused.value)

    assert len(told) == 1
    assert not any(letter.isdigit() for letter in told.pop().replace("UTF-8", ""))


def test_a_line_at_the_end_of_a_long_file_is_found_before_any_cell_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[bytes] = []
    monkeypatch.setattr(delimited, "BLOCK", 1000)
    monkeypatch.setattr(delimited, "_cells", lambda block, *layout: made.append(block))

    with pytest.raises(Unreadable):
        read_table(table(tmp_path, *PEOPLE, STRAY), SCHEMA)

    assert made == []


def drawn(letters: str, most: int, noise: SeededNoise) -> str:
    """Up to ``most`` of these letters at random."""
    return "".join(letters[noise.below(len(letters))] for _ in range(noise.below(most + 1)))


@pytest.mark.parametrize("block", [7, 64, 2**22])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL], ids=["where needed", "everywhere"])
def test_a_well_formed_file_is_read_as_it_was_written(
    quoting: int, ending: str, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delimited, "BLOCK", block)
    noise = SeededNoise(1)
    records = [[drawn('ab ,;|"é\t', 5, noise) for _ in range(2)] for _ in range(200)]
    written = io.StringIO()
    csv.writer(written, quoting=quoting, lineterminator=ending).writerows([["height", "age"], *records])  # type: ignore[arg-type]  # one of csv's numbers
    (tmp_path / "people.csv").write_bytes(written.getvalue().encode())

    found = delimited.Delimited.of(tmp_path / "people.csv")

    chunks = [*found.chunks(("height", "age"))]
    assert [list(row) for chunk in chunks for row in zip(*chunk, strict=True)] == records


def test_a_record_more_leaves_the_codes_of_all_others_as_they_were(tmp_path: Path) -> None:
    """Whatever the record says, the file is either refused or the others are read as before."""
    noise, before = SeededNoise(2), read_table(table(tmp_path, *PEOPLE[:50]), SCHEMA)
    accepted = 0
    for _ in range(300):
        extra = ",".join(drawn('a1",;\n\r|\0', 4, noise) for _ in range(2))
        lines = [*PEOPLE[:25], extra, *PEOPLE[25:50]]
        try:
            after = read_table(table(tmp_path, *lines), SCHEMA)
        except Unreadable:
            continue
        accepted += 1
        for name in SCHEMA.names:
            codes = after.codes(name).tolist()
            added = len(codes) - 50
            assert codes[:25] + codes[25 + added :] == before.codes(name).tolist()
    assert accepted > 10


def test_no_flip_of_a_bit_in_a_compressed_file_is_read_as_other_data(tmp_path: Path) -> None:
    path = table(tmp_path, *PEOPLE[:40], name="people.csv.gz")
    whole, noise = path.read_bytes(), SeededNoise(3)
    sound = read_table(path, SCHEMA)
    for _ in range(100):
        flipped = bytearray(whole)
        flipped[10 + noise.below(len(whole) - 10)] ^= 1 << noise.below(8)
        path.write_bytes(flipped)
        try:
            found = read_table(path, SCHEMA)
        except Unreadable:
            continue
        assert all((found.codes(name) == sound.codes(name)).all() for name in SCHEMA.names)


def test_one_text_among_numbers_changes_how_pandas_reads_the_others_and_not_how_we_do(tmp_path: Path) -> None:
    schema = Schema((Categorical("code", ("007", "7"), "other", None, missing=Missing.CATEGORY),), True, ADD)
    codes = []
    for extra in ("7", "x"):
        path = tmp_path / "codes.csv"
        path.write_text(f"code\n007\n{extra}\n", encoding="utf-8")
        codes.append(read_table(path, schema).codes("code")[0])
        guessed = read_table(pl.read_csv(path), schema).codes("code")[0]
        codes.append(guessed)

    ours, theirs = codes[::2], codes[1::2]

    assert ours == [0, 0]
    assert theirs == [1, 0]


def test_a_query_does_not_guess_how_a_csv_file_is_written(tmp_path: Path) -> None:
    path = table(tmp_path, *PEOPLE)

    for source in (f"'{path}'", f"read_csv('{path}')", f'"{path}"'):
        with pytest.raises(InvalidValue, match="Parquet") as refused:
            read_table(f"duckdb:SELECT * FROM {source}", SCHEMA)
        assert one_sentence(refused.value)
    assert duckdb.read_csv(str(path)).types[1] == "BIGINT"


WHEN = Schema(
    (Dates("when", (date(1990, 1, 1), date(2000, 1, 1), date(2010, 1, 1)), Closed.LEFT, Missing.CATEGORY),), True, ADD
)
FAR = 10**8
"""Days, in a year that Python's calendar does not have."""


def moments(kind: str, later: int, zone: str | None = None) -> pa.Table:
    """A time in 1995 and another one, as numbers of this kind."""
    per_day = {"s": 86400, "ms": 86400 * 10**3, "us": 86400 * 10**6, "ns": 86400 * 10**9}[kind]
    numbers = pa.array([9131 * per_day, later * per_day], pa.int64())
    return pa.table({"when": numbers.cast(pa.timestamp(kind, zone))})


def days(later: int) -> pa.Table:
    """A day in 1995 and another one."""
    return pa.table({"when": pa.array([9131, later], pa.int32()).cast(pa.date32())})


FAR_AWAY: dict[str, Callable[[], Any]] = {
    "a day in polars": lambda: pl.from_arrow(days(FAR)),
    "a day in Arrow": lambda: days(FAR),
    "a time in polars": lambda: pl.from_arrow(moments("ms", FAR)),
    "a time in Arrow": lambda: moments("s", FAR),
    "a time before all others in Arrow": lambda: moments("s", -FAR),
    "a time with a zone in polars": lambda: pl.from_arrow(moments("ms", FAR, "America/New_York")),
    "a time with a zone in Arrow": lambda: moments("us", 2932896, "America/New_York"),
}


@pytest.mark.parametrize("given", FAR_AWAY.values(), ids=FAR_AWAY)
def test_a_time_beyond_the_calendar_leaves_the_other_record_as_it_is(
    given: Callable[[], Any], capfd: pytest.CaptureFixture[str]
) -> None:
    table = read_table(given(), WHEN)

    assert (len(table), int(table.codes("when")[0])) == (2, 0)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("zone", [None, "UTC", "Asia/Tokyo"])
@pytest.mark.parametrize("kind", ["s", "ms", "us", "ns"])
def test_a_time_has_the_same_code_in_every_unit_and_kind_of_table(kind: str, zone: str | None, tmp_path: Path) -> None:
    native = moments(kind, 11000, zone)
    pq.write_table(native, tmp_path / "times.parquet")

    for source in (native, pl.from_arrow(native), native.to_pandas(), tmp_path / "times.parquet"):
        assert read_table(source, WHEN).codes("when").tolist() == [0, 1]


ODD = {"signals": Decimal("sNaN"), "huge": Decimal("1E+5000"), "long": 10**5000, "long and negative": -(10**5000)}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_a_number_that_nobody_expects_leaves_the_other_record_as_it_is(odd: object) -> None:
    schema = Schema((Numeric("n", (0.0, 10.0, 20.0), Closed.LEFT, Missing.CATEGORY),), True, ADD)
    given = pd.DataFrame({"n": pd.Series([15, odd], dtype=object)})

    codes = read_table(given, schema).codes("n").tolist()

    assert codes[0] == 1
    assert len(codes) == 2


class Panic(BaseException):
    """What polars raises when its own code fails: not an Exception."""


def test_a_panic_of_a_library_is_a_refusal_that_shows_nothing() -> None:
    class Odd:
        def __str__(self) -> str:
            raise Panic("canary")

    given = pd.DataFrame({"height": pd.Series(["tall", Odd()], dtype=object), "age": [1, 2]})

    with pytest.raises(Unreadable) as refused:
        read_table(given, SCHEMA)

    assert "canary" not in shown(refused.value)


def test_a_day_and_a_time_keep_their_spelling() -> None:
    spelled = Schema(
        (Categorical("when", ("1995-01-01", "1995-01-01T00:00:00"), "other", missing=Missing.FALLBACK),), True, ADD
    )

    for native, code in ((days(9131), 0), (moments("ms", 9131), 1)):
        for source in (native, pl.from_arrow(native)):
            assert read_table(source, spelled).codes("when").tolist() == [code, code]
