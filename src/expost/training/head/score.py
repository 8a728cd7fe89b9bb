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
from expost.training.head.labelled import Features, Labelled, in_turn

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
        found = np.empty(len(rows), np.int64)
        for some in in_turn(rows):
            scores = np.round(rows[some].astype(np.float64) * GRID) @ weights[:, :-1].T + weights[:, -1] * GRID
            found[some] = np.argmax(scores, axis=1)
        return found

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
    return _scaled(features, np.empty(features.shape, np.float32))


def of_length_one(data: Labelled) -> Labelled:
    """The same records, each scaled to length 1."""
    return data.with_features(unit(data.features))


def made_length_one(data: Labelled) -> Labelled:
    """The same, written over what they were: for one side of a division, whose features nobody else has."""
    return data.with_features(_scaled(data.features, data.features))


def _scaled(features: Features, found: Features) -> Features:
    """Rows scaled to length 1, some at a time, into an array that may be the same one."""
    for some in in_turn(features):
        lengths = row_norms(features[some])[:, None]
        found[some] = features[some] / np.where(lengths > 0, lengths, 1.0)
    return found


def classified(head: Classifier, held: Labelled) -> Floats:
    """1 for a record whose class is predicted, 0 for another; the features are scaled already.

    Of a person with several rows it is the one that was drawn beforehand.
    """
    if held.people is not None:
        held = held.rows(held.people.judged)
    return np.asarray(head.predict_unit(held.features) == held.labels, np.float64)
