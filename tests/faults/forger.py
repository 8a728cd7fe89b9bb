"""A generator of forgeries, and when one of them fools an audit; nothing here decides a result."""

import copy
import json
import warnings
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from functools import cache
from typing import Any

from hypothesis import Phase, find, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisWarning

from expost.accounting.claim import NOTHING
from expost.accounting.curve import largest_rho
from expost.accounting.descent import Descent
from expost.accounting.gaussian import lattice_rho
from expost.bill import by_part
from expost.errors import ExpostError
from expost.jobs import audit as check
from expost.jobs.searches import SearchJob
from expost.jobs.tunings.report import MADE
from expost.mechanisms.laplace import pure_promise
from expost.receipts.audit import Audit
from expost.receipts.costs import curve_out, item_in
from tests.faults.forgeries import Receipt, measuring, receipt_of, restate

LOWER = 1 - 1e-6
"""An ε is lowered if it falls by more than the rounding that an audit allows for."""


def noisier(line: Receipt, times: int) -> None:
    """The facts and the cost of a measurement with more noise than was drawn."""
    reach, variance = Fraction(line["facts"]["l2_squared"]), times * Fraction(line["facts"]["variance"])
    line["facts"]["variance"] = str(variance)
    line["curve"]["lines"] = [priced(reach / (2 * variance), lattice_rho(variance, reach))]


def wider(line: Receipt, times: int) -> None:
    """The same for Laplace noise."""
    scale = times * Fraction(line["facts"]["scale"])
    line["facts"]["scale"] = str(scale)
    line["curve"] = curve_out(pure_promise(Fraction(line["facts"]["l1"]) / scale).curve)


def priced(rho: Fraction, profile: Fraction | None) -> Receipt:
    """A line of a curve."""
    return {"xi": "0", "rho": str(rho), "gaussian": None if profile is None else str(profile)}


def less_sensitive(line: Receipt) -> None:
    """Integer counts of which one record moves next to nothing."""
    reach, variance = Fraction(1, 1000), Fraction(line["facts"]["variance"])
    line["facts"]["l2_squared"] = str(reach)
    line["curve"]["lines"] = [priced(reach / (2 * variance), lattice_rho(variance, reach))]


def one_stop(found: Receipt) -> None:
    """A pledge that splits δ over one stop only, beside a plan of several."""
    found["pledge"]["stops"] = found["pledge"]["stops"][-1:]


def one_stop_planned(found: Receipt) -> None:
    """The same in pledge and plan."""
    one_stop(found)
    found["plan"]["stops"] = found["plan"]["stops"][-1:]


def shorter(found: Receipt) -> None:
    """The last rung forgotten, with all its lines and its total."""
    last = found["bill"].index(measuring(found)[-1])
    del found["bill"][last:], found["history"][-1]


def balance(found: Receipt) -> None:
    """Each balanced look at the price that the lines before it lead to."""
    for place, line in enumerate(found["bill"]):
        if line["what"] == "balanced check":
            parts = by_part([item_in(each) for each in found["bill"][:place]])
            trained, asked = (parts.get(part, NOTHING.as_spent()) for part in ("data/train", line["part"]))
            rho = largest_rho(trained.curve) - largest_rho(asked.curve)
            reach = Fraction(line["facts"]["sensitivity"]) ** 2
            line["curve"] = {"lines": [priced(rho, lattice_rho(reach / (2 * rho), reach))]}


