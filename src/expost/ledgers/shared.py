"""Shared releases: one statistic for several analysts at different precisions, which costs the data set the finest.

What is stored are views along one Brownian path. A finer one than all is measured afresh, at the price of the
increment; any other follows from its neighbours on the path and fresh noise, reads no data, and is stored, so that the
same question has the same answer.
"""

import hashlib
import hmac
import json
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Generic, TypeVar, final
from uuid import uuid4

from expost.accounting.claim import Budget, Promise
from expost.errors import LedgerConflict, NotPrivate
from expost.ledger import Fact
from expost.ledgers.amounts import amount_out
from expost.ledgers.beginning import analyst_of, require_words
from expost.ledgers.book import MOST_NAME, Book
from expost.ledgers.chain import spelled
from expost.ledgers.home import WAIT_SECONDS, Writing
from expost.ledgers.moving import charge_analyst
from expost.ledgers.posting import Position
from expost.ledgers.run import LedgerRun
from expost.ledgers.views import View, along_path, fingerprint, store_view, view_charge, views_of
from expost.mechanisms.brownian import Estimate
from expost.mechanisms.gaussian import Gaussian
from expost.noise import Noise
from expost.numerics import Real, positive
from expost.odometer import Odometer
from expost.private import Neighbours, Private
from expost.release import Past
from expost.statistic import Statistic
from expost.text import Json

D = TypeVar("D")
LEVEL_BITS = 64
"""Levels are multiples of 2**-64, so that increments add up to the finest exactly."""
ALPHA = Fraction(2)
PAUSE_SECONDS = 0.02


@final
@dataclass(frozen=True)
class _Refining(Generic[D]):
    """One more measurement of a statistic, by which the finest view is refined, and stored with its capture."""

    measure: Gaussian[D]
    printed: bytes
    finest: View | None
    run: LedgerRun
    release: str
    name: ClassVar[str] = "Brownian"
    floating: ClassVar[bool] = False

    @property
    def neighbours(self) -> Neighbours:
        """The measurement's."""
        return self.measure.neighbours

    def promise(self, budget: Budget) -> Promise:
        """The increment's."""
        return self.measure.promise(budget)

    def facts(self, budget: Budget) -> Mapping[str, Fact]:
        """The increment's."""
        return self.measure.facts(budget)

    def sample(self, data: D, budget: Budget, past: Past[View], noise: Noise) -> View:
        """The refined view, to be written by the capture that bills it; fails if the data was changed in place."""
        if fingerprint(data) != self.printed:
            raise LedgerConflict("the data has changed since it was given to this release; give it anew.")
        fresh, finest = self.measure.sample(data, budget, Past(), noise), self.finest
        if finest is None:
            view = View(budget.rho, Estimate(fresh.values, 1 / fresh.variance))
        else:
            view = View(finest.level + budget.rho, finest.estimate.refine(fresh))
        self.run.also(lambda writing: {"release": self.release, **store_view(writing, self.release, view)})
        return view


