"""The page: well formed, self-contained, quoted, and loud where it must be."""

import math
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest

from expost.accounting.claim import Spent
from expost.accounting.curve import AdpEpsilon, Linear
from expost.accounting.odds import posterior
from expost.accounting.statement import stated_loss
from expost.jobs.synthesis.kept import bars
from expost.report import charts as svg
from expost.report.digits import measured, most, price
from expost.report.facts import Facts
from expost.report.markup import bins_note
from expost.report.page import fragment, render
from tests.unit.report.examples import HOSTILE, facts, silent, table
from tests.unit.report.pages import FETCHES, said, tree

PAGES: list[Callable[[], Facts]] = [
    facts,
    lambda: facts(Fraction(999, 1000)),
    lambda: replace(facts(), seeded=False, floating=True),
    lambda: replace(facts(), epsilon=AdpEpsilon(math.inf), pledge=None),
    lambda: replace(facts(), job=replace(table(facts()), kept=replace(table(facts()).kept, together=()))),
    lambda: facts(name=HOSTILE, value=HOSTILE),
]


@pytest.mark.parametrize("told", PAGES)
def test_a_page_is_well_formed(told: Callable[[], Facts]) -> None:
    assert tree(render(told())).tag == "html"


@pytest.mark.parametrize("told", PAGES)
def test_a_fragment_is_well_formed(told: Callable[[], Facts]) -> None:
    assert tree(f"<div>{fragment(told())}</div>")[1].tag == "article"


@pytest.mark.parametrize("told", PAGES[:-1])
def test_a_page_fetches_nothing_and_runs_nothing(told: Callable[[], Facts]) -> None:
    assert FETCHES.findall(render(told())) == []


@pytest.mark.parametrize("mark", ['<a href="#x">', "http://a", "<script>", "background: url(x)", '<p onclick="x">'])
def test_what_would_fetch_or_run_is_noticed(mark: str) -> None:
    assert FETCHES.findall(mark)


def test_hostile_names_are_shown_and_not_obeyed() -> None:
    page = render(replace(facts(name=HOSTILE, value=HOSTILE), title=HOSTILE, because=HOSTILE))

    assert "<script" not in page
    assert "\u202e" not in page
    assert HOSTILE.replace("\u202e", "\N{REPLACEMENT CHARACTER}") in said(page)


def test_a_private_run_that_reached_its_target_has_no_banner() -> None:
    assert 'class="banner' not in render(replace(facts(), seeded=False))


def test_a_seeded_run_is_called_not_private() -> None:
    assert "NOT PRIVATE" in said(render(facts()))
    assert "NOT PRIVATE" in said(f"<div>{fragment(facts())}</div>")


def test_a_target_that_was_not_reached_is_said_so() -> None:
    page = said(render(facts(Fraction(999, 1000))))

    assert "TARGET NOT CONFIRMED" in page
    assert "passed the check" not in page


def test_the_accuracy_beside_a_target_that_was_not_reached_is_that_of_the_last_rung_checked() -> None:
    told = facts(Fraction(999, 1000), sure=False)
    found = told.answer(told.rungs[2])
    assert found is not None

    page = said(render(told))

    assert f"held out{measured(*found, 0.999)}on rung 3, the last one checked" in page


def test_rungs_above_the_cap_are_told_from_those_that_were_not_reached() -> None:
    told = facts()
    cap = told.stops[-1].epsilon

    assert "above the cap" not in said(render(replace(told, cap=cap, rungs=told.rungs[:1])))
    assert "above the cap" in said(render(replace(told, cap=AdpEpsilon(cap / 2), rungs=told.rungs[:1])))


def test_a_check_that_says_yes_or_no_gets_no_chart_and_no_column_of_accuracies() -> None:
    told, hushed = render(facts()), render(silent(facts()))

    assert "The rungs: accuracy against price" in told
    assert "The rungs: accuracy against price" not in hushed
    assert "<th>accuracy</th>" in told
    assert "<th>accuracy</th>" not in hushed


