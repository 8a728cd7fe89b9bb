"""Where training computes: NumPy arrays, or torch tensors on a device. Both understand the same few operations."""

import importlib
import importlib.util
from typing import Any, Protocol, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from expost.errors import InvalidValue, NotInstalled

Array: TypeAlias = Any
"""A NumPy array or a torch tensor: this package's adapter to both."""


SMALL, LEAST = 700_000, 16
"""Multiplications in one product, and rows: up to a million, OpenBLAS multiplies thin matrices at twice the speed."""


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


@final
class InNumpy:
    """On the processor, without further libraries."""

    __slots__ = ()
    name = "numpy"
    functions: Any = np

    def put(self, array: NDArray[Any]) -> Array:
        """The array itself."""
        return array

    def get(self, array: Array) -> NDArray[Any]:
        """A copy."""
        return np.array(array)

    def scores(self, weights: Array, rows: Array) -> Array:
        """Strip by strip."""
        found = np.empty((len(rows), len(weights)), rows.dtype)
        for strip in _strips(len(rows), weights):
            np.matmul(rows[strip], weights.T, out=found[strip])
        return np.ascontiguousarray(found.T)

    def weighted(self, factors: Array, rows: Array) -> Array:
        """Strip by strip."""
        first, *others = _strips(len(rows), np.broadcast_to(0, (len(factors), rows.shape[1])))
        found = factors[:, first] @ rows[first]
        for strip in others:
            found += factors[:, strip] @ rows[strip]
        return found


@final
class InTorch:
    """On a torch device, a GPU for one; made by ``on``."""

    __slots__ = ("_device", "_torch")

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


def _strips(rows: int, matrix: NDArray[Any]) -> list[slice]:
    """The rows in strips, few enough at a time that a product with the matrix is small."""
    height = max(SMALL // matrix.size, 1)
    height = rows if height < LEAST else height
    return [slice(start, start + height) for start in range(0, max(rows, 1), max(height, 1))]


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
