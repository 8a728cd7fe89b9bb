"""Pieces: records that do not lie in one place, and what is added up over all of them."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

from numpy.typing import NDArray

from expost.noise import Integers, Noise

D = TypeVar("D")


@runtime_checkable
class Pieces(Protocol):
    """Records in pieces that each fit into memory: blocks of a file on disk, or partitions in a cluster.

    What must hold: every record, or all rows of a person, lies in one piece, whole, and every pass over the pieces
    finds the same records in the same order, also after a retry. There is at least one piece, maybe an empty one.
    Nothing of a record comes back but what the functions given here make of its piece. Those must be picklable where
    pieces lie elsewhere. Implemented by tabular.source.stored.StoredRows and tabular.spark.rows.SparkRows.
    """

    def added(self, f: Callable[[Any], Integers]) -> Integers:
        """The sum over all pieces of what ``f`` makes of each."""
        ...

    def joined(self, f: Callable[[Any], NDArray[Any]]) -> NDArray[Any]:
        """What ``f`` makes of each piece, one after another."""
        ...

    def divided(self, share: Fraction, noise: Noise) -> tuple[Self, Self]:
        """The records whose coin is false, and those where it is true, with this chance each.

        A record's coin is its own: one that can be drawn again in every pass, by its place and a secret key.
        """
        ...


def added_up(data: D, f: Callable[[D], Integers]) -> Integers:
    """What ``f`` makes of the data, which must be a sum over its records: of each piece by itself where it has some."""
    return data.added(f) if isinstance(data, Pieces) else f(data)


def joined_up(data: D, f: Callable[[D], NDArray[Any]]) -> NDArray[Any]:
    """What ``f`` makes of the data, which must be an entry for each record, in any order."""
    return data.joined(f) if isinstance(data, Pieces) else f(data)
