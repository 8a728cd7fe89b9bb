"""The book: everything that can be done to a ledger, each in one transaction."""

import os
import re
from pathlib import Path
from typing import Self, final
from uuid import uuid4

from expost.accounting.pledge import Pledge
from expost.errors import BudgetExceeded, InvalidValue, LedgerConflict, NotInstalled
from expost.ledgers.amounts import amount_out
from expost.ledgers.beginning import analyst_of, earlier_release, pin_split, require_all_words
from expost.ledgers.chain import GENESIS, Entered, Link, enter, spelled
from expost.ledgers.home import Home
from expost.ledgers.moving import RUN, Begun, Move, OpenRun, sha256
from expost.ledgers.posting import ONE_RECORD, Clock, Position, now
from expost.ledgers.run import LedgerRun
from expost.ledgers.sqlite import SqliteHome
from expost.ledgers.terms import Terms, allowance, terms_text
from expost.numerics import Real
from expost.receipts.costs import pledge_out
from expost.recorded import ReadableLedger
from expost.text import Json

MOST_NAME = 200
ALMOST = re.compile(r"\s*([a-z][a-z0-9+.-]*:/|postgres\w*[+:])|.*(\bpassword\s*=|\0)", re.IGNORECASE | re.DOTALL)
"""What begins like the address of a server or has a password, which a file of this name would show to everybody."""


@final
class Book:
    """A ledger that is open: data sets with their caps, runs that hold and capture, analysts, and a chain of entries.

    Every method is one transaction, which is on the disk when it returns.
    """

    def __init__(self, home: Home, *, clock: Clock = now) -> None:
        self.home, self.clock = home, clock

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.home.close()

    def add(self, dataset: str, terms: Terms, *, unit: str = ONE_RECORD) -> Entered:
        """Put a data set on the ledger, with terms that stay; a name that is taken is refused."""
        _require_new(dataset, unit)
        with self.home.writing() as writing:
            if writing.rows("SELECT 1 FROM datasets WHERE name = ?", dataset):
                raise LedgerConflict(f"the ledger has a data set {dataset!r} already; its cap stays as it is.")
            ((last,),) = writing.rows("SELECT max(id) FROM datasets")
            at, number = self.clock().isoformat(), 1 + (last if isinstance(last, int) else 0)
            secret = uuid4().hex + uuid4().hex
            body: dict[str, Json] = {
                "dataset": dataset, "unit": unit, "terms": terms.out(), "secret": sha256(secret)
            }  # fmt: skip
            first, nothing = (
                enter(GENESIS, 1, at=at, kind="init", run=None, body=spelled(body)),
                amount_out(terms.nothing),
            )
            writing.later(
                "INSERT INTO datasets (id, name, terms, unit, secret, spent, committed, room, entries, head, latest) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                *(number, dataset, terms_text(terms), unit, secret, nothing, nothing),
                *(str(terms.room(terms.nothing)), 1, first.hash, at),
            )
            writing.later(
                "INSERT INTO entries (dataset, number, at, kind, run, body, hash) VALUES (?, ?, ?, ?, ?, ?, ?)",
                *(number, 1, at, first.kind, None, first.body, first.hash),
            )
        return first

    def add_analyst(self, dataset: str, name: str, cap: Real) -> str:
        """Give somebody an allowance below the cap; the token is returned once, and the ledger keeps its hash."""
        _require_short(name, "the name of an analyst")
        token = uuid4().hex + uuid4().hex
        with self.home.writing() as writing:
            position = Position.locked(writing, dataset)
            terms, known = allowance(position.terms, cap), position.id
            if writing.rows("SELECT 1 FROM analysts WHERE dataset = ? AND name = ?", known, name):
                raise LedgerConflict(f"{name!r} is an analyst of {dataset!r} already; the allowance stays as it is.")
            identity, nothing, kept = uuid4().hex, amount_out(terms.nothing), sha256(token)
            position.post(
                writing, "analyst", spelled({"id": identity, "name": name, "token": kept, "terms": terms.out()}),
                run=None, clock=self.clock,
            )  # fmt: skip
            writing.later(
                "INSERT INTO analysts (id, dataset, name, token, terms, spent, committed, room) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                *(identity, known, name, kept, terms_text(terms), nothing, nothing, str(terms.room(terms.nothing))),
            )
        return token

    def run(
        self,
        dataset: str,
        what: str = "a run",
        *,
        token: str | None = None,
        split: str | None = None,
        because: str = "",
        beside: ReadableLedger | None = None,
    ) -> LedgerRun:
        """A run on a data set, for the odometer, the job or the trainer that it is given to; see ``begin``."""
        return LedgerRun(self, dataset, what, token=token, split=split, because=because, beside=beside)

    def begin(
        self,
        dataset: str,
        what: str,
        *,
        pledge: Pledge | None = None,
        token: str | None = None,
        split: str | None = None,
        because: str = "",
        key: str | None = None,
        request: str | None = None,
    ) -> Begun:
        """Put a run on record, before it holds anything.

        ``split`` names a fixed split of the data set, whose sides other runs may read too; ``because`` says of a new
        one why nobody is on both. A ``key`` is used once: the same request under it gives back what was released.
        """
        require_all_words(what, split, because, key)
        identity = uuid4().hex
        with self.home.writing() as writing:
            position = Position.locked(writing, dataset)
            terms, known = position.terms, position.id
            analyst = None if token is None else analyst_of(writing, known, token)
            if key is not None and (earlier := earlier_release(writing, known, key, request, analyst)) is not None:
                return Begun(earlier[0], dataset, terms, payload=earlier[1], earlier=True)
            if split is not None:
                pin_split(writing, known, split, because, terms)
            body: dict[str, Json] = {
                "what": what, "analyst": analyst, "split": split, "because": because, "key": key, "request": request,
                "pledge": None if pledge is None else pledge_out(pledge), "host": os.uname().nodename,
                "process": os.getpid(),
            }  # fmt: skip
            entered, _ = position.post(writing, "begin", spelled(body), run=identity, clock=self.clock)
            writing.later(
                "INSERT INTO runs (id, dataset, analyst, what, split, idempotency, request, opened, begun, state) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'open')",
                *(identity, known, analyst, what, split, key, request, entered.at, entered.number),
            )
        return Begun(identity, dataset, terms, entered.number)

    def move(self, run: Begun, move: Move, after: int, known: OpenRun | None) -> tuple[Link, OpenRun | None]:
        """Change what a run has spent and holds, refused if it is no longer open or a cap has no room for it.

        The latest entry of the run must be the one that this comes ``after``. What is then ``known`` of a run that is
        counted in nothing but its data set spares the next change a look at the ledger: it is made only if the chain
        still ends with this entry, so that nothing else has changed.
        """
        if known is not None and move.state == "open" and move.payload is None and move.also is None:
            try:
                following, change, entry = known.follow(move, self.clock)
                if self.home.enter(change, entry):
                    return (following.position.entries, following.position.head), following
            except BudgetExceeded:  # of what was known, and there may be room by now
                pass
        with self.home.writing() as writing:
            writing.soon(RUN, run.id)
            position = Position.locked(writing, run.dataset)
            found = OpenRun.found(writing, position, run.id, after=after)
            entered, following = found.moved(writing, move, self.clock)
        alone = move.state == "open" and found.analyst is None and found.split is None
        return (entered.number, entered.hash), following if alone and position.entries == after else None

    def latest(self, run: Begun) -> Entered:
        """The latest entry of a run, once nobody else is writing."""
        with self.home.writing() as writing:
            known = Position.locked(writing, run.dataset).id
            ((number, *cells),) = writing.rows(
                "SELECT number, at, kind, run, body, hash FROM entries WHERE dataset = ? AND number >= ? AND run = ? "
                "ORDER BY number DESC LIMIT 1",
                *(known, run.number, run.id),
            )
        at, kind, whose, body, link = map(str, cells)
        return Entered(int(str(number)), at, kind, whose, body, link)


