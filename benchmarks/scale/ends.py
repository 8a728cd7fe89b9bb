"""From end to end: ``expost synth`` as a user runs it, in a process of its own, with what it took."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, Popen
from tempfile import TemporaryDirectory
from time import perf_counter

from benchmarks.harness import Progress
from benchmarks.scale.tables import TARGET, write_table

ROWS = (10**5, 10**6, 10**7, 10**8)
ACCURACY = "0.63"
COMMAND = "import sys; from expost.cli import main; sys.exit(main())"


@dataclass(frozen=True)
class Taken:
    """Seconds on the clock and of the processors, and the most memory, in bytes."""

    wall: float
    cpu: float
    peak: int


def synthesized(file: Path, schema: Path, *options: str) -> Taken:
    """One synthesis of a file."""
    with TemporaryDirectory(prefix="expost-scale-") as folder:
        words = ["synth", str(file), "--schema", str(schema), "--target", TARGET, "--accuracy", ACCURACY]
        begun = perf_counter()
        process = Popen(
            [sys.executable, "-c", COMMAND, *words, "--out", f"{folder}/out", "--seed", "1", *options], stdout=DEVNULL
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 3):  # 3 is a ladder that ended first
            raise RuntimeError(f"the synthesis ended with status {process.returncode}")
        return Taken(perf_counter() - begun, used.ru_utime + used.ru_stime, 1024 * used.ru_maxrss)


def ends(folder: Path, progress: Progress, sizes: tuple[int, ...] = ROWS) -> dict[str, float]:
    """Time and memory by the number of rows, and how much longer a row takes among many than among a million."""
    figures: dict[str, float] = {}
    per_row: dict[int, float] = {}
    for rows in sizes:
        progress(f"a synthetic table of {rows:,} rows, from end to end")
        taken = synthesized(*write_table(folder, rows))
        name = f"1e{len(str(rows)) - 1}"
        figures |= {
            f"scale.seconds.{name}": taken.wall,
            f"scale.cpu_seconds.{name}": taken.cpu,
            f"scale.peak_gb.{name}": taken.peak / 10**9,
        }
        per_row[rows] = taken.wall / rows
    return {**figures, "scale.growth": per_row[max(per_row)] / per_row[10**6]}
