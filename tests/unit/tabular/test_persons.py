"""Rows by person: persons and their rows stay in the order in which they appear, and only who is the same matters."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from expost.errors import SchemaMismatch
from expost.persons.people import People
from expost.tabular import persons as persons_module
from expost.tabular.persons import Grouped
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.table import Kind, Table
from tests.unit.examples import ADD

SCHEMA = Schema((Integer("place", tuple(range(300)), Missing.FALLBACK),), True, ADD.of_persons, unit="who")


def rows(count: int) -> Table:
    """A table in which each row says which one it is."""
    return Table(SCHEMA, {"place": np.arange(count, dtype=np.uint16)}, Kind.POLARS)


def by_dict(persons: Sequence[int]) -> tuple[list[int], list[int]]:
    """The rows of each person after those of the one who came before, and where each ends."""
    found: dict[int, list[int]] = {}
    for place, person in enumerate(persons):
        found.setdefault(person, []).append(place)
    sizes = [len(each) for each in found.values()]
    return [place for each in found.values() for place in each], [sum(sizes[:end]) for end in range(len(sizes) + 1)]


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 6), max_size=40))
def test_rows_are_grouped_as_a_dictionary_would(persons: list[int]) -> None:
    grouped = Grouped.of(rows(len(persons)), np.array(persons, np.int64))

    assert (grouped.table.codes("place").tolist(), grouped.people.ends.tolist()) == by_dict(persons)
    assert grouped.people.ends.dtype == np.int64
    assert grouped.table.native is Kind.POLARS
    assert len(grouped) == len({*persons})


@given(st.lists(st.integers(0, 5), max_size=20), st.permutations(range(6)))
def test_who_a_person_is_does_not_matter(persons: list[int], names: list[int]) -> None:
    found = [
        Grouped.of(rows(len(persons)), np.array(each, np.int64)) for each in (persons, [names[p] for p in persons])
    ]

    assert found[0].people.ends.tobytes() == found[1].people.ends.tobytes()
    assert found[0].table.codes("place").tobytes() == found[1].table.codes("place").tobytes()


@pytest.mark.parametrize("persons", [[], [5, 3, 9, 0], [2, 2, 1, 1], [7, 7, 7]], ids=["none", "alone", "pairs", "one"])
def test_rows_that_are_in_order_already_stay_where_they_are(persons: list[int]) -> None:
    table = rows(len(persons))

    assert Grouped.of(table, np.array(persons, np.int64)).table is table


@pytest.mark.parametrize("persons", [[1], [1, 2, 3], [[1, 2]]])
def test_each_row_has_one_person(persons: list[int]) -> None:
    with pytest.raises(SchemaMismatch, match="one person for each row"):
        Grouped.of(rows(2), np.array(persons, np.int64))


@pytest.mark.parametrize(
    ("ends", "places"),
    [
        ([0], None),
        ([1, 3], None),
        ([0, 2], None),
        ([0, 2, 2, 3], None),
        ([0, 2, 1, 3], None),
        ([0, 2, 3], [0]),
        ([0, 2, 3], [2, 0]),
        ([0, 2, 3], [0, -1]),
    ],
)
def test_persons_that_share_rows_or_have_none_are_refused(ends: list[int], places: list[int] | None) -> None:
    with pytest.raises(SchemaMismatch):
        chosen = np.array(places or [0] * (len(ends) - 1), np.int64)
        Grouped(rows(3), People(np.arange(3), np.array(ends, np.int64), chosen))


def test_no_number_of_rows_is_so_large_that_its_weight_overflows(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a hundred million rows that are alike in a thousand marginals."""
    monkeypatch.setattr(persons_module, "_repeats", lambda owners, cells, count: np.full(count, 2**62))
    grouped = Grouped.of(rows(3), np.array([0, 0, 1]))

    assert grouped.norm_steps((("place",),) * 2).tolist() == [0, persons_module.GRID]