@final
class SharedRelease(Generic[D]):
    """One statistic of one data set, at ever finer precision, for everybody who may see it.

    The data set pays for the finest view, once; each analyst's own bill is that of the finest they saw. The views that
    a group of analysts saw are a post-processing of the finest of theirs. Views that are not the finest have
    floating-point noise, whose rounding an analyst's own bill does not cover; the data set's bill does not rest on it.

    Implements: shared releases.
    Uses: Brownian mechanism; post-processing immunity; resuming without secret state.
    """

    def __init__(self, book: Book, dataset: str, name: str, statistic: Statistic[D], records: D | None = None) -> None:
        require_words(name, "the name of a shared release", MOST_NAME)
        self._book, self._dataset, self._name, self._statistic = book, dataset, name, statistic
        self._sealed = None if records is None else Private(records, statistic.neighbours)
        self._print = None if records is None else fingerprint(records)

    def at(self, rho: Real, *, noise: Noise, token: str | None = None, wait: float = WAIT_SECONDS) -> View:
        """The statistic at a precision of at least ρ for the owner, and of just ρ for an analyst.

        Whoever comes while somebody else refines it waits, and goes on from there.
        """
        if noise.seeded:
            raise NotPrivate("seeded noise makes nothing private, so a lasting ledger takes no rehearsal.")
        level = snapped(rho)
        if (view := self._stored(level, noise, token)) is not None:
            return view
        if self._sealed is None or self._print is None:
            raise LedgerConflict(f"{self._name!r} is not known this precisely; ask the owner of the data to refine it.")
        with LedgerRun(self._book, self._dataset, f"refining {self._name}") as run:
            odometer = Odometer(ledger=run)
            release, finest = self._claimed(run.id, level, wait)
            if finest is None or finest.level < level:
                increment = level if finest is None else level - finest.level
                mechanism = _Refining(Gaussian(self._statistic), self._print, finest, run, release)
                budget = Budget(increment * ALPHA, ALPHA)
                run.reserve([mechanism.promise(budget)], of=mechanism.neighbours.value)
                if token is not None:  # of what is held: refused before data is read, and then nothing was billed
                    self._bill(level, token)
                odometer.spend(mechanism, self._sealed, budget, Past(), noise)
        view = self._stored(level, noise, token)
        assert view is not None  # it was refined to this level, by this process or by another
        return view

    def _bill(self, level: Fraction, token: str) -> None:
        """Bill an analyst for a level that is about to be measured."""
        with self._book.home.writing() as writing:
            position, release, _ = self._found(writing)
            self._grant(writing, position, release, analyst_of(writing, position.id, token), level)

    def _stored(self, level: Fraction, noise: Noise, token: str | None) -> View | None:
        """What is known at a level without reading data, billed to whoever asks; None if it must be refined first."""
        with self._book.home.writing() as writing:
            position, release, views = self._found(writing)
            analyst = None if token is None else analyst_of(writing, position.id, token)
            known = bool(views) and views[-1].level >= level
            if not known:
                return None
            if analyst is None:
                return views[-1]
            position = self._grant(writing, position, release, analyst, level)
            for view in views:
                if view.level == level:
                    return view
            view = along_path(views, level, self._statistic.l2_squared, noise)
            body = {"release": release, **store_view(writing, release, view)}
            position.post(writing, "view", spelled(body), run=None, clock=self._book.clock)
            return view

    def _claimed(self, run: str, level: Fraction, wait: float) -> tuple[str, View | None]:
        """The release and its finest view, once this run alone refines it or another has refined it far enough."""
        until = time.monotonic() + wait
        while True:
            with self._book.home.writing() as writing:
                _, release, views = self._found(writing)
                finest = views[-1] if views else None
                ((refining,),) = writing.rows("SELECT refining FROM releases WHERE id = ?", release)
                if finest is not None and finest.level >= level:
                    return release, finest
                if refining is None:
                    writing.later("UPDATE releases SET refining = ? WHERE id = ?", run, release)
                    return release, finest
            if time.monotonic() > until:
                raise LedgerConflict(
                    f"another process has been refining {self._name!r} for a long time; wait for it or, if it is dead, "
                    "settle its run with `expost ledger settle`."
                )
            time.sleep(PAUSE_SECONDS)

    def _found(self, writing: Writing) -> tuple[Position, str, list[View]]:
        """The data set, the release, which is begun if it is not there, and its views."""
        position = Position.locked(writing, self._dataset)
        known, request = position.id, self._request
        found = writing.rows(
            "SELECT id, request, digest FROM releases WHERE dataset = ? AND name = ?", known, self._name
        )
        digest = self._digest(writing, known)
        if not found:
            identity = uuid4().hex
            if digest is None:
                raise LedgerConflict(f"there is no release {self._name!r} yet; ask the owner of the data to make it.")
            writing.later(
                "INSERT INTO releases (id, dataset, name, request, digest) VALUES (?, ?, ?, ?, ?)",
                *(identity, known, self._name, request, digest),
            )
            body: dict[str, Json] = {"id": identity, "name": self._name, "request": request, "digest": digest}
            _, position = position.post(writing, "release", spelled(body), run=None, clock=self._book.clock)
            return position, identity, []
        identity, asked, kept = map(str, found[0])
        if asked != request:
            raise LedgerConflict(f"{self._name!r} is a release of another statistic; give this one another name.")
        if digest not in (None, kept):
            raise LedgerConflict(
                f"the data is not what {self._name!r} was released from; it has changed, so begin a release with "
                "another name, at its own price."
            )
        return position, identity, views_of(writing, identity)

    @property
    def _request(self) -> str:
        statistic = self._statistic
        parts = statistic.name, statistic.shape, str(statistic.l2_squared), statistic.neighbours.value
        return json.dumps(parts, separators=(",", ":"))

    def _digest(self, writing: Writing, dataset: int | str) -> str | None:
        """A keyed digest of the data, by which the ledger notices that they changed."""
        if self._print is None:
            return None
        ((secret,),) = writing.rows("SELECT secret FROM datasets WHERE id = ?", dataset)
        return hmac.new(bytes.fromhex(str(secret)), self._print, hashlib.sha256).hexdigest()

    def _grant(self, writing: Writing, position: Position, release: str, analyst: str, level: Fraction) -> Position:
        """Bill an analyst for a level, before it is shown: for as much as it is finer than what they saw."""
        seen = writing.rows("SELECT level FROM seen WHERE release = ? AND analyst = ?", release, analyst)
        before = Fraction(str(seen[0][0])) if seen else Fraction(0)
        if level <= before:
            return position
        terms = position.terms
        change = view_charge(terms, self._statistic.l2_squared, math.prod(self._statistic.shape), before, level)
        charge_analyst(writing, analyst, spent=change, committed=change)
        writing.later("DELETE FROM seen WHERE release = ? AND analyst = ?", release, analyst)
        writing.later("INSERT INTO seen (release, analyst, level) VALUES (?, ?, ?)", release, analyst, str(level))
        body: dict[str, Json] = {
            "release": release,
            "analyst": analyst,
            "level": str(level),
            "amount": amount_out(change),
        }
        _, position = position.post(writing, "grant", spelled(body), run=None, clock=self._book.clock)
        return position


def snapped(rho: Real) -> Fraction:
    """A level on the grid, no finer than asked for."""
    level = Fraction(math.floor(positive(rho, "rho") * 2**LEVEL_BITS), 2**LEVEL_BITS)
    return positive(level, "rho")
