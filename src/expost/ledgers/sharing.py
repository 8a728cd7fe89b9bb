"""Sharing, followed again: which releases there are, which views are stored, and who saw which, by their entries."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import final

from expost.errors import Unreadable
from expost.ledgers.amounts import Amount, amount_out
from expost.ledgers.terms import Terms
from expost.ledgers.views import view_charge
from expost.numerics import positive
from expost.receipts.notation import fraction, items, text, whole
from expost.text import Json

MOST_SIDES = 32


@final
@dataclass(slots=True)
class Sharing:
    """What the tables of shared releases have to be: releases, the hashes of views by level, and what analysts saw."""

    releases: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    views: dict[str, dict[Fraction, str]] = field(default_factory=dict)
    seen: dict[tuple[str, str], Fraction] = field(default_factory=dict)

    def begin(self, body: Mapping[str, Json]) -> None:
        """A release that is shared from now on."""
        identity, name, request, digest = (text(body[each]) for each in ("id", "name", "request", "digest"))
        if identity in self.releases or name in {known for known, _, _ in self.releases.values()}:
            raise Unreadable("begins a shared release once more")
        self.releases[identity], self.views[identity] = (name, request, digest), {}

    def store(self, body: Mapping[str, Json], *, finest: bool) -> None:
        """A view: by the capture that paid for it if it is the finest, from others along the path if not."""
        release, level, stored = text(body["release"]), fraction(body["level"]), text(body["stored"])
        known = self._views(release)
        if level in known or finest != all(each < level for each in known):
            raise Unreadable("stores a view that cannot be at this level")
        known[level] = stored

    def grant(self, body: Mapping[str, Json], terms: Terms) -> tuple[str, Amount]:
        """Who is billed for a view before it is shown, and how much more than for the finest they saw."""
        release, analyst, level = text(body["release"]), text(body["analyst"]), fraction(body["level"])
        self._views(release)
        before = self.seen.get((release, analyst), Fraction(0))
        squared, size = _statistic(self.releases[release][1])
        if level <= before:
            raise Unreadable("grants a view that was granted before")
        change = view_charge(terms, squared, size, before, level)
        if text(body["amount"]) != amount_out(change):
            raise Unreadable("does not bill an analyst for what they see")
        self.seen[release, analyst] = level
        return analyst, change

    def _views(self, release: str) -> dict[Fraction, str]:
        if release not in self.views:
            raise Unreadable("is of a shared release that nobody began")
        return self.views[release]


def _statistic(request: str) -> tuple[Fraction, int]:
    """How far one record moves a statistic, squared, and how many numbers it has."""
    name, shape, squared, neighbours = items(json.loads(request))
    text(name), text(neighbours)
    if len(items(shape)) > MOST_SIDES:
        raise Unreadable("is of a statistic that cannot be")
    return positive(fraction(squared), "l2_squared"), math.prod(map(whole, items(shape)))
