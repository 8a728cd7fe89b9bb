"""Units: what is told is about persons and their rows where a unit is declared, and about records elsewhere."""

from dataclasses import replace

import pytest

from expost.private import Neighbours
from expost.report.arrangement import RELATIONS
from expost.report.facts import Facts
from expost.report.meaning import SUBJECTS, explain
from expost.report.page import coverage_section, covered_section, render
from expost.report.units import by_row, by_unit
from expost.report.words import conclusion, headline
from tests.unit.report.examples import facts, person_facts, trained
from tests.unit.report.pages import said

PERSONS = [each for each in Neighbours if each.unit == "person"]
JOBS = {"a table": facts, "a head": lambda: trained(0.8).facts}


def of_persons(job: str, neighbours: Neighbours = Neighbours.ADD_REMOVE_PERSON) -> Facts:
    """What is told of a run on persons."""
    if job == "a table":
        return person_facts(neighbours)
    return replace(JOBS[job](), neighbours=neighbours.value, because="an independent coin per person")


@pytest.mark.parametrize("neighbours", Neighbours)
def test_every_relation_has_its_words(neighbours: Neighbours) -> None:
    told = f"{SUBJECTS[neighbours.value]} {RELATIONS[neighbours.value]}"

    assert neighbours.unit in told


@pytest.mark.parametrize("neighbours", [each for each in Neighbours if each.unit == "record"])
def test_words_stay_as_they_are_where_no_unit_is_declared(neighbours: Neighbours) -> None:
    assert by_unit("Records and a record", neighbours.value) == "Records and a record"
    assert by_row("Records and a record", neighbours.value) == "Records and a record"


@pytest.mark.parametrize("neighbours", PERSONS)
def test_words_follow_the_unit_in_number_and_in_letters(neighbours: Neighbours) -> None:
    assert by_unit("Records, a record, recorded", neighbours.value) == "Persons, a person, recorded"
    assert by_row("Records, a record, recorded", neighbours.value) == "Rows, a row, recorded"


@pytest.mark.parametrize("neighbours", PERSONS)
@pytest.mark.parametrize("job", JOBS)
def test_a_report_on_persons_never_speaks_of_records(job: str, neighbours: Neighbours) -> None:
    page = said(render(of_persons(job, neighbours)))

    assert "per person" in page
    assert "record" not in page.lower()


@pytest.mark.parametrize("job", JOBS)
def test_a_report_on_records_speaks_of_persons_only_to_say_that_they_are_not_covered(job: str) -> None:
    page = said(render(JOBS[job]()))
    told = ("a person with several", "one person with several", "not per person")

    assert "persons" not in page
    assert page.count("person") == sum(map(page.count, told))


@pytest.mark.parametrize("job", JOBS)
def test_the_closing_lines_are_about_one_person(job: str) -> None:
    told = conclusion(of_persons(job))

    assert "at δ = 1e-5, per person." in told
    assert "The bound covers one person with all their rows, however many; a household is protected less." in told
    assert "record" not in told


def test_the_accuracy_is_that_of_one_row_of_each_person() -> None:
    told = of_persons("a table")

    assert "on the held-out persons (one row of each), with 95 % confidence" in headline(told)
    assert "A held-out person was judged by one of their rows" in said(render(told))
    assert "one row of each" not in headline(replace(told, one_row=False))
    assert "one row of each" not in headline(facts())


def test_a_bound_on_persons_covers_all_their_rows_and_says_who_is_left_out() -> None:
    section = said(f"<div>{covered_section(of_persons('a table'))}</div>")

    assert "Covered: all rows of a person at once, however many there are." in section
    assert "Not covered: a household" in section
    assert "Not covered: the same person under two identifiers" in section
    assert "one person with several" not in section


def test_the_number_of_persons_is_called_public_where_one_is_replaced_and_only_there() -> None:
    def covered(neighbours: Neighbours) -> str:
        return coverage_section((), seeded=False, neighbours=neighbours.value, on_public=False)

    assert "how many persons there are" in covered(Neighbours.REPLACE_PERSON)
    assert "how many persons there are" not in covered(Neighbours.ADD_REMOVE_PERSON)
    assert "how many persons there are" not in covered(Neighbours.REPLACE_ONE)


@pytest.mark.parametrize("neighbours", PERSONS)
def test_a_statement_is_explained_for_a_person_with_all_their_rows(neighbours: Neighbours) -> None:
    told = " ".join(explain(0.39, 1e-5, neighbours).split())

    assert "It covers one person with all their rows, however many" in told
    assert "record" not in told.replace("recorded", "")
    assert "a person with several" not in told
