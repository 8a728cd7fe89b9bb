"""The report of a trained head: the same page and receipt as any job's, and nothing said that is not known."""

import copy
import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from expost.accounting.curve import AdpEpsilon, Tabulated
from expost.accounting.statement import stated
from expost.bill import bill_total, by_part
from expost.jobs import audit as check
from expost.protocols import Verdict
from expost.receipts.receipt import receipt, receipt_text
from expost.report.answers import as_share
from expost.report.digits import price
from expost.report.facts import Facts
from expost.report.page import fragment, render
from expost.report.reading import reading
from expost.report.words import conclusion
from expost.search import Ended
from tests.unit.report.examples import HOSTILE, facts, head, trained
from tests.unit.report.pages import FETCHES, PLAIN, leaves, said, tree

Receipt = dict[str, Any]


def reached() -> Facts:
    return trained(0.8).facts


def missed() -> Facts:
    return trained(0.95).facts


def public() -> Facts:
    return trained(0.95, public=True).facts


PAGES: list[Callable[[], Facts]] = [
    reached,
    missed,
    public,
    lambda: trained(0.95, held=600).facts,
    lambda: trained(0.8, floating=True).facts,
    lambda: replace(missed(), ended=Ended.CAPPED, cap=AdpEpsilon(2.0), rungs=missed().rungs[:2]),
    lambda: replace(reached(), epsilon=AdpEpsilon(math.inf), pledge=None),
]


@pytest.mark.parametrize("told", PAGES)
def test_a_page_is_well_formed_and_fetches_nothing(told: Callable[[], Facts]) -> None:
    assert tree(render(told())).tag == "html"
    assert tree(f"<div>{fragment(told())}</div>")[1].tag == "article"
    assert FETCHES.findall(render(told())) == []


@pytest.mark.parametrize("told", PAGES)
def test_a_page_speaks_of_no_table(told: Callable[[], Facts]) -> None:
    page = said(re.sub("<style>.*?</style>", "", render(told()), flags=re.DOTALL))

    assert [word for word in ("rung", "climb", "synthetic", "schema", "column", "ladder") if word in page] == []


@pytest.mark.parametrize("told", PAGES[:-1])
def test_a_conclusion_speaks_of_no_table(told: Callable[[], Facts]) -> None:
    assert [word for word in ("rung", "climb", "synthetic", "ladder") if word in conclusion(told())] == []


def test_facts_of_a_head_are_plain_values_but_for_the_tables_of_their_costs() -> None:
    found = [leaf for leaf in leaves(reached()) if not isinstance(leaf, PLAIN)]

    assert found
    assert {type(leaf).__name__ for leaf in found} == {"ndarray"}
    assert all(isinstance(item.spent.curve, Tabulated) for item in reached().bill if item.entry.what == "Head")


def test_a_hostile_title_is_shown_and_not_obeyed() -> None:
    page = render(replace(reached(), title=HOSTILE, because=HOSTILE))

    assert "<script" not in page
    assert HOSTILE.replace("\u202e", "\N{REPLACEMENT CHARACTER}") in said(page)


def test_the_page_says_how_the_head_was_trained() -> None:
    page, job = said(render(reached())), head(reached())

    assert f"with probability {job.rate}, independently of the others (Poisson sampling)" in page
    assert f"clipped to norm {job.clip:g}, noise of {float(job.noise_multiplier):.4g} times that norm" in page
    assert "The first came after 20 steps, the others 40 steps apart." in page
    assert "exact discrete Gaussian, so the bound holds for the machine's arithmetic too" in page


def test_floating_point_noise_is_said_in_the_banner_the_method_and_the_conclusion() -> None:
    told = trained(0.8, floating=True).facts

    page = said(render(told))
    assert "Floating-point noise" in page
    assert "what rounding may reveal is NOT covered" in page
    assert "rounding the bound does not cover" in conclusion(told)
    assert "holds for the machine's arithmetic" not in page


def test_the_page_says_what_the_bound_does_not_cover() -> None:
    page = said(render(reached()))

    assert "Not covered: where the features come from" in page
    assert "Not covered: how the settings were chosen" in page
    assert "Taken to be public: that there are 3 classes and 6 features. They were counted from the labels." in page


def test_classes_that_were_said_are_not_called_counted() -> None:
    told = replace(reached(), job=replace(head(reached()), counted=False))

    assert "counted from the labels" not in said(render(told))


def test_the_page_states_the_price_of_every_release() -> None:
    page = said(render(reached()))

    assert all(price(stop.epsilon) in page for stop in reached().stops)
    assert "2, after 60 steps" in page
    assert "not reached" in page


def test_margins_are_told_in_records_where_the_number_of_records_is_private() -> None:
    verdict = missed().rungs[-1].line.verdict
    assert verdict is not None
    assert verdict.margin is not None
    assert verdict.std is not None

    told = conclusion(missed())

    assert f"noisy margin was \N{MINUS SIGN}{-verdict.margin:.1f} ± {missed().width * verdict.std:.1f} records" in told
    assert "their number stays private" in reading(missed())
    assert "The releases: margin against price" in render(missed())


def test_margins_are_told_as_accuracies_where_the_number_of_records_is_public() -> None:
    margins, shares = missed().rungs[0], trained(0.95, held=600).facts
    verdict = margins.line.verdict
    assert verdict is not None
    assert verdict.margin is not None

    assert margins.accuracy is None
    assert shares.rungs[0].accuracy == pytest.approx(0.95 + verdict.margin / 240)
    assert "noisy accuracy was" in conclusion(shares)
    assert "their number stays private" not in reading(shares)
    assert "The releases: accuracy against price" in render(shares)


