"""Whose records they are, for a torch module: read from an array or from a field of the records, and then forgotten."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from torch import Tensor
from torch.utils.data import TensorDataset

from expost.errors import InvalidValue, NotDisjoint
from expost.noise import Integers
from expost.persons.identifiers import identifier_text
from expost.persons.people import People

Unit: TypeAlias = ArrayLike | str
"""An identifier per record, or the name of the field that holds it."""


def unit_field(unit: Unit | None) -> str | None:
    """The field of a record that is the unit, and no input of the module."""
    return unit if isinstance(unit, str) else None


def identifiers_of(given: Any, unit: Unit) -> Any:
    """An identifier per record, refused by one sentence that shows none of them."""
    if not isinstance(unit, str):
        return unit
    if isinstance(given, TensorDataset | tuple):
        raise InvalidValue("these records are tensors without names; give the unit as an array, one per record.")
    found: Any = None
    with suppress(Exception):  # whatever it is, what it says may show a record
        whole = isinstance(given, Mapping) or unit in getattr(given, "column_names", ())
        found = given[unit] if whole else [_named(given[place], unit) for place in range(len(given))]
    if found is None:
        raise InvalidValue(f"the records have no field {unit}; name one that each of them has, or give an array.")
    return found


def person_marks(identifiers: Any) -> frozenset[int]:
    """A number for each identifier that is not missing, by Python's keyed hash of its text: only to compare by."""
    values = identifiers.tolist() if isinstance(identifiers, np.ndarray | Tensor) else list(identifiers)
    return frozenset(hash(text) for text in map(identifier_text, values) if text)


def require_others(mine: frozenset[int], others: frozenset[int]) -> None:
    """Refuse held-out persons who are trained on."""
    if not mine.isdisjoint(others):
        raise NotDisjoint(
            "some of the persons to check on are among those to train on; let each person be on one side, with all "
            "records."
        )


def packed(people: People, persons: Integers, at_once: int) -> Iterator[Integers]:
    """The persons in groups whose records fit on the device together, in their order; or one of more records alone."""
    sizes, start, room = people.sizes[persons], 0, at_once
    for place, size in enumerate(sizes.tolist()):
        if size > room and place > start:
            yield persons[start:place]
            start, room = place, at_once
        room -= size
    if start < len(persons):
        yield persons[start:]


def _named(record: Any, name: str) -> Any:
    """What a field of a record holds."""
    found = (record if isinstance(record, Mapping) else record[0])[name]
    return found.item() if isinstance(found, Tensor | np.generic) else found
