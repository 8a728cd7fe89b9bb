"""Edges found under the bill: planned for, paid for, told in every file, and worked out again by an audit."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from expost.errors import ExpostError, SchemaMismatch
from expost.jobs import audit as check
from expost.jobs.job import Result
from expost.jobs.synthesis import choice
from expost.jobs.synthesis.found import find_edges, finding_words, overlooked_records
from expost.jobs.synthesis.prices import table_recipe
from expost.jobs.synthesis.recipe import QUERY
from expost.jobs.synthesis.run import synthesize
from expost.judge import OnPublic
from expost.noise import SeededNoise
from expost.odometer import Odometer
from expost.private import Neighbours, Private, Split
from expost.receipts.receipt import receipt
from expost.report.page import render
from expost.tabular.edges import even_edges
from expost.tabular.schema.private_bins import PrivateBins
from expost.tabular.schema.schema import Schema
from expost.tabular.score import Conditional
from expost.tabular.source.reading import read_table
from tests.unit.examples import one_sentence

pl = import_module("polars")
Receipt = dict[str, Any]
EVEN = "edges = [0, 100000, 200000, 300000, 400000, 500000, 600000, 700000, 800000, 900000, 1000000]"
PRIVATE = 'edges = "private"\nrange = [0, 1000000]\nbins = 10'


def schema(edges: str = PRIVATE, neighbours: str = "add-remove") -> Schema:
    """Money with these edges, an age whose edges are to be found, and a target."""
    return Schema.load(f"""
reviewed = true
neighbours = "{neighbours}"
[[column]]
name = "money"
kind = "numeric"
{edges}
closed = "left"
missing = true
[[column]]
name = "age"
kind = "integer"
edges = "private"
range = [0, 120]
bins = 8
closed = "left"
missing = false
[[column]]
name = "late"
kind = "boolean"
missing = false
""")


@cache
def debtors(count: int = 20_000) -> Any:
    """Money that is skewed, half of it 0, by which somebody is late or not."""
    noise = SeededNoise(5)
    owes = noise.coins(Fraction(1, 2), count)
    money = np.where(owes, np.exp(6 + noise.gaussian(1.5, (count,))), 0).round(2)
    age = np.clip(45 + noise.gaussian(15.0, (count,)), 0, 120).astype(int)
    late = noise.uniform((count,)) < np.where(money > 400, 0.9, 0.1)
    return pl.DataFrame({"money": money, "age": age, "late": late})


@cache
def made(edges: str = PRIVATE, neighbours: str = "add-remove") -> Result[Any]:
    """A rehearsal with nothing to train."""
    form = schema(edges, neighbours)
    return synthesize(debtors(), schema=form, target="late", accuracy=0.85, learner=Conditional(), noise=SeededNoise(1))


def written(neighbours: str = "add-remove") -> Receipt:
    """The receipt as read back from its file."""
    found: Receipt = json.loads(json.dumps(receipt(made(neighbours=neighbours).facts)))
    return found


def test_bins_that_are_found_reach_what_bins_of_equal_width_do_not() -> None:
    assert made().passed
    assert not made(EVEN).passed


def test_synthetic_values_are_as_skewed_as_the_real_ones() -> None:
    """The mean is within a factor of 4, where bins of equal width have it forty times too large."""
    mean = float(debtors()["money"].mean())

    assert mean / 4 < made().release.value["money"].mean() < 4 * mean
    assert made(EVEN).release.value["money"].mean() > 40 * mean


def test_finding_edges_takes_its_share_of_the_selection_and_changes_no_other_price() -> None:
    found, declared = written(), json.loads(json.dumps(receipt(made(EVEN).facts)))
    spent = sum(Fraction(found[name]["epsilon"]) for name in ("edges", "sizing", "selection", "selection"))

    assert spent == QUERY.epsilon
    assert Fraction(found["edges"]["epsilon"]) == QUERY.epsilon / 4
    stops = [[stop["epsilon"] for stop in each["plan"]["stops"]] for each in (found, declared)]
    assert stops[0] == pytest.approx(stops[1], rel=1e-3)


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_the_receipt_leads_to_its_own_statement(neighbours: str) -> None:
    audit = check(written(neighbours))

    assert audit.matches, str(audit)
    assert [line["facts"].get("cells") for line in written(neighbours)["bill"][:3]] == [1, 144 + 120, 11 + 8 + 2]


@pytest.mark.parametrize(
    ("form", "whom"),
    [(schema(), "records"), (replace(schema(), unit="whose", neighbours=Neighbours.ADD_REMOVE_PERSON), "persons")],
)
def test_a_plan_says_how_few_noise_hides_on_a_grid(form: Schema, whom: str) -> None:
    recipe = table_recipe(schema=form, target="late", accuracy=0.5)

    told = finding_words(recipe)

    few = overlooked_records(recipe)
    assert few is not None
    assert f"with fewer than about {few:,.0f} {whom} may count as empty" in told


def test_a_report_says_how_few_noise_hides_on_a_grid() -> None:
    """Two standard errors of the noise that is on the bill, for as many cells as the largest grid has."""
    few = 2 * math.sqrt(144 * Fraction(written()["bill"][1]["facts"]["variance"]))

    assert f"with fewer than about {few:,.0f} records may have counted as empty" in render(made().facts)


def test_noise_alone_does_not_choose_edges() -> None:
    """Where the counts are nothing but noise, of the size that the step has, edges lie evenly on the grid."""
    recipe = table_recipe(schema=schema(), target="late", accuracy=0.5)
    sealed = Private(read_table(debtors(1), schema()), schema().neighbours)

    _, known = find_edges(Split.whole(sealed), recipe, Odometer(rehearsal=True), SeededNoise(1))

    money = schema()["money"]
    assert isinstance(money, PrivateBins)
    assert known.schema["money"] == money.between(even_edges(money.grid, np.zeros(143), 10), (0.0,) * 143)


FORGED: dict[str, Callable[[Receipt], object]] = {
    "the step left out": lambda found: found["bill"].pop(1),
    "the step not mentioned": lambda found: found.update(edges=None),
    "nothing said of it": lambda found: found.pop("edges"),
    "a larger share": lambda found: found["edges"].update(epsilon=str(Fraction(found["edges"]["epsilon"]) * 2)),
    "another order": lambda found: found["edges"].update(alpha="30"),
    "fewer cells than bins": lambda found: found["edges"]["cells"].update(age=7),
    "other cells": lambda found: found["edges"]["cells"].update(age=60),
    "more cells than a grid has": lambda found: found["edges"]["cells"].update(age=1025),
    "a column that there is not": lambda found: found["edges"]["cells"].update(height=60),
    "the edges of the target": lambda found: found["edges"]["cells"].update(late=60),
    "no columns": lambda found: found["edges"]["cells"].clear(),
    "less noise on one column": lambda found: found["edges"]["cells"].pop("age"),
    "more than a step": lambda found: found["edges"].update(note="x"),
    "the target, on as many cells": lambda found: found["edges"].update(cells={"late": 144, "age": 120}),
    "a column that there is not, on as many cells": lambda found: found["edges"].update(cells={"x": 144, "age": 120}),
    "fewer cells than bins, as many in all": lambda found: found["edges"].update(cells={"money": 257, "age": 7}),
}


@pytest.mark.parametrize("how", FORGED)
def test_a_receipt_that_says_otherwise_is_refused(how: str) -> None:
    found = written()
    FORGED[how](found)

    assert check(found).differences


@pytest.mark.parametrize("share", ["FINDING", "COUNTING"])
def test_a_run_that_took_another_share_for_its_first_step_is_refused(
    share: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its bill, its plan and its statement agree with each other, and no other such step was taken."""
    monkeypatch.setattr(choice, share, getattr(choice, share) / 2)
    form, validation = (schema(), 0.2) if share == "FINDING" else (with_declared(), None)
    done = synthesize(
        debtors(500), schema=form, target="late", accuracy=0.5, validation=validation, learner=Conditional(),
        noise=SeededNoise(1),
    )  # fmt: skip

    found = check(json.loads(json.dumps(receipt(done.facts))))

    assert found.differences


