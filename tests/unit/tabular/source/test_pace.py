"""How reading gets on: in words, and roughly."""

import numpy as np
import pytest

from expost.tabular.source import pace
from expost.tabular.source.coding import Chunk

CHUNK = Chunk((np.zeros(400, np.uint8),), np.ones(400, np.bool_), None)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that goes on by three seconds whenever it is looked at."""
    times = iter(range(0, 3000, 3))
    monkeypatch.setattr(pace, "monotonic", lambda: float(next(times)))


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize(
    ("height", "left"),
    [(None, ""), (1200, ", about 6 s left"), (12_000, ", about 87 s left"), (10**6, ", about 125 min left")],
)
def test_the_pace_and_the_time_left_are_told(height: int | None, left: str) -> None:
    told: list[str] = []

    read = list(pace.with_pace(iter([CHUNK]), height, told.append))

    assert read == [CHUNK]
    assert told == [f"reading the table at 130 rows per second{left}"]


@pytest.mark.parametrize(
    ("rows", "words"), [(7.4, "7"), (1234.0, "1,200"), (987_654.0, "990,000"), (2_345_678.0, "2.3 million")]
)
def test_a_pace_has_two_digits(rows: float, words: str) -> None:
    assert pace.pace(rows) == f"{words} rows per second"


def test_the_end_is_told_as_such() -> None:
    assert pace.time_left(0.4) == "nearly done"
