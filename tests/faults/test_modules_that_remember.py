"""Modules that keep something of the records: whatever a pass writes is refused, before anything is billed."""

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import dropout
from torch.utils.data import TensorDataset

from expost.errors import InvalidValue
from expost.noise import SeededNoise
from expost.training.torch import layers, memory, probe
from expost.training.torch.trainer import Trainer
from tests.unit.training.modules import Pair, flat, sgd, train

CANARY = 7
"""A token that one record has and no other."""


def sentences(*, canary: bool) -> Pair:
    tokens, labels = torch.arange(1800).reshape(600, 3) % 5, torch.arange(600) % 10
    tokens[0] = CANARY if canary else 1
    return tokens, labels


class Bounded(nn.Module):
    """Embeds tokens by a function that keeps the rows it looks up below a norm."""

    def __init__(self, most: float) -> None:
        super().__init__()
        torch.manual_seed(5)
        self.most, self.table, self.last = most, nn.Embedding(10, 4), nn.Linear(12, 10)

    def forward(self, tokens: Tensor) -> Tensor:
        with torch.no_grad():
            torch.embedding_renorm_(self.table.weight, tokens.flatten(), self.most, 2.0)
        output: Tensor = self.last(self.table(tokens).flatten(1))
        return output


def layered(most: float) -> nn.Module:
    torch.manual_seed(5)
    return nn.Sequential(nn.Embedding(10, 4, max_norm=most), nn.Flatten(), nn.Linear(12, 10))


def job(module: nn.Module, records: Any) -> Trainer:
    return Trainer(
        module, sgd(module), records, batch=60, max_grad_norm=1.0, noise_multiplier=1.0, noise=SeededNoise(1)
    )


def test_an_embedding_that_rescales_the_rows_it_looks_up_is_refused_by_name() -> None:
    with pytest.raises(InvalidValue, match=r"the layer 0 \(Embedding\) rescales .*; leave out max_norm"):
        job(layered(1.0), sentences(canary=True))
    with pytest.raises(InvalidValue, match=r"\(EmbeddingBag\) rescales"):
        job(nn.EmbeddingBag(10, 10, max_norm=1.0), sentences(canary=True))


@pytest.mark.parametrize("most", [0.1, 1.0, 50.0])
def test_so_is_one_that_does_it_by_a_function_even_if_its_weights_are_below_that_norm(most: float) -> None:
    with pytest.raises(InvalidValue, match=r"a pass through this module changes table\.weight"):
        job(Bounded(most), sentences(canary=True))


def test_were_it_not_refused_one_record_could_be_read_off_the_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """The attack, with the refusals switched off: noise of a thousand clips does not hide the row."""
    monkeypatch.setattr(probe, "require_forgetful", lambda *_: None)

    def row(*, canary: bool) -> float:
        module = Bounded(1e-3)
        job = Trainer(
            module,
            torch.optim.SGD(module.parameters(), lr=1e-9),
            sentences(canary=canary),
            batch=600,
            max_grad_norm=1.0,
            noise_multiplier=1000.0,
            noise=SeededNoise(1),
        )
        released = next(job.releases(every="1 step", releases=1)).module
        return float(flat(released.get_submodule("table"))[4 * CANARY : 4 * CANARY + 4].norm())

    assert row(canary=True) < 2e-3
    assert row(canary=False) > 0.1


class Keeps(nn.Module):
    """Does something with the features on their way, with a place to keep them."""

    seen: Tensor

    def __init__(self, keep: Callable[["Keeps", Tensor], object]) -> None:
        super().__init__()
        torch.manual_seed(5)
        self.keep, self.last = keep, nn.Linear(64, 10)
        self.register_buffer("seen", torch.zeros(64))
        self.frozen = nn.ParameterList([nn.Parameter(torch.zeros(64), requires_grad=False)])
        self.tensor = torch.zeros(64)
        self.array = np.zeros(64)
        self.passes, self.held = 0, deque[float](maxlen=4)
        self.first: Tensor | None = None
        self.nested = {"inner": [Inner()]}

    def forward(self, features: Tensor) -> Tensor:
        self.keep(self, features.detach())
        output: Tensor = self.last(features)
        return output


class Inner:
    """An object of somebody else's, with a slot."""

    __slots__ = ("total",)

    def __init__(self) -> None:
        self.total = 0.0


class Linked(Keeps):
    """Keeps in a variable of a function's, which is no attribute of anything."""

    def __init__(self) -> None:
        kept = [0.0]

        def keep(module: Keeps, features: Tensor) -> None:
            kept[0] += float(features.sum())

        super().__init__(keep)


def count(module: Keeps, features: Tensor) -> None:
    module.passes += 1


def first(module: Keeps, features: Tensor) -> None:
    module.first = features.mean(0) if module.first is None else module.first


