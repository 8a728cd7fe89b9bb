"""Spark loses an executor, and its driver: releases are as before without one, and none leaves without the other."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import final

import pytest

from expost.ledgers.book import init_ledger, open_ledger
from expost.ledgers.proof import verify_ledger
from expost.ledgers.settling import unsettled
from expost.ledgers.terms import order_terms
from tests.faults.processes import PATIENCE, environment
from tests.spark import lacking_java


@final
@dataclass(frozen=True)
class Left:
    """What a process left that was killed."""

    status: int
    here: Path
    printed: str


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Left:
    """A run in a cluster that loses an executor, and then its driver."""
    pyspark = pytest.importorskip("pyspark", reason="PySpark is not installed; install expost[spark].")
    if (lacking := lacking_java()) is not None:
        pytest.skip(lacking)
    here = tmp_path_factory.mktemp("cluster")
    home = here / "spark"  # a cluster keeps its work in Spark's own folder
    home.mkdir()
    for each in Path(pyspark.__file__).parent.iterdir():
        (home / each.name).symlink_to(each)
    (here / "temporary").mkdir()
    init_ledger(here / "ledger.db", "people", order_terms(1000, alpha=20)).home.close()
    command = [sys.executable, "-m", "tests.faults.sparks", str(here), str(here / "ledger.db")]
    process = subprocess.Popen(
        command, env=environment(here, SPARK_HOME=str(home)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, start_new_session=True,
    )  # fmt: skip
    try:
        printed, _ = process.communicate(timeout=PATIENCE)
    finally:
        with suppress(ProcessLookupError):  # Java and its executors, which end by themselves without their driver
            os.killpg(process.pid, signal.SIGKILL)
    return Left(process.returncode, here, printed)


def test_a_release_is_the_same_when_an_executor_is_killed(left: Left) -> None:
    whole, without = json.loads((left.here / "released").read_text(encoding="ascii"))
    executor = int((left.here / "killed").read_text(encoding="ascii"))

    assert not Path(f"/proc/{executor}").exists()
    assert whole == without
    assert len({*whole}) > 5


def test_when_the_driver_is_killed_the_hold_remains_and_nothing_leaves(left: Left) -> None:
    with open_ledger(left.here / "ledger.db") as book:
        (run,), verified = unsettled(book), verify_ledger(book.home)

    assert left.status == -signal.SIGKILL
    assert verified.holds
    assert run.is_gone
    assert run.committed != run.spent
    assert not (left.here / "release").exists()
