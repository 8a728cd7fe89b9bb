"""The receipt: a run's statement as JSON with all it takes to recompute it, and the auditor's check of one."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from expost.accounting.claim import NOTHING, Spent
from expost.accounting.curve import Curve, Linear, largest_rho
from expost.accounting.gaussian import lattice_rho
from expost.accounting.pledge import Pledge
from expost.errors import ExpostError
from expost.numerics import up
from expost.record import Fact
from expost.report.facts import Facts, Item, Rung, by_part, total
from expost.report.notation import (
    Json,
    curve_in,
    curve_out,
    finite,
    item_in,
    item_out,
    items,
    number,
    pledge_in,
    pledge_out,
    table,
    tables,
)
from expost.report.words import NOT_PRIVATE, ending

FORMAT = "expost receipt 1"
NOTION = "approximate ex-post"
SIDES = {"train", "held"}

SAME = 1e-9
"""Relative difference up to which two computations agree: other machines round logarithms in another way."""

ORDERS = (2, 20, 128)
"""Where two curves are compared."""


def receipt(facts: Facts) -> dict[str, Json]:
    """The facts an auditor needs, ready for ``json.dumps``: exact fractions as texts, infinity as null."""
    stops = [{"curve": curve_out(each.promise.curve), "epsilon": finite(each.epsilon)} for each in facts.stops]
    warning: dict[str, Json] = {"warning": NOT_PRIVATE} if facts.seeded else {}
    return warning | {
        "format": FORMAT,
        "title": facts.title,
        "statement": {
            "epsilon": finite(facts.epsilon),
            "delta": facts.delta,
            "notion": NOTION,
            "neighbours": facts.relation,
            "curve": curve_out(facts.spent.curve),
        },
        "seeded": facts.seeded,
        "floating": facts.floating,
        "asked": {"target": facts.target, "measure": facts.measure, "threshold": str(facts.asked)},
        "ended": {"reached": facts.reached, "because": ending(facts)},
        "cap": facts.cap,
        "pledge": None if facts.pledge is None else pledge_out(facts.pledge),
        "plan": {"reason": facts.reason, "stops": stops},
        "history": [_rung(rung) for rung in facts.rungs],
        "bill": [item_out(item) for item in facts.bill],
        "split": facts.because,
        "rows": facts.rows,
        "schema": {"sha256": facts.schema_digest, "columns": [each.name for each in facts.schema]},
        "versions": dict(facts.versions),
    }


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
        bill = tuple(map(item_in, items(found["bill"])))
        pledge = None if found["pledge"] is None else pledge_in(found["pledge"])
        differences = (
            *_statement(found, bill, pledge),
            *_lines(found, bill),
            *_balance(bill),
            *_ladder(found, bill, pledge),
        )
        return Audit(_epsilon(total(bill), pledge), differences)
    except (ExpostError, ValueError, KeyError, TypeError, ZeroDivisionError, OverflowError):
        return Audit(math.inf, ("the receipt is not one that expost writes: a part of it is missing or malformed.",))


def _statement(found: Mapping[str, Json], bill: Sequence[Item], pledge: Pledge | None) -> Iterator[str]:
    statement, spent = table(found["statement"]), total(bill)
    epsilon = _epsilon(spent, pledge)
    if found["format"] != FORMAT or statement["notion"] != NOTION:
        yield f"the format or the notion is not the one of {FORMAT}."
    if pledge is not None and pledge.delta != number(statement["delta"]):
        yield f"the statement is at δ = {number(statement['delta']):g}, the pledge at δ = {pledge.delta:g}."
    if not _same(epsilon, number(statement["epsilon"])):
        yield f"the receipt states ε = {number(statement['epsilon']):.6g}; its lines lead to ε = {epsilon:.6g}."
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
        if not _follows(item.entry.what, item.entry.facts, item.spent.curve):
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
    looks, answers = sum(item.count for item in bill if item.entry.what in _ASKED), [each["margin"] for each in history]
    if looks < len(answers) - answers.count(None):
        yield f"the history has more answers than the {looks} looks at held-out records on the bill."
    for where, stated in (("the plan", tables(table(found["plan"])["stops"])), ("the history", history)):
        for place, each in enumerate(stated, start=1):
            epsilon = _epsilon(Spent(curve_in(each["curve"])), pledge)
            if not _same(epsilon, number(each["epsilon"])):
                yield f"rung {place} of {where} costs ε = {epsilon:.6g}, not {number(each['epsilon']):.6g} as stated."
    if table(found["ended"])["reached"] is not (history[-1]["passed"] is True):
        yield "the receipt and its last rung disagree on whether the target was reached."


def _follows(what: str, facts: Mapping[str, Fact], curve: Curve) -> bool:
    """Whether the cost is what the facts lead to; a step that is not ours is taken at its word."""
    if not isinstance(curve, Linear):
        return what not in {*_MEASURED, *_CHOSEN, *_ASKED, "sparse vector check"}
    if what in _MEASURED:
        reach, variance = Fraction(facts["l2_squared"]), Fraction(facts["variance"])
        return curve == Linear(Fraction(0), reach / (2 * variance), lattice_rho(variance, reach))
    if what in _CHOSEN:
        return curve == Linear(Fraction(0), Fraction(facts.get("draws", 1)) * Fraction(facts["epsilon"]) ** 2 / 8)
    if what in _ASKED:
        reach = Fraction(facts["sensitivity"]) ** 2
        return curve == Linear(Fraction(0), curve.rho, lattice_rho(reach / (2 * curve.rho), reach))
    if what == "sparse vector check":
        once, passing = (
            1 / (2 * Fraction(facts["variance"])),
            (1 if facts["monotone"] else 2) / Fraction(facts["scale"]),
        )
        return curve.rho in (0, once) and curve.xi in (0, passing)
    return True


_MEASURED, _CHOSEN, _ASKED = (
    {"Gaussian", "Brownian"},
    {"SpanningTree", "Exponential"},
    {"balanced check", "Gaussian check"},
)


def _rung(rung: Rung) -> dict[str, Json]:
    budget, verdict = rung.line.budget, rung.line.verdict
    return {
        "budget": {"epsilon": str(budget.epsilon), "alpha": str(budget.alpha)},
        "curve": curve_out(rung.line.spent.curve),
        "epsilon": finite(rung.epsilon),
        "passed": rung.passed,
        "margin": None if verdict is None else verdict.margin,
        "std": None if verdict is None else verdict.std,
        "accuracy": rung.accuracy,
        "error": rung.error,
    }


def _epsilon(spent: Spent, pledge: Pledge | None) -> float:
    return math.inf if pledge is None else pledge.epsilon(spent)


def _same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=SAME)


def _alike(one: Curve, other: Curve) -> bool:
    return all(_same(one.at(alpha), other.at(alpha)) for alpha in ORDERS)
