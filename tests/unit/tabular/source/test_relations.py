"""A synthetic table lies as codes in memory, and is read as if its values did."""

import gc
from datetime import date

import duckdb
import numpy as np

from expost.noise import SeededNoise
from expost.tabular.schema.column import Decoded, Listed, Missing, Values
from expost.tabular.schema.listed import Boolean, Categorical, Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.source.relations import relation_of
from expost.tabular.table import Table
from tests.unit.examples import ADD

ROWS = 3000
LISTS: dict[str, Values] = {
    "texts": np.array(["a", "b\0c", "it's", 'say "x"', "", None], dtype=np.object_),
    'in "quotes"': np.array([3, 9, 2**53]),
    "rarely missing": np.array([*range(3, 2900), None], dtype=np.object_),
    "truth": np.array([False, True]),
    "maybe": np.array([False, True, None], dtype=np.object_),
    "many": np.array([f"v{each}" for each in range(2**16)], dtype=np.object_),
    "just so many": np.array([f"v{each}" for each in range(2**8)], dtype=np.object_),
}


def columns() -> dict[str, Decoded]:
    """Columns with lists of all kinds, and others that are drawn."""
    listed: dict[str, Decoded] = {
        name: Listed(known, (np.arange(ROWS) * 11 % len(known)).astype(np.uint8 if len(known) <= 2**8 else np.uint16))
        for name, known in LISTS.items()
    }
    days = np.array([None if place % 7 == 0 else date(2020, 1, 1 + place % 28) for place in range(ROWS)], np.object_)
    return {**listed, "drawn": np.arange(ROWS) / 7, "day": days}


def kind_of(values: Decoded) -> np.dtype[np.generic]:
    return values.known.dtype if isinstance(values, Listed) else values.dtype


def test_rows_and_types_are_those_of_the_values_themselves() -> None:
    home = duckdb.connect()
    home.register("whole", {name: np.array(each.tolist(), kind_of(each)) for name, each in columns().items()})
    expected = home.sql("FROM whole")

    found = relation_of(columns())
    gc.collect()

    assert found.columns == expected.columns == [*columns()]
    assert found.types == expected.types
    assert found.fetchall() == expected.fetchall() == found.fetchall()


def test_names_that_differ_by_capitals_stay_as_they_are() -> None:
    one, other = np.array(["x"], dtype=np.object_), np.array(["y"], dtype=np.object_)

    found = relation_of({"Town": Listed(one, np.zeros(2, np.uint8)), "town": Listed(other, np.zeros(2, np.uint8))})

    assert found.columns == ["Town", "town"]
    assert found.fetchall() == [("x", "y")] * 2


def test_what_is_listed_is_not_written_out_for_each_row() -> None:
    declared = (
        Categorical("town", ("Bern", "Basel"), missing=Missing.CATEGORY),
        Boolean("urgent", Missing.FALLBACK),
        Integer("age", (1, 2, 5), Missing.CATEGORY),
    )
    codes = {"town": np.array([2, 0, 1]), "urgent": np.array([1, 0, 1]), "age": np.array([3, 2, 0])}
    table = Table(Schema(declared, True, ADD), {name: each.astype(np.uint8) for name, each in codes.items()})

    decoded = table.decode(SeededNoise(1))

    for name, values in decoded.items():
        assert isinstance(values, Listed)
        assert values.places is table.columns[name]
    assert {name: values.tolist() for name, values in decoded.items()} == {
        "town": [None, "Bern", "Basel"], "urgent": [True, False, True], "age": [None, 5, 1],
    }  # fmt: skip
