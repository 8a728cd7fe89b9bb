"""Labelled records on their way to be read: checked, and nothing of them in what goes wrong."""

from pathlib import Path
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike

from expost.accounting.descent import MOST_ENTRIES
from expost.errors import InvalidValue, NotDisjoint
from expost.noise import Noise
from expost.storage import is_array, shares_memory
from expost.training.head.labelled import Labelled, is_whole, read_npz
from expost.training.unshown import read_quietly

SAME = "the public records are those to train on, or some of them; check on others, or hold out a share, as by 0.5."

Source: TypeAlias = ArrayLike | str | Path
"""Features, or the path of an ``.npz`` file that holds them and their labels."""


@final
class Hidden:
    """Records that show nothing of themselves, read when all else is settled."""

    __slots__ = ("_features", "_labels", "_owners")

    def __init__(self, features: Source, labels: ArrayLike | None = None, owners: ArrayLike | None = None) -> None:
        self._features, self._labels, self._owners = features, labels, owners

    def __repr__(self) -> str:
        return "labelled records"

    def require_both(self) -> None:
        """Refuse features without labels, labels beside a file that holds them, and a unit that is not given alike."""
        if isinstance(self._features, str | Path):
            if self._labels is not None:
                raise InvalidValue("the file holds the labels; leave them out, or give features and labels as arrays.")
            if self._owners is not None and not isinstance(self._owners, str):
                raise InvalidValue("the features are in a file; name the array of that file that is the unit.")
        elif self._labels is None:
            raise InvalidValue("there are no labels; give them beside the features, or name an .npz file with both.")
        elif isinstance(self._owners, str):
            raise InvalidValue("the features are an array; give the unit as an array too, one identifier per row.")

    def require_apart(self, public: "Hidden") -> None:
        """Refuse public records that are the private ones or a view of them; files are told apart once read."""
        mine, others = self._features, public._features
        if mine is others or (is_array(mine) and is_array(others) and shares_memory(mine, others)):
            raise NotDisjoint(SAME)

    def read(self, classes: int | None, noise: Noise) -> tuple[Labelled, int]:
        """The records, and how many classes they have: as many as are said, or are found.

        With a unit they are persons, of each of whom one row is drawn for checks.
        """
        self.require_both()
        return read_quietly(lambda: self._checked(classes, noise))

    def _checked(self, classes: int | None, noise: Noise) -> tuple[Labelled, int]:
        features, labels, owners = self._arrays()
        number = _counted(labels) if classes is None else classes
        records = Labelled.of(features, labels, classes=number)
        if not len(records):
            raise InvalidValue("there are no records; give some to train on.")
        if number * (records.width + 1) > MOST_ENTRIES:
            raise InvalidValue(
                "the head would be too large; number the classes 0, 1, 2 and so on, or use fewer features."
            )
        return records if owners is None else records.of_persons(owners, noise), number

    def _arrays(self) -> tuple[ArrayLike, ArrayLike, ArrayLike | None]:
        if isinstance(self._features, str | Path):
            named = () if self._owners is None else (str(self._owners),)
            features, labels, *owners = read_npz(Path(self._features), ("features", "labels", *named))
            return features, labels, owners[0] if owners else None
        assert self._labels is not None  # both were required
        return self._features, self._labels, self._owners


def shown(records: Any) -> Hidden:
    """Public records on their way to be read: a file, checked already, or a pair of features and labels."""
    match records:
        case Labelled():
            return Hidden(records.features, records.labels)
        case str() | Path():
            return Hidden(records)
        case (features, labels):
            return Hidden(features, labels)
    raise InvalidValue("the public records are not a pair; give their features and their labels.")


def _counted(labels: ArrayLike) -> int:
    """The largest label and 1."""
    try:
        found = np.asarray(labels)
    except (TypeError, ValueError):
        raise InvalidValue("the labels are not an array; give a class number per record.") from None
    if not is_whole(found) or (found.size and found.min() < 0):
        raise InvalidValue("a label is not a class number; number the classes 0, 1, 2 and so on.")
    return int(found.max()) + 1 if found.size else 2
