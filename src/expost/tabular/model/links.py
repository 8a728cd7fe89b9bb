"""Links between the terms of two vectors, and sums along them, by sparse matrices of ones.

These take a third of the time of counting with weights, and add the terms of a sum in the same order.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from expost.noise import Floats

Places: TypeAlias = NDArray[np.intp]
Indices: TypeAlias = NDArray[np.signedinteger[Any]]


@final
class Links:
    """Which terms of two vectors belong together: ``left[i]`` and ``right[i]`` for each i, no pair of them twice."""

    __slots__ = ("_leftward", "_rightward")

    def __init__(self, left: Sequence[Places], right: Sequence[Places], sizes: tuple[int, int]) -> None:
        rows, columns = _joined(left, max(sizes)), _joined(right, max(sizes))
        ones = np.ones(len(rows))
        self._leftward = _summing(rows, columns, ones, sizes)
        self._rightward = _summing(columns, rows, ones, sizes[::-1])

    def leftward(self, right: Floats) -> Floats:
        """At each term on the left, the sum of those on the right that belong to it."""
        return np.asarray(self._leftward @ right)

    def rightward(self, left: Floats) -> Floats:
        """The same the other way."""
        return np.asarray(self._rightward @ left)


def _joined(pieces: Sequence[Places], below: int) -> Indices:
    """One after another, in half the memory where they are below 2³¹."""
    joined: Indices = np.empty(sum(map(len, pieces)), np.int32 if below < 2**31 else np.int64)
    return np.concatenate([joined[:0], *pieces], out=joined, casting="same_kind")


def _summing(to: Indices, of: Indices, ones: Floats, shape: tuple[int, int]) -> csr_array:
    """The matrix that adds each term ``of[i]`` to the sum ``to[i]``; its ones may be shared by others."""
    sorted_ = coo_array((np.ones(len(ones), np.int8), (to, of)), shape=shape).tocsr()
    return csr_array((ones, sorted_.indices, sorted_.indptr), shape=shape)
