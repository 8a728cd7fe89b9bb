"""Records for a torch module: a dataset or a pair of tensors, read a batch at a time."""

from collections.abc import Callable, Iterator, Mapping, Sized
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import PurePath
from typing import Any, TypeAlias, final

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import ConcatDataset, Dataset, IterableDataset, Subset, TensorDataset, default_collate

from expost.errors import InvalidValue, NotDisjoint
from expost.judge import Judge, OnPublic
from expost.noise import Integers
from expost.storage import is_array, shares_memory
from expost.training.overlap import rows_apart, same_content
from expost.training.torch.inputs import separate, tensors
from expost.training.torch.trial import Batch

Given: TypeAlias = Dataset[Any] | tuple[Tensor, ...] | Mapping[str, Tensor]
"""Records as a user has them: a map-style dataset, or all of them as tensors, by place or by name.

Each is (features, label), several inputs and then the label, or a mapping with a field 'labels' or 'label'.
"""


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Examples:
    """Inputs and labels that are read a batch at a time; ``columns`` are all of them, where they are tensors."""

    source: Any
    size: int
    columns: Batch | None = None

    @classmethod
    def of(cls, given: Given) -> "Examples":
        """Records from a dataset or from tensors, refused by one sentence that shows none of them."""
        match given:
            case TensorDataset():
                return cls.of(given.tensors)
            case tuple() if len(given) > 1 and all(isinstance(each, Tensor) for each in given):
                return cls._of_columns(Batch(*separate(given)))
            case Mapping():
                return cls._of_columns(Batch(*separate(given)))
            case IterableDataset() | list() | tuple() | str() | bytes() | np.ndarray() | Tensor():
                pass
            case Sized() if hasattr(given, "__getitem__"):
                return cls(given, len(given))
        raise InvalidValue("these are not records; give a map-style Dataset or a tuple of features and labels.")

    @classmethod
    def held_out(cls, on: Given | None, check: Judge) -> "Examples":
        """The records to check on: private ones, or those of a public check, and never both."""
        given = check.records if isinstance(check, OnPublic) else on
        if given is None or (isinstance(check, OnPublic) and on is not None):
            raise InvalidValue("give held-out records as on=..., or public ones as check=OnPublic(...), and not both.")
        return cls.of(given)

    @classmethod
    def _of_columns(cls, columns: Batch) -> "Examples":
        labels, inputs = columns.labels, tuple(tensors(columns.inputs))
        if any(not each.dim() or each.shape[:1] != labels.shape[:1] for each in (*inputs, labels)):
            raise InvalidValue("features and labels do not match; give a row and a label per record.")
        if labels.shape[1:] == (1,):
            raise InvalidValue("labels are in a column of their own; give labels.squeeze(1), one per record.")
        return cls(TensorDataset(*inputs, labels), len(labels), columns)

    def require_apart(self, held: "Examples") -> None:
        """Refuse to check on records that are trained on, as far as datasets show where theirs come from.

        Looked through are subsets, concatenations, and datasets that hold another one, tensors, arrays or lists, an
        item of them per record. Records that happen to be equal are not the same; whole tensors of them are, and lists
        of names.
        """
        mine, others = (list(_origins(each.source, np.arange(each.size))) for each in (self, held))
        if any(one.meets(another) for one in mine for another in others):
            raise NotDisjoint(
                "some or all of the records to check on are among those to train on; hold some out before training, "
                "and do not call them public."
            )

    def require_once(self) -> None:
        """Refuse records of which one comes several times: its share is bounded for a record that comes once.

        Looked through are subsets and concatenations; records of one dataset that are equal are not the same.
        """
        leaves: dict[int, tuple[Any, list[Integers]]] = {}
        for leaf, places in _leaves(self.source, np.arange(self.size)):
            leaves.setdefault(id(leaf), (leaf, []))[1].append(places)
        merged = [(leaf, np.concatenate(places)) for leaf, places in leaves.values()]
        origins = [list(_origins(leaf, places)) for leaf, places in merged]
        twice = any(len(np.unique(places)) < len(places) for _, places in merged)
        if twice or any(
            one.meets(another) for mine, others in combinations(origins, 2) for one in mine for another in others
        ):
            raise NotDisjoint("a record occurs several times in these datasets; give each record once.")

    def __len__(self) -> int:
        return self.size

    @property
    def uniform(self) -> bool:
        """Whether the shape of a record is known without reading one."""
        return self.columns is not None

    def shaped(self) -> Batch:
        """A batch of one with the shape and the type of a record, which count as public, and no values of it."""
        if self.columns is not None:
            return self.columns.transform(lambda each: each.new_zeros((1, *each.shape[1:])))
        collated: Any = None
        with suppress(Exception):  # whatever it is, what it says may show the record
            collated = default_collate([self.source[0]])
        if collated is None:
            raise InvalidValue("the first record cannot be read; let each item of the dataset be (features, label).")
        return Batch(*separate(collated)).transform(torch.zeros_like)

    def batches(self, places: Integers, at_once: int) -> Iterator[Batch]:
        """The records at these places, in groups of this size; each is read as the type that is public."""
        like = None if self.columns is not None or not len(places) else self.shaped()
        for start in range(0, len(places), at_once):
            some = places[start : start + at_once]
            if self.columns is not None:
                yield self.columns.at(some.tolist())
            elif like is not None:
                yield collated([self.source[place] for place in some.tolist()], like)


def collated(records: list[Any], like: Batch) -> Batch:
    """The records as a batch, each made a tensor by itself: all together would have a type that one of them chooses."""
    apart = [Batch(*separate(default_collate([each]))) for each in records]

    def joined(field: Callable[[Batch], Tensor]) -> Tensor:
        return torch.cat([field(each).to(field(like).dtype) for each in apart])

    labels = joined(lambda each: each.labels)
    match like.inputs:
        case dict() as named:
            return Batch({name: joined(partial(_field, name=name)) for name in named}, labels)
        case tuple() as several:
            return Batch(tuple(joined(partial(_field, name=place)) for place in range(len(several))), labels)
    return Batch(joined(partial(_field, name=None)), labels)


def _field(batch: Batch, name: Any) -> Tensor:
    inputs: Any = batch.inputs
    found: Tensor = inputs if name is None else inputs[name]
    return found


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


def _leaves(source: Any, places: Integers) -> Iterator[tuple[Any, Integers]]:
    """The datasets that subsets and concatenations are made of, and the places in them."""
    if isinstance(source, Subset):
        yield from _leaves(source.dataset, _chosen(source, places))
    elif isinstance(source, ConcatDataset):
        ends = source.cumulative_sizes
        for part, start, end in zip(source.datasets, [0, *ends[:-1]], ends, strict=True):
            yield from _leaves(part, places[(start <= places) & (places < end)] - start)
    else:
        yield source, places


def _origins(source: Any, places: Integers, within: tuple[object, ...] = ()) -> Iterator[_Origin]:
    """All that can be found to hold the records at these places, from the outermost dataset inwards."""
    for leaf, chosen in _leaves(source, places):
        if any(leaf is each for each in within):
            continue
        yield _Origin(leaf, chosen)
        held = leaf.tensors if isinstance(leaf, TensorDataset) else tuple(getattr(leaf, "__dict__", {}).values())
        for each in held:
            nested = isinstance(each, Dataset) and isinstance(each, Sized)
            listed = isinstance(each, list | tuple) or (is_array(each) and each.ndim)
            if (nested or listed) and len(each) == len(leaf):
                yield from _origins(each, chosen, (*within, leaf)) if nested else (_Origin(each, chosen),)


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
