"""Cells: values of any library as the texts that columns take, and which of those stand for a missing value."""

from collections.abc import Iterable

from expost.persons.canonical import canonical_text
from expost.tabular.schema.cells import Cell, Plain
from expost.tabular.schema.schema import Schema


def absent(schema: Schema) -> frozenset[str | None]:
    """The cells that stand for a missing value."""
    return frozenset({None, "", *schema.missing_marks})


def cells_of(values: Iterable[object], absent: frozenset[str | None]) -> list[Cell | None]:
    """The values as cells; None for those that are missing, or in ``absent``."""
    return [_cell(value, absent) for value in values]


def _cell(value: object, absent: frozenset[str | None]) -> Cell | None:
    text = canonical_text(value)
    if text is None or text in absent:
        return None
    return text if isinstance(value, str) else Plain(text)