def test_the_guard_of_every_rung_is_shown_those_ahead_included() -> None:
    told = facts()
    guards = [look.guard for look in told.looks if look is not None]

    assert len(guards) == 4
    assert all(f"{guard:.1f}" in said(render(told)) for guard in guards)


def test_floating_noise_is_said_so() -> None:
    assert "Floating-point noise" in said(render(replace(facts(), floating=True)))


def test_the_page_states_the_price_of_the_run_of_each_rung_and_of_those_not_reached() -> None:
    told = facts()

    page = said(render(told))

    assert f"ε = {price(told.epsilon)} at δ = 1e-5" in page
    assert all(price(stop.epsilon) in page for stop in told.stops)
    assert "not reached" in page


def test_a_run_without_a_claim_states_no_odds() -> None:
    curve = Linear(Fraction(0), Fraction(1, 20))
    page = said(render(replace(facts(), spent=Spent(curve), epsilon=AdpEpsilon(math.inf), pledge=None)))

    assert "No (ε, δ) statement covers this run" in page
    assert "false alarms" not in page


def test_the_table_of_guesses_is_at_the_bound_on_the_loss_and_not_at_the_stated_epsilon() -> None:
    told = facts()
    loss = stated_loss(told.spent, told.pledge)

    page = said(render(told))

    assert most(posterior(0.5, loss)) in page
    assert most(posterior(0.5, told.epsilon)) not in page
    assert f"by at most e^{price(loss)} = " in page
    assert "except with a chance of 1e-5 (1 in 100,000) in either direction" in page


def test_where_no_bound_on_the_loss_was_pledged_the_table_is_at_what_the_statement_implies() -> None:
    told = replace(facts(), spent=Spent(Linear(Fraction(0), Fraction(100))))

    page = said(render(told))

    assert most(posterior(0.5, told.epsilon + math.log(10 / 9))) in page
    assert "except with a chance of 0.0001 (1 in 10,000) in either direction" in page
    assert "the rules for both were fixed" not in page


def test_where_a_record_is_replaced_the_page_does_not_speak_of_records_that_come_and_go() -> None:
    page = said(render(replace(facts(), neighbours="replace one record")))

    assert "Guessing what one record says" in page
    assert "is in the data or not" not in page
    assert "whether a record was used" not in page


def test_every_line_of_the_bill_is_itemised() -> None:
    told = facts()

    page = said(render(told))

    assert page.count("a look at the held-out records") == sum(
        item.entry.what == "balanced check" for item in told.bill
    )
    assert "which pairs of columns to count" in page


def test_the_page_turns_dark() -> None:
    assert "prefers-color-scheme: dark" in render(facts())


def test_charts_speak_to_those_who_do_not_see_them() -> None:
    for chart in (svg.ladder(facts()), bars(table(facts()).kept.columns[0])):
        title, description = tree(chart)[:2]

        assert (title.tag, description.tag) == ("title", "desc")
        assert title.text
        assert description.text


def test_verdicts_are_told_apart_by_shape() -> None:
    told = facts()
    last = replace(told.rungs[-1], line=replace(told.rungs[-1].line, verdict=None), accuracy=None, error=None)

    assert 'class="tick"' in svg.ladder(told)
    assert 'class="tick"' not in svg.ladder(replace(told, rungs=(last,)))
    assert ">not checked</text>" in svg.ladder(replace(told, rungs=(last,)))


@pytest.mark.parametrize("width", [svg.WIDE, svg.NARROW])
@pytest.mark.parametrize("prices", [(0.02, 0.03), (0.02, 0.03, 1.3), (0.5, 0.55, 0.6), (1.2, 1.3)])
def test_what_is_said_of_rungs_without_an_answer_covers_neither_itself_nor_the_axis(
    width: int, prices: tuple[float, ...]
) -> None:
    told = facts()
    last = replace(told.rungs[-1], line=replace(told.rungs[-1].line, verdict=None), accuracy=None, error=None)
    rungs = tuple(replace(last, epsilon=AdpEpsilon(each)) for each in prices)

    chart = svg.ladder(replace(told, rungs=rungs), width)

    ends = []
    for x, anchor in re.findall(r'x="([\d.]+)" y="[\d.]+" text-anchor="(\w+)">not checked<', chart):
        ends.append((float(x), float(x) + 68) if anchor == "start" else (float(x) - 68, float(x)))
    assert ends
    assert ends[0][0] >= svg.LEFT
    assert ends[-1][1] <= width
    assert all(before[1] < after[0] for before, after in pairwise(ends))


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0.8, 0.83), (0, 1e-4), (0, 70), (0.1, 0.9)])
def test_an_axis_has_a_few_round_numbers(low: float, high: float) -> None:
    ticks = svg.nice(low, high)

    assert 3 <= len(ticks) <= 9
    assert low <= ticks[0] <= ticks[-1] <= high


