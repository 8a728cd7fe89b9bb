"""A small torch module and digits to train it on, shared by the tests of module training."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.nn.functional import dropout, linear
from torch.optim import SGD, Optimizer

from expost.judge import OnPublic
from expost.noise import Noise, SeededNoise
from expost.training.torch.trainer import Trainer

Pair = tuple[Tensor, Tensor]


torch.set_num_threads(1)  # more threads than cores make small tensors slow


@cache
def digits() -> Pair:
    features, labels = load_digits(return_X_y=True)
    return torch.from_numpy((features / 16).astype(np.float32)), torch.from_numpy(labels)


def train(count: int = 600) -> Pair:
    features, labels = digits()
    return features[:count], labels[:count]


def held(count: int = 400) -> Pair:
    features, labels = digits()
    return features[-count:], labels[-count:]


def network() -> nn.Sequential:
    """The same untrained network every time."""
    torch.manual_seed(5)
    return nn.Sequential(nn.Linear(64, 12), nn.Tanh(), nn.Linear(12, 10))


def sgd(module: nn.Module) -> Optimizer:
    return SGD(module.parameters(), lr=2.0, momentum=0.5)


def trainer(
    data: Pair | None = None,
    *,
    batch: int = 60,
    noise_multiplier: float = 1.0,
    noise: Noise | None = None,
    make: Callable[[nn.Module], Optimizer] = sgd,
    **others: object,
) -> Trainer:
    """A trainer of that network, with noise that repeats itself."""
    module = network()
    return Trainer(
        module,
        make(module),
        train() if data is None else data,
        batch=batch,
        max_grad_norm=1.0,
        noise_multiplier=noise_multiplier,
        noise=SeededNoise(3) if noise is None else noise,
        **others,  # type: ignore[arg-type]  # passed through as the test has it
    )


def share_right(module: nn.Module, records: Pair) -> float:
    """The accuracy, as anybody would compute it."""
    with torch.no_grad():
        return float((module(records[0]).argmax(dim=1) == records[1]).double().mean())


def flat(module: nn.Module) -> Tensor:
    """All parameters in a row."""
    return torch.cat([each.detach().flatten() for each in module.parameters()])


class Functional(nn.Module):
    """Uses a weight in its layer, and once more outside it."""

    def __init__(self, last: float = 1.0) -> None:
        super().__init__()
        torch.manual_seed(5)
        self.inner, self.outer = nn.Linear(64, 64), nn.Linear(64, 10)
        with torch.no_grad():
            self.outer.weight *= last

    def forward(self, features: Tensor) -> Tensor:
        output: Tensor = self.outer(linear(self.inner(features), self.inner.weight))
        return output


class Tied(nn.Module):
    """Predicts a token by the weights that embed it."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(5)
        self.embedding = nn.Embedding(10, 6)

    def forward(self, tokens: Tensor) -> Tensor:
        return linear(self.embedding(tokens).mean(dim=1), self.embedding.weight)


class Scale(nn.Module):
    """A layer of its own kind, with a weight that may be another layer's as well."""

    def __init__(self, weight: nn.Parameter) -> None:
        super().__init__()
        self.weight = weight

    def forward(self, features: Tensor) -> Tensor:
        return linear(features, self.weight)


class Rowwise(nn.Module):
    """Takes the rows of a record for records."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(5)
        self.layer = nn.Linear(8, 10)

    def forward(self, features: Tensor) -> Tensor:
        output: Tensor = self.layer(features.reshape(-1, 8))
        return output.reshape(len(features), 8, 10).mean(dim=1)


class Twice(nn.Module):
    """Calls its layer twice, and uses one of the outputs."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(5)
        self.inner, self.outer = nn.Linear(64, 12), nn.Linear(12, 10)

    def forward(self, features: Tensor) -> Tensor:
        self.inner(features)
        output: Tensor = self.outer(self.inner(features))
        return output


class Dropping(nn.Module):
    """Drops inputs by a function, in train mode."""

    def forward(self, features: Tensor) -> Tensor:
        return dropout(features, 0.3, training=self.training)


def shared() -> nn.Module:
    torch.manual_seed(5)
    layer = nn.Linear(64, 64, bias=False)
    (weight,) = layer.parameters()
    return nn.Sequential(layer, Scale(weight), nn.Linear(64, 10))


def convolution() -> nn.Module:
    torch.manual_seed(5)
    image, flatten = nn.Unflatten(1, (1, 8, 8)), nn.Flatten()
    return nn.Sequential(image, nn.Conv2d(1, 4, 3), nn.GroupNorm(2, 4), nn.ReLU(), flatten, nn.Linear(144, 10))


def sentences() -> Pair:
    """Sequences of tokens."""
    return torch.arange(1800).reshape(600, 3) % 10, torch.arange(600) % 10


Example = tuple[Callable[[], nn.Module], Pair]

HIDDEN: dict[str, Example] = {
    "a function": (Functional, train()),
    "a function before weights that are zero": (lambda: Functional(0.0), train()),
    "a tied embedding": (Tied, sentences()),
    "a layer of another kind": (shared, train()),
    "rows taken for records": (Rowwise, train()),
    "an output that is not used": (Twice, train()),
}
"""Modules with gradients that hooks on layers do not see, or see wrongly."""

ACCEPTED: dict[str, Example] = {
    "linear": (network, train()),
    "dropout": (lambda: nn.Sequential(Dropping(), nn.Linear(64, 9), nn.Dropout(0.4), nn.Linear(9, 10)), train()),
    "convolution": (convolution, train()),
    "embedding": (lambda: nn.Sequential(nn.Embedding(10, 4, 0), nn.Flatten(), nn.Linear(12, 10)), sentences()),
    "a weight that is zero": (lambda: Scale(nn.Parameter(torch.zeros(10, 64))), train()),
    "double precision": (lambda: nn.Sequential(network()).double(), (train()[0].double(), train()[1])),
}
"""Modules whose every weight is used by its own layer."""


def against(records: Any) -> dict[str, Any]:
    """How a run is told to check on these records: public ones come with their check."""
    return {"on": None, "check": records} if isinstance(records, OnPublic) else {"on": records}
