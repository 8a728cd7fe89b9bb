"""A forward pass without chance: every draw of torch's is replaced by its mean."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, final

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from expost.errors import InvalidValue

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
