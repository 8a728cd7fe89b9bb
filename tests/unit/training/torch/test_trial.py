"""Draws replaced by their means: what dropout does on one device or another, it does not do while muted."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.autograd import grad
from torch.nn.functional import dropout, scaled_dot_product_attention

from expost.errors import InvalidValue
from expost.training.torch.trial import muted

ONES = torch.ones(4, 3)


def attention(features: Tensor) -> Tensor:
    return scaled_dot_product_attention(*(features[None, None],) * 3, dropout_p=0.5)


MEANS: list[tuple[Callable[[Tensor], Tensor], float]] = [
    (lambda ones: dropout(ones, 0.3), 1.0),
    (lambda ones: torch.native_dropout(ones, 0.5, True)[0], 2.0),
    (lambda ones: torch.native_dropout(ones, 0.5, False)[0], 1.0),
    (attention, 1.0),
    (lambda ones: torch.bernoulli(0.25 * ones), 0.25),
    (lambda ones: torch.empty_like(ones).bernoulli_(0.25), 0.25),
    (lambda ones: torch.empty_like(ones).bernoulli_(0.25 * ones), 0.25),
    (lambda ones: torch.rand(ones.shape), 0.5),
    (torch.rand_like, 0.5),
    (lambda ones: ones.clone().uniform_(1, 5), 3.0),
    (lambda ones: torch.randn(ones.shape), 0.0),
    (torch.randn_like, 0.0),
    (lambda ones: ones.clone().normal_(7), 7.0),
]


@pytest.mark.parametrize(("draw", "mean"), MEANS)
def test_a_draw_is_its_mean_while_muted_and_chance_goes_on_as_if_nothing_had_been(
    draw: Callable[[Tensor], Tensor], mean: float
) -> None:
    before = torch.get_rng_state()

    with muted():
        drawn = draw(ONES)

    assert torch.allclose(drawn, torch.tensor(mean))
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("drop", [draw for draw, _ in MEANS[:3]])
def test_the_gradient_of_dropout_is_that_of_what_came_out(drop: Callable[[Tensor], Tensor]) -> None:
    ones = ONES.clone().requires_grad_()

    with muted():
        out = drop(ones)
        (found,) = grad(out.sum(), ones)

    assert torch.allclose(found, out.detach())


def test_a_draw_without_a_mean_to_stand_for_it_is_refused_by_name() -> None:
    with muted(), pytest.raises(InvalidValue, match=r"draws with aten\.randperm"):
        torch.randperm(5)
