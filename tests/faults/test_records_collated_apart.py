"""What type one record of a dataset has does not change how another is read.

The attack: a batch has one type, and a collate function chooses it by all of its records. Whole numbers become floats
of single precision beside one that is not whole, and are rounded.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import Dataset, default_collate

from expost.training.torch.records import Examples
from expost.training.torch.scores import OneLogit, Score
from expost.training.torch.trial import Batch
from tests.unit.training.modules import trainer

LARGE = 2**24 + 1
"""The smallest whole number that single precision does not hold."""
OTHERS = 100


class Listed(Dataset[Any]):
    """Records of whatever type they have."""

    def __init__(self, *records: Any) -> None:
        self._records = records

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, place: int) -> Any:
        return self._records[place]


class Odd(nn.Module):
    """Says whether a number is odd."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))

    def forward(self, numbers: Tensor) -> Tensor:
        return (numbers.reshape(-1, 1) % 2 - 0.5) * self.weight


MADE: dict[str, Callable[[float], Any]] = {
    "Python's own": lambda number: number,
    "arrays": lambda number: np.array([number], np.int64 if number == int(number) else np.float32),
    "tensors": lambda number: torch.tensor([number]),
}


def scores(given: Dataset[Any], score: Score) -> list[float]:
    """The score of each record, as a check has it."""
    found = trainer()._descent.scored(Odd(), Examples.of(given), score, Fraction(1, 2))
    return [float(each) for each in found]


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_a_record_of_another_type_leaves_the_scores_of_others_as_they_are(made: Callable[[float], Any]) -> None:
    others = [(made(LARGE), 1)] * OTHERS

    alone, together = scores(Listed(*others), OneLogit()), scores(Listed(*others, (made(0.5), 1)), OneLogit())

    assert together[:OTHERS] == alone


def test_labels_and_fields_by_name_are_read_apart_too() -> None:
    usual, odd = {"ids": LARGE, "labels": LARGE}, {"labels": 0.5, "ids": 0.5}

    (batch,) = Examples.of(Listed(usual, odd, usual)).batches(np.arange(3), 8)

    assert isinstance(batch.inputs, dict)
    assert batch.inputs["ids"].tolist() == [LARGE, 0, LARGE]
    assert batch.labels.tolist() == [LARGE, 0, LARGE]


def test_several_inputs_keep_their_places() -> None:
    (batch,) = Examples.of(Listed((1, 2.5, 0), (3, 4, 1))).batches(np.arange(2), 8)

    assert isinstance(batch.inputs, tuple)
    assert [each.tolist() for each in (*batch.inputs, batch.labels)] == [[1, 3], [2.5, 4.0], [0, 1]]


def test_collated_together_they_would_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative twin: one record moved the scores of all others in its batch."""

    def together(records: list[Any], like: object, unit: str | None) -> Batch:
        numbers, labels = default_collate(records)
        return Batch(numbers, labels)

    monkeypatch.setattr("expost.training.torch.records.collated", together)
    others = [(LARGE, 1)] * OTHERS

    alone, moved = scores(Listed(*others), OneLogit()), scores(Listed(*others, (0.5, 1)), OneLogit())

    assert sum(one != another for one, another in zip(alone, moved, strict=False)) == OTHERS
