"""Releases under a key: made once, stored with their bill, and given back at no cost ever after."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar, final

from expost.accounting.claim import Budget, Promise
from expost.ledger import Fact
from expost.ledgers.book import Book
from expost.ledgers.run import LedgerRun
from expost.noise import Noise
from expost.odometer import Odometer
from expost.private import Neighbours, Private
from expost.protocols import Mechanism, recorded_name
from expost.receipts.costs import budget_out, curve_out
from expost.release import Past
from expost.text import Json

D = TypeVar("D")
T = TypeVar("T")


@final
@dataclass(frozen=True)
class _Storing(Generic[D, T]):
    """A mechanism whose value is stored by the capture that bills it."""

    made_by: Mechanism[D, T]
    encode: Callable[[T], Json]
    run: LedgerRun

    @property
    def name(self) -> str:
        """The mechanism's."""
        return recorded_name(self.made_by)

    @property
    def neighbours(self) -> Neighbours:
        """The mechanism's."""
        return self.made_by.neighbours

    @property
    def floating(self) -> bool:
        """As the mechanism."""
        return self.made_by.floating

    def promise(self, budget: Budget) -> Promise:
        """The mechanism's."""
        return self.made_by.promise(budget)

    def facts(self, budget: Budget) -> Mapping[str, Fact]:
        """The mechanism's."""
        return self.made_by.facts(budget)

    def sample(self, data: D, budget: Budget, past: Past[T], noise: Noise) -> T:
        """The mechanism's value, to be written with its bill."""
        value = self.made_by.sample(data, budget, past, noise)
        self.run.keep(json.dumps(self.encode(value), allow_nan=False))
        return value


def release_once(
    book: Book,
    dataset: str,
    mechanism: Mechanism[D, T],
    data: Private[D],
    budget: Budget,
    *,
    key: str,
    encode: Callable[[T], Json],
    decode: Callable[[Json], T],
    noise: Noise,
    token: str | None = None,
) -> T:
    """One step of a mechanism under a key: run and billed the first time, and read from the ledger ever after.

    Value and bill are stored in one transaction before the value leaves, so that whoever lost it asks again under the
    same key. Another request under a used key is refused. ``encode`` and ``decode`` turn a value into JSON and back;
    what is returned is always what was stored.
    """
    curve, facts = mechanism.promise(budget).curve, dict(mechanism.facts(budget))
    asked = [recorded_name(mechanism), facts, budget_out(budget), curve_out(curve), data.neighbours.value]
    request = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
    with LedgerRun(book, dataset, recorded_name(mechanism), token=token, key=key, request=request) as run:
        odometer = Odometer(ledger=run)
        if run.payload is None:
            odometer.spend(_Storing(mechanism, encode, run), data, budget, Past(), noise)
        assert run.payload is not None  # stored by this run, or by an earlier one
        return decode(json.loads(run.payload))
