"""A record whose gradient is not finite adds nothing, whoever joins beside it, and no step fails for it.

The attack: a record of infinite features that joins a step alone. A step that fails tells that it is there.
"""

import math
from collections.abc import Callable

import pytest
import torch
from opacus.layers import DPMultiheadAttention
from torch import Tensor, nn

from expost.training.torch.clipping import Clipper, Ghost, PerRecord, attached
from expost.training.torch.trainer import CROSS_ENTROPY

pytestmark = pytest.mark.filterwarnings("ignore:Full backward hook is firing")  # features have no gradient


class Flat(nn.Module):
    """Lays out the features of each record in a row, as most networks do."""

    def __init__(self) -> None:
        super().__init__()
        self.last = nn.Linear(6, 2)

    def forward(self, features: Tensor) -> Tensor:
        laid: Tensor = self.last(features.view(len(features), -1))
        return laid


class Attentive(nn.Module):
    """Attends to the parts of each record."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = DPMultiheadAttention(2, 1, batch_first=True)
        self.last = nn.Linear(2, 2)

    def forward(self, features: Tensor) -> Tensor:
        judged: Tensor = self.last(self.attention(features, features, features)[0].mean(1))
        return judged


@pytest.mark.parametrize("kind", [PerRecord, Ghost])
@pytest.mark.parametrize("make", [Flat, Attentive])
@pytest.mark.parametrize("others", [0, 1, 3])
@pytest.mark.parametrize("infinite", [1, 2])
def test_it_adds_nothing_alone_and_beside_others(
    kind: type[Clipper], make: Callable[[], nn.Module], others: int, infinite: int
) -> None:
    module = make()
    usual = torch.linspace(0.1, 1.0, 6 * others).reshape(others, 3, 2)
    labels = torch.zeros(others + infinite, dtype=torch.long)
    both = torch.cat([torch.full((infinite, 3, 2), math.inf), usual])

    with attached(kind, module, CROSS_ENTROPY, 0.1) as clipper:
        together = clipper.sums(both, labels)
        alone = clipper.sums(usual, labels[infinite:]) if others else [torch.zeros_like(each) for each in together]

    assert all(torch.allclose(one, another, atol=1e-6) for one, another in zip(together, alone, strict=True))
