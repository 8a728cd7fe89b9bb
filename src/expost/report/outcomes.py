"""Outcomes: the facts of a finished search, from its own history and the record of what it spent."""

import math
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from fractions import Fraction
from importlib import metadata
from typing import Any, TypeAlias

from expost.accounting.curve import AdpEpsilon
from expost.accounting.jumps import PlannedJumps
from expost.accounting.plan import stated_by
from expost.accounting.pledge import FixedOrder, HalfNormal, Mixture, Pledge
from expost.accounting.stops import PlannedStops
from expost.bill import bill_total, billed
from expost.checks.confidence import Confidence
from expost.checks.gaussian import BalancedCheck, GaussianCheck
from expost.checks.question import PublicCheck
from expost.checks.sparse_vector import SparseVectorCheck
from expost.errors import LedgerConflict
from expost.noise import Noise
from expost.patience import Patience
from expost.private import Neighbours
from expost.protocols import Check, Look
from expost.recorded import Booked, CheckOnRecord, ReadableLedger
from expost.report.answers import Reading
from expost.report.facts import ROUNDING, Facts, Job, PlannedStop
from expost.report.purpose import Purpose
from expost.search import Outcome

AnyCheck: TypeAlias = Check[Any, Any] | PublicCheck[Any]
OURS = (BalancedCheck, GaussianCheck, SparseVectorCheck)
PACKAGES = ("expost", "numpy", "scipy")
REASONS: Mapping[type, str] = {
    FixedOrder: "fixed order: the sum is read at one order",
    Mixture: "mixture of orders: the sum is read at several orders at once",
    HalfNormal: "half-normal mixture: the sum is read at all orders at once",
    PlannedJumps: "planned jumps: a run that jumped to a stop is stated as that stop, any other as one that covers it",
    type(None): "nothing was pledged here, so that no (ε, δ) is stated",
}
OWN_RULE = "a rule of the caller's own"
OTHER = (
    "the record and the outcome are not of the same run, or more was spent since; give the ledger of the search's "
    "odometer, before anything else is spent through it."
)


def reason_of(pledge: Pledge | None) -> str:
    """What a pledge is, in words."""
    if isinstance(pledge, PlannedStops):
        return f"planned stops, {stated_by(pledge)}: a run is stated as the cheapest of them that covers it"
    return REASONS.get(type(pledge), OWN_RULE)


def outcome_facts(
    outcome: Outcome[object],
    ledger: ReadableLedger,
    *,
    job: Job,
    title: str,
    measure: str,
    asked: Fraction | None,
    held: float | None,
    check: AnyCheck,
    confidence: Confidence | None,
    looks: tuple[Look | None, ...],
    stops: tuple[PlannedStop, ...],
    reason: str,
    neighbours: str,
    because: str,
    cap: AdpEpsilon | None,
    held_std: float = 0.0,
    date: str = "",
    baseline: str = "",
    warnings: tuple[tuple[str, str], ...] = (),
    options: tuple[tuple[str, str], ...] = (),
    digests: tuple[tuple[str, str], ...] = (),
    goals: tuple[Purpose, ...] = (),
    packages: tuple[str, ...] = (),
    patience: Patience | None = None,
    one_row: bool = True,
) -> Facts:
    """What a report tells of an outcome, for a job of any kind; ``packages`` are those it was computed with besides."""
    pledge, release = outcome.pledge, outcome.release
    return Facts(
        title=title,
        job=job,
        measure=measure,
        asked=asked,
        confidence=confidence,
        looks=looks,
        ended=outcome.ended,
        cap=cap,
        seeded=release.seeded,
        floating=release.floating,
        epsilon=outcome.epsilon,
        delta=0.0 if pledge is None else pledge.delta,
        spent=release.spent,
        pledge=pledge,
        reason=reason,
        neighbours=neighbours,
        because=because,
        held=held,
        held_std=held_std,
        rungs=tuple(
            Reading.of(line, pledge, asked=asked, held=held, held_std=held_std, measure=measure)
            for line in outcome.history
        ),
        stops=stops,
        bill=billed(ledger),
        versions=versions(*packages),
        check=CheckOnRecord.of(check),
        date=date,
        baseline=baseline,
        warnings=warnings,
        options=options,
        digests=digests,
        goals=goals,
        patience=patience,
        one_row=one_row,
        booking=ledger.booking() if isinstance(ledger, Booked) else None,
    )


def day(noise: Noise) -> str:
    """Today, to be taken before data is read: how long a run takes may depend on its records. A rehearsal has none."""
    return "" if noise.seeded else datetime.now(UTC).date().isoformat()


def versions(*more: str) -> tuple[tuple[str, str], ...]:
    """What the numbers were computed with."""
    return (("python", platform.python_version()), *((name, metadata.version(name)) for name in (*PACKAGES, *more)))


def require_on_record(outcome: Outcome[object], ledger: ReadableLedger) -> Neighbours:
    """The relation of the bill; refused unless the record leads to what the outcome states, no more and no less."""
    release, spent = outcome.release, bill_total(billed(ledger))
    if not outcome.history:
        raise LedgerConflict("no rung of this run was climbed in this process; report it where it was.")
    order = outcome.history[0].budget.alpha
    same = math.isclose(spent.at(order), release.spent.at(order), rel_tol=ROUNDING)
    if release.neighbours is None or ledger.pledged != release.pledge or not same:
        raise LedgerConflict(OTHER)
    return release.neighbours
