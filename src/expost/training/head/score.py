"""Scores: what a trained head predicts, and how accurate that must be on records it has not seen."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from expost.checks.question import accuracy_threshold
from expost.errors import InvalidValue
from expost.noise import Floats, Integers
from expost.norms import row_norms
from expost.numerics import Real
from expost.training.head.labelled import Features, Labelled

GRID = 2.0**16
"""Steps to 1 of features and weights when classes are predicted: their products are added up exactly, so that what is
predicted for one record never hangs on the others."""
LARGEST_WEIGHT = 2.0**8
"""Where weights are cut when classes are predicted: sums then stay below 2**53 for ten million features."""


@final
@dataclass(frozen=True, slots=True)
class Target:
    """An accuracy to reach: the share of records predicted right, or the mean of another score."""

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
            raise InvalidValue(
                f"this head reads rows of {self.weights.shape[1] - 1} features; give rows of that length."
            )
        weights = np.round(np.clip(np.nan_to_num(self.weights), -LARGEST_WEIGHT, LARGEST_WEIGHT) * GRID)
        scores = np.round(rows.astype(np.float64) * GRID) @ weights[:, :-1].T + weights[:, -1] * GRID
        return np.asarray(np.argmax(scores, axis=1), np.int64)

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
    lengths = row_norms(features)[:, None]
    return np.asarray(features / np.where(lengths > 0, lengths, 1.0), np.float32)


def classified(head: Classifier, held: Labelled) -> Floats:
    """1 for a record whose class is predicted, 0 for another; the features are scaled already.

    Of a person with several rows it is the one that was drawn beforehand.
    """
    if held.people is not None:
        held = held.rows(held.people.judged)
    return np.asarray(head.predict_unit(held.features) == held.labels, np.float64)
