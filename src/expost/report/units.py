"""Units: what is told of private data speaks of its records, or of persons and their rows where a unit is declared."""

import re

from expost.private import Neighbours

RECORDS = Neighbours.ADD_REMOVE.value
"""A relation between records, for words that are told where nothing is known of any."""
OF_PERSONS = frozenset(each.value for each in Neighbours if each.unit == "person")
RECORD = re.compile(r"\b([Rr])ecord(s?)\b")


def by_unit(told: str, neighbours: str) -> str:
    """Words about records as what neighbours differ in: about persons, where they differ in one.

    For words of ours alone; a name that somebody gave a column is put in afterwards.

    >>> by_unit("Every look at the held-out records is included.", "add or remove one person")
    'Every look at the held-out persons is included.'
    """
    return _called(told, neighbours, "Pp", "erson")


def by_row(told: str, neighbours: str) -> str:
    """Words about records as what a table holds: about rows, where a person may have several.

    >>> by_row("Lines that read the same records add up.", "add or remove one person")
    'Lines that read the same rows add up.'
    """
    return _called(told, neighbours, "Rr", "ow")


def clipped(neighbours: str) -> str:
    """What a gradient step clips: a record's gradient, or the sum of those of all rows of a person."""
    if neighbours in OF_PERSONS:
        return "the gradients of a person's rows were added up, and their sum was clipped"
    return "its gradient was clipped"


def _called(told: str, neighbours: str, initials: str, rest: str) -> str:
    if neighbours not in OF_PERSONS:
        return told
    return RECORD.sub(lambda found: f"{initials[found[1] == 'r']}{rest}{found[2]}", told)
