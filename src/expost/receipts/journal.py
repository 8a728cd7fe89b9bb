"""The journal of a run: a line for each thing that was about to be spent, that was spent, or that was shown.

A hold is written before data is opened and a capture before the value leaves, so whatever ends a run, its journal
states at least what was spent. A last line that was cut short was never acted upon, and says nothing.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import TypeAlias, final

from expost.accounting.claim import Promise, Spent
from expost.accounting.curve import AdpEpsilon
from expost.accounting.pledge import Pledge
from expost.accounting.private_selection import SelectionBill, Statement, TruncatedNegativeBinomial
from expost.accounting.statement import stated
from expost.bill import Item, bill_total
from expost.errors import ExpostError, Unreadable
from expost.ledger import Entry, Fact, Hold
from expost.receipts.costs import curve_in, curve_out, item_in, item_out, pledge_in, pledge_out
from expost.receipts.notation import items, number, table, text, whole
from expost.receipts.untrusted import json_in, require_modest
from expost.report.digits import price, small
from expost.report.words import NOT_PRIVATE
from expost.text import Json, printable
from expost.training.tune import Selection
from expost.training.tuned import Selected

FORMAT, VERSION = "expost journal 1", metadata.version("expost")
MOST_LINES = 10**5
"""More than any run writes; an auditor is not kept waiting by a file that was made to."""
ORDERS = (2, 20, 128)
"""Where a step's cost is compared with what was held for it."""
SLACK = 1 + 1e-9
Limits: TypeAlias = tuple[float, ...]


def opening_line() -> dict[str, Json]:
    """What a journal begins with."""
    return {"format": FORMAT, "expost": VERSION}


def pledge_line(pledge: Pledge) -> dict[str, Json]:
    """How the total will be stated."""
    return {"pledge": pledge_out(pledge)}


def hold_line(number: int, entry: Entry, promise: Promise, *, before: Hold | None = None) -> dict[str, Json]:
    """What is about to be spent at most, before data is opened; its number alone if it is the same as the one before.

    A training run holds the same for every epoch, and a table of costs is thousands of characters.
    """
    item = item_out(Item(entry, promise.as_spent(), finished=False))
    same = before is not None and item == item_out(Item(before.entry, before.promise.as_spent(), finished=False))
    return {"hold": number} if same else {"hold": number, "item": item}


def capture_line(number: int, hold: Hold, spent: Spent) -> dict[str, Json]:
    """What a hold did cost, before the value leaves; its number alone if that is all that was held."""
    curve = curve_out(spent.curve)
    return {"capture": number} if curve == curve_out(hold.promise.curve) else {"capture": number, "curve": curve}


def shown_line(cells: Mapping[str, str]) -> dict[str, Json]:
    """What is about to be shown of a rung."""
    return {"shown": dict(cells)}


@final
@dataclass(frozen=True, slots=True)
class Kept:
    """What a journal says: the pledge, the bill with unfinished steps in full, and what was shown.

    A bill that is a ``tuning`` and nothing else has a statement of its own.
    """

    pledge: Pledge | None
    bill: tuple[Item, ...]
    shown: tuple[Mapping[str, Json], ...]
    tuning: Statement | None = None

    @property
    def epsilon(self) -> AdpEpsilon:
        """The ε of all that was spent, under the pledge; infinite without one, unless it is that of a tuning."""
        if self.tuning is not None:
            return self.tuning.epsilon
        return AdpEpsilon(0.0) if not self.bill else stated(bill_total(self.bill), self.pledge)

    @property
    def delta(self) -> float | None:
        """The δ of the statement, if there is one."""
        rule = self.pledge if self.tuning is None else self.tuning
        return None if rule is None else rule.delta

    def __str__(self) -> str:
        if not self.bill:
            return "The journal says that nothing was spent."
        told = [printable("  ".join(f"{name}: {cell}" for name, cell in each.items())) for each in self.shown]
        warning = [f"{NOT_PRIVATE}."] if any(item.entry.seeded for item in self.bill) else []
        at = "" if self.delta is None else f" at δ = {small(self.delta)}"
        spent = f"The journal says that ε = {price(self.epsilon)}{at} is spent{self._open}."
        return "\n".join([*warning, *told, spent])

    @property
    def _open(self) -> str:
        match sum(not item.finished for item in self.bill):
            case 0:
                return ""
            case 1:
                return ", with one step that did not finish and is counted in full"
            case number:
                return f", with {number} steps that did not finish and are counted in full"


