"""The report of a search of any kind: its bill, its rungs and its verdicts, and nothing of what was released."""

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from expost.accounting.curve import AdpEpsilon
from expost.accounting.plan import tightest_pledge
from expost.accounting.pledge import FixedOrder, HalfNormal, Mixture, Pledge
from expost.accounting.stops import PlannedStops
from expost.checks.confidence import Confidence
from expost.checks.gaussian import BalancedCheck
from expost.checks.question import CentredSum
from expost.errors import LedgerConflict
from expost.jobs import audit as audited
from expost.jobs.searches import of_search, search_commitment
from expost.ladder import Strides
from expost.mechanisms.gaussian import Gaussian
from expost.noise import SeededNoise
from expost.receipts.audit import CALLERS
from expost.receipts.receipt import receipt, receipt_text
from expost.release import Past
from expost.report.facts import Facts
from expost.report.outcomes import AnyCheck
from expost.report.page import fragment, render
from expost.search import planned_stops
from tests.unit.examples import ADD, budget, counts, one_sentence, right
from tests.unit.jobs.searches import CHECKS, HALF, LADDER, ONES, QUESTION, run
from tests.unit.report.pages import FETCHES, said, tree

Receipt = dict[str, Any]
SECRET = 4711


def test_a_search_on_persons_speaks_of_persons_and_not_of_one_row_of_each() -> None:
    outcome, ledger, _ = run(CHECKS["balanced"])
    told = replace(of_search(outcome, ledger, check=CHECKS["balanced"]), neighbours="add or remove one person")

    page = said(render(told))

    assert "released something about the persons" in page
    assert "held-out persons" in page
    assert "one row of each" not in page
    assert "record" not in page


def marked(values: tuple[Any, ...]) -> int:
    """A value that a report must not show."""
    return SECRET


PLEDGES: dict[str, Callable[[Pledge], Pledge | None]] = {
    "planned stops": lambda chosen: chosen,
    "fixed order": lambda chosen: FixedOrder(Fraction(6), 1e-5),
    "mixture": lambda chosen: Mixture.even([2.0, 8.0, 32.0], 1e-5),
    "half-normal": lambda chosen: HalfNormal(1.0, 1e-5),
    "none": lambda chosen: None,
}


def facts(kind: str = "balanced", **how: Any) -> Facts:
    outcome, ledger, _ = run(CHECKS[kind], **how)
    return of_search(outcome, ledger, check=CHECKS[kind], because=ONES.because, title="Codes")


def read_back(told: Facts) -> Receipt:
    loaded: Receipt = json.loads(receipt_text(receipt(told)))
    return loaded


SURE = BalancedCheck(QUESTION, Confidence.of(Fraction(95, 100), looks=4))


@pytest.mark.parametrize("check", [*CHECKS.values(), SURE], ids=[*CHECKS, "with confidence"])
@pytest.mark.parametrize("pledge", PLEDGES)
def test_the_digest_of_a_search_is_known_before_it_runs(check: AnyCheck, pledge: str) -> None:
    chosen = PLEDGES[pledge](PlannedStops(planned_stops(Gaussian(counts()), LADDER, check), 1e-5))
    fixed = search_commitment(chosen, check).digest

    outcome, ledger, _ = run(check, pledge=PLEDGES[pledge])
    found = read_back(of_search(outcome, ledger, check=check, because=ONES.because))

    assert found["pledged"] == fixed
    assert not any("pledge" in each for each in audited(found, pledged=fixed).differences)
    other = search_commitment(chosen, check, cap=AdpEpsilon(3.0)).digest
    assert any("pledge" in each for each in audited(found, pledged=other).differences)


@pytest.mark.parametrize("kind", CHECKS)
@pytest.mark.parametrize("pledge", PLEDGES)
def test_every_search_has_a_page_and_a_receipt_that_leads_to_its_statement(kind: str, pledge: str) -> None:
    """How far the caller's statistic moves with a record nobody can work out, which the audit says, and no more."""
    told = facts(kind, pledge=PLEDGES[pledge])

    page, audit = render(told), audited(read_back(told))

    assert (audit.differences, audit.believed) == ((), (CALLERS,))
    assert audit.epsilon == told.epsilon
    assert tree(page).tag == "html"
    assert tree(f"<div>{fragment(told)}</div>")[1].tag == "article"
    assert FETCHES.findall(page) == []


@pytest.mark.parametrize("kind", CHECKS)
def test_what_was_released_is_not_shown(kind: str) -> None:
    told = facts(kind, build=marked)

    assert str(SECRET) not in render(told) + receipt_text(receipt(told))
    assert "int" in said(render(told))


def test_the_receipt_and_the_page_of_a_seeded_search_begin_with_not_private() -> None:
    told = facts()

    assert next(iter(read_back(told))) == "warning"
    assert "NOT PRIVATE" in said(render(told))


