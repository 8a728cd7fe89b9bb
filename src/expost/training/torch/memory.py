"""What a module keeps of the records it has seen: a pass through it must leave it as it was."""

import copy
import hashlib
import re
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType

import numpy as np
import torch
from torch import Tensor, nn

from expost.errors import InvalidValue
from expost.training.torch.clipping import Loss
from expost.training.torch.trial import FAILURES, Batch, plain_gradient

LARGE = 1e6
"""Weights are tried at this multiple too: a layer that keeps them below a norm has to write then."""

ELSEWHERE = ("_parameters", "_buffers", "_modules", "training")
"""What a module keeps for torch, which is looked at by itself."""


def require_forgetful(module: nn.Module, loss: Loss, some: Batch, others: Batch) -> None:
    """Refuse a module of which a pass, forward or backward, in train or eval mode, changes something that lasts.

    Parameters and buffers may not change at all, at these weights or at very large ones. An attribute may be set by
    the first pass, as a cache is, if what it is set to does not depend on the values of the records and later passes
    leave it. The two batches are of the same size. What a module keeps elsewhere, in a global for one, shows only if it
    changes what comes out.
    """
    one, fresh = copy.deepcopy(module), copy.deepcopy(module)
    with _unwritten(one):
        for mode in (True, False):
            first, again, elsewhere = (
                _attributes(each.train(mode), loss, batch)
                for each, batch in ((one, some), (one, others), (fresh, others))
            )
            for name in sorted(first.keys() | again.keys() | elsewhere.keys()):
                if not first.get(name) == again.get(name) == elsewhere.get(name):
                    raise _refusal(f"the attribute {name}")
    _require_unwritten_when_large(fresh, loss, some)


def same_tensor(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors are of one kind and agree in every entry; NaN agrees with NaN."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.is_floating_point() or one.is_complex():
        return bool(torch.allclose(one, other, rtol=0, atol=0, equal_nan=True))
    return torch.equal(one, other)


def _require_unwritten_when_large(module: nn.Module, loss: Loss, batch: Batch) -> None:
    with torch.no_grad():
        for each in module.parameters():
            each.mul_(LARGE)
    with _unwritten(module):
        for mode in (True, False):
            with suppress(*FAILURES):  # such weights do not suit every module, and nobody said that they would
                plain_gradient(module.train(mode), loss, batch)


@contextmanager
def _unwritten(module: nn.Module) -> Iterator[None]:
    """Refuse what changes a parameter or a buffer meanwhile."""
    before = {name: each.detach().clone() for name, each in _registered(module)}
    yield
    after = dict(_registered(module))
    for name in sorted(before.keys() | after.keys()):
        if name not in before or name not in after or not same_tensor(before[name], after[name].detach()):
            raise _refusal(name)


def _registered(module: nn.Module) -> Iterator[tuple[str, Tensor]]:
    return chain(module.named_parameters(), module.named_buffers())


def _refusal(name: str) -> InvalidValue:
    return InvalidValue(
        f"a pass through this module changes {name}, which would keep something of the records that is on no bill; let "
        "each layer compute from its weights and the record alone, and keep nothing."
    )


def _attributes(module: nn.Module, loss: Loss, batch: Batch) -> dict[str, str]:
    """A digest of every attribute of every layer, after the batch has passed."""
    plain_gradient(module, loss, batch)
    found = {}
    for name, layer in module.named_modules():
        for attribute, value in vars(layer).items():
            if attribute not in ELSEWHERE:
                digest = hashlib.blake2b()
                for each in _traces(value, set()):
                    digest.update(each)
                found[f"{name}.{attribute}".lstrip(".")] = digest.hexdigest()
    return found


def _traces(value: object, seen: set[int]) -> Iterator[bytes]:
    """Everything that can be reached from a value, piece by piece."""
    if id(value) in seen:
        return
    match value:
        case Tensor():
            yield f"{value.dtype} {tuple(value.shape)}".encode()
            yield value.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes()
        case np.ndarray() if not value.dtype.hasobject:
            yield f"{value.dtype} {value.shape}".encode()
            yield value.tobytes()
        case torch.Generator():
            yield value.get_state().numpy().tobytes()
        case type() | ModuleType() | BuiltinFunctionType():
            yield repr(value).encode()
        case _:
            parts = _parts(value)
            if parts is None:
                yield re.sub(r" at 0x[0-9a-f]+", "", repr(value)).encode()
                return
            seen.add(id(value))
            for part in parts:
                yield b"("
                yield from _traces(part, seen)


def _parts(value: object) -> list[object] | None:
    """What a value consists of; None if it is one piece."""
    parts: list[object]
    match value:
        case Mapping():
            parts = [part for pair in value.items() for part in pair]
        case list() | tuple() | deque():
            parts = list(value)
        case set() | frozenset():
            parts = sorted(value, key=repr)
        case partial():
            parts = [value.func, value.args, value.keywords]
        case MethodType():
            parts = [value.__func__, value.__self__]
        case FunctionType():
            parts = [cell.cell_contents for cell in value.__closure__ or () if cell != CellType()]
        case _:
            slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
            parts = [getattr(value, name) for name in (*slots, "__dict__") if hasattr(value, name)]
            return parts or None
    return parts
