"""Records that are trained on, given again to check on: refused, whether called public or held out."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils.data import ConcatDataset, Dataset, Subset, TensorDataset

import expost
from expost.errors import NotDisjoint
from expost.judge import OnPublic
from expost.noise import SeededNoise
from expost.training.head.labelled import Labelled
from expost.training.head.score import accuracy
from expost.training.overlap import same_data
from tests.unit.training.modules import Pair, against, trainer

torch.manual_seed(3)
FEATURES, LABELS = torch.rand(600, 64), torch.arange(600) % 10
TENSORS = TensorDataset(FEATURES, LABELS)


class Rows(Dataset[Pair]):
    """Records as a dataset of somebody's own holds them."""

    def __init__(self, features: Tensor, labels: Tensor) -> None:
        self.features, self.labels = features, labels

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, place: int) -> Pair:
        return self.features[place], self.labels[place]


class Changed(Dataset[Pair]):
    """Another dataset, each record changed on its way."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __len__(self) -> int:
        return len(self.inner)

    def __getitem__(self, place: int) -> Pair:
        features, label = self.inner[place]
        return 1 - features, label


class Images(Dataset[Pair]):
    """Records that are read from files, by name."""

    def __init__(self, folder: str) -> None:
        self.samples = [(f"{folder}/{place}.png", place % 10) for place in range(600)]

    def __len__(self) -> int:
        return 600

    def __getitem__(self, place: int) -> Pair:
        return torch.full((64,), place / 600), torch.tensor(self.samples[place][1])


class Listed(Dataset[Pair]):
    """Records as a list holds them, one by one."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, place: int) -> Pair:
        features, label = self.items[place]
        return torch.as_tensor(features), torch.as_tensor(label)


def pair(features: Tensor) -> Pair:
    return features, LABELS[: len(features)].clone()


ROWS = Rows(FEATURES, LABELS)
ITEMS = [(features.clone(), np.int64(label)) for features, label in zip(FEATURES, LABELS.tolist(), strict=True)]
FIRST, LAST = range(400), range(400, 600)

SAME: dict[str, tuple[Any, Any]] = {
    "the same tensors": ((FEATURES, LABELS), (FEATURES, LABELS)),
    "a dataset of the same tensors": ((FEATURES, LABELS), TENSORS),
    "a view": ((FEATURES, LABELS), pair(FEATURES.view(600, 64))),
    "a slice": ((FEATURES, LABELS), pair(FEATURES[100:150])),
    "slices that meet": (pair(FEATURES[:400]), pair(FEATURES[399:])),
    "every third": (pair(FEATURES[::2]), pair(FEATURES[::3])),
    "some of the columns": ((FEATURES, LABELS), pair(FEATURES[:, 3:])),
    "the same labels": ((FEATURES, LABELS), (torch.rand(600, 64), LABELS)),
    "a copy": ((FEATURES, LABELS), pair(FEATURES.clone())),
    "the same dataset": (ROWS, ROWS),
    "a subset of it": (ROWS, Subset(ROWS, LAST)),
    "subsets that meet": (Subset(ROWS, FIRST), Subset(ROWS, [399, 500])),
    "subsets of subsets": (Subset(Subset(ROWS, LAST), [7]), Subset(ROWS, [407])),
    "counted from the end": (Subset(ROWS, [-1, 3]), Subset(ROWS, [599])),
    "part of a concatenation": (ConcatDataset([Images("a"), ROWS]), Subset(ROWS, [5])),
    "two concatenations": (
        Subset(ConcatDataset([ROWS, Images("a")]), [3]),
        Subset(ConcatDataset([Images("b"), ROWS]), [603]),
    ),
    "subsets of datasets of one tensor": (Subset(Rows(FEATURES, LABELS), FIRST), Subset(TENSORS, [399])),
    "of a slice of it": (Subset(ROWS, [410]), Subset(Rows(FEATURES[400:], LABELS[400:]), [10])),
    "changed on the way": (Subset(Changed(ROWS), FIRST), Changed(Subset(ROWS, [399]))),
    "the same files": (Subset(Images("a"), FIRST), Subset(Images("a"), [0])),
    "places that are not numbers": (ROWS, Subset(ROWS, ["first"])),  # type: ignore[list-item]  # as a mapping may have
    "one list": (Listed(ITEMS), Listed(ITEMS)),
    "lists of the same items": (Listed(ITEMS), Listed(list(ITEMS))),
    "slices of a list that meet": (Listed(ITEMS[:400]), Listed(ITEMS[399:])),
    "items of the same arrays": (Listed(ITEMS), Listed([(each.numpy(), label) for each, label in ITEMS[-9:]])),
    "subsets of one list": (Subset(Listed(ITEMS), FIRST), Subset(Listed(ITEMS), [399])),
    "a copy held by a dataset": (Subset(ROWS, FIRST), Subset(Rows(FEATURES.clone(), LABELS), [0])),
}


