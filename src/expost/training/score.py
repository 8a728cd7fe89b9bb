"""Scores: what a trained head predicts, and how accurate that must be on records it has not seen."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from expost.checks.question import accuracy_threshold
from expost.errors import SchemaMismatch
from expost.noise import Floats, Integers
from expost.numerics import Real
from expost.training.labelled import Features, Labelled


@final
@dataclass(frozen=True, slots=True)
class Target:
    """An accuracy to reach: the share of records predicted right."""

    threshold: Fraction


def accuracy(value: Real) -> Target:
    """The accuracy as the decimal that was typed."""
    return Target(accuracy_threshold(value))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Classifier:
    """A linear head: a row of weights for each class, the bias last, on features scaled to length 1."""

    weights: NDArray[np.float64]

    def predict(self, features: ArrayLike) -> Integers:
        """The likeliest class of each row; rows of any length."""
        return self.predict_unit(unit(np.asarray(features, np.float32)))

    def predict_unit(self, rows: Features) -> Integers:
        """The same for rows that are scaled already."""
        if rows.ndim != 2 or rows.shape[1] + 1 != self.weights.shape[1]:
            raise SchemaMismatch(f"this head reads rows of {self.weights.shape[1] - 1} features; give as many.")
        return np.asarray(np.argmax(rows @ self.weights[:, :-1].T + self.weights[:, -1], axis=1), np.int64)

    def save(self, path: Path) -> None:
        """Write ``weights`` and ``bias`` to an ``.npz`` file."""
        np.savez(path, weights=self.weights[:, :-1], bias=self.weights[:, -1])

    @classmethod
    def load(cls, path: Path) -> "Classifier":
        """What ``save`` wrote."""
        with np.load(path, allow_pickle=False) as stored:
            return cls(np.column_stack([stored["weights"], stored["bias"]]))


def unit(features: Features) -> Features:
    """Each row scaled to length 1, zero rows left alone: a record's own affair, so it costs nothing."""
    lengths = np.linalg.norm(features.astype(np.float64), axis=1, keepdims=True)
    return np.asarray(features / np.where(lengths > 0, lengths, 1.0), np.float32)


def correct(head: Classifier, held: Labelled) -> Floats:
    """1 for a record whose class is predicted, 0 for another; the features are scaled already."""
    return np.asarray(head.predict_unit(held.features) == held.labels, np.float64)
