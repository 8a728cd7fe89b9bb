"""Questions that overlap on a lasting ledger: what earlier ones measured is used, whatever else they measured."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from expost.accounting.curve import AdpEpsilon
from expost.jobs import audit
from expost.jobs.asking.answer import Answer
from expost.jobs.asking.lasting import LASTING
from expost.jobs.asking.report import answer_page
from expost.jobs.asking.run import ask
from expost.ledgers.book import Book, home_of
from expost.ledgers.terms import order_terms
from expost.tabular.schema.schema import Schema

SCHEMA = Schema.load("""
reviewed = true
neighbours = "add-remove"

[[column]]
name = "ward"
kind = "categorical"
values = ["a", "b"]
missing = false

[[column]]
name = "sex"
kind = "categorical"
values = ["F", "M"]
missing = false
""")
ROWS = "ward,sex\n" + "a,F\na,M\nb,F\nb,F\nb,M\n" * 2000
SHARES = ("8%", "7%", "6%", "5%", "4%", "3%", "2.5%", "2%", "1.6%", "1.3%", "1%", "0.8%", "0.6%", "0.5%")
"""One finer than the other: an answer that goes on from those before it is soon among them, whatever noise they had."""


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    (tmp_path / "visits.csv").write_text(ROWS, encoding="utf-8")
    with Book(home_of(str(tmp_path / "ledger.db"), create=True)) as opened:
        opened.add("visits", order_terms(10, alpha=20))
        yield opened


def answer(book: Book, here: Path, question: str, within: str) -> Answer:
    with book.run("visits", "ask") as run:
        return ask(here / "visits.csv", question, schema=SCHEMA, within=within, fewer_than=1000, ledger=run)


def test_a_finer_question_goes_on_from_counts_by_fewer_columns_beside_those_by_more(book: Book, tmp_path: Path) -> None:
    """What was measured by ward and by ward and sex is both known of a ward, and both are of use."""
    answer(book, tmp_path, "count by ward, sex", "20%")
    first = answer(book, tmp_path, "count by ward", "2%")

    finer = answer(book, tmp_path, "count by ward", "1%")

    assert first.passed
    assert first.epsilon > 0
    assert finer.passed
    assert finer.epsilon > 0


def test_a_question_that_sums_of_earlier_answers_settle_costs_nothing(book: Book, tmp_path: Path) -> None:
    answer(book, tmp_path, "count by ward, sex", "2%")

    coarser = answer(book, tmp_path, "count by ward", "10%")

    assert coarser.passed
    assert coarser.epsilon <= 0


@pytest.mark.parametrize("target", [{"top": 1}, {"above": 5000}, {"compare": ("a", "b")}], ids=str)
def test_a_decision_that_earlier_answers_settle_costs_nothing(
    book: Book, tmp_path: Path, target: dict[str, Any]
) -> None:
    """Its error bars are lasting, since nobody planned it when those numbers were measured."""
    answer(book, tmp_path, "count by ward", "5%")

    with book.run("visits", "ask") as run:
        found = ask(tmp_path / "gone.csv", "count by ward", schema=SCHEMA, ledger=run, **target)

    assert found.epsilon == AdpEpsilon(0.0)
    assert found.passed
    assert found.outcome.look.width == LASTING
    assert found.outcome.look.bars[0].point.argmax() == 1
    found.save(tmp_path / "decided")
    checked = audit(json.loads(found.receipt), beside=tmp_path / "decided")
    assert checked.differences == ()


def test_a_decision_that_earlier_answers_leave_open_is_measured(book: Book, tmp_path: Path) -> None:
    """The twin: a threshold between the ends of what is known."""
    known = answer(book, tmp_path, "count by ward", "5%")

    with book.run("visits", "ask") as run:
        found = ask(
            tmp_path / "visits.csv", "count by ward", schema=SCHEMA, ledger=run,
            above=round(known.told[0].lines[1].estimate),
        )  # fmt: skip

    assert found.epsilon > 0


def test_a_decision_that_was_paid_for_is_not_told_with_lasting_error_bars(book: Book, tmp_path: Path) -> None:
    """The audit of its receipt would say so: they hold at every look of one run, and not at every one there ever is."""
    with book.run("visits", "ask") as run:
        found = ask(tmp_path / "visits.csv", "count by ward", schema=SCHEMA, top=1, ledger=run)
    found.save(tmp_path / "decided")
    forged = json.loads(found.receipt) | {"width": LASTING, "recalled": True}

    checked = audit(forged, beside=tmp_path / "decided")

    assert any("error bars have another width" in each for each in checked.differences)


def test_the_page_of_an_answer_that_cost_nothing_says_how_that_came_about(book: Book, tmp_path: Path) -> None:
    """And not how it would have been measured."""
    first = answer(book, tmp_path, "count by ward, sex", "5%")

    summed, same = (
        answer(book, tmp_path, question, within)
        for question, within in (("count by ward", "20%"), ("count by ward, sex", "5%"))
    )

    assert "One measurement of that precision was then made" in answer_page(first.facts)
    for told in (summed, same):
        assert "One measurement of that precision was then made" not in answer_page(told.facts)
        assert "all of which are on the bill" not in answer_page(told.facts)
    assert "were combined, weighted by their precision." in answer_page(summed.facts)
    assert "lasting: they hold however often the answer is refined or asked for again" in answer_page(summed.facts)
    assert "The same was asked before, as precisely or more so, and this is that answer" in answer_page(same.facts)


def test_the_page_of_an_answer_that_went_on_from_others_says_so(book: Book, tmp_path: Path) -> None:
    every = (answer(book, tmp_path, "count by ward", within) for within in SHARES)
    found = next(each for each in every if each.outcome.look.width == LASTING and each.epsilon > 0)

    assert "One measurement of that precision was then made" not in answer_page(found.facts)
    assert "combined with them, weighted by precision" in answer_page(found.facts)


def test_several_questions_that_share_their_cells_cost_nothing_again(book: Book, tmp_path: Path) -> None:
    """Although the coarser one was not measured itself: the very same numbers, as a single release has them."""

    def asked() -> Answer:
        with book.run("visits", "ask") as run:
            return ask(
                tmp_path / "visits.csv", "count by ward, sex", "count by ward", schema=SCHEMA, within=200, ledger=run
            )

    first, again = asked(), asked()

    assert first.epsilon > 0
    assert again.epsilon <= 0
    assert again.told == first.told
