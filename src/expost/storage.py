"""Storage: whether two bodies of data lie in the same memory, so that a record is in both."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

Held: TypeAlias = Any
"""A NumPy array or a torch tensor, told by what it can do: torch need not be installed."""

ATOMS = (int, float, complex, str, bytes, tuple, type(None))
"""Values that Python may hold once for all who write them, so that being the same object says nothing."""

WORK = 2**20
"""How many entries are tried where two arrays interleave; if the question is open by then, they share one."""


def shares_storage(one: object, other: object) -> bool:
    """Whether both are the same object, or any of their arrays have a byte in common.

    Looks into lists, tuples, mappings, dataclasses and frames, for NumPy arrays and torch tensors; slices of one array
    that have no entry in common share nothing. Copies are not found: that two sources are disjoint stays the caller's
    statement.
    """
    if one is other and not isinstance(one, ATOMS):
        return True
    theirs = list(_arrays(other))
    return any(shares_memory(mine, each) for mine in _arrays(one) for each in theirs)


def is_array(value: object) -> bool:
    """Whether it is an array or a tensor, in memory that can be looked up."""
    return isinstance(value, np.ndarray) or hasattr(value, "data_ptr")


def shares_memory(one: Held, other: Held) -> bool:
    """Whether an entry of one is an entry of the other; slices of one array that do not meet share none."""
    if str(one.device) != str(other.device):
        return False
    try:
        return np.shares_memory(placed(one), placed(other), max_work=WORK)  # type: ignore[arg-type]  # any number
    except np.exceptions.TooHardError:  # their ranges overlap, and which entries do is not found out
        return True


def placed(array: Held) -> NDArray[Any]:
    """Where the entries lie, as an array that must not be read where a tensor is on another device."""
    return array if isinstance(array, np.ndarray) else np.asarray(_Placed(array))


@final
class _Placed:
    """A tensor as NumPy can place it, without reading it."""

    def __init__(self, tensor: Held) -> None:
        size = tensor.element_size()
        self.__array_interface__ = {
            "version": 3,
            "shape": tuple(tensor.shape),
            "typestr": f"|V{size}",
            "data": (tensor.data_ptr(), True),
            "strides": tuple(size * step for step in tensor.stride()),
        }


def _arrays(data: object) -> Iterator[Held]:
    """The arrays that the data is made of, none of them copied."""
    match data:
        case _ if is_array(data):
            yield data
        case Mapping():
            for value in data.values():
                yield from _arrays(value)
        case list() | tuple():
            for value in data:
                yield from _arrays(value)
        case _ if is_dataclass(data):
            for each in fields(data):
                yield from _arrays(getattr(data, each.name))
        case _ if isinstance(getattr(data, "dtype", None), np.dtype) and hasattr(data, "__array__"):
            yield np.asarray(data)
        case _ if hasattr(data, "columns") and hasattr(data, "items"):
            yield from _arrays(list(data.items()))