def is_journal(text: str) -> bool:
    """Whether a file begins as a journal does."""
    try:
        first = json.loads(text.partition("\n")[0])
    except (ValueError, RecursionError):
        return False
    return isinstance(first, dict) and str(first.get("format")).startswith("expost journal ")


def read_journal(text: str) -> Kept:
    """What a journal says; refused if anything but its last line is not whole."""
    lines = text.split("\n")[:-1]  # what follows the last line break is empty, or was cut short and never acted upon
    if not is_journal(text) or len(lines) > MOST_LINES:
        raise Unreadable("this is not a journal of expost; name the one beside the folder of a release.")
    try:
        found = [table(json_in(line)) for line in lines]
        if not found or found[0].get("format") != FORMAT:
            raise Unreadable("another version's")
        return _kept(found[1:])
    except (ExpostError, ValueError, KeyError, TypeError, ZeroDivisionError, OverflowError, RecursionError):
        raise Unreadable(
            "the journal is not one that this version of expost writes: a line is missing, malformed or was changed."
        ) from None


def _kept(lines: Sequence[Mapping[str, Json]]) -> Kept:
    pledge: Pledge | None = None
    bill: dict[int, Item] = {}
    limits: dict[int, Limits] = {}
    held: Item | None = None
    shown: list[Mapping[str, Json]] = []
    for place, line in enumerate(lines):
        match [*line]:
            case ["pledge"] if place == 0:
                pledge = pledge_in(line["pledge"])
            case ["hold", "item"] if line["hold"] == len(bill) + 1:
                held = _held(item_in(line["item"]))
                limits[len(bill) + 1] = _limits(held.spent)
                bill[len(bill) + 1] = held
            case ["hold"] if line["hold"] == len(bill) + 1 and held is not None:
                limits[len(bill) + 1] = limits[len(bill)]
                bill[len(bill) + 1] = held
            case ["capture"]:
                number = whole(line["capture"])
                bill[number] = _captured(bill[number], bill[number].spent)
            case ["capture", "curve"]:
                number, spent = whole(line["capture"]), Spent(curve_in(line["curve"]))
                if any(cost > SLACK * limit for cost, limit in zip(_limits(spent), limits[number], strict=True)):
                    raise Unreadable("a hold is captured for no more than was held.")
                bill[number] = _captured(bill[number], spent)
            case ["shown"]:
                shown.append(table(line["shown"]))
            case _:
                raise Unreadable("a line is out of place.")
    found = require_modest([*bill.values()])
    return Kept(pledge, found, tuple(shown), selection_stated(found))


def _held(item: Item) -> Item:
    if item.finished or item.count != 1:
        raise Unreadable("a hold is one step that has not finished.")
    return item


def _captured(hold: Item, spent: Spent) -> Item:
    if hold.finished:
        raise Unreadable("a hold is captured once.")
    return Item(hold.entry, spent)


def _limits(spent: Spent) -> Limits:
    """What a hold allows, worked out once for all that are alike: a table of costs is slow to look up."""
    return tuple(spent.at(alpha) for alpha in ORDERS)


PRICES = "configurations"


def selection_stated(bill: Sequence[Item]) -> Statement | None:
    """The (ε, δ) of a bill that is that of one tuning and of nothing else; None for any other.

    It is that of the dearest configuration, unless it is on record which one is shown.

    Uses: private selection; private selection, approximate.
    """
    match bill:
        case [run] if _is_selection(run):
            return _bill(run.entry.facts)[1].none_passed
        case [run, shown] if _is_selection(run) and run.finished and shown.entry.what == Selected.name:
            names, prices = _bill(run.entry.facts)
            best = shown.entry.facts.get("configuration")
            return prices.none_passed if best is None else prices.passed(names.index(str(best)))
    return None


def _is_selection(item: Item) -> bool:
    """Whether it is a step of ours that claims nothing in Rényi terms; a caller's class may have the same name."""
    return item.entry.what == Selection.name and math.isinf(item.spent.at(2)) and PRICES in item.entry.facts


def _bill(facts: Mapping[str, Fact]) -> tuple[list[str], SelectionBill]:
    """The names and the prices that were on record before any run; ValueError and its like for what never was."""
    listed = [items(each) for each in items(json.loads(str(facts[PRICES])))]
    names = [text(name) for name, _, _ in listed]
    if len(set(names)) < len(names):
        raise Unreadable("two configurations on record have the same name.")
    prices = tuple(Statement(AdpEpsilon(number(epsilon)), number(delta)) for _, epsilon, delta in listed)
    return names, SelectionBill(TruncatedNegativeBinomial(float(facts["eta"]), float(facts["gamma"])), prices)
