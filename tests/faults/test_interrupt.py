"""A process that is stopped in mid-run leaves only its journal behind, and says what was spent if it still can."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import final

import numpy as np
import pytest

from expost.jobs.finetuning.recipe import HeadRecipe, plan_training
from expost.report.digits import price
from expost.tabular.source import spill
from expost.training.head.score import accuracy
from expost.training.schedule import Epsilon, Schedule
from tests.unit.commands import PLEDGED
from tests.unit.folders.examples import older_release
from tests.unit.jobs.synthesis.customers import SCHEMA, csv, made
from tests.unit.report.examples import blobs, customers

SLOW = """
import pathlib
import time

from sklearn.base import BaseEstimator, ClassifierMixin


class Slow(ClassifierMixin, BaseEstimator):
    def fit(self, features, labels):
        if len(labels) > 500:  # the made-up records that it is tried on beforehand are fewer
            pathlib.Path("REACHED").touch()
            time.sleep(60)
        return self

    def predict(self, features):
        return [0] * len(features)
"""
BEFORE = {"customers.csv", "schema.toml", "slow.py", "REACHED", "temporary"}
COMMAND = (sys.executable, "-c", "from expost.cli import main; main()")
JOURNAL = ", as out.journal says."
PATIENCE = 30.0
"""Seconds until a process that does not get where it should is given up."""

AT_ONCE = 10.0
"""Seconds that an interrupt may take that comes while a table is read. It takes one where nothing else runs."""

TOLD, AGAIN = 3, AT_ONCE
"""How often a process is told to stop, and the seconds it has each time."""

MOMENT = 0.3
"""Seconds that a process has to get from noting that it is there into what it was to do."""


@final
@dataclass(frozen=True)
class Ended:
    """How a process ended, and what it left that was not there before."""

    status: int
    output: str
    errors: str
    left: set[str]
    seconds: float
    """Since it was first told to stop."""


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Ended]:
    """Stops a real process in mid-run, in a folder with a release to be replaced, if that is asked, or without."""
    return cache(lambda number, source, *words: _stopped(tmp_path_factory.mktemp("stopped"), number, source, *words))


def _stopped(here: Path, number: int, source: str, *words: str) -> Ended:
    csv(here)
    (here / "schema.toml").write_text(SCHEMA.dumps(), encoding="utf-8")
    (here / "slow.py").write_text(SLOW, encoding="utf-8")
    (here / "temporary").mkdir()
    if "--overwrite" in words:
        older_release(here / "out")
    fixed = ("--schema", "schema.toml", "--target", "renewed", "--accuracy", "0.8", "--out", "out", "--ladder")
    process = subprocess.Popen(
        [*COMMAND, "synth", source, *fixed, "renyi:0.02:2:3", "--estimator", "slow.Slow", *words],
        cwd=here,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(here), os.environ.get("PYTHONPATH", "")]),
            "TMPDIR": str(here / "temporary"),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        until = time.monotonic() + PATIENCE
        while not _reached(here) and process.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
        time.sleep(MOMENT)
        output, errors, seconds = _signalled(process, number)
    finally:
        process.kill()  # whatever came of the test, nothing of it runs on
        process.wait()
    found = {str(path.relative_to(here)) for path in here.rglob("*") if "__pycache__" not in path.parts}
    return Ended(process.returncode, output, errors, found - BEFORE, seconds)


def _reached(here: Path) -> bool:
    """Whether the process is where it should be stopped: at training, or in DuckDB, which has a folder by then."""
    return (here / "REACHED").exists() or any((here / "temporary").glob(f"{spill.MARK}-*"))


def _signalled(process: subprocess.Popen[str], number: int) -> tuple[str, str, float]:
    """What the process printed, and the seconds it took; it is told again if it does not end."""
    begun = time.monotonic()
    for _ in range(TOLD):
        process.send_signal(number)
        with suppress(subprocess.TimeoutExpired):
            return (*process.communicate(timeout=AGAIN), time.monotonic() - begun)
    raise AssertionError(f"the process went on after {TOLD} signals")


INTERRUPTED = (signal.SIGINT, "customers.csv", "--overwrite")
KILLED = (signal.SIGKILL, "customers.csv")
# Hours of work before the first row.
READING = (
    signal.SIGINT,
    "duckdb:SELECT 'west' region, count(*) age, 'full' AS plan, 'yes' renewed "
    "FROM range(100_000_000_000_000) WHERE md5(range::VARCHAR) < '0'",
)


def test_an_interrupt_in_mid_run_ends_with_130(stopped: Callable[..., Ended]) -> None:
    assert stopped(*INTERRUPTED).status == 130


def test_an_interrupt_in_mid_run_leaves_only_its_journal_and_nothing_replaced(
    stopped: Callable[..., Ended],
) -> None:
    assert stopped(*INTERRUPTED).left == {"out", "out/receipt.json", "out/synthetic.csv", "out.journal"}


def test_an_interrupt_in_mid_run_says_what_was_spent_in_one_sentence(stopped: Callable[..., Ended]) -> None:
    """That is what a run is stated at that stops on the first rung: the least that any stop is."""
    done = made(customers(SCHEMA, 900))
    first = done.facts.stops[0].epsilon

    ended = stopped(*INTERRUPTED)

    assert ended.errors.strip() == f"expost: interrupted; nothing was written, and ε = {price(first)} is spent{JOURNAL}"
    assert PLEDGED.fullmatch(ended.output)


def test_a_process_that_is_killed_leaves_its_journal(stopped: Callable[..., Ended]) -> None:
    ended = stopped(*KILLED)

    assert ended.status == -signal.SIGKILL
    assert {each for each in ended.left if spill.MARK not in each} == {"out.journal"}


def test_an_interrupt_while_the_table_is_read_ends_with_130_and_leaves_nothing(stopped: Callable[..., Ended]) -> None:
    ended = stopped(*READING)

    assert (ended.status, ended.left) == (130, set())


def test_an_interrupt_while_the_table_is_read_is_heard_at_once(stopped: Callable[..., Ended]) -> None:
    assert stopped(*READING).seconds < AT_ONCE


def test_an_interrupt_while_the_table_is_read_says_in_one_sentence_that_nothing_was_spent(
    stopped: Callable[..., Ended],
) -> None:
    ended = stopped(*READING)

    assert ended.errors.strip() == "expost: interrupted; nothing was written, and ε = 0 is spent."
    assert PLEDGED.fullmatch(ended.output)


def questioned(here: Path, number: int) -> Ended:
    """Stops a real process while it reads the table that it was asked about."""
    (here / "schema.toml").write_text(SCHEMA.dumps(), encoding="utf-8")
    (here / "temporary").mkdir()
    process = subprocess.Popen(
        [*COMMAND, "ask", READING[1], "count by region", "--schema", "schema.toml", "--within", "50"],
        cwd=here,
        env={**os.environ, "TMPDIR": str(here / "temporary")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        until = time.monotonic() + PATIENCE
        while not _reached(here) and process.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
        time.sleep(MOMENT)
        output, errors, seconds = _signalled(process, number)
    finally:
        process.kill()  # whatever came of the test, nothing of it runs on
        process.wait()
    return Ended(process.returncode, output, errors, {path.name for path in here.iterdir()} - BEFORE, seconds)


def test_an_interrupt_while_a_question_reads_its_table_costs_nothing_and_leaves_nothing(tmp_path: Path) -> None:
    ended = questioned(tmp_path, signal.SIGINT)

    assert (ended.status, ended.left) == (130, set())
    assert ended.seconds < AT_ONCE
    assert ended.errors.strip() == "expost: interrupted; nothing was written, and ε = 0 is spent."
    assert PLEDGED.fullmatch(ended.output)


def tuned(here: Path, number: int) -> Ended:
    """Stops a real process within the second of two releases, which would take minutes."""
    features, labels = blobs()
    np.savez(here / "records.npz", features=features, labels=labels)
    short = ("--epochs", "1", "--epochs-between", "1000000", "--releases", "2", "--start", "0.1")
    process = subprocess.Popen(
        [*COMMAND, "finetune", "records.npz", "--accuracy", "0.999", "--out", "out", *short],
        cwd=here,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        pledged, first = process.stdout.readline(), process.stdout.readline()
        time.sleep(MOMENT)
        output, errors, seconds = _signalled(process, number)
    finally:
        process.kill()  # whatever came of the test, nothing of it runs on
        process.wait()
    left = {path.name for path in here.iterdir()} - {"records.npz"}
    return Ended(process.returncode, pledged + first + output, errors, left, seconds)


def test_an_interrupt_in_mid_training_says_what_was_spent_and_leaves_its_journal(tmp_path: Path) -> None:
    """The steps of a release are on the bill before the first of them runs."""
    recipe = HeadRecipe(
        target=accuracy(0.999),
        schedule=Schedule.of_epochs(1, 1000000, 2, rate=Fraction(1, 10)),
        start=Epsilon(0.1),
    )

    ended = tuned(tmp_path, signal.SIGINT)

    spent = price(plan_training(recipe).epsilons[1])
    assert (ended.status, ended.left) == (130, {"out.journal"})
    assert ended.errors.strip() == f"expost: interrupted; nothing was written, and ε = {spent} is spent{JOURNAL}"
    pledged, told = ended.output.splitlines(keepends=True)
    assert PLEDGED.fullmatch(pledged)
    assert told.startswith("release: 1 of 2  steps: 10  ε so far: 0.100")


def test_a_training_process_that_is_killed_leaves_its_journal(tmp_path: Path) -> None:
    ended = tuned(tmp_path, signal.SIGKILL)

    assert (ended.status, ended.left) == (-signal.SIGKILL, {"out.journal"})
