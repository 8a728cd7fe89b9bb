"""Floating-point draws by inversion: only for callers that accept floating point, for they are not exact."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from expost.sampling import Bytes

Floats: TypeAlias = NDArray[np.float64]


def uniform(source: Bytes, count: int) -> Floats:
    """Uniform floats in (0, 1): the midpoints of 2**52 equal cells.

    Midpoints of 2**53 cells are not floats above 1/2: the last of them would round to 1.
    """
    cells = np.frombuffer(source.bytes(8 * count), "<u8") >> np.uint64(12)
    return (cells.astype(np.float64) + 0.5) * 2.0**-52


def gaussian(source: Bytes, count: int) -> Floats:
    """Normal floats of mean 0 and variance 1."""
    return np.asarray(ndtri(uniform(source, count)), np.float64)


def laplace(source: Bytes, count: int) -> Floats:
    """Laplace floats of mean 0 and scale 1."""
    centred = uniform(source, count) - 0.5
    return np.asarray(-np.sign(centred) * np.log1p(-2.0 * np.abs(centred)), np.float64)
