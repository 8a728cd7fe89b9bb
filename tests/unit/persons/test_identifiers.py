"""Persons: the same from every source, by how their identifiers are spelled and by nothing else, and never told."""

import gc
import logging
import math
import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from expost.errors import ExpostError, SchemaMismatch, Unreadable
from expost.persons.canonical import canonical_text
from expost.tabular.persons import Grouped
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Boolean, Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.source import delimited, files, frames, spill
from expost.tabular.source.reading import read_records, read_table
from tests.unit.examples import ADD, one_sentence
from tests.unit.tabular.source.telling import shown

pd, pl, pa = import_module("pandas"), import_module("polars"), import_module("pyarrow")
pq = import_module("pyarrow.parquet")

PERSON = ADD.of_persons
PLACE = Integer("place", tuple(range(300)), Missing.FALLBACK)
SCHEMA = Schema((PLACE,), True, PERSON, missing_marks=("?", "-9"), unit="who")
CANARY = "CANARY-424242"


def persons(source: object, schema: Schema = SCHEMA) -> list[list[int]]:
    """The rows of each person."""
    grouped = read_records(source, schema)
    assert isinstance(grouped, Grouped)
    return [each.tolist() for each in np.split(grouped.table.codes("place"), grouped.people.ends[1:-1])]


def spelled_alike(identifiers: Sequence[object]) -> list[list[int]]:
    """The rows of each person, as a dictionary of their spellings has them."""
    found: dict[object, list[int]] = {}
    for place, each in enumerate(identifiers):
        text = canonical_text(each)
        found.setdefault(("missing", place) if text in {None, "", "?", "-9"} else text, []).append(place)
    return [*found.values()]


def table(identifiers: Sequence[object]) -> dict[str, list[object]]:
    return {"place": [*range(len(identifiers))], "who": [*identifiers]}


def csv(frame: Any, folder: Path) -> Path:
    frame.write_csv(folder / "visits.csv")
    return folder / "visits.csv"


def parquet(frame: Any, folder: Path) -> Path:
    frame.write_parquet(folder / "visits.parquet")
    return folder / "visits.parquet"


SOURCES: dict[str, Callable[[Any, Path], Any]] = {
    "csv": csv,
    "parquet": parquet,
    "query": lambda frame, folder: f"duckdb:SELECT * FROM '{parquet(frame, folder)}'",
    "relation": lambda frame, folder: duckdb.connect().read_parquet(str(parquet(frame, folder))),
    "pandas": lambda frame, folder: frame.to_pandas(),
    "pandas nullable": lambda frame, folder: frame.to_pandas().convert_dtypes(),
    "pandas objects": lambda frame, folder: pd.DataFrame(frame.to_dict(as_series=False), dtype=object),
    "polars": lambda frame, folder: frame,
    "polars lazy": lambda frame, folder: frame.lazy(),
    "pyarrow": lambda frame, folder: frame.to_arrow(),
}
each_source = pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
UUIDS = [str(uuid.UUID(int=7**40 * place)) for place in range(3)]
IDENTIFIERS: dict[str, list[Any]] = {
    "texts": ["b", "a", "b", "ä b", "B", "ä b"],
    "texts, some missing": ["b", None, "b", "", "?", "b", None],
    "integers": [30, 10, 30, -4, 10, 30],
    "integers, some missing": [30, None, 30, -9, None, -9, 0, 30, 0],
    "large integers": [2**63 - 1, -(2**63), 2**63 - 1, 2**63 - 2],
    "integers below 0, some missing": [-1, None, -2, None, -1, -3, None],
    "floats up to the longest that are exact": [2.0**53 - 1, 2.0**53 - 2, -(2.0**53) + 1, 2.0**53 - 1, 7.0, 7.5],
    "digits of other scripts": ["7", "\u0667", "7", "10", "\u0661\u0660", "10"],
    "integers as text": ["30", "10", "30", "030", "+10", "1_0", "10"],
    "UUIDs": [UUIDS[0], UUIDS[2], UUIDS[0], UUIDS[1], UUIDS[2]],
    "one person": ["x"] * 6,
    "as many persons as rows": ["x", "u", "z", "v"],
}


