"""Where training computes: NumPy arrays, or torch tensors on a device. Both understand the same few operations."""

import importlib
import importlib.util
from collections.abc import Callable
from functools import cache
from typing import Any, Protocol, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from expost.errors import InvalidValue, NotInstalled

Array: TypeAlias = Any
"""A NumPy array or a torch tensor: this package's adapter to both."""


SMALL, LEAST = 700_000, 16
"""Multiplications in one product, and rows: up to a million, OpenBLAS multiplies thin matrices at twice the speed."""
LARGEST_ENTRY, LARGEST_FACTOR = 2**13, 2**10
"""Sizes of the whole numbers that are multiplied and summed exactly: of an entry of a row, and of its factor."""
LIMB = 2**5
"""What a factor is divided by, into quotient and remainder, so that single precision holds sums of either."""
TALLEST = 2**24 // (LARGEST_FACTOR // LIMB * LARGEST_ENTRY)
"""Rows that are summed at a time in single precision: all sums stay at 2**24 or below, where it holds every integer."""
WIDEST = 2**16
"""Entries a row up to which single precision is used: of more weights too little would be left on its grid."""


class Arrays(Protocol):
    """A library of arrays. Implemented by InNumpy and InTorch."""

    @property
    def name(self) -> str:
        """What goes on record."""
        ...

    @property
    def functions(self) -> Any:
        """The module with ``exp``, ``sqrt``, ``round``, ``amax``, ``clip``, ``where`` and ``nan_to_num``."""
        ...

    def put(self, array: NDArray[Any]) -> Array:
        """The array where it is computed with."""
        ...

    def get(self, array: Array) -> NDArray[Any]:
        """A copy of the array, back in NumPy."""
        ...

    def scores(self, weights: Array, rows: Array) -> Array:
        """The products of each row of weights with each row: a line for the one, a column for the other."""
        ...

    def weighted(self, factors: Array, rows: Array) -> Array:
        """A sum of rows for each line of factors."""
        ...

    @property
    def at_once(self) -> int:
        """How many numbers are computed at a time where sums are exact, whatever they are grouped by."""
        ...

    def whole(self, width: int) -> Any:
        """The type that rows of whole numbers are multiplied in: products are exact while their terms allow it."""
        ...

    def kept(self, width: int) -> Any:
        """The type that they are kept in."""
        ...

    def weighted_exactly(self, factors: Array, rows: Array) -> Array:
        """The same in double precision and without rounding.

        For factors that are whole numbers of size LARGEST_FACTOR at most in double precision, for rows in the type of
        ``whole`` with entries of size LARGEST_ENTRY at most, and for a billion of them.
        """
        ...


@final
class InNumpy:
    """On the processor, without further libraries."""

    __slots__ = ()
    name = "numpy"
    at_once = 2**21
    functions: Any = np

    def put(self, array: NDArray[Any]) -> Array:
        """The array itself."""
        return array

    def get(self, array: Array) -> NDArray[Any]:
        """A copy."""
        return np.array(array)

    def scores(self, weights: Array, rows: Array) -> Array:
        """Strip by strip."""
        found = np.empty((len(rows), len(weights)), weights.dtype)
        for strip in _strips(len(rows), weights):
            np.matmul(rows[strip].astype(weights.dtype, copy=False), weights.T, out=found[strip])
        return np.ascontiguousarray(found.T)

    def weighted(self, factors: Array, rows: Array) -> Array:
        """Strip by strip."""
        first, *others = _strips(len(rows), np.broadcast_to(0, (len(factors), rows.shape[1])))
        found = factors[:, first] @ rows[first].astype(factors.dtype, copy=False)
        for strip in others:
            found += factors[:, strip] @ rows[strip].astype(factors.dtype, copy=False)
        return found

    def whole(self, width: int) -> Any:
        """Single precision, where it multiplies as it should."""
        return np.dtype(np.float32 if width <= WIDEST and _exact_in_single() else np.float64)

    def kept(self, width: int) -> Any:
        """Two bytes, which hold LARGEST_ENTRY: a few rows at a time are multiplied, as floats."""
        return np.dtype(np.int16)

    def weighted_exactly(self, factors: Array, rows: Array) -> Array:
        """In single precision by quotients and remainders, TALLEST rows at a time.

        A quotient has size LARGEST_FACTOR / LIMB at most and a remainder LIMB / 2. Times entries, and over TALLEST
        rows, the sizes add up to 2**24 at most. So whichever terms are added first, fused or not, each product and each
        partial sum is an integer that single precision holds. What strips add up to is added in double precision.
        """
        if np.float64 in (rows.dtype, self.whole(rows.shape[1])):
            return self.weighted(factors, rows)
        quotients, classes = (factors * (1 / LIMB)).round(), len(factors)
        limbs = np.concatenate([quotients, factors - LIMB * quotients]).astype(np.float32)
        found = np.zeros((len(limbs), rows.shape[1]))
        for start in range(0, len(rows), TALLEST):
            found += limbs[:, start : start + TALLEST] @ rows[start : start + TALLEST].astype(np.float32, copy=False)
        found[:classes] *= LIMB
        found[:classes] += found[classes:]
        return found[:classes]


