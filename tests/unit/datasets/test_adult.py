"""The Adult table has the counts that its preprocessing leads to, in either reading of the bins."""

from pathlib import Path

import numpy as np
import pytest

from expost.datasets import adult
from expost.private import Neighbours
from expost.tabular.inspection import check_table
from expost.tabular.schema.schema import Schema
from expost.tabular.source.reading import read_table
from expost.tabular.table import Table

PATH = Path(adult.__file__).with_name("adult.csv.gz")
COUNTS = {
    "age": [2968, 11292, 12291, 9990, 5833, 2212, 522, 114],
    "hours-per-week": [445, 1555, 3068, 5019, 25840, 5621, 2541, 648, 287, 198],
    "income": [34014, 11208],
}
SIZES = [8, 7, 16, 7, 14, 6, 5, 2, 2, 2, 10, 41, 2]


@pytest.fixture(scope="module")
def table() -> Table:
    return adult.load()


def counts(table: Table, name: str) -> list[int]:
    return [int(count) for count in np.bincount(table.codes(name), minlength=table.domain[name])]


def test_the_schema_takes_the_table_as_it_is_written() -> None:
    """The demo says that its table was checked."""
    found = check_table(PATH, adult.adult_schema())

    assert not found.lacking
    assert {each.column.name: each.advice() for each in found.columns if each.advice()} == {}


def test_records_with_a_missing_value_are_dropped(table: Table) -> None:
    assert len(table) == 45222


def test_the_domain_has_thirteen_columns_of_the_known_sizes() -> None:
    assert list(adult.adult_schema().domain.values()) == SIZES


def test_the_schema_is_reviewed_and_names_the_target() -> None:
    schema = adult.adult_schema()

    assert (schema.reviewed, schema.target, schema.neighbours) == (True, "income", Neighbours.ADD_REMOVE)


@pytest.mark.parametrize("name", COUNTS)
def test_the_counts_are_the_known_ones(table: Table, name: str) -> None:
    assert counts(table, name) == COUNTS[name]


@pytest.mark.parametrize(("name", "share"), [("capital-gain", 0.08381), ("capital-loss", 0.04732)])
def test_capital_is_whether_there_is_any(table: Table, name: str, share: float) -> None:
    assert counts(table, name)[1] / len(table) == pytest.approx(share, abs=5e-6)


def test_every_listed_value_occurs(table: Table) -> None:
    assert all(min(counts(table, name)) > 0 for name in table.schema.names)


def test_hours_can_be_binned_right_closed_instead() -> None:
    text = adult.adult_schema().dumps()
    before = 'edges = [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, inf]\nclosed = "left"'

    other = Schema.load(text.replace(before, before.replace("left", "right")))

    with_edges = [777, 2825, 2933, 24910, 8576, 3612, 874, 419, 139, 157]
    assert other != adult.adult_schema()
    assert counts(read_table(PATH, other), "hours-per-week") == with_edges


def test_age_binned_left_closed_counts_the_oldest_in_the_last_bin(table: Table) -> None:
    text = adult.adult_schema().dumps()
    before = '80, 90]\nclosed = "right"'

    other = read_table(PATH, Schema.load(text.replace(before, before.replace("right", "left"))))

    assert counts(other, "age") != COUNTS["age"]
    assert len(other) == len(table)