def init_ledger(name: str | Path, dataset: str, terms: Terms, *, unit: str = ONE_RECORD) -> Book:
    """The ledger of this name, made if it is not there, with one more data set."""
    _require_new(dataset, unit)
    book = Book(home_of(str(name), create=True))
    try:
        book.add(dataset, terms, unit=unit)
    except BaseException:
        book.home.close()
        raise
    return book


def open_ledger(name: str | Path) -> Book:
    """The ledger of this name: a file, or a database of a server, that ``expost ledger init`` made it in."""
    return Book(home_of(str(name)))


def home_of(name: str, *, create: bool = False) -> Home:
    """Where a ledger lives, by its name: the address of a PostgreSQL database, or a file."""
    if not name.startswith(("postgresql://", "postgres://")):
        if ALMOST.match(name):
            raise LedgerConflict(
                "the ledger is neither a file nor a PostgreSQL database by its name; give a path, or write it as "
                "postgresql://role@host/database, without a password."
            )
        return SqliteHome.create(Path(name)) if create else SqliteHome(Path(name))
    try:
        from expost.ledgers.postgres import PostgresHome  # noqa: PLC0415  its driver is optional
    except ImportError:
        raise NotInstalled("a ledger on a server needs psycopg; install expost[postgres].", name="psycopg") from None
    return PostgresHome.create(name) if create else PostgresHome(name)


def _require_new(dataset: str, unit: str) -> None:
    _require_short(dataset, "the name of a data set")
    _require_short(unit, "what is protected")


def _require_short(words: str, what: str) -> None:
    if not words.strip() or len(words) > MOST_NAME or not words.isprintable():
        raise InvalidValue(f"{what} is empty, too long or not printable; give a few words.")
