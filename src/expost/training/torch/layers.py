"""Which modules can be trained privately: each record must have a gradient of its own, and nothing may be kept."""

import warnings

import torch
from opacus.validators import ModuleValidator
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.parameter import is_lazy
from torch.optim import LBFGS, Optimizer

from expost.errors import InvalidValue
from expost.training.torch.clipping import trainable

HEAD_ALONE = (
    "only the last linear layer is trained, on features that frozen layers make; expost.finetune(features, labels, "
    "accuracy=...) trains that layer for less privacy, with nothing to tune: give it the inputs of the layer."
)


def require_trainable(model: nn.Module, optimizer: Optimizer, device: str | torch.device | None) -> None:
    """Refuse what cannot be trained privately, and bring the module to the device."""
    _require_separable(model)
    if not trainable(model):
        raise InvalidValue("the module has no trainable parameters; set requires_grad on those to be trained.")
    if any(is_lazy(each) for each in model.parameters()):
        raise InvalidValue(
            "a layer has no weights before its first records; pass made-up ones through the module, then make the "
            "optimiser."
        )
    if any(each.dtype not in (torch.float32, torch.float64) for each in trainable(model)):
        raise InvalidValue("gradients in half precision round above the clip; call float() on the module first.")
    if any(each._backward_hooks or each._post_accumulate_grad_hooks for each in trainable(model)):
        raise InvalidValue("a weight has a hook that changes its gradient after the clip; remove the hook's handle.")
    if isinstance(optimizer, LBFGS):
        raise InvalidValue("LBFGS looks at the records several times per step; use an optimiser that looks once.")
    if device is not None:
        try:
            torch.empty(0, device=device)
        except (RuntimeError, AssertionError):  # torch's own words for it differ by build
            raise InvalidValue(f"the device {device} is not available; leave it out, or use 'cpu'.") from None
        model.to(device)
    held = {id(each) for group in optimizer.param_groups for each in group["params"] if each.requires_grad}
    if held != {id(each) for each in trainable(model)}:
        raise InvalidValue(
            "the optimiser does not hold the module's trainable parameters, all of them and no others; make it from "
            "those, and freeze the rest with requires_grad_(False)."
        )
    if _is_head(model):
        warnings.warn(HEAD_ALONE, stacklevel=3)


def _is_head(model: nn.Module) -> bool:
    """Whether all that is trained is one linear layer at the end, on whatever frozen layers make of the records."""
    own = {each: [*each.parameters(recurse=False)] for each in model.modules()}
    layers = [each for each, weights in own.items() if weights]
    trained = [each for each in layers if any(weight.requires_grad for weight in own[each])]
    return len(layers) > 1 and trained == layers[-1:] and isinstance(trained[0], nn.Linear)


def _require_separable(module: nn.Module) -> None:
    """Refuse layers in which one record's gradient depends on another record, or has no bound, or which write."""
    for name, layer in module.named_modules():
        called = f"the layer {name or 'itself'} ({type(layer).__name__})"
        if isinstance(layer, nn.Embedding | nn.EmbeddingBag) and layer.max_norm is not None:
            raise InvalidValue(
                f"{called} rescales the rows that it looks up, and the weights then show which; leave out max_norm."
            )
        own = any(each.requires_grad for each in layer.parameters(recurse=False))
        complaints = ModuleValidator.VALIDATORS.get(type(layer), lambda layer: [])(layer) if own else []
        if isinstance(layer, _BatchNorm) or complaints or (own and any(True for _ in layer.buffers())):
            raise InvalidValue(f"{called} does not let each record be clipped by itself; {_advice(layer)}.")


def _advice(layer: nn.Module) -> str:
    fix = "call opacus.validators.ModuleValidator.fix on the module first"
    if isinstance(layer, _BatchNorm):
        return f"use GroupNorm in its place, or {fix}"
    if getattr(layer, "batch_first", True) is False:
        return f"{fix}, and make the layer with batch_first=True if records are along the first axis of its input"
    if type(layer) in ModuleValidator.VALIDATORS:
        return fix
    return "let a layer have trainable weights or buffers, not both"
