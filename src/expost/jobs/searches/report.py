"""Searches of any kind: what a report says where nobody told it what was released."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias, final

from expost.accounting.curve import AdpEpsilon
from expost.accounting.pledge import FixedOrder, HalfNormal, Mixture, PlannedStops, Pledge
from expost.bill import Item, bill_total, billed
from expost.checks.gaussian import BalancedCheck, GaussianCheck
from expost.checks.public import PublicCheck
from expost.checks.question import CentredSum, PublicCount
from expost.checks.sparse_vector import SparseVectorCheck
from expost.errors import LedgerConflict
from expost.private import Neighbours
from expost.protocols import Check, Look
from expost.receipts.commitment import Commitment
from expost.receipts.retrace import SEARCH
from expost.recorded import CheckOnRecord, ReadableLedger
from expost.report import words
from expost.report.charts import safe
from expost.report.coverage import coverage, looks
from expost.report.facts import ROUNDING, Facts, Job, PlannedStop, Reading, Terms, versions
from expost.search import Line, Outcome
from expost.text import Json

APART = "the caller made the two parts"
AnyCheck: TypeAlias = Check[Any, Any] | PublicCheck[Any]
OURS = (BalancedCheck, GaussianCheck, SparseVectorCheck)

REASONS: Mapping[type, str] = {
    PlannedStops: "planned stops: a run is stated as the cheapest of them that covers it",
    FixedOrder: "fixed order: the sum is read at one order",
    Mixture: "mixture of orders: the sum is read at several orders at once",
    HalfNormal: "half-normal mixture: the sum is read at all orders at once",
    type(None): "nothing was pledged here, so that no (ε, δ) is stated",
}
OTHER = (
    "the record and the outcome are not of the same run, or more was spent since; give the ledger of the search's "
    "odometer, before anything else is spent through it."
)
OWN_RULE = "a rule of the caller's own"
COVERED = (
    "Covered: every step on the bill{looks} and the decision to stop. Everything that was released on the way may be "
    "seen by anybody."
)
OPEN = "A rule that reads nothing but releases and public records said when to stop; the held-out part was not read."
FUNCTIONS = (
    "Not covered: functions that were given to the search and read records, such as a statistic or a score, where they "
    "move farther with one record than they declare. The bill takes their sensitivity at its word."
)
SETTINGS = (
    "Not covered: how the settings were chosen. Ladder, check and target must come from elsewhere; each trial on these "
    "records has a bill of its own."
)


@final
@dataclass(frozen=True, slots=True)
class SearchJob:
    """A search of which only the bill, the rungs and the verdicts are told; ``value`` is the type of what it released.

    What was released is not shown.
    """

    value: str
    kind: ClassVar[str] = SEARCH
    target: ClassVar[str] = ""
    product: ClassVar[str] = "What was released"
    unseen: ClassVar[str] = "held-out records it was not made from"
    first: ClassVar[str] = "everything on the bill"
    lines: ClassVar[Mapping[str, str]] = {}
    terms: ClassVar[Terms] = Terms(
        rung="rung",
        title="The rungs",
        whole="the search",
        onward="climbing on",
        top="to the last rung",
        taken="climbed",
        finer="dearer",
    )

    def size(self, facts: Facts) -> tuple[str, str, str]:
        """The type of the value, and no more of it."""
        return "released", self.value, "not shown here"

    def name(self, place: int) -> str:
        """Its number."""
        return str(place)

    def method(self, facts: Facts) -> tuple[str, ...]:
        """Release, try, stop."""
        return (
            *words.divided(facts),
            "On each rung a mechanism released something about the records, within a budget that was fixed before it "
            "read them. The bill above names each of these steps.",
            "A candidate was made from what had been released by then, without another look at the records.",
            words.tried(facts) if facts.looked or not facts.divided else OPEN,
            "The candidate may be published and used without further cost.",
        )

    def exhibits(self) -> str:
        """None: a search may release anything."""
        return ""

    def appendix(self, facts: Facts) -> str:
        """What the bound is about, and what it is not."""
        return f"{coverage(facts, COVERED.format(looks=looks(facts)), FUNCTIONS, SETTINGS)}{computed_with(facts)}"

    def receipt(self) -> Mapping[str, Json]:
        """The type of what was released."""
        return {"released": self.value}


def of_search(
    outcome: Outcome[object],
    ledger: ReadableLedger,
    *,
    check: AnyCheck,
    because: str = APART,
    title: str = "Search",
    cap: AdpEpsilon | None = None,
) -> Facts:
    """What a report tells of a search: ``ledger`` is the ledger of its odometer, ``because`` that of its split.

    A target is told where the check asks one of our questions; else it is the caller's own rule. Nothing of the value
    is shown but its type.
    """
    if ledger is not outcome.ledger:
        raise LedgerConflict(OTHER)
    asked, held = target_of(check)
    return searched(
        outcome,
        ledger,
        job=SearchJob(type(outcome.release.value).__name__),
        title=title,
        measure="score" if asked is None else "mean score",
        asked=asked,
        held=held,
        check=check,
        because=because,
        cap=cap,
    )


def searched(
    outcome: Outcome[object],
    ledger: ReadableLedger,
    *,
    job: Job,
    title: str,
    measure: str,
    asked: Fraction | None,
    held: float | None,
    check: AnyCheck,
    because: str,
    cap: AdpEpsilon | None,
) -> Facts:
    """The facts of an outcome whose bill is on record, for a job of any kind."""
    pledge, bill = outcome.pledge, billed(ledger)
    neighbours = _require_on_record(outcome, ledger, bill)
    stops = pledge.table if isinstance(pledge, PlannedStops) else ()
    return Facts(
        title=title,
        job=job,
        measure=measure,
        asked=asked,
        confidence=check.confidence if isinstance(check, OURS) else None,
        looks=_looks(outcome.history, len(stops)),
        ended=outcome.ended,
        cap=cap,
        seeded=outcome.release.seeded,
        floating=outcome.release.floating,
        epsilon=outcome.epsilon,
        delta=0.0 if pledge is None else pledge.delta,
        spent=outcome.release.spent,
        pledge=pledge,
        reason=REASONS.get(type(pledge), OWN_RULE),
        neighbours=neighbours.value,
        because=because,
        held=held,
        rungs=tuple(Reading.of(line, pledge, asked=asked, held=held) for line in outcome.history),
        stops=tuple(PlannedStop(stop.promise, stop.epsilon) for stop in stops),
        bill=bill,
        versions=versions(),
        check=CheckOnRecord.of(check),
    )


def search_commitment(
    pledge: Pledge | None,
    check: AnyCheck,
    *,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
    cap: AdpEpsilon | None = None,
) -> Commitment:
    """What a search fixes before it opens the data: the pledge of its odometer, and how candidates are judged.

    ``neighbours`` is that of the data, ``cap`` the one that the report will be told of.
    """
    asked, _ = target_of(check)
    stops = pledge.table if isinstance(pledge, PlannedStops) else ()
    return Commitment(
        kind=SearchJob.kind,
        target=SearchJob.target,
        measure="score" if asked is None else "mean score",
        asked=asked,
        confidence=check.confidence if isinstance(check, OURS) else None,
        check=CheckOnRecord.of(check),
        neighbours=neighbours.value,
        cap=cap,
        pledge=pledge,
        reason=REASONS.get(type(pledge), OWN_RULE),
        stops=tuple(PlannedStop(stop.promise, stop.epsilon) for stop in stops),
        looks=(None,) * len(stops),
    )


def computed_with(facts: Facts, *first: str) -> str:
    """The versions, as the last line of a page."""
    told = ", ".join(f"{name} {version}" for name, version in facts.versions)
    return f'<p class="note">{safe("; ".join((*first, told)))}</p>'


def target_of(check: AnyCheck) -> tuple[Fraction | None, float | None]:
    """The mean score that is asked for, where one of our questions asks, and the public number of records it is of."""
    question = check.question if isinstance(check, OURS) else None
    if isinstance(question, PublicCount):
        return question.threshold, float(question.count)
    return (question.threshold, None) if isinstance(question, CentredSum) else (None, None)


def _looks(history: tuple[Line, ...], stops: int) -> tuple[Look | None, ...]:
    """What was known of each answer beforehand, where the check has told it since; a line for each planned stop."""
    verdicts = [line.verdict for line in history[:stops]]
    found = [
        None if each is None or each.std is None or each.guard is None else Look(each.std, each.guard)
        for each in verdicts
    ]
    return (*found, *[None] * (stops - len(found)))


def _require_on_record(outcome: Outcome[object], ledger: ReadableLedger, bill: tuple[Item, ...]) -> Neighbours:
    """The relation of the bill; refused unless the record leads to what the outcome states, no more and no less."""
    release, spent = outcome.release, bill_total(bill)
    if not outcome.history:
        raise LedgerConflict("no rung of this run was climbed in this process; report it where it was.")
    order = outcome.history[0].budget.alpha
    same = math.isclose(spent.at(order), release.spent.at(order), rel_tol=ROUNDING)
    if release.neighbours is None or ledger.pledged != release.pledge or not same:
        raise LedgerConflict(OTHER)
    return release.neighbours
