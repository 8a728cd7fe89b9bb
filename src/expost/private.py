"""Sealed data and its division into disjoint parts."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Generic, NoReturn, Protocol, Self, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from expost._seal import SEAL, Seal, guarded, require
from expost.errors import InvalidValue, NotDisjoint
from expost.noise import Noise
from expost.numerics import Real, exact
from expost.pieces import Pieces
from expost.storage import shares_storage

D = TypeVar("D")
E = TypeVar("E")


class Neighbours(Enum):
    """Which data sets count as neighbours: the meaning of every bound."""

    ADD_REMOVE = "add or remove one record"
    REPLACE_ONE = "replace one record"
    ADD_REMOVE_PERSON = "add or remove one person"
    REPLACE_PERSON = "replace one person"

    @property
    def replaces(self) -> bool:
        """Whether neighbours have as many records or persons, one of them another."""
        return self in (Neighbours.REPLACE_ONE, Neighbours.REPLACE_PERSON)

    @property
    def unit(self) -> str:
        """What neighbours differ in: a record, or a person with any number of rows."""
        return "person" if self in (Neighbours.ADD_REMOVE_PERSON, Neighbours.REPLACE_PERSON) else "record"

    @property
    def of_persons(self) -> "Neighbours":
        """The same relation between persons, each with any number of rows."""
        return Neighbours.REPLACE_PERSON if self.replaces else Neighbours.ADD_REMOVE_PERSON


def require_relation(neighbours: Neighbours) -> Neighbours:
    """The relation, refused unless it is one of ours."""
    if not isinstance(neighbours, Neighbours):
        raise InvalidValue("the neighbour relation must be a member of Neighbours, such as Neighbours.ADD_REMOVE.")
    return neighbours


@final
@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """The identity of a body of records: the whole, or one side of a split of its parent.

    ``drawn`` says that the first division on the way to it was by coins, which fall anew in each run.
    """

    label: str
    parent: "Part | None" = None
    division: object = None
    seeded: bool = False
    drawn: bool = False

    @property
    def side(self) -> str:
        """``train`` or ``held`` for a side of a split; empty for the whole."""
        return "" if self.parent is None else self.label.rpartition("/")[2]

    @property
    def line(self) -> "tuple[Part, ...]":
        """The part, its parent, and so on up."""
        return (self,) if self.parent is None else (self, *self.parent.line)


class Records(Protocol):
    """Data with records along its first axis; an array, or a table that can be indexed by a mask."""

    def __len__(self) -> int:
        """How many records."""

    def __getitem__(self, mask: NDArray[np.bool_], /) -> Self:
        """The records where the mask is true."""


R = TypeVar("R", bound=Records | Pieces)


@final
class Private(Generic[D]):
    """Data that only a step of an odometer can open: no accessor, no length, no iteration, no copy, no pickle."""

    __slots__ = ("__data", "_neighbours", "_part")

    def __init__(self, data: D, neighbours: Neighbours = Neighbours.ADD_REMOVE) -> None:
        self.__data = data
        self._neighbours = require_relation(neighbours)
        self._part = Part("data")

    @classmethod
    def of_part(cls, data: D, neighbours: Neighbours, part: Part, seal: Seal) -> "Private[D]":
        """Data known to be one side of a division, for the holder of the seal: the bill rests on it."""
        require(seal)
        sealed = cls(data, neighbours)
        sealed._part = part
        return sealed

    @property
    def neighbours(self) -> Neighbours:
        """The neighbour relation every bound on this data refers to."""
        return self._neighbours

    @property
    def part(self) -> Part:
        """Which body of records this is, for accounting by disjoint parts."""
        return self._part

    @property
    def seeded(self) -> bool:
        """Whether the records were chosen by coins that can be repeated, so that nothing made of them is private."""
        return any(part.seeded for part in self._part.line)

    def open(self, seal: Seal) -> D:
        """The data itself, for the holder of the seal."""
        require(seal)
        return self.__data

    def __repr__(self) -> str:
        """The label only: nothing about the data, its type or its size."""
        return f"Private({self._part.label})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("private data cannot be pickled or copied; pass the Private itself.")

    if not TYPE_CHECKING:  # a checker that knew these methods would let their misuse pass

        def __len__(self) -> NoReturn:
            raise TypeError("the number of private records is private; release a noisy count instead.")

        def __bool__(self) -> NoReturn:
            raise TypeError("private data has no truth value; release a noisy statistic instead.")

        def __iter__(self) -> NoReturn:
            raise TypeError("private records cannot be looped over; run a mechanism instead.")


@final
class Split(Generic[D]):
    """Two disjoint parts such that neighbouring data sets differ in one of them only.

    Made by ``split``, by ``from_parts`` on the caller's word, or by ``whole`` where nothing is held out.
    """

    __slots__ = ("_because", "_held", "_train")

    def __init__(self, train: Private[D], held: Private[D] | None, because: str, seal: Seal) -> None:
        require(seal)
        self._train, self._held, self._because = train, held, because

    @property
    def train(self) -> Private[D]:
        """The part that mechanisms read."""
        return self._train

    @property
    def held(self) -> Private[D] | None:
        """The part that checks read, if there is one."""
        return self._held

    @property
    def because(self) -> str:
        """Why no record can be in both parts, for the receipt."""
        return self._because

    @classmethod
    def from_parts(cls, train: Private[D], held: Private[D], *, because: str) -> "Split[D]":
        """Two sources that arrived apart; ``because`` is the caller's statement that nobody is in both.

        What can be seen of it is checked: the same data twice, or arrays that share memory, are refused.
        """
        if not because.strip():
            raise InvalidValue("say in `because` why no record can be in both parts; the bound rests on it.")
        if set(train.part.line) & set(held.part.line):
            raise NotDisjoint("both parts come from the same data; use its split, or two disjoint sources.")
        if train.neighbours is not held.neighbours:
            raise InvalidValue("the parts have different neighbour relations; a bound needs one.")
        if guarded(lambda: shares_storage(train.open(SEAL), held.open(SEAL))):
            raise NotDisjoint("both parts lie in the same memory; use split, or two disjoint sources.")
        whole = Part("data", seeded=train.seeded or held.seeded, drawn=train.part.drawn or held.part.drawn)
        return _divide(train.open(SEAL), held.open(SEAL), train.neighbours, whole, because)

    def map(self, f: Callable[[D], E]) -> "Split[E]":
        """Both parts written anew by ``f``, which must take each record for itself and know nothing but releases.

        Neighbours then stay neighbours, so that what is read of the new parts is billed as if of the old ones.

        Implements: records written anew.
        """
        held = None if self._held is None else _through(f, self._held)
        return Split(_through(f, self._train), held, self._because, SEAL)

    @classmethod
    def whole(cls, data: Private[D]) -> "Split[D]":
        """Everything to train on, nothing held out: for checks that read no private data."""
        return cls(data, None, "nothing is held out", SEAL)


def split(data: Private[R], held: Real, noise: Noise) -> Split[R]:
    """Divide the records by an independent coin each; ``held`` is the chance of being held out.

    A record's side depends on its own coin alone, so adding or removing a record changes one part only. Cutting a
    shuffled table at a fixed share would not do: one more record moves the cut. Nor would coins that can be
    repeated, so a seeded split makes everything released from its parts NOT PRIVATE. Records in pieces have coins by a
    secret key, which come out alike in every pass.
    """
    share = exact(held, "held")
    if not 0 < share < 1:
        raise InvalidValue(f"held is {float(share):g}; it must lie strictly between 0 and 1.")

    def sides() -> tuple[R, R]:
        records = data.open(SEAL)
        if isinstance(records, Pieces):
            return records.divided(share, noise)
        coins = noise.coins(share, len(records))
        return records[~coins], records[coins]

    because = f"an independent coin per {data.neighbours.unit}"
    return _divide(*guarded(sides), data.neighbours, data.part, because, by=noise)


def keep_secret(self: object) -> NoReturn:
    """Refuse to be pickled or copied: for objects that hold secret noise, whose copy would forget its bill."""
    raise TypeError(f"{type(self).__name__} holds secret noise and cannot be pickled or copied; begin a new one.")


def _through(f: Callable[[D], E], side: Private[D]) -> Private[E]:
    return Private.of_part(guarded(lambda: f(side.open(SEAL))), side.neighbours, side.part, SEAL)


def _divide(train: D, held: D, neighbours: Neighbours, of: Part, because: str, *, by: Noise | None = None) -> Split[D]:
    division, seeded = object(), by is not None and by.seeded
    drawn = of.drawn or (by is not None and of.parent is None)
    sides = [Part(f"{of.label}/{label}", of, division, seeded, drawn) for label in ("train", "held")]
    sealed = [Private.of_part(data, neighbours, side, SEAL) for data, side in zip((train, held), sides, strict=True)]
    return Split(sealed[0], sealed[1], because, SEAL)
