"""Where the records of a dataset come from, as far as it shows: what tells whether two datasets share some."""

from collections.abc import Iterator, Sized
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, final

import numpy as np
from torch.utils.data import ConcatDataset, Dataset, Subset, TensorDataset

from expost.noise import Integers
from expost.storage import is_array, shares_memory
from expost.training.overlap import rows_apart, same_content


@final
@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """Something that holds an item for each record, and the places in it that are used."""

    holder: Any
    places: Integers

    def meets(self, other: "Origin") -> bool:
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

    def _shifts(self, other: "Origin") -> tuple[int, ...] | None:
        """What to add to places of the other to have them here; none if it holds other things, None if unknown."""
        mine, others = self.holder, other.holder
        if is_array(mine) and is_array(others) and shares_memory(mine, others):
            return rows_apart(mine, others)
        if is_array(mine) and is_array(others):
            same = mine.ndim > 1 and same_content(mine, others)  # labels of different people may well be the same
        else:
            same = mine is others or (_names(mine) and _names(others) and mine == others)
        return (0,) if same else ()


def leaves_of(source: Any, places: Integers) -> Iterator[tuple[Any, Integers]]:
    """The datasets that subsets and concatenations are made of, and the places in them."""
    if isinstance(source, Subset):
        yield from leaves_of(source.dataset, _chosen(source, places))
    elif isinstance(source, ConcatDataset):
        ends = source.cumulative_sizes
        for part, start, end in zip(source.datasets, [0, *ends[:-1]], ends, strict=True):
            yield from leaves_of(part, places[(start <= places) & (places < end)] - start)
    else:
        yield source, places


def origins_of(source: Any, places: Integers, within: tuple[object, ...] = ()) -> Iterator[Origin]:
    """All that can be found to hold the records at these places, from the outermost dataset inwards."""
    for leaf, chosen in leaves_of(source, places):
        if any(leaf is each for each in within):
            continue
        yield Origin(leaf, chosen)
        held = leaf.tensors if isinstance(leaf, TensorDataset) else tuple(getattr(leaf, "__dict__", {}).values())
        for each in held:
            nested = isinstance(each, Dataset) and isinstance(each, Sized)
            listed = isinstance(each, list | tuple) or (is_array(each) and each.ndim)
            if (nested or listed) and len(each) == len(leaf):
                yield from origins_of(each, chosen, (*within, leaf)) if nested else (Origin(each, chosen),)


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
