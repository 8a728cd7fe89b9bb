"""A run in a Spark cluster of this machine that loses an executor, and then its driver: begun as a process of its own.

Its arguments are the folder that it works in and the ledger that it spends on.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pyspark import TaskContext

from expost.accounting.claim import Budget
from expost.jobs.synthesis.run import synthesize
from expost.ladder import Ladder
from expost.ledgers.book import open_ledger
from expost.ledgers.run import LedgerRun
from expost.mechanisms.gaussian import Gaussian
from expost.noise import Floats, Integers, SeededNoise
from expost.odometer import Odometer
from expost.private import Private, split
from expost.release import Past
from expost.statistic import Statistic
from expost.tabular.score import Candidate, Conditional
from expost.tabular.spark.reading import read_spark
from tests.spark import session
from tests.unit.tabular.spark.crowds import BY_PERSON, BY_ROW, cells_of, crowd, in_spark

CLUSTER = "local-cluster[2,1,1024]"
PERSONS = BY_PERSON.neighbours


def first_attempt() -> int | None:
    """The number of the task that this is the first attempt at; None elsewhere."""
    task = TaskContext.get()
    return None if task is None or task.attemptNumber() else task.partitionId()


def parent(process: int) -> int:
    """The process that began another."""
    return int(Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(") ")[2].split()[1])


def loses_executor(killed: Path, rows: Any) -> Integers:
    """Count, but kill the executor of the first task the first time, and leave its number."""
    if first_attempt() == 0:
        executor = parent(os.getppid())
        killed.write_text(str(executor), encoding="ascii")
        os.kill(executor, signal.SIGKILL)
    return cells_of(rows)


def released(parts: Any, compute: Callable[[Any], Integers]) -> list[int]:
    """Noisy counts of the held-out persons, by noise that can be repeated."""
    counts: Statistic[Any] = Statistic(compute, (15,), Fraction(60), Fraction(60), PERSONS, additive=True)
    odometer, budget = Odometer(rehearsal=True), Budget(Fraction(1), Fraction(2))
    release = odometer.spend(Gaussian(counts), parts.held, budget, Past(), SeededNoise(5))
    found: list[int] = release.value.values.tolist()
    return found


def main(here: Path, ledger: str) -> None:
    """Release with and without an executor, and then never."""
    with session(CLUSTER) as spark:
        frame = in_spark(spark, crowd(), 2)
        rows = read_spark(frame, BY_PERSON, SeededNoise(1))
        parts = split(Private(rows, PERSONS), Fraction(1, 2), SeededNoise(2))
        found = [released(parts, each) for each in (cells_of, partial(loses_executor, here / "killed"))]
        (here / "released").write_text(json.dumps(found), encoding="ascii")
        driver = os.getpid()

        def kills_driver(candidate: Candidate, records: Any) -> Floats:
            if TaskContext.get() is not None:
                os.kill(driver, signal.SIGKILL)
            return np.ones(len(records))

        with LedgerRun(open_ledger(ledger), "people") as run:
            synthesize(
                frame, schema=BY_ROW, target="town", accuracy=0.5, ladder=Ladder.geometric(0.02, 2, 3, alpha=20),
                learner=Conditional(), score=kills_driver, confidence=None, ledger=run,
            ).save(here / "release")  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
