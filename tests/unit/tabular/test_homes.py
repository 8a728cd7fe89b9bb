"""Every home of a table counts the same rows alike: as a reference does that looks at one value after another."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pytest

from expost.noise import Integers, SeededNoise
from expost.persons.canonical import canonical_text
from expost.private import Neighbours
from expost.statistic import Statistic
from expost.tabular.hidden import HiddenTable
from expost.tabular.marginals import Marginals
from expost.tabular.persons import GRID, rows_per_person
from expost.tabular.pieced import AnyPieces, PiecedRows
from expost.tabular.schema.cells import Plain
from expost.tabular.schema.schema import Schema
from tests.unit.tabular.homes import (
    ATTACHED,
    HOMES,
    OF_PERSONS,
    ROOMY,
    ROWS,
    SCHEMA,
    SPARK,
    Home,
    home_of_postgres,
    hostile,
    in_small_pieces,
)

Cliques: TypeAlias = tuple[tuple[str, ...], ...]
Coded: TypeAlias = tuple[Mapping[str, int], str]


def cell(value: object) -> Any:
    """A value as a column takes it."""
    text = canonical_text(value)
    if text is None or text == "":
        return None
    return text if isinstance(value, str) else Plain(text)


def coded(table: pa.Table) -> list[Coded]:
    """The rows that no column drops, each with whose it is, by looking at one after another."""
    found = list[Coded]()
    for place, row in enumerate(table.to_pylist()):
        codes = {column.name: column.taken(cell(row[column.name]))[1] for column in SCHEMA.columns}
        if all(codes[column.name] < column.size for column in SCHEMA.columns):
            found.append((codes, row["who"] or f"nobody {place}"))
    return found


def reference(table: pa.Table, cliques: Cliques) -> list[int]:
    """The counts of each clique."""
    return weighed_reference([(codes, 1) for codes, _ in coded(table)], cliques)


def weighed_reference(rows: Iterable[tuple[Mapping[str, int], int]], cliques: Cliques) -> list[int]:
    """The weights in each cell, added up one after another."""
    found, weighed = [], [*rows]
    for clique in cliques:
        counts = Counter[tuple[int, ...]]()
        for row, weight in weighed:
            counts[tuple(row[name] for name in clique)] += weight
        found += [counts[place] for place in np.ndindex(*(SCHEMA.domain[name] for name in clique))]
    return found


def average_weight(rows: Sequence[Mapping[str, int]], cliques: Cliques) -> int:
    """That of each row of a person who shall move each table by no more than one."""
    return GRID // len(rows)


def norm_weight(rows: Sequence[Mapping[str, int]], cliques: Cliques) -> int:
    """The largest by which no person moves all tables by a longer vector than one row would."""
    cells = Counter((clique, tuple(row[name] for name in clique)) for row in rows for clique in cliques)
    return min(GRID, math.isqrt(GRID * GRID * len(cliques) // sum(times * times for times in cells.values())))


def of_persons(table: pa.Table, cliques: Cliques, weight: Callable[[Sequence[Mapping[str, int]], Cliques], int]) -> Any:
    """The weights in each cell, where each row has one that follows from all rows of its person."""
    persons = dict[str, list[Mapping[str, int]]]()
    for codes, who in coded(table):
        persons.setdefault(who, []).append(codes)
    return weighed_reference(((row, weight(rows, cliques)) for rows in persons.values() for row in rows), cliques)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of some fifty rows."""
    in_small_pieces(monkeypatch)


@pytest.fixture(params=[*HOMES, ATTACHED, SPARK])
def home(request: pytest.FixtureRequest) -> Iterator[Home]:
    """A home of tables; one in Spark has three partitions, of which one is empty."""
    if request.param != SPARK:
        yield home_of_postgres(request) if request.param == ATTACHED else HOMES[request.param]
        return
    session, noise, made = request.getfixturevalue("spark"), SeededNoise(1), list[AnyPieces]()

    def in_spark(table: pa.Table, schema: Schema, folder: Path) -> AnyPieces:
        parts = [session.createDataFrame(part).coalesce(1) for part in (table[:70], table[70:])]
        empty = parts[0].where("age is null and age is not null")
        made.append(HiddenTable(parts[0].union(empty).union(parts[1])).coded(schema, ROOMY, noise, lambda text: None))
        return made[-1]

    yield in_spark
    for each in made:
        assert isinstance(each, PiecedRows)
        each.close()


