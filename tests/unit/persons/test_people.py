"""Persons: identifiers of every kind become places by first appearance, and rows stay with their person."""

import uuid
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from expost.errors import InvalidValue, Unreadable
from expost.noise import SeededNoise
from expost.persons.digests import Digests
from expost.persons.people import People, numbered
from tests.unit.examples import one_sentence, silence

ONE, TWO = uuid.uuid4(), uuid.uuid4()
SAME: dict[str, tuple[Any, list[int]]] = {
    "integers": (np.array([7, 3, 7, 3, 9]), [0, 1, 0, 1, 2]),
    "unsigned": (np.array([7, 3, 7], np.uint64), [0, 1, 0]),
    "text": (["b", "a", "b"], [0, 1, 0]),
    "text but for blanks around it": (["b", "B", " b", "b\n", "b b", "  "], [0, 1, 0, 0, 2, 3]),
    "long numbers": ([10**5000, 1, 10**5000], [0, 1, 0]),
    "numbers of every type": ([np.float32(7), 7, np.int8(7), Decimal("7.0"), Decimal("inf"), "inf"], [0] * 4 + [1] * 2),
    "numbers and their text": ([7, "7", 7.0, "07"], [0, 0, 0, 1]),
    "uuids": ([ONE, TWO, ONE, str(TWO)], [0, 1, 0, 1]),
    "missing": ([None, "a", None, "", float("nan"), "a"], [0, 1, 2, 3, 4, 1]),
    "missing among text": (["a", float("nan"), "a", float("nan"), "nan"], [0, 1, 0, 2, 3]),
    "missing numbers": (np.array([1.0, np.nan, 1.0, np.nan]), [0, 1, 0, 2]),
    "pandas": (pd.Series(["x", pd.NA, "x", pd.NA], dtype="string"), [0, 1, 0, 2]),
    "days": (np.array(["2024-01-01", "NaT", "2024-01-01", "NaT"], "datetime64[ns]"), [0, 1, 0, 2]),
    "a tensor": (torch.tensor([5, 5, 1]), [0, 0, 1]),
    "decimals": ([Decimal(1), "1"], [0, 0]),
    "booleans": ([True, False, True], [0, 1, 0]),
    "nobody": ([], []),
}


LETTERS = np.array([1, 0, 1, 2, 0, 1])


@pytest.mark.parametrize("name", SAME)
def test_identifiers_are_numbered_by_first_appearance(name: str) -> None:
    given, expected = SAME[name]

    people = People.of(numbered(given))
    owners = np.zeros(len(people.rows), np.int64)
    owners[people.rows] = np.repeat(np.arange(len(people)), people.sizes)
    assert owners.tolist() == expected


@pytest.mark.parametrize("given", [np.array([2.0**53]), np.array([2**24], np.float32), np.array([2048], np.float16)])
def test_numbers_that_a_float_may_have_cut_are_refused(given: Any) -> None:
    with pytest.raises(Unreadable, match="longer than a float can hold"):
        numbered(given)

    with pytest.raises(Unreadable, match="longer than a float can hold"):
        Digests(b"key", frozenset({None})).of([*given], 0)

    assert numbered(given - 1).size == 1


@pytest.mark.parametrize("given", [[["canary"]], 4711, np.zeros((2, 2))])
def test_what_is_not_one_identifier_per_row_is_refused_without_being_shown(given: Any) -> None:
    with pytest.raises(InvalidValue, match="one identifier per row") as refused:
        numbered(given)

    assert one_sentence(refused.value)
    assert "canary" not in str(refused.value)


def test_rows_of_a_person_stay_together_in_their_order() -> None:
    people = People.of(LETTERS)

    assert len(people) == 3
    assert people.sizes.tolist() == [3, 2, 1]
    assert people.rows_of(np.array([1])).tolist() == [1, 4]
    assert people.rows_of(np.array([2, 0])).tolist() == [3, 0, 2, 5]
    assert people.alone(np.arange(3)).tolist() == [3]
    assert [(size, rows.tolist()) for size, rows in people.alike(np.arange(3), lambda size: 1)] == [
        (2, [1, 4]),
        (3, [0, 2, 5]),
    ]
    assert repr(people) == "People"


def test_a_mask_keeps_whole_persons_and_the_row_that_was_drawn() -> None:
    people = People.of(LETTERS).drawn(SeededNoise(1))
    mask = np.array([True, False, True])

    kept = people[mask]

    rows = people.rows_of(np.flatnonzero(mask))
    assert kept.sizes.tolist() == [3, 1]
    assert rows[kept.judged].tolist() == people.judged[mask].tolist()


def test_each_row_of_a_person_is_drawn_as_often_as_another() -> None:
    drawn = People.of(np.arange(30_000) // 3).drawn(SeededNoise(5)).chosen

    assert np.bincount(drawn).tolist() == pytest.approx([10_000 / 3] * 3, rel=0.1)


def test_nothing_is_drawn_for_those_with_one_row() -> None:
    assert People.of(np.arange(5)).drawn(silence(0)).judged.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("numbers", [1, 2**22, 2**30])
def test_persons_with_as_many_rows_come_together_few_enough_at_a_time(numbers: int) -> None:
    people = People.of(np.arange(60) // 3)

    parts = [rows for size, rows in people.alike(np.arange(20), lambda size: numbers) if size == 3]

    assert np.concatenate(parts).tolist() == list(range(60))
    assert {len(rows) for rows in parts} == ({60} if numbers == 1 else {3})
