"""What was declared of a table, in words: its schema column by column, and whether the table was checked against it."""

import hashlib
from dataclasses import dataclass
from typing import final

from expost.tabular.schema.column import Column, Missing
from expost.tabular.schema.schema import Schema

CHECKED = {
    True: "The table was checked against its schema beforehand.",
    False: "The table was not checked against its schema beforehand.",
}
"""By the name of the table, and by nothing in it: two neighbouring tables are told of in the same words."""


@final
@dataclass(frozen=True, slots=True)
class Field:
    """A column of the schema, in words."""

    name: str
    kind: str
    size: int
    labels: tuple[str, ...]
    missing: str

    @property
    def domain(self) -> str:
        """Its values, the middle left out where there are many."""
        return ", ".join(self.labels if len(self.labels) <= 6 else (*self.labels[:4], "…", self.labels[-1]))


def schema_digest(schema: Schema) -> str:
    """The SHA-256 of the schema's canonical text."""
    return text_digest(schema.dumps())


def text_digest(text: str) -> str:
    """The SHA-256 of a text, as it is in a file."""
    return hashlib.sha256(text.encode()).hexdigest()


def field_of(column: Column) -> Field:
    """The column in words."""
    return Field(column.name, str(column.settings["kind"]), column.size, column.labels, _missing(column))


def _missing(column: Column) -> str:
    """What becomes of a missing value; a fallback is named, whether declared or by rule."""
    if column.missing is not Missing.FALLBACK:
        return str(column.missing.value)
    return f"counted as {column.labels[int(column.encode([None])[0])]}"