def test_the_chosen_edges_are_told_in_every_file(tmp_path: Path) -> None:
    made().save(tmp_path / "out")
    known = Schema.load(tmp_path / "out/schema.toml")
    counts, page = ((tmp_path / "out" / name).read_text(encoding="utf-8") for name in ("counts.csv", "report.html"))

    assert (len(known["money"].labels), len(known["age"].labels)) == (11, 8)
    assert known["money"].labels[0] == "[0, 1)"
    assert all(f'"{label}"' in counts for label in known["money"].labels[:-1])
    assert known["money"].labels[1] in page
    assert "The bins of age and money were found" in page
    assert "every value, range and edge that was declared in it" in page
    assert "were found" not in render(finished_with_declared().facts)


def with_declared() -> Schema:
    """The columns with edges that are declared."""
    return Schema.load(schema(EVEN).dumps().replace('"private"\nrange = [0, 120]\nbins = 8', "[0, 18, 65, 120]"))


@cache
def finished_with_declared() -> Result[Any]:
    """A run in which nothing was to be found."""
    form = with_declared()
    return synthesize(debtors(), schema=form, target="late", accuracy=0.5, learner=Conditional(), noise=SeededNoise(1))


def test_a_run_without_private_edges_has_no_such_step() -> None:
    found = receipt(finished_with_declared().facts)

    assert found["edges"] is None
    assert check(json.loads(json.dumps(found))).matches


def test_the_schema_beside_the_table_reads_it_back(tmp_path: Path) -> None:
    made().save(tmp_path / "out")

    table = read_table(tmp_path / "out/synthetic.csv", Schema.load(tmp_path / "out/schema.toml"))

    assert table.domain == {"money": 11, "age": 8, "late": 2}
    assert np.bincount(table.codes("money"), minlength=11)[:10].min() > 0


def test_edges_that_must_be_known_are_refused_before_the_table_is_read() -> None:
    for changes in ({"target": "money"}, {"target": "late", "check": OnPublic(debtors(50))}):
        with pytest.raises(ExpostError) as refusal:
            synthesize("nowhere.csv", schema=schema(), accuracy=0.6, **changes)

        assert one_sentence(refusal.value)
        assert "private edges" in str(refusal.value)


def test_a_table_that_was_coded_under_its_bins_is_refused() -> None:
    """Codes in bins that nobody paid for cannot be told apart from codes on the grid by anything but their schema."""
    coded = read_table(debtors(200), schema(EVEN))

    with pytest.raises(SchemaMismatch):
        synthesize(coded, schema=schema(), target="late", accuracy=0.6)


def test_a_table_may_be_coded_beforehand() -> None:
    coded = read_table(debtors(), schema())

    done = synthesize(coded, schema=schema(), target="late", accuracy=0.85, learner=Conditional(), noise=SeededNoise(1))

    assert done.epsilon == made().epsilon
