"""Advice to the owner of a table that a schema does not take as meant: what its cells look like, what to declare."""

from collections.abc import Mapping

from expost.tabular.recognition import MOSTLY, formats_of, have_short_years, measure_of, numerals_of, share, words_of
from expost.tabular.schema.binned import Dates
from expost.tabular.schema.cells import How, ordinal
from expost.tabular.schema.column import Column, Missing
from expost.tabular.schema.declaration import toml
from expost.tabular.schema.listed import Boolean, Categorical, Integer
from expost.tabular.schema.private_bins import PrivateBins
from expost.tabular.schema.spelling import Numerals, TruthWords

SIGNS = {".": "points", ",": "commas", "'": "apostrophes", " ": "spaces"}

MOST_WORDS, MOST_MARKS = 12, 3


def advice(column: Column, how: How, cells: Mapping[str, int]) -> str:
    """What to do about cells, each with how often it was seen, that a column takes in this way; one sentence."""
    if how is How.OUTSIDE:
        return _outside(column, cells)
    if how is How.MISSING:
        return _missing(column)
    if isinstance(column, Boolean):
        return _words(cells)
    found = _dates(cells) if isinstance(column, Dates) else _numbers(cells)
    if found is not None:
        return found
    if len(cells) <= MOST_MARKS:
        return f"If {_listed(cells)} stands for a missing value, add it to missing_marks; correct it otherwise."
    kind = "date" if isinstance(column, Dates) else "number"
    return f"What is not a {kind} counts as missing; correct the table or declare another kind."


def _dates(cells: Mapping[str, int]) -> str | None:
    if share(cells, ordinal) >= MOSTLY:
        return "These are dates in ISO form; leave out format."
    fitting = formats_of(cells)
    if fitting:
        other = f", or {toml(fitting[1].text)} if the month comes first" if len(fitting) > 1 else ""
        return f"These look like dates written as {next(iter(cells))}; declare format = {toml(fitting[0].text)}{other}."
    if have_short_years(cells):
        return "These look like dates whose years have two digits, which leave the century open; write four."
    return None


def _numbers(cells: Mapping[str, int]) -> str | None:
    fitting = numerals_of(cells)
    if not fitting:
        measure = measure_of(cells)
        return None if measure is None else f"These have {measure} beside the number; write the number alone."
    first, *others = fitting
    either = Numerals(thousands=",")
    if first == Numerals():
        return "These are numbers with decimal points; leave out decimal and thousands."
    parted = f"{SIGNS[first.thousands]} between thousands" if first.thousands else ""
    written = " and ".join(filter(None, ("decimal commas" if first.decimal == "," else "", parted)))
    other = f", or {_settings(either)} if its comma parts thousands" if either in others else ""
    shown = f" such as {next(iter(cells))}" if other else ""
    return f"These look like numbers with {written}{shown}; declare {_settings(first)}{other}."


def _settings(spelling: Numerals | TruthWords) -> str:
    return " and ".join(f"{key} = {toml(value)}" for key, value in spelling.settings.items())


def _words(cells: Mapping[str, int]) -> str:
    if len(cells) > MOST_WORDS:
        return "These are too many words for a truth value; declare the column as categorical."
    known = words_of(cells)
    if known is not None and known.settings:
        return f"These look like truth values; declare {_settings(known)}."
    return f"Add these words to true or to false, or to missing_marks: {_listed(cells)}."


def _outside(column: Column, cells: Mapping[str, int]) -> str:
    if isinstance(column, Categorical):
        known = {value.lower(): value for value in column.values}
        heads = list(map(column.head, cells))
        alike = next((head for head in heads if head.lower() in known), None)
        if alike is not None:
            same = f"{toml(alike)} differs from {toml(known[alike.lower()])} in case only"
            return f"{same}, and texts are compared letter by letter; list both or correct the table."
        counted = column.labels[column.taken("")[1]]
        added = "what the code book has"
        if column.prefix is not None:
            added = f"the first {column.prefix} characters, such as {toml(heads[0])}, of what the code book has"
        return f"These are counted as {toml(counted)}; add to values {added}."
    if isinstance(column, Integer):
        return "These are counted as the nearest number that is listed; list them, or bin the column."
    if isinstance(column, PrivateBins):
        return "These are counted in the first or the last bin; widen the range to what values can be."
    return "These are counted in the first or the last bin; add edges beyond them, or open the ends with -inf and inf."


def _missing(column: Column) -> str:
    if column.missing is Missing.DROP:
        return "Rows without a value are left out; say missing = true to keep them."
    label = column.labels[column.taken(None)[1]]
    return f'These are counted as {label}; say missing = true, or "drop" to leave such rows out.'


def _listed(cells: Mapping[str, int]) -> str:
    return ", ".join(map(toml, cells))
