"""Features to fine-tune on: from a file, or scikit-learn's digits, which are always there; drawn anew each repeat."""

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from expost.errors import InvalidValue, Unreadable
from expost.jobs.finetuning.wanted import Shape
from expost.noise import Noise
from expost.training import Labelled
from expost.training.head.labelled import read_npz
from expost.training.head.score import unit

NAMES = (("train_features", "train_labels"), ("test_features", "test_labels"))
DIGITS = "scikit-learn's digits, pixels as features"


class Source(NamedTuple):
    """Where features come from, as a key of repeats: a path and a digest of its content, both empty for the digits."""

    path: str = ""
    digest: str = ""

    @classmethod
    def file(cls, path: Path) -> "Source":
        """A file as it is now."""
        return cls(str(path.resolve()), hashlib.sha256(path.read_bytes()).hexdigest())


@final
@dataclass(frozen=True, eq=False)
class Pool:
    """Records to draw from, and a test set; every feature row has length 1."""

    records: Labelled
    test: Labelled
    classes: int

    @property
    def shape(self) -> Shape:
        """The head that these records call for."""
        return Shape(self.records.width, self.classes)

    def draw(self, each: int, noise: Noise) -> tuple[Labelled, Labelled]:
        """So many records of each class to train on, and as many others to validate on."""
        train, held = (np.zeros(len(self.records), dtype=bool) for _ in range(2))
        for code in range(self.classes):
            places = np.flatnonzero(self.records.labels == code)
            if len(places) < 2 * each:
                raise InvalidValue(f"a class has fewer than {2 * each} records to draw from; give more, or draw fewer.")
            mixed = places[np.argsort(noise.uniform(places.shape))]
            train[mixed[:each]] = held[mixed[each : 2 * each]] = True
        return self.records[train], self.records[held]


def pool(source: Source) -> Pool:
    """The records of the source; a file holds features and labels, of training and of test records."""
    return _pool(source.path, source.digest)


@cache
def _pool(path: str, digest: str) -> Pool:
    if not path:
        return _digits()
    features, labels = zip(*(read_npz(Path(path), names) for names in NAMES), strict=True)
    if any(not np.issubdtype(each.dtype, np.integer) or not each.size for each in labels):
        raise Unreadable(f"{path} has no whole numbers as labels; use 0, 1, 2, … for the classes.")
    classes = 1 + max(int(each.max()) for each in labels)
    records, test = (_labelled(rows, codes, classes) for rows, codes in zip(features, labels, strict=True))
    if records.width != test.width:
        raise Unreadable(f"{path} has training and test records of different widths; use one network for both.")
    return Pool(records, test, classes)


def _digits() -> Pool:
    """Every third digit is for testing."""
    found = load_digits()
    every = _labelled(found.data, found.target, 10)
    third = np.arange(len(every)) % 3 == 0
    return Pool(every[~third], every[third], 10)


def _labelled(features: NDArray[np.generic], labels: NDArray[np.generic], classes: int) -> Labelled:
    checked = Labelled.of(features, labels, classes=classes)
    return Labelled(unit(checked.features), checked.labels)
