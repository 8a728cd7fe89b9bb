"""A small torch module and digits to train it on, shared by the tests of module training."""

from collections.abc import Callable
from functools import cache

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.optim import SGD, Optimizer

from expost.noise import Noise, SeededNoise
from expost.training.module import Trainer

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
        clip=1.0,
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
