"""The receipt: what a run fixes before data is read, with a digest to be shown by then, and all that it came to."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from expost.accounting.curve import AdpEpsilon, Curve
from expost.accounting.pledge import Pledge
from expost.checks.confidence import Confidence
from expost.patience import Patience
from expost.protocols import Look
from expost.receipts.costs import budget_out, curve_out, gaussian_out, item_out, pledge_out
from expost.receipts.notation import finite, text
from expost.recorded import Booking, CheckOnRecord
from expost.report.answers import Reading
from expost.report.facts import Facts, PlannedStop
from expost.report.purpose import Purpose
from expost.report.words import NOT_PRIVATE, ending
from expost.text import Json

FIXED = ("made", "neighbours", "asked", "cap", "pledge", "plan")
"""The parts of a receipt that are known before data is read."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Commitment:
    """What is asked, how each candidate is judged, what each stop costs and how the total will be stated.

    Whoever kept its digest from before the run knows that none of this was chosen afterwards.
    """

    kind: str
    target: str
    measure: str
    asked: Fraction | None
    confidence: Confidence | None
    check: CheckOnRecord | None
    neighbours: str
    cap: AdpEpsilon | None
    pledge: Pledge | None
    reason: str
    stops: tuple[PlannedStop, ...]
    looks: tuple[Look | None, ...]
    goals: tuple[Purpose, ...] = ()
    patience: Patience | None = None

    @classmethod
    def of(cls, facts: Facts) -> "Commitment":
        """What a finished run had fixed; where nobody knew the rungs, nobody could say what would pass on them."""
        known = zip(facts.stops, facts.looks, strict=True)
        return cls(
            kind=facts.job.kind,
            target=facts.job.target,
            measure=facts.measure,
            asked=facts.asked,
            confidence=facts.confidence,
            check=facts.check,
            neighbours=facts.neighbours,
            cap=facts.cap,
            pledge=facts.pledge,
            reason=facts.reason,
            stops=facts.stops,
            looks=tuple(None if stop.rung is None else look for stop, look in known),
            goals=facts.goals,
            patience=facts.patience,
        )

    def receipt(self) -> dict[str, Json]:
        """The parts of the receipt, ready for ``json.dumps``."""
        return {
            "made": self.kind,
            "neighbours": self.neighbours,
            "asked": {
                "target": self.target,
                "measure": self.measure,
                "threshold": None if self.asked is None else str(self.asked),
                "aims": [dict(goal.record) for goal in self.goals],
                "confidence": None if self.confidence is None else str(self.confidence.level),
                "looks": None if self.confidence is None else self.confidence.looks,
                "check": None if self.check is None else {"name": self.check.name, "facts": dict(self.check.facts)},
                "patience": None if self.patience is None else _patience(self.patience),
            },
            "cap": self.cap,
            "pledge": None if self.pledge is None else pledge_out(self.pledge),
            "plan": {
                "reason": self.reason,
                "stops": [_stop(stop, look) for stop, look in zip(self.stops, self.looks, strict=True)],
            },
        }

    @property
    def digest(self) -> str:
        """Of the parts of the receipt; see ``digest``."""
        return digest(self.receipt())


def digest(found: Mapping[str, Json], fixed: Sequence[str] = FIXED) -> str:
    """The SHA-256 of what a receipt says was fixed beforehand, in JSON without spaces and with sorted names."""
    parts = {name: found[name] for name in fixed}
    return hashlib.sha256(json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def digest_faults(found: Mapping[str, Json], pledged: str | None, fixed: Sequence[str] = FIXED) -> Iterator[str]:
    """Whether the digest of a receipt is that of its own parts, and the one that was shown before the run if given."""
    known = digest(found, fixed)
    if text(found["pledged"]) != known:
        yield "the digest of the pledge is not that of what the receipt says was fixed before the run."
    if pledged is not None and pledged.strip().lower() != known:
        yield "the receipt is not that of the run whose pledge was shown."


def _patience(patience: Patience) -> dict[str, Json]:
    return {"looks": patience.looks, "min gain": str(patience.min_gain)}


def _stop(stop: PlannedStop, look: Look | None) -> dict[str, Json]:
    """What stopping there costs, what is spent up to it, and what passes: null where nobody asks, or nobody can say."""
    rung = stop.rung
    spent: Json = None if rung is None else {**budget_out(rung.budget), "times": rung.times, "asked": rung.asked}
    return {
        "curve": curve_out(stop.promise.curve),
        "epsilon": finite(stop.epsilon),
        "rung": spent,
        "guard": None if look is None else finite(look.guard),
    }


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
        "statement": statement_out(
            facts.spent.curve, facts.epsilon, facts.delta, loss=facts.probabilistic, neighbours=facts.neighbours
        ),
        "seeded": facts.seeded,
        "floating": facts.floating,
        **pledged.receipt(),
        "pledged": pledged.digest,
        "ended": {"reached": facts.reached, "how": facts.ended.name.lower(), "because": ending(facts)},
        "held": facts.held,
        "history": [_rung(rung) for rung in facts.rungs],
        "bill": [item_out(item) for item in facts.bill],
        "split": facts.because,
        "ledger": None if facts.booking is None else booking_out(facts.booking),
        **facts.job.receipt(),
        "versions": dict(facts.versions),
    }


def statement_out(curve: Curve, epsilon: float, delta: float, *, loss: float, neighbours: str) -> dict[str, Json]:
    """What is stated of a curve: ε and the bound on the privacy loss at δ, and μ where all noise was Gaussian."""
    return {
        "epsilon": finite(epsilon),
        "delta": delta,
        "notion": NOTION,
        "probabilistic epsilon": finite(loss),
        "neighbours": neighbours,
        **gaussian_out(curve),
        "curve": curve_out(curve),
    }


def receipt_text(found: Mapping[str, Json]) -> str:
    """A receipt as the text of its file, a curve's numbers on one line; what a terminal would obey is escaped."""
    text = json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False)
    text = NUMBERS.sub(lambda found: f"[{' '.join(found[1].split())}]", text) + "\n"
    return "".join(each if each.isprintable() or each == "\n" else json.dumps(each)[1:-1] for each in text)


def booking_out(booking: Booking) -> dict[str, Json]:
    """Where a run is on a lasting ledger: the number and the hash of its latest entry."""
    return {"dataset": booking.dataset, "run": booking.run, "entry": booking.entry, "head": booking.head}


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
