"""Ways that the same rows may lie in memory, and norms that depend on it; nothing here decides a result."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from expost.noise import Floats

Rows: TypeAlias = NDArray[Any]

LAYOUTS: dict[str, Callable[[Rows], Rows]] = {
    "row by row": np.ascontiguousarray,
    "column by column": np.asfortranarray,
    "transposed": lambda rows: np.ascontiguousarray(rows.T).T,
    "every other row": lambda rows: np.repeat(rows, 2, axis=0)[::2],
    "every third column": lambda rows: np.repeat(rows, 3, axis=1)[:, ::3],
    "a window": lambda rows: np.pad(rows, 1)[1:-1, 1:-1],
    "backwards": lambda rows: np.ascontiguousarray(rows[::-1, ::-1])[::-1, ::-1],
    "column by column, backwards": lambda rows: np.asfortranarray(rows[::-1])[::-1],
    "the same row again and again": lambda rows: np.broadcast_to(rows[:1], rows.shape),
}


def plain_norms(rows: Rows) -> Floats:
    """What the twins put in place of ``row_norms``."""
    return np.asarray(np.linalg.norm(np.asarray(rows, np.float64), axis=1))
