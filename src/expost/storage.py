"""Storage: whether two bodies of data lie in the same memory, so that a record is in both."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

ATOMS = (int, float, complex, str, bytes, tuple, type(None))
"""Values that Python may hold once for all who write them, so that being the same object says nothing."""


WORK = 2**20
"""How many entries are tried where two arrays interleave."""


def shares_storage(one: object, other: object) -> bool:
    """Whether both are the same object, or any of their arrays have a byte in common.

    Looks into lists, tuples, mappings, dataclasses and frames of NumPy columns; slices of one array that have no entry
    in common share nothing. Copies are not found: that two sources are disjoint stays the caller's statement.
    """
    if one is other and not isinstance(one, ATOMS):
        return True
    theirs = list(_arrays(other))
    return any(_overlap(mine, each) for mine in _arrays(one) for each in theirs)


def _overlap(one: NDArray[Any], other: NDArray[Any]) -> bool:
    try:
        return np.shares_memory(one, other, max_work=WORK)  # type: ignore[arg-type] # the stubs know two limits only
    except np.exceptions.TooHardError:  # their ranges overlap, and which entries do is not found out
        return True


def _arrays(data: object) -> Iterator[NDArray[Any]]:
    """The arrays that the data is made of, none of them copied."""
    match data:
        case np.ndarray():
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
        case _ if hasattr(data, "columns") and hasattr(data, "__getitem__"):
            for name in data.columns:
                yield from _arrays(data[name])