def places(found: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in the receipt, from the top; of a table's numbers the first few."""
    inner = found.items() if isinstance(found, dict) else enumerate(found[:20]) if isinstance(found, list) else ()
    return [path, *(place for name, value in inner for place in places(value, (*path, name)))]


def at(found: Any, path: tuple[Any, ...]) -> Any:
    """What stands there."""
    for name in path:
        found = found[name]
    return found


def scaled(value: Any, factor: Fraction) -> Any:
    """A number or a fraction, multiplied; a truth value turned round, anything else lost."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return type(value)(value * factor)
    try:
        return str(Fraction(value) * factor)
    except (TypeError, ValueError):
        return None


FACTORS = [Fraction(text) for text in ("0", "1/1000000", "1/2", "99/100", "2", "1000", "-1")]


@st.composite
def clumsy(draw: st.DrawFn, found: Receipt) -> None:
    """A place scaled, left out, or overwritten by what stands elsewhere."""
    everywhere = [place for place in places(found) if place]
    place = draw(st.sampled_from(everywhere))
    above, name = at(found, place[:-1]), place[-1]
    match draw(st.sampled_from(["scale", "leave out", "overwrite"])):
        case "scale":
            above[name] = scaled(above[name], draw(st.sampled_from(FACTORS)))
        case "leave out":
            del above[name]
        case _:
            alike = [each for each in everywhere if each[-1] == name or isinstance(name, int)]
            above[name] = copy.deepcopy(at(found, draw(st.sampled_from(alike))))


def lower(curve: Receipt, factor: Fraction) -> None:
    """A curve below the one that was."""
    for line in curve.get("lines", []):
        line.update({each: line[each] and str(Fraction(line[each]) * factor) for each in ("xi", "rho", "gaussian")})
    if "values" in curve:
        curve["values"] = [value and value * float(factor) for value in curve["values"]]


def retrained(line: Receipt, steps: int, quieter: int) -> None:
    """Fewer steps, or more noise, with the cost of these."""
    facts = line["facts"]
    facts["steps"], noise = max(1, facts["steps"] // steps), quieter * Fraction(facts["noise multiplier"])
    facts["noise multiplier"] = str(noise)
    line["curve"] = curve_out(Descent(Fraction(facts["rate"]), noise).promise(facts["steps"]).curve)


def cheaper(line: Receipt, factor: int) -> None:
    """A line with all its facts as if more noise had been drawn."""
    match line["what"]:
        case "Gaussian" | "Brownian" | "Growing":
            noisier(line, factor)
        case "Laplace":
            wider(line, factor)
        case "FullBatch" | "Head" | "ModuleDescent":
            retrained(line, factor, 1)
        case _:
            lower(line["curve"], Fraction(1, factor))


def cheaper_throughout(found: Receipt, factor: int) -> None:
    """Every measurement cheaper, and the looks in balance with them."""
    for line in measuring(found):
        cheaper(line, factor)
    balance(found)


@st.composite
def cunning(draw: st.DrawFn, found: Receipt) -> None:
    """Something that costs less: a line cheaper, elsewhere, rarer or gone, rungs forgotten, or a kinder pledge."""
    line, pledge = draw(st.sampled_from(found["bill"])), found["pledge"] or {}
    stops = [each["curve"] for each in found["plan"]["stops"]]
    stop = draw(st.sampled_from([pledge.get("stops") or [line["curve"]], stops or [line["curve"]]]))
    moves: list[Callable[[], object]] = [
        lambda: cheaper(line, draw(st.sampled_from([2, 4, 1000]))),
        lambda: cheaper_throughout(found, draw(st.sampled_from([2, 4, 1000]))),
        lambda: less_sensitive(line) if "l2_squared" in line["facts"] else retrained(line, 1, 3),
        lambda: lower(line["curve"], draw(st.sampled_from([Fraction(1, 2), Fraction(99, 100)]))),
        lambda: found["bill"].remove(line),
        lambda: line.update(count=1),
        lambda: line.update(part=draw(st.sampled_from(["data", "data/held", "data/train", "data/train/held"]))),
        lambda: line.update(what=draw(st.sampled_from(["Brownian", "Growing", "SpanningTree", "balanced check", "x"]))),
        lambda: shorter(found),
        lambda: one_stop(found),
        lambda: one_stop_planned(found),
        lambda: lower(draw(st.sampled_from(stop)), Fraction(1, 2)),
        lambda: found.update(pledge={"kind": "fixed order", "alpha": "20", "delta": pledge["delta"]}),
        lambda: found["ended"].update(how=draw(st.sampled_from(["capped", "halted", "exhausted", "flat"]))),
        lambda: found["training"].update(earlier=0),
    ]
    draw(st.sampled_from(moves))()


@st.composite
def choosing(draw: st.DrawFn, found: Receipt) -> None:
    """A tuning that costs less: a price, the law of the number of runs, or another configuration that is shown."""
    listed = found["selection"]["configurations"]
    one = draw(st.sampled_from(listed))
    factor = draw(st.sampled_from([0.5, 0.99, 1e-6]))
    moves: list[Callable[[], object]] = [
        lambda: one.update(epsilon=one["epsilon"] * factor),
        lambda: one.update(delta=one["delta"] * factor),
        lambda: found["selection"].update(eta=draw(st.sampled_from([-0.999999, -0.5, -2.0]))),
        lambda: found["selection"].update(gamma=factor),
        lambda: found["ended"].update(configuration=one["name"], reached=True),
        lambda: found["statement"].update(epsilon=found["statement"]["epsilon"] * factor),
        lambda: listed.remove(one),
    ]
    draw(st.sampled_from(moves))()


FAILS = (KeyError, TypeError, ValueError, ArithmeticError, AttributeError, IndexError, ExpostError)
"""What happens to a forger who does not know what he does."""


@st.composite
def forgeries(draw: st.DrawFn, names: tuple[str, ...]) -> tuple[str, Receipt]:
    """A forged receipt, and the run it was made from; the forger restates what he can where he thinks of it."""
    name = draw(st.sampled_from(names))
    found = receipt_of(name)
    skilled = choosing if found["made"] == MADE else cunning
    forgers = draw(st.sampled_from([(clumsy,), (skilled,), (skilled, skilled), (skilled, clumsy), (clumsy, skilled)]))
    with suppress(*FAILS):
        for forger in forgers:
            draw(forger(found))
    with suppress(*FAILS):
        restate(found, **{where: bool(draw(st.integers(0, 3))) for where in ("history", "plan", "seal")})
    return name, found


def lowered(name: str, forged: Receipt) -> bool:
    """Whether the receipt states less than the run did; of one that stated nothing, whether it states anything."""
    statement, stated = forged.get("statement"), receipt_of(name)["statement"]["epsilon"]
    said = statement.get("epsilon") if isinstance(statement, dict) else None
    return isinstance(said, int | float) and (stated is None or said < LOWER * stated)


def same_run(name: str, forged: Receipt) -> bool:
    """Whether settings and answers are those of the run, as far as the forged history goes."""
    ours, theirs = (_run(found) for found in (receipt_of(name), forged))
    known = ours[-1] if forged["made"] == SearchJob.kind else ours[-1][: len(theirs[-1])]
    return ours[:-1] == theirs[:-1] and known == theirs[-1]


SETTINGS = (
    "made", "neighbours", "asked", "cap", "schema", "selection", "counted", "training", "seeded", "floating",
)  # fmt: skip
CLAIMED = ("statistic", "l2_squared", "l1", "sensitivity", "unit", "monotone")
"""Facts of a step that are the word of whoever wrote the statistic, the mechanism or the question."""


def _run(found: Receipt) -> tuple[Any, ...]:
    """Settings and answers; the answers come last."""
    told = [found.get(each) for each in SETTINGS]
    if found["made"] == MADE:
        return (*told, found["ended"], [found["score"]])
    answers = [rung["passed"] for rung in found["history"]]
    if found["made"] == SearchJob.kind:
        # what the caller claims: the pledge, the sensitivities and the budgets of his own steps, and when to stop
        claims = [[line["what"], line["part"], *map(line["facts"].get, CLAIMED)] for line in found["bill"]]
        return (*told, found["pledge"], [rung["budget"] for rung in found["history"]], _each_once(claims), answers)
    rungs = [stop["rung"] for stop in found["plan"]["stops"]]
    return (*told, found["pledge"]["delta"], found["pledge"]["kind"], json.dumps(rungs), answers)


def _each_once(claims: list[Any]) -> list[Any]:
    return [claim for place, claim in enumerate(claims) if claim not in claims[:place]]


@cache
def _honest(name: str) -> frozenset[str]:
    return frozenset(check(receipt_of(name)).believed)


def believes(name: str, audit: Audit) -> bool:
    """Whether the audit says nothing of a receipt that it would not say of the honest one."""
    return not audit.differences and set(audit.believed) <= _honest(name)


def fools(name: str, forged: Receipt) -> bool:
    """Whether the audit believes a receipt of this very run that states less."""
    try:
        ours = same_run(name, forged)
    except (KeyError, TypeError, AttributeError):
        ours = True  # nothing that is malformed is another run
    return lowered(name, forged) and ours and believes(name, check(forged))


def first_that_fools(names: tuple[str, ...], most: int = 2000) -> tuple[str, Receipt]:
    """A forgery that the audit believes, as a twin finds one with a rule of the audit left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HypothesisWarning)  # that the forgery it found is long
        return find(
            forgeries(names),
            lambda forgery: fools(*forgery),
            settings=settings(derandomize=True, deadline=None, max_examples=most, phases=[Phase.generate]),
        )
