"""Sums of clipped gradients: each record's is cut to a Euclidean norm, so that one record moves the sum by no more."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeAlias, final

import torch
from opacus.grad_sample.grad_sample_module import GradSampleHooks
from opacus.grad_sample.grad_sample_module_fast_gradient_clipping import GradSampleHooksFastGradientClipping
from opacus.validators import ModuleValidator
from torch import Tensor, nn
from torch.autograd import backward
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.parameter import is_lazy
from torch.optim import LBFGS, Optimizer

from expost.errors import InvalidValue
from expost.training.torch.inputs import Inputs, outputs_of, records_in, transform

Loss: TypeAlias = Callable[[Tensor, Tensor], Tensor]
"""From outputs and labels, records along the first axis, to one loss a record that depends on that record alone."""

SLACK = 1e-6
"""Added to a norm before it divides the clip, as Opacus does: a clipped norm stays below the clip after rounding."""
HEAD_ALONE = (
    "only the last linear layer is trained, on features that frozen layers make; expost.finetune(features, labels, "
    "accuracy=...) trains that layer for less privacy, with nothing to tune: give it the inputs of the layer."
)


class Clipper(Protocol):
    """Sums clipped gradients of a module it is attached to. Implemented by PerRecord and Ghost.

    What must hold: every record adds a vector of norm ``clip`` at most, over all parameters together, and a record
    whose gradient is not finite adds nothing.
    """

    def __init__(self, module: nn.Module, loss: Loss, clip: float) -> None: ...

    def sums(self, inputs: Inputs, labels: Tensor) -> list[Tensor]:
        """The sum for each trainable parameter, in the module's order."""
        ...

    def detach(self) -> None:
        """Take every trace of the records off the module."""
        ...


@final
class PerRecord:
    """Keeps each record's gradient: works for every layer, and takes the memory of one model a record."""

    def __init__(self, module: nn.Module, loss: Loss, clip: float) -> None:
        self._module, self._loss, self._clip = module, loss, clip
        self._parameters = trainable(module)
        self._hooks = GradSampleHooks(module, loss_reduction="sum")

    def sums(self, inputs: Inputs, labels: Tensor) -> list[Tensor]:
        """The sum for each trainable parameter, in the module's order."""
        backward(losses_of(self._module, self._loss, inputs, labels).sum())
        gradients = _taken(self._parameters, "grad_sample")
        norms = _norms([torch.linalg.vector_norm(each.flatten(1), dim=1) for each in gradients if each is not None])
        finite = torch.isfinite(norms)
        factors = _factors(norms, self._clip)
        sums = []
        for parameter, gradient in zip(self._parameters, gradients, strict=True):
            if gradient is None:
                sums.append(torch.zeros_like(parameter))
                continue
            gradient[~finite] = 0  # a factor of 0 would not do: 0 · inf is NaN
            sums.append(torch.einsum("i,i...", factors.to(parameter.dtype), gradient.to(parameter.dtype)))
        return sums

    def detach(self) -> None:
        """Take every trace of the records off the module."""
        _clean(self._module, self._hooks)


@final
class Ghost:
    """Finds each record's norm without keeping its gradient, then weights the losses: less memory, two passes.

    Layers for which Opacus knows no ghost norm keep their gradients for a moment. The norms are those that layers see,
    so this rests on ``require_separable``: a parameter used by two layers, or outside its own, is refused there.
    """

    def __init__(self, module: nn.Module, loss: Loss, clip: float) -> None:
        self._module, self._loss, self._clip = module, loss, clip
        self._parameters = trainable(module)
        self._hooks = GradSampleHooksFastGradientClipping(module, loss_reduction="sum", max_grad_norm=clip)

    def sums(self, inputs: Inputs, labels: Tensor) -> list[Tensor]:
        """The sum for each trainable parameter, in the module's order."""
        losses = losses_of(self._module, self._loss, inputs, labels)
        backward(losses.sum(), retain_graph=True)
        self._module.zero_grad()
        norms = _norms([each for each in _taken(self._parameters, "_norm_sample") if each is not None])
        finite = torch.isfinite(norms)
        if not finite.any():  # many a module fails on no records, and that would tell of these
            return [torch.zeros_like(each) for each in self._parameters]
        if not finite.all():  # again without them: a weight of 0 would not do, 0 · inf is NaN
            return self.sums(transform(inputs, lambda each: each[finite]), labels[finite])
        self._hooks.disable_hooks()
        backward((_factors(norms, self._clip).to(losses.dtype) * losses).sum())
        self._hooks.enable_hooks()
        sums = [torch.zeros_like(each) if each.grad is None else each.grad for each in self._parameters]
        self._module.zero_grad()
        return sums

    def detach(self) -> None:
        """Take every trace of the records off the module."""
        _clean(self._module, self._hooks)


@contextmanager
def attached(kind: type[Clipper], module: nn.Module, loss: Loss, clip: float) -> Iterator[Clipper]:
    """The module with hooks that see each record's gradient; none of them is left, whatever happens."""
    clipper = kind(module, loss, clip)
    try:
        yield clipper
    finally:
        clipper.detach()


def trainable(module: nn.Module) -> list[nn.Parameter]:
    """The parameters that training changes, each once, in the module's order."""
    return [each for each in module.parameters() if each.requires_grad]


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


def losses_of(module: nn.Module, loss: Loss, inputs: Inputs, labels: Tensor) -> Tensor:
    """The loss of each record, refused unless there is one for each."""
    losses = loss(outputs_of(module, inputs), labels)
    if losses.shape != (records_in(inputs),):  # a mean over the batch would tie the records together
        raise InvalidValue("the loss is not one number for each record; use reduction='none'.")
    return losses


def _taken(parameters: list[nn.Parameter], name: str) -> list[Tensor | None]:
    """What the hooks left on each parameter, which forgets it; None where the forward pass did not use it."""
    left = [getattr(parameter, name, None) for parameter in parameters]
    for parameter in parameters:
        setattr(parameter, name, None)
        parameter.__dict__.pop("_current_grad_sample", None)  # left where the loss used one of a layer's outputs
        parameter.grad = None
    return left


def _norms(by_parameter: list[Tensor]) -> Tensor:
    norms: Tensor = torch.linalg.vector_norm(torch.stack(by_parameter), dim=0)
    return norms


def _factors(norms: Tensor, clip: float) -> Tensor:
    """What each record's gradient is multiplied by."""
    return torch.where(torch.isfinite(norms), (clip / (norms + SLACK)).clamp(max=1.0), 0.0)


def _clean(module: nn.Module, hooks: GradSampleHooks) -> None:
    hooks.cleanup()
    module.zero_grad()
    for layer in module.modules():
        for left in ("activations", "max_batch_len"):
            layer.__dict__.pop(left, None)
