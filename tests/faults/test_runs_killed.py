"""Searches, training runs and tunings from Python, ended by SIGKILL in mid-step, leave a journal of what they spent."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import final

import pytest

from expost.errors import LedgerConflict
from expost.folders.journal import Journal
from expost.receipts.journal import Kept, read_journal
from expost.report.digits import price
from tests.unit.commands import run

HALTING = """
import pathlib
import time
from fractions import Fraction

import expost
from expost.noise import SystemNoise


class Halting:
    '''Noise that stops where it is asked for the last time, and writes down what is spent by then.'''

    def __init__(self, last, spent):
        self.left, self.spent = last, spent

    def __getattr__(self, name):
        found = getattr(SystemNoise(), name)
        self.left -= callable(found)
        if not self.left:
            pathlib.Path("SPENT").write_text(repr(float(self.spent())))
            pathlib.Path("REACHED").touch()
            time.sleep(60)
        return found
"""
LATE = """
waiting, append = [], expost.Journal._append


def later(self, line):
    waiting.append(line)
    if len(waiting) > 1:
        append(self, waiting.pop(0))


expost.Journal._append = later
"""
"""Writes a line when the next one comes: a hold once its data was open."""

SEARCH = """
from tests.unit.examples import ADD, budget, counts, right
from tests.unit.jobs.searches import LADDER, ONES, most

question = expost.CentredSum(right, Fraction(99, 100), ADD)
mechanism, check = expost.Gaussian(counts()), expost.CHECK
pledge = expost.PlannedStops(expost.planned_stops(mechanism, LADDER, check), 1e-5)
with expost.Journal.at("run.journal") as record:
    odometer = expost.Odometer(pledge=pledge, ledger=record)
    noise = Halting(LAST, lambda: odometer.epsilon)
    expost.search(ONES, mechanism, LADDER, most, check, noise=noise, odometer=odometer)
"""
TRAINING = """
from expost.bill import spent_so_far
from expost.training.torch.trainer import Trainer
from tests.unit.training.modules import network, sgd, train

module = network()
with expost.Journal.at("run.journal") as record:
    trainer = Trainer(
        module, sgd(module), train(), batch=60, max_grad_norm=1.0, noise_multiplier=1.0,
        ledger=record, noise=Halting(LAST, lambda: spent_so_far(record)), checkpoint=CHECKPOINT,
    )
    for stage in trainer.releases(every="1 epoch", releases=3):
        pass
"""
TUNING = """
from expost.training import tune
from tests.unit.training.tunings import Commonest, TWOS

with expost.Journal.at("run.journal") as record:
    tune(
        TWOS, [Commonest("dear", 2.0), Commonest("cheap", 0.5)], at_least=0.8, delta=1e-6, mean_runs=20,
        noise=Halting(LAST, lambda: 4.0), odometer=expost.Odometer(ledger=record),
    )
"""
JOBS = {
    "a search that releases": (SEARCH.replace("CHECK", "BalancedCheck(question, None)"), 3),
    "a search that asks": (SEARCH.replace("CHECK", "GaussianCheck(question, budget(12), 3, None)"), 4),
    "a training run": (TRAINING.replace("CHECKPOINT", "None"), 51),
    "a training run with a checkpoint": (TRAINING.replace("CHECKPOINT", "'run.pt'"), 51),
    "a tuning": (TUNING, 5),  # the least that a tuning of a single run asks for
}
"""What is run, and how many requests for noise it gets to."""
PATIENCE = 60.0
"""Seconds until a process that does not get where it should is given up."""


@final
@dataclass(frozen=True)
class Killed:
    """What a process left that was killed."""

    journal: Path
    spent: float

    @property
    def kept(self) -> Kept:
        return read_journal(self.journal.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Killed]:
    """Kills a real process in mid-step, once for each job."""
    return cache(lambda job, before="": _killed(tmp_path_factory.mktemp("killed"), *JOBS[job], before))


def _killed(here: Path, job: str, last: int, before: str) -> Killed:
    root = Path(__file__).parents[2]
    environment = {"PYTHONPATH": f"{root}:{root / 'src'}", "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"}
    program = HALTING + before + job.replace("LAST", str(last))
    process = subprocess.Popen([sys.executable, "-c", program], cwd=here, env=environment, stderr=subprocess.PIPE)
    try:
        until = time.monotonic() + PATIENCE
        while not (here / "REACHED").exists() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
    finally:
        process.send_signal(signal.SIGKILL)
        _, errors = process.communicate()
    assert process.returncode == -signal.SIGKILL, errors.decode()
    return Killed(here / "run.journal", float((here / "SPENT").read_text()))


@pytest.mark.parametrize("job", JOBS)
def test_the_journal_says_what_was_spent_with_the_step_under_way_in_full(
    killed: Callable[..., Killed], job: str
) -> None:
    left = killed(job)

    said = run("audit", str(left.journal))

    assert left.kept.epsilon == pytest.approx(left.spent)
    assert said.exit_code == 0
    assert f"ε = {price(left.kept.epsilon)} at δ = " in said.stdout
    assert "with one step that did not finish and is counted in full" in said.stdout


@pytest.mark.parametrize("job", [job for job in JOBS if "checkpoint" not in job])
def test_a_journal_that_is_written_a_line_late_says_less(killed: Callable[..., Killed], job: str) -> None:
    left = killed(job, LATE)

    assert left.kept.epsilon < left.spent
    assert "did not finish" not in str(left.kept)


def test_the_next_run_does_not_touch_what_a_killed_one_left(killed: Callable[..., Killed]) -> None:
    journal = killed("a tuning").journal
    before = journal.read_bytes()

    with pytest.raises(LedgerConflict, match="name another file"):
        Journal.at(journal)

    assert journal.read_bytes() == before