@final
class InTorch:
    """On a torch device, a GPU for one; made by ``on``."""

    __slots__ = ("_device", "_torch")
    at_once = 2**26

    def __init__(self, torch: Any, device: Any) -> None:
        self._torch, self._device = torch, device

    @property
    def name(self) -> str:
        return f"torch on {self._device}"

    @property
    def functions(self) -> Any:
        return self._torch

    def put(self, array: NDArray[Any]) -> Array:
        """The array on the device."""
        return self._torch.from_numpy(np.ascontiguousarray(array)).to(self._device)

    def get(self, array: Array) -> NDArray[Any]:
        """A copy."""
        return np.array(array.cpu().numpy())

    def scores(self, weights: Array, rows: Array) -> Array:
        """One product."""
        return weights @ rows.T

    def weighted(self, factors: Array, rows: Array) -> Array:
        """One product."""
        return factors @ rows

    def whole(self, width: int) -> Any:
        """Double precision: torch may be told to multiply single floats by their first bits alone."""
        return self._torch.float64

    def kept(self, width: int) -> Any:
        """The same, which a device multiplies as they are."""
        return self.whole(width)

    def weighted_exactly(self, factors: Array, rows: Array) -> Array:
        """One product."""
        return self.weighted(factors, rows)


def _strips(rows: int, matrix: NDArray[Any]) -> list[slice]:
    """The rows in strips, few enough at a time that a product with the matrix is small."""
    height = max(SMALL // matrix.size, 1)
    height = rows if height < LEAST else height
    return [slice(start, start + height) for start in range(0, max(rows, 1), max(height, 1))]


@cache
def _exact_in_single(multiply: Callable[[Array, Array], Array] = np.matmul) -> bool:
    """Whether single precision multiplies and adds integers here as its type says, up to 2**24: tried once."""
    rows = np.full((TALLEST, LARGEST_FACTOR), LARGEST_ENTRY - 1, np.float32)
    rows[::2, ::3] = 1
    factors = np.full((2, TALLEST), LARGEST_FACTOR // LIMB - 1, np.float32)
    return np.array_equal(multiply(factors, rows), factors.astype(np.float64) @ rows.astype(np.float64))


def on(device: str | None) -> Arrays:
    """NumPy for None, torch for the name of one of its devices; refused if it is not there."""
    if device is None:
        return InNumpy()
    if importlib.util.find_spec("torch") is None:
        raise NotInstalled(f"the device {device} needs torch; install expost[training], or leave the device out.")
    torch = importlib.import_module("torch")
    try:
        torch.zeros(1, dtype=torch.float64, device=device)
    except (RuntimeError, AssertionError, ValueError, TypeError):
        raise InvalidValue(
            f"there is no device {device} here that computes in double precision; name another, or leave it out."
        ) from None
    return InTorch(torch, torch.device(device))
