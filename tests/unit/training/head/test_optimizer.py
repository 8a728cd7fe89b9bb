"""Optimisers: the rules of torch, in place, on NumPy arrays and torch tensors alike."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from expost.errors import InvalidValue
from expost.noise import Floats, SeededNoise
from expost.numerics import Real
from expost.training.head.arrays import Arrays, InNumpy, on
from expost.training.head.optimizer import Adam, Momentum, Optimizer
from tests.unit.examples import one_sentence

SHAPE, STEPS = (3, 4), 30
Rule = Callable[[list[torch.Tensor]], torch.optim.Optimizer]
RULES: dict[str, tuple[Optimizer, Rule]] = {
    "Adam": (Adam(), lambda weights: torch.optim.Adam(weights, lr=0.05)),
    "Adam, other settings": (
        Adam(0.3, 0.5, 0.9, 1e-3),
        lambda weights: torch.optim.Adam(weights, lr=0.3, betas=(0.5, 0.9), eps=1e-3),
    ),
    "momentum": (Momentum(), lambda weights: torch.optim.SGD(weights, lr=0.5, momentum=0.9)),
    "no momentum": (Momentum(0.1, 0.0), lambda weights: torch.optim.SGD(weights, lr=0.1)),
}


def gradients() -> Floats:
    """A gradient for each step."""
    return SeededNoise(1).gaussian(1.0, (STEPS, *SHAPE))


def by_torch(rule: Rule) -> Floats:
    """The weights that torch reaches."""
    weights = torch.zeros(SHAPE, dtype=torch.float64, requires_grad=True)
    optimizer = rule([weights])
    for gradient in gradients():
        weights.grad = torch.from_numpy(gradient)
        optimizer.step()
    return np.asarray(weights.detach().numpy())


def moved(optimizer: Optimizer, arrays: Arrays, *, counted_from: int = 1) -> Floats:
    """The weights that ours reaches."""
    weights, *moments = (arrays.put(np.zeros(SHAPE)) for _ in range(1 + optimizer.moments))
    for step, gradient in enumerate(gradients(), start=counted_from):
        put = arrays.put(gradient.copy())
        optimizer.move(weights, put, moments, rate=optimizer.learning_rate, step=step, xp=arrays.functions)
    return arrays.get(weights)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("device", [None, "cpu"])
def test_the_rule_is_that_of_torch(name: str, device: str | None) -> None:
    optimizer, rule = RULES[name]

    assert moved(optimizer, on(device)) == pytest.approx(by_torch(rule), rel=1e-10, abs=1e-12)


def test_counting_steps_from_two_would_show() -> None:
    """The negative twin of the bias correction."""
    optimizer, rule = RULES["Adam"]

    assert moved(optimizer, InNumpy(), counted_from=2) != pytest.approx(by_torch(rule), rel=1e-3)


@pytest.mark.parametrize("optimizer", [Adam(), Momentum()])
@pytest.mark.parametrize("rate", [0.5, 0.05])
def test_the_rate_given_scales_the_step(optimizer: Optimizer, rate: float) -> None:
    def first(rate: float) -> Floats:
        weights, *moments = (np.zeros(SHAPE) for _ in range(1 + optimizer.moments))
        optimizer.move(weights, gradients()[0].copy(), moments, rate=rate, step=1, xp=np)
        return weights

    assert first(rate) == pytest.approx(rate * first(1.0), rel=1e-12)


@pytest.mark.parametrize("make", [Adam, Momentum])
@pytest.mark.parametrize("rate", [0, -1, float("nan"), float("inf")])
def test_a_learning_rate_is_above_zero(make: Callable[[float], Optimizer], rate: Real) -> None:
    with pytest.raises(InvalidValue, match="learning_rate is") as refused:
        make(float(rate))

    assert one_sentence(refused.value)
