"""The audit: recompute what a receipt states from its own lines and settings, and say where it states otherwise."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

from expost.accounting.claim import Spent
from expost.accounting.pledge import Pledge
from expost.accounting.statement import stated, stated_loss
from expost.bill import Item, bill_total
from expost.errors import ExpostError, Unreadable
from expost.receipts import lines
from expost.receipts.costs import MU, curve_in, gaussian_out, pledge_in
from expost.receipts.lines import alike, same_number
from expost.receipts.notation import number, record, table, truth
from expost.receipts.procedures import Rebuild, procedure_of
from expost.receipts.receipt import FORMAT, NOTION, digest_faults
from expost.receipts.replay import Replay
from expost.receipts.retrace import SEARCH, Retrace
from expost.receipts.testimony import COMMON, MOST_STOPS, Testimony, bounded
from expost.report.facts import ROUNDING
from expost.report.words import NOT_PRIVATE, why_ended
from expost.search import Ended
from expost.text import Json

MOST_STEPS = 10**4
"""Steps of all lines and all planned rungs together, which are added up one by one; a run of ours has a few a rung."""
MOST_SOLVED = 40
"""Totals that are stated under a mixture of orders, which takes a twentieth of a second for each."""
MOST_SAID = 20
"""Differences that are spelled out."""
UNKNOWN = "the plan and every sensitivity are taken at their word: the audit does not know this kind of run or check."
CALLERS = (
    "every sensitivity, the budgets of the rungs, the stops that were pledged and when to stop are taken at their "
    "word: they are those of whoever wrote the search."
)


@final
@dataclass(frozen=True, slots=True)
class Audit:
    """What came of recomputing a receipt: the ε that its lines lead to, and what speaks against it.

    ``differences`` are where it contradicts itself; ``believed`` is what nobody can work out from it, and what it must
    therefore be trusted in. ε is infinite where the lines already contradict each other.
    """

    epsilon: float
    differences: tuple[str, ...]
    believed: tuple[str, ...] = ()

    @property
    def matches(self) -> bool:
        """Whether the receipt says what its lines say, and nothing had to be taken at its word."""
        return not self.differences and not self.believed

    def __str__(self) -> str:
        if self.matches:
            return f"the lines of the receipt lead to what it states, ε = {self.epsilon:.6g}."
        found = (*self.differences, *self.believed)
        more = (f"There are {len(found) - MOST_SAID} more.",) if len(found) > MOST_SAID else ()
        return " ".join((*found[:MOST_SAID], *more))


Recompute: TypeAlias = Callable[[Mapping[str, Json], str | None], Audit]
"""Works a receipt of another format out again, given the digest that was shown before the run if there is one."""


def check(
    found: Json,
    known: Mapping[str, Rebuild],
    formats: Mapping[str, Recompute],
    *,
    pledged: str | None = None,
) -> Audit:
    """Work out plan, bill, history and statement from the settings and the answers of a receipt, and compare.

    ``known`` puts the procedure of each kind of run together again, ``formats`` are receipts of other kinds.
    ``pledged`` is the digest that was shown before the run. A receipt that agrees with itself is what an honest run
    with its settings and its answers would have written. Whoever writes down another run altogether is not found out
    by the receipt alone; with the digest only by other answers of the check, and so by an earlier stop. Keep receipts
    where nobody replaces them.
    """
    try:
        recompute = formats.get(str(table(found).get("format")))
        if recompute is not None:
            return recompute(table(found), pledged)
        told = Testimony.of(table(found))
        differences = (*digest_faults(told.found, pledged), *_marks(told), *lines.faults(told.bill))
        replay, believed = _replay(told, known), tuple(lines.at_their_word(told.bill))
        if replay is None:
            retrace = Retrace.of(told)
            differences += tuple(retrace.faults())
            believed += (*retrace.at_their_word(), CALLERS if told.made == SEARCH else UNKNOWN)
        else:
            differences += tuple(replay.faults())
        if replay is not None or told.made == SEARCH:
            own, rung = (("released",), "rung") if replay is None else (replay.procedure.own, replay.procedure.rung)
            record({**told.found, "warning": None}, (*COMMON, *own, "warning"))
            differences += tuple(_because(told, rung))
        differences += tuple(_plan(told, known=replay is not None))
        if differences:  # what follows converts every stop, which takes long and would say no more
            return Audit(math.inf, differences, believed)
        pledge = None if told.found["pledge"] is None else pledge_in(told.found["pledge"])
        return Audit(stated(bill_total(told.bill), pledge), tuple(_statement(told, pledge, replay)), believed)
    except (ExpostError, ValueError, KeyError, TypeError, ArithmeticError, RecursionError):
        return Audit(math.inf, ("the receipt is not one that expost writes: a part of it is missing or malformed.",))


def _marks(told: Testimony) -> Iterator[str]:
    if told.found["format"] != FORMAT:
        yield f"the format is not the one of {FORMAT}."
    yield from mark_faults(told.found, told.bill)


def mark_faults(found: Mapping[str, Json], bill: Sequence[Item]) -> Iterator[str]:
    """Where a receipt says something else of its lines than they say themselves."""
    statement, seeded = table(found["statement"]), truth(found["seeded"])
    if statement["notion"] != NOTION:
        yield f"the notion is not {NOTION}."
    if {*(item.entry.neighbours for item in bill), statement["neighbours"]} != {found["neighbours"]}:
        yield "the lines and the statement are about different neighbours."
    if seeded is not any(item.entry.seeded for item in bill):
        yield "the receipt and its lines disagree on whether the noise was seeded."
    if found.get("warning", NOT_PRIVATE) != NOT_PRIVATE or seeded is not ("warning" in found):
        yield "the receipt does not begin with the warning that a seeded run is NOT PRIVATE, or has one without a seed."
    if truth(found["floating"]) is not any(item.entry.floating for item in bill):
        yield "the receipt and its lines disagree on whether the noise was floating."


def _replay(told: Testimony, known: Mapping[str, Rebuild]) -> Replay | None:
    """The run over again; None where it is not one of ours."""
    rungs = tuple(stop.rung for stop in told.stops if stop.rung is not None)
    if sum(item.count for item in told.bill) + sum(rung.times for rung in rungs) > MOST_STEPS:
        raise Unreadable(f"the receipt has more than {MOST_STEPS} steps; it was changed.")
    procedure = procedure_of(told, known)
    return None if procedure is None or len(rungs) < len(told.stops) else Replay(told, *procedure, rungs)


def _because(told: Testimony, rung: str) -> Iterator[str]:
    """Whether the receipt says why the run ended as its own numbers have it."""
    pairs = zip(told.history, told.stops, strict=False)
    numbered = all(taken.epsilon <= stop.epsilon * (1 + ROUNDING) for taken, stop in pairs)
    ahead = told.stops[len(told.history) :] if numbered else ()
    following = ahead[0].epsilon if ahead else None
    if told.because != why_ended(told.ended, len(told.history), cap=told.cap, following=following, rung=rung):
        yield "the receipt gives another reason why the run ended than its numbers do."


def _plan(told: Testimony, *, known: bool) -> Iterator[str]:
    """Whether the pledge is to the stops of the plan, and the statement about the last total of the history."""
    pledge, statement = told.found["pledge"], table(told.found["statement"])
    planned = pledge is not None and table(pledge)["kind"] == "planned stops"
    if known and not planned:
        yield "the pledge is not the one that such a run makes."
    if not planned and len(told.stops) + len(told.history) > MOST_SOLVED:
        raise Unreadable(
            f"the receipt states more than {MOST_SOLVED} totals, each of which takes a long time to solve."
        )
    if planned:
        stops = [curve_in(each) for each in bounded(table(pledge)["stops"], MOST_STOPS)]
        if len(stops) != len(told.stops) or not all(
            alike(stop, each.curve) for stop, each in zip(stops, told.stops, strict=False)
        ):
            yield "the stops of the pledge are not those of the plan."
    if not alike(curve_in(statement["curve"]), told.history[-1].spent.curve):
        yield "the curve of the statement is not the last total of the history."
    if not alike(curve_in(statement["curve"]), bill_total(told.bill).curve):
        yield "the lines do not add up to the curve of the statement."


def _statement(told: Testimony, pledge: Pledge | None, replay: Replay | None) -> Iterator[str]:
    """Whether each total is stated as the pledge states it, and the cap was kept."""
    statement, spent = table(told.found["statement"]), bill_total(told.bill)
    epsilon = number(statement["epsilon"])
    yield from statement_faults(statement, spent, pledge)
    plan = [(stop.curve, stop.epsilon) for stop in told.stops]
    history = [(taken.spent.curve, taken.epsilon) for taken in told.history]
    for where, totals in (("the plan", plan), ("the history", history)):
        for place, (curve, said) in enumerate(totals, start=1):
            if not same_number(stated(Spent(curve), pledge), said):
                yield f"rung {place} of {where} costs ε = {stated(Spent(curve), pledge):.6g}, not {said:.6g} as stated."
    if told.cap is not None and not epsilon <= told.cap:
        yield f"the run is stated above its cap of ε = {told.cap:g}."
    if replay is not None and told.ended is Ended.CAPPED:
        refused = replay.refused()
        if told.cap is None or refused is None or stated(refused, pledge) <= told.cap:
            yield "the run is said to have ended at its cap, which left room for the next step."


def statement_faults(statement: Mapping[str, Json], spent: Spent, pledge: Pledge | None) -> Iterator[str]:
    """Where a statement is not what the pledge makes of what was spent."""
    delta, epsilon, loss = (number(statement[name]) for name in ("delta", "epsilon", "probabilistic epsilon"))
    if pledge is not None and pledge.delta != delta:
        yield f"the statement is at δ = {delta:g}, the pledge at δ = {pledge.delta:g}."
    due, bound = stated(spent, pledge), stated_loss(spent, pledge)
    if not same_number(due, epsilon):
        yield f"the receipt states ε = {epsilon:.6g}; its lines lead to ε = {due:.6g}."
    if not same_number(bound, loss):
        yield f"the receipt bounds the privacy loss by {loss:.6g}; its lines lead to {bound:.6g}."
    yield from _gaussian(statement, spent)


def _gaussian(statement: Mapping[str, Json], spent: Spent) -> Iterator[str]:
    """Whether μ is stated where all noise was Gaussian, and nowhere else."""
    known = gaussian_out(spent.curve)
    if (MU in statement) is not (MU in known):
        yield "the receipt states a μ where not all noise was Gaussian, or none where all of it was."
    elif known and not same_number(number(statement[MU]), number(known[MU])):
        yield f"the receipt states μ = {number(statement[MU]):.6g}; its lines lead to μ = {number(known[MU]):.6g}."
