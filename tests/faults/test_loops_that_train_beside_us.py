"""Loops that train the module themselves, without noise: refused before they begin, step, or write a file."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.optim import Adam, Optimizer

from expost.bill import bill_total, billed
from expost.errors import InvalidValue, LedgerConflict
from expost.noise import SeededNoise
from expost.training.head.score import accuracy
from expost.training.torch.callback import Callback
from expost.training.torch.run import TrainingRun
from expost.training.torch.trainer import Trainer
from tests.unit.training.modules import held, network, sgd, train

PLAN: dict[str, Any] = {"every": "1 epoch", "releases": 3, "delta": 1e-5}
THEIRS = "the loop has an optimiser of its own, .* let configure_optimizers return None, set automatic_optimization"
CHANGED = "the module was changed since its last private step"


class NoOptimizer(Optimizer):
    """What Lightning makes of ``configure_optimizers`` returning None: an optimiser that holds nothing."""

    def __init__(self) -> None:
        super().__init__([torch.zeros(1)], {})

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        pass


@dataclass
class Lightning:
    """A loop that calls a callback in the order in which Lightning 2 does, and keeps the checkpoints it writes."""

    module: nn.Module
    optimizers: list[Optimizer] = field(default_factory=list)
    should_stop: bool = False
    batch: Callable[["Lightning"], None] = lambda self: None
    hooks: tuple[str, ...] = ("on_fit_start", "on_train_start", "on_before_optimizer_step", "on_save_checkpoint")
    written: list[dict[str, Any]] = field(default_factory=list)

    def fit(self, callback: Callback) -> None:
        self.call(callback, "on_fit_start")
        self.call(callback, "on_train_start")
        while not self.should_stop:
            self.batch(self)
            for optimizer in self.optimizers:
                self.call(callback, "on_before_optimizer_step", optimizer)
                if not isinstance(optimizer, NoOptimizer):
                    optimizer.step()
            callback.on_train_epoch_end(self, self.module)
            checkpoint = {
                "state_dict": deepcopy(self.module.state_dict()),
                "optimizer_states": [deepcopy(optimizer.state_dict()) for optimizer in self.optimizers],
            }
            self.call(callback, "on_save_checkpoint", checkpoint)
            self.written.append(checkpoint)

    def call(self, callback: Callback, hook: str, *others: object) -> None:
        if hook in self.hooks:
            getattr(callback, hook)(self, self.module, *others)


def job(module: nn.Module) -> Trainer:
    return Trainer(
        module, sgd(module), train(), batch=60, max_grad_norm=1.0, noise_multiplier=1.0, noise=SeededNoise(3)
    )


def raw(host: Lightning) -> None:
    """A training step as everybody writes it."""
    features, labels = train()
    cross_entropy(host.module(features), labels).backward()  # type: ignore[no-untyped-call]  # torch's own


def begun() -> tuple[nn.Module, Trainer, Callback]:
    module = network()
    trainer = job(module)
    return module, trainer, Callback(trainer, accuracy(0.99), on=held(), **PLAN)


@pytest.mark.parametrize(
    "hooks",
    [
        ("on_fit_start",),
        ("on_train_start",),
        ("on_before_optimizer_step",),
        (),
    ],
    ids=str,
)
def test_an_ordinary_module_of_lightnings_is_refused_at_whichever_hook_comes_first(hooks: tuple[str, ...]) -> None:
    module, trainer, callback = begun()
    host = Lightning(module, [Adam(module.parameters())], batch=raw, hooks=hooks)

    with pytest.raises(InvalidValue, match=THEIRS):
        host.fit(callback)

    assert not host.written
    assert not trainer.ledger.lines
    assert callback.outcome is None


def test_so_is_an_optimiser_that_holds_other_parameters_than_ours() -> None:
    module, _, callback = begun()

    with pytest.raises(InvalidValue, match=THEIRS):
        Lightning(module, [Adam(network().parameters())]).fit(callback)


@pytest.mark.parametrize("optimizers", [[], [NoOptimizer()]], ids=["none", "Lightning's stand-in for none"])
def test_a_loop_without_an_optimiser_is_let_train_as_before(optimizers: list[Optimizer]) -> None:
    module, trainer, callback = begun()
    host = Lightning(module, optimizers)

    host.fit(callback)

    assert callback.outcome is not None
    assert len(host.written) == 3
    assert trainer.ledger.lines


def by_hand(host: Lightning) -> None:
    """A step by an optimiser that the loop does not know."""
    raw(host)
    Adam(host.module.parameters()).step()


def frozen(host: Lightning) -> None:
    with torch.no_grad():
        next(host.module.parameters()).mul_(2)


@pytest.mark.parametrize("batch", [by_hand, frozen])
def test_a_change_of_the_module_that_is_not_ours_is_refused_and_no_further_epoch_is_billed(
    batch: Callable[[Lightning], None],
) -> None:
    module, trainer, callback = begun()
    host = Lightning(module, batch=batch)

    for _ in range(2):  # also if the loop swallows the first refusal
        with pytest.raises(LedgerConflict, match=CHANGED):
            host.fit(callback)

    assert not host.written
    assert not trainer.ledger.lines


def test_weights_that_lightning_restores_from_a_file_are_refused_at_the_start() -> None:
    module, _, callback = begun()
    module.load_state_dict(nn.Sequential(*network()).state_dict() | {"0.bias": torch.ones(12)})

    with pytest.raises(LedgerConflict, match=CHANGED):
        callback.on_fit_start(Lightning(module), module)


def test_a_checkpoint_of_changed_weights_is_not_written() -> None:
    module, _, callback = begun()
    frozen(Lightning(module))

    with pytest.raises(LedgerConflict, match=CHANGED):
        callback.on_save_checkpoint(Lightning(module), module, {})


def test_were_it_not_refused_the_file_would_hold_moments_of_raw_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: without the refusals Lightning trains to what it likes, and what it writes is without noise."""
    monkeypatch.setattr(TrainingRun, "require_untouched", lambda self, past: None)
    monkeypatch.setattr("expost.training.torch.callback._require_empty", lambda optimizer: None)
    module, _, callback = begun()
    host = Lightning(module, [Adam(module.parameters())], batch=raw)

    host.fit(callback)

    expected = network()
    raw(Lightning(expected))
    first = next(expected.parameters()).grad
    assert first is not None
    assert torch.allclose(host.written[0]["optimizer_states"][0]["state"][0]["exp_avg"], 0.1 * first)