def test_a_bill_of_gaussian_steps_is_also_told_in_the_terms_of_the_field() -> None:
    told = facts()
    curve = Linear(Fraction(0), Fraction(1, 20), Fraction(2, 25))

    alike = replace(told, spent=Spent(curve))

    assert "satisfies μ-Gaussian differential privacy with μ = 0.401, ex post" in said(render(alike))
    assert "μ-Gaussian" in said(render(replace(alike, epsilon=AdpEpsilon(math.inf), pledge=None)))
    assert "μ-Gaussian" in said(render(told))
    assert "μ-Gaussian" not in said(render(replace(told, spent=Spent(Linear(Fraction(0), Fraction(1, 20))))))


def test_formulas_and_the_bill_are_at_the_end_for_auditors() -> None:
    """Somebody who decides on a release reads the page down to there."""
    first, _, last = said(render(facts())).rpartition("For auditors")

    for words in ("ξ + ρα", "Rényi", "guard, in records", "ρ = ", "Computed with"):
        assert words in last
        assert words not in first


def test_the_page_names_its_date_its_options_and_its_digests() -> None:
    told = replace(facts(), date="2025-11-16")

    page = said(render(told, pledged="0ff1ce"))

    assert "Synthetic data · 2025-11-16" in page
    assert "The run was begun on 2025-11-16 (UTC)." in page
    assert "What was fixed before any data was read: SHA-256 0ff1ce" in page
    assert table(told).schema_digest in page
    assert all(f"{name}{value}" in page for name, value in told.options)
    assert "begun on" not in said(render(facts()))


def test_a_phone_gets_a_ladder_of_its_own_and_cells_that_know_their_heads() -> None:
    page = render(facts())
    broad, slim = (svg.ladder(facts(), width) for width in (svg.WIDE, svg.NARROW))

    assert f'<div class="broad">{broad}</div><div class="slim">{slim}</div>' in page
    assert 'viewBox="0 0 360 300"' in slim
    assert '<td data-head="cost of each">' in page
    assert all(float(x) <= svg.NARROW for x in re.findall(r' x="([\d.]+)"', slim))


def test_a_table_whose_cells_would_be_a_word_wide_is_stacked_on_a_phone() -> None:
    stacked = [each for each in tree(render(facts())).iter("div") if each.get("class") == "wide stacked"]

    heads = {" ".join("".join(head.itertext()) for head in each.iter("th")) for each in stacked}
    assert heads == {"what read times cost of each", "column kind values domain where a value is missing"}
    assert ".stacked td { display: block; }" in " ".join(render(facts()).split())


def test_warnings_stand_below_the_result_and_the_rate_of_guessing_above_it() -> None:
    page = said(render(replace(facts(), warnings=(("Mind the gap", "There is one."),))))

    places = [page.index(words) for words in ("Always guessing", "The accuracy is at least", "Mind the gap")]
    assert places == sorted(places)


def test_how_bins_are_read_is_told_by_one_of_them() -> None:
    """A steward need not know what a square bracket and a round one mean."""
    told = "In a bin such as [20, 40), the end 20 is included and the end 40 is not included."

    assert bins_note(["(-∞, 20)", "[20, 40)", "[40, ∞)", "(missing)"]) == f'<p class="note">{told}</p>'
    assert bins_note(["north", "(-∞, 0]", "(0, ∞)"]) == ""
