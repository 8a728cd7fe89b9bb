"""Receipts to forge, and a forger who restates what the library lets him work out; nothing here decides a result."""

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from typing import Any

from expost.accounting.claim import Budget, Spent
from expost.accounting.statement import stated, stated_loss
from expost.bill import bill_total
from expost.jobs.finetuning.run import finetune
from expost.jobs.synthesis.run import synthesize
from expost.jobs.tunings import receipt as tuning
from expost.jobs.tunings.report import MADE, TuningFacts
from expost.judge import Budgeted, SparseVector
from expost.ladder import Ladder
from expost.noise import Floats, SeededNoise
from expost.receipts.costs import MU, curve_in, curve_out, gaussian_out, item_in, pledge_in
from expost.receipts.notation import finite
from expost.receipts.receipt import digest, receipt, receipt_text
from expost.report.facts import Facts
from expost.tabular.aims import Aim
from expost.tabular.schema.schema import Schema
from expost.tabular.score import Candidate, Conditional, correct
from expost.tabular.table import Table
from tests.faults import modules, searches, tunings
from tests.unit.report.examples import blobs, customers, schema, trained

Receipt = dict[str, Any]
LADDER = Ladder.geometric(Fraction(2, 100), 2, 5, alpha=20)
COSTLY = Budget.of(Fraction(1, 2), alpha=20)


def replacing() -> Schema:
    """The schema of the examples, for neighbours that differ in one record."""
    return replace(schema(), neighbours=type(schema().neighbours).REPLACE_ONE)


def finding() -> Schema:
    """The schema of the examples, with edges of the age that are to be found."""
    private = 'edges = "private"\nrange = [0, 8]\nbins = 4'
    return Schema.load(schema().dumps().replace("edges = [0, 20, 40, 60, 80]", private))


def halved(candidate: Candidate, records: Table) -> Floats:
    """A score of the caller's own: one half for each record that is right."""
    return correct("renewed")(candidate, records) / 2


@cache
def made(name: str) -> Facts:
    """The facts of a finished rehearsal with this check, relation, score or ending."""
    records = 40_000 if name == "ended flat" else 3000
    form = {"replacing one record": replacing, "edges found": finding}.get(name, schema)()
    settings: dict[str, dict[str, Any]] = {
        "Gaussian check": {"check": Budgeted(COSTLY.epsilon)},
        "sparse vector check": {"check": SparseVector(COSTLY.epsilon)},
        "the paper's check": {"confidence": None},
        "a score of one's own": {"score": halved},
        "ended at a cap": {"max_epsilon": 0.5},
        "reached": {"accuracy": Fraction(8, 10)},
        "several aims": {"aims": (Aim.auc("plan", 0.9, positive="full"), Aim.within(0.01))},
    }
    asked = {"accuracy": Fraction(97, 100), "ladder": LADDER, **settings.get(name, {})}
    return synthesize(
        customers(form.fine, records),
        schema=form,
        target="renewed",
        learner=Conditional(),
        noise=SeededNoise(7),
        **asked,
    ).facts


@cache
def head(name: str) -> Facts:
    """The facts of a finished rehearsal of fine-tuning."""
    if name in CENTRED:
        return finetune(*blobs(), accuracy=0.95, method=name, releases=3, noise=SeededNoise(3)).facts
    if name == "head, calibrated":
        settings: dict[str, Any] = {"start": Fraction(5, 2), "releases": 4, "epochs": 2, "epochs_between": 4}
        return finetune(*blobs(), accuracy=0.95, check=Budgeted(), noise=SeededNoise(3), **settings).facts
    return trained(0.95, public=name == "head, public", floating=name == "head, floating").facts


TABLES = (
    "balanced check",
    "Gaussian check",
    "sparse vector check",
    "the paper's check",
    "replacing one record",
    "a score of one's own",
    "several aims",
    "edges found",
    "ended at a cap",
    "reached",
    "ended flat",
)
HEADS = ("head", "head, public", "head, floating", "head, calibrated")
CENTRED = ("full-batch", "means", "ridge")
RUNS: dict[str, Callable[[], Facts | TuningFacts]] = {
    **{name: partial(made, name) for name in TABLES},
    **{name: partial(head, name) for name in HEADS + CENTRED},
    **modules.MODULES,
    **searches.SEARCHES,
    **tunings.TUNINGS,
}


def receipt_of(name: str) -> Receipt:
    """The receipt of a run as read back from its file, to be changed at will."""
    found: Receipt = json.loads(_text(name))
    return found


@cache
def _text(name: str) -> str:
    told = RUNS[name]()
    return receipt_text(tuning.tuning_receipt(told) if isinstance(told, TuningFacts) else receipt(told))


MEASURES = ("Brownian", "Growing", "FullBatch", "Head", "ModuleDescent")


def measuring(found: Receipt) -> list[Receipt]:
    """The lines that measure on a rung; in a search of one's own all that read the training part."""
    known = [line for line in found["bill"] if line["what"] in MEASURES]
    return known or [line for line in found["bill"] if not line["part"].endswith("held")]


def looking(found: Receipt) -> list[Receipt]:
    """The lines that look at held-out records."""
    return [line for line in found["bill"] if line["what"].endswith("check")]


def restate(found: Receipt, *, history: bool = True, plan: bool = True, seal: bool = True) -> Receipt:
    """State what the changed lines lead to, in every place where a reader might compare; the digest as well."""
    if found["made"] == MADE:
        return _restate_tuning(found, statement=history, seal=seal)
    spent = bill_total([item_in(line) for line in found["bill"]])
    found["statement"].pop(MU, None)
    pledge = None if found["pledge"] is None else pledge_in(found["pledge"])
    found["statement"].update(
        {
            "epsilon": finite(stated(spent, pledge)),
            "probabilistic epsilon": finite(stated_loss(spent, pledge)),
            **gaussian_out(spent.curve),
            "curve": curve_out(spent.curve),
            "delta": found["statement"]["delta"] if pledge is None else pledge.delta,
        }
    )
    if history and found["history"]:
        for rung, lines in zip(reversed(found["history"]), _up_to(found), strict=False):
            rung["curve"] = curve_out(bill_total([item_in(line) for line in lines]).curve)
    listed = [*(found["history"] if history else []), *(found["plan"]["stops"] if plan else [])]
    for each in listed:
        each["epsilon"] = finite(stated(Spent(curve_in(each["curve"])), pledge))
    if seal:
        found["pledged"] = digest(found)
    return found


def _restate_tuning(found: Receipt, *, statement: bool, seal: bool) -> Receipt:
    if statement:
        found["statement"].update(epsilon=finite(tuning.recompute(found).epsilon))
    if seal:
        found["pledged"] = digest(found, tuning.FIXED)
    return found


def _up_to(found: Receipt) -> Iterator[list[Receipt]]:
    """The steps up to each rung, the last one first, as far as they show it: so many that measure, and then a look."""
    steps = [{**line, "count": 1} for line in found["bill"] for _ in range(line["count"])]
    places = [
        place for place, step in enumerate(steps) if any(step["what"] == each["what"] for each in measuring(found))
    ]
    times = max(1, len(places) // len(found["history"]))
    for start in reversed(places[::times]):
        yield list(steps)
        del steps[start:]


def changed(name: str, forge: Callable[[Receipt], object]) -> Receipt:
    """The receipt of a run after a forger has been at it."""
    found = copy.deepcopy(receipt_of(name))
    forge(found)
    return found
