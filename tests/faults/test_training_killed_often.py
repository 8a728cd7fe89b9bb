"""A trainer that is killed at random points, again and again, comes to a finite statement that its plan announced.

Each process is a real one, ended by SIGKILL at a line of code that a seeded draw has chosen.
"""

import math
import os
import signal
import sys
import traceback
from collections.abc import Callable
from functools import cache
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import torch
from torch import nn
from torch.optim import SGD

from expost.accounting.stops import PlannedStops
from expost.errors import LedgerConflict
from expost.judge import Balanced, Budgeted
from expost.noise import SeededNoise
from expost.training.head.score import accuracy
from expost.training.torch.checkpoint import read_archive
from expost.training.torch.trainer import Trainer

PLAN: dict[str, Any] = {"every": "3 epochs", "releases": 3, "delta": 1e-5}
KILLS = 17
"""In each of the three ways to run: 51 in all."""
SHARE = 1 / 6
"""Of the lines of a whole run: about how many a process lives through, which takes one or two epochs of the nine."""
TRACED = ("/expost/training/", "/expost/odometer.py", "/expost/search.py", "/expost/protocols.py")


def records(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    features = torch.from_numpy(SeededNoise(seed).gaussian(1.0, (count, 3))).float()
    return features, (features[:, 0] > 0).long()


def made(path: Path) -> Trainer:
    """The run on file, or a new one."""
    torch.manual_seed(1)
    module = nn.Linear(3, 2)
    optimizer = SGD(module.parameters(), lr=0.5)
    if path.exists():
        return Trainer.resume(path, module, optimizer, records(40, 1))
    return Trainer(
        module, optimizer, records(40, 1), batch=10, max_grad_norm=1.0, noise_multiplier=1.0, checkpoint=path
    )


def release_all(job: Trainer) -> float:
    return [stage.epsilon for stage in job.releases(**PLAN)][-1]


def until_with(check: Any) -> Callable[[Trainer], float]:
    return lambda job: job.until(accuracy(0.99), on=records(30, 2), check=check, **PLAN).epsilon


WAYS = {"releases": release_all, "balanced": until_with(Balanced()), "gaussian": until_with(Budgeted())}


@cache
def is_ours(file: str) -> bool:
    """Whether lines of this file count."""
    return any(each in file for each in TRACED)


def at_each_line(act: Callable[[], object]) -> None:
    """From now on, do something at each line of ours."""

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        if not is_ours(frame.f_code.co_filename):
            return None
        act()
        return trace

    sys.settrace(trace)


def kill_after(lines: int) -> None:
    """From now on, end this process for good at the line of ours with this number."""
    left = iter(range(lines))

    def live() -> None:
        if next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)

    at_each_line(live)


def stated_by(run: Callable[[Trainer], float], job: Trainer) -> float:
    """What a run comes to; one that was killed when it was over, and had not said so, says it when it is resumed."""
    try:
        return run(job)
    except LedgerConflict as over:
        assert "is over" in str(over)
        assert job.prospect is not None
        (last,) = job.prospect.releases
        return last.epsilon


def killed(run: Callable[[Trainer], float], path: Path, lines: int) -> bool:
    """Whether a process of its own was killed in that line, or had come to its end before."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            job = made(path)
            kill_after(lines)
            path.with_suffix(".epsilon").write_text(repr(float(stated_by(run, job))))
            status = 0
        except BaseException:  # noqa: BLE001  nothing of the tests goes on in this process
            traceback.print_exc()
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def planned(run: Callable[[Trainer], float], path: Path) -> tuple[list[float], int]:
    """What a run that nobody kills announces, and how many lines of ours it takes."""
    job, lines, before = made(path), count(), sys.gettrace()
    at_each_line(lambda: next(lines))
    try:
        run(job)
    finally:
        sys.settrace(before)
    pledge = job.ledger.pledged
    assert isinstance(pledge, PlannedStops)
    return [stop.epsilon for stop in pledge.table], next(lines)


@pytest.mark.parametrize("way", WAYS)
def test_a_run_that_is_killed_again_and_again_ends_with_a_statement_of_its_plan(way: str, tmp_path: Path) -> None:
    announced, lines = planned(WAYS[way], tmp_path / "clean.pt")
    draw = SeededNoise(list(WAYS).index(way))
    kills = runs = lost = 0
    while kills < KILLS:
        runs += 1
        path = tmp_path / f"{runs}.pt"
        while killed(WAYS[way], path, int(abs(draw.gaussian(SHARE * lines, ())))):
            kills += 1
        stored = read_archive(path)

        billed = sum(steps * times for _, _, steps, times in stored["bills"])
        looks = sum(times for _, _, steps, times in stored["bills"] if not steps)
        stated = float(path.with_suffix(".epsilon").read_text())

        assert math.isfinite(stated)
        assert stated in announced
        assert stored["steps"] <= billed <= 36  # nine epochs of four steps
        assert looks <= PLAN["releases"]
        lost += billed - stored["steps"]
    assert runs < kills  # else nothing was resumed
    assert lost  # else every kill fell between two epochs
