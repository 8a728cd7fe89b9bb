"""The unit that a draft proposes: a column that looks like an identifier, where several rows have the same value."""

import re
from collections.abc import Iterable

from expost.tabular.drafts import names
from expost.tabular.drafts.proposal import MOST_TEXTS, Proposal
from expost.tabular.drafts.seen import Seen
from expost.tabular.recognition import MOSTLY, share
from expost.tabular.schema.cells import Cell, text_of

UUID = re.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")

PROPOSED = Proposal(
    None,
    "it is proposed as the unit, because it looks like an identifier and several rows have the same value; confirm "
    "that it says whose row it is, or remove that line.",
)


def unit_among(columns: Iterable[Seen]) -> str | None:
    """The column to propose, that of persons first and then the one with the most values; None where there is none."""
    found = [each for each in columns if _tells_whose(each)]
    return max(found, key=_likelihood).name if found else None


def _tells_whose(seen: Seen) -> bool:
    many = not seen.complete or len(seen.counts) > MOST_TEXTS
    if not seen.name or not seen.repeats:
        return False
    if names.identifies(seen.name) or names.numbers(seen.name):
        return many or names.of_person(seen.name)
    return many and (names.is_person(seen.name) or share(seen.counts, _uuid) >= MOSTLY)


def _likelihood(seen: Seen) -> tuple[bool, bool, bool, int]:
    """Larger for the likelier of two; of columns with more values than are kept the first is taken."""
    named = names.identifies(seen.name) or names.numbers(seen.name)
    return names.of_person(seen.name), named, not seen.complete, len(seen.counts) if seen.complete else 0


def _uuid(cell: Cell) -> object:
    return UUID.fullmatch(text_of(cell))
