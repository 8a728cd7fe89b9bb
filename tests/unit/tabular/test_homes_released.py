"""A synthesis releases the same, bit for bit, in whatever home its table is, given the same coins and noise."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from expost.jobs.synthesis.run import synthesize
from expost.keyed import Keyed
from expost.ladder import Ladder
from expost.noise import SeededNoise
from expost.tabular.hidden import HiddenTable
from expost.tabular.schema.schema import Schema
from expost.tabular.score import Conditional
from tests.unit.tabular.homes import HOMES, ROOMY, SCHEMA, SPARK, Home, hostile, in_small_pieces

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


def receipt(rows: object, key: bytes = KEY) -> str:
    """What a synthesis of these rows says that it released: every answer, and digests of all counts."""
    noise: Any = SameCoins(key)
    return synthesize(
        rows, schema=SCHEMA, target="urgent", accuracy=0.99, ladder=Ladder.of([1], alpha=20), learner=Conditional(),
        rows=50, validation=0.4, noise=noise,
    ).receipt  # fmt: skip


@pytest.fixture
def expected(tmp_path: Path) -> str:
    """That of a table in one piece."""
    folder = tmp_path / "whole"
    folder.mkdir()
    return receipt(HOMES["one piece"](hostile(ROWS), SCHEMA, folder))


@pytest.fixture(params=[*HOMES, pytest.param(SPARK, marks=pytest.mark.xdist_group("spark"))])
def home(request: pytest.FixtureRequest) -> Iterator[Home]:
    """A home of tables; in Spark one task has all rows, since coins go by tasks, too."""
    if request.param != SPARK:
        yield HOMES[request.param]
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


def test_other_coins_or_one_row_less_would_be_noticed(expected: str, tmp_path: Path) -> None:
    (tmp_path / "less").mkdir()

    assert receipt(HOMES["pieces on disk"](hostile(ROWS), SCHEMA, tmp_path), OTHER) != expected
    assert receipt(HOMES["pieces on disk"](hostile(ROWS - 1), SCHEMA, tmp_path / "less")) != expected
