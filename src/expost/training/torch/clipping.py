"""Sums of clipped gradients: each record's is cut to a Euclidean norm, so that one record moves the sum by no more."""

import operator
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeAlias, final

import torch
from opacus.grad_sample.grad_sample_module import GradSampleHooks
from opacus.grad_sample.grad_sample_module_fast_gradient_clipping import GradSampleHooksFastGradientClipping
from torch import Tensor, nn
from torch.autograd import backward

from expost.errors import InvalidValue
from expost.training.torch.inputs import Inputs, outputs_of, records_in, transform

Loss: TypeAlias = Callable[[Tensor, Tensor], Tensor]
"""From outputs and labels, records along the first axis, to one loss a record that depends on that record alone."""

SLACK = 1e-6
"""Added to a norm before it divides the clip, as Opacus does. Rounding may still leave a clipped norm of single
precision above the clip by some parts in ten million, which is among what ``floating`` says is not covered."""


class Clipper(Protocol):
    """Sums clipped gradients of a module it is attached to. Implemented by PerRecord and Ghost.

    What must hold: every record adds a vector of norm ``clip`` at most, over all parameters together, and a record
    whose gradient is not finite adds nothing. With ``sizes`` this holds of persons, each of whom has as many records,
    one after the other, and adds the clipped sum of their gradients.
    """

    def __init__(self, module: nn.Module, loss: Loss, clip: float) -> None: ...

    def sums(self, inputs: Inputs, labels: Tensor, sizes: Tensor | None = None) -> list[Tensor]:
        """The sum for each trainable parameter, in the module's order."""
        ...

    def whole(self, pieces: Iterable[tuple[Inputs, Tensor]]) -> list[Tensor]:
        """What one person adds, whose records come in pieces."""
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

    def sums(self, inputs: Inputs, labels: Tensor, sizes: Tensor | None = None) -> list[Tensor]:
        """The sum for each trainable parameter, in the module's order."""
        backward(losses_of(self._module, self._loss, inputs, labels).sum())
        gradients = _taken(self._parameters, "grad_sample")
        if sizes is not None:
            gradients = [None if each is None else added(each, sizes) for each in gradients]
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

    def whole(self, pieces: Iterable[tuple[Inputs, Tensor]]) -> list[Tensor]:
        """What one person adds, whose records come in pieces."""
        with _unhooked(self._hooks):
            return clipped_whole(self._module, self._loss, self._clip, pieces)

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

    def sums(self, inputs: Inputs, labels: Tensor, sizes: Tensor | None = None) -> list[Tensor]:
        """The sum for each trainable parameter, in the module's order; of persons with several records one by one."""
        if sizes is not None:
            return self._by_person(inputs, labels, sizes)
        losses = losses_of(self._module, self._loss, inputs, labels)
        backward(losses.sum(), retain_graph=True)
        self._module.zero_grad()
        norms = _norms([each for each in _taken(self._parameters, "_norm_sample") if each is not None])
        finite = torch.isfinite(norms)
        if not finite.any():  # many a module fails on no records, and that would tell of these
            return [torch.zeros_like(each) for each in self._parameters]
        if not finite.all():  # again without them: a weight of 0 would not do, 0 · inf is NaN
            return self.sums(transform(inputs, lambda each: each[finite]), labels[finite])
        with _unhooked(self._hooks):
            backward((_factors(norms, self._clip).to(losses.dtype) * losses).sum())
        return _left(self._parameters)

    def whole(self, pieces: Iterable[tuple[Inputs, Tensor]]) -> list[Tensor]:
        """What one person adds, whose records come in pieces."""
        with _unhooked(self._hooks):
            return clipped_whole(self._module, self._loss, self._clip, pieces)

    def _by_person(self, inputs: Inputs, labels: Tensor, sizes: Tensor) -> list[Tensor]:
        """Those with one record together; of the others the gradient of all their losses is one vector."""
        alone = torch.repeat_interleave(sizes == 1, sizes)
        totals = [torch.zeros_like(each) for each in self._parameters]
        if alone.any():
            totals = self.sums(transform(inputs, lambda each: each[alone]), labels[alone])
        ends = torch.cumsum(sizes, 0).tolist()
        for size, end in zip(sizes.tolist(), ends, strict=True):
            if size > 1:
                rows = slice(end - size, end)
                more = self.whole([(transform(inputs, operator.itemgetter(rows)), labels[rows])])
                totals = [total + each for total, each in zip(totals, more, strict=True)]
        return totals

    def detach(self) -> None:
        """Take every trace of the records off the module."""
        _clean(self._module, self._hooks)


def added(gradients: Tensor, sizes: Tensor) -> Tensor:
    """The sum of each person's gradients."""
    owners = torch.repeat_interleave(torch.arange(len(sizes), device=gradients.device), sizes)
    return gradients.new_zeros((len(sizes), *gradients.shape[1:])).index_add_(0, owners, gradients)


def clipped_whole(module: nn.Module, loss: Loss, clip: float, pieces: Iterable[tuple[Inputs, Tensor]]) -> list[Tensor]:
    """The clipped gradient of the losses of all pieces, one of which is on the device at a time."""
    parameters = trainable(module)
    for inputs, labels in pieces:
        backward(losses_of(module, loss, inputs, labels).sum())
    sums = _left(parameters)
    norm = _norms([torch.linalg.vector_norm(each)[None] for each in sums])
    if not torch.isfinite(norm).all():
        return [torch.zeros_like(each) for each in parameters]
    return [each * _factors(norm, clip).to(each.dtype) for each in sums]


@contextmanager
def _unhooked(hooks: GradSampleHooks) -> Iterator[None]:
    """Plain gradients, while it lasts."""
    hooks.disable_hooks()
    try:
        yield
    finally:
        hooks.enable_hooks()


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


def _left(parameters: list[nn.Parameter]) -> list[Tensor]:
    """The gradient that is on each parameter, which forgets it."""
    sums = [torch.zeros_like(each) if each.grad is None else each.grad for each in parameters]
    for each in parameters:
        each.grad = None
    return sums


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
