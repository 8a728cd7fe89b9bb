"""Standing: where a run and the accounts that it is charged to are."""

from collections.abc import Mapping
from dataclasses import replace

from expost.errors import LedgerConflict
from expost.ledgers.amounts import Amount
from expost.ledgers.chain import Link
from expost.ledgers.home import Home
from expost.ledgers.moving import Begun
from expost.ledgers.offer import tightest
from expost.ledgers.posting import ACCOUNT, Account
from expost.numerics import up
from expost.recorded import Allowance, Booking


def accounts_of(home: Home, run: str, known: Mapping[str, Account]) -> Mapping[str, Account]:
    """The accounts that a run is charged to: its data set and, where one began it, its analyst.

    Where the ledger cannot be read any more, they are those that were ``known``, with all that was held as spent.
    """
    try:
        return _read(home, run)
    except LedgerConflict:
        if not known:
            raise
        return {whose: replace(account, spent=account.committed) for whose, account in known.items()}


def booking_of(
    run: Begun,
    latest: Link,
    accounts: Mapping[str, Account],
    *,
    name: str,
    amounts: tuple[Amount, Amount],
    stops: tuple[int, int],
) -> Booking:
    """Where a run stands on the ledger of this name.

    ``amounts`` are the most that it held and what it has spent, ``stops`` how many of its plan fit, and of how many.
    """
    terms, account = run.terms, next(iter(accounts.values()))
    kept_by = terms.kept_by(amounts[0])
    return Booking(
        ledger=name,
        dataset=run.dataset,
        run=run.id,
        entry=latest[0],
        head=latest[1],
        held=terms.share(amounts[0], kept_by),
        captured=terms.share(amounts[1], kept_by),
        spent=terms.stated(account.spent),
        most=terms.stated(account.committed),
        cap=up(terms.cap),
        notation=terms.notation,
        fitting=stops[0],
        planned=stops[1],
        allowance=_allowance(accounts, amounts[0]),
    )


def _allowance(accounts: Mapping[str, Account], held: Amount) -> Allowance | None:
    """The allowance of the analyst that a run is charged to, if it is to one."""
    dataset, *analysts = accounts
    if not analysts:
        return None
    (whose,) = analysts
    account, terms = accounts[whose], accounts[whose].terms
    spent, most = terms.stated(account.spent), terms.stated(account.committed)
    return Allowance(whose, spent, most, up(terms.cap), binds=tightest(accounts, held) != dataset)


def _read(home: Home, run: str) -> dict[str, Account]:
    found = {}
    with home.reading() as reading:
        for what, table, key in (("data set", "datasets", "dataset"), ("analyst", "analysts", "analyst")):
            charged = f"FROM {table} WHERE id = (SELECT {key} FROM runs WHERE id = ?)"  # noqa: S608
            for name, *row in reading.rows(f"SELECT name, {ACCOUNT} {charged}", run):
                found[f"the {what} {name!r}"] = Account.of(row)
    return found
