"""Scores of a torch module: how well it does on one record, from 0 to 1, by that record alone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Protocol, final

import numpy as np
import torch
from torch import Tensor

from expost.checks.question import as_typed
from expost.errors import InvalidValue
from expost.noise import Floats, Integers
from expost.numerics import Real

THOUSANDTHS = 1000
"""The grid of scores that are not just right or wrong."""


class Score(Protocol):
    """A whole number of steps of 1/``resolution`` for each record; the mean over the records is what must be reached.

    What must hold: a record's number depends on that record and the released module alone, and lies between 0 and
    ``resolution``. What outputs and labels must look like is refused by ValueError, going by their shapes and types.
    Implemented by Accuracy, BalancedAccuracy, OneLogit, Within, MultiLabel, PerToken and OwnScore.
    """

    @property
    def name(self) -> str:
        """What goes on record."""
        ...

    @property
    def resolution(self) -> int:
        """Steps from 0 to 1."""
        ...

    def steps(self, outputs: Tensor, labels: Tensor, threshold: Fraction) -> Integers:
        """The steps of each record, given the mean that is to be reached."""
        ...


@final
@dataclass(frozen=True, slots=True)
class Accuracy:
    """Right if the label is the class with the largest output: one output per class, whole numbers as labels."""

    name: ClassVar[str] = "accuracy"
    resolution: ClassVar[int] = 1

    def steps(self, outputs: Tensor, labels: Tensor, threshold: Fraction) -> Integers:
        """1 for a record whose class is predicted, 0 for another."""
        if outputs.dim() != 2 or outputs.shape[1] < 2 or labels.shape != outputs.shape[:1] or not _whole(labels):
            raise ValueError(
                "accuracy compares one output per class with a whole number per record; use OneLogit for one output, "
                "Within for labels that are measured, MultiLabel or PerToken for several labels"
            )
        return _integers(outputs.argmax(dim=1) == labels)


@final
@dataclass(frozen=True, slots=True)
class BalancedAccuracy:
    """The accuracy in which every class counts the same, by its public share of the records.

    A record of class c has the weight v = (least share)/(share of c), and scores t + v·(right − t) for the threshold t.
    So the sum of score − t is that of v·(right − t), which is at or above 0 just when the weighted accuracy reaches t.
    This is the balanced accuracy if the shares are those of the held-out records, and depends on no other record. Take
    the shares from public knowledge, never from the private records.
    """

    shares: tuple[Fraction, ...]
    resolution: ClassVar[int] = 10**4

    def __post_init__(self) -> None:
        object.__setattr__(self, "shares", tuple(as_typed(each, "share") for each in self.shares))
        if len(self.shares) < 2 or not all(0 < each < 1 for each in self.shares) or not 0.99 < sum(self.shares) < 1.01:
            raise InvalidValue("the shares are not those of at least two classes; give numbers above 0 that sum to 1.")

    @classmethod
    def of(cls, shares: Sequence[Real]) -> "BalancedAccuracy":
        """Shares from ordinary numbers, in the order of the classes."""
        return cls(tuple(as_typed(each, "share") for each in shares))

    @property
    def name(self) -> str:
        """With the shares, on which the score rests."""
        return f"balanced accuracy of classes with the shares {', '.join(str(each) for each in self.shares)}"

    def steps(self, outputs: Tensor, labels: Tensor, threshold: Fraction) -> Integers:
        """By class, and whether it is predicted, to the nearest step; a record of a class without a share has 0."""
        right = Accuracy().steps(outputs, labels, threshold)
        if outputs.shape[1] != len(self.shares):
            raise ValueError(f"there are shares for {len(self.shares)} classes; give one for each output")
        weights = [min(self.shares) / each for each in self.shares]
        table = np.array(
            [[round((threshold + v * (hit - threshold)) * self.resolution) for hit in (0, 1)] for v in weights]
            + [[0, 0]]
        )
        known = labels.cpu().numpy()
        return np.asarray(table[np.where((known >= 0) & (known < len(weights)), known, -1), right], np.int64)


@final
@dataclass(frozen=True, slots=True)
class OneLogit:
    """Right if the one output is above 0 just when the label is 1, as binary cross-entropy with logits trains it."""

    name: ClassVar[str] = "accuracy of one logit"
    resolution: ClassVar[int] = 1

    def steps(self, outputs: Tensor, labels: Tensor, threshold: Fraction) -> Integers:
        """1 for a record on whose side of 0 the output lies, 0 for another."""
        outputs, labels = _rows(outputs, labels)
        if outputs.shape[1] != 1:
            raise ValueError("there is more than one output per record; use Accuracy or MultiLabel")
        return _integers(((outputs > 0) == (labels > 0.5))[:, 0])


@final
@dataclass(frozen=True, slots=True)
class Within:
    """Right if every output lies within the tolerance of its label: regression."""

    tolerance: float
    resolution: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if not 0 < self.tolerance < float("inf"):
            raise InvalidValue(f"tolerance is {self.tolerance:g}; give a number above 0, in the unit of the labels.")

    @property
    def name(self) -> str:
        """With the tolerance."""
        return f"share within {self.tolerance:g}"

    def steps(self, outputs: Tensor, labels: Tensor, threshold: Fraction) -> Integers:
        """1 for a record that is met, 0 for another; NaN meets nothing."""
        outputs, labels = _rows(outputs, labels)
        return _integers(((outputs - labels).abs() <= self.tolerance).all(dim=1))


@final
@dataclass(frozen=True, slots=True)
class MultiLabel:
    """The share of a record's labels, 0 or 1 each, on whose side of 0 their output lies."""

    name: ClassVar[str] = "share of labels"
    resolution: ClassVar[int] = THOUSANDTHS

    def steps(self, outputs: Tensor, labels: Tensor, threshold: Fraction) -> Integers:
        """In thousandths, rounded down."""
        outputs, labels = _rows(outputs, labels)
        right = (outputs > 0) == (labels > 0.5)
        return _integers(right.sum(dim=1) * self.resolution // right.shape[1])


@final
@dataclass(frozen=True, slots=True)
class PerToken:
    """The share of a record's tokens whose label has the largest output; those with the label ``ignored`` are padding.

    Outputs are of shape (records, tokens, classes). A record of padding alone scores 0.
    """

    ignored: int = -100
    resolution: ClassVar[int] = THOUSANDTHS

    @property
    def name(self) -> str:
        """With the label of padding."""
        return f"share of tokens but those labelled {self.ignored}"

    def steps(self, outputs: Tensor, labels: Tensor, threshold: Fraction) -> Integers:
        """In thousandths, rounded down."""
        if outputs.dim() != 3 or labels.shape != outputs.shape[:2] or not _whole(labels):
            raise ValueError(
                "outputs are not (records, tokens, classes), or labels not whole numbers (records, tokens); let the "
                "module put out the classes last"
            )
        counted = labels != self.ignored
        right = ((outputs.argmax(dim=2) == labels) & counted).sum(dim=1)
        return _integers(right * self.resolution // counted.sum(dim=1).clamp(min=1))


@final
@dataclass(frozen=True, slots=True)
class OwnScore:
    """A number from 0 to 1 by a function of one record's output and label, which sees no other record.

    It is counted in thousandths, rounded down; NaN counts as 0, and what lies outside is clipped.
    """

    function: Callable[[Tensor, Tensor], float | Tensor]
    name: str = "own score"
    resolution: ClassVar[int] = THOUSANDTHS

    def steps(self, outputs: Tensor, labels: Tensor, threshold: Fraction) -> Integers:
        """Record by record."""
        found = [float(self.function(output, label)) for output, label in zip(outputs, labels, strict=True)]
        clipped = np.clip(np.nan_to_num(np.asarray(found, np.float64), nan=0.0), 0, 1)
        return np.floor(clipped * self.resolution).astype(np.int64)


def on_grid(steps: Integers, resolution: int) -> Floats:
    """Numbers that a question with this resolution takes for just these steps: each lies in the middle of its step."""
    return np.minimum((steps + 0.5) / resolution, 1.0)


def _rows(outputs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """A row of outputs and one of labels per record, which would otherwise be spread over each other."""
    rows, targets = (each.reshape(len(each), -1) for each in (outputs, labels))
    if rows.shape != targets.shape:
        raise ValueError("there is not one output for each label of a record")
    return rows, targets


def _whole(labels: Tensor) -> bool:
    return not labels.is_floating_point() and not labels.is_complex() and labels.dtype is not torch.bool


def _integers(numbers: Tensor) -> Integers:
    return numbers.cpu().numpy().astype(np.int64)
