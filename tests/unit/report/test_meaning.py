"""Coverage: a report and the closing lines say what the bound is about, and what it leaves out."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from expost.report.facts import Facts
from expost.report.page import covered_section, render
from expost.report.words import conclusion
from tests.unit.report.examples import facts, trained
from tests.unit.report.pages import said

JOBS: dict[str, Callable[[], Facts]] = {"a table": facts, "a head": lambda: trained(0.8).facts}
LEFT_OUT = {
    "several records": "The bound is per record, not per person",
    "other releases": "other releases from the same records",
    "people at large": "what is true of people at large",
    "insiders": "anyone who can read the records themselves",
    "timing": "how long the run and its steps took",
    "refusals": "that it failed or was refused",
    "random numbers": "anyone who can foresee the operating system's random numbers",
}


@pytest.mark.parametrize("left_out", LEFT_OUT)
@pytest.mark.parametrize("job", JOBS)
def test_every_report_lists_what_no_bound_covers(job: str, left_out: str) -> None:
    assert LEFT_OUT[left_out] in said(render(JOBS[job]()))


def test_the_report_of_a_table_says_what_was_taken_to_be_public() -> None:
    page = said(render(facts()))

    assert "Taken to be public: the schema, with the columns it names and every value and edge in it" in page
    assert "for renewed), and every other setting" in page


@pytest.mark.parametrize("job", JOBS)
def test_the_closing_lines_are_about_one_record(job: str) -> None:
    told = conclusion(JOBS[job]())

    assert "at δ = 1e-5, per record." in told
    assert "The bound covers one record; a person with several is protected less." in told


def test_that_records_are_scored_apart_is_said_to_be_tried_and_not_proved() -> None:
    assert "Tried, not proved: that each held-out record was scored by itself." in said(render(facts()))


def test_a_seeded_run_is_said_to_cover_nothing() -> None:
    assert "<b>Not covered</b>: anything at all." in covered_section(facts())
    assert "anything at all" not in covered_section(replace(facts(), seeded=False))


def test_the_number_of_records_is_called_public_where_one_is_replaced_and_only_there() -> None:
    assert "how many records there are" in covered_section(replace(facts(), neighbours="replace one record"))
    assert "how many records there are" not in covered_section(facts())


def test_the_records_of_a_public_check_are_said_to_be_unprotected() -> None:
    assert "the records of the check" in covered_section(trained(0.8, public=True).facts)
    assert "the records of the check" not in covered_section(facts())
