"""The receipt: a run's statement as JSON, with all it takes to recompute it."""

import json
import re
from collections.abc import Mapping

from expost.receipts.commitment import Commitment
from expost.receipts.notation import budget_out, curve_out, finite, gaussian_out, item_out
from expost.report.facts import Facts, Reading
from expost.report.words import NOT_PRIVATE, ending
from expost.text import Json

FORMAT = "expost receipt 3"
NOTION = "approximate ex-post"
NUMBERS = re.compile(r"\[\n\s*([-+.\de,\snul]+?)\n\s*\]")
"""A list of numbers over many lines; a text holds no line break, so that none is changed."""


def receipt(facts: Facts) -> dict[str, Json]:
    """The facts an auditor needs, ready for ``json.dumps``: exact fractions as texts, infinity as null."""
    pledged = Commitment.of(facts)
    warning: dict[str, Json] = {"warning": NOT_PRIVATE} if facts.seeded else {}
    return warning | {
        "format": FORMAT,
        "title": facts.title,
        "statement": {
            "epsilon": finite(facts.epsilon),
            "delta": facts.delta,
            "notion": NOTION,
            "probabilistic epsilon": finite(facts.probabilistic),
            "neighbours": facts.neighbours,
            **gaussian_out(facts.spent.curve),
            "curve": curve_out(facts.spent.curve),
        },
        "seeded": facts.seeded,
        "floating": facts.floating,
        **pledged.receipt(),
        "pledged": pledged.digest,
        "ended": {"reached": facts.reached, "how": facts.ended.name.lower(), "because": ending(facts)},
        "held": facts.held,
        "history": [_rung(rung) for rung in facts.rungs],
        "bill": [item_out(item) for item in facts.bill],
        "split": facts.because,
        **facts.job.receipt(),
        "versions": dict(facts.versions),
    }


def receipt_text(found: Mapping[str, Json]) -> str:
    """A receipt as the text of its file, a curve's numbers on one line; what a terminal would obey is escaped."""
    text = json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False)
    text = NUMBERS.sub(lambda found: f"[{' '.join(found[1].split())}]", text) + "\n"
    return "".join(each if each.isprintable() or each == "\n" else json.dumps(each)[1:-1] for each in text)


def _rung(rung: Reading) -> dict[str, Json]:
    budget, verdict = rung.line.budget, rung.line.verdict
    return {
        "budget": budget_out(budget),
        "times": rung.times,
        "curve": curve_out(rung.line.spent.curve),
        "epsilon": finite(rung.epsilon),
        "passed": rung.passed,
        "margin": None if verdict is None else verdict.margin,
        "std": None if verdict is None else verdict.std,
        "guard": None if verdict is None else verdict.guard,
        "accuracy": rung.accuracy,
        "error": rung.error,
    }
