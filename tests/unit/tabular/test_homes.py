"""Every home of a table counts the same rows alike: as a reference does that looks at one value after another."""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from expost.noise import Integers, SeededNoise
from expost.persons.canonical import canonical_text
from expost.private import Neighbours
from expost.statistic import Statistic
from expost.tabular.hidden import HiddenTable
from expost.tabular.marginals import Marginals
from expost.tabular.persons import rows_per_person
from expost.tabular.pieced import AnyPieces, PiecedRows
from expost.tabular.schema.cells import Plain
from expost.tabular.schema.schema import Schema
from expost.tabular.source.reading import read_records
from tests.unit.tabular.homes import HOMES, OF_PERSONS, ROOMY, ROWS, SCHEMA, SPARK, Home, hostile, in_small_pieces


def cell(value: object) -> Any:
    """A value as a column takes it."""
    text = canonical_text(value)
    if text is None or text == "":
        return None
    return text if isinstance(value, str) else Plain(text)


def reference(table: pa.Table, cliques: tuple[tuple[str, ...], ...]) -> list[int]:
    """The counts of each clique, by looking at one row after another."""
    found = []
    rows = [
        {column.name: column.taken(cell(row[column.name]))[1] for column in SCHEMA.columns} for row in table.to_pylist()
    ]
    kept = [row for row in rows if all(row[column.name] < column.size for column in SCHEMA.columns)]
    for clique in cliques:
        counts = Counter(tuple(row[name] for name in clique) for row in kept)
        found += [counts[place] for place in np.ndindex(*(SCHEMA.domain[name] for name in clique))]
    return found


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of some fifty rows."""
    in_small_pieces(monkeypatch)


@pytest.fixture(params=[*HOMES, pytest.param(SPARK, marks=pytest.mark.xdist_group("spark"))])
def home(request: pytest.FixtureRequest) -> Iterator[Home]:
    """A home of tables; one in Spark has three partitions, of which one is empty."""
    if request.param != SPARK:
        yield HOMES[request.param]
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


def test_rows_of_persons_are_together_wherever_they_lay(home: Home, tmp_path: Path) -> None:
    table = hostile()
    owners = [
        who or f"nobody {place}"
        for place, (who, age) in enumerate(zip(table["who"].to_pylist(), table["age"].to_pylist(), strict=True))
        if age is not None
    ]
    sizes = Counter(Counter(owners).values())
    numbers: Statistic[Any] = rows_per_person(Neighbours.ADD_REMOVE_PERSON)
    weighed = Marginals(SCHEMA.domain, CLIQUES, Neighbours.ADD_REMOVE_PERSON).weighed(CLIQUES)
    rows = home(table, OF_PERSONS, tmp_path)

    found = numbers.evaluate(rows)

    assert found.sum() == sum(sizes.values())
    assert found[0] == sizes[1]
    assert np.array_equal(weighed.evaluate(rows), weighed.evaluate(read_records(table, OF_PERSONS)))


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
