"""Records for a torch module: a dataset or a pair of tensors, read a batch at a time."""

from collections.abc import Iterator, Sized
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import torch
from torch import Tensor
from torch.utils.data import Dataset, IterableDataset, TensorDataset, default_collate

from expost.errors import SchemaMismatch
from expost.noise import Integers

Given: TypeAlias = Dataset[tuple[Tensor, Tensor]] | tuple[Tensor, Tensor]
"""Records as a user has them: a map-style dataset of (features, label), or both as tensors."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Public:
    """Held-out records that anybody may see: checks on them are free."""

    records: Given


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Records:
    """Features and labels that are read a batch at a time."""

    source: Dataset[Any]
    size: int

    @classmethod
    def of(cls, given: Given) -> "Records":
        """Records from a dataset or a pair of tensors, refused by one sentence that shows none of them."""
        match given:
            case (Tensor() as features, Tensor() as labels):
                if not features.dim() or labels.shape[:1] != features.shape[:1]:
                    raise SchemaMismatch("features and labels do not match; give a row and one label a record.")
                if labels.shape[1:] == (1,):
                    raise SchemaMismatch("labels are in a column of their own; give labels.squeeze(1), one a record.")
                return cls(TensorDataset(features, labels), len(features))
            case TensorDataset(tensors=(features, labels)):
                return cls.of((features, labels))
            case Dataset() if isinstance(given, Sized) and not isinstance(given, IterableDataset):
                return cls(given, len(given))
        raise SchemaMismatch("these are no records; give a map-style Dataset or a tuple of features and labels.")

    @property
    def marks(self) -> frozenset[int]:
        """Which objects the records come from."""
        parts = self.source.tensors if isinstance(self.source, TensorDataset) else (self.source,)
        return frozenset(id(part) for part in parts)

    def __len__(self) -> int:
        return self.size

    @property
    def uniform(self) -> bool:
        """Whether the shape of a record is known without reading one."""
        return isinstance(self.source, TensorDataset)

    def shaped(self) -> tuple[Tensor, Tensor]:
        """A batch of one with the shape and the type of a record, which count as public, and no values of it."""
        if isinstance(self.source, TensorDataset):
            features, labels = (each.new_zeros((1, *each.shape[1:])) for each in self.source.tensors)
            return features, labels
        with suppress(Exception):  # whatever it is, what it says may show the record
            features, labels = (torch.zeros_like(each) for each in default_collate([self.source[0]]))
            return features, labels
        raise SchemaMismatch("the first record cannot be read; let each item of the dataset be (features, label).")

    def batches(self, places: Integers, at_once: int) -> Iterator[tuple[Tensor, Tensor]]:
        """The records at these places, so many at once."""
        for start in range(0, len(places), at_once):
            some = places[start : start + at_once]
            if isinstance(self.source, TensorDataset):
                features, labels = (each[torch.from_numpy(some)] for each in self.source.tensors)
            else:
                features, labels = default_collate([self.source[place] for place in some.tolist()])
            yield features, labels
