"""Records for a torch module: a dataset or a pair of tensors, read a batch at a time."""

from collections.abc import Callable, Iterator, Mapping, Sized
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any, TypeAlias, final

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset, IterableDataset, TensorDataset, default_collate

from expost.errors import InvalidValue, NotDisjoint
from expost.judge import Judge, OnPublic
from expost.noise import Integers, Noise
from expost.persons.people import People, numbered
from expost.private import Neighbours
from expost.training.torch.inputs import separate, tensors
from expost.training.torch.origins import leaves_of, origins_of
from expost.training.torch.trial import Batch
from expost.training.torch.units import Unit, identifiers_of, person_marks, require_others, unit_field

Given: TypeAlias = Dataset[Any] | tuple[Tensor, ...] | Mapping[str, Tensor]
"""Records as a user has them: a map-style dataset, or all of them as tensors, by place or by name.

Each is (features, label), several inputs and then the label, or a mapping with a field 'labels' or 'label'.
"""


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Examples:
    """Inputs and labels that are read a batch at a time; ``columns`` are all of them, where they are tensors.

    With ``people`` the records are rows of persons, of whom there are ``len``. The field ``unit`` of a record is not an
    input, and ``marks`` tell persons from those of other records.
    """

    source: Any
    size: int
    columns: Batch | None = None
    unit: str | None = None
    people: People | None = None
    marks: frozenset[int] = frozenset()

    @classmethod
    def of(cls, given: Given, unit: str | None = None) -> "Examples":
        """Records from a dataset or from tensors, refused by one sentence that shows none of them."""
        match given:
            case TensorDataset():
                return cls.of(given.tensors, unit)
            case tuple() if len(given) > 1 and all(isinstance(each, Tensor) for each in given):
                return cls._of_columns(Batch(*separate(given)))
            case Mapping():
                return cls._of_columns(Batch(*separate(given, unit)))
            case IterableDataset() | list() | tuple() | str() | bytes() | np.ndarray() | Tensor():
                pass
            case Sized() if hasattr(given, "__getitem__"):
                return cls(given, len(given), unit=unit)
        raise InvalidValue("these are not records; give a map-style Dataset or a tuple of features and labels.")

    @classmethod
    def by_person(cls, given: Given, unit: Unit | None, noise: Noise | None) -> "Examples":
        """Private records by whose they are, where a unit says so; of each person one is drawn for checks, if any."""
        records = cls.of(given, unit_field(unit))
        records.require_once()
        if unit is None:
            return records
        found = identifiers_of(given, unit)
        people = People.of(numbered(found))
        if len(people.rows) != records.size:
            raise InvalidValue("the unit does not match the records; give one identifier per record.")
        return replace(records, people=people if noise is None else people.drawn(noise), marks=person_marks(found))

    @classmethod
    def _of_columns(cls, columns: Batch) -> "Examples":
        labels, inputs = columns.labels, tuple(tensors(columns.inputs))
        if any(not each.dim() or each.shape[:1] != labels.shape[:1] for each in (*inputs, labels)):
            raise InvalidValue("features and labels do not match; give a row and a label per record.")
        if labels.shape[1:] == (1,):
            raise InvalidValue("labels are in a column of their own; give labels.squeeze(1), one per record.")
        return cls(TensorDataset(*inputs, labels), len(labels), columns)

    def held_out(self, on: Given | None, unit: Unit | None, check: Judge, noise: Noise) -> "Examples":
        """The records to check on, which are not among these: private ones, or those of a public check, never both.

        Whose private ones are is said as it is of these, by the same field or by a unit of their own.
        """
        given = check.records if isinstance(check, OnPublic) else on
        if given is None or (isinstance(check, OnPublic) and on is not None):
            raise InvalidValue("give held-out records as on=..., or public ones as check=OnPublic(...), and not both.")
        whose = self.unit if unit is None else unit
        if not check.public and (whose is None) is not (self.people is None):
            raise InvalidValue(
                "training and held-out records are not given alike; say whose the latter are by on_unit=..., and whose "
                "the former are by unit=..., or neither."
            )
        held = Examples.of(given, self.unit) if check.public else Examples.by_person(given, whose, noise)
        self.require_apart(held)
        return held

    def require_apart(self, held: "Examples") -> None:
        """Refuse to check on records that are trained on, as far as datasets show where theirs come from.

        Looked through are subsets, concatenations, and datasets that hold another one, tensors, arrays or lists, an
        item of them per record. Records that happen to be equal are not the same; whole tensors of them are, and lists
        of names.
        """
        require_others(self.marks, held.marks)
        mine, others = (list(origins_of(each.source, np.arange(each.size))) for each in (self, held))
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
        for leaf, places in leaves_of(self.source, np.arange(self.size)):
            leaves.setdefault(id(leaf), (leaf, []))[1].append(places)
        merged = [(leaf, np.concatenate(places)) for leaf, places in leaves.values()]
        origins = [list(origins_of(leaf, places)) for leaf, places in merged]
        twice = any(len(np.unique(places)) < len(places) for _, places in merged)
        if twice or any(
            one.meets(another) for mine, others in combinations(origins, 2) for one in mine for another in others
        ):
            raise NotDisjoint("a record occurs several times in these datasets; give each record once.")

    def __len__(self) -> int:
        return self.size if self.people is None else len(self.people)

    @property
    def neighbours(self) -> Neighbours:
        """Data sets that differ in a record, or in a person where it is known whose records they are."""
        return Neighbours.ADD_REMOVE if self.people is None else Neighbours.ADD_REMOVE_PERSON

    @property
    def judged(self) -> Integers:
        """The places of the records that a check looks at: all of them, or one of each person."""
        return np.arange(self.size) if self.people is None else self.people.judged

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
        return Batch(*separate(collated, self.unit)).transform(torch.zeros_like)

    def batches(self, places: Integers, at_once: int) -> Iterator[Batch]:
        """The records at these places, in groups of this size; each is read as the type that is public."""
        like = None if self.columns is not None or not len(places) else self.shaped()
        for start in range(0, len(places), at_once):
            some = places[start : start + at_once]
            if self.columns is not None:
                yield self.columns.at(some.tolist())
            elif like is not None:
                yield collated([self.source[place] for place in some.tolist()], like, self.unit)


def collated(records: list[Any], like: Batch, unit: str | None = None) -> Batch:
    """The records as a batch, each made a tensor by itself: all together would have a type that one of them chooses."""
    apart = [Batch(*separate(default_collate([each]), unit)) for each in records]

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
