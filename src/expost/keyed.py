"""Keyed draws: the same for the same place whenever they are made again, and known to nobody without the key.

Records in pieces are passed over several times, by whoever has a piece at that moment, and tasks are retried. A coin
that belongs to a record must then come out as it did before. A column of random numbers would not do: an engine that
loses it draws it anew, and a record would change sides.
"""

from dataclasses import dataclass
from fractions import Fraction
from hashlib import shake_256
from typing import final

import numpy as np
from numpy.typing import NDArray

from expost.errors import InvalidValue
from expost.noise import Integers
from expost.sampling import limits

BLOCK = 2**13
"""Draws that are made together."""
KEY = 32
"""Bytes of a key."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Keyed:
    """Draws for places 0, 1, 2, … that follow from a secret key and a purpose: SHAKE-256 of both and of the place.

    Draws for two purposes, or of two keys, have nothing to do with each other. Shows nothing when printed.
    """

    key: bytes
    purpose: str

    def __post_init__(self) -> None:
        if len(self.key) != KEY:
            raise InvalidValue(f"the key has {len(self.key)} bytes; it must have {KEY}, as Noise.key gives.")

    def __repr__(self) -> str:
        return "Keyed"

    def coins(self, probability: Fraction, first: int, count: int) -> NDArray[np.bool_]:
        """A coin for each of some places in a row, true with the given probability up to 2⁻⁶⁴."""
        whole = int(limits.coin_probability(probability) * 2**64)
        coins: NDArray[np.bool_] = self._words(first, count) < np.uint64(whole)
        return coins

    def below(self, bounds: Integers, first: int) -> Integers:
        """For each of some places in a row a whole number from 0 to below its bound, evenly up to 2⁻³² of the bound."""
        upper = (self._words(first, len(bounds)) >> np.uint64(32)).astype(np.int64)
        return (upper * bounds) >> 32

    def _words(self, first: int, count: int) -> NDArray[np.uint64]:
        """64 bits for each place; those of a block are made together."""
        blocks = range(first // BLOCK, -(-(first + count) // BLOCK))
        start = blocks.start * BLOCK
        made = b"".join(self._block(number) for number in blocks)
        return np.frombuffer(made, "<u8")[first - start : first - start + count]

    def _block(self, number: int) -> bytes:
        return shake_256(self.key + number.to_bytes(8) + self.purpose.encode()).digest(8 * BLOCK)
