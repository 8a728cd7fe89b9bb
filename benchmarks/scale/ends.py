"""From end to end: ``expost synth`` as a user runs it, in a process of its own, with what it took and when.

Nothing is chosen but a seed. Files are in the system's cache, as they were just written or read; the floor is what
DuckDB alone takes to scan and cast them.
"""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from subprocess import DEVNULL, Popen
from tempfile import TemporaryDirectory
from time import monotonic

from duckdb import DuckDBPyRelation

from benchmarks.harness import Progress, seconds
from benchmarks.scale.coding import drained
from benchmarks.scale.tables import TARGET, write_table
from benchmarks.scale.timed import held, phases, rungs
from expost.tabular.source.home import connection

ROWS = (10**5, 10**6, 10**7, 10**8)
COLUMNS = (50, 100, 200)
"""Of tables of a million rows, besides 13."""
LIMIT = "4GB"
ACCURACY = "0.63"
COMMAND = Path(__file__).parent / "timed.py"
"""Run as a file: our package would bring its own imports, which are not those of the command."""


@dataclass(frozen=True)
class Taken:
    """Seconds on the clock and of the processors, the most memory, in bytes, and what was done in which seconds."""

    wall: float
    cpu: float
    peak: int
    phases: dict[str, float]
    rungs: int


def synthesized(file: Path, schema: Path, *options: str) -> Taken:
    """One synthesis of a file."""
    with TemporaryDirectory(prefix="expost-scale-") as folder:
        times, out = Path(folder) / "times", f"{folder}/out"
        words = ["synth", str(file), "--schema", str(schema), "--target", TARGET, "--accuracy", ACCURACY]
        command = [sys.executable, "-P", str(COMMAND), str(times), *words, "--out", out, "--seed", "1"]
        begun = monotonic()
        process = Popen([*command, *options], stdout=DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        ended = monotonic()
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 3):  # 3 is a ladder that ended first
            raise RuntimeError(f"the synthesis ended with status {process.returncode}")
        told = times.read_text()
        worked = used.ru_utime + used.ru_stime
        return Taken(ended - begun, worked, held(told), phases(begun, told, ended), rungs(told))


def ends(folder: Path, progress: Progress, sizes: tuple[int, ...] = ROWS) -> dict[str, float]:
    """Time and memory by the number of rows, and how much longer a row takes among more of them, from a million on."""
    figures: dict[str, float] = {}
    per_row: dict[int, float] = {}
    for rows in sizes:
        progress(f"a synthetic table of {rows:,} rows, from end to end")
        file, schema = write_table(folder, rows)
        taken, name = synthesized(file, schema), power(rows)
        scanned = seconds(drained(partial(_scan, file)), repeats=1)[0]
        figures |= told(taken, name) | {f"scale.scan_seconds.{name}": scanned}
        per_row[rows] = taken.wall / rows
    return {**figures, "scale.growth": growth(per_row)}


def growth(per_row: Mapping[int, float]) -> float:
    """The most that a row takes among some rows over what it takes among fewer, but at least a million."""
    many = sorted(rows for rows in per_row if rows >= 10**6)
    return max(per_row[more] / per_row[fewer] for fewer, more in combinations(many, 2))


def widths(folder: Path, progress: Progress, numbers: tuple[int, ...] = COLUMNS, rows: int = 10**6) -> dict[str, float]:
    """The same by the number of columns."""
    figures: dict[str, float] = {}
    for number in numbers:
        progress(f"a synthetic table of {rows:,} rows of {number} columns, from end to end")
        figures |= told(synthesized(*write_table(folder, rows, number)), f"{power(rows)}.{number}_columns")
    return figures


def bounded(folder: Path, progress: Progress, rows: int = ROWS[-1]) -> dict[str, float]:
    """The same of the largest table within a limit, in which not all of its codes can be kept in memory."""
    progress(f"a synthetic table of {rows:,} rows, from end to end, with --memory {LIMIT}")
    taken = synthesized(*write_table(folder, rows), "--memory", LIMIT)
    return told(taken, f"{power(rows)}.memory_{LIMIT.lower()}")


def told(taken: Taken, name: str) -> dict[str, float]:
    """The figures of one run."""
    return {
        f"scale.seconds.{name}": taken.wall,
        f"scale.cpu_seconds.{name}": taken.cpu,
        f"scale.peak_gb.{name}": taken.peak / 10**9,
        f"scale.rungs.{name}": taken.rungs,
        **{f"scale.{phase}_seconds.{name}": spent for phase, spent in taken.phases.items()},
    }


def power(rows: int) -> str:
    """A power of ten."""
    return f"1e{len(str(rows)) - 1}"


def _scan(file: Path) -> DuckDBPyRelation:
    return connection().read_parquet(str(file))