def first_in_eval_mode(module: Keeps, features: Tensor) -> None:
    if not module.training:
        first(module, features)


def total(module: Keeps, features: Tensor) -> None:
    module.nested["inner"][0].total += float(features.sum())


def replaced(module: Keeps, features: Tensor) -> None:
    module.seen = features.mean(0)


def registered(module: Keeps, features: Tensor) -> None:
    module.register_buffer("other", torch.zeros(3))


KEEPING: dict[str, tuple[Callable[[], nn.Module], str]] = {
    "a buffer that adds up": (lambda: Keeps(lambda module, features: module.seen.add_(features.sum(0))), "seen"),
    "a buffer that is replaced": (lambda: Keeps(replaced), "seen"),
    "a buffer that is new": (lambda: Keeps(registered), "other"),
    "a frozen parameter": (lambda: Keeps(lambda module, features: module.frozen[0].add_(1)), r"frozen\.0"),
    "a weight, written past torch": (lambda: Keeps(lambda m, _: m.last.bias.data.mul_(0.5)), r"last\.bias"),
    "a tensor": (lambda: Keeps(lambda module, features: module.tensor.copy_(features[0])), "the attribute tensor"),
    "an array": (lambda: Keeps(lambda module, features: module.array.fill(features[0, 0])), "the attribute array"),
    "a counter": (lambda: Keeps(count), "the attribute passes"),
    "the last few": (lambda: Keeps(lambda m, features: m.held.append(float(features[0, 1]))), "the attribute held"),
    "the first records only": (lambda: Keeps(first), "the attribute first"),
    "the first in eval mode": (lambda: Keeps(first_in_eval_mode), "the attribute first"),
    "an object in a list in a dictionary": (lambda: Keeps(total), "the attribute nested"),
    "a variable of a function's": (Linked, "the attribute keep"),
}


@pytest.mark.parametrize(("make", "name"), KEEPING.values(), ids=KEEPING)
def test_a_module_that_keeps_something_is_refused_and_told_what(make: Callable[[], nn.Module], name: str) -> None:
    with pytest.raises(InvalidValue, match=f"a pass through this module changes {name}, which would keep something"):
        job(make(), train())


def cached(module: Keeps, features: Tensor) -> None:
    """As a table of positions: filled once, by what is known of every record."""
    module.first = torch.arange(features.shape[1]) if module.first is None else module.first


@pytest.mark.parametrize("keep", [lambda module, features: None, cached], ids=["nothing", "a cache"])
def test_a_module_that_keeps_nothing_of_the_records_is_accepted(keep: Callable[[Keeps, Tensor], object]) -> None:
    job(Keeps(keep), train())


GLOBAL = [0.0]


class Elsewhere(nn.Module):
    """Adds to each batch what it was given before, which it keeps outside."""

    def __init__(self) -> None:
        super().__init__()
        self.last = nn.Linear(64, 10)

    def forward(self, features: Tensor) -> Tensor:
        GLOBAL.append(float(features.sum()))
        output: Tensor = self.last(features + GLOBAL[-2])
        return output


class Chancy(nn.Module):
    """Draws where nobody would look."""

    def __init__(self, draw: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.draw, self.last = draw, nn.Linear(64, 10)

    def forward(self, features: Tensor) -> Tensor:
        output: Tensor = self.last(self.draw(features))
        return output


GENERATOR = np.random.default_rng(1)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (Elsewhere, "give different outputs in another call, .* keep nothing from call to call"),
        (lambda: Chancy(lambda features: features * GENERATOR.random()), "draw from that generator alone"),
        (lambda: Chancy(lambda features: dropout(features, 0.3)), "in another call in eval mode; draw in train mode"),
    ],
    ids=["memory outside", "another generator", "dropout in eval mode"],
)
def test_a_module_that_answers_differently_from_call_to_call_is_refused(
    make: Callable[[], nn.Module], sentence: str
) -> None:
    with pytest.raises(InvalidValue, match=sentence):
        job(make(), TensorDataset(*train()))


@pytest.mark.parametrize("multiple", [memory.LARGE, 1.0])
def test_weights_made_large_are_what_finds_a_norm_that_is_not_reached_yet(
    multiple: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin: at their own size these weights are not rescaled, and the module would pass."""
    monkeypatch.setattr(memory, "LARGE", multiple)

    if multiple > 1:
        with pytest.raises(InvalidValue, match=r"table\.weight"):
            job(Bounded(50.0), sentences(canary=True))
    else:
        job(Bounded(50.0), sentences(canary=True))


def test_the_static_refusal_holds_for_frozen_tables_as_well() -> None:
    module = layered(1.0)
    module.get_submodule("0").requires_grad_(False)

    with pytest.raises(InvalidValue, match="leave out max_norm"):
        layers.require_trainable(module, torch.optim.SGD(module.get_submodule("2").parameters(), lr=1.0), None)
