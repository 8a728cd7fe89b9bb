"""Posting: what happens to a data set in one transaction, checked against its caps and put into its chain."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import compress, product
from typing import NamedTuple, TypeAlias, final

from expost.errors import BudgetExceeded, LedgerConflict
from expost.ledgers.amounts import Amount, amount_in, amount_out, is_finite, plus
from expost.ledgers.chain import Entered, link
from expost.ledgers.home import Change, Row, Writing, legible
from expost.ledgers.tables import ENTER
from expost.ledgers.terms import Terms, terms_in
from expost.report.units import OF_PERSONS, RECORDS, by_unit
from expost.text import is_unicode

Clock: TypeAlias = Callable[[], datetime]
Said: TypeAlias = tuple[str, str | None, str]
"""What an entry is, of which run if any, and what it says."""
More: TypeAlias = tuple[Amount | None, Amount | None]
"""By how much what is spent and what is held change, if they do."""
BACKWARDS = timedelta(minutes=5)
"""How far the clocks of the machines that share a ledger may differ."""
ONE_RECORD = "one record"
"""What a data set protects where nobody says."""
LIMITS = {"data set": "its cap", "analyst": "their allowance"}
"""What the limit of an account is called, by whose it is."""
ACCOUNT = "id, terms, spent, committed"
COLUMNS = "neighbours = ?, ", "spent = ?, ", "committed = ?, room = ?, "
MOVES = {
    changed: f"UPDATE datasets SET {''.join(compress(COLUMNS, changed))}entries = ?, head = ?, latest = ? "  # noqa: S608
    "WHERE id = ? AND head = ?"
    for changed in product((False, True), repeat=3)
}
"""By which of the columns change; nothing does unless the chain still ends where the entry follows."""


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


def no_bound(terms: Terms, held: Amount, whose: str, what: str) -> str | None:
    """Why a step or a run is refused that brings what is held beyond any cap there might be; None if it does not."""
    if any(is_finite(held[place]) for place, _ in terms.capped):
        return None
    return (
        f"this {what} has no bound in the measure that {whose} is capped in ({terms.notation}), and does not fit "
        "however much is left; choose one that has."
    )


@final
@dataclass(frozen=True, slots=True)
class Account:
    """A data set or an analyst: its caps, what was captured, and that together with all holds."""

    id: int | str
    terms: Terms
    spent: Amount
    committed: Amount

    @classmethod
    def of(cls, row: Row) -> "Account":
        """From the columns of ``ACCOUNT``."""
        identity, terms, spent, committed = row
        assert isinstance(identity, int | str)
        known = terms_in(str(terms))
        return cls(identity, known, amount_in(str(spent), known.width), amount_in(str(committed), known.width))


def charged(account: "Account | Position", more: Amount, whose: str, name: str) -> tuple[Amount, int]:
    """What an account holds with so much more, and the room that is left; refused if no cap has room for it."""
    terms = account.terms
    held = plus(account.committed, more)
    room = terms.room(held)
    if room < 0 and max(more) > 0:
        if (unbounded := no_bound(terms, held, f"the {whose} {name!r}", "step")) is not None:
            raise BudgetExceeded(unbounded)
        raise BudgetExceeded(
            f"the {whose} {name!r} has {terms.stated(account.committed):.4g} spent or held of {LIMITS[whose]} "
            f"{float(terms.cap):g} ({terms.notation}), and this would pass it; ask for less, or wait until runs "
            "that hold the rest have ended."
        )
    return held, room


class Position(NamedTuple):
    """A data set: its account, and the end of its chain."""

    id: int | str
    terms: Terms
    spent: Amount
    committed: Amount
    name: str
    neighbours: str | None
    entries: int
    head: str
    latest: datetime

    @classmethod
    def locked(cls, writing: Writing, dataset: str) -> "Position":
        """The data set of this name, locked by this transaction."""
        if not is_unicode(dataset):
            raise LedgerConflict(f"the ledger has no data set {dataset!r}: the name is not in UTF-8; correct it.")
        found = writing.rows(
            f"SELECT {ACCOUNT}, neighbours, entries, head, latest FROM datasets WHERE name = ?{{lock}}",  # noqa: S608
            dataset,
        )
        if not found:
            raise LedgerConflict(f"the ledger has no data set {dataset!r}; add it with `expost ledger init`.")
        with legible():
            neighbours, entries, head, latest = found[0][4:]
            assert isinstance(entries, int)
            assert neighbours is None or isinstance(neighbours, str)
            time = datetime.fromisoformat(str(latest))
            known = Account.of(found[0][:4])
            return cls(
                known.id, known.terms, known.spent, known.committed, dataset, neighbours, entries, str(head), time
            )

    def post(
        self,
        writing: Writing,
        kind: str,
        body: str,
        *,
        run: str | None,
        clock: Clock,
        spent: Amount | None = None,
        committed: Amount | None = None,
        neighbours: str | None = None,
    ) -> tuple[Entered, "Position"]:
        """Put an entry into the chain and the change that it makes into the account; the position for one more."""
        after, (sql, cells), entry = self.follow((kind, run, body), clock, (spent, committed), neighbours)
        writing.later(sql, *cells)
        writing.later(ENTER, *entry)
        return Entered(after.entries, after.latest.isoformat(), kind, run, body, after.head), after

    def follow(self, said: Said, clock: Clock, more: More, neighbours: str | None) -> tuple["Position", Change, Row]:
        """The position after one more entry, which makes what is spent and held ``more``; the change, and its row.

        The change touches no row if others have written since this was the position of the data set.
        """
        known, terms, paid, held, name, settled, number, head, _ = self
        (kind, run, body), (spent, committed) = said, more
        cells: tuple[str, ...] = ()
        settles = neighbours is not None and neighbours != settled
        if neighbours is not None and settles:
            settled = self._settled(neighbours)
            cells = (settled,)
        if spent is not None:
            paid = plus(paid, spent)
            cells = (*cells, amount_out(paid))
        if committed is not None:
            held, room = charged(self, committed, "data set", name)
            cells = (*cells, amount_out(held), str(room))
        time, number = self._time(clock), number + 1
        at = time.isoformat()
        hashed = link(head, (number, at, kind, run, body))
        change = MOVES[settles, spent is not None, committed is not None], (*cells, number, hashed, at, known, head)
        after = Position(known, terms, paid, held, name, settled, number, hashed, time)
        return after, change, (known, number, at, kind, run, body, hashed)

    def _settled(self, neighbours: str) -> str:
        """The relation of its first step, which all others have to be under."""
        if self.neighbours is not None:
            raise LedgerConflict(self._other(neighbours))
        return neighbours

    def _other(self, neighbours: str) -> str:
        """Why a step under another relation is refused, and what to do about it."""
        billed, asked = by_unit("per record", self.neighbours or RECORDS), by_unit("per record", neighbours)
        if billed == asked:
            return (
                f"the data set {self.name!r} is billed for neighbours that {self.neighbours}, this step for others; "
                "add it to the ledger once more under another name."
            )
        refused = f"the data set {self.name!r} is billed {billed}, and this step would be {asked}"
        if self.neighbours in OF_PERSONS:
            return (
                f"{refused}; declare in its schema which column is the unit, or give it as --unit where there is no "
                "schema, so that each run covers persons."
            )
        return f"{refused}; leave the unit out, or add the data set under another name, with a cap per person."

    def _time(self, clock: Clock) -> datetime:
        """The time of an entry, which never runs backwards."""
        time = clock()
        if time >= self.latest:
            return time
        if time < self.latest - BACKWARDS:
            raise LedgerConflict(
                f"the clock says {time:%Y-%m-%d %H:%M}, which is before the last entry of the ledger "
                f"({self.latest:%Y-%m-%d %H:%M}); set the clock."
            )
        return self.latest
