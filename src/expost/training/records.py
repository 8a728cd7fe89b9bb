"""Records for a torch module: a dataset or a pair of tensors, read a batch at a time."""

from collections.abc import Iterator, Sized
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, TypeAlias, final

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import ConcatDataset, Dataset, IterableDataset, Subset, TensorDataset, default_collate

from expost.errors import SchemaMismatch
from expost.noise import Integers
from expost.training.overlap import is_array, rows_apart, same_content, shares_memory

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

    def require_apart(self, held: "Records") -> None:
        """Refuse to check on records that are trained on, as far as datasets say where they have theirs from.

        Looked through are subsets, concatenations, and datasets that hold another one, tensors, arrays or lists, an
        item of them per record. Records that happen to be equal are not the same; whole tensors of them are, and lists
        of names.
        """
        mine, others = (list(_origins(each.source, np.arange(each.size))) for each in (self, held))
        if any(one.meets(another) for one in mine for another in others):
            raise SchemaMismatch(
                "some of the records to check on, or all, are among those to train on; hold some out before training, "
                "and call none of them public."
            )

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


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Origin:
    """Something that holds an item for each record, and the places in it that are used."""

    holder: Any
    places: Integers

    def meets(self, other: "_Origin") -> bool:
        shifts = self._shifts(other)
        if shifts is None or not self._pieces().isdisjoint(other._pieces()):
            return True
        return any(len(np.intersect1d(self.places, other.places + shift)) for shift in shifts)

    def _pieces(self) -> set[int]:
        """Where the features of each record lie, if they are in a list: other lists may hold the same ones."""
        if not isinstance(self.holder, list | tuple):
            return set()
        items = (self.holder[place] for place in self.places.tolist())
        features = [item[0] if isinstance(item, list | tuple) and item else item for item in items]
        return {_address(each) for each in features} - {0}

    def _shifts(self, other: "_Origin") -> tuple[int, ...] | None:
        """What to add to places of the other to have them here; none if it holds other things, None if unknown."""
        mine, others = self.holder, other.holder
        if is_array(mine) and is_array(others) and shares_memory(mine, others):
            return rows_apart(mine, others)
        if is_array(mine) and is_array(others):
            same = mine.ndim > 1 and same_content(mine, others)  # labels of different people may well be the same
        else:
            same = mine is others or (_names(mine) and _names(others) and mine == others)
        return (0,) if same else ()


def _origins(source: Any, places: Integers, within: tuple[object, ...] = ()) -> Iterator[_Origin]:
    """All that can be found to hold the records at these places, from the outermost dataset inwards."""
    if any(source is each for each in within):
        return
    within = (*within, source)
    if isinstance(source, Subset):
        yield from _origins(source.dataset, _chosen(source, places), within)
    elif isinstance(source, ConcatDataset):
        ends = source.cumulative_sizes
        for part, start, end in zip(source.datasets, [0, *ends[:-1]], ends, strict=True):
            yield from _origins(part, places[(start <= places) & (places < end)] - start, within)
    else:
        yield _Origin(source, places)
        held = source.tensors if isinstance(source, TensorDataset) else tuple(getattr(source, "__dict__", {}).values())
        for each in held:
            nested = isinstance(each, Dataset) and isinstance(each, Sized)
            if (nested or isinstance(each, list | tuple) or (is_array(each) and each.ndim)) and len(each) == len(
                source
            ):
                yield from _origins(each, places, within) if nested else (_Origin(each, places),)


def _chosen(subset: Subset[Any], places: Integers) -> Integers:
    """The places of the whole that these places of the subset are; all of them if they are not numbers."""
    size = len(subset.dataset)  # type: ignore[arg-type]  # a subset of what has no size cannot be read either
    try:
        return np.asarray(subset.indices, np.int64)[places] % size
    except (TypeError, ValueError, OverflowError):
        return np.arange(size)


def _address(value: Any) -> int:
    """Where the numbers of an array, an image or a dictionary lie; 0 for others, which different people may share."""
    if is_array(value):
        return int(value.ctypes.data if isinstance(value, np.ndarray) else value.data_ptr()) if value.ndim else 0
    image = hasattr(type(value), "__array_interface__") and not isinstance(value, np.generic)
    return id(value) if image or isinstance(value, dict) else 0


def _names(value: object) -> bool:
    """Whether it is a list of names, of files for instance, each perhaps with a label: what tells records apart."""
    if not isinstance(value, list | tuple) or not value:
        return False
    first = value[0][0] if isinstance(value[0], list | tuple) and value[0] else value[0]
    return isinstance(first, str | PurePath)
