"""Questions that overlap on a lasting ledger: what earlier ones measured is used, whatever else they measured."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from expost.jobs.asking.answer import Answer
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
