"""Overview: what a data set has spent, what is held and what is left, from its totals and its latest entries alone."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import final

from expost.accounting.claim import Spent
from expost.accounting.gaussian import gaussian_epsilon
from expost.errors import LedgerConflict
from expost.ledgers.amounts import Amount, as_fraction, is_finite
from expost.ledgers.home import Home, Row, Writing, legible
from expost.ledgers.measures import Order, Profile
from expost.ledgers.posting import ACCOUNT, ONE_RECORD, Account
from expost.ledgers.terms import EPSILON, Terms
from expost.numerics import down, up
from expost.receipts.costs import curve_in
from expost.report.digits import at_most, least, price, price_within, small
from expost.report.units import OF_PERSONS, RECORDS, by_unit

LOOKED_AT = 200
"""Entries at the end of a chain among which charges are looked for, however long the chain is."""
FIRST_TOLD = 3
"""The number of the first entry that may be listed: after that of the data set and that of a run."""


@final
@dataclass(frozen=True, slots=True)
class Charge:
    """A step that was captured: when, by which run of whom, what it read, and which share of the cap it took."""

    at: str
    run: str
    analyst: str | None
    what: str
    step: str
    part: str
    share: float
    finished: bool


@final
@dataclass(frozen=True, slots=True)
class Settlement:
    """A run that somebody ended for its process: when, and their statement, without which all that it held is spent."""

    at: str
    run: str
    statement: str | None


@final
@dataclass(frozen=True, slots=True)
class Overview:
    """Where a data set stands, with charges and settlements; ``earlier`` ones come before the entry of that number."""

    name: str
    unit: str
    account: Account
    entries: int
    head: str
    open_runs: int
    analysts: dict[str, Account]
    charges: tuple[Charge, ...]
    settlements: tuple[Settlement, ...]
    earlier: int | None


def overviews(home: Home, dataset: str | None = None, *, lines: int = 10, before: int | None = None) -> list[Overview]:
    """The data sets of a ledger, or one of them, with the latest charges and settlements, the newest first.

    They are the latest of all, or those that come ``before`` the entry of a number.
    """
    with home.reading() as reading, legible():
        known = reading.rows(f"SELECT {ACCOUNT}, name, unit, entries, head, neighbours FROM datasets ORDER BY id")  # noqa: S608
        found = [_overview(reading, row, lines, before) for row in known if dataset in (None, row[4])]
    if not found and dataset is not None:
        raise LedgerConflict(f"the ledger has no data set {dataset!r}; it has {_listed(known)}.")
    return found


def unit_words(unit: object, neighbours: object) -> str:
    """What is protected, as declared; where nobody did, what the neighbours of the runs differ in.

    Of runs per record no more is claimed than that, whatever was declared: a person may have many records.
    """
    if unit == ONE_RECORD:
        return by_unit(ONE_RECORD, str(neighbours or RECORDS))
    by_record = neighbours is not None and neighbours not in OF_PERSONS
    return f"{ONE_RECORD}, declared to be {unit}" if by_record else str(unit)


def only_dataset(home: Home) -> str:
    """The one data set that a ledger has, refused if there are several and one has to be named."""
    with home.reading() as reading:
        known = reading.rows("SELECT id, 0, 0, 0, name FROM datasets ORDER BY id")
    if len(known) != 1:
        raise LedgerConflict(f"the ledger has {_listed(known)}; say which one is meant with --dataset.")
    return str(known[0][4])


def amount_words(terms: Terms, amount: Amount) -> str:
    """What a total is stated as."""
    return value_words(terms, amount_word(terms, amount))


def amount_word(terms: Terms, amount: Amount) -> str:
    """The number of it."""
    return price_within(up(terms.cap), terms.stated(amount))


def value_words(terms: Terms, value: str) -> str:
    """A number in the notation of the cap."""
    if terms.delta is not None:
        return f"ε = {value} at δ = {small(terms.delta)}"
    measure = terms.measures[0]
    return f"ε = {value} at the Rényi order {float(measure.alpha):g}" if isinstance(measure, Order) else f"ρ = {value}"


def room_words(terms: Terms, committed: Amount) -> list[str]:
    """What may still be spent, by Gaussian noise or by steps of any kind."""
    limits = zip(terms.measures, terms.limits, committed, strict=True)
    rooms = {
        measure: down(as_fraction(limit - amount))
        for measure, limit, amount in limits
        if limit is not None and is_finite(amount) and amount < limit
    }
    if committed == terms.nothing and terms.kind != EPSILON:
        rooms = dict.fromkeys(rooms, float(terms.cap))
    return [_room(terms, measure, room) for measure, room in reversed(rooms.items())] or ["nothing"]


def _room(terms: Terms, measure: object, room: float) -> str:
    match measure:
        case Order(alpha):
            any_step = " for steps of any kind" if terms.kind == EPSILON else ""
            return f"ε = {at_most(room)} at the Rényi order {float(alpha):g}{any_step}"
        case Profile():
            assert terms.delta is not None  # of a cap with this measure
            alone = price(gaussian_epsilon(room, terms.delta))
            return f"ρ = {at_most(room)} for Gaussian noise, which by itself is ε = {alone} at δ = {small(terms.delta)}"
    return f"ρ = {at_most(room)}"


def left_share(terms: Terms, committed: Amount) -> str:
    """The share of the cap that is left, rounded down."""
    return least(max(0.0, 1 - terms.share(committed)))


def _overview(reading: Writing, row: Row, lines: int, before: int | None) -> Overview:
    account, (name, unit, entries, head, neighbours) = Account.of(row[:4]), row[4:]
    assert isinstance(entries, int)
    ((runs,),) = reading.rows("SELECT count(*) FROM runs WHERE dataset = ? AND state = 'open'", account.id)
    assert isinstance(runs, int)
    of_analysts = f"SELECT name, {ACCOUNT} FROM analysts WHERE dataset = ? ORDER BY name"  # noqa: S608
    analysts = reading.rows(of_analysts, account.id)
    latest, earlier = _latest(reading, account, entries + 1 if before is None else min(before, entries + 1), lines)
    charges = tuple(_charge(each, account) for kind, *each in latest if kind == "capture")
    settlements = tuple(_settlement(each) for kind, *each in latest if kind == "settle")
    return Overview(
        str(name), unit_words(unit, neighbours), account, entries, str(head), runs,
        {str(who): Account.of(each) for who, *each in analysts}, charges, settlements, earlier,
    )  # fmt: skip


def _latest(reading: Writing, account: Account, end: int, lines: int) -> tuple[list[Row], int | None]:
    """The latest charges and settlements before an entry, of the last few before it; where to look for more."""
    start = max(0, end - 1 - LOOKED_AT)
    found = reading.rows(
        "SELECT entries.number, entries.kind, entries.at, entries.run, entries.body, runs.what, analysts.name "
        "FROM entries JOIN runs ON runs.id = entries.run LEFT JOIN analysts ON analysts.id = runs.analyst "
        "WHERE entries.dataset = ? AND entries.number > ? AND entries.number < ? "
        "AND entries.kind IN ('capture', 'settle') ORDER BY entries.number DESC LIMIT ?",
        *(account.id, start, end, lines),
    )
    left = int(str(found[-1][0])) if lines and len(found) == lines else start + 1
    return [row[1:] for row in found], left if lines and left > FIRST_TOLD else None


def _settlement(row: Row) -> Settlement:
    at, run, body, *_ = row
    statement = json.loads(str(body))["statement"]
    datetime.fromisoformat(str(at))
    return Settlement(str(at), str(run), None if statement is None else str(statement))


def _charge(row: Row, account: Account) -> Charge:
    at, run, text, what, analyst = row
    body, terms = json.loads(str(text)), account.terms
    amount = terms.amount(Spent(curve_in(body["curve"])))
    share = terms.share(amount, terms.kept_by(account.committed))
    who = None if analyst is None else str(analyst)
    datetime.fromisoformat(str(at))
    return Charge(str(at), str(run), who, str(what), body["what"], body["part"], share, body["finished"])


def _listed(rows: list[Row]) -> str:
    return ", ".join(repr(str(row[4])) for row in rows) or "none"
