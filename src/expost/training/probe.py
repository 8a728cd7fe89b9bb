"""A trial of a clipper on made-up records, before private ones are opened: whether it sees the whole gradient."""

import copy
import math
import warnings

import torch
from torch import Tensor, nn
from torch.autograd import grad
from torch.random import fork_rng

from expost.errors import SchemaMismatch
from expost.training.clipping import Clipper, Loss, attached, losses_of, trainable

TRIALS = 3
"""Made-up records, each tried alone: labels and tokens that a loss or a layer ignores do not fill them all."""

AGREES = 1e-3
"""How far a clipped gradient may be from the true one, of its norm: single precision on long sequences."""


def require_clipped(kind: type[Clipper], module: nn.Module, loss: Loss, shaped: tuple[Tensor, Tensor]) -> None:
    """Refuse a module that cannot be trained, or whose gradients the clipper does not see whole.

    Tried on a copy and on made-up records of the shape of ``shaped``, so it says nothing about any record. Clippers see
    gradients layer by layer: those of a weight used outside its layer, as by a tied output, would pass them by. What a
    module does on some values only is not found.
    """
    tried = _shifted(module)
    try:
        clipped = [_clips(kind, tried, loss, *(_made_up(each, start) for each in shaped)) for start in range(TRIALS)]
    except SchemaMismatch:
        raise
    except (RuntimeError, ValueError, TypeError, IndexError) as error:
        said = next(iter(str(error).splitlines()), type(error).__name__)
        raise SchemaMismatch(f"module and loss fail on a made-up record of this shape ({said}); mend them.") from error
    if False in clipped:
        raise SchemaMismatch(
            f"{kind.__name__} does not see the whole gradient of this module; let each weight be used by its own layer "
            "alone, on tensors with records along the first axis."
        )
    if True not in clipped:
        raise SchemaMismatch("the loss has no finite gradient on made-up records between 0 and 1; scale the features.")


def _clips(kind: type[Clipper], module: nn.Module, loss: Loss, features: Tensor, labels: Tensor) -> bool | None:
    """Whether a record's gradient is cut to half its norm; None if there is no gradient to cut."""
    parameters = trainable(module)
    device = parameters[0].device
    features, labels = features.to(device), labels.to(device)
    forked = [device] if device.type == "cuda" else []
    with fork_rng(forked):  # dropout then draws the same for both
        gradients = grad(losses_of(module, loss, features, labels).sum(), parameters, allow_unused=True)
    used: list[Tensor | None] = list(gradients)
    found = zip(parameters, used, strict=True)
    whole = _flat([torch.zeros_like(parameter) if each is None else each for parameter, each in found])
    norm = float(whole.norm())
    if not 0 < norm < math.inf:
        return None

    def scaled(outputs: Tensor, labels: Tensor) -> Tensor:
        return loss(outputs, labels) / norm

    with fork_rng(forked), warnings.catch_warnings(), attached(kind, module, scaled, 0.5) as clipper:
        warnings.filterwarnings("ignore", message="Full backward hook is firing")  # features have no gradient
        apart = _flat(clipper.sums(features, labels)) - 0.5 * whole / norm
    return float(apart.norm()) <= 0.5 * AGREES


def _shifted(module: nn.Module) -> nn.Module:
    """A copy with other weights: one that is zero would hide the gradients of those before it."""
    module = copy.deepcopy(module).train()
    with torch.no_grad():
        for each in trainable(module):
            places = torch.arange(each.numel(), dtype=torch.float64, device=each.device)
            each.add_(0.1 * torch.cos(0.7 * places**2).view_as(each))
    for layer in module.modules():
        if isinstance(layer, nn.Embedding):
            layer.padding_idx = None  # Opacus sees the gradient of a padding that torch leaves out: more, not less
    return module


def _made_up(shaped: Tensor, start: int) -> Tensor:
    """Numbers between 0 and 1 without a pattern; of whole ones 1 and 0, which every vocabulary and label has."""
    places = torch.arange(start, start + shaped.numel()).reshape(shaped.shape)
    return (places * 0.618 % 1 if shaped.is_floating_point() else (places + 1) % 2).to(shaped.dtype)


def _flat(tensors: list[Tensor]) -> Tensor:
    return torch.cat([each.flatten() for each in tensors])