CLIQUES = (*((name,) for name in SCHEMA.names), *combinations(SCHEMA.names, 2), SCHEMA.names[:3])


def test_hostile_values_are_counted_as_one_after_another(home: Home, tmp_path: Path) -> None:
    statistic = Marginals(SCHEMA.domain, CLIQUES, Neighbours.ADD_REMOVE).statistic

    found = statistic.evaluate(home(hostile(), SCHEMA, tmp_path))

    assert found.tolist() == reference(hostile(), CLIQUES)


def other(name: str, values: pa.Array) -> pa.Table:
    """The table with other values in one column."""
    table = hostile()
    return table.set_column(table.schema.get_field_index(name), name, values)


def repeated(values: Sequence[object], kind: pa.DataType) -> pa.Array:
    return pa.array([values[place % len(values)] for place in range(ROWS)], kind)


NIGHT = datetime(1999, 12, 31, 23, 30, tzinfo=UTC)
WRONG = {
    "texts for numbers": ("age", repeated(["12", "abc", "1e3", None, " 7 ", "01"], pa.string())),
    "numbers for texts": ("ward", repeated([0, 1, 2], pa.int32())),
    "truth values for days": ("day", repeated([True, False], pa.bool_())),
    "texts for days": ("day", repeated(["2000-01-01", "1999-12-31T23:59:59", "x", None], pa.string())),
    "lists for truth values": ("urgent", repeated([[0], [1]], pa.list_(pa.int64()))),
    "bytes for numbers": ("cost", repeated([b"1"], pa.binary())),
    "times of day for numbers": ("cost", repeated([1000, 2000, None], pa.time64("us"))),
    "times with a zone": ("day", repeated([NIGHT, NIGHT + timedelta(hours=1), None], pa.timestamp("us", "Asia/Tokyo"))),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_values_of_wrong_types_are_counted_as_one_after_another(home: Home, wrong: str, tmp_path: Path) -> None:
    statistic, table = Marginals(SCHEMA.domain, CLIQUES, Neighbours.ADD_REMOVE).statistic, other(*WRONG[wrong])

    found = statistic.evaluate(home(table, SCHEMA, tmp_path))

    assert found.tolist() == reference(table, CLIQUES)


def test_rows_of_persons_are_together_wherever_they_lay(home: Home, tmp_path: Path) -> None:
    table = hostile()
    owners = [
        who or f"nobody {place}"
        for place, (who, age) in enumerate(zip(table["who"].to_pylist(), table["age"].to_pylist(), strict=True))
        if age is not None
    ]
    sizes = Counter(Counter(owners).values())
    numbers: Statistic[Any] = rows_per_person(Neighbours.ADD_REMOVE_PERSON)
    asked = Marginals(SCHEMA.domain, CLIQUES, Neighbours.ADD_REMOVE_PERSON)
    rows = home(table, OF_PERSONS, tmp_path)

    found = numbers.evaluate(rows)

    assert found.sum() == sum(sizes.values())
    assert found[0] == sizes[1]
    assert asked.statistic.evaluate(rows).tolist() == of_persons(table, CLIQUES, average_weight)
    assert asked.weighed(CLIQUES).evaluate(rows).tolist() == of_persons(table, CLIQUES, norm_weight)


def test_a_row_more_moves_one_cell_of_each_marginal(home: Home, tmp_path: Path) -> None:
    statistic = Marginals(SCHEMA.domain, CLIQUES, Neighbours.ADD_REMOVE).statistic
    (tmp_path / "more").mkdir()

    counts = [
        statistic.evaluate(home(hostile(rows), SCHEMA, folder))
        for rows, folder in ((ROWS, tmp_path), (ROWS - 1, tmp_path / "more"))
    ]

    moved: Integers = counts[0] - counts[1]
    assert np.abs(moved).sum() == len(CLIQUES)
    assert moved.min() == 0
