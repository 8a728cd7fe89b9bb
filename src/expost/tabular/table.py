"""A table as coded columns: what statistics, models and synthetic data are made of."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import final

import numpy as np
from numpy.typing import NDArray

from expost.errors import SchemaMismatch
from expost.noise import Noise
from expost.tabular.schema.column import Codes, Decoded, Listed, smallest
from expost.tabular.schema.listed import Boolean, Categorical, Integer
from expost.tabular.schema.schema import Schema


class Kind(Enum):
    """The kind of frame a table came as, so that one made of it can be handed back as the same kind."""

    DUCKDB = "duckdb"
    PANDAS = "pandas"
    POLARS = "polars"
    PYARROW = "pyarrow"
    SPARK = "pyspark"


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Table:
    """One array of codes for each column of the schema; the records are along the arrays.

    Indexed by a mask, as ``split`` does. Shows nothing of its records when printed.
    """

    schema: Schema
    columns: Mapping[str, Codes]
    native: Kind = Kind.DUCKDB

    def __post_init__(self) -> None:
        if set(self.columns) != set(self.schema.names):
            raise SchemaMismatch("the columns are not those of the schema; give codes for each and no other.")
        if len({codes.shape for codes in self.columns.values()}) > 1:
            raise SchemaMismatch("the columns have different lengths; give one code per record in each.")
        kept = {
            each.name: self.columns[each.name].astype(smallest(each.size), copy=False) for each in self.schema.columns
        }
        domain = self.domain
        if any(codes.size and int(codes.max()) >= domain[name] for name, codes in self.columns.items()):
            raise SchemaMismatch("a column has a code outside its domain; codes run from 0 to its size minus 1.")
        object.__setattr__(self, "columns", kept)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, mask: NDArray[np.bool_], /) -> "Table":
        """The records where the mask is true."""
        return Table(self.schema, {name: codes[mask] for name, codes in self.columns.items()}, self.native)

    def __repr__(self) -> str:
        """The names of the columns: nothing about the records, not even how many."""
        return f"Table({', '.join(self.schema.names)})"

    @property
    def domain(self) -> dict[str, int]:
        """How many codes each column has."""
        return self.schema.domain

    def codes(self, name: str) -> Codes:
        if name not in self.columns:
            raise SchemaMismatch(f"the table has no column {name}; it has {', '.join(self.schema.names)}.")
        return self.columns[name]

    def cells(self, clique: Sequence[str]) -> NDArray[np.int64]:
        """The cell of each record in the table of these columns, numbered row by row."""
        cells, domain = np.zeros(len(self), dtype=np.int64), self.domain
        for name in clique:
            cells *= domain[name]
            cells += self.codes(name)
        return cells

    def recoded(self, f: "Callable[[Table], Table]") -> "Table":
        """The same records, written anew one by one."""
        return f(self)

    def same_records(self, other: "Table") -> bool:
        """Whether both hold the same records, at least one, in any order."""
        if self.schema != other.schema or len(self) != len(other) or not len(self):
            return False
        mine, theirs = self._sorted(), other._sorted()
        return all(np.array_equal(left, right) for left, right in zip(mine, theirs, strict=True))

    def _sorted(self) -> list[Codes]:
        columns = [self.columns[name] for name in self.schema.names]
        order = np.lexsort(columns)
        return [codes[order] for codes in columns]

    def decode(self, noise: Noise) -> dict[str, Decoded]:
        """Values for the codes; where a code is a bin, a uniform draw from it."""
        found: dict[str, Decoded] = {}
        for column in self.schema.columns:
            codes = self.columns[column.name]
            if isinstance(column, Categorical | Boolean | Integer):
                found[column.name] = Listed(column.decode(np.arange(column.size, dtype=codes.dtype), noise), codes)
            else:
                found[column.name] = column.decode(codes, noise)
        return found