@pytest.mark.parametrize("kind", [OnPublic, lambda records: records], ids=["public", "held out"])
@pytest.mark.parametrize(("data", "on"), SAME.values(), ids=SAME)
def test_records_to_train_on_are_not_checked_on(data: Any, on: Any, kind: Callable[[Any], Any]) -> None:
    job = trainer(data, batch=1)

    with pytest.raises(NotDisjoint, match="are among those to train on; hold some out") as refused:
        job.begin(accuracy(0.5), **against(kind(on)), releases=2, every="1 step")

    assert str(refused.value).count("\n") == 0
    assert not job.ledger.lines


APART: dict[str, tuple[Any, Any]] = {
    "slices of one tensor": (pair(FEATURES[:400]), pair(FEATURES[400:])),
    "every other record": (pair(FEATURES[::2]), pair(FEATURES[1::2])),
    "other numbers": ((FEATURES, LABELS), pair(1 - FEATURES)),
    "equal labels, other tensors": ((FEATURES, LABELS), (torch.rand(600, 64), LABELS.clone())),
    "subsets that do not meet": (Subset(ROWS, FIRST), Subset(ROWS, LAST)),
    "each with changes of its own": (Subset(Changed(ROWS), FIRST), Subset(ROWS, LAST)),
    "of datasets of one tensor": (Subset(Rows(FEATURES, LABELS), FIRST), Subset(TENSORS, LAST)),
    "parts of a concatenation": (
        Subset(ConcatDataset([Images("a"), ROWS]), range(600)),
        Subset(ConcatDataset([Images("a"), ROWS]), range(600, 1200)),
    ),
    "the same folder, other files": (Subset(Images("a"), FIRST), Subset(Images("a"), LAST)),
    "other folders": (Images("a"), Images("b")),
    "slices of a list": (Listed(ITEMS[:400]), Listed(ITEMS[400:])),
    "subsets of one list": (Subset(Listed(ITEMS), FIRST), Subset(Listed(ITEMS), LAST)),
    "copies of each item": (Listed(ITEMS), Listed([(each.clone(), label) for each, label in ITEMS])),
}


@pytest.mark.parametrize(("data", "on"), APART.values(), ids=APART)
def test_records_that_are_held_out_or_other_peoples_are_checked_on(data: Any, on: Any) -> None:
    trainer(data, batch=1).begin(accuracy(0.5), on=on, releases=2, every="1 step")


ARRAY = np.random.default_rng(3).random((60, 5))
CLASSES = np.arange(60) % 3


def finetuned(features: Any, validation: Any) -> None:
    expost.finetune(
        features, CLASSES[: len(features)], accuracy=0.1, check=OnPublic(validation), noise=SeededNoise(1), releases=1
    )


@pytest.mark.parametrize(
    "validation",
    [
        (ARRAY, CLASSES),
        (ARRAY[:20], CLASSES[:20]),
        (ARRAY[::-1], CLASSES),
        (ARRAY.copy(), CLASSES),
        (ARRAY.tolist(), CLASSES),
        (torch.from_numpy(ARRAY)[5:], CLASSES[5:]),
        (2 * ARRAY, CLASSES),  # the same once rows are scaled to length 1
    ],
    ids=["the array", "a slice", "turned round", "a copy", "a list", "a tensor on it", "scaled"],
)
def test_a_head_is_not_checked_on_the_records_it_was_trained_on(validation: Any) -> None:
    with pytest.raises(NotDisjoint, match="the public records are those to train on, or some of them"):
        finetuned(ARRAY, validation)


def test_nor_on_the_file_they_came_from(tmp_path: Path) -> None:
    path = tmp_path / "records.npz"
    np.savez(path, features=ARRAY, labels=CLASSES)

    with pytest.raises(NotDisjoint, match="the public records are those to train on"):
        expost.finetune(path, accuracy=0.1, check=OnPublic(path), noise=SeededNoise(1), releases=1)
    with pytest.raises(NotDisjoint, match="the public records are those to train on"):
        finetuned(ARRAY, path)


def test_but_on_others_it_is() -> None:
    finetuned(ARRAY[:40], (ARRAY[40:], CLASSES[40:]))
    finetuned(ARRAY, Labelled.of(ARRAY[:, ::-1], CLASSES, classes=3))


def test_arrays_and_tensors_are_told_apart_by_memory_and_content() -> None:
    tensor = torch.from_numpy(ARRAY)
    other = ARRAY.copy()
    other[59, 4] += 1e-9

    assert same_data(ARRAY, tensor)
    assert same_data(tensor[3:9], ARRAY[8:20])
    assert same_data(tensor.clone(), ARRAY)
    assert same_data(torch.full((3,), torch.nan), torch.full((3,), torch.nan))
    assert same_data(FEATURES.bfloat16(), FEATURES.bfloat16())
    assert not same_data(tensor, other)
    assert not same_data(tensor[:, ::2], ARRAY[:, 1::2])
    assert not same_data(ARRAY, ARRAY.astype(np.float32))
    assert not same_data(np.zeros((0, 5)), np.zeros((0, 5)))
