"""Advice to the owner of a table that a schema does not take as meant: what its cells look like, what to declare."""

import re
from collections.abc import Callable, Mapping
from itertools import product

from expost.tabular.schema.binned import Dates
from expost.tabular.schema.cells import How, ordinal
from expost.tabular.schema.column import Column, Missing
from expost.tabular.schema.declaration import toml
from expost.tabular.schema.listed import Boolean, Categorical, Integer
from expost.tabular.schema.spelling import DayFormat, Numerals

MOSTLY = 0.9
"""The share of cells that a spelling must read before it is proposed."""

ORDERS = ("%d{0}%m{0}%Y", "%m{0}%d{0}%Y", "%Y{0}%m{0}%d")
FORMATS = tuple(
    DayFormat(order.format(sign) + time)
    for order, sign, time in product(ORDERS, (".", "/", "-", " ", ""), ("", " %H:%M", " %H:%M:%S", "T%H:%M:%S"))
)
NUMERALS = (
    Numerals(), Numerals(","), Numerals(",", "."), Numerals(",", " "), Numerals(",", "'"), Numerals(thousands=","),
    Numerals(thousands="'"), Numerals(thousands=" "),
)  # fmt: skip
"""Ways to write numbers, the simpler ones first."""
SIGNS = {".": "points", ",": "commas", "'": "apostrophes", " ": "spaces"}

TWO_DIGITS = re.compile(r"[0-9]{1,2}([./-])[0-9]{1,2}\1[0-9]{2}(?![0-9]).*")
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
    return f"What is not a {column.settings['kind']} counts as missing; correct the table or declare another kind."


def _share(cells: Mapping[str, int], read: Callable[[str], object]) -> float:
    """The share of these cells of which something can be read."""
    return sum(times for cell, times in cells.items() if read(cell) is not None) / max(1, sum(cells.values()))


def _dates(cells: Mapping[str, int]) -> str | None:
    if _share(cells, ordinal) >= MOSTLY:
        return "These are dates in ISO form; leave out format."
    shares = {each: _share(cells, each.day) for each in FORMATS}
    best = max(shares.values())
    if best >= MOSTLY:
        fitting = [each.text for each, share in shares.items() if share == best]
        other = f", or {toml(fitting[1])} if the month comes first" if len(fitting) > 1 else ""
        return f"These look like dates written as {next(iter(cells))}; declare format = {toml(fitting[0])}{other}."
    if _share(cells, TWO_DIGITS.fullmatch) >= MOSTLY:
        return "These look like dates whose years have two digits, which leave the century open; write four."
    return None


def _numbers(cells: Mapping[str, int]) -> str | None:
    shares = {each: _share(cells, each.number) for each in NUMERALS}
    best = max(shares.values())
    if best < MOSTLY:
        return None
    first, *others = (each for each, share in shares.items() if share == best)
    either = Numerals(thousands=",")
    if first == Numerals():
        return "These are numbers with decimal points; leave out decimal and thousands."
    parted = f"{SIGNS[first.thousands]} between thousands" if first.thousands else ""
    written = " and ".join(filter(None, ("decimal commas" if first.decimal == "," else "", parted)))
    other = f", or {_settings(either)} if its comma parts thousands" if either in others else ""
    shown = f" such as {next(iter(cells))}" if other else ""
    return f"These look like numbers with {written}{shown}; declare {_settings(first)}{other}."


def _settings(numerals: Numerals) -> str:
    return " and ".join(f"{key} = {toml(value)}" for key, value in numerals.settings.items())


def _words(cells: Mapping[str, int]) -> str:
    if len(cells) > MOST_WORDS:
        return "These are too many words for a truth value; declare the column as categorical."
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
    return "These are counted in the first or the last bin; add edges beyond them, or open the ends with -inf and inf."


def _missing(column: Column) -> str:
    if column.missing is Missing.DROP:
        return "These records are left out; say missing = true to keep them."
    label = column.labels[column.taken(None)[1]]
    return f'These are counted as {label}; say missing = true, or "drop" to leave the records out.'


def _listed(cells: Mapping[str, int]) -> str:
    return ", ".join(map(toml, cells))
