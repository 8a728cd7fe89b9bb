"""Labelled records: features and the class of each, checked before any of them is used."""

import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from expost.errors import InvalidValue, Unreadable
from expost.noise import Integers, Noise
from expost.persons.people import People, numbered
from expost.private import Neighbours
from expost.text import is_missing

Features: TypeAlias = NDArray[np.float32]

AT_ONCE = 2**20
"""Numbers computed at a time where what is made of a row does not depend on the others."""
UNREADABLE = (OSError, ValueError, TypeError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)
"""What a file that is damaged, or of another kind, makes NumPy raise."""


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Labelled:
    """Features, one row per record, and labels 0 … classes − 1; ``of`` checks them.

    With ``people`` the records are persons, each with any number of rows.
    """

    features: Features
    labels: Integers
    people: People | None = None

    @classmethod
    def of(cls, features: ArrayLike, labels: ArrayLike, *, classes: int) -> "Labelled":
        """Arrays as records, refused by one sentence that shows none of their values."""
        try:
            with np.errstate(over="ignore"):  # what single precision cannot hold becomes infinite, and is refused
                rows, targets = np.asarray(features, np.float32), np.asarray(labels)
        except (TypeError, ValueError, OverflowError):
            raise InvalidValue("the features are not an array of numbers; give a row per record.") from None
        if rows.ndim != 2 or targets.shape != rows.shape[:1]:
            raise InvalidValue("features and labels do not match; give a row of features and a label per record.")
        if classes < 2:
            raise InvalidValue("there is only one class; a classifier needs at least two.")
        if not is_whole(targets) or (len(targets) and not 0 <= targets.min() <= targets.max() < classes):
            raise InvalidValue(f"a label is out of range; labels are the integers 0 … {classes - 1}.")
        if not all(np.isfinite(rows[some]).all() for some in in_turn(rows)):
            raise InvalidValue("a feature is NaN or infinite; fill or drop such records first.")
        return cls(rows, targets.astype(np.int64))

    @property
    def width(self) -> int:
        """Features per record."""
        return int(self.features.shape[1])

    def __len__(self) -> int:
        return len(self.labels) if self.people is None else len(self.people)

    def __getitem__(self, mask: NDArray[np.bool_], /) -> "Labelled":
        if self.people is None:
            return Labelled(self.features[mask], self.labels[mask])
        rows = self.people.rows_of(np.flatnonzero(mask))
        return Labelled(self.features[rows], self.labels[rows], self.people[mask])

    def __repr__(self) -> str:
        return "Labelled records"

    def of_persons(self, unit: ArrayLike, noise: Noise) -> "Labelled":
        """The same rows by whose they are, an identifier per row; of each person one row is drawn for checks."""
        people = People.of(numbered(unit)).drawn(noise)
        if len(people.rows) != len(self.labels):
            raise InvalidValue("the unit does not match the features; give one identifier per row.")
        return Labelled(self.features, self.labels, people)

    def with_features(self, features: Features) -> "Labelled":
        """The same records with other features."""
        return Labelled(features, self.labels, self.people)

    def blocks(self) -> Iterator["Labelled"]:
        """The records, some at a time and in order; persons with all their rows. One block at least, maybe empty."""
        step = max(1, AT_ONCE * len(self) // max(1, self.features.size))
        for start in range(0, max(1, len(self)), step):
            if self.people is None:
                yield Labelled(self.features[start : start + step], self.labels[start : start + step])
            else:
                places = np.arange(len(self))
                yield self[(places >= start) & (places < start + step)]

    def rows(self, places: Integers) -> "Labelled":
        """The rows at these places, whosever they are."""
        return Labelled(self.features[places], self.labels[places])

    @property
    def singles(self) -> "Labelled":
        """The rows of all who have a single one."""
        return self if self.people is None else self.rows(self.people.alone(np.arange(len(self))))

    def several(self, numbers: Callable[[int], int]) -> Iterator[tuple[int, "Labelled"]]:
        """The others, those with the same number of rows together: that number, and their rows, person by person.

        So many at a time as ``People.alike`` takes.
        """
        if self.people is not None:
            for size, places in self.people.alike(np.arange(len(self)), numbers):
                yield size, self.rows(places)

    def require(self, neighbours: Neighbours) -> None:
        """Refuse a bound on rows for persons, and one on persons where nobody says whose the rows are."""
        if (neighbours.unit == "person") is not (self.people is not None):
            raise InvalidValue(
                "the bound is about persons and the records are rows, or the other way round; give a unit to both."
            )

    def same_records(self, other: "Labelled") -> bool:
        """Whether both hold the same records, at least one, in any order."""
        if self.features.shape != other.features.shape or not len(self):
            return False
        return np.array_equal(self._sorted(), other._sorted())

    def _sorted(self) -> NDArray[np.void]:
        """Each record as its bytes, in the order of those."""
        whole = np.ascontiguousarray(np.column_stack([self.features, self.labels.astype(np.float32)]))
        return np.sort(whole.view(np.dtype((np.void, whole.itemsize * whole.shape[1]))).ravel())


def in_turn(rows: NDArray[np.generic]) -> Iterator[slice]:
    """All rows, some at a time: whatever is made of each by itself then takes little memory."""
    step = max(1, AT_ONCE // max(1, rows[:1].size))
    return (slice(start, start + step) for start in range(0, len(rows), step))


def is_whole(labels: NDArray[np.generic]) -> bool:
    """Whether labels are integers; durations, which NumPy counts among those, are not."""
    return labels.dtype.kind in "iu"


def read_npz(path: Path, names: Sequence[str] = ("features", "labels")) -> tuple[NDArray[np.generic], ...]:
    """Features and labels, or the arrays of these names, as an ``.npz`` file holds them."""
    try:
        if not path.is_file():  # a pipe might never end
            raise FileNotFoundError(path)
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in names if name in stored}
    except UNREADABLE:
        if is_missing(path):
            raise Unreadable(f"there is no file {path}; check its name.") from None
        raise Unreadable(f"cannot read {path} as an .npz file; save it with numpy.savez.") from None
    missing = [name for name in names if name not in arrays]
    if missing:
        raise Unreadable(
            f"{path} does not hold an array named {missing[0]}; save features, labels and a unit under their names."
        )
    return tuple(arrays[name] for name in names)
