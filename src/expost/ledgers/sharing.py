"""Sharing, worked out again: what the entries of a data set say of shared releases, their views and who saw which."""

import json
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import final

from expost.accounting.claim import Spent
from expost.errors import Unreadable
from expost.ledgers.amounts import Amount, amount_in, minus
from expost.ledgers.home import Writing
from expost.ledgers.moving import sha256
from expost.ledgers.terms import Terms
from expost.ledgers.views import view_cost
from expost.receipts.costs import curve_in, curve_out
from expost.receipts.notation import fraction, items, text, whole
from expost.text import Json

SHARING = {
    "release": ("id", "name", "request", "digest"),
    "grant": ("release", "analyst", "level", "amount"),
    "view": ("release", "level", "stored"),
}
"""What entries of each kind say; a capture that refines a release says what an entry of a view does."""


@final
class SharedReplay:
    """Shared releases as the entries make them; what cannot follow from those before raises Unreadable."""

    def __init__(self) -> None:
        self._releases: dict[str, tuple[str, str, str]] = {}
        self._views: dict[tuple[str, Fraction], str] = {}
        self._seen: dict[tuple[str, str], Fraction] = {}

    def begin(self, body: Mapping[str, Json]) -> None:
        """A release is begun."""
        identity, *line = (text(body[name]) for name in SHARING["release"])
        self._require(identity not in self._releases, "begins a shared release once more")
        self._releases[identity] = line[0], line[1], line[2]

    def grant(self, body: Mapping[str, Json], terms: Terms) -> tuple[str, Amount]:
        """Somebody may see a level: who, and by how much their own bill rises."""
        release, analyst, level = text(body["release"]), text(body["analyst"]), fraction(body["level"])
        before = self._seen.get((release, analyst), Fraction(0))
        self._require(release in self._releases and level > before, "grants what was granted before, or nothing")
        costs = [terms.amount(self._cost(release, each)) if each else terms.nothing for each in (before, level)]
        due = minus(costs[1], costs[0])
        self._require(amount_in(text(body["amount"]), terms.width) == due, "bills an analyst for something else")
        self._seen[release, analyst] = level
        return analyst, due

    def view(self, body: Mapping[str, Json], captured: Json = None) -> None:
        """A view is stored: one that reads no data, or what a capture of this curve refined."""
        release, level = text(body["release"]), fraction(body["level"])
        self._require(release in self._releases, "stores a view of a release that was never begun")
        finest = max((each for known, each in self._views if known == release), default=Fraction(0))
        self._require((level > finest) == (captured is not None), "stores a view that nothing paid for")
        if captured is not None:
            due = self._cost(release, level - finest)
            self._require(curve_out(curve_in(captured)) == curve_out(due.curve), "refines a release at another price")
        self._require((release, level) not in self._views, "stores a view once more")
        self._views[release, level] = text(body["stored"])

    def flaws(self, reading: Writing, dataset: int | str) -> bool:
        """Whether the tables are something else than what the entries lead to."""
        releases = {
            (str(identity), (str(name), str(request), str(digest)))
            for identity, name, request, digest in reading.rows(
                "SELECT id, name, request, digest FROM releases WHERE dataset = ?", dataset
            )
        }
        if releases != {*self._releases.items()}:
            return True
        of_these = "release IN (SELECT id FROM releases WHERE dataset = ?)"
        views = reading.rows(f"SELECT release, level, payload FROM views WHERE {of_these}", dataset)  # noqa: S608
        seen = reading.rows(f"SELECT release, analyst, level FROM seen WHERE {of_these}", dataset)  # noqa: S608
        stored = {((str(release), str(level)), sha256(str(payload))) for release, level, payload in views}
        known = {((str(release), str(analyst)), str(level)) for release, analyst, level in seen}
        due = {((release, str(level)), digest) for (release, level), digest in self._views.items()}
        return stored != due or known != {(who, str(level)) for who, level in self._seen.items()}

    def _cost(self, release: str, level: Fraction) -> Spent:
        """What a Gaussian release of this level costs, by the statistic on record."""
        _, shape, squared, _ = items(json.loads(self._releases[release][1]))
        return view_cost(level, fraction(squared), math.prod(map(whole, items(shape))))

    def _require(self, holds: bool, otherwise: str) -> None:
        if not holds:
            raise Unreadable(otherwise)
