"""The receipt: a run's statement as JSON, with all it takes to recompute it."""

import json
import re

from expost.report import tuning
from expost.report.facts import Facts, Rung
from expost.report.notation import Json, curve_out, finite, item_out, pledge_out
from expost.report.tuning import TuningFacts
from expost.report.words import NOT_PRIVATE, ending
from expost.step import Look

FORMAT = "expost receipt 2"
NOTION = "approximate ex-post"
NUMBERS = re.compile(r"\[\n\s*([-+.\de,\snul]+?)\n\s*\]")
"""A list of numbers over many lines; a text holds no line break, so that none is changed."""


def receipt(facts: Facts) -> dict[str, Json]:
    """The facts an auditor needs, ready for ``json.dumps``: exact fractions as texts, infinity as null."""
    stops = [
        {"curve": curve_out(each.promise.curve), "epsilon": finite(each.epsilon), "guard": _guard(look)}
        for each, look in zip(facts.stops, facts.looks, strict=True)
    ]
    warning: dict[str, Json] = {"warning": NOT_PRIVATE} if facts.seeded else {}
    return warning | {
        "format": FORMAT,
        "title": facts.title,
        "made": facts.job.kind,
        "statement": {
            "epsilon": finite(facts.epsilon),
            "delta": facts.delta,
            "notion": NOTION,
            "probabilistic epsilon": finite(facts.probabilistic),
            "neighbours": facts.relation,
            "curve": curve_out(facts.spent.curve),
        },
        "seeded": facts.seeded,
        "floating": facts.floating,
        "asked": {
            "target": facts.job.target,
            "measure": facts.measure,
            "threshold": None if facts.asked is None else str(facts.asked),
            "confidence": None if facts.confidence is None else str(facts.confidence.level),
            "looks": None if facts.confidence is None else facts.confidence.looks,
        },
        "ended": {"reached": facts.reached, "because": ending(facts)},
        "cap": facts.cap,
        "pledge": None if facts.pledge is None else pledge_out(facts.pledge),
        "plan": {"reason": facts.reason, "stops": stops},
        "history": [_rung(rung) for rung in facts.rungs],
        "bill": [item_out(item) for item in facts.bill],
        "split": facts.because,
        **facts.job.receipt(),
        "versions": dict(facts.versions),
    }


def written(facts: Facts | TuningFacts) -> str:
    """The receipt as the text of its file, a curve's numbers on one line."""
    found = tuning.receipt(facts) if isinstance(facts, TuningFacts) else receipt(facts)
    text = json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False)
    return NUMBERS.sub(lambda found: f"[{' '.join(found[1].split())}]", text) + "\n"


def _guard(look: Look | None) -> float | None:
    """What is planned to pass, in records; null where nothing is asked, or nobody can say."""
    return None if look is None else finite(look.guard)


def _rung(rung: Rung) -> dict[str, Json]:
    budget, verdict = rung.line.budget, rung.line.verdict
    return {
        "budget": {"epsilon": str(budget.epsilon), "alpha": str(budget.alpha)},
        "curve": curve_out(rung.line.spent.curve),
        "epsilon": finite(rung.epsilon),
        "passed": rung.passed,
        "margin": None if verdict is None else verdict.margin,
        "std": None if verdict is None else verdict.std,
        "guard": None if verdict is None else verdict.guard,
        "accuracy": rung.accuracy,
        "error": rung.error,
    }
