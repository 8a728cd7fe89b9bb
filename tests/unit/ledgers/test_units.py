"""Units on a ledger: all runs of a data set are per record or all are per person, whichever tables they read."""

from dataclasses import replace

import numpy as np
import pytest

from expost.errors import InvalidValue, LedgerConflict
from expost.jobs.job import Result
from expost.ledgers.book import Book
from expost.ledgers.overview import overviews
from expost.ledgers.registry import registry_record, yaml_text
from expost.ledgers.run import LedgerRun
from expost.ledgers.terms import zcdp_terms
from expost.mechanisms.gaussian import Gaussian
from expost.noise import SystemNoise
from expost.odometer import Odometer
from expost.private import Neighbours, Private
from expost.release import Past
from expost.statistic import histogram
from expost.tabular.persons import Grouped
from expost.tabular.schema.schema import Schema
from tests.unit.examples import budget, one_sentence
from tests.unit.jobs.synthesis.customers import SCHEMA, made
from tests.unit.report.examples import customers

PERSON, RECORD = Neighbours.ADD_REMOVE_PERSON, Neighbours.ADD_REMOVE


def count(book: Book, neighbours: Neighbours, dataset: str = "visits") -> None:
    """One noisy count on the data set."""
    counting = Gaussian(histogram(lambda codes: codes, 4, neighbours, name="wards"))
    with LedgerRun(book, dataset) as run:
        Odometer(ledger=run).spend(counting, Private(np.arange(4), neighbours), budget(0.01), Past(), SystemNoise())


def refusal(book: Book, neighbours: Neighbours) -> str:
    with pytest.raises(LedgerConflict) as refused:
        count(book, neighbours)
    assert one_sentence(refused.value)
    return str(refused.value)


def visits(schema: Schema, book: Book) -> Result[object]:
    """A synthetic table of three visits per person, or of the visits each by itself."""
    coded = customers(schema, 900)
    table = coded if schema.unit is None else Grouped.of(coded, np.arange(900) // 3)
    with LedgerRun(book, "hospital") as run:
        return made(table, schema=schema, accuracy=0.5, noise=SystemNoise(), ledger=run)


def test_tables_about_the_same_persons_share_a_data_set(book: Book) -> None:
    count(book, PERSON)
    count(book, PERSON)

    (found,) = overviews(book.home)
    assert len(found.charges) == 2


def test_a_run_per_record_is_refused_where_runs_are_per_person_and_says_what_to_do(book: Book) -> None:
    count(book, PERSON)

    told = refusal(book, RECORD)

    assert told == (
        "the data set 'visits' is billed per person, and this step would be per record; declare in its schema which "
        "column is the unit, or give it as --unit where there is no schema, so that each run covers persons."
    )


def test_a_run_per_person_is_refused_where_runs_are_per_record(book: Book) -> None:
    count(book, RECORD)

    told = refusal(book, PERSON)

    assert "is billed per record, and this step would be per person; leave the unit out" in told


def test_another_relation_between_persons_is_refused_too(book: Book) -> None:
    count(book, PERSON)

    assert "is billed for neighbours that add or remove one person" in refusal(book, Neighbours.REPLACE_PERSON)


def test_a_refused_run_leaves_nothing_spent(book: Book) -> None:
    count(book, PERSON)
    before = overviews(book.home)[0].account.committed

    refusal(book, RECORD)

    assert overviews(book.home)[0].account.committed == before


def test_a_unit_that_nobody_declared_is_that_of_the_runs(book: Book) -> None:
    assert overviews(book.home)[0].unit == "one record"
    count(book, PERSON)

    assert overviews(book.home)[0].unit == "one person"
    told = yaml_text(registry_record(book, "visits", curator="A hospital"))
    assert 'privacy_unit: "one person"' in told
    assert "Number of persons by which two data sets differ." in told


def test_a_unit_that_was_declared_stays_as_it_is(book: Book) -> None:
    book.add("homes", zcdp_terms(1), unit="one health record")
    count(book, PERSON, "homes")

    assert overviews(book.home, "homes")[0].unit == "one health record"


def test_a_unit_that_was_declared_is_not_claimed_of_runs_per_record(book: Book) -> None:
    """Of a patient with many records they protect each record, and the cap says so to whoever reads it."""
    book.add("homes", zcdp_terms(1), unit="one patient")
    assert overviews(book.home, "homes")[0].unit == "one patient"
    count(book, RECORD, "homes")

    assert overviews(book.home, "homes")[0].unit == "one record, declared to be one patient"
    told = yaml_text(registry_record(book, "homes", curator="A hospital"))
    assert 'privacy_unit: "one record, declared to be one patient"' in told


@pytest.mark.parametrize("unit", ["", "  ", "one\npatient", "x" * 201])
def test_a_unit_is_short_and_printable(book: Book, unit: str) -> None:
    with pytest.raises(InvalidValue, match="what is protected is empty, too long or not printable"):
        book.add("homes", zcdp_terms(1), unit=unit)


def test_a_synthesis_with_a_unit_pins_the_data_set_to_persons(book: Book) -> None:
    book.add("hospital", zcdp_terms(10))
    with_unit = replace(SCHEMA, unit="patient", neighbours=PERSON)

    visits(with_unit, book)

    visits(with_unit, book)
    with pytest.raises(LedgerConflict, match="is billed per person, and this step would be per record"):
        visits(SCHEMA, book)


def test_a_synthesis_per_record_is_refused_before_its_table_is_read(book: Book) -> None:
    book.add("hospital", zcdp_terms(10))
    visits(replace(SCHEMA, unit="patient", neighbours=PERSON), book)

    with pytest.raises(LedgerConflict, match="is billed per person"), LedgerRun(book, "hospital") as run:
        made("nowhere.csv", accuracy=0.5, noise=SystemNoise(), ledger=run)
