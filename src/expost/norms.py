"""Lengths of records, each computed in an order of its own."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

CELLS = 2**16
"""Numbers squared at a time: they stay in the processor's cache."""


def row_norms(rows: NDArray[Any]) -> NDArray[np.float64]:
    """The Euclidean norm of each row, the same to the last bit whatever the other rows are and however all are stored.

    Squares are added column to column, each time the last half of the columns to the first, in double precision. Which
    numbers meet in a sum follows from the width alone, and additions entry by entry round alike everywhere. Sums along
    an axis, norms along an axis and matrix products do not promise that: they group by memory layout and size, so one
    more row may move the last bit of every other one, and with it what those records contribute.
    """
    norms = np.empty(len(rows))
    step = max(1, CELLS // max(1, rows.shape[1]))
    for start in range(0, len(rows), step):
        squares = np.square(np.ascontiguousarray(rows[start : start + step].T, dtype=np.float64))
        width = len(squares)
        while width > 1:
            half = width // 2
            squares[:half] += squares[width - half : width]
            width -= half
        norms[start : start + step] = np.sqrt(squares[0]) if width else 0.0
    return norms
