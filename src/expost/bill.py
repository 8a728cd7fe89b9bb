"""The bill: what is on record, added up part by part, and the ε that its pledge states."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import final

from expost.accounting.claim import NOTHING, Spent, dearest
from expost.accounting.curve import AdpEpsilon, Tabulated
from expost.accounting.statement import stated
from expost.ledger import Entry
from expost.recorded import ReadableLedger

MOST_SUMS = 10**5
"""Equal steps that are added up one by one, as an odometer does; more would keep an auditor waiting."""


@final
@dataclass(frozen=True, slots=True)
class Item:
    """One line of the bill: what read which part, what one such step cost, and how many there were.

    ``finished`` is false for a step that failed, which is billed in full.
    """

    entry: Entry
    spent: Spent
    count: int = 1
    finished: bool = True


def billed(ledger: ReadableLedger) -> tuple[Item, ...]:
    """Everything on record, steps that never finished in full."""
    finished = (Item(entry, spent, count) for entry, spent, count in ledger.lines)
    failed = (Item(hold.entry, hold.promise.as_spent(), finished=False) for hold in ledger.held)
    return (*finished, *failed)


def by_part(bill: Sequence[Item]) -> dict[str, Spent]:
    """What was spent on each part by itself, by its label."""
    parts: dict[str, Spent] = {}
    for item in bill:
        part = item.entry.part
        parts[part] = reduce(Spent.__add__, _one_by_one(item), parts.get(part, NOTHING.as_spent()))
    return parts


def _one_by_one(item: Item) -> Sequence[Spent]:
    """The equal steps of a line; a table is rounded with every sum, and must be as the odometer rounded it."""
    if isinstance(item.spent.curve, Tabulated) and item.count <= MOST_SUMS:
        return [item.spent] * item.count
    return [item.spent.times(item.count)]


def bill_total(bill: Sequence[Item]) -> Spent:
    """The bill as one: what read a body of records, plus the dearer of the two parts it was split into."""
    return joined(by_part(bill))


def joined(parts: Mapping[str, Spent]) -> Spent:
    """What was spent on each part as one bill, by the labels of the parts.

    Uses: parallel odometer.
    """
    if len(parts) == 1 and "/" not in next(iter(parts)):  # one side alone is of a division all the same
        return next(iter(parts.values()))
    paths = {tuple(label.split("/")): spent for label, spent in parts.items()}

    def subtotal(above: tuple[str, ...]) -> Spent:
        depth = len(above)
        sides = {path[: depth + 1] for path in paths if path[:depth] == above and len(path) > depth}
        return paths.get(above, NOTHING.as_spent()) + dearest({path[-1]: subtotal(path) for path in sorted(sides)})

    roots = sorted({path[:1] for path in paths})
    return reduce(Spent.__add__, map(subtotal, roots), NOTHING.as_spent())


def spent_so_far(ledger: ReadableLedger) -> AdpEpsilon:
    """The ε of everything on record, steps under way in full; infinite if nothing was pledged."""
    if not ledger.lines and not ledger.held:
        return AdpEpsilon(0.0)
    return stated(bill_total(billed(ledger)), ledger.pledged)
