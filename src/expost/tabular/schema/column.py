"""Columns with a public, declared domain: any cell in, a code from 0 to size − 1 out, and never an error.

The code of a cell depends on that cell alone: this is what lets one record move a statistic by no more than it claims.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Protocol, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from expost.errors import SchemaMismatch
from expost.noise import Integers, Noise
from expost.tabular.schema.cells import Cell, How, Taken

Cells: TypeAlias = Sequence[Cell | None]
Codes: TypeAlias = NDArray[np.unsignedinteger]
Values: TypeAlias = NDArray[np.generic]
Decoded: TypeAlias = "Values | Listed"
Setting: TypeAlias = str | int | bool | Sequence[object]

LARGEST_DOMAIN = 2**16
"""More codes than this in one column is a mistake in the schema, not a domain."""

MISSING_LABEL = "(missing)"


class Missing(Enum):
    """What a missing cell, or one that is not a value of the column's kind, becomes.

    Dropping a record for its own content keeps add/remove neighbours neighbours. Where one record replaces another
    it makes the number of kept records private.
    """

    CATEGORY = "a category of its own"
    DROP = "the record is dropped"
    FALLBACK = "the column's fallback, which by rule is its first value or bin"


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Listed:
    """Values of a list, as the place in it that each row has: a byte or two, where a text of its own takes sixteen."""

    known: Values
    places: Codes

    def tolist(self) -> list[object]:
        """The value of each row."""
        found: list[object] = self.known[self.places].tolist()
        return found


class Column(Protocol):
    """One column of a schema: a finite public domain and the rule that sends every cell into it.

    What must hold: ``taken`` never fails and looks at one cell alone; ``encode(decode(codes))`` is ``codes``, and so is
    that of the values as they are ``spelled``.
    Implemented by Categorical, Boolean, Integer, IntegerBins, Numeric, Dates and PrivateBins.
    """

    @property
    def name(self) -> str: ...

    @property
    def missing(self) -> Missing:
        """What a missing cell becomes."""
        ...

    @property
    def size(self) -> int:
        """How many codes there are."""
        ...

    @property
    def labels(self) -> tuple[str, ...]:
        """One text for each code, for reports."""
        ...

    @property
    def settings(self) -> Mapping[str, Setting]:
        """What a schema file says of the column, besides its name and missing values."""
        ...

    def taken(self, cell: Cell | None) -> Taken:
        """How a cell is taken, and its code; ``size`` marks a record to drop."""
        ...

    def encode(self, cells: Cells) -> Codes:
        """The codes, as the smallest unsigned integers; ``size`` marks a record to drop."""
        ...

    def decode(self, codes: Codes, noise: Noise) -> Values:
        """A value for each code: a label, or a draw from a bin; None for a missing one."""
        ...

    def spelled(self, values: Values) -> Values:
        """The values as a table of text writes them: themselves, unless the column declares a spelling."""
        ...


def smallest(count: int) -> np.dtype[np.unsignedinteger]:
    """The smallest unsigned integers that hold the codes 0 … count − 1."""
    return np.dtype(np.uint8 if count <= 2**8 else np.uint16 if count <= 2**16 else np.uint32)


def coded(cells: Cells, column: Column) -> Codes:
    """The code by which a column takes each cell; equal cells are looked at once."""
    code = cache(lambda cell: column.taken(cell)[1])
    codes: Codes = np.fromiter(map(code, cells), smallest(column.size + (column.missing is Missing.DROP)), len(cells))
    return codes


def without_value(cell: Cell | None, count: int, missing: Missing, fallback: int = 0) -> Taken:
    """How a column with ``count`` codes for values takes a cell that holds none, or nothing that it knows."""
    how = How.MISSING if cell is None else How.UNRECOGNISED
    return how, fallback if missing is Missing.FALLBACK else count


def value_codes(codes: Codes, count: int) -> Integers:
    """The codes of values, with the missing code as the last of them so that a lookup does not fail."""
    return np.minimum(codes, count - 1).astype(np.int64)


def with_missing(values: Values, codes: Codes, count: int, missing: Missing) -> Values:
    """The values, with None for the missing code where the column has one."""
    if missing is not Missing.CATEGORY:
        return values
    whole = values.astype(np.object_)
    whole[codes == count] = None
    return whole


def as_texts(values: Values, spell: Callable[..., str]) -> Values:
    """Each value as it is spelled, and None where there is none."""
    texts = [None if value is None else spell(value) for value in values.tolist()]
    return np.array(texts, dtype=np.object_)


def with_missing_label(labels: tuple[str, ...], missing: Missing) -> tuple[str, ...]:
    """The labels, and one for the missing category where there is one."""
    return (*labels, MISSING_LABEL) if missing is Missing.CATEGORY else labels


def check_domain(name: str, count: int) -> None:
    """Refuse a domain with nothing in it, or too much."""
    if not 1 <= count <= LARGEST_DOMAIN:
        raise SchemaMismatch(f"column {name} has {count} values; a domain has 1 to {LARGEST_DOMAIN}: list or bin them.")
