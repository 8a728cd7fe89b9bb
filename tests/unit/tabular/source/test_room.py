"""The memory that a run may take: as it is typed, shared out, and kept, however wide the table is."""

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from expost.errors import InvalidValue
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.source import room
from expost.tabular.source.room import LEAST, LIBRARIES, PIECE, Room, row_width
from tests.unit.examples import ADD


def schema(columns: int, size: int = 7) -> Schema:
    """Columns of this many values each."""
    made = (Integer(f"c{place}", tuple(range(size)), Missing.FALLBACK) for place in range(columns))
    return Schema(tuple(made), True, ADD)


@pytest.mark.parametrize(
    ("typed", "size"),
    [
        ("500MB", 5 * 10**8),
        ("4GB", 4 * 10**9),
        ("1.5 gb", 15 * 10**8),
        ("2TB", 2 * 10**12),
        ("512MiB", 2**29),
        ("4GiB", 2**32),
        ("600000000", 6 * 10**8),
        (10**9, 10**9),
    ],
)
def test_a_size_is_typed_in_bytes_or_in_units(typed: str | int, size: int) -> None:
    assert Room.of(typed) == Room(size)


@pytest.mark.parametrize("typed", ["499MB", 5 * 10**8 - 1, "1", "0GB"])
def test_less_than_a_run_needs_is_refused(typed: str | int) -> None:
    with pytest.raises(InvalidValue, match="a run needs at least 500 MB"):
        Room.of(typed)


@pytest.mark.parametrize("typed", ["much", "4 GB of it", "-4GB", "4e9", "", True])
def test_what_is_not_a_size_is_refused(typed: str | bool) -> None:
    with pytest.raises(InvalidValue, match="write a size such as 4GB or 500MB"):
        Room.of(typed)


@pytest.mark.parametrize(
    ("machine", "size"), [(16 * 10**9, 8 * 10**9), (6 * 10**8, LEAST), (None, 2 * 10**9)], ids=["large", "small", "?"]
)
def test_by_default_a_run_takes_half_of_the_machine(
    machine: int | None, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "memory", lambda: machine)

    assert Room.of(None) == Room(size)


def test_codes_and_the_engine_take_a_quarter_each() -> None:
    assert (Room.of("4GB").codes, Room.of("4GB").engine) == (10**9, 10**9)
    assert (Room(0).codes, Room(0).engine) == (0, LEAST // 4)


@pytest.mark.parametrize("size", ["500MB", "1GB", "4GB"])
def test_a_model_takes_what_codes_and_libraries_leave(size: str) -> None:
    asked = Room.of(size)

    assert asked.model + asked.codes + LIBRARIES == asked.size
    assert Room(0).model == 0


@pytest.mark.parametrize("size", ["500MB", "4GB", "100GB"])
@pytest.mark.parametrize("columns", [1, 13, 200, 500])
def test_pieces_of_wide_rows_have_fewer(columns: int, size: str) -> None:
    """Eight pieces take no more than the codes that are kept; those of few columns have a million rows."""
    asked, wide = Room.of(size), schema(columns, 700)

    assert asked.rows(wide) <= PIECE
    assert 8 * asked.rows(wide) * row_width(wide) <= asked.codes
    assert Room.of("4GB").rows(schema(13)) == PIECE
    assert Room(0).rows(wide) > 1000


WIDE, ROWS, ALLOWED = schema(240, 300), 250_000, 500
READS = f"""
import sys
from fractions import Fraction
from pathlib import Path
import numpy as np
from expost.noise import SeededNoise
from expost.tabular.schema.schema import Schema
from expost.tabular.source.reading import read_pieces
from expost.tabular.source.room import Room

schema = Schema.load(Path(sys.argv[2]).read_text())
room = Room.of("{ALLOWED}MB")
rows = read_pieces(sys.argv[1], schema, room, SeededNoise(1), lambda text: None)
sides = rows.divided(Fraction(1, 5), SeededNoise(2))
counted = sum(int(side.added(lambda piece: np.array([len(piece)]))[0]) for side in sides)
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(type(rows).__name__, counted, int(peak.split()[1]) * 1024 // 10**6)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="this system does not say how much memory was used")
def test_a_wide_table_is_read_and_divided_in_the_memory_that_was_allowed(tmp_path: Path) -> None:
    """Its codes take 120 MB, and as one piece they would be held several times over."""
    columns = ", ".join(f"((range * {place + 3}) % 300)::USMALLINT AS c{place}" for place in range(240))
    file = tmp_path / "wide.parquet"
    duckdb.connect().execute(f"COPY (SELECT {columns} FROM range({ROWS})) TO '{file}' (ROW_GROUP_SIZE 20480)")
    (tmp_path / "schema.toml").write_text(WIDE.dumps(), encoding="utf-8")

    command = [sys.executable, "-c", READS, str(file), str(tmp_path / "schema.toml")]
    kind, counted, peak = subprocess.run(command, capture_output=True, check=True, text=True).stdout.split()

    assert (kind, int(counted)) == ("StoredRows", ROWS)
    assert int(peak) <= ALLOWED
