"""Made-up records for a module to be tried on, and what it answers to them, without chance where that would hide it."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, final

import torch
from torch import Tensor, nn
from torch.autograd import grad
from torch.random import fork_rng
from torch.utils._python_dispatch import TorchDispatchMode

from expost.errors import InvalidValue
from expost.training.torch.clipping import Loss, losses_of, trainable
from expost.training.torch.inputs import Inputs, transform

RECORDS = 5
"""Made-up records: labels and tokens that a loss or a layer ignores do not fill them all."""

FAILURES = (
    RuntimeError,
    ValueError,
    TypeError,
    IndexError,
    KeyError,
    AttributeError,
    AssertionError,
    ArithmeticError,
)
"""What a module raises on records that do not suit it."""


@final
@dataclass(frozen=True, slots=True)
class Batch:
    """Some records, along the first axis of every tensor."""

    inputs: Inputs
    labels: Tensor

    @classmethod
    def made_up(cls, shaped: "Batch", device: torch.device) -> "Batch":
        """Records of the shape and the type of ``shaped``, itself a batch of one."""
        return shaped.transform(lambda each: _numbers(each).to(device))

    def transform(self, f: Callable[[Tensor], Tensor]) -> "Batch":
        """The same with each tensor changed."""
        return Batch(transform(self.inputs, f), f(self.labels))

    def at(self, places: Sequence[int]) -> "Batch":
        """The records at these places, in this order."""
        return self.transform(lambda each: each[list(places)])

    def with_one(self, place: int, value: float, label: int) -> "Batch":
        """The same but for one record, all whose numbers are the value; whole ones are 0 if it is not 0 or 1."""

        def replaced(each: Tensor) -> Tensor:
            each = each.clone()
            each[place] = value if each.is_floating_point() or value in (0, 1) else 0
            return each

        labels = self.labels.clone()
        labels[place] = label
        return Batch(transform(self.inputs, replaced), labels)

    def with_gap(self, place: int) -> "Batch":
        """The same but for one record, whose first numbers are missing where they need not be whole."""

        def gapped(each: Tensor) -> Tensor:
            each = each.clone()
            if each.is_floating_point() and each[place].numel():
                each[place].view(-1)[0] = math.nan
            return each

        return Batch(transform(self.inputs, gapped), self.labels)


@final
@dataclass(frozen=True, slots=True)
class Outputs:
    """A row for each record: what the module puts out, and the loss."""

    outputs: Tensor
    losses: Tensor

    def agree(self, others: "Outputs", tolerance: float) -> bool:
        """Whether they are the same, as far as the tolerance times the largest of them; NaN agrees with NaN."""
        pairs = ((self.outputs, others.outputs), (self.losses, others.losses))
        return all(_agree(one, other, tolerance) for one, other in pairs)

    def at(self, places: Sequence[int]) -> "Outputs":
        """Those of the records at these places."""
        return Outputs(self.outputs[list(places)], self.losses[list(places)])


def answers(module: nn.Module, loss: Loss, batch: Batch) -> Outputs:
    """What comes out for a batch, in the module's present mode; outputs that are not a row per record count as none."""
    kept: list[object] = []

    def listening(outputs: Tensor, labels: Tensor) -> Tensor:
        kept.append(outputs)
        return loss(outputs, labels)

    with torch.no_grad():
        losses = losses_of(module, listening, batch.inputs, batch.labels)
    outputs, records = kept[0], len(losses)
    if isinstance(outputs, Tensor) and outputs.shape[:1] == losses.shape:
        return Outputs(outputs.reshape(records, -1), losses)
    return Outputs(losses.new_zeros((records, 1)), losses)


def plain_gradient(module: nn.Module, loss: Loss, batch: Batch) -> Tensor:
    """The gradient of the summed losses by torch itself, over all trainable parameters in a row."""
    parameters = trainable(module)
    found = grad(losses_of(module, loss, batch.inputs, batch.labels).sum(), parameters, allow_unused=True)
    used: list[Tensor | None] = list(found)
    pairs = zip(parameters, used, strict=True)
    return flat([torch.zeros_like(parameter) if each is None else each for parameter, each in pairs])


def flat(tensors: list[Tensor]) -> Tensor:
    """All entries in a row."""
    return torch.cat([each.flatten() for each in tensors])


@contextmanager
def same_chance(module: nn.Module) -> Iterator[None]:
    """Torch's generators as they are now, and so again when this is over."""
    device = trainable(module)[0].device
    with fork_rng([device] if device.type == "cuda" else []):
        yield


def _numbers(shaped: Tensor) -> Tensor:
    """Numbers between 0 and 1 without a pattern; of whole ones 0 and 1, which every vocabulary and label has."""
    size = shaped.numel()
    places = torch.arange(RECORDS * size).reshape(RECORDS, *shaped.shape[1:])
    if shaped.is_floating_point():
        return (places * 0.618 % 1).to(shaped.dtype)
    turns = torch.arange(RECORDS).reshape(RECORDS, *(1 for _ in shaped.shape[1:]))
    return ((places - turns * size + turns + 1) % 2).to(shaped.dtype)


def _agree(one: Tensor, other: Tensor, tolerance: float) -> bool:
    finite = other[torch.isfinite(other)]
    largest = float(finite.abs().max()) if len(finite) else 1.0
    return bool(torch.allclose(one, other, rtol=0.0, atol=tolerance * largest, equal_nan=True))


Operation = Callable[..., Any]
aten = torch.ops.aten


def _dropout(features: Any, chance: float, train: bool | None) -> Any:
    """Nothing is dropped; the scale stays, for the backward pass has it too."""
    scale = 1 / (1 - chance) if train or train is None else 1.0
    return features * scale, torch.ones_like(features, dtype=torch.bool)


MEANS: Mapping[object, Operation] = {
    aten.bernoulli.default: lambda chances, **_: chances.clone(),
    aten.bernoulli_.float: lambda target, chance=0.5, **_: target.fill_(chance),
    aten.bernoulli_.Tensor: lambda target, chances, **_: target.copy_(chances),
    aten.native_dropout.default: _dropout,
    aten.rand.default: lambda size, **others: torch.full(size, 0.5, **others),
    aten.rand_like.default: lambda like, **_: torch.full_like(like, 0.5),
    aten.uniform_.default: lambda target, low=0.0, high=1.0, **_: target.fill_((low + high) / 2),
    aten.randn.default: torch.zeros,
    aten.randn_like.default: lambda like, **_: torch.zeros_like(like),
    aten.normal_.default: lambda target, mean=0.0, std=1.0, **_: target.fill_(mean),
}
"""What stands for a draw: its mean, everywhere."""


def muted() -> AbstractContextManager[object]:
    """While it lasts dropout drops nothing, in forward and in backward passes, and uniform and normal draws are flat.

    A record in a batch can then be compared with the same record alone. Other draws are refused: what they do to a
    record cannot be told from what its neighbours do to it.
    """
    return _Means()  # type: ignore[no-untyped-call]  # torch's own


@final
class _Means(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch's own
    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        named = kwargs or {}
        if func in MEANS:
            return MEANS[func](*args, **named)
        if torch.Tag.nondeterministic_seeded not in func.tags:
            return func(*args, **named)
        places = [each.name for each in func._schema.arguments]
        if "dropout_p" not in places:
            raise InvalidValue(
                f"the module draws with {func} in train mode, whose effect on a record cannot be told from that of "
                "other records; let it use dropout, or draw uniform or normal numbers."
            )
        given = dict(zip(places, args, strict=False)) | named
        return func(**given | {"dropout_p": 0.0})
