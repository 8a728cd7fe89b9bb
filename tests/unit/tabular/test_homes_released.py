"""A synthesis releases the same, bit for bit, in whatever home its table is, given the same coins and noise."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pytest
from numpy.typing import NDArray

import expost
from expost.jobs.synthesis.run import synthesize
from expost.keyed import Keyed
from expost.ladder import Ladder
from expost.noise import SeededNoise
from expost.tabular.hidden import HiddenTable
from expost.tabular.schema.schema import Schema
from expost.tabular.score import Conditional
from tests.unit.tabular.homes import (
    ATTACHED,
    HOMES,
    OF_PERSONS,
    ROOMY,
    SCHEMA,
    SPARK,
    Home,
    home_of_postgres,
    hostile,
    in_small_pieces,
)

ROWS = 600
KEY, OTHER = bytes(range(32)), bytes(32)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of some fifty rows."""
    in_small_pieces(monkeypatch)


class SameCoins:
    """Seeded noise whose coins go by places under one key, however many keys and coins are asked for elsewhere."""

    def __init__(self, key: bytes) -> None:
        self._noise, self._key = SeededNoise(3), key

    def __getattr__(self, name: str) -> Any:
        return getattr(self._noise, name)

    def coins(self, probability: Fraction, count: int) -> NDArray[np.bool_]:
        """Those that records in pieces have."""
        return Keyed(self._key, "sides").coins(probability, 0, count)

    def key(self) -> bytes:
        """The one key."""
        return self._key


def receipt(rows: object, key: bytes = KEY, schema: Schema = SCHEMA) -> str:
    """What a synthesis of these rows says that it released: every answer, and digests of all counts."""
    noise: Any = SameCoins(key)
    return synthesize(
        rows, schema=schema, target="urgent", accuracy=0.99, ladder=Ladder.of([1], alpha=20), learner=Conditional(),
        rows=50, validation=0.4, noise=noise,
    ).receipt  # fmt: skip


@pytest.fixture
def expected(tmp_path: Path) -> str:
    """That of a table in one piece."""
    folder = tmp_path / "whole"
    folder.mkdir()
    return receipt(HOMES["one piece"](hostile(ROWS), SCHEMA, folder))


@pytest.fixture(params=[*HOMES, ATTACHED, SPARK])
def home(request: pytest.FixtureRequest) -> Iterator[Home]:
    """A home of tables; in Spark one task has all rows, since coins go by tasks, too."""
    if request.param != SPARK:
        yield home_of_postgres(request) if request.param == ATTACHED else HOMES[request.param]
        return
    session, made = request.getfixturevalue("spark"), list[Any]()

    def in_spark(table: Any, schema: Schema, folder: Path) -> Any:
        frame = session.createDataFrame(table).coalesce(1)
        made.append(HiddenTable(frame).coded(schema, ROOMY, SeededNoise(1), lambda text: None))
        return made[-1]

    yield in_spark
    for each in made:
        each.close()


def test_every_home_releases_what_one_piece_releases(home: Home, expected: str, tmp_path: Path) -> None:
    assert receipt(home(hostile(ROWS), SCHEMA, tmp_path)) == expected


def answer(rows: object, schema: Schema) -> list[list[object]]:
    """What a question about these rows releases, row by row, in whatever kind of frame."""
    noise: Any = SeededNoise(3)
    table = expost.ask(rows, "count by ward", "count by urgent", schema=schema, within=20, noise=noise).table
    known: Any = nw.from_native(table)
    known = known.collect("pyarrow") if isinstance(known, nw.LazyFrame) else known
    return [[None if cell != cell else cell for cell in row] for row in known.rows()]  # noqa: PLR0124  not a number


@pytest.mark.parametrize("schema", [SCHEMA, OF_PERSONS], ids=["rows", "persons"])
def test_every_home_answers_as_one_piece_does(home: Home, schema: Schema, tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    expected = answer(HOMES["one piece"](hostile(ROWS), schema, tmp_path / "whole"), schema)

    assert answer(home(hostile(ROWS), schema, tmp_path), schema) == expected


@pytest.mark.parametrize("name", [name for name in HOMES if name not in ("one piece", "pieces in memory")])
def test_tables_of_persons_are_the_same_from_all_homes_in_pieces(name: str, tmp_path: Path) -> None:
    """Persons have one order under one key; in one piece they are as they came, and so have other coins."""
    found = []
    for each in (name, "pieces in memory"):
        folder = tmp_path / each
        folder.mkdir()
        found.append(receipt(HOMES[each](hostile(ROWS), OF_PERSONS, folder), schema=OF_PERSONS))

    assert found[0] == found[1]


def test_other_coins_or_one_row_less_would_be_noticed(expected: str, tmp_path: Path) -> None:
    (tmp_path / "less").mkdir()

    assert receipt(HOMES["pieces on disk"](hostile(ROWS), SCHEMA, tmp_path), OTHER) != expected
    assert receipt(HOMES["pieces on disk"](hostile(ROWS - 1), SCHEMA, tmp_path / "less")) != expected
