"""Steps, runs and totals for tests of ledgers."""

from collections.abc import Mapping
from fractions import Fraction
from typing import TypeAlias

from expost.accounting.claim import Promise
from expost.accounting.curve import Linear
from expost.ledger import Entry, Hold
from expost.ledgers.amounts import Amount, amount_in, units
from expost.ledgers.book import Book
from expost.ledgers.moving import totals_in
from expost.ledgers.run import LedgerRun
from expost.ledgers.slots import Slots
from expost.ledgers.terms import Terms, terms_in

Rational: TypeAlias = Fraction | str | int
NEIGHBOURS = "differ in one record"


def gaussian(rho: Rational) -> Promise:
    """A Gaussian step."""
    exact = Fraction(rho)
    return Promise(Linear(Fraction(0), exact, exact))


def entry(part: str = "data", *, neighbours: str = NEIGHBOURS, seeded: bool = False) -> Entry:
    """What a step goes on record with."""
    return Entry("gaussian", part, neighbours, seeded, floating=False, facts={"sigma": "3"})


def run(book: Book, dataset: str = "visits", **settings: str) -> LedgerRun:
    """A run that has begun."""
    found = LedgerRun(book, dataset, "a test", **settings)  # type: ignore[arg-type]  # all of them are texts
    found.pledge(None)
    return found


def hold(run: LedgerRun, rho: Rational, part: str = "data") -> Hold:
    """A step that is about to read a part."""
    return run.hold(entry(part), gaussian(rho))


def step(run: LedgerRun, rho: Rational, part: str = "data") -> None:
    """A step that finished at the price it promised."""
    promised = hold(run, rho, part)
    run.capture(promised, promised.promise.as_spent())


def totals(book: Book, table: str = "datasets", name: str = "visits") -> Mapping[str, Amount]:
    """What a data set or an analyst has spent, and that with what is held."""
    with book.home.reading() as reading:
        ((terms, *cells),) = reading.rows(f"SELECT terms, spent, committed FROM {table} WHERE name = ?", name)
    known = terms_in(str(terms))
    spent, committed = (amount_in(str(cell), known.width) for cell in cells)
    return {"spent": spent, "committed": committed}


def runs_of(book: Book, terms: Terms) -> dict[str, tuple[str, Slots, Slots]]:
    """The state of every run, what it has spent, and that with what it holds."""
    with book.home.reading() as reading:
        rows = reading.rows(
            "SELECT runs.id, runs.state, runs.split, entries.kind, entries.body FROM runs "
            "JOIN entries ON entries.run = runs.id ORDER BY entries.number"
        )
    latest = {str(run): row for run, *row in rows}
    return {
        run: (str(state), *totals_in(str(kind), str(body), terms, named=split is not None))
        for run, (state, split, kind, body) in latest.items()
    }


def rho(amount: Rational) -> Amount:
    """An amount under a cap on zCDP."""
    return (units(Fraction(amount)),)