@each_source
@pytest.mark.parametrize("identifiers", IDENTIFIERS.values(), ids=IDENTIFIERS)
def test_every_kind_of_table_has_the_same_persons(
    identifiers: list[Any], source: Callable[[Any, Path], Any], tmp_path: Path
) -> None:
    given_as = source(pl.DataFrame(table(identifiers)), tmp_path)

    assert persons(given_as) == spelled_alike(identifiers)


@each_source
@pytest.mark.parametrize("identifiers", IDENTIFIERS.values(), ids=IDENTIFIERS)
def test_persons_are_the_same_however_the_table_is_parted(
    identifiers: list[Any], source: Callable[[Any, Path], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name, size in ((files, "CHUNK", 2), (frames, "CHUNK", 2), (delimited, "BLOCK", 16)):
        monkeypatch.setattr(module, name, size)

    assert persons(source(pl.DataFrame(table(identifiers)), tmp_path)) == spelled_alike(identifiers)


OBJECTS = (
    st.none() | st.integers(-12, 12) | st.integers() | st.sampled_from(["7", " 7", "007", "7.0", "?", "", "a", "-9"])
    | st.floats(-(2.0**53) + 1, 2.0**53 - 1)
    | st.sampled_from([math.nan, 7.0, 7.5, Decimal("7.00"), np.int64(7), pd.NA, pd.NaT, True, b"7"])
)  # fmt: skip


@given(st.lists(OBJECTS, min_size=1, max_size=12), st.integers(1, 4))
@settings(max_examples=150)
def test_persons_are_told_apart_by_the_spelling_of_whatever_they_are(identifiers: list[Any], size: int) -> None:
    """Also where numbers turn to texts from one chunk to the next."""
    frame = pd.DataFrame({"place": range(len(identifiers)), "who": pd.Series(identifiers, dtype=object)})
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(frames, "CHUNK", size)
        found = persons(frame)

    assert found == spelled_alike(identifiers)


@pytest.mark.parametrize(
    ("identifiers", "found"),
    [
        ([1, "1", 1.0, Decimal("1.0"), "01", "1.0"], [[0, 1, 2, 3], [4], [5]]),
        ([10**3000, 10**3000 + 1, 10**3000, "inf", Decimal("inf")], [[0, 2], [1], [3, 4]]),
        ([Decimal("1E5000"), Decimal("1E5001"), Decimal(10) ** 5000, "inf"], [[0, 2], [1], [3]]),
        ([Decimal(f"0.{'1' * 40}{last}") for last in (1, 2, 10)], [[0, 2], [1]]),
        ([Decimal("1E-5000"), Decimal("1E-5001"), 0.0], [[0], [1], [2]]),
        ([Decimal("7.50"), 7.5, Decimal("NaN"), Decimal("sNaN"), Decimal("-Infinity")], [[0, 1], [2], [3], [4]]),
        ([uuid.UUID(UUIDS[1]), UUIDS[1], UUIDS[1].upper()], [[0, 1], [2]]),
        (["a", " a ", "A"], [[0, 1], [2]]),
        ([5, 5, "x", 5, "5", None, -9], [[0, 1, 3, 4], [2], [5], [6]]),
    ],
)
def test_a_number_and_its_text_are_the_same_person(identifiers: list[Any], found: list[list[int]]) -> None:
    frame = pd.DataFrame({"place": range(len(identifiers)), "who": pd.Series(identifiers, dtype=object)})

    assert persons(frame) == found


NO_SPELLING: dict[str, Callable[[], Any]] = {
    "times of polars": lambda: times(pl.Datetime("ns")),
    "times of Arrow": lambda: times(pl.Datetime("ns")).to_arrow(),
    "times of pandas": lambda: times(pl.Datetime("ns")).to_pandas(),
    "times of an engine": lambda: duckdb.sql("SELECT i AS place, make_timestamp_ns(i) AS who FROM range(3) t(i)"),
    "durations": lambda: times(pl.Duration("ns")),
    "times of day": lambda: times(pl.Time),
    "intervals of an engine": lambda: duckdb.sql(
        "FROM (VALUES (0, INTERVAL 1 MONTH), (1, INTERVAL 30 DAY)) t(place, who)"
    ),
    "arrays": lambda: pd.DataFrame(table([np.arange(2000), np.arange(2000) + (np.arange(2000) == 1000)])),
    "one among others": lambda: pd.DataFrame(table([CANARY, "a", [CANARY]])),
}


def times(kind: Any) -> Any:
    """Three that differ by a nanosecond each."""
    return pl.DataFrame({"place": range(3)}).with_columns(who=pl.Series([1, 2, 3]).cast(kind))


@pytest.mark.parametrize("source", NO_SPELLING.values(), ids=NO_SPELLING)
def test_identifiers_that_would_be_cut_are_refused_lest_two_persons_become_one(source: Callable[[], Any]) -> None:
    with pytest.raises(Unreadable, match="no one spelling; give it as text") as refused:
        persons(source())

    assert one_sentence(refused.value)
    assert CANARY not in shown(refused.value)


LONGER: dict[str, list[Any]] = {
    "two that became one": [2**53, 2**53 + 1, None],
    "one among others": [7.5, 2.0**53, 7.0],
    "one below 0": [-(2.0**53), 1.0],
    "one that is infinite": [math.inf, 1.0],
    "one among texts": ["a", 2.0**60],
    "one of half the length": ["a", np.float32(2**24)],
}


@pytest.mark.parametrize("identifiers", LONGER.values(), ids=LONGER)
def test_numbers_that_a_float_may_have_cut_are_refused_lest_two_persons_become_one(identifiers: list[Any]) -> None:
    """As pandas reads whole numbers of eighteen digits where others are missing."""
    texts = any(isinstance(each, str) for each in identifiers)
    who = pd.Series(identifiers, dtype=object if texts else np.float64)

    with pytest.raises(Unreadable, match="longer than a float can hold") as refused:
        persons(pd.DataFrame({"place": range(len(identifiers)), "who": who}))

    assert one_sentence(refused.value)
    assert "9007199254740992" not in shown(refused.value)


def short(frame: Any, folder: Path) -> Path:
    pq.write_table(frame, folder / "who.parquet")
    return folder / "who.parquet"


SHORT: dict[str, Callable[[Any, Path], Any]] = {
    "Arrow": lambda table, folder: table,
    "polars": lambda table, folder: pl.from_arrow(table),
    "pandas": lambda table, folder: table.to_pandas(),
    "Parquet": short,
    "a query that only Python reads": lambda table, folder: duckdb.from_arrow(table).project("[place] AS place, who"),
}


@pytest.mark.parametrize("home", SHORT.values(), ids=SHORT)
def test_numbers_of_32_bits_hold_shorter_identifiers(home: Callable[[Any, Path], Any], tmp_path: Path) -> None:
    """Above 2**24 they may have been cut, whatever library hands them over as numbers of 64 bits."""
    who = pa.array([2**24, 2**24 + 1], pa.float64()).cast(pa.float32(), safe=False)

    with pytest.raises(Unreadable, match="longer than a float can hold"):
        persons(home(pa.table({"place": [0, 1], "who": who}), tmp_path))
    assert len(persons(home(pa.table({"place": [0, 1], "who": pa.array([7, 8], pa.float32())}), tmp_path))) == 2


@pytest.mark.parametrize("home", ["Arrow", "polars", "pandas"])
def test_numbers_of_16_bits_hold_still_shorter_identifiers(home: str, tmp_path: Path) -> None:
    def told(numbers: list[int]) -> list[list[int]]:
        who = pa.array(np.array(numbers, np.float16))
        return persons(SHORT[home](pa.table({"place": range(len(numbers)), "who": who}), tmp_path))

    with pytest.raises(Unreadable, match="longer than a float can hold"):
        told([2**11, 2**11 + 1])
    assert told([7, 8, 2**11 - 1, 7]) == [[0, 3], [1], [2]]


def test_whole_numbers_that_pandas_made_floats_are_whole() -> None:
    frame = pd.DataFrame({"place": range(5), "who": [3, None, 4, 3, None]})
    assert frame["who"].dtype == np.float64

    assert persons(frame) == [[0, 3], [1], [2], [4]]


def test_uuids_of_an_engine_are_those_of_its_texts(tmp_path: Path) -> None:
    place = parquet(pl.DataFrame(table([*UUIDS, *UUIDS])), tmp_path)

    assert persons(f"duckdb:SELECT place, who::UUID AS who FROM '{place}'") == [[0, 3], [1, 4], [2, 5]]


def test_a_person_in_several_files_is_one_person(tmp_path: Path) -> None:
    for name, first in (("a", 0), ("b", 3)):
        rows = pl.DataFrame({"place": [first, first + 1, first + 2], "who": ["x", name, None]})
        rows.write_parquet(tmp_path / f"{name}.parquet")
    both = f"SELECT * FROM '{tmp_path}/a.parquet' UNION ALL SELECT * FROM '{tmp_path}/b.parquet'"

    for sql in (both, f"SELECT * FROM read_parquet(['{tmp_path}/a.parquet', '{tmp_path}/b.parquet'])"):
        assert persons(f"duckdb:{sql}") == [[0, 3], [1], [2], [4], [5]]


@pytest.mark.parametrize("end", ["csv", "parquet"])
def test_a_person_in_several_files_of_a_pattern_is_one_person(end: str, tmp_path: Path) -> None:
    for name, first in (("a", 0), ("b", 3)):
        rows = pl.DataFrame({"place": [first, first + 1, first + 2], "who": ["x", name, None]})
        getattr(rows, f"write_{end}")(tmp_path / f"{name}.{end}")

    assert persons(f"{tmp_path}/*.{end}") == [[0, 3], [1], [2], [4], [5]]


def test_a_whole_number_that_pandas_wrote_as_a_fraction_is_another_text(tmp_path: Path) -> None:
    """As the guide warns: a text is compared as it is spelled, in whichever file it is."""
    pd.DataFrame({"place": [0, 1], "who": [4711, None]}).to_csv(tmp_path / "a.csv", index=False)
    pd.DataFrame({"place": [2, 3], "who": [4711, 42]}).to_csv(tmp_path / "b.csv", index=False)

    assert persons(f"{tmp_path}/*.csv") == [[0], [1], [2], [3]]


@pytest.mark.parametrize("spelled", [str, "P{:07}".format], ids=["numbers", "texts"])
def test_a_million_persons_are_told_apart(spelled: Callable[[int], str], tmp_path: Path) -> None:
    """Of whom every fifth has a second row, far from the first one."""
    count = 10**6
    whose = [*map(spelled, range(count)), *map(spelled, range(0, count, 5))]
    place = parquet(pl.DataFrame({"place": np.zeros(len(whose), np.int64), "who": whose}), tmp_path)

    grouped = read_records(place, SCHEMA)

    assert isinstance(grouped, Grouped)
    assert np.array_equal(grouped.sizes, np.where(np.arange(count) % 5, 1, 2))


def test_rows_that_are_dropped_are_nobodys() -> None:
    schema = Schema((PLACE, Boolean("sick", Missing.DROP)), True, PERSON, unit="who")
    rows = pl.DataFrame(table(["a", "b", "c", "b", "a", "c"]) | {"sick": [None, True, None, False, True, None]})

    assert persons(rows, schema) == [[1, 3], [4]]


def test_all_rows_may_be_dropped() -> None:
    grouped = read_records(
        pl.DataFrame({"sick": [None], "who": ["a"]}), Schema((Boolean("sick", Missing.DROP),), True, PERSON, unit="who")
    )

    assert isinstance(grouped, Grouped)
    assert len(grouped) == len(grouped.table) == 0


def test_with_a_row_for_each_person_the_table_is_that_without_a_unit(tmp_path: Path) -> None:
    rows = pl.DataFrame(table(["z", None, "a", "m"]))
    plain = read_table(rows, Schema((PLACE,), True, ADD))

    grouped = read_records(rows, SCHEMA)

    assert isinstance(grouped, Grouped)
    assert grouped.table.codes("place").tobytes() == plain.codes("place").tobytes()
    assert grouped.people.ends.tolist() == [0, 1, 2, 3, 4]


def test_records_without_a_unit_are_the_rows() -> None:
    assert type(read_records(pl.DataFrame({"place": [1]}), Schema((PLACE,), True, ADD))).__name__ == "Table"


def test_a_table_of_rows_is_not_read_where_records_are_persons() -> None:
    with pytest.raises(SchemaMismatch, match="the unit who, so that its records are persons") as refused:
        read_table(pl.DataFrame(table([CANARY])), SCHEMA)

    assert one_sentence(refused.value)
    assert CANARY not in shown(refused.value)


@each_source
def test_a_unit_that_the_table_lacks_is_told_in_one_sentence(
    source: Callable[[Any, Path], Any], tmp_path: Path
) -> None:
    rows = source(pl.DataFrame(table([CANARY])).rename({"who": CANARY}), tmp_path)

    with pytest.raises(SchemaMismatch, match=r"exactly one column who \(the unit\); correct the schema") as refused:
        read_records(rows, SCHEMA)

    assert one_sentence(refused.value)
    assert CANARY not in shown(refused.value)


HOSTILE = [
    f"{CANARY}'", f'{CANARY}"; DROP TABLE who; --', f"{CANARY},", f"{CANARY};\t|", "%s{}\\", "İ", "i̇", CANARY * 10**5,
    f"{CANARY}\u202e\U0001f984", f"{CANARY}\x1b[2J", f"{CANARY}\n", f"{CANARY}\r\n,{CANARY}", f"{CANARY}\0", "\0",
]  # fmt: skip
SURROGATES = [f"{CANARY}\ud800", f"{CANARY}\udfff", "\ud83e\udd84"]
IN_LINES = [each for each in HOSTILE if not {*"\0\r\n"} & {*each}]
HELD: dict[str, tuple[list[str], Callable[[Any, Path], Any]]] = {
    "polars": (HOSTILE, lambda rows, folder: pl.DataFrame(rows)),
    "pyarrow": (HOSTILE, lambda rows, folder: pa.table(rows)),
    "parquet": (HOSTILE, lambda rows, folder: parquet(pl.DataFrame(rows), folder)),
    "query": (HOSTILE, lambda rows, folder: f"duckdb:FROM '{parquet(pl.DataFrame(rows), folder)}'"),
    "pandas": (HOSTILE + SURROGATES, lambda rows, folder: pd.DataFrame(rows, dtype=object)),
    "csv": (IN_LINES, lambda rows, folder: csv(pl.DataFrame(rows), folder)),
}


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of its own for temporary files."""
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    spill.spill_folder.cache_clear()
    yield tmp_path / "scratch"
    spill.spill_folder.cache_clear()


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> Callable[[], str]:
    """All that was logged and printed."""
    caplog.set_level(logging.DEBUG)
    return lambda: caplog.text + "".join(capfd.readouterr())


@pytest.mark.parametrize(("hostile", "source"), HELD.values(), ids=HELD)
def test_hostile_identifiers_are_persons_like_others_and_leave_no_trace(
    hostile: list[str], source: Callable[[Any, Path], Any], told: Callable[[], str], scratch: Path
) -> None:
    given_as = source(table(hostile * 2), scratch.parent)

    grouped = read_records(given_as, SCHEMA)

    left = b"".join(str(path).encode() + path.read_bytes() for path in scratch.rglob("*") if path.is_file())
    seen = repr(grouped) + str(grouped) + told() + left.decode(errors="replace")
    assert persons(given_as) == spelled_alike(hostile * 2)
    assert "CANARY" not in seen


BROKEN: dict[str, Callable[[Path], Any]] = {
    "a line with too many fields": lambda folder: written(folder, f"place,who\n0,{CANARY}\n1,{CANARY},2\n"),
    "a line break in a field": lambda folder: written(folder, f'place,who\n0,"{CANARY}\n"\n'),
    "a NUL": lambda folder: written(folder, f"place,who\n0,{CANARY}\0\n"),
    "bytes that are not UTF-8": lambda folder: written(folder, f"place,who\n0,{CANARY}\udcff\n"),
    "the unit twice": lambda folder: written(folder, f"place,who,who\n0,{CANARY},{CANARY}\n"),
    "a query that fails on it": lambda folder: (
        f"duckdb:SELECT place, who::INT AS who FROM '{parquet(pl.DataFrame(table([CANARY])), folder)}'"
    ),
    "an identifier that cannot be spelled": lambda folder: pd.DataFrame(table([CANARY, Unspeakable()])),
}


class Unspeakable:
    """An identifier that quotes another where it should be spelled."""

    def __str__(self) -> str:
        raise ValueError(CANARY)


def written(folder: Path, text: str) -> Path:
    (folder / "broken.csv").write_bytes(text.encode(errors="surrogateescape"))
    return folder / "broken.csv"


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_no_identifier_is_in_what_a_failure_holds(broken: Callable[[Path], Any], tmp_path: Path) -> None:
    source = broken(tmp_path)

    with pytest.raises(ExpostError) as failure:
        read_records(source, SCHEMA)

    assert one_sentence(failure.value)
    assert CANARY not in shown(failure.value)


def test_a_canary_in_a_failure_would_be_seen() -> None:
    with pytest.raises(SchemaMismatch) as failure:
        read_records(pl.DataFrame({"place": [1]}), Schema((PLACE,), True, PERSON, unit=CANARY))

    assert CANARY in shown(failure.value)


@each_source
def test_no_output_depends_on_how_identifiers_are_spelled(source: Callable[[Any, Path], Any], tmp_path: Path) -> None:
    """Renamed one to one, they give the same persons, bit for bit."""
    who = [place * place % 37 for place in range(200)]
    names: list[list[Any]] = [
        [*range(37)],
        [(-1) ** place * 7**place % 2**62 for place in range(37)],
        [f"n{place}" for place in range(37, 0, -1)],
        [str(uuid.UUID(int=13 ** (place % 34) + place)) for place in range(37)],
        [f"0{place}" for place in range(37)],
    ]
    read = [read_records(source(pl.DataFrame(table([name[each] for each in who])), tmp_path), SCHEMA) for name in names]

    assert all(len({*name}) == 37 for name in names)
    for grouped in read:
        assert isinstance(grouped, Grouped)
        assert isinstance(read[0], Grouped)
        assert grouped.people.ends.tobytes() == read[0].people.ends.tobytes()
        assert grouped.table.codes("place").tobytes() == read[0].table.codes("place").tobytes()


def test_nothing_holds_an_identifier_once_a_table_has_been_read(tmp_path: Path) -> None:
    place = csv(pl.DataFrame(table([f"{CANARY}-{each}" for each in range(50)])), tmp_path)

    grouped = read_records(place, SCHEMA)

    gc.collect()
    kept = chain.from_iterable(
        [*each, *each.values()] if isinstance(each, dict) else each
        for each in gc.get_objects()
        if type(each) in (dict, list, tuple, set)
    )
    assert not any(type(each) is str and each.startswith(f"{CANARY}-") for each in kept)
    assert isinstance(grouped, Grouped)
