"""The audit: recompute what a receipt states from its own lines, and say where it states otherwise."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from expost.accounting.claim import NOTHING, Spent
from expost.accounting.curve import Curve, Linear, Table, largest_rho
from expost.accounting.descent import Descent
from expost.accounting.gaussian import lattice_rho
from expost.accounting.pledge import Pledge
from expost.accounting.statement import stated, stated_loss
from expost.errors import ExpostError
from expost.numerics import up
from expost.record import Entry
from expost.report import tuning
from expost.report.facts import Item, by_part, total
from expost.report.notation import Json, curve_in, item_in, items, number, pledge_in, table, tables
from expost.report.receipt import FORMAT, NOTION
from expost.report.words import NOT_PRIVATE

SIDES = {"train", "held"}

SAME = 1e-9
"""Relative difference up to which two computations agree: other machines round logarithms in another way."""

ORDERS = (2, 20, 128)
"""Where two curves are compared."""


@final
@dataclass(frozen=True, slots=True)
class Audit:
    """What came of recomputing a receipt: the ε that its lines lead to, and where it says otherwise."""

    epsilon: float
    differences: tuple[str, ...]

    @property
    def matches(self) -> bool:
        """Whether the receipt says what its lines say."""
        return not self.differences

    def __str__(self) -> str:
        if self.matches:
            return f"the lines of the receipt lead to what it states, ε = {self.epsilon:.6g}."
        return " ".join(self.differences)


def check(found: Mapping[str, Json]) -> Audit:
    """Recompute each line from its facts, the total from the lines and ε from the pledge, and compare.

    This shows whether a receipt agrees with itself. Whoever rewrites all of it states another run, which no receipt
    can tell: keep receipts where nobody replaces them.
    """
    try:
        if found.get("format") == tuning.FORMAT:
            return Audit(*tuning.recompute(found))
        bill = tuple(map(item_in, items(found["bill"])))
        pledge = None if found["pledge"] is None else pledge_in(found["pledge"])
        differences = (
            *_statement(found, bill, pledge),
            *_lines(found, bill),
            *_balance(bill),
            *_ladder(found, bill, pledge),
        )
        return Audit(stated(total(bill), pledge), differences)
    except (ExpostError, ValueError, KeyError, TypeError, ZeroDivisionError, OverflowError):
        return Audit(math.inf, ("the receipt is not one that expost writes: a part of it is missing or malformed.",))


def _statement(found: Mapping[str, Json], bill: Sequence[Item], pledge: Pledge | None) -> Iterator[str]:
    statement, spent = table(found["statement"]), total(bill)
    epsilon = stated(spent, pledge)
    if found["format"] != FORMAT or statement["notion"] != NOTION:
        yield f"the format or the notion is not the one of {FORMAT}."
    if pledge is not None and pledge.delta != number(statement["delta"]):
        yield f"the statement is at δ = {number(statement['delta']):g}, the pledge at δ = {pledge.delta:g}."
    if not _same(epsilon, number(statement["epsilon"])):
        yield f"the receipt states ε = {number(statement['epsilon']):.6g}; its lines lead to ε = {epsilon:.6g}."
    loss, said = stated_loss(spent, pledge), number(statement["probabilistic epsilon"])
    if not _same(loss, said):
        yield f"the receipt bounds the privacy loss by {said:.6g}; its lines lead to {loss:.6g}."
    if not _alike(spent.curve, curve_in(statement["curve"])):
        yield "the lines do not add up to the curve of the statement."
    if {item.entry.relation for item in bill} != {statement["neighbours"]}:
        yield "the lines and the statement are about different neighbours."


def _lines(found: Mapping[str, Json], bill: Sequence[Item]) -> Iterator[str]:
    if found["seeded"] is not any(item.entry.seeded for item in bill):
        yield "the receipt and its lines disagree on whether the noise was seeded."
    if found["seeded"] is not (found.get("warning") == NOT_PRIVATE):
        yield "the receipt does not begin with the warning that a seeded run is NOT PRIVATE, or has one without a seed."
    if found["floating"] is not any(item.entry.floating for item in bill):
        yield "the receipt and its lines disagree on whether the noise was floating."
    for place, item in enumerate(bill, start=1):
        if not set(item.entry.part.split("/")[1:]) <= SIDES:
            yield f"line {place} reads {item.entry.part}, which is no part that a split makes."
        if not _follows(item.entry, item.spent.curve):
            yield f"the cost of line {place}, {item.entry.what}, does not follow from its facts."


def _balance(bill: Sequence[Item]) -> Iterator[str]:
    """Each balanced check spends on the held-out part what the training part had spent beyond it, so a gap shows.

    Uses: balanced checks.
    """
    for place, item in enumerate(bill):
        if item.entry.what == "balanced check":
            before, held = by_part(bill[:place]), item.entry.part
            trained, asked = (before.get(part, NOTHING.as_spent()) for part in (_sibling(held), held))
            if not _same(up(largest_rho(trained.curve) - largest_rho(asked.curve)), up(largest_rho(item.spent.curve))):
                yield f"line {place + 1}, {item.entry.what}, does not balance what the lines before it spent."


def _sibling(held: str) -> str:
    return f"{held.rpartition('/')[0]}/train"


def _ladder(found: Mapping[str, Json], bill: Sequence[Item], pledge: Pledge | None) -> Iterator[str]:
    """What is stated of each rung and each planned stop, and whether every look at held-out records is on the bill."""
    history = tables(found["history"])
    looks, answers = sum(item.count for item in bill if item.entry.what in _LOOKS), [each["margin"] for each in history]
    if looks < len(answers) - answers.count(None):
        yield f"the history has more answers than the {looks} looks at held-out records on the bill."
    for where, lines in (("the plan", tables(table(found["plan"])["stops"])), ("the history", history)):
        for place, each in enumerate(lines, start=1):
            epsilon = stated(Spent(curve_in(each["curve"])), pledge)
            if not _same(epsilon, number(each["epsilon"])):
                yield f"rung {place} of {where} costs ε = {epsilon:.6g}, not {number(each['epsilon']):.6g} as stated."
    if table(found["ended"])["reached"] is not (history[-1]["passed"] is True):
        yield "the receipt and its last rung disagree on whether the target was reached."


def _follows(entry: Entry, curve: Curve) -> bool:
    """Whether the cost is what the facts lead to; a step that is not ours is taken at its word."""
    rule = _RULES.get(entry.what)
    return rule is None or rule(entry, curve)


def _measured(entry: Entry, curve: Curve) -> bool:
    reach, variance = Fraction(entry.facts["l2_squared"]), Fraction(entry.facts["variance"])
    return curve == Linear(Fraction(0), reach / (2 * variance), lattice_rho(variance, reach))


def _chosen(entry: Entry, curve: Curve) -> bool:
    draws, epsilon = Fraction(entry.facts.get("draws", 1)), Fraction(entry.facts["epsilon"])
    return curve == Linear(Fraction(0), draws * epsilon**2 / 8)


def _asked(entry: Entry, curve: Curve) -> bool:
    if not isinstance(curve, Linear):
        return False
    reach = Fraction(entry.facts["sensitivity"]) ** 2
    return curve == Linear(Fraction(0), curve.rho, lattice_rho(reach / (2 * curve.rho), reach))


def _asked_sparsely(entry: Entry, curve: Curve) -> bool:
    if not isinstance(curve, Linear):
        return False
    facts = entry.facts
    once, passing = 1 / (2 * Fraction(facts["variance"])), (1 if facts["monotone"] else 2) / Fraction(facts["scale"])
    return curve.rho in (0, once) and curve.xi in (0, passing)


def _trained(entry: Entry, curve: Curve) -> bool:
    """Steps, rate and noise multiplier give the curve anew, at every order.

    Uses: Poisson-subsampled Gaussian.
    """
    facts = entry.facts
    descent = Descent(Fraction(facts["rate"]), Fraction(facts["noise multiplier"]))
    known = descent.promise(int(facts["steps"])).curve
    return (
        isinstance(curve, Table)
        and isinstance(known, Table)
        and curve.orders == known.orders
        and all(map(_same, curve.values.tolist(), known.values.tolist()))
        and str(facts["noise"]).startswith("floating") is entry.floating
    )


_LOOKS = {"balanced check", "Gaussian check"}
_RULES: Mapping[str, Callable[[Entry, Curve], bool]] = {
    "Gaussian": _measured,
    "Brownian": _measured,
    "SpanningTree": _chosen,
    "Exponential": _chosen,
    "Head": _trained,
    "ModuleDescent": _trained,
    "sparse vector check": _asked_sparsely,
    **dict.fromkeys(_LOOKS, _asked),
}


def _same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=SAME)


def _alike(one: Curve, other: Curve) -> bool:
    return all(_same(one.at(alpha), other.at(alpha)) for alpha in ORDERS)
