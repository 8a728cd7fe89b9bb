"""The callback: somebody else's loop keeps time, and stops when the module is accurate enough."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import Dataset

from expost.accounting.stops import PlannedStops
from expost.bill import bill_total, billed
from expost.errors import MechanismFailed
from expost.judge import Balanced, Budgeted, OnPublic
from expost.noise import SeededNoise
from expost.search import Ended, Outcome
from expost.training.head.score import accuracy
from expost.training.torch.callback import Callback
from expost.training.torch.checkpoint import read_archive
from expost.training.torch.trainer import Trainer
from tests.unit.training.modules import against, flat, held, network, sgd, train, trainer
from tests.unit.training.torch.hosts import Host

PLAN: dict[str, Any] = {"every": "2 epochs", "releases": 4, "delta": 1e-5}


def fitted(job: Trainer, goal: float, **others: Any) -> tuple[Host, Outcome[nn.Module]]:
    callback = Callback(job, accuracy(goal), **{"on": held(), **PLAN, **others})
    host = Host()
    host.fit(callback, network())
    assert callback.outcome is not None
    return host, callback.outcome


@pytest.mark.parametrize("on", [held(), OnPublic(held())], ids=["private", "public"])
@pytest.mark.parametrize("check", [Balanced(), Budgeted()])
@pytest.mark.parametrize("goal", [0.6, 0.99])
def test_the_loop_stops_where_until_would_with_the_same_weights_and_bill(on: Any, check: Any, goal: float) -> None:
    expected = trainer().until(accuracy(goal), **{"check": check, **against(on)}, **PLAN)

    host, outcome = fitted(trainer(), goal, **{"check": check, **against(on)})

    assert outcome.ended is expected.ended
    assert host.epochs == 2 * len(expected.history)
    assert torch.equal(flat(outcome.release.value), flat(expected.release.value))
    assert outcome.epsilon == expected.epsilon
    assert [line.verdict for line in outcome.history] == [line.verdict for line in expected.history]


def test_the_loop_stops_when_the_next_epoch_would_pass_the_cap() -> None:
    free = trainer()
    fitted(free, 0.99)
    assert isinstance(free.ledger.pledged, PlannedStops)
    cap = free.ledger.pledged.table[1].epsilon

    host, outcome = fitted(trainer(), 0.99, max_epsilon=cap)

    assert outcome.ended is Ended.CAPPED
    assert outcome.epsilon == cap
    assert host.epochs == 5


def test_once_there_is_an_outcome_nothing_more_is_spent() -> None:
    job = trainer()
    callback = Callback(job, accuracy(0.05), on=held(), **PLAN)
    host = Host()
    host.fit(callback, network())
    spent = bill_total(billed(job.ledger)).at(8)

    callback.on_train_epoch_end(host, network())

    assert bill_total(billed(job.ledger)).at(8) == spent


class Broken(Dataset[tuple[Tensor, Tensor]]):
    """Records of which the first can be read, for its shape, and then none."""

    def __init__(self) -> None:
        self._first = True

    def __len__(self) -> int:
        return 600

    def __getitem__(self, place: int) -> tuple[Tensor, Tensor]:
        if not self._first:
            raise OSError
        self._first = False
        features, labels = train()
        return features[place], labels[place]


def test_a_failed_epoch_that_the_loop_swallows_fails_again_and_spends_no_more() -> None:
    job = trainer(Broken())  # type: ignore[arg-type]  # a dataset
    callback, host = Callback(job, accuracy(0.99), on=held(), **PLAN), Host()
    with pytest.raises(MechanismFailed):
        callback.on_train_epoch_end(host, network())

    with pytest.raises(MechanismFailed):
        callback.on_train_epoch_end(host, network())

    assert len(job.ledger.held) == 1
    assert callback.outcome is None


def test_a_callback_can_have_another_base_class_as_well() -> None:
    class Theirs:
        """As Lightning's: every hook there is, each of which does nothing."""

        def on_train_epoch_start(self, trainer: Host, module: object) -> None: ...
        def on_train_epoch_end(self, trainer: Host, module: object) -> None: ...

    class Stop(Callback, Theirs):
        """Both."""

    host = Host()
    host.fit(Stop(trainer(), accuracy(0.05), on=held(), **PLAN), network())

    assert (host.epochs, host.should_stop) == (2, True)


def test_a_run_that_the_loop_has_finished_is_over_in_the_checkpoint(tmp_path: Path) -> None:
    path, module = tmp_path / "run.pt", network()
    fitted(trainer(checkpoint=path), 0.05)
    job = Trainer.resume(path, module, sgd(module), train(), noise=SeededNoise(1))

    before = read_archive(path)["bills"]
    again = Callback(job, accuracy(0.05), on=held(), **PLAN)
    Host().fit(again, module)

    assert again.outcome is not None
    assert (again.outcome.ended, len(again.outcome.history)) == (Ended.HALTED, 1)
    assert len(read_archive(path)["bills"]) == len(before)
