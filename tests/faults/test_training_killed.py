"""A training process that is killed in mid-epoch leaves a bill for every step that may have run."""

import shutil
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import torch

from expost.accounting.descent import Descent
from expost.accounting.stops import PlannedStops
from expost.noise import SystemNoise
from expost.training.torch.course import Stage
from expost.training.torch.trainer import Trainer
from tests.unit.training.modules import network, sgd, train

PLAN: dict[str, Any] = {"every": "2 epochs", "releases": 3, "delta": 1e-5}
KILLED_IN = 27
"""The step in which the process is killed: in its third epoch of ten, the first after the first release."""

PROGRAM = f"""
import pathlib
import time

from expost.noise import SystemNoise
from expost.training.torch.trainer import Trainer
from tests.unit.training.modules import network, sgd, train


class Halting:
    steps = 0

    def __getattr__(self, name):
        return getattr(SystemNoise(), name)

    def coins(self, probability, count):
        self.steps += 1
        if self.steps == {KILLED_IN}:
            pathlib.Path("REACHED").touch()
            time.sleep(60)
        return SystemNoise().coins(probability, count)


module = network()
trainer = Trainer(
    module, sgd(module), train(), batch=60, max_grad_norm=1.0, noise_multiplier=1.0, noise=Halting(),
    checkpoint="run.pt",
)
for stage in trainer.releases(**{PLAN!r}):
    pathlib.Path("SEEN").write_text(repr(float(stage.epsilon)))
"""
PATIENCE = 60.0
"""Seconds until a process that does not get where it should is given up."""


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a process that SIGKILL has ended in its third epoch."""
    here = tmp_path_factory.mktemp("killed")
    root = Path(__file__).parents[2]
    environment = {"PYTHONPATH": f"{root}:{root / 'src'}", "PATH": "/usr/bin:/bin"}
    process = subprocess.Popen([sys.executable, "-c", PROGRAM], cwd=here, env=environment, stderr=subprocess.PIPE)
    try:
        until = time.monotonic() + PATIENCE
        while not (here / "REACHED").exists() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
    finally:
        process.send_signal(signal.SIGKILL)
        _, errors = process.communicate()
    assert process.returncode == -signal.SIGKILL, errors.decode()
    shutil.copy(here / "run.pt", here / "left.pt")
    return here


@pytest.fixture(scope="module")
def resumed(killed: Path) -> tuple[Trainer, list[Stage]]:
    """The run as another process goes on with it."""
    module = network()
    trainer = Trainer.resume(killed / "run.pt", module, sgd(module), train(), noise=SystemNoise())
    return trainer, list(trainer.releases(**PLAN))


def test_the_epoch_under_way_is_on_disk_as_spent_and_its_weights_are_not(killed: Path) -> None:
    stored = torch.load(killed / "left.pt", weights_only=True)

    assert sum(times for _, _, _, times in stored["bills"]) == 3
    assert stored["steps"] == 20


def test_the_resumed_run_is_billed_for_the_lost_epoch_and_trains_one_fewer(
    killed: Path, resumed: tuple[Trainer, list[Stage]]
) -> None:
    step = Descent(Fraction(1, 10), Fraction(1)).step

    spent = [stage.release.spent.at(8) for stage in resumed[1]]

    assert spent == pytest.approx([step.times(40).at(8), step.times(60).at(8)], rel=1e-12)
    assert torch.load(killed / "run.pt", weights_only=True)["steps"] == 50


def test_every_statement_is_the_one_that_was_planned_for_its_release(
    killed: Path, resumed: tuple[Trainer, list[Stage]]
) -> None:
    trainer, stages = resumed
    pledge = trainer.ledger.pledged
    assert isinstance(pledge, PlannedStops)

    seen = float((killed / "SEEN").read_text())

    assert [seen, *(stage.epsilon for stage in stages)] == [stop.epsilon for stop in pledge.table]


def test_the_resumed_run_is_as_private_as_any(resumed: tuple[Trainer, list[Stage]]) -> None:
    assert not any(stage.release.seeded for stage in resumed[1])
