"""Whether two arrays are the same data: one in the memory of the other, or equal to it in every entry."""

from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

Held: TypeAlias = Any
"""A NumPy array or a torch tensor: this package's adapter to both."""

WORK = 10**6
"""How long to look for an entry that two interleaved views share; if the question is open by then, they do."""


def is_array(value: object) -> bool:
    """Whether it is an array or a tensor, in memory that can be looked up."""
    return isinstance(value, np.ndarray) or hasattr(value, "data_ptr")


def same_data(one: Held, other: Held) -> bool:
    """Whether one is in the memory of the other, were it in part, or holds the same numbers."""
    return shares_memory(one, other) or same_content(one, other)


def shares_memory(one: Held, other: Held) -> bool:
    """Whether an entry of one is an entry of the other; slices of one array that do not meet share none."""
    if str(one.device) != str(other.device):
        return False
    try:
        return np.shares_memory(_placed(one), _placed(other), max_work=WORK)  # type: ignore[arg-type]  # any number
    except np.exceptions.TooHardError:
        return True


def same_content(one: Held, other: Held) -> bool:
    """Whether both hold the same numbers in the same places, of one type; two that are empty hold none."""
    if tuple(one.shape) != tuple(other.shape) or 0 in one.shape:
        return False
    mine, others = _numbers(one), _numbers(other)
    return mine.dtype == others.dtype and np.array_equal(mine, others, equal_nan=np.issubdtype(mine.dtype, np.inexact))


def rows_apart(one: Held, other: Held) -> tuple[int, ...] | None:
    """By how many rows ``other`` begins behind ``one`` in the memory they share: two numbers if between rows.

    None if their rows do not go at the same pace, and cannot be told from each other.
    """
    mine, others = _placed(one), _placed(other)
    pace = mine.strides[0]
    if not pace or pace != others.strides[0]:
        return None
    whole, rest = divmod(others.ctypes.data - mine.ctypes.data, pace)
    return (whole, whole + 1) if rest else (whole,)


@final
class _Placed:
    """Where a tensor lies; its numbers are not read, which on another device nobody could."""

    def __init__(self, tensor: Held) -> None:
        size = tensor.element_size()
        self.__array_interface__ = {
            "version": 3,
            "shape": tuple(tensor.shape),
            "typestr": f"|V{size}",
            "data": (tensor.data_ptr(), True),
            "strides": tuple(size * step for step in tensor.stride()),
        }


def _placed(array: Held) -> NDArray[Any]:
    return array if isinstance(array, np.ndarray) else np.asarray(_Placed(array))


def _numbers(array: Held) -> NDArray[Any]:
    if isinstance(array, np.ndarray):
        return array
    found = array.detach().cpu()
    numbers: NDArray[Any] = (found if "bfloat16" not in str(found.dtype) else found.float()).numpy()
    return numbers
