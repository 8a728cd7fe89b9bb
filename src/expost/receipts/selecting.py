"""Tunings on record: what a bill states that has no Rényi bound, because it is one of private selection."""

import json
import math
from collections.abc import Mapping, Sequence

from expost.accounting.curve import AdpEpsilon
from expost.accounting.private_selection import SelectionBill, Statement, TruncatedNegativeBinomial
from expost.bill import Item
from expost.errors import Unreadable
from expost.ledger import Fact
from expost.receipts.notation import items, number, text
from expost.training.tune import Selection
from expost.training.tuned import Selected

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
