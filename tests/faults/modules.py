"""Torch modules whose receipts are forged; nothing here decides a result."""

import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import torch
from torch import nn
from torch.optim import SGD

from expost.jobs.modules.report import of_training
from expost.judge import Balanced, Budgeted, Judge, OnPublic
from expost.noise import SeededNoise
from expost.report.facts import Facts
from expost.search import Outcome
from expost.training.head.score import accuracy
from expost.training.torch.callback import Callback
from expost.training.torch.course import Stage
from expost.training.torch.scores import OwnScore
from expost.training.torch.trainer import Trainer
from tests.unit.training.modules import against, held, network, sgd, train, trainer
from tests.unit.training.torch.hosts import Host

Way: TypeAlias = Callable[[Trainer], Stage | Outcome[nn.Module]]
PLAN: dict[str, Any] = {"releases": 3, "every": "2 epochs"}


@cache
def asked(name: str) -> Facts:
    """The facts of a rehearsed training with this check, score or ending."""
    settings: dict[str, dict[str, Any]] = {
        "module, public": against(OnPublic(held(100))),
        "module, Gaussian check": {"check": Budgeted()},
        "module, the paper's check": {"confidence": None},
        "module, a score of one's own": {"score": OwnScore(lambda output, label: output[0].sigmoid())},
        "module, by steps": {"every": "5 steps"},
    }
    made = trainer()
    goal = accuracy(0.3 if name == "module, reached" else 0.99)
    return of_training(made, made.until(goal, **{"on": held(), **PLAN, **settings.get(name, {})}))


@cache
def staged() -> Facts:
    """A training of which the caller took two releases of three."""
    made = trainer()
    *_, last = islice(made.releases(**PLAN), 2)
    return of_training(made, last)


@cache
def called() -> Facts:
    """A training that somebody else's loop kept time for."""
    made = trainer()
    callback = Callback(made, accuracy(0.99), on=held(), delta=1e-5, **PLAN)
    Host().fit(callback, network())
    assert callback.outcome is not None
    return of_training(made, callback.outcome)


class Killed(BaseException):
    """The end of a process, as far as a checkpoint sees it."""


@cache
def resumed(*, checked: bool, rungs: int = 1) -> Facts:
    """A training whose first process ended after some of its releases, and whose second took the rest."""

    def go(made: Trainer, left: int) -> Any:
        def stop(line: object) -> None:
            nonlocal left
            left -= 1
            if not left:
                raise Killed

        if checked:
            return made.until(accuracy(0.99), on=held(), on_step=stop, **PLAN)
        for stage in made.releases(**PLAN):
            stop(stage)
        return stage

    with tempfile.TemporaryDirectory() as folder:
        path, module = Path(folder) / "run.pt", network()
        with suppress(Killed):
            go(trainer(checkpoint=path), rungs)
        made = Trainer.resume(path, module, sgd(module), train(), noise=SeededNoise(4))
        return of_training(made, go(made, 99))


def begun(path: Path) -> Trainer:
    """A small run with a checkpoint: the one on file, or a new one."""
    module = nn.Linear(3, 2)
    optimizer, records = SGD(module.parameters(), lr=0.5), blobs(40)
    if path.exists():
        return Trainer.resume(path, module, optimizer, records, noise=SeededNoise(4))
    plan: dict[str, Any] = {"batch": 10, "max_grad_norm": 1.0, "noise_multiplier": 1.0}
    return Trainer(module, optimizer, records, checkpoint=path, noise=SeededNoise(3), **plan)


def blobs(records: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Features of which the first tells the label."""
    features = torch.from_numpy(SeededNoise(records).gaussian(1.0, (records, 3))).float()
    return features, (features[:, 0] > 0).long()


def asking(check: Judge, every: str) -> Way:
    """A run that no release of ends."""
    return lambda job: job.until(accuracy(0.99), on=blobs(30), check=check, releases=3, every=every)


WAYS: dict[str, Way] = {
    "balanced, an epoch at a time": asking(Balanced(), "2 epochs"),
    "Gaussian, a release at a time": asking(Budgeted(), "5 steps"),
    "by hand": lambda job: list(job.releases(releases=3, every="2 epochs"))[-1],
}
"""How a run goes on: what is trained at once is lost at once."""

ASKED = (
    "module",
    "module, reached",
    "module, public",
    "module, Gaussian check",
    "module, the paper's check",
    "module, a score of one's own",
    "module, by steps",
)
MODULES: dict[str, Callable[[], Facts]] = {
    **{name: partial(asked, name) for name in ASKED},
    "module, by hand": staged,
    "module, called back": called,
    "module, resumed": partial(resumed, checked=True),
    "module, resumed for its last release": partial(resumed, checked=True, rungs=2),
    "module, resumed by hand": partial(resumed, checked=False),
}