def test_a_public_check_shows_no_margin_and_no_held_out_records() -> None:
    page = said(render(public()))

    assert "The check read public records only, which costs nothing." in page
    assert "held-out records that it was not trained on" not in page
    assert "against price" not in page


def test_a_margin_and_a_share_agree_on_what_a_verdict_reveals() -> None:
    told = Verdict(True, 3.0, 2.0)

    assert told.answer == (3.0, 2.0)
    assert as_share(told, Fraction(4, 5), 100.0) == pytest.approx((0.83, 0.02))
    assert (as_share(told, None, 100.0), as_share(told, Fraction(4, 5), None)) == (None, None)
    assert (Verdict(True).answer, as_share(Verdict(True), Fraction(4, 5), 100.0)) == (None, None)


def test_the_bill_adds_up_to_what_was_spent_to_the_last_bit() -> None:
    for told in (reached(), missed(), public()):
        assert stated(bill_total(told.bill), told.pledge) == told.epsilon < math.inf


def test_equal_steps_on_one_line_are_added_up_as_the_odometer_did() -> None:
    for count in range(2, 40):
        item = replace(public().bill[-1], count=1)

        merged, apart = by_part([replace(item, count=count)]), by_part([item] * count)

        assert merged["data"].at(2.5) == apart["data"].at(2.5)


def test_costs_without_a_closed_form_are_shown_at_the_order_of_the_budgets() -> None:
    page, order = said(render(reached())), float(reached().order)

    assert f"at α = {order:g}" in page
    assert "a table of" not in page
    assert " at α = " not in said(render(replace(facts(), options=())))


def read_back(told: Facts) -> Receipt:
    """A receipt as read back from its file."""
    loaded: Receipt = json.loads(receipt_text(receipt(told)))
    return loaded


@pytest.mark.parametrize("told", PAGES[:5])
def test_a_receipt_leads_to_its_own_statement(told: Callable[[], Facts]) -> None:
    audit = check(read_back(told()))

    assert audit.matches, str(audit)
    assert audit.epsilon == pytest.approx(told().epsilon)


def test_a_receipt_is_written_with_a_curve_a_line() -> None:
    text = receipt_text(receipt(reached()))

    assert json.loads(text) == json.loads(json.dumps(receipt(reached())))
    assert len(text.splitlines()) < 400
    assert len(json.dumps(receipt(reached()), indent=2).splitlines()) > 2000


def test_a_title_like_a_list_is_written_as_it_is() -> None:
    title = "[\n  1,\n  2\n]"

    assert read_back(replace(reached(), title=title))["title"] == title


def test_a_receipt_says_how_the_head_was_trained() -> None:
    found = read_back(reached())["training"]

    assert found["steps"] == [20, 60, 100, 140]
    assert (found["rate"], found["classes"], found["features"]) == ("1/10", 3, 6)


def first(found: Receipt, what: str) -> Receipt:
    """The first line of the bill with this name."""
    line: Receipt = next(each for each in found["bill"] if each["what"] == what)
    return line


def swap(found: Receipt, what: str, other: str) -> None:
    first(found, what).update(curve=first(found, other)["curve"])


def cheaper(found: Receipt) -> None:
    curve = first(found, "Head")["curve"]
    curve["values"] = [value and value / 2 for value in curve["values"]]


TAMPERED: dict[str, Callable[[Receipt], object]] = {
    "a smaller ε": lambda found: found["statement"].update(epsilon=found["statement"]["epsilon"] * 0.99),
    "a cheaper training": cheaper,
    "fewer steps": lambda found: first(found, "Head")["facts"].update(steps=10),
    "no steps": lambda found: first(found, "Head")["facts"].pop("steps"),
    "a smaller rate": lambda found: first(found, "Head")["facts"].update(rate="1/20"),
    "more noise than was drawn": lambda found: first(found, "Head")["facts"].update({"noise multiplier": "99"}),
    "a noise that is none": lambda found: first(found, "Head")["facts"].update({"noise multiplier": "1/0"}),
    "exact noise called floating": lambda found: first(found, "Head")["facts"].update(noise="floating-point Gaussian"),
    "a line in place of a table": lambda found: swap(found, "Head", "balanced check"),
    "a table in place of a line": lambda found: swap(found, "balanced check", "Head"),
    "a release left out": lambda found: found["bill"].remove(first(found, "Head")),
    "a look left out": lambda found: found["bill"].remove(first(found, "balanced check")),
    "training on the held-out part": lambda found: first(found, "Head").update(part="data/held"),
    "a cheaper plan": lambda found: found["plan"]["stops"][-1].update(epsilon=0.001),
    "a target reached": lambda found: found["ended"].update(reached=True),
    "the warning left out": lambda found: found.pop("warning"),
}


@pytest.mark.parametrize("how", TAMPERED)
def test_a_changed_receipt_is_noticed(how: str) -> None:
    found = copy.deepcopy(read_back(missed()))

    TAMPERED[how](found)

    assert not check(found).matches


def test_floating_noise_kept_quiet_is_noticed() -> None:
    found = read_back(trained(0.8, floating=True).facts)
    assert check(found).matches

    found["floating"] = False
    for line in found["bill"]:
        line["floating"] = False

    assert not check(found).matches
