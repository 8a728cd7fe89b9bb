"""Searches of the caller's own: their report, their receipt and their folder."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import ClassVar, final

from expost.accounting.curve import AdpEpsilon
from expost.accounting.pledge import Pledge
from expost.accounting.stops import PlannedStops
from expost.checks.question import CentredSum, PublicCount
from expost.errors import LedgerConflict
from expost.jobs.job import save_facts
from expost.private import Neighbours
from expost.protocols import Look
from expost.receipts.receipt import Commitment
from expost.receipts.retrace import SEARCH
from expost.recorded import CheckOnRecord, ReadableLedger
from expost.report import arrangement, words
from expost.report.facts import Facts, PlannedStop
from expost.report.outcomes import OTHER, OURS, AnyCheck, outcome_facts, reason_of, require_on_record
from expost.report.page import covered_section, method_section
from expost.report.shares import asked_for
from expost.report.units import by_row, by_unit
from expost.search import Line, Outcome
from expost.text import Json

APART = "the caller made the two parts"
OPEN = "Open to anyone: everything that was released on the way."
FUNCTIONS = (
    "Not covered: functions that were given to the search and read records, such as a statistic or a score, if one "
    "record moves them farther than they declare. The bill takes their sensitivity at its word."
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
    rung: ClassVar[str] = "rung"
    lines: ClassVar[Mapping[str, str]] = {}
    covered: ClassVar[str] = "The bound covers the whole procedure: every step on the bill and the decision to stop."

    def passed(self, facts: Facts) -> str:
        """A candidate that nobody described passed a check that may be the caller's own rule."""
        if facts.asked is None:
            read = words.held_out(facts) if facts.looked else "nothing but releases and public records"
            return f"What was released passed the check, a rule that was given to the search and read {read}."
        asked = asked_for(facts)
        return f"What was released passed the check at {asked} on {words.held_out(facts)} that it was not made from."

    def name(self, place: int) -> str:
        """Its number."""
        return str(place)

    def tile(self, facts: Facts) -> tuple[str, str, str]:
        """The type of the value, and no more of it."""
        return "released", self.value, "not shown here"

    def sections(self, facts: Facts) -> str:
        """The procedure, and what the bound covers."""
        method = method_section(self._method(facts))
        functions, settings = by_unit(FUNCTIONS, facts.neighbours), by_row(SETTINGS, facts.neighbours)
        return f"{method}{covered_section(facts, OPEN, functions, settings)}"

    def _method(self, facts: Facts) -> tuple[str, ...]:
        """Release, check, stop."""
        checked = arrangement.checked(facts)
        if facts.divided and not facts.looked:
            checked = "A rule on releases and public records said when to stop; the held-out part was not read."
        return (
            *arrangement.parts(facts),
            by_unit(
                "On each rung a mechanism released something about the records, within a budget that was fixed before "
                "it read them. The bill below names each of these steps.",
                facts.neighbours,
            ),
            by_unit(
                "A candidate was made from what had been released by then, without another look at the records.",
                facts.neighbours,
            ),
            checked,
            "The candidate may be published and used at no further cost.",
        )

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
    (asked, held), neighbours = target_of(check), require_on_record(outcome, ledger)
    planned = outcome.pledge.table if isinstance(outcome.pledge, PlannedStops) else ()
    return outcome_facts(
        outcome,
        ledger,
        job=SearchJob(type(outcome.release.value).__name__),
        title=title,
        measure="score" if asked is None else "mean score",
        asked=asked,
        held=held,
        check=check,
        confidence=check.confidence if isinstance(check, OURS) else None,
        looks=_looks(outcome.history, len(planned)),
        stops=tuple(PlannedStop(stop.promise, stop.epsilon) for stop in planned),
        reason=reason_of(outcome.pledge),
        neighbours=neighbours.value,
        one_row=False,
        because=because,
        cap=cap,
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
        reason=reason_of(pledge),
        stops=tuple(PlannedStop(stop.promise, stop.epsilon) for stop in stops),
        looks=(None,) * len(stops),
    )


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


def save_search(
    outcome: Outcome[object],
    folder: Path,
    *,
    ledger: ReadableLedger,
    check: AnyCheck,
    because: str = APART,
    title: str = "Search",
    cap: AdpEpsilon | None = None,
    overwrite: bool = False,
) -> None:
    """Write the report and the receipt of a search into a new folder; its value is the caller's to keep.

    ``ledger`` is the ledger that the search's odometer was made with, a journal or one in memory; ``check`` is that
    of the search.
    """
    facts = of_search(outcome, ledger, check=check, because=because, title=title, cap=cap)
    save_facts(facts, lambda fresh: None, folder, overwrite=overwrite)
