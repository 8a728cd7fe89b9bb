"""What the table keeps, as a reader sees it: grades, counts of people, labels that can be told apart."""

import re
from dataclasses import replace

import pytest

from expost.jobs.synthesis.comparison import Cell, Comparison
from expost.jobs.synthesis.kept import (
    BAR_WIDTH,
    KeptTable,
    bars,
    counted_words,
    kept_section,
    measured_words,
    short_share,
)
from expost.report.charts import short_labels
from tests.unit.report.examples import facts, table
from tests.unit.report.pages import said, tree


def compared(*cells: Cell, error: float = 0.01) -> Comparison:
    return Comparison(("age", "sex"), cells, 0.001, 0.002, error, 0.0)


def texts(drawing: str) -> list[str]:
    return [each.text or "" for each in tree(drawing).iter("text")]


def test_every_column_and_every_measured_pair_has_a_grade() -> None:
    kept, page = table(facts()).kept, said(f"<div>{kept_section(table(facts()).kept)}</div>")

    assert len(kept.columns) == 4
    assert kept.together
    for each in (*kept.columns, *kept.together):
        assert f"{' × '.join(each.columns)} ({short_share(each.error)})" in page
    assert (
        "A measured column or pair is good if the synthetic table is within about 2 % of the training records" in page
    )


def test_what_was_not_measured_is_said_to_follow_only_from_what_was() -> None:
    kept = table(facts()).kept

    assert len(kept.together) == 5
    assert "the other pair, and three or more columns together, were not measured" in measured_words(kept)
    fewer = replace(kept, together=kept.together[:4])
    assert "the other 2 pairs, and three or more columns together, were not measured" in measured_words(fewer)
    every = replace(kept, together=kept.together[:1] * 6)
    assert "follow only from these: three or more columns together were not measured" in measured_words(every)


def test_triples_are_told_apart_from_pairs() -> None:
    columns = (compared(),) * 4
    pair, triple = compared(), replace(compared(error=0.2), columns=("age", "sex", "plan"))
    kept = KeptTable(columns, (*[pair] * 5, triple, triple), 10.0, 10.0)

    assert "so were 5 pairs and 2 triples of columns" in measured_words(kept)
    assert "the other pair, the other 2 triples, and four or more columns together, were not" in measured_words(kept)
    every = replace(kept, together=(*[pair] * 6, *[triple] * 4))
    assert "follow only from these: four or more columns together were not measured" in measured_words(every)
    assert "6 pairs and 1 triple of columns" in measured_words(replace(kept, together=(*[pair] * 6, triple)))
    page = said(f"<div>{kept_section(kept)}</div>")
    assert "Tripleslost in noise: age × sex × plan (20 %), age × sex × plan (20 %)" in page
    assert "The measured triple that is known least precisely" in page
    assert "Triples" not in kept_section(replace(kept, together=(pair,)))


def test_counts_say_which_records_they_are_of() -> None:
    assert "training part, about 36,040 of about 45,050 records" in counted_words(KeptTable((), (), 36043.2, 45054.0))
    assert counted_words(KeptTable((), (), 900.0, 900.0)) == "Counts are of all records, about 900."


def test_no_number_of_people_is_negative() -> None:
    drawing = bars(compared(Cell("old", -34.8, 60.0, 0.0), Cell("young", 120.0, 60.0, 118.0)))

    assert texts(drawing)[1] == "0"
    assert "-" not in "".join(texts(drawing))
    assert "released 0 ± 60" in drawing


def test_a_tiny_distance_is_told_without_an_exponent() -> None:
    assert short_share(3.3e-7) == "below 0.01 %"
    assert (short_share(0.0123), short_share(0.4567), short_share(1.0)) == ("1.2 %", "46 %", "100 %")


@pytest.mark.parametrize("count", [7.0, 9_999.0, 1_234_567.0])
def test_the_longest_bar_ends_before_its_number_begins(count: float) -> None:
    drawing = bars(compared(Cell("a", count, count / 20, count), Cell("b", 0.0, 1.0, 0.0)))
    bar = max(tree(drawing).iter("rect"), key=lambda each: float(each.get("width", "0")))
    interval = max(float(each.get("x2", "0")) for each in tree(drawing).iter("line"))
    number = BAR_WIDTH - 7 * len(f"{count:,.0f}")

    assert max(float(bar.get("x", "0")) + float(bar.get("width", "0")), interval + 3.5) < number


def test_long_labels_stand_above_their_bars_in_full() -> None:
    names = ["Married-civilian-spouse · no", "Married-civilian-spouse · yes"]

    drawing = bars(compared(*(Cell(name, 10.0, 1.0, 10.0) for name in names)))

    assert set(names) <= set(texts(drawing))
    assert names[0] not in texts(bars(compared(Cell("short", 10.0, 1.0, 10.0))))


def test_labels_that_must_be_cut_can_still_be_told_apart() -> None:
    names = ["a" * 40 + f"{number}" + "b" * 40 for number in range(12)]

    short = short_labels(names, 30)

    assert len(set(short)) == 12
    assert all(len(each) <= 30 for each in short)
    assert short_labels(["x", "y"], 30) == ["x", "y"]


def test_the_sum_of_what_is_not_shown_does_not_shrink_what_is() -> None:
    shown = [Cell(name, 10.0, 1.0, 10.0) for name in "ab"]
    alone, beside = (
        bars(compared(*cells)) for cells in (shown, [*shown, Cell("the 9 others", 900.0, 3.0, 900.0, True)])
    )

    def widths(drawing: str) -> list[float]:
        return [round(float(width)) for width in re.findall(r'<rect [^>]*width="([\d.]+)"', drawing)]

    assert len(widths(beside)) == 2
    assert min(widths(beside)) > 0.8 * min(widths(alone))
    assert "900" in texts(beside)


def test_the_pair_that_is_shown_is_the_one_known_least_well() -> None:
    sure, unsure = compared(error=0.01), compared(error=0.2)

    kept = KeptTable((), (sure, unsure), 10.0, 10.0)

    assert kept.worst is unsure
    assert "The measured pair that is known least precisely" in kept_section(kept)
    assert "known least precisely" not in kept_section(KeptTable((), (), 10.0, 10.0))
    assert "farthest beyond its noise" not in kept_section(kept)
