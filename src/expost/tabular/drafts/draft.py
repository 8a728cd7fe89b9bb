"""A first schema read off the data, for its owner to review: private until then, and marked so."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import final

from expost.errors import Unreadable
from expost.private import Neighbours
from expost.tabular.drafts.proposal import (
    Days,
    Numbers,
    Proposal,
    left_out,
    numbers_in,
    of_days,
    of_numbers,
    of_texts,
    reading_of,
)
from expost.tabular.drafts.seen import Seen, Spread
from expost.tabular.drafts.unit import PROPOSED, unit_among
from expost.tabular.schema.cells import Cell
from expost.tabular.schema.declaration import toml
from expost.tabular.schema.schema import declared, heading
from expost.tabular.source.coding import Opened
from expost.tabular.source.reading import opened, quietly, revealed
from expost.tabular.source.texts import cells_of

WARNING = """\
# DRAFT, PRIVATE: for the eyes of the data's owner only. Which columns are declared below, their kinds, values, ranges
# and edges, and the unit, were all read from the records, and a single record can have changed any of them. No bound
# covers that.
# Before anybody else sees this file, put what you knew without looking:
#   unit    the column that says whose row it is, if a person can have several; confirm it, add it or remove it
#   kind    what the form or the code book says, even where no record shows it
#   values  the whole list, not what happened to occur
#   range   limits that you would name without looking
#   edges   round limits that you would name without looking
#   inside  "log" for money, counts and delays, "edge" for a bin of one value; leave it out for even bins
# What format, decimal, thousands, true and false say of how the file is written may stay if its readers may know it.
# Remove columns nobody needs, add those you need, then set reviewed = true. Comments are the same for all records and
# may stay.
"""


@final
@dataclass(frozen=True, slots=True)
class Draft:
    """A schema file with ``reviewed = false``, and for each column of which there is something to say a note.

    Both are as private as the records. Notes are for the terminal: what is in the file survives its review.
    """

    text: str
    left_out: Mapping[str, str]
    notes: Mapping[str, str]


def draft(source: object, *, missing_marks: tuple[str, ...] = ()) -> Draft:
    """A first schema for any source that ``read_table`` takes, which is read once or twice.

    The domain it proposes was read from the data, for its owner to replace by what is public. Nothing else was: a
    missing value is a category of its own whether or not one was seen, and comments follow from the names of the
    columns alone, because a comment survives a review that looks at the settings only.
    """
    result = quietly(partial(_draft, source, missing_marks), source)
    del source  # a traceback that shows variables would show its rows
    return revealed(result)


def _draft(source: object, marks: tuple[str, ...]) -> Draft:
    table = opened(source)
    if len(set(table.names)) < len(table.names) or not table.names:
        raise Unreadable("the table has no column names, or has one of them twice; name each column once.")
    columns = Columns(table, frozenset({None, "", *marks}))
    seen, rows = [Seen(name) for name in table.names], 0
    for chunk in columns.chunks(table.names):
        rows += len(chunk[0])
        for column, cells in zip(seen, chunk, strict=True):
            column.add(cells)
    if not rows:
        raise Unreadable("the table has no rows; check that it is the right one and written to its end.")
    unit = unit_among(seen)
    proposals = {each.name: PROPOSED if each.name == unit else columns.proposal(each, unit) for each in seen}
    blocks = [declared(each.column) for each in proposals.values() if each.column is not None]
    head = heading(Neighbours.ADD_REMOVE, reviewed=False, missing_marks=marks, unit=unit)
    told = {name: each.note for name, each in proposals.items() if each.note}
    left_out = {name for name, each in proposals.items() if each.column is None and name != unit}
    return Draft(
        "\n".join([WARNING + _columns(table.names), head, *blocks]),
        {name: note for name, note in told.items() if name in left_out},
        {name: note for name, note in told.items() if name not in left_out},
    )


@final
@dataclass(frozen=True, slots=True, repr=False)
class Columns:
    """A table whose columns are read once, and those of which not all different cells could be kept once more."""

    table: Opened
    absent: frozenset[str | None]

    def chunks(self, names: Sequence[str]) -> Iterable[list[list[Cell | None]]]:
        """The cells of these columns, a chunk of rows at a time."""
        for chunk in self.table.chunks(names):
            yield [cells_of(values, self.absent) for values in chunk]

    def proposal(self, seen: Seen, unit: str | None) -> Proposal:
        """What is proposed for a column; one without a name, such as the index of a frame, cannot be declared."""
        nameless = None if seen.name else "a schema knows columns by their names; give it one if it is needed."
        reason = nameless or left_out(seen, beside=unit)
        if reason is not None:
            return Proposal(None, reason)
        reading = reading_of(seen)
        if isinstance(reading, Numbers):
            spread = Spread.for_counts(numbers_in(seen.counts, reading.numerals))
            for counts in self._counts(seen):
                spread.add(numbers_in(counts, reading.numerals))
            return of_numbers(seen, reading, spread.settled())
        if isinstance(reading, Days):
            days = {reading.day(cell) for counts in self._counts(seen) for cell in counts}
            return of_days(seen, reading, {day for day in days if day is not None})
        return of_texts(seen)

    def _counts(self, seen: Seen) -> Iterable[Counter[Cell]]:
        """All cells of a column, each with how often it is there."""
        if seen.complete:
            yield seen.counts
            return
        for (cells,) in self.chunks([seen.name]):
            yield Counter(cell for cell in cells if cell is not None)


def _columns(names: tuple[str, ...]) -> str:
    """All columns of the table: naming those that are left out would tell what their records are like."""
    return f"# The table has these columns; what is not declared is not read: {', '.join(map(toml, names))}.\n"
