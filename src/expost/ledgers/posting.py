"""Posting: what happens to a data set in one transaction, checked against its caps and put into its chain."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from expost.errors import BudgetExceeded, LedgerConflict
from expost.ledgers.amounts import Amount, amount_in, amount_out, plus
from expost.ledgers.chain import Entered, enter
from expost.ledgers.home import Change, Row, Writing, legible
from expost.ledgers.tables import ENTER
from expost.ledgers.terms import Terms, terms_in
from expost.report.units import OF_PERSONS, RECORDS, by_unit

Clock = Callable[[], datetime]
BACKWARDS = timedelta(minutes=5)
"""How far the clocks of the machines that share a ledger may differ."""
ONE_RECORD = "one record"
"""What a data set protects where nobody says."""
ACCOUNT = "id, terms, spent, committed"
MOVE = (
    "UPDATE datasets SET spent = ?, committed = ?, room = ?, entries = ?, head = ?, latest = ?, neighbours = ? "
    "WHERE id = ? AND head = ?"
)
"""Nothing is changed unless the chain still ends where the entry follows."""


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


class Account(NamedTuple):
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

    def moved(
        self, spent: Amount | None, committed: Amount | None, *, whose: str, name: str
    ) -> tuple["Account", tuple[str, str, str]]:
        """The account after a change of both, or of one, refused if no cap has room for it, and its cells.

        These are what the ledger keeps: spent, committed, and how much room is left.
        """
        terms, paid, held = self.terms, self.spent, self.committed
        paid, held = paid if spent is None else plus(paid, spent), held if committed is None else plus(held, committed)
        room = terms.room(held)
        if room < 0 and committed is not None and max(committed) > 0:
            raise BudgetExceeded(
                f"the {whose} {name!r} has {terms.stated(self.committed):.4g} spent or held of its cap "
                f"{float(terms.cap):g} ({terms.notation}), and this would pass it; ask for less, or wait until runs "
                "that hold the rest have ended."
            )
        return Account(self.id, terms, paid, held), (amount_out(paid), amount_out(held), str(room))


class Position(NamedTuple):
    """A data set that is locked by this transaction, and the end of its chain."""

    name: str
    account: Account
    neighbours: str | None
    entries: int
    head: str
    latest: datetime

    @classmethod
    def locked(cls, writing: Writing, dataset: str) -> "Position":
        """The data set of this name."""
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
            return cls(dataset, Account.of(found[0][:4]), neighbours, entries, str(head), time)

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
        entered, after, (sql, cells), entry = self.follow(
            kind, body, run=run, clock=clock, spent=spent, committed=committed, neighbours=neighbours
        )
        writing.later(sql, *cells)
        writing.later(ENTER, *entry)
        return entered, after

    def follow(
        self,
        kind: str,
        body: str,
        *,
        run: str | None,
        clock: Clock,
        spent: Amount | None,
        committed: Amount | None,
        neighbours: str | None,
    ) -> tuple[Entered, "Position", Change, Row]:
        """The entry that comes next, the position after it, the change that it makes, and its row.

        The change touches no row if others have written since this was the position of the data set.
        """
        if self.neighbours is not None and neighbours not in (None, self.neighbours):
            raise LedgerConflict(self._other(neighbours))
        known, at = self.account.id, self._time(clock)
        entered = enter(self.head, self.entries + 1, at=at.isoformat(), kind=kind, run=run, body=body)
        account, cells = self.account.moved(spent, committed, whose="data set", name=self.name)
        after = Position(self.name, account, self.neighbours or neighbours, entered.number, entered.hash, at)
        number, hashed = entered.number, entered.hash
        change = MOVE, (*cells, number, hashed, entered.at, after.neighbours, known, self.head)
        return entered, after, change, (known, number, entered.at, kind, run, body, hashed)

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
            return f"{refused}; declare in its schema which column is the unit, so that each run covers persons."
        return f"{refused}; leave the unit out, or add the data set under another name, with a cap per person."

    def _time(self, clock: Clock) -> datetime:
        """The time of an entry, which never runs backwards."""
        time = clock()
        if time < self.latest - BACKWARDS:
            raise LedgerConflict(
                f"the clock says {time:%Y-%m-%d %H:%M}, which is before the last entry of the ledger "
                f"({self.latest:%Y-%m-%d %H:%M}); set the clock."
            )
        return max(time, self.latest)
