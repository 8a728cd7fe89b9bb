"""Slots: what a run spends and holds, on all records and on the two sides of a split that other runs use too."""

from collections.abc import Collection, Mapping
from typing import TypeAlias, final

from expost.accounting.claim import NOTHING, SIDES, Spent
from expost.accounting.curve import Curve, Linear
from expost.bill import joined
from expost.errors import InvalidValue
from expost.ledger import Entry, Hold
from expost.ledgers.amounts import Amount, amount_in, amount_out, is_within, larger, minus, plus
from expost.ledgers.home import Writing
from expost.ledgers.lines import Whole, line_of, lines_together, whole_line
from expost.ledgers.terms import Terms
from expost.receipts.notation import record, text
from expost.text import Json

Slots: TypeAlias = Mapping[str, Amount]
"""An amount for ``own``, and for ``train`` and ``held`` where the run is on a split that was named."""

OWN = "own"
COMMON = "data"
"""The label of the data that a named split divides."""


def slots_of(parts: Mapping[str, Spent], terms: Terms, *, named: bool) -> Slots:
    """What was spent by part, in slots: the sides of a named split apart, since other runs may have spent on them too.

    Uses: parallel odometer.
    """
    if not named:
        return {OWN: terms.amount(joined(parts))}
    sides: dict[str, dict[str, Spent]] = {name: {} for name in (OWN, *SIDES)}
    for label, spent in parts.items():
        data, _, below = label.partition("/")
        side = below.partition("/")[0]
        sides[side if data == COMMON and side in SIDES else OWN][label] = spent
    return {name: terms.amount(joined(each) if each else NOTHING.as_spent()) for name, each in sides.items()}


def require_kept(entry: Entry, split: str | None) -> None:
    """Refuse a side that was drawn by coins under the name of a split, whose sides other runs read too.

    Coins that fall anew put a record on either side, so that such runs together cost their sum, not the dearer side.
    """
    if split is not None and entry.drawn:
        raise InvalidValue(
            f"the records are divided by coins, which fall anew in each run, and not by the split {split!r}; begin the "
            "run without a split, or give the two sides that are kept to Split.from_parts."
        )


@final
class Tab:
    """What a run has spent by part, as a line in whole numbers where it is one, and in slots.

    It remembers what it was asked last: most steps cost just what they promised.
    """

    __slots__ = ("_after", "_named", "_parts", "_slots", "_terms")

    def __init__(self, terms: Terms, parts: Mapping[str, Spent | Whole], *, named: bool) -> None:
        self._terms, self._parts, self._named = terms, parts, named
        self._after: tuple[str, Curve, Tab] | None = None
        self._slots: Slots | None = None

    def after(self, part: str, curve: Curve) -> "Tab":
        """The tab with one more step on it, which cost this."""
        known = self._after
        if known is None or known[0] != part or (known[1] is not curve and known[1] != curve):
            parts = {**self._parts, part: _paid(self._parts.get(part), curve)}
            known = self._after = part, curve, Tab(self._terms, parts, named=self._named)
        return known[2]

    def slots(self, pending: Collection[Hold] = ()) -> Slots:
        """All of it in slots, with steps under way in full."""
        if pending:
            first, *others = pending
            return self.after(first.entry.part, first.promise.curve).slots(others)
        if self._slots is None:
            self._slots = self._in_slots()
        return self._slots

    def _in_slots(self) -> Slots:
        if len(self._parts) == 1 and not self._named:
            ((part, paid),) = self._parts.items()
            if isinstance(paid, tuple) and "/" not in part:  # as ``joined`` would have it
                return {OWN: self._terms.amount_of_lines([paid])}
        parts = {part: _spent(paid) for part, paid in self._parts.items()}
        return slots_of(parts, self._terms, named=self._named)


def _paid(before: Spent | Whole | None, curve: Curve) -> Spent | Whole:
    """What one more step brings a part to, to the last bit as curves add up."""
    if isinstance(before, Spent) or not isinstance(curve, Linear):
        return Spent(curve) if before is None else _spent(before) + Spent(curve)
    step = whole_line(curve)
    return step if before is None else lines_together(before, step) or _spent(before) + Spent(curve)


def _spent(paid: Spent | Whole) -> Spent:
    return Spent(line_of(paid)) if isinstance(paid, tuple) else paid


def run_cost(slots: Slots) -> Amount:
    """What a run costs by itself."""
    if len(slots) == 1:
        return slots[OWN]
    train, held = SIDES
    return plus(slots[OWN], larger(slots[train], slots[held]))


def larger_slots(one: Slots, other: Slots) -> Slots:
    """The larger in each slot."""
    if are_within(one, other):
        return other
    return {name: larger(one[name], other[name]) for name in one}


def are_within(one: Slots, other: Slots) -> bool:
    """Whether one is no more than the other in every slot."""
    if one is other:
        return True
    return is_within(one[OWN], other[OWN]) and (len(one) == 1 or all(is_within(one[name], other[name]) for name in one))


def nothing_in_slots(terms: Terms, *, named: bool) -> Slots:
    """What a run has spent and holds when it begins."""
    return dict.fromkeys((OWN, *SIDES) if named else (OWN,), terms.nothing)


def slots_out(slots: Slots) -> str:
    """Slots in JSON, as an entry has them; digits and our names need no quoting, which would take longest."""
    if len(slots) == 1:
        return f'{{"own":"{amount_out(slots[OWN])}"}}'
    return "{" + ",".join([f'"{name}":"{amount_out(amount)}"' for name, amount in slots.items()]) + "}"


def slots_in(found: Json, terms: Terms, *, named: bool) -> Slots:
    """The slots that ``slots_out`` wrote."""
    fields = record(found, (OWN, *SIDES) if named else (OWN,))
    return {name: amount_in(text(amount), terms.width) for name, amount in fields.items()}


def moved(
    writing: Writing, dataset: int | str, split: str | None, terms: Terms, *, spent: tuple[Slots, Slots],
    committed: tuple[Slots, Slots],
) -> tuple[Amount, Amount]:  # fmt: skip
    """By how much a data set's totals change when a run's slots do, from the first of each pair to the second.

    The sides of a named split have an account of their own, of which the dearer counts.
    """
    own = minus(spent[1][OWN], spent[0][OWN]), minus(committed[1][OWN], committed[0][OWN])
    if split is None:
        return own
    (row,) = writing.rows(
        "SELECT train_spent, held_spent, train_committed, held_committed FROM splits WHERE dataset = ? AND name = ?",
        *(dataset, split),
    )
    old = tuple(amount_in(str(cell), terms.width) for cell in row)
    new, dearer = shifted(old, spent=spent, committed=committed)
    writing.later(
        "UPDATE splits SET train_spent = ?, held_spent = ?, train_committed = ?, held_committed = ? "
        "WHERE dataset = ? AND name = ?",
        *(*map(amount_out, new), dataset, split),
    )
    return plus(own[0], dearer[0]), plus(own[1], dearer[1])


def shifted(
    old: tuple[Amount, ...], *, spent: tuple[Slots, Slots], committed: tuple[Slots, Slots]
) -> tuple[tuple[Amount, ...], tuple[Amount, Amount]]:
    """What was spent and is held on both sides of a split after a run moved, and by how much the dearer sides changed.

    Uses: parallel odometer.
    """
    changes = [minus(after[side], before[side]) for before, after in (spent, committed) for side in SIDES]
    new = tuple(plus(amount, change) for amount, change in zip(old, changes, strict=True))
    dearer = [minus(larger(*new[i : i + 2]), larger(*old[i : i + 2])) for i in (0, 2)]
    return new, (dearer[0], dearer[1])