def test_the_page_says_what_the_bound_does_not_cover() -> None:
    page = said(render(facts()))

    assert "Not covered: functions that were given to the search and read records" in page
    assert "Not covered: how the settings were chosen" in page
    assert "no record is in both (two hospitals)" in page


def test_steps_are_called_by_their_names_and_not_by_those_of_a_table() -> None:
    page = said(render(facts()))

    assert "noisy counts of each column" not in page
    assert "Gaussianstatistic histogram" in page


def test_a_target_is_told_where_one_of_our_questions_asks() -> None:
    asked, public = facts("a public number"), facts("public")

    assert (asked.asked, asked.held) == (HALF, 120.0)
    assert "mean score" in said(render(asked))
    assert public.asked is None
    assert "asked for: " not in said(render(public))
    assert read_back(public)["asked"]["threshold"] is None


def test_a_rule_on_releases_is_not_said_to_have_read_held_out_records() -> None:
    page = said(render(facts("public")))

    assert "the held-out part was not read" in page
    assert "checked on the part held out" not in page


def test_without_a_pledge_nothing_is_stated() -> None:
    told = facts(pledge=lambda chosen: None)

    page = said(render(told))
    assert "No (ε, δ) statement covers this run" in page
    assert "was pledged before any data was touched" not in page
    assert read_back(told)["statement"]["epsilon"] is None


def test_strides_are_not_numbered_as_the_planned_stops_are() -> None:
    """The twin climbs rung by rung, and has every stop it did not reach ahead."""
    strides, check = Strides(LADDER), BalancedCheck(CentredSum(right, Fraction(99, 100), ADD), None)
    outcome, ledger, _ = run(check, select=strides, ladder=strides)
    slow, slowly, _ = run(check)

    told, twin = of_search(outcome, ledger, check=check), of_search(slow, slowly, check=check)

    assert 1 < len(told.rungs) < len(told.stops)
    assert (told.ahead, "of 4" in said(render(told))) == ((), False)
    assert twin.ahead == twin.stops[len(twin.rungs) :]


def test_a_record_of_another_run_is_refused() -> None:
    outcome, _, _ = run(CHECKS["balanced"])
    _, other, _ = run(CHECKS["never"])

    with pytest.raises(LedgerConflict) as caught:
        of_search(outcome, other, check=CHECKS["balanced"])
    assert one_sentence(caught.value)


@pytest.mark.parametrize("pledge", PLEDGES)
def test_the_record_of_an_equal_run_is_refused(pledge: str) -> None:
    """It cost the same and was pledged alike, and says nothing of what this one did."""
    outcome, ledger, _ = run(CHECKS["balanced"], pledge=PLEDGES[pledge])
    _, other, _ = run(CHECKS["balanced"], pledge=lambda chosen: ledger.pledged)
    assert (other.lines, other.pledged) == (ledger.lines, ledger.pledged)
    of_search(outcome, ledger, check=CHECKS["balanced"])

    with pytest.raises(LedgerConflict, match="not of the same run") as caught:
        of_search(outcome, other, check=CHECKS["balanced"])

    assert one_sentence(caught.value)


def test_a_record_to_which_something_was_added_since_is_refused() -> None:
    """The twin of a record that is the search's own."""
    outcome, ledger, odometer = run(CHECKS["balanced"])
    of_search(outcome, ledger, check=CHECKS["balanced"])

    odometer.spend(Gaussian(counts()), ONES.train, budget(1), Past(), SeededNoise(4))

    with pytest.raises(LedgerConflict, match="more was spent since"):
        of_search(outcome, ledger, check=CHECKS["balanced"])


FORGED: dict[str, Callable[[Receipt], object]] = {
    "a smaller ε": lambda found: found["statement"].update(epsilon=found["statement"]["epsilon"] * 0.99),
    "a smaller δ": lambda found: found["statement"].update(delta=1e-6),
    "more noise than was drawn": lambda found: found["bill"][0]["facts"].update(variance="99"),
    "a step left out": lambda found: found["bill"].pop(0),
    "the warning left out": lambda found: found.pop("warning"),
}


@pytest.mark.parametrize("how", FORGED)
def test_a_forged_receipt_is_noticed(how: str) -> None:
    found = copy.deepcopy(read_back(facts()))
    assert audited(found).differences == ()

    FORGED[how](found)

    assert audited(found).differences


def test_a_planned_pledge_is_told_by_its_kind() -> None:
    stops = planned_stops(Gaussian(counts()), LADDER, CHECKS["balanced"])

    told = facts(pledge=lambda chosen: tightest_pledge(stops, 1e-5).pledge)

    assert told.pledge == tightest_pledge(stops, 1e-5).pledge
    assert told.reason[0].upper() + told.reason[1:] in said(render(told))
