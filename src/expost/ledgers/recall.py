"""Recall: what earlier runs on a data set have kept of their releases, for whoever may see it."""

from dataclasses import dataclass
from typing import final

from expost.ledgers.beginning import analyst_of
from expost.ledgers.home import Home
from expost.ledgers.posting import Position


@final
@dataclass(frozen=True, slots=True)
class Recalled:
    """What runs of one kind have kept, the oldest first."""

    payloads: tuple[str, ...]


def recall(home: Home, dataset: str, what: str, token: str | None) -> Recalled:
    """What the runs of this kind have kept: all of them for the owner, for an analyst those of their own bill."""
    with home.writing() as writing:
        known = Position.locked(writing, dataset).id
        analyst = None if token is None else analyst_of(writing, known, token)
        found = writing.rows(
            "SELECT analyst, payload FROM runs WHERE dataset = ? AND what = ? AND payload IS NOT NULL ORDER BY begun",
            *(known, what),
        )
    return Recalled(tuple(str(payload) for payer, payload in found if analyst in (None, payer)))
