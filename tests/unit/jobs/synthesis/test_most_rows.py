"""How many synthetic rows are made and learnt from at most, and that both are on record."""

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from expost.jobs.synthesis import procedure
from expost.jobs.synthesis.described import TableJob
from expost.jobs.synthesis.recipe import MOST_ROWS
from expost.tabular import teaching
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.score import Conditional
from expost.tabular.table import Table
from expost.tabular.teaching import MOST_TAUGHT, taught
from tests.unit.examples import ADD
from tests.unit.jobs.synthesis.customers import made, records

ROWS = Schema((Integer("place", tuple(range(2**10)), Missing.FALLBACK),), True, ADD)


def numbered(count: int) -> Table:
    """Rows that say where they are, in thousandths of the table."""
    return Table(ROWS, {"place": (np.arange(count) * 1000 // count).astype(np.uint16)})


def test_up_to_two_hundred_thousand_rows_are_all_learnt_from() -> None:
    table = numbered(MOST_TAUGHT)

    assert MOST_TAUGHT == 200_000
    assert taught(table) is table


def test_of_more_rows_as_many_are_learnt_from_at_even_distances() -> None:
    """A table that is drawn in an order, of which the first rows would be of one kind."""
    found = taught(numbered(3 * MOST_TAUGHT)).codes("place")

    assert len(found) == MOST_TAUGHT
    assert np.bincount(found, minlength=1000).tolist() == 1000 * [MOST_TAUGHT // 1000]


class Noting:
    """A learner that notes of how many rows it was shown."""

    def __init__(self) -> None:
        self.shown = list[int]()

    def __call__(self, table: Table, *others: Any) -> Any:
        """What counts alone teach."""
        self.shown.append(len(table))
        return Conditional()(table, *others)


def test_a_run_shows_its_learner_no_more_of_the_rows_it_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teaching, "MOST_TAUGHT", 50)
    learner = Noting()

    done = made(pl.DataFrame(records()), rows=400, learner=learner)

    assert len(done.release.value) == 400
    assert {shown for shown in learner.shown if shown > 8} == {50}


def test_a_run_makes_no_more_rows_than_the_most_unless_more_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(procedure, "MOST_ROWS", 100)

    assert MOST_ROWS == 10**6
    assert len(made(pl.DataFrame(records())).release.value) == 100
    assert len(made(pl.DataFrame(records()), rows=150).release.value) == 150


def test_both_are_on_record() -> None:
    facts = made(pl.DataFrame(records())).facts

    told = dict(facts.options)
    assert told["synthetic rows"] == "about as many as records, 1,000,000 at most"
    assert told["rows that are learnt from"] == "200,000 at most"


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (200_000, "trained on the 200,000 synthetic rows to"),
        (200_001, "trained on 200,000 of the 200,001 synthetic rows to"),
    ],
)
def test_a_report_says_how_many_of_the_rows_were_learnt_from(rows: int, words: str) -> None:
    facts = made(pl.DataFrame(records())).facts
    assert isinstance(facts.job, TableJob)

    assert words in replace(facts.job, rows=rows).passed(facts)