def test_whoever_asks_for_releases_must_leave_the_module_alone_too() -> None:
    module = network()
    trainer = job(module)
    stages = trainer.releases(every="1 step", releases=2)
    next(stages)
    spent = bill_total(billed(trainer.ledger)).at(8)
    frozen(Lightning(module))

    with pytest.raises(LedgerConflict, match=CHANGED):
        next(stages)

    assert bill_total(billed(trainer.ledger)).at(8) == spent


def test_and_whoever_listens_to_a_run() -> None:
    module = network()
    trainer = job(module)

    with pytest.raises(LedgerConflict, match=CHANGED):
        trainer.until(accuracy(0.99), on=held(), **PLAN, on_step=lambda line: frozen(Lightning(module)))

    assert sum(count for entry, _, count in trainer.ledger.lines if entry.what == "ModuleDescent") == 1


def test_frozen_weights_and_buffers_must_stay_as_they_were_as_well() -> None:
    module = nn.Sequential(network(), nn.Linear(10, 10).requires_grad_(False))
    optimizer = torch.optim.SGD([each for each in module.parameters() if each.requires_grad], lr=1.0)
    stages = Trainer(
        module, optimizer, train(), batch=60, max_grad_norm=1.0, noise_multiplier=1.0, noise=SeededNoise(3)
    ).releases(every="1 step", releases=2)
    next(stages)
    with torch.no_grad():
        module.get_parameter("1.bias").add_(1)

    with pytest.raises(LedgerConflict, match=CHANGED):
        next(stages)


def test_weights_that_have_become_nan_count_as_unchanged() -> None:
    module = network()
    with torch.no_grad():
        next(module.parameters())[0, 0] = torch.nan
    trainer = job(network())
    run = trainer.begin(accuracy(0.5), on=held(), **PLAN)
    weights = type(run.descent.start).of(module, sgd(module), 0)
    run.descent.load(weights)

    run.descent.require_untouched(weights)
