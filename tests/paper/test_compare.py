"""Printed numbers, intervals and the pieces of the page."""

import pytest
from paper.show.markdown import duration, percent, prose, scientific, table
from paper.summaries.compare import compare, share_interval, unit
from scipy.stats import binomtest


@pytest.mark.parametrize(("printed", "last"), [("0.615943", 1e-6), ("9.292e-3", 1e-6), ("3.541e-5", 1e-8), ("7", 1)])
def test_the_last_printed_digit_is_known(printed: str, last: float) -> None:
    assert unit(printed) == pytest.approx(last, rel=1e-12)


def test_a_number_that_rounds_to_the_printed_one_agrees() -> None:
    found = compare("0.615943", 0.6159434455)

    assert found["agrees"]
    assert found["difference"] == pytest.approx(4.455e-7, rel=1e-3)


@pytest.mark.parametrize("ours", [0.6159436, 0.6159424])
def test_a_number_that_rounds_to_another_does_not_agree(ours: float) -> None:
    assert not compare("0.615943", ours)["agrees"]


@pytest.mark.parametrize(("successes", "count"), [(0, 10), (10, 10), (7, 30), (25, 50), (1, 1)])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_the_interval_of_a_share_is_wilsons(successes: int, count: int, confidence: float) -> None:
    known = binomtest(successes, count).proportion_ci(confidence, "wilson")

    assert share_interval(successes, count, confidence) == pytest.approx((known.low, known.high), abs=1e-12)


@pytest.mark.parametrize(("successes", "count"), [(0, 0), (3, 2), (-1, 5)])
def test_what_is_no_share_is_refused(successes: int, count: int) -> None:
    with pytest.raises(ValueError, match="is no share"):
        share_interval(successes, count)


def test_numbers_are_written_for_people() -> None:
    assert [scientific(0.0000054321), scientific(-0.02, 1), scientific(0)] == ["5.4e−6", "−2e−2", "0.0e0"]
    assert [percent(0.1234), percent(-0.5, 0)] == ["12.3 %", "−50 %"]
    assert [duration(0.04), duration(89), duration(600), duration(7200)] == ["0.0 s", "89.0 s", "10.0 min", "2.0 h"]


def test_a_paragraph_is_broken_anew() -> None:
    assert prose("  one\n     two  ") == "one two"
    assert max(map(len, prose("word " * 100).splitlines())) <= 118


def test_a_table_has_a_rule_below_its_head() -> None:
    assert table(("a", "b"), [("1", "2")]).splitlines() == ["| a | b |", "| --- | --- |", "| 1 | 2 |"]
