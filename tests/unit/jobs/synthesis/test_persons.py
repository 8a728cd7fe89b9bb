"""Persons: a table of persons with many rows says how rows count, what was cut, and what it cannot answer."""

import pytest

from expost.jobs.synthesis.counted import NORMAL_95
from expost.jobs.synthesis.persons import cut_words
from expost.report.page import render
from tests.unit.report.examples import facts, person_facts
from tests.unit.report.pages import said


def test_a_table_of_persons_says_what_it_cannot_answer() -> None:
    page = said(render(person_facts()))

    assert "Rows per person are not modelled. Every synthetic row stands for itself" in page
    assert "there are about as many rows as persons" in page
    assert "statistics per person, such as the share of those who came back, cannot be had from this table" in page


def test_a_table_of_records_does_not_speak_of_rows_per_person() -> None:
    assert "Rows and persons" not in said(render(facts()))


def test_what_was_cut_is_told_with_its_noise_beside_how_rows_count() -> None:
    told = cut_words(1240.4, 43.0, 0.0621)

    assert told.startswith("The rows of about 1,240 persons (± 84; 6.2 % of all persons) count less than one each")
    assert told in said(render(person_facts(cut=told)))


@pytest.mark.parametrize("persons", [-12.0, 0.0, NORMAL_95 * 43.0])
def test_a_number_that_noise_alone_could_have_made_is_not_told(persons: float) -> None:
    assert cut_words(persons, 43.0, 0.004).endswith("with its noise of ± 84, it cannot be told from none.")
