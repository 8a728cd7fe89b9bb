"""Whether two arrays are the same data: one in the memory of the other, or equal to it in every entry."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from expost.storage import Held, placed, shares_memory


def same_data(one: Held, other: Held) -> bool:
    """Whether they share memory, even in part, or hold the same numbers."""
    return shares_memory(one, other) or same_content(one, other)


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
    mine, others = placed(one), placed(other)
    pace = mine.strides[0]
    if not pace or pace != others.strides[0]:
        return None
    whole, rest = divmod(others.ctypes.data - mine.ctypes.data, pace)
    return (whole, whole + 1) if rest else (whole,)


def _numbers(array: Held) -> NDArray[Any]:
    if isinstance(array, np.ndarray):
        return array
    found = array.detach().cpu()
    numbers: NDArray[Any] = (found if "bfloat16" not in str(found.dtype) else found.float()).numpy()
    return numbers
